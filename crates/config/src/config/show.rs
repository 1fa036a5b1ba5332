//! A plan in the shape of the file.

use super::key::{Origin, SECTIONS};
use super::keys::Plan;

impl Plan {
    /// Every key with its value and, as a comment, where it came from: `default`, `file`, `env` or
    /// `flag`, and `default, from this machine` for what was resolved. Secrets are masked.
    pub fn to_toml(&self) -> String {
        let unresolved = Self::unresolved();
        let mut out = String::new();
        for (at, section) in SECTIONS.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            out.push_str(&format!("[{}]\n", section.name));
            let lines: Vec<(String, &str)> = section
                .keys
                .iter()
                .map(|key| {
                    let line = format!("{} = {}", key.name, (key.access.show)(self));
                    let origin = match self.origin(key) {
                        Origin::Default if !(key.access.same)(self, &unresolved) => {
                            "default, from this machine"
                        }
                        origin => origin.as_str(),
                    };
                    (line, origin)
                })
                .collect();
            let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default();
            for (line, origin) in lines {
                out.push_str(&format!("{line:<width$}  # {origin}\n"));
            }
        }
        out
    }
}
