//! `check` and `doctor`: what would run here, and whether this machine is fit for it.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;

use super::plan;
use crate::cli::Settings;

/// Prints the resolved configuration.
pub fn check(settings: &Settings) -> Result<ExitCode> {
    let plan = plan(settings)?;
    std::io::stdout().write_all(plan.to_toml().as_bytes())?;
    for warning in &plan.warnings {
        eprintln!("wirelake: {warning}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the machine.
pub fn doctor(settings: &Settings) -> Result<ExitCode> {
    let plan = plan(settings)?;
    let findings = config::doctor::checks(&plan);
    let text = config::doctor::render(&findings, std::io::stdout().is_terminal());
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::from(config::doctor::exit_code(&findings)))
}
