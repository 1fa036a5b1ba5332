//! File, environment and command line, laid over the defaults.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Place, Source, Warning};
use super::input::Input;
use super::key::{Key, Kind, Origin, SECTIONS, Section, key, keys};
use super::keys::Plan;
use super::suggest;

/// Variables with the product's prefix that are not keys: the command line and the logger read them.
pub const IGNORED_ENV: [&str; 3] = ["WIRELAKE_LOG", "WIRELAKE_CONFIG", "WIRELAKE_SERVER"];
const PREFIX: &str = "WIRELAKE_";

/// What the command line says. `None` and empty lists say nothing.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--data DIR`.
    pub data: Option<String>,
    /// `--hep-udp ADDR`, once per address.
    pub hep_udp: Vec<String>,
    /// `--hep-tcp ADDR`, once per address.
    pub hep_tcp: Vec<String>,
    /// `--dropsonde-udp ADDR`, once per address.
    pub dropsonde_udp: Vec<String>,
    /// `--loggregator ADDR`, once per address.
    pub loggregator: Vec<String>,
    /// `--to URL`, once per destination.
    pub to: Vec<String>,
    /// `--capture IFACE`, once per interface; turns capture on.
    pub capture: Vec<String>,
    /// `--capture-filter FILTER`.
    pub capture_filter: Option<String>,
    /// `--api ADDR`.
    pub api: Option<String>,
    /// `--api-token TOKEN`.
    pub api_token: Option<String>,
    /// `--node NAME`.
    pub node: Option<String>,
    /// `--shards N`.
    pub shards: Option<String>,
    /// `--log-level LEVEL`.
    pub log_level: Option<String>,
    /// `--set SECTION.KEY=VALUE`, any key; lists with commas.
    pub set: Vec<String>,
}

impl Overrides {
    /// Flag, key and text of everything that was given by its own flag.
    fn given(&self) -> Vec<(&'static str, &'static str, String)> {
        let single = [
            ("--data", "data.dir", &self.data),
            ("--capture", "capture.enabled", &(!self.capture.is_empty()).then(|| "true".to_owned())),
            ("--capture-filter", "capture.filter", &self.capture_filter),
            ("--api", "api.listen", &self.api),
            ("--api-token", "api.token", &self.api_token),
            ("--node", "node.name", &self.node),
            ("--shards", "threads.shards", &self.shards),
            ("--log-level", "log.level", &self.log_level),
        ];
        let lists = [
            ("--hep-udp", "hep.udp", &self.hep_udp),
            ("--hep-tcp", "hep.tcp", &self.hep_tcp),
            ("--dropsonde-udp", "dropsonde.udp", &self.dropsonde_udp),
            ("--loggregator", "loggregator.listen", &self.loggregator),
            ("--to", "egress.to", &self.to),
            ("--capture", "capture.interfaces", &self.capture),
        ];
        let single =
            single.into_iter().filter_map(|(flag, key, text)| text.clone().map(|text| (flag, key, text)));
        let lists = lists
            .into_iter()
            .filter(|(_, _, items)| !items.is_empty())
            .map(|(flag, key, items)| (flag, key, items.join(",")));
        single.chain(lists).collect()
    }
}

impl Plan {
    /// Lays a file over what is there.
    pub(super) fn lay_file(&mut self, path: &Path, text: &str, errors: &mut Vec<ConfigError>) {
        let table = match DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                let range = error.span().unwrap_or_default();
                let place = Place::of(path, text, range);
                errors.push(match place.text.ends_with('=') {
                    true => ConfigError::NoValue { place },
                    false => ConfigError::Syntax { place, source: Box::new(error) },
                });
                return;
            }
        };
        let mut found: BTreeMap<usize, ConfigError> = BTreeMap::new();
        for (name, value) in table.get_ref() {
            let place = || Place::of(path, text, name.span());
            let section = SECTIONS.iter().find(|section| section.name == name.get_ref().as_ref());
            let (section, entries) = match (section, value.get_ref()) {
                (Some(section), DeValue::Table(entries)) => (section, entries),
                (section, value) => {
                    let error = not_a_section(place(), section, name.get_ref(), value);
                    found.insert(name.span().start, error);
                    continue;
                }
            };
            for (name, value) in entries {
                let name_text = name.get_ref().as_ref();
                let Some(key) = section.keys.iter().find(|key| key.name == name_text) else {
                    let hint = suggest::key_for(section.name, name_text).map(|key| {
                        match key.section == section.name {
                            true => format!("`{}`", key.name),
                            false => format!("`{}` in [{}]", key.name, key.section),
                        }
                    });
                    let error = ConfigError::UnknownKey {
                        place: Place::of(path, text, name.span()),
                        section: section.name,
                        name: name_text.to_owned(),
                        hint,
                    };
                    found.insert(name.span().start, error);
                    continue;
                };
                let input = Input::Toml(value.get_ref());
                let source = || Source::File(Place::of(path, text, value.span()));
                if let Err(error) = self.lay(key, &input, Origin::File, source) {
                    found.insert(name.span().start, error);
                }
            }
        }
        errors.extend(found.into_values());
    }

    /// Lays the environment over what is there.
    pub(super) fn lay_env(
        &mut self,
        env: impl Iterator<Item = (String, String)>,
        errors: &mut Vec<ConfigError>,
    ) {
        let given: BTreeMap<String, String> = env.filter(|(name, _)| name.starts_with(PREFIX)).collect();
        for (name, text) in given {
            if IGNORED_ENV.contains(&name.as_str()) {
                continue;
            }
            match keys().find(|key| key.env() == name) {
                Some(key) => {
                    let source = || Source::Env(name.clone());
                    if let Err(error) = self.lay(key, &Input::Text(&text), Origin::Env, source) {
                        errors.push(error);
                    }
                }
                None => {
                    let known: Vec<String> = keys().map(Key::env).collect();
                    let hint = suggest::nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
                    self.warnings.push(Warning::UnknownEnv { name, hint });
                }
            }
        }
    }

    /// Lays the command line over what is there.
    pub(super) fn lay_flags(&mut self, overrides: &Overrides, errors: &mut Vec<ConfigError>) {
        for (flag, path, text) in overrides.given() {
            let Some(key) = key(path) else { continue };
            self.lay_flag(key, flag, &text, errors);
        }
        for text in &overrides.set {
            let (path, value) = text.split_once('=').unwrap_or((text, ""));
            match key(path.trim()) {
                Some(key) if text.contains('=') => {
                    self.lay_flag(key, &format!("--set {path}"), value, errors);
                }
                _ => {
                    let (section, name) = path.split_once('.').unwrap_or(("", path));
                    let hint = suggest::key_for(section, name).map(|key| format!("`{}`", key.path()));
                    errors.push(ConfigError::Set { text: path.to_owned(), hint });
                }
            }
        }
    }

    fn lay_flag(&mut self, key: &'static Key, flag: &str, text: &str, errors: &mut Vec<ConfigError>) {
        if key.kind == Kind::Secret {
            self.warnings.push(Warning::SecretOnCommandLine {
                flag: flag.to_owned(),
                key: key.path(),
                env: key.env(),
            });
        }
        let source = || Source::Flag(flag.to_owned());
        if let Err(error) = self.lay(key, &Input::Text(text), Origin::Flag, source) {
            errors.push(error);
        }
    }

    fn lay(
        &mut self,
        key: &'static Key,
        input: &Input<'_>,
        origin: Origin,
        source: impl FnOnce() -> Source,
    ) -> Result<(), ConfigError> {
        (key.access.store)(self, key, input).map_err(|problem| ConfigError::Value {
            given: source(),
            key: key.path(),
            problem,
        })?;
        self.origins.set(key, origin);
        Ok(())
    }
}

/// What is wrong with a name at the top of the file.
fn not_a_section(
    place: Box<Place>,
    section: Option<&'static Section>,
    name: &str,
    value: &DeValue<'_>,
) -> ConfigError {
    let named = name.to_owned();
    match (section, value) {
        (Some(section), _) => ConfigError::NotASection { place, name: section.name },
        (None, DeValue::Table(_)) => {
            let hint = suggest::nearest(name, SECTIONS.iter().map(|known| known.name))
                .map(|known| format!("[{known}]"));
            ConfigError::UnknownSection { place, name: named, hint }
        }
        (None, _) => {
            let hint = suggest::key_for("", name).map(|key| format!("`{}` in [{}]", key.name, key.section));
            ConfigError::NoSection { place, name: named, hint }
        }
    }
}
