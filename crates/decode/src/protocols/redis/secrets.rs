//! Which arguments are passwords.

use super::commands::{Act, Command};

/// Settings of `CONFIG SET` that hold a password.
const SETTINGS: [&[u8]; 6] = [
    b"requirepass",
    b"masterauth",
    b"primaryauth",
    b"tls-key-file-pass",
    b"tls-client-key-file-pass",
    b"sentinel-pass",
];

/// Which arguments of one command are secret, told from front to back.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    /// How many of the next arguments are.
    next: u8,
}

impl Secrets {
    /// Whether argument `index`, which is `arg`, is a secret. `sub` is the sub-command in upper case.
    pub(super) fn is_secret(&mut self, command: &Command, sub: &[u8], index: usize, arg: &[u8]) -> bool {
        if index == 0 {
            return false;
        }
        if self.next > 0 {
            self.next = self.next.saturating_sub(1);
            return true;
        }
        match (command.act, command.name, sub) {
            (Act::Auth, ..) => return true,
            // HELLO 3 AUTH user password, MIGRATE ... AUTH2 user password.
            (Act::Hello, ..) if arg.eq_ignore_ascii_case(b"auth") => self.next = 2,
            (_, "MIGRATE", _) if arg.eq_ignore_ascii_case(b"auth") => self.next = 1,
            (_, "MIGRATE", _) if arg.eq_ignore_ascii_case(b"auth2") => self.next = 2,
            (_, "CONFIG", b"SET") if SETTINGS.iter().any(|name| arg.eq_ignore_ascii_case(name)) => {
                self.next = 1;
            }
            // >password <password #hash !hash
            (_, "ACL", b"SETUSER") => return matches!(arg, [b'>' | b'<' | b'#' | b'!', ..]),
            (_, "SENTINEL", b"SET") if arg.eq_ignore_ascii_case(b"auth-pass") => self.next = 1,
            _ => {}
        }
        false
    }
}
