//! Lets the program find libduckdb: beside itself once installed, else where the build found it.

fn main() {
    println!("cargo:rerun-if-env-changed=DUCKDB_LIB_DIR");
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../lib:$ORIGIN");
    if let Ok(folder) = std::env::var("DUCKDB_LIB_DIR") {
        // Cargo's target folder is often shared by several checkouts, so the path must outlive this one.
        let folder = std::fs::canonicalize(&folder).unwrap_or_else(|_| folder.into());
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
    }
}
