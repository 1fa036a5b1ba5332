//! wirelake: sees what passes on your wires.
//!
//! The binary is the only place that knows every stage: `pipeline` puts them together, `commands` hold
//! one subcommand each, `bench` measures the pipeline against the bare kernel path.

#![forbid(unsafe_code)]

mod bench;
mod cli;
mod client;
mod commands;
mod output;
mod pipeline;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mem::counting::Counting = mem::counting::Counting;

fn main() -> ExitCode {
    match commands::run(cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelake: {}", sentence(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes, each said once: many an error's text ends with that of its cause.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| {
        let cause = cause.to_string();
        match said.is_empty() {
            true => cause,
            false if said.contains(cause.trim()) => said,
            false => format!("{said}: {cause}"),
        }
    })
}

/// Whoever read our output has had enough, as `head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
