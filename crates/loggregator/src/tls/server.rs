//! The TLS side of a server that asks for a certificate.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use tokio::time::Instant;

use super::{FilesError, Identity, authorities, provider, read_identity};
use crate::quiet::Quiet;

/// How often the files are looked at, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How a server shows itself and whom it lets in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTls {
    /// The authorities that must have signed a client's certificate, in PEM.
    pub ca: PathBuf,
    /// Our certificate and key.
    pub identity: Identity,
}

/// The configuration in use, which follows the files.
#[derive(Debug)]
pub(crate) struct Listening {
    files: ServerTls,
    alpn: Vec<Vec<u8>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    config: Arc<ServerConfig>,
    stamp: Stamp,
    looked: Instant,
    quiet: Quiet,
}

/// What changes when a file is written or replaced.
type Stamp = [Option<(SystemTime, u64, u64)>; 3];

impl Listening {
    /// Reads the files.
    pub fn new(files: ServerTls, alpn: &[&[u8]]) -> Result<Self, FilesError> {
        let alpn: Vec<_> = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        let stamp = stamp(&files);
        let config = read(&files, &alpn)?;
        let state = State { config, stamp, looked: Instant::now(), quiet: Quiet::default() };
        Ok(Self { files, alpn, state: Mutex::new(state) })
    }

    /// The configuration for the next connection. Files that changed and cannot be used leave the last one in place:
    /// they may be in the middle of being replaced.
    pub fn current(&self) -> Arc<ServerConfig> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.elapsed() < LOOK_EVERY {
            return state.config.clone();
        }
        state.looked = Instant::now();
        let now = stamp(&self.files);
        if now != state.stamp {
            match read(&self.files, &self.alpn) {
                Ok(config) => {
                    (state.config, state.stamp) = (config, now);
                    tracing::info!(cert = %self.files.identity.cert.display(), "certificate read again");
                }
                Err(error) => {
                    if let Some(more) = state.quiet.permit() {
                        tracing::warn!(%error, more, "the changed certificate files cannot be used; the old ones stay");
                    }
                }
            }
        }
        state.config.clone()
    }
}

fn read(files: &ServerTls, alpn: &[Vec<u8>]) -> Result<Arc<ServerConfig>, FilesError> {
    let roots = Arc::new(authorities(&files.ca)?);
    let clients = WebPkiClientVerifier::builder_with_provider(roots, provider())
        .build()
        .map_err(|source| FilesError::Authority { path: files.ca.clone(), source })?;
    let (chain, key) = read_identity(&files.identity)?;
    let unfit = |source| FilesError::Unfit { path: files.identity.cert.clone(), source };
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unfit)?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key)
        .map_err(unfit)?;
    config.alpn_protocols = alpn.to_vec();
    Ok(Arc::new(config))
}

#[cfg(unix)]
fn stamp(files: &ServerTls) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    [&files.ca, &files.identity.cert, &files.identity.key].map(|path| {
        let about = fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len(), about.ino()))
    })
}

/// Whether a handshake failed because the client has no certificate that we accept.
pub(crate) fn refusal(error: &io::Error) -> bool {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented))
}
