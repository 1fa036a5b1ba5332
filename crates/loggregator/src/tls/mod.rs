//! TLS from files: whom we trust, who we are, and when both are read again.
//!
//! A client reads its files before each connection, a server looks once a second whether they changed, so a renewed
//! certificate is used without a restart. Keys may be RSA or ECDSA, in PKCS#1, PKCS#8 or SEC 1. TLS 1.2 and 1.3.
//! Connections that stand are left alone: the authority decided when they were made.

mod server;
mod validity;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};

use crate::counters::Cause;

pub use server::ServerTls;
pub(crate) use server::{Listening, refusal};

/// Who we are: files in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Our certificate, then those between it and the authority.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// How to reach a destination over TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientTls {
    /// The authorities that may have signed the destination's certificate, in PEM.
    pub ca: PathBuf,
    /// What we show when asked. Loggregator always asks.
    pub identity: Option<Identity>,
    /// The name that the destination's certificate must be for; `metron` for an agent of loggregator.
    pub server_name: String,
}

/// What is wrong with our own files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The file cannot be read, or is no PEM.
    #[error("{path}: {source}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: pem::Error,
    },
    /// There is no certificate in the file.
    #[error("{path}: no certificate in it")]
    NoCertificate {
        /// Which.
        path: PathBuf,
    },
    /// The key is not the certificate's, or something in them is not supported.
    #[error("{path}: {source}")]
    Unfit {
        /// The file of the certificate or authority.
        path: PathBuf,
        /// Why.
        source: rustls::Error,
    },
    /// No usable authority.
    #[error("{path}: {source}")]
    Authority {
        /// The file of the authorities.
        path: PathBuf,
        /// Why.
        source: rustls::server::VerifierBuilderError,
    },
    /// The name is neither a host name nor an address.
    #[error("{name:?} is no server name")]
    Name {
        /// As given.
        name: String,
    },
}

/// What one connection to a destination needs.
pub(crate) struct Client {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
    /// Our certificate is outside its validity: the destination will hardly accept it.
    pub expired: bool,
}

/// Reads the files of a client.
pub(crate) fn client(tls: &ClientTls, alpn: &[&[u8]]) -> Result<Client, FilesError> {
    let name = ServerName::try_from(tls.server_name.clone())
        .map_err(|_| FilesError::Name { name: tls.server_name.clone() })?;
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|source| FilesError::Unfit { path: tls.ca.clone(), source })?
        .with_root_certificates(authorities(&tls.ca)?);
    let mut expired = false;
    let mut config = match &tls.identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let (chain, key) = read_identity(identity)?;
            expired = chain.first().is_some_and(|own| !valid_now(own));
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|source| FilesError::Unfit { path: identity.cert.clone(), source })?
        }
    };
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(Client { config: Arc::new(config), name, expired })
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn authorities(path: &Path) -> Result<RootCertStore, FilesError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|source| FilesError::Unfit { path: path.to_owned(), source })?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, FilesError> {
    let read = |source| FilesError::Read { path: path.to_owned(), source };
    let found: Vec<_> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(read)?;
    if found.is_empty() {
        return Err(FilesError::NoCertificate { path: path.to_owned() });
    }
    Ok(found)
}

fn read_identity(
    identity: &Identity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), FilesError> {
    let key = PrivateKeyDer::from_pem_file(&identity.key)
        .map_err(|source| FilesError::Read { path: identity.key.clone(), source })?;
    Ok((certificates(&identity.cert)?, key))
}

/// Whether a certificate may be used now. One that cannot be read is left to the other side to judge.
fn valid_now(certificate: &CertificateDer<'_>) -> bool {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    validity::of(certificate).is_none_or(|(from, until)| (from..=until).contains(&now))
}

/// The cause behind an error of a TLS connection, as a client sees it.
pub(crate) fn cause(error: &io::Error) -> Cause {
    let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return match error.kind() {
            io::ErrorKind::TimedOut => Cause::Silent,
            _ => Cause::Reset,
        };
    };
    match tls {
        rustls::Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => Cause::PeerExpired,
        rustls::Error::InvalidCertificate(_) => Cause::PeerCertificate,
        rustls::Error::AlertReceived(_) => Cause::TlsRefused,
        _ => Cause::Tls,
    }
}
