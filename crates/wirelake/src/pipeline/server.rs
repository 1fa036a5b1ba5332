//! The shards of a running program: their sockets, threads and end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use config::Plan;
use envelope::hep;
use lake::Lake;
use lake::rows::RowOptions;
use listen::udp::Gro;
use listen::{Frame, Shard, ShardConfig, Stop, TcpOptions, UdpOptions, bind_tcp, bind_udp};
use mem::pool::{Pool, PoolGauge};
use stats::Board;
use tap::media::Calls;

use super::sink::{HepSink, Live, SealLimits};

/// A shard seals before its batch keeps more than this part of its memory in use.
const SEAL_SHARE: usize = 8;

/// The addresses that the program listens on.
#[derive(Debug, Clone, Default)]
pub struct Ports {
    /// HEP over UDP.
    pub hep_udp: Vec<SocketAddr>,
    /// HEP over TCP.
    pub hep_tcp: Vec<SocketAddr>,
}

/// Shards at work.
#[derive(Debug)]
pub struct Server {
    /// Where they listen.
    pub ports: Ports,
    /// Their memory.
    pub pools: Vec<PoolGauge>,
    /// What must be said once about the machine, in sentences.
    pub remarks: Vec<String>,
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<Result<()>>>,
}

impl Server {
    /// Binds every socket of the plan and starts the shards, which hand their rows to `lake` and share what they
    /// know of media in `calls`.
    ///
    /// # Errors
    /// When an address cannot be bound: which one, and what to do.
    pub fn start(plan: &Plan, lake: &Arc<Lake>, board: &Board, live: &Live, calls: &Calls) -> Result<Self> {
        let count = plan.threads.shards.max(1);
        let block_bytes = plan.memory.block_kib << 10;
        // The columns that point into the blocks need the rest.
        let receive = (plan.memory.budget_mib << 20) / 8 * 5;
        let blocks = (receive / block_bytes / count).max(2);
        let config = ShardConfig {
            max_connections: plan.hep.tcp_connections,
            partial_timeout: Duration::from_secs(plan.hep.tcp_frame_timeout_s),
            drain: Duration::from_millis(plan.shutdown.drain_ms),
            ..ShardConfig::new(frame)
        };
        let mut remarks = Vec::new();
        let mut ports = Ports::default();
        let mut shards = Vec::new();
        let mut pools = Vec::new();
        for _ in 0..count {
            let pool = Pool::new(block_bytes, blocks);
            pools.push(pool.gauge());
            shards
                .push(Shard::new(config.clone(), pool, board.shard()).context("a shard could not be made")?);
        }
        let options = UdpOptions {
            receive_buffer: plan.hep.rcvbuf_bytes,
            gro: if plan.hep.gro { Gro::Exact } else { Gro::Off },
            ..UdpOptions::default()
        };
        for wanted in &plan.hep.udp {
            let sockets = bind(*wanted, "UDP", |address| bind_udp(address, count, &options))?;
            ports.hep_udp.extend(sockets.first().map(|socket| socket.local_addr()));
            if let Some(grant) = sockets.first().map(|socket| socket.grant()).filter(|grant| grant.is_short())
            {
                remarks.push(format!(
                    "the receive buffer of UDP {wanted} is {} KiB, not the {} KiB asked for; bursts may be lost in the kernel. \
                     Lift it with: sudo sysctl -w net.core.rmem_max={}",
                    grant.given >> 10,
                    grant.asked >> 10,
                    grant.rmem_max_needed()
                ));
            }
            for (shard, socket) in shards.iter_mut().zip(sockets) {
                shard.add_udp(socket)?;
            }
        }
        for wanted in &plan.hep.tcp {
            let listeners = bind(*wanted, "TCP", |address| bind_tcp(address, count, &TcpOptions::default()))?;
            ports.hep_tcp.extend(listeners.first().map(|listener| listener.local_addr()));
            for (shard, listener) in shards.iter_mut().zip(listeners) {
                shard.add_tcp(listener)?;
            }
        }
        let stop = Arc::new(Stop::new()?);
        let limits = SealLimits {
            rows: plan.lake.seal_rows,
            bytes: (blocks * block_bytes / SEAL_SHARE).max(block_bytes),
            age_ns: i64::try_from(Duration::from_millis(plan.lake.seal_ms).as_nanos()).unwrap_or(i64::MAX),
        };
        let threads = shards
            .into_iter()
            .enumerate()
            .map(|(number, mut shard)| {
                let options = RowOptions {
                    correlation_headers: plan.hep.correlation_headers.0.clone(),
                    calls: Some(calls.clone()),
                };
                let mut sink =
                    HepSink::new(Arc::clone(lake), limits, options, plan.hep.inflate_max_bytes, live);
                let stop = Arc::clone(&stop);
                std::thread::Builder::new()
                    .name(format!("shard-{number}"))
                    .spawn(move || {
                        let ended = shard.run(&mut sink, &stop);
                        let mut counters = shard.into_counters();
                        sink.seal(&mut counters);
                        counters.publish();
                        ended.context("a shard had to stop")
                    })
                    .context("a shard's thread could not be started")
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { ports, pools, remarks, stop, threads })
    }

    /// Whether a shard ended by itself, which it never should.
    pub fn has_failed(&self) -> bool {
        !self.stop.is_set() && self.threads.iter().any(JoinHandle::is_finished)
    }

    /// Reads what the kernel still holds, hands the last rows over and ends the threads.
    ///
    /// # Errors
    /// Why a shard ended, when it was not for being asked to.
    pub fn stop(self) -> Result<()> {
        self.stop.set();
        let mut result = Ok(());
        for thread in self.threads {
            let ended = thread.join().unwrap_or_else(|_| Err(anyhow!("a shard panicked")));
            result = result.and(ended);
        }
        result
    }
}

/// Cuts a TCP stream into HEP frames.
pub fn frame(prefix: &[u8]) -> Frame {
    match hep::frame_len(prefix) {
        hep::Frame::NeedMore => Frame::NeedMore,
        hep::Frame::Len(length) => Frame::Len(length),
        hep::Frame::Bad => Frame::Bad,
    }
}

/// Binds an address; without IPv6 on this machine the IPv4 wildcard stands in for the IPv6 one.
fn bind<T>(wanted: SocketAddr, kind: &str, how: impl Fn(SocketAddr) -> std::io::Result<T>) -> Result<T> {
    let first = how(wanted);
    let result = match (first, config::without_ipv6(wanted)) {
        (Err(error), Some(other)) if error.kind() != std::io::ErrorKind::AddrInUse => {
            how(other).map_err(|_| error)
        }
        (first, _) => first,
    };
    result.map_err(|error| {
        let port = wanted.port();
        match error.kind() {
            std::io::ErrorKind::AddrInUse => anyhow!(
                "{kind} {wanted} is taken by another program; stop it (`ss -{}lpn 'sport = :{port}'` names it), \
                 or choose another port with --hep-{} ADDRESS",
                if kind == "UDP" { "u" } else { "t" },
                kind.to_lowercase()
            ),
            std::io::ErrorKind::PermissionDenied => {
                anyhow!("{kind} {wanted} needs a privilege: choose a port of 1024 or above with --hep-{} ADDRESS", kind.to_lowercase())
            }
            std::io::ErrorKind::AddrNotAvailable => anyhow!(
                "{kind} {wanted}: this machine has no such address; `ip address` lists those it has, [::] takes them all"
            ),
            _ => anyhow!("{kind} {wanted} cannot be listened on: {error}"),
        }
    })
}
