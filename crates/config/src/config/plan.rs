//! From the layers to a plan.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::{ConfigError, Conflict, SecretProblem};
use super::key::{Key, Origin, key as lookup};
use super::keys::Plan;
use super::layers::Overrides;
use super::secret::Secret;
use super::validate;

/// Where each value came from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    set: HashMap<(&'static str, &'static str), Origin>,
}

impl Origins {
    pub(super) fn set(&mut self, key: &'static Key, origin: Origin) {
        self.set.insert((key.section, key.name), origin);
    }

    fn of(&self, key: &Key) -> Origin {
        self.set.get(&(key.section, key.name)).copied().unwrap_or_default()
    }
}

/// What of the machine a plan depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Cores this process may use.
    pub cores: usize,
    /// Host name.
    pub hostname: String,
}

impl Machine {
    /// The machine this runs on.
    pub fn this() -> Self {
        let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .or_else(|_| std::fs::read_to_string("/etc/hostname"))
            .map(|name| name.trim().to_owned())
            .unwrap_or_default();
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            hostname: if hostname.is_empty() { "wirelake".to_owned() } else { hostname },
        }
    }
}

impl Plan {
    /// Lays file, environment and command line over the defaults, resolves what depends on this
    /// machine, and checks the whole. `path` must exist when it is given.
    ///
    /// Reads the file, the files of secrets, and whether `data.dir` is a directory; changes nothing.
    pub fn load(
        path: Option<&Path>,
        env: impl Iterator<Item = (String, String)>,
        overrides: &Overrides,
    ) -> Result<Self, ConfigError> {
        let file = match path {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
                Some((path, text))
            }
            None => None,
        };
        let file = file.as_ref().map(|(path, text)| (*path, text.as_str()));
        Self::build(file, env, overrides, &Machine::this())
    }

    /// The same from text instead of a path, for a given machine.
    pub fn build(
        file: Option<(&Path, &str)>,
        env: impl Iterator<Item = (String, String)>,
        overrides: &Overrides,
        machine: &Machine,
    ) -> Result<Self, ConfigError> {
        let mut plan = Self::unresolved();
        let mut errors = Vec::new();
        if let Some((path, text)) = file {
            plan.lay_file(path, text, &mut errors);
        }
        plan.lay_env(env, &mut errors);
        plan.lay_flags(overrides, &mut errors);
        if errors.is_empty() {
            plan.resolve(machine, &mut errors);
            validate::check(&plan, &mut errors);
        }
        match errors.len() {
            0 => Ok(plan),
            1 => Err(errors.remove(0)),
            _ => Err(ConfigError::Several(errors)),
        }
    }

    /// Where the value of a key came from.
    pub fn origin(&self, key: &Key) -> Origin {
        self.origins.of(key)
    }

    fn resolve(&mut self, machine: &Machine, errors: &mut Vec<ConfigError>) {
        if self.threads.shards == 0 {
            self.threads.shards = machine.cores.clamp(1, 16);
        }
        if self.threads.writers == 0 {
            self.threads.writers = self.threads.shards.div_ceil(4);
        }
        if self.capture.shards == 0 {
            self.capture.shards = machine.cores.div_ceil(2).clamp(1, 8);
        }
        if self.node.name.is_empty() {
            self.node.name.clone_from(&machine.hostname);
        }
        let secrets = [
            ("hep.key", "hep.key_file", &self.hep.key_file, &mut self.hep.key),
            ("api.token", "api.token_file", &self.api.token_file, &mut self.api.token),
        ];
        for (key, file_key, path, secret) in secrets {
            if path.as_os_str().is_empty() {
                continue;
            }
            if secret.is_set() {
                errors.push(Conflict::SecretTwice { key }.into());
                continue;
            }
            match read_secret(path) {
                Ok(found) => {
                    *secret = found;
                    if let (Some(secret), Some(file)) = (lookup(key), lookup(file_key)) {
                        let origin = self.origins.of(file);
                        self.origins.set(secret, origin);
                    }
                }
                Err(problem) => {
                    let path = PathBuf::from(path);
                    errors.push(ConfigError::Secret { key: file_key, path, problem });
                }
            }
        }
    }
}

fn read_secret(path: &Path) -> Result<Secret, SecretProblem> {
    let text = std::fs::read_to_string(path)?;
    match text.trim() {
        "" => Err(SecretProblem::Empty),
        text => Ok(Secret::new(text)),
    }
}
