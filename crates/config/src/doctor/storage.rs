//! Whether the data directory takes what is written.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};

use super::finding::{Finding, Status, bytes};
use super::system::System;
use crate::config::Plan;

const GIB: u64 = 1 << 30;

/// The data directory, or the nearest above it that exists.
fn nearest(plan: &Plan) -> Option<PathBuf> {
    let path = std::path::absolute(&plan.data.dir).ok()?;
    path.ancestors().find(|path| path.exists()).map(Path::to_owned)
}

/// Whether files can be made in it.
pub(super) fn data_directory(plan: &Plan) -> Finding {
    const NAME: &str = "data directory";
    let wanted = plan.data.dir.display();
    let Some(found) = nearest(plan) else {
        return Finding::new(NAME, Status::Fail, format!("{wanted}: not found"), "");
    };
    let exists = plan.data.dir.exists();
    if !found.is_dir() {
        let name = found.display();
        return Finding::new(
            NAME,
            Status::Fail,
            format!("{name} is not a directory"),
            "The lake cannot be made there: set data.dir to another path.",
        );
    }
    if access(&found, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        return Finding::new(
            NAME,
            Status::Fail,
            format!("{} cannot be written to", found.display()),
            "Nothing can be stored. Give the directory to the user that runs wirelake, or set \
             data.dir to another one.",
        )
        .fix(format!("sudo install -d -o \"$USER\" '{wanted}'"));
    }
    Finding::ok(NAME, format!("{wanted} {}", if exists { "is writable" } else { "will be made" }))
}

/// Whether there is room.
pub(super) fn free_space(plan: &Plan) -> Finding {
    const NAME: &str = "disk space";
    let disk = nearest(plan).and_then(|path| statvfs(&path).ok());
    let Some(disk) = disk else { return Finding::unreadable(NAME, "the data directory's disk") };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let size = disk.f_blocks.saturating_mul(disk.f_frsize);
    let found = format!("{} of {} free", bytes(free), bytes(size));
    space(NAME, found, free, size)
}

fn space(name: &'static str, found: String, free: u64, size: u64) -> Finding {
    if free < GIB {
        let why = "There is not even room for a gigabyte: make room, or set data.dir to another \
                   disk.";
        return Finding::new(name, Status::Fail, found, why);
    }
    if free < 10 * GIB || free < size / 20 {
        let why = "A thousand SIP messages a second fill some gigabytes a day, and a full disk \
                   stops the store.";
        return Finding::new(name, Status::Warn, found, why);
    }
    Finding::ok(name, found)
}

/// Whether the file system keeps what is written, and keeps it quickly.
pub(super) fn file_system(plan: &Plan, system: &System) -> Finding {
    const NAME: &str = "file system";
    const FILE: &str = "/proc/self/mountinfo";
    const NETWORK: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "glusterfs"];
    const LOST: [&str; 3] = ["tmpfs", "ramfs", "overlay"];
    let Some(mounts) = system.text(FILE) else { return Finding::unreadable(NAME, FILE) };
    let path = nearest(plan).and_then(|path| path.canonicalize().ok());
    let Some(path) = path else { return Finding::unreadable(NAME, "data.dir") };
    let Some(kind) = kind_of(&mounts, &path) else {
        return Finding::new(NAME, Status::Warn, "not found among the mounts", "not checked");
    };
    if LOST.contains(&kind.as_str()) {
        return Finding::new(
            NAME,
            Status::Warn,
            format!("{kind} at {}", path.display()),
            "What is written there is gone with the next restart of the machine or container: put \
             data.dir on a disk or a volume.",
        );
    }
    if NETWORK.contains(&kind.as_str()) {
        return Finding::new(
            NAME,
            Status::Warn,
            format!("{kind} at {}", path.display()),
            "A network file system may be slow to sync and may not lock: a local disk or object \
             storage serves better.",
        );
    }
    Finding::ok(NAME, kind)
}

/// Type of the file system that a path is on: the mount with the longest path above it, the last of
/// those at the same place.
fn kind_of(mounts: &str, path: &Path) -> Option<String> {
    mounts
        .lines()
        .filter_map(|line| {
            let (mount, details) = line.split_once(" - ")?;
            let point = mount.split(' ').nth(4)?.replace("\\040", " ");
            let kind = details.split(' ').next()?;
            path.starts_with(&point).then(|| (point.len(), kind.to_owned()))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_mount_of_a_path() {
        let mounts = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      2 1 0:9 / /srv/my\\040lake rw,noatime shared:1 - nfs4 host:/x rw\n\
                      3 1 0:8 / /srv rw - tmpfs tmpfs rw\n";
        let kind = |path: &str| kind_of(mounts, Path::new(path)).unwrap();
        assert_eq!(kind("/srv/my lake/data"), "nfs4");
        assert_eq!(kind("/srv/other"), "tmpfs");
        assert_eq!(kind("/srvother"), "ext4");
    }

    #[test]
    fn weighs_space() {
        let status = |free, size| space("x", String::new(), free, size).status;
        assert_eq!(status(GIB / 2, 100 * GIB), Status::Fail);
        assert_eq!(status(5 * GIB, 20 * GIB), Status::Warn);
        assert_eq!(status(20 * GIB, 1_000 * GIB), Status::Warn);
        assert_eq!(status(200 * GIB, 1_000 * GIB), Status::Ok);
    }
}
