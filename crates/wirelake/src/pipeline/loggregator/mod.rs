//! Loggregator in a running program: dropsonde over UDP and envelopes over gRPC in; destinations and the lake out.

mod destinations;
mod feed;
mod render;
mod udp;

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use ::loggregator::ingress::{Accept, Ingress, IngressLimits, Received};
use ::loggregator::{Destination, Ledger, Limits, Page, ServerTls};
use anyhow::{Context, Result, anyhow};
use config::{Origin, Plan};
use envelope::loggregator::{Identity, Options};
use lake::Lake;
use stats::Board;
use tokio::runtime::Runtime;

pub use feed::{Feed, Settings as FeedSettings};
pub use udp::{Reader, bind};

use feed::Store;

/// How often what came over gRPC is looked at for what is due.
const TURN: Duration = Duration::from_millis(20);

/// How long clients are waited for that were asked to leave.
const CLIENTS_LEAVE: Duration = Duration::from_secs(2);

/// Loggregator at work.
#[derive(Debug)]
pub struct Loggregator {
    /// Where dropsonde is taken.
    pub dropsonde_udp: Vec<SocketAddr>,
    /// Where envelopes are taken over gRPC.
    pub listening: Vec<SocketAddr>,
    /// What must be said once, in sentences.
    pub remarks: Vec<String>,
    reader: Reader,
    servers: Mutex<Vec<Ingress>>,
    shared: Arc<Mutex<Feed>>,
    destinations: Arc<[Destination]>,
    pages: Vec<Arc<Mutex<Page>>>,
    runtime: Runtime,
    flush: Duration,
}

impl Loggregator {
    /// Binds what the plan says and starts the threads.
    ///
    /// # Errors
    /// When an address cannot be had or a destination cannot be understood: which, and what to do.
    pub fn start(plan: &Plan, lake: &Arc<Lake>, board: &Board) -> Result<Self> {
        let optional = config::key("dropsonde.udp").is_some_and(|key| plan.origin(key) == Origin::Default);
        let bound = bind(&plan.dropsonde.udp, plan.dropsonde.rcvbuf_bytes, optional, plan.shutdown.drain_ms)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("loggregator")
            .enable_all()
            .build()?;
        let destinations: Arc<[Destination]> = destinations::start(runtime.handle(), &plan.egress)?.into();
        let settings = settings(plan)?;
        let feed = || {
            let store = plan.loggregator.store.then(|| {
                let seal_after = Duration::from_millis(plan.lake.seal_ms);
                Store::new(lake, board.shard(), plan.lake.seal_rows, seal_after)
            });
            Feed::new(settings.clone(), Arc::clone(&destinations), store)
        };
        let (own, shared) = (feed(), feed());
        let pages = vec![own.published(), shared.published()];
        let shared = Arc::new(Mutex::new(shared));
        let servers = serve(plan, &runtime, &shared)?;
        if !servers.is_empty() {
            runtime.spawn(turns(Arc::downgrade(&shared)));
        }
        let listening = servers.iter().map(Ingress::address).collect();
        let (dropsonde_udp, remarks) = (bound.addresses.clone(), bound.remarks.clone());
        Ok(Self {
            dropsonde_udp,
            listening,
            remarks,
            reader: bound.start(own)?,
            servers: Mutex::new(servers),
            shared,
            destinations,
            pages,
            runtime,
            flush: Duration::from_secs(plan.egress.flush_s),
        })
    }

    /// The books now.
    pub fn ledger(&self) -> Ledger {
        ledger(&self.destinations, &self.pages, &self.reader)
    }

    /// Whether a thread ended by itself, which it never should.
    pub fn has_failed(&self) -> bool {
        self.reader.has_failed()
    }

    /// Takes nothing more, hands the last rows to the lake, and waits a while for destinations to take the rest.
    ///
    /// # Errors
    /// Why a thread ended before it was asked to.
    pub fn stop(&self) -> Result<()> {
        let ended = self.reader.stop();
        let servers = std::mem::take(&mut *self.servers.lock().unwrap_or_else(PoisonError::into_inner));
        self.runtime.block_on(async {
            all(servers.into_iter().map(|server| server.stop(CLIENTS_LEAVE))).await;
            lock(&self.shared).finish();
            all(self.destinations.iter().map(|destination| destination.stop(self.flush))).await;
        });
        ended
    }
}

/// Waits for all of them side by side.
async fn all<F: Future>(futures: impl Iterator<Item = F>) {
    let mut waiting: Vec<_> = futures.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        waiting.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if waiting.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The books of these destinations, pages and sockets, read in the order that keeps them in balance.
pub fn ledger(destinations: &[Destination], pages: &[Arc<Mutex<Page>>], reader: &Reader) -> Ledger {
    let figures = destinations.iter().map(|one| (one.name().to_owned(), one.counters())).collect();
    let pages: Vec<Page> =
        pages.iter().map(|page| page.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect();
    Ledger::new(figures, &pages, reader.sockets())
}

fn settings(plan: &Plan) -> Result<FeedSettings> {
    let tags = plan.loggregator.tags.iter().map(|tag| {
        let (key, value) = tag
            .split_once('=')
            .with_context(|| format!("loggregator.tags: `{tag}` is no tag; write it like deployment=cf"))?;
        Ok((key.to_owned(), value.to_owned()))
    });
    let age = Duration::from_millis(plan.egress.batch_ms).as_nanos();
    Ok(FeedSettings {
        tags: tags.collect::<Result<_>>()?,
        limits: Limits {
            envelopes: u32::try_from(plan.egress.batch_envelopes).unwrap_or(u32::MAX),
            bytes: plan.egress.batch_kib << 10,
            age_ns: i64::try_from(age).unwrap_or(i64::MAX),
            ..Limits::default()
        },
        identity: Identity {
            deployment: plan.dropsonde.deployment.clone(),
            job: plan.dropsonde.job.clone(),
            index: plan.dropsonde.index.clone(),
            ip: plan.dropsonde.ip.clone(),
        },
        options: Options { fix_instance_id: plan.dropsonde.fix_instance_id },
        totals: plan
            .loggregator
            .aggregate
            .then(|| u32::try_from(plan.loggregator.aggregate_counters).unwrap_or(u32::MAX)),
    })
}

fn serve(plan: &Plan, runtime: &Runtime, shared: &Arc<Mutex<Feed>>) -> Result<Vec<Ingress>> {
    let files = ServerTls {
        ca: plan.loggregator.ca_file.clone(),
        identity: ::loggregator::Identity {
            cert: plan.loggregator.cert_file.clone(),
            key: plan.loggregator.key_file.clone(),
        },
    };
    let accept: Accept = {
        let shared = Arc::clone(shared);
        Arc::new(move |received: Received| {
            let shared = Arc::clone(&shared);
            Box::pin(async move {
                // The lake lets its callers wait while the disk is behind; other tasks must not wait with this one.
                tokio::task::block_in_place(|| lock(&shared).batch(&received.message, now_ns()));
                Ok(())
            })
        })
    };
    plan.loggregator
        .listen
        .iter()
        .map(|address| {
            let socket = TcpListener::bind(address).map_err(|error| refusal(*address, &error))?;
            let limits = IngressLimits::default();
            Ingress::start(runtime.handle(), socket, files.clone(), limits, Arc::clone(&accept))
                .with_context(|| format!("Loggregator cannot be served on {address}"))
        })
        .collect()
}

fn refusal(address: SocketAddr, error: &std::io::Error) -> anyhow::Error {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow!(
            "TCP {address} is taken by another program; stop it (`ss -tlpn 'sport = :{}'` names it), or choose another \
             address with --loggregator ADDRESS",
            address.port()
        ),
        _ => anyhow!("Loggregator cannot be listened for on {address}: {error}"),
    }
}

/// Sends off what is due of what came over gRPC, for as long as there is somebody who could bring more.
async fn turns(shared: Weak<Mutex<Feed>>) {
    let mut interval = tokio::time::interval(TURN);
    loop {
        interval.tick().await;
        let Some(shared) = shared.upgrade() else { return };
        tokio::task::block_in_place(|| lock(&shared).turn(now_ns()));
    }
}

fn lock(feed: &Mutex<Feed>) -> MutexGuard<'_, Feed> {
    feed.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now_ns() -> i64 {
    crate::pipeline::now().0
}
