//! The page of metrics.

use std::net::TcpListener;
use std::sync::Arc;

use loggregator::metrics::MetricsServer;
use loggregator::{Identity, ServerTls};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio_rustls::TlsConnector;

use super::certs::{Authority, Valid};
use super::*;

async fn get(
    server: &MetricsServer,
    authority: &Authority,
    identity: Option<&Identity>,
    version: &'static rustls::SupportedProtocolVersion,
    request: &str,
) -> std::io::Result<String> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority.ca()).unwrap()).unwrap();
    let builder =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => builder
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_file(&identity.cert).unwrap()],
                PrivateKeyDer::from_pem_file(&identity.key).unwrap(),
            )
            .unwrap(),
    };
    let tcp = TcpStream::connect(server.address()).await?;
    let mut stream = TlsConnector::from(Arc::new(config)).connect("metron".try_into().unwrap(), tcp).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(text)
}

#[tokio::test]
async fn the_page_is_for_clients_with_a_certificate() {
    let authority = Authority::new();
    let tls: ServerTls = authority.server();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let page = Arc::new(|| "ingress{metric_version=\"1.0\"} 7\n".to_owned());
    let server = MetricsServer::start(&Handle::current(), socket, tls, page).unwrap();
    let client = authority.issue("scraper", "scraper", Valid::Now);
    let request = |line: &str| format!("{line} HTTP/1.1\r\nhost: metron\r\nconnection: close\r\n\r\n");
    for version in [&TLS12, &TLS13] {
        let asked = get(&server, &authority, Some(&client), version, &request("GET /metrics")).await.unwrap();
        assert!(asked.starts_with("HTTP/1.1 200 OK\r\n"), "{asked}");
        assert!(asked.contains("text/plain; version=0.0.4"));
        assert!(asked.ends_with("\r\n\r\ningress{metric_version=\"1.0\"} 7\n"), "{asked}");
        assert!(get(&server, &authority, None, version, &request("GET /metrics")).await.is_err());
    }
    let head = get(&server, &authority, Some(&client), &TLS13, &request("HEAD /metrics")).await.unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"));
    for (line, status) in [("GET /", "404 Not Found"), ("POST /metrics", "405 Method Not Allowed")] {
        let answer = get(&server, &authority, Some(&client), &TLS13, &request(line)).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
    }
    let expired = authority.issue("old", "old", Valid::Before);
    assert!(get(&server, &authority, Some(&expired), &TLS13, &request("GET /metrics")).await.is_err());
    server.stop(LONG).await;
}
