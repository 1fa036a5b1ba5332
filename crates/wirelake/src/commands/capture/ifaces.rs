//! `ifaces`: what can be captured.

use std::process::ExitCode;

use anyhow::{Context, Result};
use capture::{ifaces, privileges};

/// Prints the interfaces.
pub fn run(json: bool) -> Result<ExitCode> {
    let list = ifaces::list().context("the interfaces cannot be listed")?;
    if json {
        let rows: Vec<_> = list
            .iter()
            .map(|interface| {
                serde_json::json!({
                    "index": interface.index,
                    "name": interface.name,
                    "addresses": interface.addresses,
                    "up": interface.up,
                    "loopback": interface.loopback,
                    "mtu": interface.mtu,
                    "capturable": interface.can_be_captured(),
                })
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(ExitCode::SUCCESS);
    }
    let wide = list.iter().map(|interface| interface.name.len()).max().unwrap_or(0).max(4);
    println!("{:>3}  {:<wide$}  {:<5}  {:>6}  addresses", "no", "name", "state", "mtu");
    for interface in &list {
        let addresses: Vec<_> = interface.addresses.iter().map(ToString::to_string).collect();
        let state = if interface.up { "up" } else { "down" };
        println!(
            "{:>3}  {:<wide$}  {state:<5}  {:>6}  {}",
            interface.index,
            interface.name,
            interface.mtu,
            addresses.join(", ")
        );
    }
    println!(
        "\nwatch one with: wirelake watch -i {}",
        list.first().map_or("lo", |interface| &interface.name)
    );
    if !privileges::has_net_raw() {
        println!("{}", need_capability());
    }
    Ok(ExitCode::SUCCESS)
}

/// What to do without the capability.
fn need_capability() -> String {
    let program =
        std::env::current_exe().map_or_else(|_| "wirelake".into(), |path| path.display().to_string());
    format!("capture needs a capability that this process lacks: sudo setcap cap_net_raw+ep {program}")
}
