use std::net::{TcpListener, UdpSocket};
use std::path::Path;

use super::*;
use crate::config::{Machine, Overrides};

/// A machine made of files.
struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    /// A machine on which everything is as it should be.
    fn healthy() -> Self {
        let fake = Self { folder: tempfile::tempdir().unwrap() };
        fake.put("/proc/sys/net/core/rmem_max", "33554432\n")
            .put("/proc/sys/net/core/netdev_max_backlog", "250000\n")
            .put(
                "/proc/net/snmp",
                "Ip: Forwarding\nIp: 1\n\
                 Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\n\
                 Udp: 10 0 0 10 0 0\nUdpLite: InDatagrams\nUdpLite: 0\n",
            )
            .put("/proc/net/snmp6", "Udp6InDatagrams 1\nUdp6RcvbufErrors 0\n")
            .put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000003000\nCpus_allowed_list:\t0-3\n")
            .put(
                "/proc/self/limits",
                "Limit          Soft Limit Hard Limit Units\nMax open files 65536      65536      files\n",
            )
            .put("/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\n")
            .put("/proc/self/cgroup", "0::/system.slice/wirelake.service\n")
            .put("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n")
            .put("/sys/fs/cgroup/system.slice/wirelake.service/memory.max", "max\n")
            .put("/sys/fs/cgroup/system.slice/wirelake.service/cpu.max", "max 100000\n")
            .put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
            .put("/run/systemd/timesync/synchronized", "")
    }

    fn put(self, path: &str, text: &str) -> Self {
        let path = self.system().path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn without(self, path: &str) -> Self {
        std::fs::remove_file(self.system().path(path)).unwrap();
        self
    }

    fn system(&self) -> System {
        System { root: self.folder.path().to_owned() }
    }

    /// The finding of one check.
    fn find(&self, name: &str, plan: &Plan) -> Finding {
        let found = checks_on(plan, &self.system());
        found.into_iter().find(|finding| finding.name == name).expect(name)
    }
}

/// A plan that listens on free ports and keeps its data in a folder of its own.
fn plan(more: &str) -> (tempfile::TempDir, Plan) {
    let folder = tempfile::tempdir().unwrap();
    let file = format!(
        "data.dir = {:?}\nhep.udp = \"127.0.0.1:0\"\nhep.tcp = \"127.0.0.1:0\"\n\
         dropsonde.udp = \"127.0.0.1:0\"\napi.listen = \"127.0.0.1:0\"\n{more}",
        folder.path().join("lake").to_str().unwrap()
    );
    let machine = Machine { cores: 4, hostname: "edge-1".into() };
    let file = Some((Path::new("wirelake.toml"), file.as_str()));
    let plan = Plan::build(file, std::iter::empty(), &Overrides::default(), &machine);
    (folder, plan.unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_healthy_machine_passes() {
    let (_folder, plan) = plan("");
    let found = checks_on(&plan, &Fake::healthy().system());
    for finding in &found {
        // The disk is this machine's own.
        let of_this_machine = finding.name == "disk space";
        assert!(finding.status == Status::Ok || of_this_machine, "{finding:?}");
    }
    assert_eq!(found.len(), 16);
}

#[test]
fn a_small_buffer_is_named_with_its_sysctl() {
    let (_folder, plan) = plan("");
    let fake = Fake::healthy().put("/proc/sys/net/core/rmem_max", "212992");
    assert_eq!(fake.find("receive buffer", &plan).status, Status::Ok, "CAP_NET_ADMIN lifts it");

    let fake = fake.put("/proc/self/status", "CapEff:\t0\nCpus_allowed_list:\t0-3\n");
    let finding = fake.find("receive buffer", &plan);
    assert_eq!(finding.status, Status::Warn);
    assert_eq!(finding.found, "208 KiB of 32 MiB per socket");
    assert_eq!(
        finding.fix.unwrap(),
        "sudo sysctl -w net.core.rmem_max=33554432\n\
         echo 'net.core.rmem_max=33554432' | sudo tee -a /etc/sysctl.d/60-wirelake.conf"
    );
    let capabilities = fake.find("capabilities", &plan);
    assert_eq!(capabilities.status, Status::Ok, "HEP needs none");
    assert_eq!(
        capabilities.fix.unwrap(),
        "sudo setcap cap_net_raw,cap_net_admin+ep \"$(command -v wirelake)\""
    );
}

#[test]
fn losses_of_both_families_are_added() {
    let (_folder, plan) = plan("");
    let fake = Fake::healthy()
        .put("/proc/net/snmp", "Udp: InDatagrams RcvbufErrors\nUdp: 10 7\n")
        .put("/proc/net/snmp6", "Udp6RcvbufErrors    5\n");
    let finding = fake.find("UDP losses", &plan);
    assert_eq!(finding.status, Status::Warn);
    assert!(finding.found.starts_with("12 datagrams lost"), "{finding:?}");
}

#[test]
fn limits_of_process_and_group() {
    let (_folder, plan) = plan("[threads]\nshards = 4\n");
    let fake = Fake::healthy()
        .put("/proc/self/limits", "Max open files            1024                 4096      files\n")
        .put("/sys/fs/cgroup/system.slice/cpu.max", "150000 100000")
        .put("/sys/fs/cgroup/system.slice/memory.max", "268435456");
    let files = fake.find("open files", &plan);
    assert_eq!((files.status, files.fix.as_deref()), (Status::Warn, Some("ulimit -n 16640")));
    let cores = fake.find("cores", &plan);
    assert_eq!((cores.status, cores.found.as_str()), (Status::Warn, "1.50 of 4 cores for 4 shards"));
    let memory = fake.find("memory", &plan);
    assert_eq!(memory.status, Status::Fail);
    assert_eq!(memory.found, "the control group allows 256 MiB, 512 MiB may be used");
    assert_eq!(exit_code(&[memory]), 1);
    assert_eq!(exit_code(&[cores]), 0);
}

#[test]
fn too_few_cores_and_too_little_memory() {
    let (_folder, plan) = plan("[threads]\nshards = 8\n");
    let fake = Fake::healthy().put("/proc/meminfo", "MemAvailable: 1024 kB\n");
    assert_eq!(fake.find("cores", &plan).found, "4 for 8 shards");
    let memory = fake.find("memory", &plan);
    assert_eq!(
        (memory.status, memory.found.as_str()),
        (Status::Warn, "1 MiB available, 512 MiB may be used")
    );
}

#[test]
fn clocks() {
    let (_folder, plan) = plan("");
    let fake = Fake::healthy()
        .without("/run/systemd/timesync/synchronized")
        .put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    assert_eq!(fake.find("clock", &plan).status, Status::Warn);
    assert_eq!(fake.find("clock source", &plan).status, Status::Warn);
    let fake = fake.put("/run/chrony/chronyd.pid", "1");
    assert_eq!(fake.find("clock", &plan).found, "a time service runs (/run/chrony/chronyd.pid)");
}

#[test]
fn file_systems_that_forget() {
    let (_folder, plan) = plan("");
    let fake = Fake::healthy().put("/proc/self/mountinfo", "1 0 0:1 / / rw - overlay overlay rw");
    assert_eq!(fake.find("file system", &plan).status, Status::Warn);
}

#[test]
fn a_taken_port_is_named_with_its_holder() {
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let (_folder, mut plan) = plan("");
    plan.hep.udp = vec![udp.local_addr().unwrap()];
    plan.hep.tcp = vec![tcp.local_addr().unwrap()];
    for finding in checks(&plan) {
        if finding.name.starts_with("HEP") {
            assert_eq!(finding.status, Status::Fail);
            let me = format!("(process {})", std::process::id());
            assert!(finding.found.contains(&me), "{finding:?}");
            assert!(finding.fix.unwrap().starts_with("sudo ss -l"));
        }
    }
}

#[test]
fn an_address_of_another_machine_fails() {
    let (_folder, mut plan) = plan("");
    plan.api.listen = "192.0.2.1:0".parse().unwrap();
    let finding = Fake::healthy().find("API and web page", &plan);
    assert_eq!(finding.status, Status::Fail, "{finding:?}");
}

#[test]
fn what_cannot_be_read_is_said() {
    let (_folder, plan) = plan("");
    let empty = Fake { folder: tempfile::tempdir().unwrap() };
    let found = checks_on(&plan, &empty.system());
    assert!(found.iter().all(|finding| finding.status != Status::Fail), "{found:#?}");
    let text = render(&found, false);
    assert!(text.contains("/proc/net/snmp cannot be read"), "{text}");
}

#[test]
fn the_text_lines_up() {
    let findings = [
        Finding::ok("cores", "4 for 4 shards"),
        Finding::new("receive buffer", Status::Warn, "208 KiB of 32 MiB", "A burst is lost.")
            .fix("sudo sysctl -w net.core.rmem_max=33554432"),
        Finding::new("memory", Status::Fail, "too little", "It is killed."),
    ];
    assert_eq!(
        render(&findings, false),
        "ok    cores           4 for 4 shards\n\
         warn  receive buffer  208 KiB of 32 MiB\n\
         \x20                     A burst is lost.\n\
         \n\
         \x20   sudo sysctl -w net.core.rmem_max=33554432\n\
         \n\
         FAIL  memory          too little\n\
         \x20                     It is killed.\n\
         1 failure, 1 warning.\n"
    );
    assert!(render(&findings, true).contains("\x1b[1;31mFAIL\x1b[0m"));
    assert!(render(&findings[..1], false).ends_with("Everything is as it should be.\n"));
}

#[test]
fn every_limit_has_a_remedy() {
    let (_folder, mut plan) = plan("[threads]\nshards = 4\n");
    let fake = Fake::healthy();
    let first = |limit: &str, plan: &Plan| remedies(limit, plan, &fake.system()).into_iter().next();
    for limit in [
        "hep.socket",
        "hep.receive",
        "hep.read",
        "hep.decode",
        "hep.append",
        "hep.seal",
        "capture.ring",
        "capture.decode",
        "capture.append",
        "capture.seal",
        "store.encode",
        "store.write",
        "store.sync",
        "store.commit",
        "store.retry",
        "store.memory",
    ] {
        assert!(first(limit, &plan).is_some(), "{limit}");
    }
    assert_eq!(first("hep.wait", &plan), None);
    let command = |limit: &str, plan: &Plan| first(limit, plan).and_then(|remedy| remedy.command).unwrap();
    plan.hep.rcvbuf_bytes = 65_536;
    assert_eq!(command("hep.socket", &plan), "wirelake serve --set hep.rcvbuf_bytes=33554432");
    plan.threads.shards = 1;
    assert_eq!(command("hep.decode", &plan), "wirelake serve --shards 4");
    plan.lake.compression_level = 19;
    assert_eq!(command("store.encode", &plan), "wirelake serve --set lake.compression_level=1");
    plan.lake.flush_s = 1;
    assert_eq!(command("store.sync", &plan), "wirelake serve --set lake.flush_s=10");
}

#[test]
fn a_buffer_that_the_kernel_cuts_short_is_lifted_first() {
    let (_folder, plan) = plan("");
    let fake = Fake::healthy()
        .put("/proc/sys/net/core/rmem_max", "212992")
        .put("/proc/self/status", "CapEff:\t0\nCpus_allowed_list:\t0-3\n");
    let found = remedies("hep.socket", &plan, &fake.system());
    let command = found[0].command.as_deref().unwrap();
    assert!(command.starts_with("sudo sysctl -w net.core.rmem_max=33554432"), "{command}");
}

#[test]
fn one_queue_for_all_cores_is_spread() {
    let (_folder, mut plan) = plan("");
    plan.hep.udp = vec!["[::]:9060".parse().unwrap()];
    let fake = Fake::healthy()
        .put("/sys/class/net/lo/queues/rx-0/rps_cpus", "0")
        .put("/sys/class/net/eth0/queues/rx-0/rps_cpus", "00000000,00000000");
    let found = remedies("hep.receive", &plan, &fake.system());
    let command = found.last().unwrap().command.as_deref();
    assert_eq!(command, Some("echo f | sudo tee /sys/class/net/eth0/queues/rx-0/rps_cpus"));
}
