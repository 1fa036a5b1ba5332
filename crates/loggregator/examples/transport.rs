//! The transport alone, for trials against other programs:
//!
//! ```text
//! transport send  KEY=VALUE…   numbered envelopes to a receiver of loggregator v2
//! transport relay KEY=VALUE…   what comes to an Ingress server, to a receiver
//!
//! to=127.0.0.1:3458  ca= cert= key=      where to, and the files of TLS (name `metron`)
//! count=100000 sources=10 size=100       send: how many, from how many sources, bytes of a log
//! rate=0                                 send: envelopes per second; 0 is as fast as the queue takes them
//! listen=127.0.0.1:3460                  relay: where to listen, with the same files
//! policy=block|oldest|newest             when the queue is full
//! memory=16777216 disk= disk_bytes=…     the queue
//! stop=30                                seconds to send what is left in
//! ```
//!
//! Numbers are timestamps, from 1 in each source. The last line is the destination's books as JSON; with
//! `status=SECONDS` they are printed now and then too.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use loggregator::ingress::{Ingress, IngressLimits, Received};
use loggregator::{
    Batch, BatchBuilder, Cause, ClientTls, Counters, Destination, DiskSettings, Identity, Limits, Policy,
    Protocol, Reason, Remote, ServerTls, Settings,
};

type Failure = Box<dyn std::error::Error>;

struct Arguments(HashMap<String, String>);

impl Arguments {
    fn text(&self, key: &str, usual: &str) -> String {
        self.0.get(key).cloned().unwrap_or_else(|| usual.to_owned())
    }

    fn number<T: std::str::FromStr>(&self, key: &str, usual: T) -> Result<T, Failure> {
        let Some(text) = self.0.get(key) else { return Ok(usual) };
        text.parse().map_err(|_| format!("{key}={text} is no number").into())
    }

    fn identity(&self) -> Identity {
        Identity { cert: self.text("cert", "client.crt").into(), key: self.text("key", "client.key").into() }
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let tls = ClientTls {
            ca: self.text("ca", "ca.crt").into(),
            identity: Some(self.identity()),
            server_name: "metron".to_owned(),
        };
        let mut remote = Remote::new(self.text("to", "127.0.0.1:3458"), Some(tls));
        remote.backoff.max = Duration::from_secs(1);
        let mut settings = Settings::new("receiver", remote, Protocol::V2);
        settings.queue.memory_bytes = self.number("memory", settings.queue.memory_bytes)?;
        settings.queue.policy = match self.text("policy", "block").as_str() {
            "block" => Policy::Block,
            "oldest" => Policy::DropOldest,
            "newest" => Policy::DropNewest,
            other => return Err(format!("policy={other}").into()),
        };
        if let Some(folder) = self.0.get("disk") {
            let bytes = self.number("disk_bytes", 256 << 20)?;
            settings.queue.disk = Some(DiskSettings { folder: folder.into(), bytes });
        }
        Ok(settings)
    }
}

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let verb = words.next().unwrap_or_default();
    let pairs = words.map(|word| match word.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(format!("{word}: KEY=VALUE is wanted")),
    });
    let arguments = Arguments(pairs.collect::<Result<_, _>>()?);
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let destination = Arc::new(Destination::start(runtime.handle(), arguments.settings()?)?);
    let began = Instant::now();
    if let Some(every) = arguments.0.get("status") {
        let (every, destination) = (Duration::from_secs(every.parse()?), destination.clone());
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                println!("{}", json(&destination.counters(), began.elapsed()));
            }
        });
    }
    match verb.as_str() {
        "send" => send(&arguments, &destination)?,
        "relay" => relay(&arguments, &destination, &runtime)?,
        other => return Err(format!("{other:?} is neither send nor relay").into()),
    }
    let deadline = Duration::from_secs(arguments.number("stop", 30)?);
    let counters = runtime.block_on(destination.stop(deadline));
    println!("{}", json(&counters, began.elapsed()));
    Ok(())
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Numbered log envelopes, built into batches as a reader would.
fn send(arguments: &Arguments, destination: &Destination) -> Result<(), Failure> {
    let (count, sources) = (arguments.number("count", 100_000u64)?, arguments.number("sources", 10u64)?);
    let (rate, size) = (arguments.number("rate", 0u64)?, arguments.number("size", 100usize)?);
    let line = vec![b'x'; size];
    let mut builder = BatchBuilder::new(Limits::default());
    let began = Instant::now();
    let mut envelope = Vec::new();
    for at in 0..count {
        if let Some(due) = at.saturating_mul(1_000_000_000).checked_div(rate).map(Duration::from_nanos) {
            while began.elapsed() < due {
                if let Some(batch) = builder.due(now_ns()) {
                    destination.offer(batch);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        envelope.clear();
        encode(&mut envelope, at / sources + 1, &format!("source-{}", at % sources), &line);
        loggregator::batch::put_entry(&envelope, builder.buffer());
        if let Some(batch) = builder.commit(now_ns())? {
            destination.offer(batch);
        }
    }
    if let Some(batch) = builder.seal() {
        destination.offer(batch);
    }
    Ok(())
}

/// `Envelope { timestamp = 1, source_id = 2, log = 4 { payload = 1 } }`.
fn encode(out: &mut Vec<u8>, number: u64, source: &str, line: &[u8]) {
    out.push(0x08);
    varint(out, number);
    out.push(0x12);
    varint(out, source.len() as u64);
    out.extend_from_slice(source.as_bytes());
    let mut log = vec![0x0a];
    varint(&mut log, line.len() as u64);
    log.extend_from_slice(line);
    out.push(0x22);
    varint(out, log.len() as u64);
    out.extend_from_slice(&log);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Hands what comes in to the destination until the program is told to stop; clients wait while the queue is full.
fn relay(
    arguments: &Arguments,
    destination: &Arc<Destination>,
    runtime: &tokio::runtime::Runtime,
) -> Result<(), Failure> {
    let socket = TcpListener::bind(arguments.text("listen", "127.0.0.1:3460"))?;
    let tls = ServerTls { ca: arguments.text("ca", "ca.crt").into(), identity: arguments.identity() };
    let to = destination.clone();
    let accept = Arc::new(move |received: Received| {
        let batch = Batch::new(&received.message, received.envelopes, now_ns());
        let to = to.clone();
        let done: std::pin::Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(async move {
            if let Some(batch) = batch {
                to.offer_async(batch).await;
            }
            Ok(())
        });
        done
    });
    let server = Ingress::start(runtime.handle(), socket, tls, IngressLimits::default(), accept)?;
    println!("listening on {}", server.address());
    runtime.block_on(async {
        let mut asked = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        asked.recv().await;
        Ok::<_, std::io::Error>(())
    })?;
    println!("{:?}", server.counters());
    runtime.block_on(server.stop(Duration::from_secs(5)));
    Ok(())
}

fn json(counters: &Counters, after: Duration) -> String {
    let list = |pairs: Vec<(&str, u64)>| {
        let pairs: Vec<_> = pairs
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("\"{name}\":{count}"))
            .collect();
        format!("{{{}}}", pairs.join(","))
    };
    let dropped = Reason::ALL.iter().map(|reason| (reason.as_str(), counters.dropped(*reason))).collect();
    let ended = Cause::ALL.iter().map(|cause| (cause.as_str(), counters.ended(*cause))).collect();
    let batches = counters.latency.count().max(1);
    format!(
        "{{\"seconds\":{:.3},\"queued\":{},\"replayed\":{},\"sent\":{},\"resent\":{},\"held\":{},\"held_bytes\":{},\
         \"on_disk\":{},\"in_flight\":{},\"connections\":{},\"mean_latency_us\":{},\"dropped\":{},\"ended\":{},\
         \"spool_errors\":{},\"balanced\":{}}}",
        after.as_secs_f64(),
        counters.queued.envelopes,
        counters.replayed.envelopes,
        counters.sent.envelopes,
        counters.resent.envelopes,
        counters.held.envelopes,
        counters.held.bytes,
        counters.on_disk.envelopes,
        counters.in_flight.envelopes,
        counters.connections,
        counters.latency.sum_us / batches,
        list(dropped),
        list(ended),
        counters.spool_errors,
        counters.balanced(),
    )
}
