//! Every key, once.
//!
//! The line of a key gives its type, default, whether a reload takes it up, and the range of a
//! number. Its doc comment is what the reference and the sample say about it.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::choice::{Compression, LogFormat, LogLevel};
use super::key::settings;
use super::secret::Secret;
use super::setting::HeaderNames;

settings! {
    /// Where the lake is kept.
    data: Data {
        /// Directory that holds every table. It is made when it does not exist.
        dir: PathBuf = PathBuf::from("./wirelake-data"), Restart;
    }

    /// Who this process is.
    node: Node {
        /// Name of this node, as it appears in its metrics and in the lake. Empty means the
        /// machine's host name.
        name: String = String::new(), Restart;
    }

    /// How many threads do the work.
    threads: Threads {
        /// Threads that receive and decode, each with its own sockets and memory. 0 means one per
        /// core, 16 at most.
        shards: usize = 0, Restart, 0..=256;
        /// Threads that write files. 0 means one for every four shards.
        writers: usize = 0, Restart, 0..=64;
    }

    /// HEP, as capture agents send it.
    hep: Hep {
        /// Addresses to take HEP on over UDP; an empty list turns it off. `[::]` takes IPv4 too; on
        /// a kernel without IPv6 it becomes `0.0.0.0`. Port 0 lets the kernel choose.
        udp: Vec<SocketAddr> = vec![any(9060)], Restart;
        /// Addresses to take HEP on over TCP, by the same rules.
        tcp: Vec<SocketAddr> = vec![any(9060)], Restart;
        /// Key that every HEP packet must carry (chunk 0x0e). Empty means that none is asked for.
        key: Secret = Secret::default(), Live;
        /// File that holds the key, instead of `key`. White space at its ends is ignored. Empty
        /// means none.
        key_file: PathBuf = PathBuf::new(), Live;
        /// Receive buffer asked of the kernel for each UDP socket. The kernel gives less when
        /// net.core.rmem_max is lower; `wirelake doctor` says so.
        rcvbuf_bytes: usize = 33_554_432, Restart, 65_536..=1_073_741_824;
        /// Whether to let the kernel hand over several datagrams of one sender at once (UDP_GRO).
        gro: bool = true, Restart;
        /// TCP connections that one shard serves at the same time; further ones are closed at
        /// once and counted.
        tcp_connections: usize = 4_096, Restart, 1..=1_000_000;
        /// How long a TCP peer may take to finish a frame that it began, before it is
        /// disconnected.
        tcp_frame_timeout_s: u64 = 60, Restart, 1..=86_400;
        /// The most that a compressed payload (chunk 0x10) may grow to; larger ones are kept as
        /// they came, with the reason.
        inflate_max_bytes: usize = 262_144, Restart, 1_024..=16_777_216;
        /// SIP headers that tell which calls belong together when the HEP packet does not (chunk
        /// 0x11). The first one present wins.
        correlation_headers: HeaderNames = HeaderNames(vec!["X-CID".to_owned()]), Restart;
    }

    /// Capture of live interfaces. It needs CAP_NET_RAW.
    capture: Capture {
        /// Whether to capture.
        enabled: bool = false, Restart;
        /// Names of the interfaces to capture on; an empty list, or `any`, means all of them, also those that
        /// come later.
        interfaces: Vec<String> = Vec::new(), Restart;
        /// What to capture, as a pcap-filter expression such as `tcp port 80 or udp port 53`; it is run by the
        /// kernel. Empty means everything.
        filter: String = String::new(), Restart;
        /// Which protocol is spoken where, as `redis=6379,6380` or `http=8080@192.0.2.1`. What no rule names is
        /// found out from its first bytes.
        rules: Vec<String> = Vec::new(), Restart;
        /// Rules that are obeyed without a look at the bytes, in the same form.
        decode_as: Vec<String> = Vec::new(), Restart;
        /// Whether only flows that a rule names are decoded.
        only_rules: bool = false, Restart;
        /// Whether named interfaces also take what is sent to others.
        promiscuous: bool = true, Restart;
        /// Threads that capture, each with its own ring. 0 means one for every two cores, 8 at most.
        shards: usize = 0, Restart, 0..=256;
        /// Memory of one ring between the kernel and a thread.
        ring_mib: usize = 16, Restart, 1..=4_096;
        /// Bytes of a frame that are captured.
        snaplen: usize = 262_144, Restart, 96..=1_048_576;
        /// Flows that one thread follows at the same time; beyond that those that never spoke go first.
        flows: usize = 65_536, Restart, 16..=16_777_216;
        /// Memory of one thread for data that waits for what was sent before it.
        held_mib: usize = 8, Restart, 1..=65_536;
        /// After how long a request counts as unanswered.
        answer_timeout_s: u64 = 60, Restart, 1..=86_400;
        /// The most that is kept of one text, such as a statement or a path.
        text_bytes: usize = 1_024, Restart, 16..=65_536;
        /// The most that is kept of one HTTP body of text or JSON; 0 keeps none.
        body_bytes: usize = 0, Restart, 0..=1_048_576;
        /// Whether passwords, tokens and the like stay as they are in the rows. They are replaced by default.
        show_secrets: bool = false, Restart;
        /// Whether flows that never said a word are stored too, such as scans.
        silent_flows: bool = true, Restart;
        /// Directory of the packets themselves, kept so that `wirelake packets` finds them. Empty keeps none.
        packets_dir: PathBuf = PathBuf::new(), Restart;
        /// How much of them is kept; the oldest go first.
        packets_mib: usize = 1_024, Restart, 1..=1_048_576;
    }

    /// Cloud Foundry's telemetry as its older components send it: dropsonde (version 1) over UDP.
    dropsonde: Dropsonde {
        /// Addresses to take dropsonde on; an empty list turns it off. Where nobody set this and another program
        /// has the port, it is left to that program, and the log says so.
        udp: Vec<SocketAddr> = vec![SocketAddr::from(([127, 0, 0, 1], 3457))], Restart;
        /// Receive buffer asked of the kernel for each socket.
        rcvbuf_bytes: usize = 33_554_432, Restart, 65_536..=1_073_741_824;
        /// Deployment named on envelopes that name none.
        deployment: String = String::new(), Restart;
        /// Job named on envelopes that name none.
        job: String = String::new(), Restart;
        /// Index of the job named on envelopes that name none.
        index: String = String::new(), Restart;
        /// Address named on envelopes that name none.
        ip: String = String::new(), Restart;
        /// Whether requests that a router timed are given the instance that their tags name: routers leave the
        /// field empty, and it would be 0 for all of them.
        fix_instance_id: bool = false, Restart;
    }

    /// Loggregator (version 2) over gRPC, taken from agents. It needs a certificate: clients must show one too.
    loggregator: Loggregator {
        /// Addresses to serve `loggregator.v2.Ingress` on; an empty list turns it off.
        listen: Vec<SocketAddr> = Vec::new(), Restart;
        /// Certificate of the authority that signed the clients' certificates (PEM).
        ca_file: PathBuf = PathBuf::new(), Restart;
        /// This server's certificate, with its chain (PEM). It is read again when it changes.
        cert_file: PathBuf = PathBuf::new(), Restart;
        /// The key of that certificate (PEM).
        key_file: PathBuf = PathBuf::new(), Restart;
        /// Tags that envelopes are given that do not have them, as `deployment=cf`.
        tags: Vec<String> = Vec::new(), Restart;
        /// Whether counters carry totals: increments are summed per name, source and tags.
        aggregate: bool = false, Restart;
        /// Counters that are summed at the same time; beyond that the one that was quiet longest goes.
        aggregate_counters: usize = 100_000, Restart, 1..=100_000_000;
        /// Whether envelopes become rows of `logs`, `metrics` and `spans`.
        store: bool = true, Restart;
    }

    /// Where Loggregator's envelopes are sent on to.
    egress: Egress {
        /// Destinations: `loggregator://HOST:PORT`, `otlp://HOST:PORT`, `syslog://HOST:PORT`, `syslog-tls://HOST:PORT`.
        /// What follows a `?` is for that destination alone: `server_name=NAME`, `ca=FILE`, `cert=FILE`, `key=FILE`,
        /// `queue_mib=N`, `policy=drop_oldest` or `drop_newest`, joined by `&`.
        to: Vec<String> = Vec::new(), Restart;
        /// Certificate of the authority that signed the destinations' certificates (PEM).
        ca_file: PathBuf = PathBuf::new(), Restart;
        /// Certificate that this process shows (PEM). It is read again when it changes.
        cert_file: PathBuf = PathBuf::new(), Restart;
        /// The key of that certificate (PEM).
        key_file: PathBuf = PathBuf::new(), Restart;
        /// Name that the certificate of a Loggregator destination must carry.
        server_name: String = "metron".to_owned(), Restart;
        /// Envelopes after which a batch is sent.
        batch_envelopes: usize = 100, Restart, 1..=100_000;
        /// Size at which a batch is sent.
        batch_kib: usize = 256, Restart, 1..=4_096;
        /// Age at which a batch is sent however few envelopes it has.
        batch_ms: u64 = 100, Restart, 1..=60_000;
        /// Memory for envelopes that wait, per destination. What is sent and not acknowledged is part of it.
        queue_mib: usize = 16, Restart, 1..=65_536;
        /// Directory for envelopes that memory has no room for, one folder per destination. Empty means that they
        /// are dropped and counted.
        spool_dir: PathBuf = PathBuf::new(), Restart;
        /// Disk space for them, per destination.
        spool_mib: usize = 1_024, Restart, 1..=1_048_576;
        /// How long the end waits for envelopes to be sent.
        flush_s: u64 = 10, Restart, 0..=600;
    }

    /// What memory may be used for. What cannot be kept within is shed and counted.
    memory: Memory {
        /// Memory for packets and rows until they are in files, all shards together: five eighths are
        /// blocks that packets are received into, the rest is for the columns that point into them.
        budget_mib: usize = 256, Restart, 16..=1_048_576;
        /// Size of one block. Each shard needs two at all times.
        block_kib: usize = 1_024, Restart, 256..=16_384;
        /// Memory that the SQL engine may use for all queries together.
        query_mib: usize = 128, Restart, 32..=1_048_576;
    }

    /// How rows become files.
    lake: Lake {
        /// Rows after which a shard's batch is sealed: from then on queries see it.
        seal_rows: usize = 16_384, Restart, 1..=4_194_304;
        /// Age at which a batch is sealed however few rows it has.
        seal_ms: u64 = 250, Restart, 10..=60_000;
        /// Rows in memory after which files are written.
        flush_rows: usize = 1_048_576, Restart, 1..=67_108_864;
        /// Memory held by rows after which files are written; three eighths of the memory budget at most.
        flush_mib: usize = 96, Restart, 1..=1_048_576;
        /// Age at which rows are written to files however few there are. What is younger is lost
        /// when the process is killed.
        flush_s: u64 = 10, Restart, 1..=3_600;
        /// Compression of the files.
        compression: Compression = Compression::Zstd, Restart;
        /// Level of zstd: higher is smaller and slower. 0 means zstd's own choice. The other
        /// codecs have no level.
        compression_level: usize = 1, Restart, 0..=22;
        /// Rows per row group: the least that a query reads of a file.
        row_group_rows: usize = 131_072, Restart, 1_024..=16_777_216;
    }

    /// The REST interface, the web page, the metrics.
    api: Api {
        /// Address to serve on. Beyond loopback it needs a token. Port 0 lets the kernel choose.
        listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080)), Restart;
        /// Token that a client must send as `Authorization: Bearer TOKEN`. Empty means that none
        /// is asked for.
        token: Secret = Secret::default(), Live;
        /// File that holds the token, instead of `token`. White space at its ends is ignored.
        /// Empty means none.
        token_file: PathBuf = PathBuf::new(), Live;
        /// How long a query may run.
        sql_timeout_s: u64 = 30, Live, 1..=86_400;
        /// Rows that a query may return; the answer says when there were more.
        sql_rows: usize = 10_000, Live, 1..=10_000_000;
    }

    /// What the process says about itself, on standard error.
    log: Log {
        /// The least severe level that is written.
        level: LogLevel = LogLevel::Info, Live;
        /// `text` for people, `json` for collectors.
        format: LogFormat = LogFormat::Text, Restart;
    }

    /// How the process ends.
    shutdown: Shutdown {
        /// How long to go on receiving what the kernel already holds after a SIGTERM. Files are
        /// written after that, however long it takes.
        drain_ms: u64 = 5_000, Restart, 0..=600_000;
    }
}

/// Every address of the machine, in both families.
fn any(port: u16) -> SocketAddr {
    SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, port))
}
