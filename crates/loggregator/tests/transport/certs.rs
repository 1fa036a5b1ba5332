//! An authority for a test, and the certificates it gives out, in files.

use std::fs;
use std::path::PathBuf;

use loggregator::{ClientTls, Identity, ServerTls};
use rcgen::{CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose};
use tempfile::TempDir;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Valid {
    Now,
    /// Until a day in 2020.
    Before,
}

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub folder: TempDir,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.crt"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    pub fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// Gives out a certificate; a second one of the same file takes the place of the first, as a renewal does.
    pub fn issue(&self, file: &str, host: &str, valid: Valid) -> Identity {
        let key = KeyPair::generate().unwrap();
        let pem = key.serialize_pem();
        self.issue_for(file, host, valid, &key, &pem)
    }

    pub fn issue_for(&self, file: &str, host: &str, valid: Valid, key: &KeyPair, key_pem: &str) -> Identity {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.not_before = rcgen::date_time_ymd(2019, 1, 1);
        let until = if valid == Valid::Now { 2_100 } else { 2_020 };
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let certificate = params.signed_by(key, &self.issuer).unwrap();
        let identity = self.files(file);
        for (path, text) in [(&identity.key, key_pem), (&identity.cert, &certificate.pem())] {
            let new = path.with_extension("new");
            fs::write(&new, text).unwrap();
            fs::rename(&new, path).unwrap();
        }
        identity
    }

    pub fn files(&self, file: &str) -> Identity {
        let at = |kind: &str| self.folder.path().join(format!("{file}.{kind}"));
        Identity { cert: at("crt"), key: at("key") }
    }

    /// A client with a certificate of its own that expects `metron`.
    pub fn client(&self) -> ClientTls {
        self.client_with(self.issue("client", "client", Valid::Now))
    }

    pub fn client_with(&self, identity: Identity) -> ClientTls {
        ClientTls { ca: self.ca(), identity: Some(identity), server_name: "metron".to_owned() }
    }

    pub fn server(&self) -> ServerTls {
        ServerTls { ca: self.ca(), identity: self.issue("server", "metron", Valid::Now) }
    }
}
