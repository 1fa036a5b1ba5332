//! The page of metrics that loggregator's agents serve: `GET /metrics` over HTTPS, for clients with a certificate.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_rustls::server::TlsStream;

use crate::ingress::StartError;
use crate::serve::{Doors, Listener, asked};
use crate::tls::{Listening, ServerTls};

/// Connections at a time.
const CONNECTIONS: usize = 32;

/// Time for the head of a request, also between two of one connection.
const HEAD: Duration = Duration::from_secs(30);

/// Makes the text when it is asked for. Runs on the event loop: it should copy figures and no more.
pub type Page = Arc<dyn Fn() -> String + Send + Sync>;

/// The running server. Dropping it ends it.
#[derive(Debug)]
pub struct MetricsServer {
    listener: Listener,
}

impl MetricsServer {
    /// Serves on a bound socket; TLS 1.2 and 1.3, the certificate of the client required.
    ///
    /// # Errors
    /// The certificate files cannot be used, or the socket.
    pub fn start(
        handle: &Handle,
        socket: TcpListener,
        tls: ServerTls,
        page: Page,
    ) -> Result<Self, StartError> {
        let tls = Arc::new(Listening::new(tls, &[b"http/1.1"])?);
        let serve = move |stream, stop| serve(stream, page.clone(), stop);
        let listener = Listener::start(handle, socket, tls, CONNECTIONS, Arc::new(Doors::default()), serve)?;
        Ok(Self { listener })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Ends it, after requests that are under way or after `deadline`.
    pub async fn stop(self, deadline: Duration) {
        self.listener.stop(deadline).await;
    }
}

async fn serve(stream: TlsStream<TcpStream>, page: Page, mut stop: watch::Receiver<bool>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let page = page.clone();
        async move { Ok::<_, Infallible>(respond(&request, &page)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = asked(&mut stop) => connection.as_mut().graceful_shutdown(),
    }
    let _: Result<(), hyper::Error> = connection.await;
}

fn respond(request: &Request<Incoming>, page: &Page) -> Response<Full<Bytes>> {
    let known = request.uri().path() == "/metrics";
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let text = if known && reads { page() } else { String::new() };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    let (status, name, value) = match (known, reads) {
        (true, true) => (StatusCode::OK, CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"),
        (true, false) => (StatusCode::METHOD_NOT_ALLOWED, ALLOW, "GET, HEAD"),
        (false, _) => (StatusCode::NOT_FOUND, CONTENT_TYPE, "text/plain"),
    };
    *response.status_mut() = status;
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}
