//! The Ingress server against a client: ours, and one that breaks the rules.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use http::Request;
use loggregator::batch::envelopes;
use loggregator::ingress::{Accept, Ingress, IngressLimits, Received, Refused};
use loggregator::{Cause, Identity};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_rustls::TlsConnector;

use super::certs::{Authority, Valid};
use super::*;

/// Where the server's envelopes go, and whether it takes any.
#[derive(Clone)]
struct Taken {
    numbers: Arc<Mutex<Vec<u32>>>,
    gate: Arc<watch::Sender<Gate>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Gate {
    Open,
    Shut,
    Refusing,
}

impl Taken {
    fn new(gate: Gate) -> Self {
        Self { numbers: Arc::default(), gate: Arc::new(watch::channel(gate).0) }
    }

    fn accept(&self) -> Accept {
        let taken = self.clone();
        Arc::new(move |received: Received| {
            let (numbers, mut gate) = (taken.numbers.clone(), taken.gate.subscribe());
            Box::pin(async move {
                if *gate.wait_for(|gate| *gate != Gate::Shut).await.unwrap() == Gate::Refusing {
                    return Err(Refused);
                }
                let found: Vec<u32> =
                    envelopes(&received.message).map(|envelope| number(envelope.unwrap())).collect();
                assert_eq!(found.len(), received.envelopes as usize);
                numbers.lock().unwrap().extend(found);
                Ok(())
            })
        })
    }

    fn numbers(&self) -> Vec<u32> {
        self.numbers.lock().unwrap().clone()
    }
}

fn server(authority: &Authority, limits: IngressLimits, taken: &Taken) -> Ingress {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    Ingress::start(&Handle::current(), socket, authority.server(), limits, taken.accept()).unwrap()
}

/// A client of which every byte is ours.
async fn raw(server: &Ingress, authority: &Authority, identity: &Identity) -> SendRequest<Bytes> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority.ca()).unwrap()).unwrap();
    let mut config =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_file(&identity.cert).unwrap()],
                PrivateKeyDer::from_pem_file(&identity.key).unwrap(),
            )
            .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let tcp = TcpStream::connect(server.address()).await.unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let stream = connector.connect("metron".try_into().unwrap(), tcp).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Makes a call with these bytes as its body and gives the status and what the answer held.
async fn call(client: &SendRequest<Bytes>, method: &str, body: Vec<u8>) -> (String, Vec<u8>) {
    let request = Request::post(format!("https://metron{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    let mut client = client.clone().ready().await.unwrap();
    let (response, mut stream) = client.send_request(request, false).unwrap();
    stream.send_data(body.into(), true).unwrap();
    let (head, mut body) = response.await.unwrap().into_parts();
    let mut bytes = Vec::new();
    while let Some(part) = body.data().await {
        bytes.extend_from_slice(&part.unwrap());
    }
    let trailers = body.trailers().await.unwrap().unwrap_or_default();
    let status = head.headers.get("grpc-status").or(trailers.get("grpc-status")).unwrap();
    (status.to_str().unwrap().to_owned(), bytes)
}

fn framed(message: &[u8]) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    bytes.put_u8(0);
    bytes.put_u32(message.len().try_into().unwrap());
    bytes.put_slice(message);
    bytes.to_vec()
}

const SEND: &str = "/loggregator.v2.Ingress/Send";
const SENDER: &str = "/loggregator.v2.Ingress/Sender";
const BATCH_SENDER: &str = "/loggregator.v2.Ingress/BatchSender";

#[tokio::test]
async fn all_three_methods_hand_their_envelopes_over() {
    let (authority, taken) = (Authority::new(), Taken::new(Gate::Open));
    let server = server(&authority, IngressLimits::default(), &taken);
    let client = raw(&server, &authority, &authority.issue("client", "c", Valid::Now)).await;
    let batch = |numbers| framed(batches(numbers, 1_000)[0].message());
    let ok = ("0".to_owned(), framed(&[]));
    assert_eq!(call(&client, SEND, batch(0..3)).await, ok);
    assert_eq!(call(&client, BATCH_SENDER, [batch(3..5), batch(5..9)].concat()).await, ok);
    let single: Vec<u8> = (9..600).flat_map(|number| framed(&envelope(number))).collect();
    assert_eq!(call(&client, SENDER, single).await, ok);
    // Nothing in it is nothing to hand over.
    assert_eq!(call(&client, SEND, framed(&[])).await, ok);
    assert_numbers(&taken.numbers(), 0..600);
    let counters = server.counters();
    assert_eq!((counters.envelopes, counters.streams, counters.accepted), (600, 4, 1));
}

#[tokio::test]
async fn what_breaks_the_rules_is_refused_by_name() {
    let (authority, taken) = (Authority::new(), Taken::new(Gate::Open));
    let limits = IngressLimits { message_bytes: 1_000, ..IngressLimits::default() };
    let server = server(&authority, limits, &taken);
    let client = raw(&server, &authority, &authority.issue("client", "c", Valid::Now)).await;
    for (method, body, status) in [
        ("/loggregator.v2.Egress/Receiver", framed(&[]), "12"),
        (BATCH_SENDER, [&[0][..], &1_001u32.to_be_bytes(), &[0; 20]].concat(), "8"),
        (BATCH_SENDER, vec![1, 0, 0, 0, 0], "12"),
        (BATCH_SENDER, framed(&[0x0a, 9, 1]), "13"),
        (BATCH_SENDER, vec![0, 0, 0, 0, 9, 1], "13"),
        (SEND, Vec::new(), "13"),
        (SEND, [framed(&[]), framed(&[])].concat(), "13"),
    ] {
        assert_eq!(call(&client, method, body.clone()).await.0, status, "{method} {body:?}");
    }
    let counters = server.counters();
    assert_eq!(
        (counters.unknown_method, counters.too_large, counters.compressed, counters.broken),
        (1, 1, 1, 3)
    );
    assert!(taken.numbers().is_empty());
    assert_eq!(call(&client, SEND, framed(batches(0..1, 1)[0].message())).await.0, "0");
}

#[tokio::test]
async fn a_message_larger_than_the_window_is_let_in() {
    let (authority, taken) = (Authority::new(), Taken::new(Gate::Open));
    let limits = IngressLimits { window_bytes: 16 << 10, ..IngressLimits::default() };
    let server = server(&authority, limits, &taken);
    let client = raw(&server, &authority, &authority.issue("client", "c", Valid::Now)).await;
    let many = Limits { envelopes: u32::MAX, bytes: 9 << 20, ..Limits::default() };
    let mut builder = BatchBuilder::new(many);
    for number in 0..30_000 {
        put_entry(&envelope(number), builder.buffer());
        builder.commit(0).unwrap();
    }
    let batch = builder.seal().unwrap();
    assert!(batch.bytes() > 4 << 20);
    assert_eq!(call(&client, SEND, framed(batch.message())).await.0, "0");
    assert_numbers(&taken.numbers(), 0..30_000);
}

#[tokio::test]
async fn a_client_waits_while_nothing_is_taken() {
    let (authority, taken) = (Authority::new(), Taken::new(Gate::Shut));
    let limits = IngressLimits { window_bytes: 16 << 10, ..IngressLimits::default() };
    let server = server(&authority, limits, &taken);
    let destination = start(settings(server.address(), Some(authority.client())));
    offer(&destination, 0..3_000);
    // About 450 kB. The window lets some of them be written, 64 KiB before the client knows its size, and the rest waits.
    until("some were written", || destination.counters().sent.batches > 2).await;
    let sent = destination.counters().sent.bytes;
    assert!(sent <= 64 << 10, "{sent}");
    assert!(taken.numbers().is_empty());
    taken.gate.send_replace(Gate::Open);
    until_sent(&destination, 3_000).await;
    destination.stop(LONG).await;
    assert_numbers(&taken.numbers(), 0..3_000);
}

#[tokio::test]
async fn a_refusal_reaches_the_client() {
    let (authority, taken) = (Authority::new(), Taken::new(Gate::Refusing));
    let server = server(&authority, IngressLimits::default(), &taken);
    let client = raw(&server, &authority, &authority.issue("client", "c", Valid::Now)).await;
    assert_eq!(call(&client, SEND, framed(batches(0..5, 5)[0].message())).await.0, "14");
    assert_eq!(server.counters().unavailable, 5);
}

#[tokio::test]
async fn only_clients_of_our_authority_are_let_in_and_renewal_needs_no_restart() {
    let (authority, taken) = (Authority::new(), Taken::new(Gate::Open));
    let server = server(&authority, IngressLimits::default(), &taken);
    let mut none = authority.client();
    none.identity = None;
    let stranger = Authority::new().issue("client", "c", Valid::Now);
    // The folder of the stranger's authority is gone by now, which is what files that cannot be read look like.
    let unreadable = start(settings(server.address(), Some(authority.client_with(stranger))));
    let without = start(settings(server.address(), Some(none)));
    let expired = authority.issue("old", "c", Valid::Before);
    let expired = start(settings(server.address(), Some(authority.client_with(expired))));
    until("nobody is let in", || {
        server.counters().refused > 3
            && unreadable.counters().ended(Cause::OwnCertificate) > 0
            && without.counters().ended(Cause::TlsRefused) + without.counters().ended(Cause::Reset) > 0
            && expired.counters().ended(Cause::OwnExpired) > 0
    })
    .await;
    assert_eq!(server.counters().accepted, 0);
    drop((unreadable, without, expired));

    // The server's own certificate runs out and is renewed.
    authority.issue("server", "metron", Valid::Before);
    let client = authority.client();
    let destination = loop {
        let destination = start(settings(server.address(), Some(client.clone())));
        let expired = || destination.counters().ended(Cause::PeerExpired) > 0;
        until("the client is there", || expired() || destination.counters().connections > 0).await;
        if expired() {
            break destination;
        }
        // The files are looked at once a second.
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    authority.issue("server", "metron", Valid::Now);
    offer(&destination, 0..100);
    until_sent(&destination, 100).await;
    assert_numbers(&taken.numbers(), 0..100);
}

#[tokio::test]
async fn connections_beyond_the_number_are_closed() {
    let (authority, taken) = (Authority::new(), Taken::new(Gate::Open));
    let limits = IngressLimits { connections: 1, ..IngressLimits::default() };
    let server = server(&authority, limits, &taken);
    let first = raw(&server, &authority, &authority.issue("client", "c", Valid::Now)).await;
    let second = start(settings(server.address(), Some(authority.client())));
    until("it is closed", || server.counters().over_limit > 0).await;
    drop(first);
    offer(&second, 0..10);
    until_sent(&second, 10).await;
}

#[tokio::test]
async fn a_server_that_stops_tells_its_clients_and_loses_nothing() {
    let (authority, taken) = (Authority::new(), Taken::new(Gate::Open));
    let first = server(&authority, IngressLimits::default(), &taken);
    let address = first.address();
    let destination = start(settings(address, Some(authority.client())));
    offer(&destination, 0..500);
    until_sent(&destination, 100).await;
    first.stop(LONG).await;
    offer(&destination, 500..1_000);
    until("the first is gone", || destination.counters().ended(Cause::Connect) > 0).await;
    let socket = TcpListener::bind(address).unwrap();
    let _second =
        Ingress::start(&Handle::current(), socket, authority.server(), Default::default(), taken.accept())
            .unwrap();
    until_sent(&destination, 1_000).await;
    destination.stop(LONG).await;
    assert_numbers(&taken.numbers(), 0..1_000);
}
