//! A receiver of loggregator v2 that does as it is told.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use h2::RecvStream;
use h2::server::SendResponse;
use http::{HeaderMap, Request, Response};
use loggregator::batch::envelopes;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::certs::Authority;

/// How it treats what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Take,
    /// Ends the stream with this status before anything is read.
    Refuse(u32),
    /// Ends the stream with INTERNAL when a batch has this number in it, and takes nothing of the batch.
    Poison(u32),
    /// Lets the stream's window run full.
    Stall,
    /// Reads, but answers no call.
    Silent,
    /// Drops the connection after so many batches of it.
    Die(usize),
    /// Asks to leave after so many batches of a connection.
    GoAway(usize),
}

pub struct Peer {
    pub address: SocketAddr,
    pub mode: watch::Sender<Mode>,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    mode: watch::Receiver<Mode>,
    /// In the order of arrival.
    numbers: Mutex<Vec<u32>>,
    connections: Mutex<usize>,
}

impl Peer {
    pub async fn start(tls: Option<Arc<ServerConfig>>, mode: Mode) -> Self {
        Self::on("127.0.0.1:0".parse().unwrap(), tls, mode).await
    }

    pub async fn on(address: SocketAddr, tls: Option<Arc<ServerConfig>>, mode: Mode) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mode, watched) = watch::channel(mode);
        let shared =
            Arc::new(Shared { mode: watched, numbers: Mutex::default(), connections: Mutex::default() });
        let given = shared.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (shared, tls) = (given.clone(), tls.clone());
                connections.spawn(async move {
                    match tls {
                        None => connection(stream, shared).await,
                        Some(config) => {
                            if let Ok(stream) = TlsAcceptor::from(config).accept(stream).await {
                                connection(stream, shared).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, mode, shared, task }
    }

    pub fn numbers(&self) -> Vec<u32> {
        self.shared.numbers.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        *self.shared.connections.lock().unwrap()
    }

    /// The numbers without repetitions, after checking that each source's first arrivals are in order.
    pub fn in_order(&self) -> Vec<u32> {
        let mut last = BTreeMap::new();
        let mut seen = std::collections::BTreeSet::new();
        for number in self.numbers() {
            if seen.insert(number) {
                let before = last.insert(number % super::SOURCES, number);
                assert!(before.is_none_or(|before| before < number), "{number} came after {before:?}");
            }
        }
        seen.into_iter().collect()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A configuration that wants a certificate of the authority.
pub fn server_config(authority: &Authority, file: &str) -> Arc<ServerConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority.ca()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let identity = authority.files(file);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(
            vec![CertificateDer::from_pem_file(identity.cert).unwrap()],
            PrivateKeyDer::from_pem_file(identity.key).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

async fn connection(io: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin, shared: Arc<Shared>) {
    let mut builder = h2::server::Builder::new();
    // Small, so that a stall is felt soon.
    builder.initial_window_size(16 << 10).initial_connection_window_size(1 << 20);
    let Ok(mut connection) = builder.handshake::<_, Bytes>(io).await else { return };
    *shared.connections.lock().unwrap() += 1;
    let (batches, mut counted) = watch::channel(0usize);
    let batches = Arc::new(batches);
    let mut streams = tokio::task::JoinSet::new();
    let mut left = false;
    loop {
        let mode = *shared.mode.borrow();
        match mode {
            Mode::Die(after) if *counted.borrow() >= after => return,
            Mode::GoAway(after) if *counted.borrow() >= after && !left => {
                left = true;
                connection.graceful_shutdown();
            }
            _ => {}
        }
        tokio::select! {
            biased;
            _ = counted.changed() => {}
            accepted = connection.accept() => match accepted {
                Some(Ok((request, respond))) => {
                    streams.spawn(call(request, respond, shared.clone(), batches.clone()));
                }
                _ => return,
            },
            Some(_) = streams.join_next() => {}
        }
    }
}

async fn call(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    shared: Arc<Shared>,
    batches: Arc<watch::Sender<usize>>,
) {
    let mut mode = shared.mode.clone();
    let main = request.uri().path().ends_with("/BatchSender");
    let mut body = request.into_body();
    if let Mode::Refuse(status) = *mode.borrow()
        && main
    {
        return finish(&mut respond, status, "refused");
    }
    let mut bytes = BytesMut::new();
    while let Some(part) = body.data().await {
        let Ok(part) = part else { return };
        bytes.extend_from_slice(&part);
        if mode.wait_for(|mode| !main || *mode != Mode::Stall).await.is_err() {
            return;
        }
        let _ = body.flow_control().release_capacity(part.len());
        while let Some(length) =
            bytes.get(1..5).map(|length| u32::from_be_bytes(length.try_into().unwrap()) as usize)
        {
            if bytes.len() < 5 + length {
                break;
            }
            bytes.advance(5);
            let message = bytes.split_to(length);
            let numbers: Vec<u32> =
                envelopes(&message).map(|envelope| super::number(envelope.unwrap())).collect();
            if let Mode::Poison(poison) = *mode.borrow()
                && numbers.contains(&poison)
            {
                return finish(&mut respond, 13, "cannot be decoded");
            }
            if main {
                shared.numbers.lock().unwrap().extend(numbers);
                batches.send_modify(|batches| *batches += 1);
            }
        }
    }
    if !main && *mode.borrow() == Mode::Silent {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
    }
    // A poisoned stream is answered before the call that stands behind it.
    if !main && matches!(*mode.borrow(), Mode::Poison(_)) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    finish(&mut respond, 0, "");
}

fn finish(respond: &mut SendResponse<Bytes>, status: u32, message: &str) {
    let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    if let Ok(mut stream) = respond.send_response(head, false) {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", status.into());
        trailers.insert("grpc-message", message.parse().unwrap());
        let _ = stream.send_trailers(trailers);
    }
}
