//! The task of a destination: connect, send, and when that ends, again.
//!
//! A session is one connection from its coming up to its end. What it had written and not seen confirmed goes back to
//! the front of the queue, so the next session begins with it.

mod backoff;
mod connect;
pub(crate) mod grpc;
pub mod otlp;
pub mod syslog;
mod v2;
mod wire;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use tokio::time::Instant;

use crate::counters::Cause;
use crate::queue::{Queue, Window};
use crate::quiet::Quiet;
use crate::tls::ClientTls;

pub use backoff::Backoff;
use connect::{Stream, connect};

/// Where a destination is and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// `host:port`. Every address of the host is tried in turn.
    pub address: String,
    /// Without it everything is readable and anyone may answer: for tests, and networks that are secured otherwise.
    pub tls: Option<ClientTls>,
    /// Time for TCP, TLS and the protocol to come up.
    pub connect_timeout: Duration,
    /// Time in which the destination must show that it lives: confirm what was written, answer a call, or read on.
    pub answer_timeout: Duration,
    /// Between attempts.
    pub backoff: Backoff,
}

impl Remote {
    /// With the usual times: 10 s to connect, 20 s to answer.
    pub fn new(address: impl Into<String>, tls: Option<ClientTls>) -> Self {
        Self {
            address: address.into(),
            tls,
            connect_timeout: Duration::from_secs(10),
            answer_timeout: Duration::from_secs(20),
            backoff: Backoff::default(),
        }
    }
}

/// Why there is no session, or no longer.
#[derive(Debug)]
pub(crate) struct End {
    pub cause: Cause,
    pub detail: String,
    /// The destination asked for it in good order: come back at once.
    pub orderly: bool,
    /// The destination refused what it was sent, and would again.
    pub poison: bool,
}

impl End {
    pub fn new(cause: Cause, detail: impl ToString) -> Self {
        Self { cause, detail: detail.to_string(), orderly: false, poison: false }
    }
}

/// How a session ended.
pub(crate) type Session = Result<Stopped, End>;

/// Everything was sent and the task may end.
#[derive(Debug)]
pub(crate) struct Stopped;

/// What a session works with.
#[derive(Debug)]
pub(crate) struct Context {
    pub queue: Arc<Queue>,
    pub window: Window,
    pub answer_timeout: Duration,
    pub stop: watch::Receiver<bool>,
}

impl Context {
    /// Whether the program stops.
    pub fn stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Waits for the program to stop; for ever once it does, so that a `select!` is not woken by it twice.
    pub async fn stopped(&self) {
        let mut stop = self.stop.clone();
        if self.stopping() || stop.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The protocol of a destination, with what it keeps from one session to the next.
pub(crate) enum Sink {
    V2(v2::State),
    Syslog(syslog::State),
    Otlp(otlp::State),
}

impl Sink {
    fn alpn(&self) -> &'static [&'static [u8]] {
        match self {
            Self::V2(_) | Self::Otlp(_) => &[b"h2"],
            Self::Syslog(_) => &[],
        }
    }

    async fn session(&mut self, stream: Stream, context: &Context, remote: &Remote) -> Session {
        match self {
            Self::V2(state) => v2::session(state, stream, context, remote).await,
            Self::Syslog(state) => syslog::session(state, stream, context).await,
            Self::Otlp(state) => otlp::session(state, stream, context, remote).await,
        }
    }
}

/// Runs until the program stops and everything was sent. Whoever waits for it sets the deadline.
pub(crate) async fn run(name: String, remote: Remote, mut sink: Sink, context: Context) {
    let mut wait = remote.backoff.start();
    let mut log = Log { name, quiet: Quiet::default(), away: false };
    loop {
        if context.stopping() && context.queue.is_empty() {
            return;
        }
        let (sent_before, began) = (context.queue.counters().sent.batches, Instant::now());
        let end = match connect(&remote, sink.alpn()).await {
            Err(end) => {
                context.queue.failed(end.cause);
                end
            }
            Ok(connected) => {
                context.queue.connected();
                log.connected(&remote);
                let mut end = match sink.session(connected.stream, &context, &remote).await {
                    Ok(Stopped) => return,
                    Err(end) => end,
                };
                let confirmed = context.queue.counters().sent.batches > sent_before;
                if confirmed || began.elapsed() > remote.backoff.max {
                    wait = remote.backoff.start();
                } else if connected.expired
                    && matches!(end.cause, Cause::TlsRefused | Cause::Reset | Cause::Tls)
                {
                    end.cause = Cause::OwnExpired;
                }
                context.queue.rewind(end.cause);
                end
            }
        };
        log.ended(&remote, &end);
        if !end.orderly {
            let pause = wait.next();
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = context.stopped() => {}
            }
        }
    }
}

/// One line when a destination goes away, one now and then while it is, one when it is back.
struct Log {
    name: String,
    quiet: Quiet,
    away: bool,
}

impl Log {
    fn connected(&mut self, remote: &Remote) {
        if self.away {
            tracing::info!(destination = self.name, address = remote.address, "connected again");
        }
        self.away = false;
    }

    fn ended(&mut self, remote: &Remote, end: &End) {
        if let Some(more) = self.quiet.permit() {
            let (cause, detail) = (end.cause, &end.detail);
            tracing::warn!(
                destination = self.name, address = remote.address, %cause, detail, more,
                "no connection; what comes is kept and it is tried again"
            );
            self.away = true;
        }
    }
}

/// Now, as nanoseconds since the Unix epoch.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
