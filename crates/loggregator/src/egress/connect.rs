//! From an address to a stream of bytes: name, TCP, TLS.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{End, Remote};
use crate::counters::Cause;
use crate::tls;

/// A connection, plain or not.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}
pub(crate) type Stream = Box<dyn Io>;

/// A connection that came up.
pub(crate) struct Connected {
    pub stream: Stream,
    /// Our certificate is not valid now, and the other side may not have noticed yet.
    pub expired: bool,
}

pub(crate) async fn connect(remote: &Remote, alpn: &[&[u8]]) -> Result<Connected, End> {
    match timeout(remote.connect_timeout, connect_slowly(remote, alpn)).await {
        Ok(done) => done,
        Err(_) => Err(End::new(Cause::ConnectTimeout, format!("{:?}", remote.connect_timeout))),
    }
}

async fn connect_slowly(remote: &Remote, alpn: &[&[u8]]) -> Result<Connected, End> {
    let Some(tls) = remote.tls.clone() else {
        return Ok(Connected { stream: Box::new(tcp(&remote.address).await?), expired: false });
    };
    // Read before the connection is made: without certificates it is of no use. Files are read off the event loop.
    let wanted: Vec<Vec<u8>> = alpn.iter().map(|protocol| protocol.to_vec()).collect();
    let reading = tokio::task::spawn_blocking(move || {
        let alpn: Vec<&[u8]> = wanted.iter().map(Vec::as_slice).collect();
        tls::client(&tls, &alpn)
    });
    let client = reading
        .await
        .map_err(|error| End::new(Cause::OwnCertificate, error))?
        .map_err(|error| End::new(Cause::OwnCertificate, error))?;
    let tcp = tcp(&remote.address).await?;
    let stream = TlsConnector::from(client.config).connect(client.name, tcp).await.map_err(|error| {
        let refused = matches!(tls::cause(&error), Cause::TlsRefused);
        let cause = if refused && client.expired { Cause::OwnExpired } else { tls::cause(&error) };
        End::new(cause, error)
    })?;
    Ok(Connected { stream: Box::new(stream), expired: client.expired })
}

/// The first address that takes the connection.
async fn tcp(address: &str) -> Result<TcpStream, End> {
    let mut last = End::new(Cause::Resolve, "the name has no address");
    for address in lookup_host(address).await.map_err(|error| End::new(Cause::Resolve, error))? {
        match TcpStream::connect(address).await.and_then(prepared) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = End::new(Cause::Connect, format!("{address}: {error}")),
        }
    }
    Err(last)
}

/// Small frames go at once, and a peer that vanished while nothing was to send is noticed.
fn prepared(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    let keepalive = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(15))
        .with_interval(Duration::from_secs(5))
        .with_retries(3);
    socket2::SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
    Ok(stream)
}
