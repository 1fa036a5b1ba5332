//! What the servers share: a socket, connections up to a number, TLS with a client certificate, an end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::tls::{Listening, refusal};

/// Time for a client's handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Connections by what became of them.
#[derive(Debug, Default)]
pub(crate) struct Doors {
    pub accepted: AtomicU64,
    /// No certificate, or one that is not ours or not valid now.
    pub refused: AtomicU64,
    /// TLS failed otherwise, or took too long.
    pub failed: AtomicU64,
    /// Closed at once because the number was reached.
    pub over_limit: AtomicU64,
}

/// A listening server. Dropping it closes its connections.
#[derive(Debug)]
pub(crate) struct Listener {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Listener {
    /// Listens and serves each connection by `serve`, which is told by the watch when to end.
    pub fn start<F, S>(
        handle: &Handle,
        socket: std::net::TcpListener,
        tls: Arc<Listening>,
        connections: usize,
        doors: Arc<Doors>,
        serve: S,
    ) -> io::Result<Self>
    where
        S: Fn(TlsStream<TcpStream>, watch::Receiver<bool>) -> F + Clone + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let address = socket.local_addr()?;
        socket.set_nonblocking(true)?;
        let listener = {
            let _in_runtime = handle.enter();
            TcpListener::from_std(socket)?
        };
        let (stop, stopped) = watch::channel(false);
        let task =
            handle.spawn(accept(listener, tls, Arc::new(Semaphore::new(connections)), doors, stopped, serve));
        Ok(Self { address, stop, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets those that stand end, and after `deadline` ends them.
    pub async fn stop(mut self, deadline: Duration) {
        self.stop.send_replace(true);
        let _ = timeout(deadline, &mut self.task).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // With the task go the tasks of its connections.
        self.task.abort();
    }
}

/// Waits until the server is asked to stop, or is gone.
pub(crate) async fn asked(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn accept<F, S>(
    listener: TcpListener,
    tls: Arc<Listening>,
    room: Arc<Semaphore>,
    doors: Arc<Doors>,
    mut stop: watch::Receiver<bool>,
    serve: S,
) where
    S: Fn(TlsStream<TcpStream>, watch::Receiver<bool>) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            () = asked(&mut stop) => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Out of file descriptors, or the client was gone already.
                Err(_) => {
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let Ok(permit) = room.clone().try_acquire_owned() else {
            doors.over_limit.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (tls, doors, serve, stop) = (tls.clone(), doors.clone(), serve.clone(), stop.clone());
        connections.spawn(async move {
            let _permit = permit;
            // May read files, at most once a second.
            let Ok(config) = tokio::task::spawn_blocking(move || tls.current()).await else { return };
            match timeout(HANDSHAKE, TlsAcceptor::from(config).accept(stream)).await {
                Ok(Ok(stream)) => {
                    doors.accepted.fetch_add(1, Ordering::Relaxed);
                    serve(stream, stop).await;
                }
                Ok(Err(error)) if refusal(&error) => {
                    doors.refused.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Err(_)) | Err(_) => {
                    doors.failed.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}
