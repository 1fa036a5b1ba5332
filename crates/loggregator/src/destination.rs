//! A destination: what the pipeline starts, feeds, asks and stops.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::batch::Batch;
use crate::counters::Counters;
use crate::egress::{self, Context, Remote, Sink, otlp, syslog};
use crate::queue::{Disk, Policy, Queue, Window};
use crate::spool::Spool;

/// The protocol of a destination.
#[derive(Clone)]
#[non_exhaustive]
pub enum Protocol {
    /// Loggregator v2: `Ingress/BatchSender`.
    V2,
    /// Syslog, RFC 5424, octet-counted.
    Syslog(syslog::Render),
    /// OTLP over gRPC.
    Otlp(otlp::Render),
}

impl std::fmt::Debug for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::V2 => "V2",
            Self::Syslog(_) => "Syslog",
            Self::Otlp(_) => "Otlp",
        })
    }
}

/// What waits for a destination, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSettings {
    /// Bytes in memory, with 128 for each batch.
    pub memory_bytes: usize,
    /// What happens when there is no room.
    pub policy: Policy,
    /// Beyond memory.
    pub disk: Option<DiskSettings>,
}

impl Default for QueueSettings {
    /// 16 MiB in memory; the oldest makes room.
    fn default() -> Self {
        Self { memory_bytes: 16 << 20, policy: Policy::default(), disk: None }
    }
}

/// A folder that takes what memory does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskSettings {
    /// The folder; one for each destination.
    pub folder: PathBuf,
    /// Bytes in it.
    pub bytes: u64,
}

/// All about one destination.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its name in logs and metrics.
    pub name: String,
    /// Where it is.
    pub remote: Remote,
    /// What it speaks.
    pub protocol: Protocol,
    /// What waits for it.
    pub queue: QueueSettings,
    /// What may be written without confirmation; no more than a quarter of the memory in any case.
    pub window: Window,
}

impl Settings {
    /// With the usual queue, and a window of 512 batches or 4 MiB.
    pub fn new(name: impl Into<String>, remote: Remote, protocol: Protocol) -> Self {
        Self {
            name: name.into(),
            remote,
            protocol,
            queue: QueueSettings::default(),
            window: Window { batches: 512, bytes: 4 << 20 },
        }
    }
}

/// A running destination. All calls are safe from any thread.
#[derive(Debug)]
pub struct Destination {
    name: String,
    queue: Arc<Queue>,
    stop: watch::Sender<bool>,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    task: JoinHandle<()>,
    disk: Option<Disk>,
}

impl Destination {
    /// Starts the task on a runtime with time and network, and the thread of the disk if there is one. Does not wait for
    /// a connection: a destination that is away is an ordinary state.
    ///
    /// # Errors
    /// The folder cannot be used, or no thread can be started.
    pub fn start(handle: &Handle, settings: Settings) -> io::Result<Self> {
        let Settings { name, remote, protocol, queue: wanted, window } = settings;
        let spool = wanted.disk.map(|disk| Spool::open(&disk.folder, disk.bytes)).transpose()?;
        let queue = Arc::new(Queue::new(wanted.memory_bytes, wanted.policy, spool.is_some()));
        let disk = spool.map(|spool| Disk::start(queue.clone(), spool, &name)).transpose()?;
        let (stop, stopped) = watch::channel(false);
        // Syslog and OTLP answer for one batch at a time.
        let batches = if matches!(protocol, Protocol::V2) { window.batches.max(1) } else { 1 };
        let window = Window { batches, bytes: window.bytes.min(wanted.memory_bytes / 4) };
        let context =
            Context { queue: queue.clone(), window, answer_timeout: remote.answer_timeout, stop: stopped };
        let sink = match protocol {
            Protocol::V2 => Sink::V2(Default::default()),
            Protocol::Syslog(render) => Sink::Syslog(syslog::State { render, messages: Default::default() }),
            Protocol::Otlp(render) => Sink::Otlp(otlp::State { render, under_way: None }),
        };
        let task = handle.spawn(egress::run(name.clone(), remote, sink, context));
        Ok(Self { name, queue, stop, running: Mutex::new(Some(Running { task, disk })) })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Puts a batch into the queue, from a plain thread. Takes a lock for a moment; under [`Policy::Block`] it waits for
    /// room.
    pub fn offer(&self, batch: Batch) {
        self.queue.offer(batch);
    }

    /// The same from a task, which waits without holding a thread.
    pub async fn offer_async(&self, batch: Batch) {
        self.queue.offer_async(batch).await;
    }

    /// The figures at this moment, which balance.
    pub fn counters(&self) -> Counters {
        self.queue.counters()
    }

    /// Takes nothing more, sends what waits, and ends; after `deadline` it ends all the same. What is left then stays on
    /// disk, or is dropped and counted. A second call only waits for nothing. Gives the last figures.
    pub async fn stop(&self, deadline: Duration) -> Counters {
        self.queue.close();
        self.stop.send_replace(true);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { mut task, disk }) = running {
            if tokio::time::timeout(deadline, &mut task).await.is_err() {
                task.abort();
                let _ = task.await;
            }
            if let Some(disk) = disk {
                self.queue.stop_disk();
                let _ = tokio::task::spawn_blocking(move || disk.join()).await;
            }
            self.queue.give_up();
        }
        self.counters()
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if let Some(Running { task, disk }) =
            self.running.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            self.queue.close();
            task.abort();
            if disk.is_some() {
                self.queue.stop_disk();
            }
        }
    }
}
