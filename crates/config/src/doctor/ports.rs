//! Whether the listening addresses can be had.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, UdpSocket};

use super::finding::{Finding, Status};
use super::process::{NET_BIND_SERVICE, has, setcap};
use super::system::System;
use crate::config::{Origin, Plan, key, without_ipv6};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Udp,
    Tcp,
}

/// One finding per address, by binding it for a moment.
pub(super) fn listening(plan: &Plan, system: &System) -> Vec<Finding> {
    let udp = plan.hep.udp.iter().map(|address| ("HEP over UDP", Transport::Udp, *address));
    let tcp = plan.hep.tcp.iter().map(|address| ("HEP over TCP", Transport::Tcp, *address));
    let loggregator =
        plan.loggregator.listen.iter().map(|address| ("Loggregator over gRPC", Transport::Tcp, *address));
    let api = std::iter::once(("API and web page", Transport::Tcp, plan.api.listen));
    let dropsonde = plan.dropsonde.udp.iter().map(|address| {
        let mut finding = check("dropsonde over UDP", Transport::Udp, *address, system);
        // Nobody asked for it, so whoever has the port keeps it.
        if key("dropsonde.udp").is_some_and(|key| plan.origin(key) == Origin::Default) {
            finding.status = finding.status.min(Status::Warn);
        }
        finding
    });
    udp.chain(tcp)
        .chain(loggregator)
        .chain(api)
        .map(|(name, transport, address)| check(name, transport, address, system))
        .chain(dropsonde)
        .collect()
}

fn bind(transport: Transport, address: SocketAddr) -> std::io::Result<()> {
    match transport {
        Transport::Udp => UdpSocket::bind(address).map(drop),
        Transport::Tcp => TcpListener::bind(address).map(drop),
    }
}

fn check(name: &'static str, transport: Transport, address: SocketAddr, system: &System) -> Finding {
    let error = match bind(transport, address) {
        Ok(()) if address.port() == 0 => {
            return Finding::ok(name, format!("{} with any free port", address.ip()));
        }
        Ok(()) => return Finding::ok(name, format!("{address} is free")),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::AddrInUse => taken(name, transport, address, system),
        ErrorKind::PermissionDenied => {
            let finding = Finding::new(
                name,
                Status::Fail,
                format!("{address} is not permitted"),
                "Ports below net.ipv4.ip_unprivileged_port_start (1024) need CAP_NET_BIND_SERVICE.",
            );
            match has(system, NET_BIND_SERVICE) {
                true => finding,
                false => finding.fix(setcap("cap_net_bind_service")),
            }
        }
        _ => match without_ipv6(address).filter(|v4| *v4 != address) {
            Some(v4) if bind(transport, v4).is_ok() => {
                Finding::ok(name, format!("{v4} is free; the kernel has no IPv6"))
            }
            _ => Finding::new(
                name,
                Status::Fail,
                format!("{address}: {error}"),
                "The address is not one of this machine's. Its own are shown by:",
            )
            .fix("ip -brief address"),
        },
    }
}

fn taken(name: &'static str, transport: Transport, address: SocketAddr, system: &System) -> Finding {
    let holder = holder(transport, address.port(), system);
    if let Some((pid, program)) = &holder
        && program == "wirelake"
    {
        return Finding::ok(name, format!("{address} is held by wirelake itself (process {pid})"));
    }
    let by = match holder {
        Some((pid, program)) => format!("{program} (process {pid})"),
        None => "another program".to_owned(),
    };
    let (listing, transport) = match transport {
        Transport::Udp => ("-lunp", "UDP"),
        Transport::Tcp => ("-ltnp", "TCP"),
    };
    Finding::new(
        name,
        Status::Fail,
        format!("{address} is taken by {by}"),
        format!("Only one program can listen on a {transport} port. See who it is, and stop it or choose another port:"),
    )
    .fix(format!("sudo ss {listing} 'sport = :{}'", address.port()))
}

/// The process that holds a local port, as far as this one may look.
fn holder(transport: Transport, port: u16, system: &System) -> Option<(u32, String)> {
    let tables = match transport {
        Transport::Udp => ["/proc/net/udp", "/proc/net/udp6"],
        Transport::Tcp => ["/proc/net/tcp", "/proc/net/tcp6"],
    };
    let sockets: Vec<String> = tables
        .iter()
        .filter_map(|table| system.text(table))
        .flat_map(|table| inodes(&table, transport, port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if sockets.is_empty() {
        return None;
    }
    let processes = std::fs::read_dir(system.path("/proc")).ok()?;
    processes.flatten().find_map(|process| {
        let pid: u32 = process.file_name().to_str()?.parse().ok()?;
        let holds = std::fs::read_dir(process.path().join("fd")).ok()?.flatten().any(|file| {
            std::fs::read_link(file.path())
                .is_ok_and(|target| sockets.iter().any(|socket| target.as_os_str() == socket.as_str()))
        });
        let program = || system.text(&format!("/proc/{pid}/comm"));
        if holds { Some((pid, program()?)) } else { None }
    })
}

/// Inodes of the sockets bound to a port, from a table as in `/proc/net/tcp`.
fn inodes(table: &str, transport: Transport, port: u16) -> Vec<u64> {
    const LISTEN: &str = "0A";
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
            let bound = u16::from_str_radix(local_port, 16).ok()? == port;
            let listens = transport == Transport::Udp || *fields.get(3)? == LISTEN;
            (bound && listens).then(|| fields.get(9)?.parse().ok()).flatten()
        })
        .collect()
}
