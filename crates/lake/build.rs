//! Lets the tests of this crate find libduckdb where the build found it.

fn main() {
    println!("cargo:rerun-if-env-changed=DUCKDB_LIB_DIR");
    if let Ok(folder) = std::env::var("DUCKDB_LIB_DIR") {
        let folder = std::fs::canonicalize(&folder).unwrap_or_else(|_| folder.into());
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
    }
}
