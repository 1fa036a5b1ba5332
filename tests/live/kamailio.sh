#!/usr/bin/env bash
# Kamailio proxies SIPp's calls and mirrors them with siptrace: HEP 1, 2 and 3, over UDP and TCP, of SIP over UDP and TCP,
# IPv4 and IPv6. What wirelake then finds, draws and exports must be what tshark saw.
# Kamailio stamps a message when it handles it, so times agree with the wire to within a second, not to the microsecond.
# shellcheck source=tests/live/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need kamailio sipp tshark mergecap jq curl
need_capture
compgen -G '/usr/lib/*/kamailio/modules/siptrace.so' >/dev/null || skip "Kamailio's module siptrace is missing"
bounded 85

# Name, SIP's transport and address, HEP's version and transport, calls.
runs=(
    "a4 udp 127.0.0.1 3 udp 6"
    "b4 tcp 127.0.0.1 3 tcp 4"
    "c4 tcp 127.0.0.1 3 udp 3"
    "d4 udp 127.0.0.1 2 udp 3"
    "e4 udp 127.0.0.1 1 udp 3"
    "f6 udp [::1] 3 udp 3"
    "g6 tcp [::1] 3 tcp 3"
    "h6 udp [::1] 2 udp 3"
)
if ! grep -q '^0\{31\}1 ' /proc/net/if_inet6 2>/dev/null; then
    echo "there is no ::1 here: the runs over IPv6 are left out"
    runs=("${runs[@]:0:5}")
fi

ports=()
filter=
for run in "${runs[@]}"; do
    for end in caller proxy callee; do
        free_port
        ports+=("$port")
        filter+="${filter:+ or }port $port"
    done
done
write_users
start_wirelake '[::]'
start_witness "$filter"

logs=0
node=2000
expected_agents=
for i in "${!runs[@]}"; do
    read -r name transport address hep hep_transport calls <<<"${runs[i]}"
    caller=${ports[3 * i]} proxy=${ports[3 * i + 1]} callee=${ports[3 * i + 2]}
    node=$((node + 1))
    hep_port=$hep_udp mode=u1
    [[ $hep_transport == udp ]] || hep_port=$hep_tcp
    [[ $transport == udp ]] || mode=t1
    define=()
    if ((hep == 3)); then
        define=(-A WITH_LOG)
        logs=$((logs + calls))
    fi
    start_kamailio "$address" "$proxy" "sip:$address:$callee;transport=$transport" "$hep" "$node" \
        "sip:$address:$hep_port;transport=$hep_transport" "${define[@]}"
    start_callee "${address//[\[\]]/}" "$callee" "$calls" -t "$mode"
    call_callee "${address//[\[\]]/}" "$caller" "$address:$proxy" "$calls" "$name" -t "$mode"
    stop_kamailio
    ((hep > 1)) && id=$node || id=null
    expected_agents+="$name $id $hep $transport $calls"$'\n'
done
stop_witness

# Kamailio names its listening port where it sends over a connection of its own; the wire has an ephemeral one.
listening=""
for i in "${!runs[@]}"; do listening+="${ports[3 * i + 2]}=${ports[3 * i + 1]} "; done
sip_rows "$tmp/witness.pcapng" "${ports[@]}" | awk -F '\t' -v OFS='\t' -v listening="$listening" '
    BEGIN { n = split(listening, pairs, " "); for (i = 1; i <= n; i++) { split(pairs[i], p, "="); proxy[p[1]] = p[2] } }
    { to = $5; sub(/.*:/, "", to) }
    $6 == "tcp" && to in proxy { sub(/:[0-9]+$/, ":" proxy[to], $4) }
    { print }' >"$tmp/seen"
n=$(grep -c . "$tmp/seen" || true)
until_true 10 rows_are "$n" || true

# Each message once; then the witness's rows with Kamailio's times in them serve as what is expected.
search_cli "$tmp/found"
by_message=(sort -t $'\t' -k 2,6 -k 1,1)
"${by_message[@]}" "$tmp/seen" >"$tmp/seen_by_message"
"${by_message[@]}" "$tmp/found" >"$tmp/found_by_message"
cut -f 2-6 "$tmp/seen_by_message" >"$tmp/expected"
cut -f 2-6 "$tmp/found_by_message" >"$tmp/actual"
same_files "$tmp/expected" "$tmp/actual" "all $n messages found once: Call-ID, method or status, ends, transport"
cmp -s "$tmp/expected" "$tmp/actual" || finish
paste <(cut -f 1 "$tmp/found_by_message") <(cut -f 2- "$tmp/seen_by_message") | sort >"$tmp/stamped"
late=$(paste <(cut -f 1 "$tmp/seen_by_message") <(cut -f 1 "$tmp/found_by_message") | awk '
    { d = $2 - $1; if (d < 0) d = -d; if (d > max) max = d } END { printf "%d\n", max * 1000 + 0.5 }')
if ((late < 1000)); then ok "times agree with the wire to within $late ms"; else fail "a time is $late ms off the wire"; fi

all_found "$tmp/stamped" "before files are written"

# In each direction of each call, the order is the wire's. HEP 1 has no time, so that what arrives together has no order.
in_order() { grep -v $'\te4-' "$1" | sort -t $'\t' -k 2,2 -k 4,5 -k 1,1 -s | cut -f 2-5; }
in_order "$tmp/seen" >"$tmp/expected"
in_order "$tmp/stamped" >"$tmp/actual"
same_files "$tmp/expected" "$tmp/actual" "the order in each direction is the wire's"

"$WIRELAKE" sql --format json "SELECT split_part(call_id, '-', 1) AS run, node_id, hep_version, transport, count(DISTINCT call_id) AS calls
    FROM sip GROUP BY ALL ORDER BY run" | jq -r '.[] | "\(.run) \(.node_id) \(.hep_version) \(.transport) \(.calls)"' >"$tmp/agents"
same_files <(printf %s "$expected_agents") "$tmp/agents" "each row names its capture agent, HEP version and transport"

"$WIRELAKE" sql --format json "SELECT cid, payload, proto, node_id FROM hep ORDER BY cid" |
    jq -r '.[] | "\(.cid) \(.proto) \(.payload)"' | sort >"$tmp/logs"
awk -F '\t' '$2 !~ /^[deh]/ && !($2 in done) { done[$2]; print $2 " log a call from " $7 " to " $8 }' "$tmp/seen" | sort >"$tmp/logs_expected"
same_files "$tmp/logs_expected" "$tmp/logs" "$logs log lines of hlog() are rows of hep, with the Call-ID as correlation id"

curl -fsS -m 10 "$WIRELAKE_SERVER/api/ledger" >"$tmp/ledger.json"
over_tcp=$(awk -F '\t' '$2 ~ /^[bg]/' "$tmp/seen" | grep -c . || true)
for run in "${runs[@]}"; do
    read -r name transport address hep hep_transport calls <<<"$run"
    [[ $hep_transport == udp ]] || over_tcp=$((over_tcp + calls))
done
same "true $((n + logs - over_tcp)) $over_tcp $n $logs 0" \
    "$(jq -r '"\(.balanced) \(.in.hep_udp) \(.in.hep_tcp) \(.out.sip) \(.out.hep) \(.drops_total)"' "$tmp/ledger.json")" \
    "the ledger balances: $((n + logs - over_tcp)) in over UDP, $over_tcp over TCP, $n rows of sip, $logs of hep, none lost"

# Ladders.
while read -r id; do
    awk -F '\t' -v id="$id" '$2 == id { split($3, w, " "); print $2, w[1] }' "$tmp/stamped" >>"$tmp/ladders_expected"
    ladder_rows "$id" | awk -v id="$id" '{ print id, $1 }' >>"$tmp/ladders_found"
done < <(cut -f 2 "$tmp/stamped" | grep -v '^e4-' | sort -u)
same_files "$tmp/ladders_expected" "$tmp/ladders_found" "the ladder of each call shows the same messages in the same order"

# Captures. Calls over one TCP connection are read one by one: each export numbers the stream by itself.
export_calls "$tmp/stamped" "$tmp/exports"
one=0
of_udp=()
: >"$tmp/exported"
: >"$tmp/unsound"
while read -r id; do
    one=$((one + 1))
    if [[ $(awk -F '\t' -v id="$id" '$2 == id { print $6; exit }' "$tmp/stamped") == udp ]]; then
        of_udp+=("$tmp/exports/$one.pcap")
    else
        sip_rows "$tmp/exports/$one.pcap" "${ports[@]}" >>"$tmp/exported"
        sound "$tmp/exports/$one.pcap" "${ports[@]}" >>"$tmp/unsound"
    fi
done < <(cut -f 2 "$tmp/stamped" | sort -u)
mergecap -w "$tmp/exports.pcapng" "${of_udp[@]}"
sip_rows "$tmp/exports.pcapng" "${ports[@]}" >>"$tmp/exported"
sound "$tmp/exports.pcapng" "${ports[@]}" >>"$tmp/unsound"
sort -o "$tmp/exported" "$tmp/exported"
same_files "$tmp/stamped" "$tmp/exported" "read back by tshark, they hold the bytes that were on the wire, as UDP or TCP, IPv4 or IPv6"
same_files /dev/null "$tmp/unsound" "no packet is malformed, every checksum is right, every TCP stream adds up"

# Everything is still there after a restart, now from files.
stop_wirelake
start_wirelake '[::]'
search_cli "$tmp/again"
same_files "$tmp/found" "$tmp/again" "after SIGTERM and a restart the same is found"
stop_wirelake

finish
