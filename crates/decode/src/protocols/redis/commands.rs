//! The commands whose keys are known: <https://redis.io/docs/latest/commands/>.
//!
//! A command that is not here is kept as it is written, with its first argument as its resource unknown.

/// Where the first key of a command is. Argument 0 is the command itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// It has none, or none that names what it is about.
    None,
    /// At this argument.
    At(u8),
    /// Behind the count of keys, which is at this argument.
    Counted(u8),
    /// Behind the word `STREAMS`.
    Streams,
}

/// What a command does to the session; see [`super::session`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing.
    None,
    /// Subscribes to or leaves channels, patterns or shard channels.
    Subscribe(Topics),
    /// The same, leaving.
    Unsubscribe(Topics),
    /// The other commands that change what comes after them.
    Auth,
    Client,
    Discard,
    Exec,
    Hello,
    Monitor,
    Multi,
    Replicate,
    Reset,
    Select,
}

/// What is subscribed to: each kind is counted for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topics {
    Channels,
    Patterns,
    Shards,
}

/// What is known of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command {
    /// In upper case.
    pub name: &'static str,
    pub keys: Keys,
    /// How many arguments behind the command are no values, and so shown in `db.query.text`.
    pub shown: u8,
    /// Whether its first argument is a sub-command.
    pub container: bool,
    pub act: Act,
}

/// All arguments are shown.
const ALL: u8 = u8::MAX;

/// Commands that have the same facts.
struct Group(Keys, u8, &'static [&'static str]);

const GROUPS: &[Group] = &[
    // Reads, and writes without values: all they have is keys, ranges and options.
    Group(
        Keys::At(1),
        ALL,
        &[
            "GET",
            "MGET",
            "STRLEN",
            "EXISTS",
            "TYPE",
            "TTL",
            "PTTL",
            "EXPIRETIME",
            "PEXPIRETIME",
            "PERSIST",
            "EXPIRE",
            "PEXPIRE",
            "EXPIREAT",
            "PEXPIREAT",
            "DEL",
            "UNLINK",
            "TOUCH",
            "DUMP",
            "GETDEL",
            "GETEX",
            "GETRANGE",
            "SUBSTR",
            "GETBIT",
            "BITCOUNT",
            "BITPOS",
            "BITFIELD_RO",
            "INCR",
            "DECR",
            "INCRBY",
            "DECRBY",
            "INCRBYFLOAT",
            "RENAME",
            "RENAMENX",
            "COPY",
            "MOVE",
            "SORT_RO",
            "SORT",
            "HGET",
            "HMGET",
            "HGETALL",
            "HKEYS",
            "HVALS",
            "HLEN",
            "HEXISTS",
            "HSTRLEN",
            "HDEL",
            "HRANDFIELD",
            "HSCAN",
            "HINCRBY",
            "HINCRBYFLOAT",
            "HEXPIRE",
            "HPEXPIRE",
            "HEXPIREAT",
            "HPEXPIREAT",
            "HTTL",
            "HPTTL",
            "HPERSIST",
            "HEXPIRETIME",
            "HPEXPIRETIME",
            "HGETEX",
            "HGETDEL",
            "LLEN",
            "LRANGE",
            "LINDEX",
            "LPOP",
            "RPOP",
            "LTRIM",
            "LMOVE",
            "RPOPLPUSH",
            "BLPOP",
            "BRPOP",
            "BLMOVE",
            "BRPOPLPUSH",
            "SCARD",
            "SMEMBERS",
            "SPOP",
            "SRANDMEMBER",
            "SSCAN",
            "SINTER",
            "SINTERSTORE",
            "SUNION",
            "SUNIONSTORE",
            "SDIFF",
            "SDIFFSTORE",
            "ZCARD",
            "ZCOUNT",
            "ZLEXCOUNT",
            "ZRANGE",
            "ZRANGESTORE",
            "ZRANGEBYSCORE",
            "ZRANGEBYLEX",
            "ZREVRANGE",
            "ZREVRANGEBYSCORE",
            "ZREVRANGEBYLEX",
            "ZPOPMIN",
            "ZPOPMAX",
            "BZPOPMIN",
            "BZPOPMAX",
            "ZRANDMEMBER",
            "ZSCAN",
            "ZREMRANGEBYRANK",
            "ZREMRANGEBYSCORE",
            "ZREMRANGEBYLEX",
            "ZUNIONSTORE",
            "ZINTERSTORE",
            "ZDIFFSTORE",
            "GEOPOS",
            "GEODIST",
            "GEOHASH",
            "GEORADIUS_RO",
            "GEORADIUSBYMEMBER_RO",
            "GEORADIUS",
            "GEORADIUSBYMEMBER",
            "GEOSEARCH",
            "GEOSEARCHSTORE",
            "PFCOUNT",
            "PFMERGE",
            "XLEN",
            "XRANGE",
            "XREVRANGE",
            "XDEL",
            "XTRIM",
            "XACK",
            "XPENDING",
            "XCLAIM",
            "XAUTOCLAIM",
            "XSETID",
            "WATCH",
            "LCS",
            "SUBSCRIBE",
            "PSUBSCRIBE",
            "SSUBSCRIBE",
            "UNSUBSCRIBE",
            "PUNSUBSCRIBE",
            "SUNSUBSCRIBE",
            "JSON.GET",
            "JSON.MGET",
            "JSON.DEL",
            "JSON.TYPE",
            "JSON.STRLEN",
            "JSON.ARRLEN",
            "JSON.OBJLEN",
            "JSON.OBJKEYS",
            "TS.RANGE",
            "TS.REVRANGE",
            "TS.GET",
            "TS.INFO",
            "BF.INFO",
            "FT.INFO",
            "FT.SEARCH",
            "FT.AGGREGATE",
        ],
    ),
    // Writes: what follows the key are values.
    Group(
        Keys::At(1),
        1,
        &[
            "SET",
            "SETNX",
            "SETEX",
            "PSETEX",
            "GETSET",
            "APPEND",
            "SETRANGE",
            "SETBIT",
            "BITFIELD",
            "MSET",
            "MSETNX",
            "HSET",
            "HSETNX",
            "HMSET",
            "HSETEX",
            "LPUSH",
            "RPUSH",
            "LPUSHX",
            "RPUSHX",
            "LSET",
            "LINSERT",
            "LREM",
            "LPOS",
            "SADD",
            "SREM",
            "SISMEMBER",
            "SMISMEMBER",
            "ZADD",
            "ZREM",
            "ZINCRBY",
            "ZSCORE",
            "ZMSCORE",
            "ZRANK",
            "ZREVRANK",
            "GEOADD",
            "PFADD",
            "XADD",
            "RESTORE",
            "PUBLISH",
            "SPUBLISH",
            "JSON.SET",
            "JSON.MSET",
            "JSON.MERGE",
            "JSON.ARRAPPEND",
            "JSON.NUMINCRBY",
            "TS.ADD",
            "TS.MADD",
            "TS.CREATE",
            "BF.ADD",
            "BF.EXISTS",
            "BF.RESERVE",
            "BF.MADD",
            "CF.ADD",
            "FT.CREATE",
            "VADD",
            "VSIM",
        ],
    ),
    Group(Keys::At(1), 2, &["SMOVE"]),
    Group(Keys::At(2), ALL, &["BITOP"]),
    Group(Keys::At(3), 5, &["MIGRATE"]),
    Group(
        Keys::Counted(1),
        ALL,
        &["LMPOP", "ZMPOP", "SINTERCARD", "ZINTERCARD", "ZUNION", "ZINTER", "ZDIFF"],
    ),
    Group(Keys::Counted(2), ALL, &["BLMPOP", "BZMPOP"]),
    Group(Keys::Counted(2), 2, &["EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"]),
    Group(Keys::Streams, ALL, &["XREAD", "XREADGROUP"]),
    Group(
        Keys::None,
        ALL,
        &[
            "PING",
            "ECHO",
            "AUTH",
            "HELLO",
            "SELECT",
            "QUIT",
            "RESET",
            "MULTI",
            "EXEC",
            "DISCARD",
            "UNWATCH",
            "MONITOR",
            "SYNC",
            "PSYNC",
            "REPLCONF",
            "REPLICAOF",
            "SLAVEOF",
            "ROLE",
            "FAILOVER",
            "WAIT",
            "WAITAOF",
            "INFO",
            "DBSIZE",
            "FLUSHDB",
            "FLUSHALL",
            "SWAPDB",
            "KEYS",
            "SCAN",
            "RANDOMKEY",
            "SAVE",
            "BGSAVE",
            "BGREWRITEAOF",
            "LASTSAVE",
            "SHUTDOWN",
            "TIME",
            "ASKING",
            "READONLY",
            "READWRITE",
            "LOLWUT",
            "RESTORE-ASKING",
            "PFDEBUG",
            "PFSELFTEST",
            "FT._LIST",
        ],
    ),
];

/// Commands whose first argument is a sub-command.
const CONTAINERS: &[Group] = &[
    Group(
        Keys::None,
        ALL,
        &[
            "ACL", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "FUNCTION", "LATENCY", "MODULE", "PUBSUB",
            "SCRIPT", "SLOWLOG", "SENTINEL",
        ],
    ),
    Group(Keys::At(2), ALL, &["OBJECT", "MEMORY", "XGROUP", "XINFO", "DEBUG"]),
];

/// The longest name of a command, and of a sub-command.
pub(super) const MAX_NAME: usize = 32;

/// Slots of the table: four for each command keep the runs of taken ones short.
const SLOTS: usize = 1_024;

const EMPTY: Command = Command { name: "", keys: Keys::None, shown: 0, container: false, act: Act::None };

static TABLE: [Command; SLOTS] = table();

/// The command of a name in upper case.
pub(super) fn find(name: &[u8]) -> Option<&'static Command> {
    let mut slot = hash(name);
    // Ends at an empty slot, of which there are many.
    for _ in 0..SLOTS {
        let command = TABLE.get(slot)?;
        if command.name.is_empty() {
            return None;
        }
        if command.name.as_bytes() == name {
            return Some(command);
        }
        slot = slot.wrapping_add(1) % SLOTS;
    }
    None
}

/// FNV-1a, folded into a slot.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "the index is below the length")]
const fn hash(name: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5u32;
    let mut i = 0;
    while i < name.len() {
        hash = (hash ^ name[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    (hash ^ (hash >> 15)) as usize % SLOTS
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs in the compiler only")]
const fn table() -> [Command; SLOTS] {
    let mut table = [EMPTY; SLOTS];
    let mut pass = 0;
    while pass < 2 {
        let groups = if pass == 0 { GROUPS } else { CONTAINERS };
        let mut g = 0;
        while g < groups.len() {
            let Group(keys, shown, names) = &groups[g];
            let mut n = 0;
            while n < names.len() {
                let name = names[n];
                let mut slot = hash(name.as_bytes());
                while !table[slot].name.is_empty() {
                    slot = (slot + 1) % SLOTS;
                }
                table[slot] =
                    Command { name, keys: *keys, shown: *shown, container: pass == 1, act: act(name) };
                n += 1;
            }
            g += 1;
        }
        pass += 1;
    }
    table
}

const fn act(name: &str) -> Act {
    match name.as_bytes() {
        b"SUBSCRIBE" => Act::Subscribe(Topics::Channels),
        b"PSUBSCRIBE" => Act::Subscribe(Topics::Patterns),
        b"SSUBSCRIBE" => Act::Subscribe(Topics::Shards),
        b"UNSUBSCRIBE" => Act::Unsubscribe(Topics::Channels),
        b"PUNSUBSCRIBE" => Act::Unsubscribe(Topics::Patterns),
        b"SUNSUBSCRIBE" => Act::Unsubscribe(Topics::Shards),
        b"AUTH" => Act::Auth,
        b"CLIENT" => Act::Client,
        b"DISCARD" => Act::Discard,
        b"EXEC" => Act::Exec,
        b"HELLO" => Act::Hello,
        b"MONITOR" => Act::Monitor,
        b"MULTI" => Act::Multi,
        b"PSYNC" | b"SYNC" => Act::Replicate,
        b"RESET" => Act::Reset,
        b"SELECT" => Act::Select,
        _ => Act::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_found_once() {
        let mut seen = std::collections::BTreeSet::new();
        for Group(.., names) in GROUPS.iter().chain(CONTAINERS) {
            for name in *names {
                assert!(seen.insert(name), "{name} is there twice");
                assert_eq!(find(name.as_bytes()).map(|c| c.name), Some(*name));
                assert!(name.len() <= MAX_NAME);
            }
        }
        assert!(find(b"NOPE").is_none());
        assert!(find(b"").is_none());
        assert!(seen.len() * 3 < SLOTS);
    }
}
