//! `udp-forwarder`: takes the place of Cloud Foundry's program of that name. The same environment variables, the same
//! metrics on the same port, and more of them.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ::loggregator::metrics::MetricsServer;
use ::loggregator::{
    ClientTls, Destination, DiskSettings, Identity, Ledger, Limits, Protocol, QueueSettings, Remote,
    ServerTls, Settings,
};
use anyhow::{Context, Result};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::UdpForwarder;
use crate::pipeline::loggregator::{Feed, FeedSettings, Reader, bind};

/// Runs until SIGTERM or SIGINT.
pub fn run(arguments: &UdpForwarder) -> Result<ExitCode> {
    start_log(arguments.use_rfc3339);
    report(arguments);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("egress")
        .enable_all()
        .build()?;
    let address = SocketAddr::new(arguments.udp_address, arguments.udp_port);
    let bound = bind(&[address], arguments.rcvbuf_bytes, false, 1_000)?;
    bound.remarks.iter().for_each(|remark| tracing::warn!("{remark}"));
    let destination = Destination::start(runtime.handle(), settings(arguments))
        .context("the folder for what waits cannot be used")?;
    let destinations: Arc<[Destination]> = Arc::from([destination]);
    let feed_settings = FeedSettings {
        limits: Limits::default(),
        identity: envelope::loggregator::Identity {
            deployment: arguments.deployment.clone(),
            job: arguments.job.clone(),
            index: arguments.index.clone(),
            ip: arguments.ip.clone(),
        },
        options: envelope::loggregator::Options { fix_instance_id: arguments.fix_instance_id },
        tags: Vec::new(),
        totals: None,
    };
    let feed = Feed::new(feed_settings, Arc::clone(&destinations), None);
    let page = feed.published();
    let listening = bound.addresses.clone();
    let reader = Arc::new(bound.start(feed)?);
    let ledger = {
        let (destinations, reader) = (Arc::clone(&destinations), Arc::clone(&reader));
        move || crate::pipeline::loggregator::ledger(&destinations, std::slice::from_ref(&page), &reader)
    };
    let ended = runtime.block_on(attend(arguments, ledger, &reader, &destinations, &listening));
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

/// Serves metrics until a signal; then reads what has arrived and sends it.
async fn attend(
    arguments: &UdpForwarder,
    ledger: impl Fn() -> Ledger + Clone + Send + Sync + 'static,
    reader: &Reader,
    destinations: &[Destination],
    listening: &[SocketAddr],
) -> Result<ExitCode> {
    let debug = arguments.debug_metrics;
    let figures = ledger.clone();
    let files = ServerTls {
        ca: arguments.metrics_ca_file.clone(),
        identity: Identity {
            cert: arguments.metrics_cert_file.clone(),
            key: arguments.metrics_key_file.clone(),
        },
    };
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.metrics_port));
    let socket = std::net::TcpListener::bind(wanted).with_context(|| {
        format!("the metrics cannot be served on {wanted}; METRICS_PORT names another port")
    })?;
    let page = Arc::new(move || metrics(&figures(), debug));
    let server = MetricsServer::start(&tokio::runtime::Handle::current(), socket, files, page)
        .context("the metrics cannot be served with the files that the METRICS_*_FILE_PATH variables name")?;
    tracing::info!(udp = ?listening, metrics = %server.address(), "ready");
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = second.tick() => if reader.has_failed() { break },
        }
    }
    let failed = reader.has_failed();
    tracing::info!("stopping: reading what has arrived, then sending it");
    tokio::task::block_in_place(|| reader.stop())?;
    for destination in destinations {
        destination.stop(Duration::from_secs(arguments.flush_s)).await;
    }
    let books = ledger();
    let text = serde_json::to_string(&books)?;
    let lost = books.destinations.iter().any(|destination| !destination.dropped.is_empty());
    match books.balanced {
        true => tracing::info!(ledger = %text, "stopped; the books balance"),
        false => tracing::error!(ledger = %text, "stopped; the books do not balance"),
    }
    Ok(if failed || lost { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn settings(arguments: &UdpForwarder) -> Settings {
    let tls = ClientTls {
        ca: arguments.agent_ca_file.clone(),
        identity: Some(Identity {
            cert: arguments.agent_cert_file.clone(),
            key: arguments.agent_key_file.clone(),
        }),
        server_name: arguments.server_name.clone(),
    };
    let mut settings = Settings::new(
        format!("loggregator://{}", arguments.agent),
        Remote::new(arguments.agent.clone(), Some(tls)),
        Protocol::V2,
    );
    settings.queue = QueueSettings {
        memory_bytes: arguments.queue_mib << 20,
        disk: arguments
            .spool_dir
            .clone()
            .map(|folder: PathBuf| DiskSettings { folder, bytes: (arguments.spool_mib as u64) << 20 }),
        ..QueueSettings::default()
    };
    settings
}

/// The two metrics of the original, under its names and labels, then everything that is known.
fn metrics(ledger: &Ledger, debug: bool) -> String {
    let dropped: u64 = ledger.destinations.iter().flat_map(|one| one.dropped.values()).sum();
    let sent: u64 = ledger.destinations.iter().map(|one| one.sent).sum();
    let mut text = String::with_capacity(16 << 10);
    for (name, labels, help, value) in [
        (
            "dropped",
            "direction=\"all\",metric_version=\"1.0\"",
            "Envelopes lost on their way to the agent.",
            dropped,
        ),
        ("egress", "metric_version=\"1.0\"", "Envelopes that the agent confirmed.", sent),
        (
            "ingress",
            "metric_version=\"1.0\"",
            "Datagrams received, envelopes or not.",
            ledger.input.datagrams,
        ),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name}{{{labels}}} {value}");
    }
    ledger.prometheus(&mut text);
    if debug {
        super::process::metrics(&mut text);
    }
    text
}

/// Says once with what it runs, as the original does.
fn report(arguments: &UdpForwarder) {
    tracing::info!(
        UDP_PORT = arguments.udp_port,
        LOGGREGATOR_AGENT_ADDR = %arguments.agent,
        LOGGREGATOR_AGENT_CA_FILE_PATH = %arguments.agent_ca_file.display(),
        LOGGREGATOR_AGENT_CERT_FILE_PATH = %arguments.agent_cert_file.display(),
        LOGGREGATOR_AGENT_KEY_FILE_PATH = %arguments.agent_key_file.display(),
        DEPLOYMENT = %arguments.deployment,
        JOB = %arguments.job,
        INDEX = %arguments.index,
        IP = %arguments.ip,
        METRICS_PORT = arguments.metrics_port,
        DEBUG_METRICS = arguments.debug_metrics,
        USE_RFC3339 = arguments.use_rfc3339,
        "settings"
    );
}

/// Times as the variable `USE_RFC3339` asks for.
struct Clock(bool);

impl tracing_subscriber::fmt::time::FormatTime for Clock {
    fn format_time(&self, w: &mut tracing_subscriber::fmt::format::Writer<'_>) -> std::fmt::Result {
        let now = jiff::Timestamp::now();
        let form = if self.0 { "%Y-%m-%dT%H:%M:%S.%9fZ" } else { "%Y/%m/%d %H:%M:%S" };
        write!(w, "{}", now.strftime(form))
    }
}

fn start_log(rfc3339: bool) {
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        .with_timer(Clock(rfc3339))
        .with_max_level(tracing::Level::INFO)
        .try_init();
}
