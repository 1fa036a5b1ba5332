# Shared by the live tests; sourced, never run.
#
# A test starts the program, real SIP and HEP software, and tshark beside them as the witness: what wirelake answers is
# compared with what tshark saw on loopback, never with what the test believes was sent.

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
LC_ALL=C.UTF-8
export PATH LC_ALL

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
WIRELAKE=${WIRELAKE:-$repo/target/release/wirelake}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/wirelake-live.XXXXXX")

passed=0
failed=0
pids=()
wirelake_pid=

ok() {
    passed=$((passed + 1))
    echo "ok - $*"
}

fail() {
    failed=$((failed + 1))
    echo "FAILED - $*"
}

die() {
    echo "cannot go on: $*"
    exit 1
}

# A test that cannot run here says why and exits 77.
skip() {
    echo "$*"
    exit 77
}

# What `make tools` does not install, such as Go and its modules, may be missing everywhere: exit 78.
absent() {
    echo "$*"
    exit 78
}

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { [[ $tool != go ]] || absent "go is missing"; skip "$tool is missing"; }
    done
    [[ -x $WIRELAKE ]] || die "there is no $WIRELAKE; run make build, or set WIRELAKE"
}

# Capturing needs root, or a dumpcap that may capture.
need_capture() {
    tshark -D 2>/dev/null | grep -qE '\blo\b' || skip "tshark may not capture on lo; run as root, or: setcap cap_net_raw,cap_net_admin+ep \$(which dumpcap)"
}

cleanup() {
    local status=$? pid
    trap - EXIT INT TERM
    for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    [[ -z $wirelake_pid ]] || kill -TERM "$wirelake_pid" 2>/dev/null || true
    sleep 0.2
    for pid in "${pids[@]}" $wirelake_pid; do kill -KILL "$pid" 2>/dev/null || true; done
    if ((status != 0 && status != 77 && status != 78)); then
        echo "exit status $status; what wirelake said last:"
        tail -n 5 "$tmp/wirelake.log" 2>/dev/null || true
    fi
    if [[ -n ${KEEP:-} ]]; then echo "kept: $tmp"; else rm -rf "$tmp"; fi
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Ends the test; the last line counts.
finish() {
    echo "$passed passed, $failed failed"
    ((failed == 0)) || exit 1
    exit 0
}

# No test takes longer than this, whatever hangs.
bounded() {
    local own=$$
    (
        trap - EXIT
        sleep "$1" &
        trap 'kill $!; exit' TERM
        wait $!
        echo "not done after $1 s"
        kill -TERM "$own"
    ) &
    pids+=($!)
}

# same_files EXPECTED FOUND WORDS..., same EXPECTED FOUND WORDS...: compare two files, two words.
same_files() {
    local left=$1 right=$2
    shift 2
    if cmp -s "$left" "$right"; then
        ok "$*"
    else
        fail "$*"
        diff -u --label expected --label found "$left" "$right" | cut -c 1-200 | head -n 20 || true
    fi
}

same() {
    local left=$1 right=$2
    shift 2
    if [[ $left == "$right" ]]; then ok "$*"; else fail "$*: expected '$left', found '$right'"; fi
}

# until_true SECONDS COMMAND...: asks until the command succeeds.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# A port below the ephemeral range that no socket holds, and that was not given out before.
last_port=$((20000 + RANDOM % 10000))
free_port() {
    local hex
    while :; do
        last_port=$((last_port + 1))
        printf -v hex ':%04X' "$last_port"
        # The second field is the local address.
        awk -v hex="$hex" 'index($2, hex) { found = 1 } END { exit found }' /proc/net/{udp,udp6,tcp,tcp6} 2>/dev/null && break
    done
    port=$last_port
}

# --- wirelake -------------------------------------------------------------------------------------------------------

# start_wirelake [HEP-ADDRESS]: sets hep_udp, hep_tcp, api and WIRELAKE_SERVER. The lake is $tmp/lake.
start_wirelake() {
    local address=${1:-127.0.0.1}
    (($# == 0)) || shift
    rm -f "$tmp/ports"
    "$WIRELAKE" serve --data "$tmp/lake" --hep-udp "$address:0" --hep-tcp "$address:0" --api 127.0.0.1:0 --print-ports "$@" \
        >"$tmp/ports" 2>>"$tmp/wirelake.log" &
    wirelake_pid=$!
    until_true 20 test -s "$tmp/ports" || die "wirelake did not print its ports within 20 s"
    read -r hep_udp hep_tcp api < <(head -n 1 "$tmp/ports" | jq -r '"\(.hep_udp) \(.hep_tcp) \(.api)"')
    export WIRELAKE_SERVER=http://127.0.0.1:$api
    until_true 20 curl -fsS -m 5 -o /dev/null "$WIRELAKE_SERVER/api/health" || die "the API does not answer"
}

# SIGTERM must end it, with success, within 20 s.
stop_wirelake() {
    local status=0
    kill -TERM "$wirelake_pid"
    until_true 20 stopped "$wirelake_pid" || die "wirelake did not end within 20 s of SIGTERM"
    wait "$wirelake_pid" || status=$?
    wirelake_pid=
    same 0 "$status" "SIGTERM ends the program with success"
}

stopped() { ! kill -0 "$1" 2>/dev/null || [[ $(awk '/^State/ { print $2 }' "/proc/$1/status" 2>/dev/null) == Z ]]; }

# rows_are N: whether the store has taken N rows and SQL sees them.
rows_are() {
    [[ $(curl -fsS -m 10 "$WIRELAKE_SERVER/api/sql" -H 'content-type: application/json' \
        -d '{"query":"SELECT count(*) AS n FROM sip"}' | jq -r '.rows[0].n') == "$1" ]]
}

# What both forms of search print, one row a line: time, Call-ID, method or code and method, ends, transport.
rows_of_json='.[] | [
    ((.ts[0:19] + "Z" | fromdate | tostring) + "." + .ts[20:26]),
    .call_id,
    (if .is_request then .method else "\(.code) \(.method)" end),
    "\(.src_ip):\(.src_port)", "\(.dst_ip):\(.dst_port)", .transport] | @tsv'

# search_cli FILE FLAG...; search_rest FILE KEY=VALUE...
search_cli() {
    local file=$1
    shift
    "$WIRELAKE" search --limit 10000 --format json "$@" | jq -r "$rows_of_json" | sort >"$file"
}
search_rest() {
    local file=$1 pair
    local -a query=()
    shift
    for pair in "$@"; do query+=(--data-urlencode "$pair"); done
    curl -fsS -m 20 -G "$WIRELAKE_SERVER/api/search" -d limit=10000 "${query[@]}" | jq -r ".rows | $rows_of_json" | sort >"$file"
}

# books_balance N WORDS: the ledger balances, and N messages are N rows, none lost.
books_balance() {
    local words=$2
    curl -fsS -m 10 "$WIRELAKE_SERVER/api/ledger" >"$tmp/ledger.json"
    same "true $1 $1 0 true" "$(jq -r '"\(.balanced) \(.in.total) \(.out.sip) \(.drops_total) \(all(.checks[]; .ok))"' "$tmp/ledger.json")" \
        "$words: the ledger balances: $1 in, $1 rows, none lost"
}

# --- the witness ----------------------------------------------------------------------------------------------------

# start_witness FILTER: tshark writes what it sees on lo to $tmp/witness.pcapng.
start_witness() {
    tshark -q -i lo -B 16 -f "$1" -w "$tmp/witness.pcapng" >"$tmp/witness.log" 2>&1 &
    witness_pid=$!
    pids+=("$witness_pid")
    until_true 20 grep -qs 'Capture started\|Capturing on' "$tmp/witness.log" || die "tshark does not capture: $(tail -n 1 "$tmp/witness.log")"
    until_true 20 test -s "$tmp/witness.pcapng" || die "tshark wrote no file"
}

stop_witness() {
    sleep 0.5
    kill -INT "$witness_pid"
    until_true 20 stopped "$witness_pid" || die "tshark did not end"
    ! grep -qE '[1-9][0-9]* packets? dropped' "$tmp/witness.log" || die "tshark lost packets itself: $(tail -n 1 "$tmp/witness.log")"
}

# sip_rows CAPTURE PORT...: the SIP messages of a capture file as tshark reads them, one a line, tab-separated:
# time in µs, Call-ID, method or code and method, source, destination, transport, From user, To user, bytes in hex.
sip_rows() {
    local file=$1 p
    local -a as_sip=()
    shift
    for p in "$@"; do as_sip+=(-d "udp.port==$p,sip" -d "tcp.port==$p,sip"); done
    tshark -r "$file" "${as_sip[@]}" -Y 'sip && !icmp && !icmpv6' -T fields -E occurrence=a -E 'aggregator=;' \
        -e frame.time_epoch -e sip.Call-ID -e sip.Method -e sip.Status-Code -e sip.CSeq.method \
        -e ip.src -e ipv6.src -e ip.dst -e ipv6.dst -e udp.srcport -e udp.dstport -e tcp.srcport -e tcp.dstport \
        -e sip.from.user -e sip.to.user -e udp.payload -e tcp.payload 2>>"$tmp/tshark.log" |
        awk -F '\t' -v OFS='\t' '{
            if ($2 ~ /;/) { print "two messages in one segment: " $2 > "/dev/stderr"; exit 1 }
            split($1, t, ".")
            what = $4 == "" ? $3 : $4 " " $5
            udp = $10 != ""
            print t[1] "." substr(t[2] "000000", 1, 6), $2, what, $6 $7 ":" (udp ? $10 : $12), $8 $9 ":" (udp ? $11 : $13), \
                (udp ? "udp" : "tcp"), $14, $15, $16 $17
        }' | sort
}

# sound CAPTURE PORT...: prints what is wrong with a capture file: malformed packets, bad checksums, TCP that does not add up.
sound() {
    local file=$1 p
    local -a as_sip=()
    shift
    for p in "$@"; do as_sip+=(-d "udp.port==$p,sip" -d "tcp.port==$p,sip"); done
    tshark -r "$file" "${as_sip[@]}" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE \
        -T fields -e frame.number -e _ws.malformed -e ip.version -e ip.checksum.status -e udp.checksum.status -e tcp.checksum.status \
        -e tcp.analysis.flags -e _ws.col.Info 2>>"$tmp/tshark.log" |
        awk -F '\t' '
            $2 != "" { print "malformed: " $0 }
            $3 == 4 && $4 != 1 { print "IP checksum: " $0 }
            $5 $6 != 1 { print "UDP or TCP checksum: " $0 }
            $7 != "" { print "TCP sequence: " $0 }'
}

# --- SIPp -----------------------------------------------------------------------------------------------------------

# Six callers and callees: most calls are answered, one in six is rejected, one in six is given up while it rings.
write_users() {
    cat >"$tmp/users.csv" <<'CSV'
SEQUENTIAL
alice;bob;answer
carol;busy;answer
dave;nobody;cancel
alice;erin;answer
+4930123456;bob;answer
frank;erin;answer
CSV
}

# start_callee ADDRESS PORT CALLS [FLAG...]
start_callee() {
    local address=$1 port=$2 calls=$3
    shift 3
    (cd "$tmp" && exec sipp -sf "$here/sip/uas.xml" -i "$address" -p "$port" -m "$calls" -timeout 60s -nostdin "$@" >callee.log 2>&1) &
    callee_pid=$!
    pids+=("$callee_pid")
    local hex
    printf -v hex ':%04X' "$port"
    until_true 10 grep -qi "$hex" /proc/net/udp /proc/net/udp6 /proc/net/tcp /proc/net/tcp6 || die "SIPp does not listen on $port"
}

# call_callee FROM-ADDRESS FROM-PORT TO CALLS PREFIX [FLAG...]: makes the calls; each Call-ID begins with PREFIX.
call_callee() {
    local address=$1 port=$2 to=$3 calls=$4 prefix=$5 status=0
    shift 5
    (cd "$tmp" && exec timeout 40 sipp -sf "$here/sip/uac.xml" -inf users.csv -i "$address" -p "$port" -m "$calls" -r 10 \
        -cid_str "$prefix-%u-%p@%s" -timeout 30s -timeout_error -nostdin "$@" "$to" >caller.log 2>&1) || status=$?
    same 0 "$status" "$prefix: SIPp completes $calls calls"
    ((status == 0)) || tail -n 40 "$tmp/caller.log"
}

# --- Kamailio -------------------------------------------------------------------------------------------------------

# start_kamailio ADDRESS PORT CALLEE-URI HEP-VERSION NODE HEP-URI [FLAG...]
start_kamailio() {
    local hex
    sed -e "s|@ADDRESS@|$1|; s|@PORT@|$2|; s|@CALLEE@|$3|; s|@HEP@|$4|; s|@NODE@|$5|; s|@TO@|$6|" \
        "$here/kamailio.cfg" >"$tmp/kamailio.cfg"
    printf -v hex ':%04X' "$2"
    shift 6
    mkdir -p "$tmp/kamailio"
    kamailio -f "$tmp/kamailio.cfg" -P "$tmp/kamailio/pid" -Y "$tmp/kamailio" -m 32 -M 4 -DD -E "$@" >"$tmp/kamailio.log" 2>&1 &
    kamailio_pid=$!
    pids+=("$kamailio_pid")
    until_true 10 grep -qi "$hex" /proc/net/tcp /proc/net/tcp6 || die "Kamailio does not listen: $(tail -n 3 "$tmp/kamailio.log")"
}

# What siptrace could not send is a fault of the test, not of wirelake.
stop_kamailio() {
    sleep 0.3
    kill -TERM "$kamailio_pid"
    until_true 10 stopped "$kamailio_pid" || die "Kamailio did not end"
    ! grep -q 'ERROR: siptrace' "$tmp/kamailio.log" || die "$(grep -m 1 'ERROR: siptrace' "$tmp/kamailio.log")"
}

# --- questions ------------------------------------------------------------------------------------------------------

# Columns of the witness's rows that wirelake's search prints, too.
as_found() { cut -f 1-6; }

# all_found WITNESS-ROWS WORDS: every question about every call of the witness is answered with what the witness has,
# by the command and by REST alike.
all_found() {
    local rows=$1 words=$2 id user first last count=0 wrong=0
    mkdir -p "$tmp/asked"
    while read -r id; do
        awk -F '\t' -v id="$id" '$2 == id' "$rows" >"$tmp/asked/of_call"
        as_found <"$tmp/asked/of_call" >"$tmp/asked/expected"
        ask "call_id=$id" --call-id "$id"
        # The span of the call holds messages of other calls, too.
        first=$(head -n 1 "$tmp/asked/of_call" | cut -f 1)
        last=$(tail -n 1 "$tmp/asked/of_call" | cut -f 1)
        awk -F '\t' -v first="$first" -v last="$last" '$1 "" >= first && $1 "" <= last' "$rows" | as_found >"$tmp/asked/expected"
        first=$(rfc3339 "$first") last=$(rfc3339 "$last")
        ask "since=$first until=$last" --since "$first" --until "$last"
    done < <(cut -f 2 "$rows" | sort -u)
    while read -r user; do
        awk -F '\t' -v user="$user" '$7 == user' "$rows" | as_found >"$tmp/asked/expected"
        ask "from=$user" --from "$user"
    done < <(cut -f 7 "$rows" | sort -u)
    while read -r user; do
        awk -F '\t' -v user="$user" '$8 == user' "$rows" | as_found >"$tmp/asked/expected"
        ask "to=$user" --to "$user"
    done < <(cut -f 8 "$rows" | sort -u)
    same 0 "$wrong" "$words: $count questions (Call-ID, time range, from, to), each by command and by REST, answered as tshark has it"
}

# ask "KEY=VALUE ..." FLAG...: both forms of one question. Counts in the variables of all_found.
ask() {
    local by query=$1
    shift
    # shellcheck disable=SC2086
    search_rest "$tmp/asked/rest" $query
    search_cli "$tmp/asked/cli" "$@"
    for by in cli rest; do
        count=$((count + 1))
        cmp -s "$tmp/asked/expected" "$tmp/asked/$by" && continue
        wrong=$((wrong + 1))
        ((wrong > 3)) || { echo "by $by, $query:"; diff "$tmp/asked/expected" "$tmp/asked/$by" | head -n 6 || true; }
    done
}

rfc3339() { echo "$(date -u -d "@${1%.*}" +%Y-%m-%dT%H:%M:%S).${1#*.}Z"; }

# ladder_rows ID: the arrows of the text ladder, one a line: method or code and method, and the direction.
# A long reason phrase pushes the method out of sight; then only the code is printed.
ladder_rows() {
    "$WIRELAKE" call "$1" --ascii --width 200 | awk '
        /^\+[0-9]+\.[0-9]+ / {
            to = /<-/ ? "left" : "right"
            sub(/^\+[0-9.]+ +/, "")
            gsub(/^[| <-]+|[| >-]+$/, "")
            if (match($0, /^[0-9][0-9][0-9] /)) {
                code = substr($0, 1, 3)
                method = match($0, /\([A-Z]+[,)]/) ? " " substr($0, RSTART + 1, RLENGTH - 2) : ""
                print code method, to
            } else print $1, to
        }'
}

# export_calls WITNESS-ROWS FOLDER: writes each call as a capture file, by command; REST must give the same bytes.
export_calls() {
    local rows=$1 folder=$2 id n=0 wrong=0
    mkdir -p "$folder"
    while read -r id; do
        n=$((n + 1))
        "$WIRELAKE" call "$id" --pcap "$folder/$n.pcap" >"$tmp/export.log" 2>&1
        curl -fsS -m 20 -o "$tmp/rest.pcap" "$WIRELAKE_SERVER/api/calls/$(jq -rn --arg id "$id" '$id | @uri')/pcap"
        cmp -s "$folder/$n.pcap" "$tmp/rest.pcap" || wrong=$((wrong + 1))
    done < <(cut -f 2 "$rows" | sort -u)
    same 0 "$wrong" "$n calls exported as PCAP; the command and REST give the same bytes"
}
