//! Giving up what only opening the handles needed.
//!
//! * In: a user to become, when the process is root. Out: a thread that can do nothing special any more.
//! * Owned: nothing. Bounded by: nothing to bound. Lost: the right to open more packet sockets.
//!
//! Capabilities belong to threads. Threads that are started after [`drop_privileges`] inherit what is left,
//! threads that ran before keep what they had, so it is called before others are started.

use std::io;

use crate::sys::caps;

/// Capability numbers end below this; the kernel has 41 today.
const MOST_CAPABILITIES: u32 = 64;

/// Whether this thread may open packet sockets.
pub fn has_net_raw() -> bool {
    caps::effective().is_ok_and(|set| set & caps::CAP_NET_RAW != 0)
}

/// A user to become, by numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// The user.
    pub user: u32,
    /// Its group; all other groups are left.
    pub group: u32,
}

/// Empties all capability sets of this thread, forbids gaining any by running programs, and becomes `user`
/// when one is given and the process is root. Handles that are open keep working. Answers how many other
/// threads of this process there are, which keep theirs.
///
/// # Errors
/// What the kernel refused; then some privileges may be left and the process should end.
pub fn drop_privileges(user: Option<User>) -> io::Result<usize> {
    // The bounding set first, because only CAP_SETPCAP may change it. Without that capability it stays, and
    // does nothing, since no program that is run can gain anything.
    for capability in 0..MOST_CAPABILITIES {
        if caps::unbind(capability).is_err() {
            break;
        }
    }
    if let Some(User { user, group }) = user.filter(|_| caps::is_root()) {
        caps::become_user(user, group)?;
    }
    caps::clear_ambient()?;
    caps::clear()?;
    caps::no_new_privileges()?;
    Ok(std::fs::read_dir("/proc/self/task").map_or(0, |tasks| tasks.count().saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::live::{Live, LiveError, LiveOptions};

    /// Set for the child that gives its privileges up; tests of this process must keep theirs.
    const CHILD: &str = "WIRELAKE_TEST_DROP";

    #[test]
    fn nothing_is_left_after_dropping() {
        if !has_net_raw() {
            println!("skipped: needs CAP_NET_RAW");
            return;
        }
        for mode in ["stay", "nobody"] {
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "privileges::tests::child", "--nocapture"])
                .env(CHILD, mode)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&child.stdout);
            assert!(child.status.success() && said.contains("dropped"), "{said}");
        }
    }

    #[test]
    fn child() {
        let Ok(mode) = std::env::var(CHILD) else { return };
        let small = LiveOptions { ring_bytes: 1 << 20, block_bytes: 1 << 16, ..LiveOptions::default() };
        let mut open = Live::open(&small).unwrap();
        let user = (mode == "nobody").then_some(User { user: 65_534, group: 65_534 });
        // The harness keeps a thread or two of its own.
        drop_privileges(user).unwrap();
        assert!(!has_net_raw());
        // What is open works, nothing new can be opened, and running a program brings nothing back.
        open.poll(std::time::Duration::from_millis(1), &mut |_| {}).unwrap();
        let again = Live::open(&small).unwrap_err();
        assert!(matches!(again, LiveError::NotPermitted { .. }));
        assert!(again.to_string().contains("sudo setcap cap_net_raw+ep /"));
        let status = Command::new("cat").arg("/proc/self/status").output().unwrap();
        let status = String::from_utf8(status.stdout).unwrap();
        for line in ["CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd"] {
            assert!(status.contains(&format!("{line}:\t0000000000000000")), "{status}");
        }
        assert!(status.contains("NoNewPrivs:\t1"));
        if user.is_some() {
            assert!(status.contains("Uid:\t65534\t65534\t65534\t65534"));
        }
        println!("dropped");
    }
}
