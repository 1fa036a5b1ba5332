//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Sees what passes on your wires: HEP in, calls out, every packet accounted for.
#[derive(Debug, Parser)]
#[command(
    name = "wirelake",
    version,
    max_term_width = 100,
    after_help = "Start with `wirelake serve`, then open http://127.0.0.1:8080"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Receive HEP, keep it in the lake, serve the API and the page
    Serve(Serve),
    /// Run one SQL statement over the lake
    Sql(Sql),
    /// Find messages or calls
    Search(Search),
    /// Show one call: ladder, raw messages, or a capture file
    Call(Call),
    /// Watch requests and responses live on an interface
    Watch(Watch),
    /// Read a capture file (pcap, pcapng; plain, gzip or zstd) into roundtrips
    Read(Read),
    /// List the interfaces that can be captured
    Ifaces {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the packets of stored roundtrips to a capture file
    Packets(Packets),
    /// Print the resolved configuration, each key with where its value comes from
    Check(Settings),
    /// Check this machine: socket limits, capabilities, clock, disk; with the command that fixes each
    Doctor(Doctor),
    /// Show the kernel settings that wirelake wants; change them only when asked to
    Tune(Tune),
    /// Measure the pipeline against the bare kernel path
    Bench(Bench),
    /// Forward dropsonde from UDP to an agent, in the place of Cloud Foundry's udp-forwarder
    UdpForwarder(UdpForwarder),
    /// Print the version
    Version,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Flags that stand above file and environment.
#[derive(Debug, Args, Default, Clone)]
pub struct Settings {
    /// Configuration file (TOML)
    #[arg(long, short, value_name = "FILE", env = "WIRELAKE_CONFIG")]
    pub config: Option<PathBuf>,
    /// Folder of the lake
    #[arg(long, value_name = "DIR")]
    pub data: Option<String>,
    /// Address for HEP over UDP; may be given more than once, port 0 lets the kernel choose
    #[arg(long, value_name = "ADDR")]
    pub hep_udp: Vec<String>,
    /// Address for HEP over TCP
    #[arg(long, value_name = "ADDR")]
    pub hep_tcp: Vec<String>,
    /// Address for dropsonde (Loggregator version 1) over UDP; may be given more than once
    #[arg(long, value_name = "ADDR")]
    pub dropsonde_udp: Vec<String>,
    /// Address for Loggregator (version 2) over gRPC with mutual TLS
    #[arg(long, value_name = "ADDR")]
    pub loggregator: Vec<String>,
    /// Where Loggregator's envelopes are sent on to, such as loggregator://127.0.0.1:3458
    #[arg(long, value_name = "URL")]
    pub to: Vec<String>,
    /// Capture on this interface, `any` for all of them; may be given more than once
    #[arg(long, value_name = "IFACE")]
    pub capture: Vec<String>,
    /// What to capture, as a pcap-filter expression
    #[arg(long, value_name = "FILTER")]
    pub capture_filter: Option<String>,
    /// Address of the API and the page
    #[arg(long, value_name = "ADDR")]
    pub api: Option<String>,
    /// Token that requests to the API must carry
    #[arg(long, value_name = "TOKEN")]
    pub api_token: Option<String>,
    /// Name of this node
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Threads that receive and decode; 0 is one per core
    #[arg(long, value_name = "N")]
    pub shards: Option<String>,
    /// How much to log: error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// Any other key of the configuration
    #[arg(long, value_name = "SECTION.KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    #[command(flatten)]
    pub settings: Settings,
    /// Ask a running server instead where its time goes, which stage is the limit, and what lifts it
    #[arg(long)]
    pub live: bool,
    /// Address of that server
    #[arg(long, value_name = "URL", env = "WIRELAKE_SERVER", default_value = "http://127.0.0.1:8080")]
    pub server: String,
    /// Token of that server
    #[arg(long, value_name = "TOKEN", env = "WIRELAKE_API_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Print the server's answer as JSON
    #[arg(long, requires = "live")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Tune {
    #[command(flatten)]
    pub settings: Settings,
    /// Change what is too low, until the next start of the machine (needs root)
    #[arg(long)]
    pub apply: bool,
    /// Write a file that sets it at each start of the machine (needs root where root owns the folder)
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = config::doctor::tune::FILE)]
    pub write: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    pub settings: Settings,
    /// Print one line of JSON with the ports first
    #[arg(long)]
    pub print_ports: bool,
}

/// Settings of the udp-forwarder: the variables of the original, and what it has no setting for.
#[derive(Debug, Args)]
pub struct UdpForwarder {
    /// UDP port to take dropsonde on
    #[arg(long, env = "UDP_PORT", value_name = "PORT", default_value_t = 3457)]
    pub udp_port: u16,
    /// Address to take it on; IPv6 too
    #[arg(long, env = "UDP_ADDRESS", value_name = "IP", default_value = "127.0.0.1")]
    pub udp_address: std::net::IpAddr,
    /// The agent: loggregator v2 over gRPC
    #[arg(long, env = "LOGGREGATOR_AGENT_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:3458")]
    pub agent: String,
    /// Authority of the agent's certificate (PEM)
    #[arg(long, env = "LOGGREGATOR_AGENT_CA_FILE_PATH", value_name = "FILE")]
    pub agent_ca_file: PathBuf,
    /// Certificate shown to the agent (PEM)
    #[arg(long, env = "LOGGREGATOR_AGENT_CERT_FILE_PATH", value_name = "FILE")]
    pub agent_cert_file: PathBuf,
    /// Its key (PEM)
    #[arg(long, env = "LOGGREGATOR_AGENT_KEY_FILE_PATH", value_name = "FILE")]
    pub agent_key_file: PathBuf,
    /// Name that the agent's certificate must be for
    #[arg(long, env = "LOGGREGATOR_AGENT_SERVER_NAME", value_name = "NAME", default_value = "metron")]
    pub server_name: String,
    /// Deployment named on envelopes that name none
    #[arg(long, env = "DEPLOYMENT", default_value = "")]
    pub deployment: String,
    /// Job named on envelopes that name none
    #[arg(long, env = "JOB", default_value = "")]
    pub job: String,
    /// Index named on envelopes that name none
    #[arg(long, env = "INDEX", default_value = "")]
    pub index: String,
    /// Address named on envelopes that name none
    #[arg(long, env = "IP", default_value = "")]
    pub ip: String,
    /// Write times of the log as RFC 3339 has them
    #[arg(long, env = "USE_RFC3339", value_name = "BOOL", default_value_t = false, value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub use_rfc3339: bool,
    /// Port of the metrics on 127.0.0.1, mutual TLS; 0 lets the kernel choose
    #[arg(long, env = "METRICS_PORT", value_name = "PORT", default_value_t = 0)]
    pub metrics_port: u16,
    /// Authority of the certificates of those who may read the metrics (PEM)
    #[arg(long, env = "METRICS_CA_FILE_PATH", value_name = "FILE")]
    pub metrics_ca_file: PathBuf,
    /// Certificate of the metrics (PEM)
    #[arg(long, env = "METRICS_CERT_FILE_PATH", value_name = "FILE")]
    pub metrics_cert_file: PathBuf,
    /// Its key (PEM)
    #[arg(long, env = "METRICS_KEY_FILE_PATH", value_name = "FILE")]
    pub metrics_key_file: PathBuf,
    /// Add figures of the process to the metrics
    #[arg(long, env = "DEBUG_METRICS", value_name = "BOOL", default_value_t = false, value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub debug_metrics: bool,
    /// Receive buffer asked of the kernel, bytes
    #[arg(long, env = "UDP_RCVBUF_BYTES", value_name = "BYTES", default_value_t = 33_554_432)]
    pub rcvbuf_bytes: usize,
    /// Memory for envelopes that wait for the agent, MiB
    #[arg(long, env = "QUEUE_MIB", value_name = "MIB", default_value_t = 12)]
    pub queue_mib: usize,
    /// Folder for envelopes that memory has no room for; none drops them, counted
    #[arg(long, env = "SPOOL_DIR", value_name = "DIR")]
    pub spool_dir: Option<PathBuf>,
    /// Disk space for them, MiB
    #[arg(long, env = "SPOOL_MIB", value_name = "MIB", default_value_t = 1_024)]
    pub spool_mib: usize,
    /// How long the end waits for envelopes to be sent, seconds
    #[arg(long, env = "FLUSH_S", value_name = "SECONDS", default_value_t = 10)]
    pub flush_s: u64,
    /// Give requests that a router timed the instance that their tags name, where the original says 0
    #[arg(long, env = "FIX_INSTANCE_ID", value_name = "BOOL", default_value_t = false, value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub fix_instance_id: bool,
}

/// What is decoded, and how much is kept of it.
#[derive(Debug, Args, Clone, Default)]
pub struct Decoding {
    /// Obey a rule without looking at the bytes, such as redis=7000
    #[arg(long, value_name = "RULE")]
    pub decode_as: Vec<String>,
    /// Decode only what a rule names
    #[arg(long)]
    pub only: bool,
    /// The most bytes kept of one text, such as a statement or a path
    #[arg(long, value_name = "BYTES", default_value_t = 1_024)]
    pub text: usize,
    /// Bytes kept of HTTP bodies of text or JSON
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub body: usize,
    /// Show passwords, tokens and the like as they are
    #[arg(long)]
    pub show_secrets: bool,
}

/// Which roundtrips are shown.
#[derive(Debug, Args, Clone, Default)]
pub struct Picking {
    /// Only those that took at least this long, such as 100ms or 1.5s
    #[arg(long, value_name = "SPAN")]
    pub slow: Option<String>,
    /// Only those that failed or were not answered
    #[arg(long)]
    pub errors: bool,
}

#[derive(Debug, Args)]
pub struct Watch {
    /// Where a protocol is spoken: redis=6379,6380 or http=8080@192.0.2.1; anything else is found out from its first
    /// bytes
    #[arg(value_name = "RULE")]
    pub rules: Vec<String>,
    /// Interface; may be given more than once, all of them if not said
    #[arg(long, short = 'i', value_name = "IFACE")]
    pub interface: Vec<String>,
    /// What to capture, as a pcap-filter expression such as 'tcp port 80 or udp port 53'
    #[arg(long, short = 'f', value_name = "FILTER")]
    pub filter: Option<String>,
    #[command(flatten)]
    pub decoding: Decoding,
    #[command(flatten)]
    pub picking: Picking,
    /// Print one JSON object per roundtrip
    #[arg(long, conflicts_with = "stat")]
    pub json: bool,
    /// Show a table of rates, latencies and errors per protocol, operation and status instead
    #[arg(long)]
    pub stat: bool,
    /// End after this many roundtrips
    #[arg(long, short = 'n', value_name = "N")]
    pub count: Option<u64>,
    /// End after this time, such as 30s
    #[arg(long, value_name = "SPAN")]
    pub r#for: Option<String>,
    /// Do not take frames that are meant for others
    #[arg(long)]
    pub no_promiscuous: bool,
    /// Memory of the ring between the kernel and this program, MiB
    #[arg(long, value_name = "MIB", default_value_t = 32)]
    pub ring: usize,
    /// Bytes of a frame that are captured
    #[arg(long, value_name = "BYTES", default_value_t = 262_144)]
    pub snaplen: u32,
    /// When to use colours
    #[arg(long, value_enum, default_value = "auto")]
    pub color: When,
    /// Write the books to a file at the end
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub struct Read {
    /// The file; `-` is standard input
    pub file: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    pub format: ReadFormat,
    /// Where a protocol is spoken: redis=6379,6380; may be given more than once
    #[arg(long = "rule", short = 'r', value_name = "RULE")]
    pub rules: Vec<String>,
    /// Which frames to take, as a pcap-filter expression
    #[arg(long, short = 'f', value_name = "FILTER")]
    pub filter: Option<String>,
    #[command(flatten)]
    pub decoding: Decoding,
    #[command(flatten)]
    pub picking: Picking,
    /// Print flows instead of roundtrips (jsonl only)
    #[arg(long)]
    pub flows: bool,
    /// Show rates, latencies and errors per protocol, operation and status instead
    #[arg(long)]
    pub stat: bool,
    /// Store roundtrips and flows in the lake of this folder; a running server must not hold it
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "./wirelake-data")]
    pub into_lake: Option<PathBuf>,
    /// Threads; 0 is one per core, standard input takes one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub shards: usize,
    /// Write the books to a file; `-` is standard error
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// When to use colours
    #[arg(long, value_enum, default_value = "auto")]
    pub color: When,
}

#[derive(Debug, Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum ReadFormat {
    /// One line per roundtrip for people
    Table,
    /// One JSON object per line
    Jsonl,
    /// Nothing; for --into-lake and --ledger
    None,
}

#[derive(Debug, Args)]
pub struct Packets {
    /// Folder of the packet store
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// The capture file to write; `-` is standard output
    #[arg(long, short = 'w', value_name = "FILE")]
    pub write: PathBuf,
    /// Which packets, as a pcap-filter expression
    #[arg(long, short = 'f', value_name = "FILTER")]
    pub filter: Option<String>,
    /// Earliest time: RFC 3339, or a span back from now such as 15m
    #[arg(long, visible_alias = "start")]
    pub since: Option<String>,
    /// Latest time
    #[arg(long, visible_alias = "end")]
    pub until: Option<String>,
}

/// Where the rows are.
#[derive(Debug, Args, Clone)]
pub struct Source {
    /// Address of a running `wirelake serve`
    #[arg(long, value_name = "URL", env = "WIRELAKE_SERVER", default_value = "http://127.0.0.1:8080")]
    pub server: String,
    /// Token of that server
    #[arg(long, value_name = "TOKEN", env = "WIRELAKE_API_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Read this lake folder directly instead; rows that a server has only in memory are not in it
    #[arg(long, value_name = "DIR", conflicts_with = "token")]
    pub data: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum Format {
    /// Columns for people
    Table,
    /// An array of objects
    Json,
    /// Comma-separated values with a header line
    Csv,
}

#[derive(Debug, Args)]
pub struct Sql {
    /// The statement; `-` reads it from standard input
    pub query: String,
    #[command(flatten)]
    pub source: Source,
    /// Output format
    #[arg(long, short, value_enum, default_value = "table")]
    pub format: Format,
    /// The most rows to print
    #[arg(long, default_value_t = 10_000)]
    pub limit: usize,
    /// Also say on standard error which files were read
    #[arg(long)]
    pub scan: bool,
}

#[derive(Debug, Args)]
pub struct Search {
    #[command(flatten)]
    pub source: Source,
    /// SIP methods, separated by commas
    #[arg(long, short)]
    pub method: Option<String>,
    /// From: user or user@host; `*` stands for any text
    #[arg(long)]
    pub from: Option<String>,
    /// To: user or user@host; `*` stands for any text
    #[arg(long)]
    pub to: Option<String>,
    /// Call-ID; `*` stands for any text
    #[arg(long, short = 'i')]
    pub call_id: Option<String>,
    /// Address of either end, or an IPv4 network such as 10.1.0.0/16
    #[arg(long)]
    pub ip: Option<String>,
    /// Port of either end
    #[arg(long)]
    pub port: Option<u16>,
    /// Status codes or classes: 486, 4xx
    #[arg(long)]
    pub code: Option<String>,
    /// Capture agent's number or name
    #[arg(long)]
    pub node: Option<String>,
    /// Text in the message
    #[arg(long)]
    pub text: Option<String>,
    /// Earliest time: RFC 3339, or a span back from now such as 15m, 2h, 1d
    #[arg(long, visible_alias = "start")]
    pub since: Option<String>,
    /// Latest time
    #[arg(long, visible_alias = "end")]
    pub until: Option<String>,
    /// What a row is
    #[arg(long, value_enum, default_value = "message")]
    pub by: By,
    /// Rows wanted
    #[arg(long, short = 'n', default_value_t = 100)]
    pub limit: usize,
    /// Rows to skip
    #[arg(long, default_value_t = 0)]
    pub offset: usize,
    /// Output format
    #[arg(long, short, value_enum, default_value = "table")]
    pub format: Format,
    /// Also say on standard error which files were read
    #[arg(long)]
    pub scan: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum By {
    Message,
    Call,
}

#[derive(Debug, Args)]
pub struct Call {
    /// The Call-ID
    pub call_id: String,
    #[command(flatten)]
    pub source: Source,
    /// Add every message in full
    #[arg(long)]
    pub raw: bool,
    /// Write a capture file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Print the call as JSON
    #[arg(long, conflicts_with_all = ["raw", "pcap"])]
    pub json: bool,
    /// Draw with ASCII only
    #[arg(long)]
    pub ascii: bool,
    /// Columns to draw in; the terminal's width if not said
    #[arg(long)]
    pub width: Option<usize>,
}

#[derive(Debug, Args)]
pub struct Bench {
    /// What to measure
    #[arg(value_enum, required = true)]
    pub what: Vec<BenchKind>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Seconds per measurement
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,
    /// Threads that receive; 0 is one per core
    #[arg(long, default_value_t = 0)]
    pub shards: usize,
    /// Threads that send; 0 is one per shard
    #[arg(long, default_value_t = 0)]
    pub senders: usize,
    /// Measure udp and tcp for every number of threads up to the machine's cores
    #[arg(long)]
    pub matrix: bool,
    /// Also write a report: Markdown, with a chart of each benchmark as SVG beside it
    #[arg(long, value_name = "FILE.md")]
    pub report: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum BenchKind {
    /// Every one of them
    All,
    /// HEP3 and SIP, one thread, no sockets
    Decode,
    /// UDP to columns, against recvmmsg alone
    Udp,
    /// TCP to columns, against read alone
    Tcp,
    /// Decode to durable Parquet
    Store,
    /// Dropsonde from UDP to encoded batches, against recvmmsg alone
    Loggregator,
    /// Frames to roundtrips in columns, against a walk over the frames
    Capture,
    /// Look-ups in a table that threads share, against a private one each
    Tables,
    /// 64 senders of 1-byte datagrams with four look-ups each, against senders alone
    Stream,
    /// Datagrams of 8 to 64 KB through the UDP reader, pooled against fresh buffers
    Reader,
}
