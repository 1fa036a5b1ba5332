//! The server side of `loggregator.v2.Ingress`: `Sender`, `BatchSender`, `Send`, for clients with a certificate.
//!
//! * In: gRPC over HTTP/2 over TLS. Out: the bytes of `EnvelopeBatch` messages, to a function.
//! * Owned: the connections, and of each stream the message that is not complete yet.
//! * Bounded by: connections, streams of a connection, bytes of a message. While the function holds a message, flow
//!   control lets the client of that stream send no more than the window.
//! * Lost: messages that are too large, compressed, or no `EnvelopeBatch`; they are counted, and end the stream with a
//!   status that says so, as with every server of gRPC.
//!
//! What comes singly on `Sender` is put together by what is there, so the function sees batches from all three.

mod frames;
mod stream;

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::server::TlsStream;

use crate::serve::{Doors, Listener, asked};
use crate::tls::{FilesError, Listening, ServerTls};

/// A server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Its certificate files.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Its socket.
    #[error(transparent)]
    Socket(#[from] io::Error),
}

/// Envelopes that were received together.
#[derive(Debug, Clone)]
pub struct Received {
    /// An `EnvelopeBatch` message: the entries of [`crate::batch::envelopes`]. Whether each is an envelope was not
    /// looked at.
    pub message: Bytes,
    /// How many entries there are.
    pub envelopes: u32,
}

/// They are not taken: the stream ends with UNAVAILABLE, and a good client comes back with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused;

/// What is done with envelopes. The stream waits for it, and with it the client; `Send` is answered after it.
pub type Accept =
    Arc<dyn Fn(Received) -> Pin<Box<dyn Future<Output = Result<(), Refused>> + Send>> + Send + Sync>;

/// The bounds of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngressLimits {
    /// Connections at a time; further ones are closed at once.
    pub connections: usize,
    /// Streams of a connection; clients wait for one to end.
    pub streams: u32,
    /// Bytes of a message.
    pub message_bytes: usize,
    /// Bytes that a client may send on a stream before they were taken.
    pub window_bytes: u32,
}

impl Default for IngressLimits {
    /// 1,000 connections of 100 streams; 10 MiB for a message, as loggregator's agents have it; a window of 256 KiB.
    fn default() -> Self {
        Self { connections: 1_000, streams: 100, message_bytes: 10 << 20, window_bytes: 256 << 10 }
    }
}

macro_rules! figures {
    ($($name:ident, $help:literal;)*) => {
        /// What the server counted.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct IngressCounters {
            /// Connections whose client was let in.
            pub accepted: u64,
            /// Connections whose client had no certificate that we accept.
            pub refused: u64,
            /// Connections that failed otherwise before the first call.
            pub failed: u64,
            /// Connections closed because there were too many.
            pub over_limit: u64,
            $(#[doc = $help] pub $name: u64,)*
        }

        #[derive(Debug, Default)]
        struct Figures { $($name: AtomicU64,)* }

        impl Figures {
            fn read(&self, doors: &Doors) -> IngressCounters {
                let get = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
                IngressCounters {
                    accepted: get(&doors.accepted),
                    refused: get(&doors.refused),
                    failed: get(&doors.failed),
                    over_limit: get(&doors.over_limit),
                    $($name: get(&self.$name),)*
                }
            }
        }
    };
}

figures! {
    streams, "Calls of the three methods.";
    messages, "Messages taken.";
    envelopes, "Envelopes in them.";
    bytes, "Bytes of them.";
    unavailable, "Envelopes that were refused by the function; their client was told.";
    too_large, "Streams ended because a message was too large.";
    compressed, "Streams ended because a message was compressed.";
    broken, "Streams ended because a message was no EnvelopeBatch, or cut.";
    unknown_method, "Calls of other methods.";
}

/// The running server. Dropping it ends it at once.
#[derive(Debug)]
pub struct Ingress {
    listener: Listener,
    figures: Arc<Figures>,
    doors: Arc<Doors>,
}

impl Ingress {
    /// Serves on a bound socket.
    ///
    /// # Errors
    /// The certificate files cannot be used, or the socket.
    pub fn start(
        handle: &Handle,
        socket: TcpListener,
        tls: ServerTls,
        limits: IngressLimits,
        accept: Accept,
    ) -> Result<Self, StartError> {
        let tls = Arc::new(Listening::new(tls, &[b"h2"])?);
        let (figures, doors) = (Arc::new(Figures::default()), Arc::new(Doors::default()));
        let shared = Arc::new(Shared { limits, accept, figures: figures.clone() });
        let serve = move |stream, stop| connection(stream, shared.clone(), stop);
        let listener = Listener::start(handle, socket, tls, limits.connections, doors.clone(), serve)?;
        Ok(Self { listener, figures, doors })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// The figures now.
    pub fn counters(&self) -> IngressCounters {
        self.figures.read(&self.doors)
    }

    /// Takes no more connections and calls, asks clients to leave, and ends after `deadline` at the latest.
    pub async fn stop(self, deadline: Duration) {
        self.listener.stop(deadline).await;
    }
}

struct Shared {
    limits: IngressLimits,
    accept: Accept,
    figures: Arc<Figures>,
}

/// Serves the calls of a connection until it ends, or its client left after it was asked to.
async fn connection(io: TlsStream<TcpStream>, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let limits = shared.limits;
    let mut builder = h2::server::Builder::new();
    builder
        .max_concurrent_streams(limits.streams)
        .initial_window_size(limits.window_bytes)
        .initial_connection_window_size(limits.window_bytes.saturating_mul(4))
        .max_header_list_size(16 << 10);
    let Ok(mut connection) = builder.handshake::<_, Bytes>(io).await else {
        shared.figures.broken.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let mut streams = JoinSet::new();
    let mut stopping = false;
    loop {
        tokio::select! {
            accepted = connection.accept() => match accepted {
                Some(Ok((request, respond))) => {
                    streams.spawn(stream::serve(request, respond, shared.clone()));
                }
                // Streams that still run cannot be answered any more.
                Some(Err(_)) | None => return,
            },
            Some(_) = streams.join_next() => {}
            () = asked(&mut stop), if !stopping => {
                stopping = true;
                connection.graceful_shutdown();
            }
        }
    }
}
