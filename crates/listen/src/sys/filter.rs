//! Classic BPF programs on sockets: which socket of a group takes a packet, and refusing all of them.

use std::io;
use std::os::fd::BorrowedFd;

use super::sockopt::set;

/// Spreads what arrives for a group of `sockets` SO_REUSEPORT sockets over all of them by a random
/// number, so that one heavy sender does not land on one socket. Holds for the whole group.
pub(crate) fn spread(fd: BorrowedFd<'_>, sockets: u32) -> io::Result<()> {
    let random = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32;
    let program = [
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, random),
        op(libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K, sockets.max(1)),
        op(libc::BPF_RET | libc::BPF_A, 0),
    ];
    attach(fd, libc::SO_ATTACH_REUSEPORT_CBPF, &program)
}

/// Refuses everything that arrives from now on; what is queued stays. The socket counts each refusal as a
/// drop.
pub(crate) fn refuse_all(fd: BorrowedFd<'_>) -> io::Result<()> {
    attach(fd, libc::SO_ATTACH_FILTER, &[op(libc::BPF_RET | libc::BPF_K, 0)])
}

fn op(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn attach(fd: BorrowedFd<'_>, name: i32, program: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: program.len() as u16,
        // The kernel copies the program and never writes to it.
        filter: program.as_ptr().cast_mut(),
    };
    set(fd, libc::SOL_SOCKET, name, &program)
}
