#!/usr/bin/env bash
# SIP with its media: SIPp calls SIPp over UDP and over TCP, and both sides play RTP to the ports that their SDP announces.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/wire.sh"

need sipp editcap
bounded 300
audio=/usr/share/sip-tester/g711a.pcap
[[ -f $audio ]] || skip "$audio is missing"
# Sixty packets of 30 ms, three of them left out.
editcap -r "$audio" "$tmp/audio.pcap" 1-20 22-40 43-60
write_users
# The scenarios of the other tests, with a media port for each call and two seconds of sound once it is answered.
play='<nop><action><exec play_pcap_audio="audio.pcap"/></action></nop>'
sed "s|\[media_port\]|[auto_media_port]|; s|<pause milliseconds=\"400\"/>|$play<pause milliseconds=\"2300\"/>|" "$here/sip/uac.xml" >"$tmp/uac.xml"
sed "s|\[media_port\]|[auto_media_port]|; s|<recv request=\"ACK\"/>|&$play|" "$here/sip/uas.xml" >"$tmp/uas.xml"
grep -q play_pcap "$tmp/uac.xml" && grep -q play_pcap "$tmp/uas.xml" || die "the scenarios are not what this test takes them for"
calls=12

# talk TRANSPORT PORT MEDIA: a round of calls; every sixth is rejected, every sixth given up.
talk() {
    local transport=$1 port=$2 media=$3
    (cd "$tmp" && exec sipp -sf uas.xml -i 127.0.0.1 -p "$port" -mp "$((media + 1000))" -t "$transport" -m "$calls" -timeout 60s -nostdin >"callee.$port.log" 2>&1) &
    local callee=$!
    pids+=("$callee")
    sleep 0.5
    (cd "$tmp" && timeout 40 sipp -sf uac.xml -inf users.csv -i 127.0.0.1 -p "$((port + 1))" -mp "$media" -t "$transport" -m "$calls" -r 10 \
        -timeout 30s -timeout_error -nostdin "127.0.0.1:$port" >"caller.$port.log" 2>&1) || fail "SIPp over $transport ends with $?: $(tail -n 5 "$tmp/caller.$port.log")"
    kill "$callee" 2>/dev/null || true
}

# What becomes of twelve calls: eight are answered, two rejected, two given up. An ACK is a message of its own where the
# call was answered, otherwise it belongs to the INVITE.
for transport in udp tcp; do
    for line in '8 INVITE 200' '8 ACK one_way' '8 BYE 200' '2 INVITE 486' '2 INVITE 487' '2 CANCEL 200'; do
        read -r times what <<<"$line"
        for ((i = 0; i < times; i++)); do echo "$transport sip $what"; done
    done
done | tally >"$tmp/calls.tally"
# Of each call answered, a stream either way.
for media in 22000 24000; do
    for call in 0 3 4 5 6 9 10 11; do
        here_port=$((media + 4 * call))
        printf '%s\n' "$here_port $((here_port + 1000)) 57 3" "$((here_port + 1000)) $here_port 57 3"
    done
done | sort >"$tmp/streams"

stream='select(.operation == "RTP stream") | (if .direction == "to_server" then [.client_port, .server_port] else [.server_port, .client_port] end + [.attributes["rtp.packets"], .attributes["rtp.lost"]] | map(tostring) | join(" "))'
measured='select(.operation == "RTP stream") | "\(if .direction == "to_server" then .client_port else .server_port end) \(.attributes["rtp.packets"]) \(.attributes["rtp.lost"]) \(.attributes["rtp.max_delta_ms"]) \(.attributes["rtp.max_jitter_ms"])"'
for mtu in "${mtus[@]}"; do
    set_mtu "$mtu"
    start_capture "$mtu"
    talk u1 15070 22000
    talk t1 15170 24000
    stop_capture "$mtu"
    compare_rows "$mtu" "$tmp/calls.tally" 'select(.protocol == "sip") | "\(.transport) sip \(.operation) \(.status_code // .outcome)"' "what became of $((2 * calls)) calls"
    for kind in live rows; do
        jq -r "$stream" "$tmp/$mtu.$kind" | sort >"$tmp/$mtu.found"
        same_files "$tmp/streams" "$tmp/$mtu.found" "$mtu, ${kind/rows/file}: streams of the ports that the calls announced, with their losses"
    done
    all_named "$mtu" 15070 sip
    all_named "$mtu" 15170 sip
    # Ports, packets, losses, largest delta and jitter of each stream; SIPp also sends single packets out of port 0.
    tshark -r "$tmp/$mtu.pcap" -d tcp.port==15170,sip -d udp.port==15070,sip -q -z rtp,streams 2>>"$tmp/tshark.log" |
        awk '$3 ~ /^127\./ && $4 != 0 { print $4, $9, $10, $14, $17 }' >"$tmp/measured"
    compare_witness "$mtu" "$tmp/measured" "$measured" "losses, deltas and jitter"
    sip_rows "$tmp/$mtu.pcap" 15070 15170 | awk -F '\t' '{ split($3, what, " "); if (what[1] ~ /^[2-6]/) print what[2], what[1] }' | tally >"$tmp/answers.tally"
    jq -r 'select(.protocol == "sip" and .status_code) | "\(.operation) \(.status_code)"' "$tmp/$mtu.rows" | tally >"$tmp/found"
    same_files "$tmp/answers.tally" "$tmp/found" "$mtu: final answers as tshark sees them"
done
finish
