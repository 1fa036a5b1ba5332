//! `check`, `doctor` and `tune`: what would run here, whether this machine is fit for it, and what the kernel should do.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use config::doctor::tune;

use super::plan;
use crate::cli::{Settings, Tune};

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

/// Shows the kernel's settings, and changes them when asked to.
pub fn tune(tune: &Tune) -> Result<ExitCode> {
    let plan = plan(&tune.settings)?;
    let found = tune::tunables(&plan);
    let mut out = std::io::stdout().lock();
    out.write_all(tune::render(&found).as_bytes())?;
    if tune.apply {
        match tune::apply(&found) {
            Ok(changed) if changed.is_empty() => writeln!(out, "\nNothing is too low; nothing was changed.")?,
            Ok(changed) => {
                writeln!(out, "\nChanged until the next start of the machine:")?;
                for tunable in changed {
                    writeln!(out, "    {} = {}", tunable.sysctl.name(), tunable.wanted)?;
                }
            }
            Err((sysctl, error)) if is_refused(&error) => {
                bail!(
                    "{} may be changed by root only, outside of containers: sudo wirelake tune --apply",
                    sysctl.name()
                )
            }
            Err((sysctl, error)) => {
                return Err(error).with_context(|| format!("{} cannot be changed", sysctl.name()));
            }
        }
    }
    if let Some(path) = &tune.write {
        match tune::write(&found, path) {
            Ok(()) => {
                writeln!(out, "\nWritten to {}, which is read at each start of the machine.", path.display())?
            }
            Err(error) if is_refused(&error) => {
                bail!("{} may be written by root only: sudo wirelake tune --write", path.display())
            }
            Err(error) => return Err(error).with_context(|| format!("{} cannot be written", path.display())),
        }
    }
    if !tune.apply && tune.write.is_none() && !found.iter().all(tune::Tunable::is_enough) {
        writeln!(
            out,
            "\nRaise what is low now, and at each start of the machine:\n\n    sudo wirelake tune --apply --write\n"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether somebody else may do it: a container shows `/proc/sys` read-only.
fn is_refused(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
}
