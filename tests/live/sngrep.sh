#!/usr/bin/env bash
# sngrep mirrors SIPp's calls on loopback to wirelake; what wirelake then finds, draws and exports must be what tshark saw.
# sngrep passes on the kernel's time stamps, so that even the microseconds agree.
# shellcheck source=tests/live/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need sngrep sipp tshark mergecap jq curl
need_capture
((EUID == 0)) || skip "sngrep captures for root only"
bounded 85

calls=20
free_port && callee=$port
free_port && caller=$port
write_users

start_wirelake
start_witness "udp port $callee"
(cd "$tmp" && exec sngrep -F -c -N -q -d lo -H "udp:127.0.0.1:$hep_udp" "" "udp port $callee" >sngrep.log 2>&1 </dev/null) &
pids+=($!)
sngrep_pid=$!
# It says nothing when it is ready: a packet socket beside tshark's shows it.
until_true 20 eval '(($(grep -c . /proc/net/packet) >= 3))' || die "sngrep does not capture"
sleep 0.5

start_callee 127.0.0.1 "$callee" "$calls"
call_callee 127.0.0.1 "$caller" "127.0.0.1:$callee" "$calls" sngrep
stop_witness
kill -0 "$sngrep_pid" 2>/dev/null || die "sngrep ended: $(cat "$tmp/sngrep.log")"

sip_rows "$tmp/witness.pcapng" "$callee" >"$tmp/seen"
n=$(grep -c . "$tmp/seen" || true)
same "$calls" "$(cut -f 2 "$tmp/seen" | sort -u | grep -c .)" "tshark saw every call, $n messages in all"
until_true 10 rows_are "$n" || true
as_found <"$tmp/seen" >"$tmp/expected"
search_cli "$tmp/found"
same_files "$tmp/expected" "$tmp/found" "all messages found: Call-ID, method or status, ends, transport, time to the microsecond"
all_found "$tmp/seen" "before files are written"
books_balance "$n" "after $calls calls"

# Method, code, state of calls.
"$WIRELAKE" search --by call --limit 1000 --format json |
    jq -r '.[] | "\(.call_id)\t\(.messages)\t\(.method)\t\(.code)\t\(.from_user)\t\(.to_user)"' | sort >"$tmp/calls_found"
awk -F '\t' -v OFS='\t' '
    !($2 in n) { from[$2] = $7; to[$2] = $8 }
    { n[$2]++ }
    $3 ~ /^[2-6][0-9][0-9] INVITE$/ { code[$2] = substr($3, 1, 3) }
    END { for (id in n) print id, n[id], "INVITE", code[id], from[id], to[id] }' "$tmp/seen" | sort >"$tmp/calls_expected"
same_files "$tmp/calls_expected" "$tmp/calls_found" "search by call: messages, outcome, from and to of each call"
same "200 486 487" "$(cut -f 4 "$tmp/calls_found" | sort -u | xargs)" "calls that were answered, rejected and given up are among them"

# Ladders.
while read -r id; do
    awk -F '\t' -v id="$id" -v caller=":$caller" '$2 == id { print $3, $4 ~ caller "$" ? "right" : "left" }' "$tmp/seen" >>"$tmp/ladders_expected"
    ladder_rows "$id" >>"$tmp/ladders_found"
done < <(cut -f 2 "$tmp/seen" | sort -u)
same_files "$tmp/ladders_expected" "$tmp/ladders_found" "the ladder of each call shows the same messages in the same order and direction"

# Captures.
export_calls "$tmp/seen" "$tmp/exports"
mergecap -w "$tmp/exports.pcapng" "$tmp"/exports/*.pcap
sip_rows "$tmp/exports.pcapng" "$callee" >"$tmp/exported"
same_files "$tmp/seen" "$tmp/exported" "read back by tshark, they hold the same bytes, ends and times"
sound "$tmp/exports.pcapng" "$callee" >"$tmp/unsound"
same_files /dev/null "$tmp/unsound" "no packet is malformed, every IP and UDP checksum is right"
first=$(cut -f 2 "$tmp/seen" | sort -u | head -n 1)
awk -F '\t' -v id="$first" '$2 == id' "$tmp/seen" >"$tmp/one_expected"
sip_rows "$tmp/exports/1.pcap" "$callee" >"$tmp/one_found"
same_files "$tmp/one_expected" "$tmp/one_found" "an export holds its own call and no other"

# Everything is still there after a restart, now from files.
kill -TERM "$sngrep_pid" 2>/dev/null || true
stop_wirelake
start_wirelake
all_found "$tmp/seen" "after SIGTERM and a restart"
same "0 $n" "$(curl -fsS "$WIRELAKE_SERVER/api/tables" | jq -r '.[] | select(.name == "sip") | "\(.hot_rows) \(.rows)"')" "all $n rows are in files"
stop_wirelake
same "$n" "$("$WIRELAKE" sql --data "$tmp/lake" --format json 'SELECT count(*) AS n FROM sip' | jq -r '.[0].n')" "without a server, the files answer alike"

finish
