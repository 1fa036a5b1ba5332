//! Keys against each other.

use std::net::SocketAddr;

use super::choice::Compression;
use super::error::{ConfigError, Conflict};
use super::key::{Origin, key};
use super::keys::Plan;

/// Adds every conflict of a resolved plan.
pub(super) fn check(plan: &Plan, errors: &mut Vec<ConfigError>) {
    let conflicts = [
        open_without_token(plan),
        budget(plan),
        flush(plan),
        seal(plan),
        level(plan),
        data(plan),
        ports(plan),
        certificate(plan),
    ];
    errors.extend(conflicts.into_iter().flatten().map(ConfigError::Conflict));
}

fn open_without_token(plan: &Plan) -> Option<Conflict> {
    let listen = plan.api.listen;
    let open = !listen.ip().to_canonical().is_loopback() && !plan.api.token.is_set();
    open.then_some(Conflict::OpenWithoutToken { listen })
}

fn budget(plan: &Plan) -> Option<Conflict> {
    let (shards, block_kib) = (plan.threads.shards, plan.memory.block_kib);
    let needed_mib = (shards * block_kib * 2).div_ceil(1_024);
    let budget_mib = plan.memory.budget_mib;
    (needed_mib > budget_mib).then_some(Conflict::BudgetTooSmall {
        shards,
        block_kib,
        needed_mib,
        budget_mib,
    })
}

fn flush(plan: &Plan) -> Option<Conflict> {
    let (flush_mib, budget_mib) = (plan.lake.flush_mib, plan.memory.budget_mib);
    (flush_mib >= budget_mib).then_some(Conflict::FlushAboveBudget { flush_mib, budget_mib })
}

fn seal(plan: &Plan) -> Option<Conflict> {
    let lake = &plan.lake;
    if lake.seal_rows > lake.flush_rows {
        let (seal_rows, flush_rows) = (lake.seal_rows, lake.flush_rows);
        return Some(Conflict::SealAboveFlush { seal_rows, flush_rows });
    }
    let (seal_ms, flush_s) = (lake.seal_ms, lake.flush_s);
    (seal_ms > flush_s * 1_000).then_some(Conflict::SealAfterFlush { seal_ms, flush_s })
}

fn level(plan: &Plan) -> Option<Conflict> {
    let given = key("lake.compression_level").is_some_and(|key| plan.origin(key) != Origin::Default);
    let compression = plan.lake.compression;
    (given && compression != Compression::Zstd).then_some(Conflict::LevelWithoutZstd { compression })
}

fn data(plan: &Plan) -> Option<Conflict> {
    let path = &plan.data.dir;
    if path.as_os_str().is_empty() {
        return Some(Conflict::NoData);
    }
    let other = std::fs::metadata(path).is_ok_and(|found| !found.is_dir());
    other.then(|| Conflict::DataIsNoDirectory { path: path.clone() })
}

fn ports(plan: &Plan) -> Option<Conflict> {
    let named = |key: &'static str, list: &[SocketAddr]| -> Vec<_> {
        list.iter().map(|address| (key, *address)).collect()
    };
    let mut tcp = named("hep.tcp", &plan.hep.tcp);
    tcp.extend(named("loggregator.listen", &plan.loggregator.listen));
    tcp.push(("api.listen", plan.api.listen));
    let mut udp = named("hep.udp", &plan.hep.udp);
    udp.extend(named("dropsonde.udp", &plan.dropsonde.udp));
    clash(&udp, "UDP").or_else(|| clash(&tcp, "TCP"))
}

fn certificate(plan: &Plan) -> Option<Conflict> {
    let loggregator = &plan.loggregator;
    if loggregator.listen.is_empty() {
        return None;
    }
    let files = [
        ("loggregator.ca_file", &loggregator.ca_file),
        ("loggregator.cert_file", &loggregator.cert_file),
        ("loggregator.key_file", &loggregator.key_file),
    ];
    let (missing, _) = files.into_iter().find(|(_, path)| path.as_os_str().is_empty())?;
    Some(Conflict::NoCertificate { missing })
}

fn clash(listeners: &[(&'static str, SocketAddr)], transport: &'static str) -> Option<Conflict> {
    listeners.iter().enumerate().find_map(|(at, &(one, address))| {
        let &(other, _) = listeners.get(at + 1..)?.iter().find(|(_, other)| same_port(address, *other))?;
        Some(Conflict::SamePort { one, other, address, transport })
    })
}

/// Whether the kernel would refuse the second. `[::]` takes IPv4 as well.
fn same_port(one: SocketAddr, other: SocketAddr) -> bool {
    let covers = |wide: SocketAddr, narrow: SocketAddr| {
        wide.ip().is_unspecified() && (wide.is_ipv6() || narrow.is_ipv4())
    };
    one.port() != 0
        && one.port() == other.port()
        && (one.ip() == other.ip() || covers(one, other) || covers(other, one))
}
