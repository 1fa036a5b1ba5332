//! `serve`: everything at work, until a signal.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use api::{App, Bottleneck, Probe};
use config::{Compression, LogFormat, LogLevel, Plan, Secret};
use lake::{Codec, Engine, EngineOptions, FileOptions, FlushLimits, Lake, LakeOptions};
use stats::Board;
use stats::prometheus::Gauge;
use tap::live::Flows;
use tap::media::Calls;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::{filter, prelude::*, reload};

use super::plan;
use crate::cli::{Serve, Settings};
use crate::pipeline::loggregator::Loggregator;
use crate::pipeline::{Capture, Live, Pages, Ports, Server, Watch};

/// Memory for bloom filters between queries, MiB.
const BLOOM_MIB: usize = 32;
/// Media endpoints that are remembered with their calls; see docs/performance.md for what they take.
const MEDIA_ENDPOINTS: usize = 65_536;
/// How long closing tries to write what the disk refuses.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(30);

type LogHandle = reload::Handle<filter::Targets, tracing_subscriber::Registry>;

/// Runs until SIGTERM or SIGINT.
pub fn run(serve: &Serve) -> Result<ExitCode> {
    let plan = plan(&serve.settings)?;
    let log = start_log(&plan);
    plan.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let listener = bind_api(plan.api.listen)?;
    let api_address = listener.local_addr()?;
    // Before the first thread: privileges belong to threads, and those of capture are given up at once.
    let rings = open_rings(&plan)?;
    let lake = Lake::open(&plan.data.dir, lake_options(&plan))?;
    let engine = Arc::new(Engine::new(Arc::clone(&lake), &engine_options(&plan))?);
    let board = Board::default();
    let live = Live::new(plan.hep.key.expose().as_bytes());
    let calls = Calls::new(MEDIA_ENDPOINTS);
    let server = Server::start(&plan, &lake, &board, &live, &calls)?;
    let loggregator = Loggregator::start(&plan, &lake, &board)?;
    let pages = Pages::default();
    let capture =
        rings.map(|rings| Capture::start(&plan, rings, &lake, &board, &pages, &calls)).transpose()?;
    if serve.print_ports {
        print_ports(&server.ports, &loggregator, api_address)?;
    }
    server.remarks.iter().chain(&loggregator.remarks).for_each(|remark| tracing::warn!("{remark}"));
    greet(&plan, &server.ports, &loggregator, api_address);
    let watch = Watch::new(board.clone(), Arc::clone(&lake), pages.clone(), plan.clone());
    let machine =
        Arc::new(Machine::new(server, loggregator, capture, pages, Arc::clone(&lake), watch, calls));
    let app = Arc::new(App::new(
        engine,
        board,
        Box::new(View(Arc::clone(&machine))),
        plan.api.sql_rows,
        token(&plan.api.token),
        !plan.api.listen.ip().is_loopback(),
    ));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("api")
        .enable_all()
        .build()?;
    let failed = runtime.block_on(attend(
        listener,
        &app,
        &machine,
        |plan_now| reload_settings(&serve.settings, plan_now, &live, &app, &log),
        plan,
    ))?;
    runtime.shutdown_timeout(Duration::from_secs(5));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Serves the API until a signal, then ends the shards and the lake. Returns whether something was lost.
async fn attend(
    listener: TcpListener,
    app: &Arc<App>,
    machine: &Arc<Machine>,
    mut reload: impl FnMut(&Plan) -> Option<Plan>,
    mut plan: Plan,
) -> Result<bool> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (stop_api, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(api::serve(listener, Arc::clone(app), async {
        let _ = stopped.await;
    }));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => if let Some(new) = reload(&plan) { plan = new },
            _ = second.tick() => {
                app.tick();
                machine.watch.note();
            }
        }
    }
    tracing::info!("stopping: reading what has arrived, then writing it");
    machine.stopping.store(true, Ordering::Release);
    let ending = Arc::clone(machine);
    let lost = tokio::task::spawn_blocking(move || ending.end()).await??;
    let books = app.books();
    let text = books.to_string();
    if books["balanced"] == true {
        tracing::info!(ledger = %text, "stopped; the books balance");
    } else {
        tracing::error!(ledger = %text, "stopped; the books do not balance");
    }
    let _ = stop_api.send(());
    let _ = tokio::time::timeout(Duration::from_secs(2), serving).await;
    Ok(lost > 0)
}

/// The running parts, for the API's gauges and for the end.
struct Machine {
    server: Mutex<Option<Server>>,
    loggregator: Loggregator,
    capture: Mutex<Option<Capture>>,
    pages: Pages,
    lake: Arc<Lake>,
    stopping: AtomicBool,
    pools: Vec<mem::pool::PoolGauge>,
    since: Instant,
    watch: Watch,
    calls: Calls,
    flows: Vec<Flows>,
}

impl Machine {
    fn new(
        server: Server,
        loggregator: Loggregator,
        capture: Option<Capture>,
        pages: Pages,
        lake: Arc<Lake>,
        watch: Watch,
        calls: Calls,
    ) -> Self {
        let pools = server.pools.clone();
        let flows = capture.as_ref().map(|capture| capture.flows().to_vec()).unwrap_or_default();
        Self {
            server: Mutex::new(Some(server)),
            loggregator,
            capture: Mutex::new(capture),
            pages,
            lake,
            stopping: AtomicBool::new(false),
            pools,
            since: Instant::now(),
            watch,
            calls,
            flows,
        }
    }

    /// Ends the shards, then the lake. Returns the rows that could not be written.
    fn end(&self) -> Result<u64> {
        self.lake.stop_waiting();
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = server.map_or(Ok(()), Server::stop);
        let capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = ended.and(capture.map_or(Ok(()), Capture::stop));
        let ended = ended.and(self.loggregator.stop());
        let lost = self.lake.close();
        ended.map(|()| lost)
    }
}

/// What the API may see of the running parts.
struct View(Arc<Machine>);

impl Probe for View {
    fn gauges(&self) -> Vec<Gauge> {
        let blocks = |of: fn(&mem::pool::PoolGauge) -> usize| {
            self.0.pools.iter().map(|pool| of(pool) * pool.block_bytes()).sum::<usize>() as f64
        };
        let files: u64 = self.0.lake.books().iter().map(|(_, books)| books.files_written).sum();
        let media = self.0.calls.gauges();
        let hot: u64 = self.0.lake.books().iter().map(|(_, books)| books.hot_bytes).sum();
        vec![
            Gauge {
                name: "mem_blocks_used_bytes",
                help: "Receive memory that holds something.",
                value: blocks(mem::pool::PoolGauge::in_use),
            },
            Gauge {
                name: "mem_blocks_allocated_bytes",
                help: "Receive memory taken from the system.",
                value: blocks(mem::pool::PoolGauge::allocated),
            },
            Gauge {
                name: "mem_blocks_budget_bytes",
                help: "The most receive memory that may be taken.",
                value: blocks(mem::pool::PoolGauge::capacity),
            },
            Gauge {
                name: "store_hot_bytes",
                help: "Memory kept in use by rows that are not in files yet.",
                value: hot as f64,
            },
            Gauge {
                name: "store_files_written",
                help: "Files committed since the start.",
                value: files as f64,
            },
            Gauge {
                name: "media_endpoints",
                help: "Endpoints of media whose call is known.",
                value: media.entries as f64,
            },
            Gauge {
                name: "media_endpoints_waiting",
                help: "Places of media endpoints that wait for readers to leave: garbage. Bounded by the table's size.",
                value: media.waiting as f64,
            },
            Gauge {
                name: "media_endpoints_refused",
                help: "Media endpoints not remembered since the start: the table was full, or its readers did not leave.",
                value: (media.refused_full + media.refused_waiting + self.0.calls.too_long()) as f64,
            },
            Gauge {
                name: "flows_shown",
                help: "Open flows that /api/flows/live can show.",
                value: self.0.flows.iter().map(Flows::shown).sum::<usize>() as f64,
            },
            Gauge {
                name: "uptime_seconds",
                help: "Time since the start.",
                value: self.0.since.elapsed().as_secs_f64(),
            },
        ]
    }

    fn capture(&self) -> Option<tap::Ledger> {
        self.0.pages.ledger()
    }

    fn loggregator(&self) -> Option<loggregator::Ledger> {
        Some(self.0.loggregator.ledger())
    }

    fn bottleneck(&self) -> Bottleneck {
        self.0.watch.report()
    }

    fn live_flows(&self, limit: usize) -> Vec<tap::live::Now> {
        tap::live::top(&self.0.flows, limit)
    }

    fn complaints(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(failure) = self.0.lake.failure() {
            found.push(format!("files cannot be written: {failure}"));
        }
        if self.0.stopping.load(Ordering::Acquire) {
            found.push("the program is stopping".to_owned());
        } else if self
            .0
            .server
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .is_some_and(Server::has_failed)
        {
            found.push("a shard ended; restart the program and see its log".to_owned());
        }
        if self.0.loggregator.has_failed() {
            found.push("the thread for dropsonde ended; restart the program and see its log".to_owned());
        }
        let capture = self.0.capture.lock().unwrap_or_else(PoisonError::into_inner);
        if capture.as_ref().is_some_and(Capture::has_failed) {
            found.push("a capture thread ended; restart the program and see its log".to_owned());
        }
        if self.0.pools.iter().any(|pool| pool.in_use() >= pool.capacity()) {
            found.push("receive memory is used up: the disk does not keep up, so reading waits; raise memory.budget_mib or use a faster disk".to_owned());
        }
        found
    }
}

/// The rings of capture, opened while the process may, with all privileges given up after that.
fn open_rings(plan: &Plan) -> Result<Option<Vec<::capture::live::Live>>> {
    if !plan.capture.enabled {
        return Ok(None);
    }
    let rings = Capture::open(plan)?;
    ::capture::privileges::drop_privileges(None)
        .context("the privileges of capture could not be given up")?;
    Ok(Some(rings))
}

/// How the lake of a plan is written.
pub fn lake_options(plan: &Plan) -> LakeOptions {
    let compression = match plan.lake.compression {
        Compression::Zstd => Codec::Zstd(i32::try_from(plan.lake.compression_level).unwrap_or(1)),
        Compression::Lz4 => Codec::Lz4,
        Compression::Snappy => Codec::Snappy,
        Compression::None => Codec::None,
    };
    let budget = plan.memory.budget_mib << 20;
    LakeOptions {
        flush: FlushLimits {
            rows: plan.lake.flush_rows,
            // Writing begins well before the limit below, or reading would wait for the next flush by age.
            bytes: (plan.lake.flush_mib << 20).min(budget / 8 * 3),
            age: Duration::from_secs(plan.lake.flush_s),
        },
        file: FileOptions { compression, row_group_rows: plan.lake.row_group_rows },
        writers: plan.threads.writers.max(1),
        hot_limit_bytes: budget / 8 * 5,
        close_timeout: CLOSE_TIMEOUT,
    }
}

fn engine_options(plan: &Plan) -> EngineOptions {
    EngineOptions {
        memory_mib: plan.memory.query_mib,
        bloom_mib: BLOOM_MIB,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        timeout: Duration::from_secs(plan.api.sql_timeout_s),
    }
}

fn token(secret: &Secret) -> Option<String> {
    secret.is_set().then(|| secret.expose().to_owned())
}

fn bind_api(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow!(
            "API {address} is taken by another program; stop it (`ss -tlpn 'sport = :{}'` names it), or choose another address with --api ADDRESS",
            address.port()
        ),
        _ => anyhow!("API {address} cannot be listened on: {error}"),
    })
}

/// One line of JSON; the first port of each kind, `null` where nothing listens.
fn print_ports(ports: &Ports, loggregator: &Loggregator, api: SocketAddr) -> Result<()> {
    let first = |list: &[SocketAddr]| list.first().map(SocketAddr::port);
    let line = serde_json::json!({
        "hep_udp": first(&ports.hep_udp),
        "hep_tcp": first(&ports.hep_tcp),
        "dropsonde_udp": first(&loggregator.dropsonde_udp),
        "loggregator": first(&loggregator.listening),
        "api": api.port(),
    });
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("standard output is closed")
}

fn greet(plan: &Plan, ports: &Ports, loggregator: &Loggregator, api: SocketAddr) {
    let list = |list: &[SocketAddr]| list.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(", ");
    let udp = ports.hep_udp.first().map_or(9060, SocketAddr::port);
    let shown =
        if api.ip().is_unspecified() { SocketAddr::new([127, 0, 0, 1].into(), api.port()) } else { api };
    eprintln!(
        "wirelake {}\n\n  HEP over UDP   {}\n  HEP over TCP   {}\n  dropsonde      {}\n  capture        {}\n  page and API   http://{shown}\n  lake           {}\n\n\
         Try it:\n  \
         mirror the SIP of this machine      sngrep -c -H udp:127.0.0.1:{udp}\n  \
         see the latest calls                wirelake search --by call --server http://{shown}\n  \
         count messages by method            wirelake sql --server http://{shown} 'SELECT method, count(*) FROM sip GROUP BY ALL'\n  \
         check this machine                  wirelake doctor\n",
        env!("CARGO_PKG_VERSION"),
        list(&ports.hep_udp),
        list(&ports.hep_tcp),
        if loggregator.dropsonde_udp.is_empty() {
            "off".to_owned()
        } else {
            list(&loggregator.dropsonde_udp)
        },
        capturing(plan),
        plan.data.dir.display(),
    );
}

/// What is captured, or how to.
fn capturing(plan: &Plan) -> String {
    let capture = &plan.capture;
    if !capture.enabled {
        return "off; --capture any turns it on".to_owned();
    }
    let any = capture.interfaces.is_empty() || capture.interfaces.iter().any(|name| name == "any");
    let place = if any { "all interfaces".to_owned() } else { capture.interfaces.join(", ") };
    if capture.filter.is_empty() { place } else { format!("{place}: {}", capture.filter) }
}

fn start_log(plan: &Plan) -> LogHandle {
    let (level, handle) = reload::Layer::new(level(plan.log.level));
    let registry = tracing_subscriber::registry().with(level);
    let color = std::io::IsTerminal::is_terminal(&std::io::stderr());
    match plan.log.format {
        LogFormat::Json => {
            let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).json();
            let _ = registry.with(layer).try_init();
        }
        LogFormat::Text => {
            let layer = tracing_subscriber::fmt::layer()
                .with_writer(std::io::stderr)
                .with_ansi(color)
                .with_target(false);
            let _ = registry.with(layer).try_init();
        }
    }
    handle
}

/// Our own events at the level asked for; the libraries' only when they are warnings.
fn level(level: LogLevel) -> filter::Targets {
    let own = level.as_str().parse().unwrap_or(filter::LevelFilter::INFO);
    let ours = ["wirelake", "api", "lake", "listen", "capture", "loggregator"];
    filter::Targets::new()
        .with_default(own.min(filter::LevelFilter::WARN))
        .with_targets(ours.map(|target| (target, own)))
}

/// Takes up what may change while running; `None` when the new configuration is wrong.
fn reload_settings(settings: &Settings, old: &Plan, live: &Live, app: &App, log: &LogHandle) -> Option<Plan> {
    let new = match plan(settings) {
        Ok(new) => new,
        Err(error) => {
            tracing::error!("the configuration was not reloaded: {error:#}");
            return None;
        }
    };
    let difference = old.diff(&new);
    live.set_key(new.hep.key.expose().as_bytes());
    app.set_token(token(&new.api.token));
    app.engine.set_timeout(Duration::from_secs(new.api.sql_timeout_s));
    app.sql_rows.store(new.api.sql_rows, Ordering::Relaxed);
    let _ = log.modify(|current| *current = level(new.log.level));
    tracing::info!(changed = ?difference.reloadable, "the configuration was reloaded");
    if !difference.needs_restart.is_empty() {
        tracing::warn!(keys = ?difference.needs_restart, "these keys take effect after a restart");
    }
    Some(new)
}
