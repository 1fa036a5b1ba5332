//! One subcommand each.

mod ask;
mod capture;
mod live;
mod machine;
mod process;
mod serve;
mod udp_forwarder;

pub use capture::rules_of;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use config::{Overrides, Plan};

use crate::bench;
use crate::cli::{Cli, Command, Settings};

/// Runs what the command line asks for.
///
/// # Errors
/// One sentence for the person who typed it.
pub fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Serve(serve) => serve::run(&serve),
        Command::Sql(sql) => ask::sql(&sql),
        Command::Search(search) => ask::search(search),
        Command::Call(call) => ask::call(&call),
        Command::Watch(watch) => capture::watch(&watch),
        Command::Read(read) => capture::read(&read),
        Command::Ifaces { json } => capture::ifaces(json),
        Command::Packets(packets) => capture::packets(&packets),
        Command::Check(settings) => machine::check(&settings),
        Command::Doctor(doctor) if doctor.live => live::doctor(doctor),
        Command::Doctor(doctor) => machine::doctor(&doctor.settings),
        Command::Tune(tune) => machine::tune(&tune),
        Command::Bench(bench) => bench::run(&bench),
        Command::UdpForwarder(arguments) => udp_forwarder::run(&arguments),
        Command::Version => {
            println!("wirelake {}", env!("CARGO_PKG_VERSION"));
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions { shell } => {
            // Through memory, because the generator panics when its output is closed.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "wirelake", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The configuration out of file, environment and flags.
fn plan(settings: &Settings) -> Result<Plan> {
    let overrides = Overrides {
        data: settings.data.clone(),
        hep_udp: settings.hep_udp.clone(),
        hep_tcp: settings.hep_tcp.clone(),
        dropsonde_udp: settings.dropsonde_udp.clone(),
        loggregator: settings.loggregator.clone(),
        to: settings.to.clone(),
        capture: settings.capture.clone(),
        capture_filter: settings.capture_filter.clone(),
        api: settings.api.clone(),
        api_token: settings.api_token.clone(),
        node: settings.node.clone(),
        shards: settings.shards.clone(),
        log_level: settings.log_level.clone(),
        set: settings.set.clone(),
    };
    let environment = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
    Ok(Plan::load(settings.config.as_deref(), environment, &overrides)?)
}
