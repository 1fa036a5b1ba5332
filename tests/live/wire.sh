# Shared by the live tests of capture; sourced, never run.
#
# Real servers and clients on loopback of a network namespace of its own, watched live and read back from tcpdump's file.
# What wirelake shows must be what the clients counted themselves and what tshark sees in that file.
# shellcheck source=tests/live/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

((EUID == 0)) || skip "capturing needs root"

# Everything runs in a namespace without other traffic, where one can be made.
if [[ -z ${WIRELAKE_LIVE_NETNS:-} ]] && unshare --net true 2>/dev/null; then
    export WIRELAKE_LIVE_NETNS=1
    trap - EXIT
    rm -rf "$tmp"
    exec unshare --net "$0" "$@"
fi

need tshark tcpdump jq ip ethtool
need_capture
# Servers with users of their own must reach their folders.
chmod 755 "$tmp"
mtus=(65536)
if [[ -n ${WIRELAKE_LIVE_NETNS:-} ]]; then
    ip link set lo up
    mtus+=(1500)
fi

# At 1500 each segment is a frame of its own; at 65536 the kernel hands over up to 64 KiB at a time.
set_mtu() {
    local offload=on
    [[ -n ${WIRELAKE_LIVE_NETNS:-} ]] || return 0
    (($1 > 1500)) || offload=off
    ip link set lo mtu "$1"
    ethtool -K lo tso "$offload" gso "$offload" gro "$offload" >/dev/null
}

# listens PORT...: whether somebody listens on all of these TCP ports.
listens() {
    local p hex
    for p in "$@"; do
        printf -v hex ':%04X' "$p"
        # State 0A is LISTEN.
        awk -v hex="$hex" 'index($2, hex) && $4 == "0A" { found = 1 } END { exit !found }' /proc/net/tcp /proc/net/tcp6 || return 1
    done
}

# The number of lines of standard input; and lines sorted, each with how often it occurs.
count() { grep -c . || true; }
tally() { sort | uniq -c | sed 's/^ *//'; }

need_databases() {
    local postgres
    need mariadbd mariadb psql
    postgres=$(find /usr/lib/postgresql -name postgres -path '*/bin/*' 2>/dev/null | sort -V | tail -n 1)
    [[ -n $postgres ]] || skip "postgres is missing"
    pgbin=$(dirname "$postgres")
}

# start_mariadb PORT, start_postgres PORT: with their data in $tmp; root and postgres may do anything without a password.
start_mariadb() {
    mkdir "$tmp/maria"
    mariadb-install-db --no-defaults --datadir="$tmp/maria" --auth-root-authentication-method=normal --user=root >"$tmp/maria.log" 2>&1
    mariadbd --no-defaults --user=root --datadir="$tmp/maria" --port="$1" --bind-address=127.0.0.1 --socket="$tmp/maria.sock" \
        >>"$tmp/maria.log" 2>&1 & pids+=($!)
    until_true 30 mariadb --no-defaults -h 127.0.0.1 -P "$1" -u root -e 'create database if not exists shop' >/dev/null 2>&1 ||
        die "mariadb does not answer"
}
start_postgres() {
    mkdir "$tmp/pg"
    chown postgres "$tmp/pg"
    su postgres -s /bin/sh -c "'$pgbin/initdb' -A trust -D '$tmp/pg'" >"$tmp/pg.log" 2>&1
    setpriv --reuid postgres --regid postgres --init-groups "$pgbin/postgres" -D "$tmp/pg" -p "$1" -h 127.0.0.1 -k "$tmp/pg" >>"$tmp/pg.log" 2>&1 &
    pids+=($!)
    until_true 30 psql -h 127.0.0.1 -p "$1" -U postgres -qc 'select 1' >/dev/null 2>&1 || die "postgres does not answer"
}

# start_capture NAME [WATCH-FLAG...]: from now on to stop_capture, $tmp/NAME.live has the roundtrips seen live, NAME.ledger
# their books, NAME.pcap the packets.
start_capture() {
    local name=$1
    shift
    tcpdump -i lo -s 0 -U -B 65536 -w "$tmp/$name.pcap" tcp or udp >"$tmp/tcpdump.log" 2>&1 &
    tcpdump_pid=$!
    "$WIRELAKE" watch -i lo --json --ledger "$tmp/$name.ledger" "$@" >"$tmp/$name.live" 2>"$tmp/$name.err" &
    watch_pid=$!
    pids+=("$tcpdump_pid" "$watch_pid")
    until_true 20 eval '(($(grep -c . /proc/net/packet) >= 3))' || die "the captures do not start: $(cat "$tmp/$name.err")"
    until_true 20 grep -q listening "$tmp/tcpdump.log" || die "tcpdump does not start"
    sleep 0.5
}

# stop_capture NAME: what the file gives is in $tmp/NAME.rows then. The books balance, the kernel lost nothing, and any
# number of threads makes the same rows.
stop_capture() {
    local name=$1 threads
    sleep 1
    kill -INT "$watch_pid" "$tcpdump_pid"
    wait "$watch_pid" || fail "watch ended with $?"
    wait "$tcpdump_pid" || true
    "$WIRELAKE" read "$tmp/$name.pcap" --format jsonl --ledger "$tmp/$name.file.ledger" --shards 1 >"$tmp/$name.rows"
    same "true true 0" "$(jq .balanced "$tmp/$name.ledger") $(jq .balanced "$tmp/$name.file.ledger") $(jq .frames.source_drops "$tmp/$name.ledger")" \
        "$name: the books of both balance, the kernel lost nothing"
    for threads in 2 8; do
        "$WIRELAKE" read "$tmp/$name.pcap" --format jsonl --shards "$threads" >"$tmp/$name.threads"
        same_files "$tmp/$name.rows" "$tmp/$name.threads" "$name: $threads threads make the same rows"
    done
}

# compare_rows NAME EXPECTED JQ WORDS: EXPECTED is a file of tallied lines; the filter makes such a line of a roundtrip, or none.
compare_rows() {
    local name=$1 expected=$2 filter=$3 words=$4 kind
    for kind in live rows; do
        jq -r "$filter" "$tmp/$name.$kind" | tally >"$tmp/$name.$kind.tally"
        same_files "$expected" "$tmp/$name.$kind.tally" "$name, ${kind/rows/file}: $words"
    done
}

# all_named NAME PORT PROTOCOL...: every roundtrip of that server has one of these protocols, without a rule that says so.
all_named() {
    local name=$1 port=$2 kind found
    shift 2
    for kind in live rows; do
        found=$(jq -r "select(.server_port == $port or .client_port == $port) | .protocol" "$tmp/$name.$kind" | sort -u | xargs)
        same "$*" "$found" "$name, ${kind/rows/file}: port $port is named without a rule"
    done
}

# witness NAME PORT=PROTOCOL... -- TSHARK-FLAG...: packets of the capture as tshark shows them; of a field that occurs more
# than once in a packet all values, after each other with \037 between. Two CPUs may have recorded segments out of order.
witness() {
    local name=$1
    local -a as=()
    shift
    while [[ $1 != -- ]]; do
        as+=(-d "$1")
        shift
    done
    shift
    tshark -r "$tmp/$name.pcap" -o tcp.reassemble_out_of_order:TRUE "${as[@]}" "$@" -T fields -E occurrence=a -E aggregator=$'\037' 2>>"$tmp/tshark.log"
}

# compare_witness NAME FOUND JQ WORDS: FOUND is what the witness counted, lines that are tallied here.
compare_witness() {
    local name=$1 found=$2 filter=$3 words=$4
    tally <"$found" >"$found.tally"
    jq -r "$filter" "$tmp/$name.rows" | tally >"$tmp/$name.compared"
    same_files "$found.tally" "$tmp/$name.compared" "$name: $words as tshark counts them"
}
