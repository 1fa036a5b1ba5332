//! The destinations of a plan: addresses as people write them, and what each is started with.

use std::path::{Path, PathBuf};

use ::loggregator::{
    ClientTls, Destination, DiskSettings, Identity, Policy, Protocol, QueueSettings, Remote, Settings,
};
use anyhow::{Context, Result, anyhow, bail};
use config::Egress;
use tokio::runtime::Handle;
use url::Url;

use super::render;

/// Starts the destinations of a plan.
///
/// # Errors
/// The first that cannot be understood, or whose folder cannot be used, in one sentence.
pub fn start(handle: &Handle, egress: &Egress) -> Result<Vec<Destination>> {
    egress
        .to
        .iter()
        .map(|text| {
            let settings = settings(text, egress).with_context(|| format!("egress.to: `{text}`"))?;
            Destination::start(handle, settings)
                .with_context(|| format!("the folder for what waits for {text} cannot be used"))
        })
        .collect()
}

/// What `text` says, over what the section says.
fn settings(text: &str, egress: &Egress) -> Result<Settings> {
    let form = "write it like loggregator://127.0.0.1:3458, otlp://HOST:4317, syslog://HOST:514 or syslog-tls://HOST:6514";
    let url = Url::parse(text).map_err(|error| anyhow!("{error}; {form}"))?;
    let (protocol, secure, port) = match url.scheme() {
        "loggregator" => (Protocol::V2, true, 3458),
        "otlp" => (Protocol::Otlp(render::otlp()), false, 4317),
        "otlp-tls" => (Protocol::Otlp(render::otlp()), true, 4317),
        "syslog" => (Protocol::Syslog(render::syslog()), false, 514),
        "syslog-tls" => (Protocol::Syslog(render::syslog()), true, 6514),
        other => bail!("`{other}` is no kind of destination; {form}"),
    };
    let host =
        url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| anyhow!("it names no host; {form}"))?;
    let port = url.port().unwrap_or(port);
    let address = format!("{host}:{port}");
    let mut given = Given::of(&url)?;
    let tls = secure.then(|| given.tls(&url, egress)).transpose()?;
    let name = format!("{}://{address}", url.scheme());
    let mut settings = Settings::new(name, Remote::new(address.clone(), tls), protocol);
    let disk = (!egress.spool_dir.as_os_str().is_empty()).then(|| DiskSettings {
        folder: egress.spool_dir.join(folder_name(url.scheme(), &address)),
        bytes: (egress.spool_mib as u64) << 20,
    });
    settings.queue = QueueSettings {
        memory_bytes: given.queue_mib.unwrap_or(egress.queue_mib) << 20,
        policy: given.policy.unwrap_or_default(),
        disk,
    };
    Ok(settings)
}

/// A folder of its own for each destination, of letters that every file system has.
fn folder_name(scheme: &str, address: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' };
    Path::new(&format!("{scheme}-{address}").chars().map(plain).collect::<String>()).to_owned()
}

/// What stands behind the `?`.
#[derive(Default)]
struct Given {
    server_name: Option<String>,
    ca: Option<PathBuf>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    queue_mib: Option<usize>,
    policy: Option<Policy>,
}

impl Given {
    fn of(url: &Url) -> Result<Self> {
        let mut given = Self::default();
        for (name, value) in url.query_pairs() {
            match &*name {
                "server_name" => given.server_name = Some(value.into_owned()),
                "ca" => given.ca = Some(value.into_owned().into()),
                "cert" => given.cert = Some(value.into_owned().into()),
                "key" => given.key = Some(value.into_owned().into()),
                "queue_mib" => {
                    let number = value.parse().ok().filter(|mib| (1..=65_536).contains(mib));
                    given.queue_mib =
                        Some(number.ok_or_else(|| {
                            anyhow!("queue_mib={value} is no number of MiB from 1 to 65536")
                        })?);
                }
                "policy" => {
                    given.policy = Some(match &*value {
                        "drop_oldest" => Policy::DropOldest,
                        "drop_newest" => Policy::DropNewest,
                        _ => bail!("policy={value} is neither drop_oldest nor drop_newest"),
                    });
                }
                other => bail!(
                    "`{other}` is not known; server_name, ca, cert, key, queue_mib and policy may follow the `?`"
                ),
            }
        }
        Ok(given)
    }

    /// The certificates of a destination: its own, else those of the section.
    fn tls(&mut self, url: &Url, egress: &Egress) -> Result<ClientTls> {
        let file = |own: Option<PathBuf>, shared: &Path| {
            own.or_else(|| (!shared.as_os_str().is_empty()).then(|| shared.to_owned()))
        };
        let ca = file(self.ca.take(), &egress.ca_file)
            .context("TLS needs the certificate of the destination's authority: set egress.ca_file, or ca= behind the `?`")?;
        let cert = file(self.cert.take(), &egress.cert_file);
        let key = file(self.key.take(), &egress.key_file);
        let identity = match (cert, key) {
            (Some(cert), Some(key)) => Some(Identity { cert, key }),
            (None, None) if url.scheme() != "loggregator" => None,
            _ => bail!(
                "a certificate and its key go together: set egress.cert_file and egress.key_file, or cert= and key="
            ),
        };
        let server_name = match (self.server_name.take(), url.scheme()) {
            (Some(name), _) => name,
            (None, "loggregator") => egress.server_name.clone(),
            (None, _) => url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned(),
        };
        Ok(ClientTls { ca, identity, server_name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn egress() -> Egress {
        let mut egress = config::Plan::build(
            None,
            std::iter::empty(),
            &config::Overrides::default(),
            &config::Machine { cores: 2, hostname: "edge-1".into() },
        )
        .unwrap()
        .egress;
        egress.ca_file = "ca.pem".into();
        egress.cert_file = "cert.pem".into();
        egress.key_file = "key.pem".into();
        egress
    }

    #[test]
    fn a_destination_is_read_with_what_the_section_gives() {
        let found = settings("loggregator://127.0.0.1:3458", &egress()).unwrap();
        let tls = found.remote.tls.unwrap();
        assert_eq!((found.remote.address.as_str(), tls.server_name.as_str()), ("127.0.0.1:3458", "metron"));
        assert_eq!(tls.identity.unwrap().cert, Path::new("cert.pem"));
        assert_eq!(found.queue.memory_bytes, 16 << 20);

        let found =
            settings("loggregator://[::1]?server_name=doppler&queue_mib=3&policy=drop_newest", &egress());
        let found = found.unwrap();
        assert_eq!(found.remote.address, "[::1]:3458");
        assert_eq!(found.remote.tls.unwrap().server_name, "doppler");
        assert_eq!((found.queue.memory_bytes, found.queue.policy), (3 << 20, Policy::DropNewest));
        assert!(settings("syslog://log.example.com", &egress()).unwrap().remote.tls.is_none());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, words) in [
            ("127.0.0.1:3458", "loggregator://"),
            ("http://a", "`http`"),
            ("syslog://", "host"),
            ("syslog://a?queue=3", "`queue`"),
            ("syslog://a?queue_mib=0", "MiB"),
            ("syslog://a?policy=block", "policy=block"),
        ] {
            let said = format!("{:#}", settings(text, &egress()).unwrap_err());
            assert!(said.contains(words), "{text}: {said}");
        }
        let bare = Egress { ca_file: PathBuf::new(), ..egress() };
        assert!(settings("loggregator://a:1", &bare).unwrap_err().to_string().contains("egress.ca_file"));
        let half = Egress { key_file: PathBuf::new(), ..egress() };
        assert!(settings("syslog-tls://a:1", &half).unwrap_err().to_string().contains("key"));
    }
}
