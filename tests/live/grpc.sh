#!/usr/bin/env bash
# gRPC: grpc-go against itself, every kind of call, several streams at a time, two connections.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/wire.sh"

need go
bounded 300
peer=$tmp/grpc.bin
(cd "$here/grpc" && CGO_ENABLED=0 go build -o "$peer" .) >"$tmp/go.log" 2>&1 || absent "the gRPC peers cannot be built: $(tail -n 1 "$tmp/go.log")"
"$peer" serve 127.0.0.1:17443 &
pids+=($!)
until_true 10 listens 17443 || die "the server does not listen"

call='select(.protocol == "grpc") | "\(.operation) \(.status_code // .outcome) \(.attributes["rpc.request.messages"] // 0) \(.attributes["rpc.response.messages"] // 0)"'
for mtu in "${mtus[@]}"; do
    set_mtu "$mtu"
    start_capture "$mtu"
    timeout 30 "$peer" talk 127.0.0.1:17443 >"$tmp/calls" || fail "the client ended with $?"
    stop_capture "$mtu"
    tally <"$tmp/calls" >"$tmp/calls.tally"
    compare_rows "$mtu" "$tmp/calls.tally" "$call" "$(count <"$tmp/calls") calls: method, code, messages each way as the client counted"
    all_named "$mtu" 17443 grpc
    # What tshark sees of it: the paths that were asked for, and the statuses that ended a stream.
    witness "$mtu" tcp.port==17443,http2 -- -Y http2.headers.path -e http2.headers.path | tr '\037' '\n' >"$tmp/paths"
    compare_witness "$mtu" "$tmp/paths" 'select(.protocol == "grpc") | "/\(.resource)"' "paths"
    witness "$mtu" tcp.port==17443,http2 -- -Y 'http2.header.name == "grpc-status"' -e http2.header.name -e http2.header.value |
        awk -F '\t' '{ n = split($1, names, "\037"); split($2, values, "\037"); for (i = 1; i <= n; i++) if (names[i] == "grpc-status") print values[i] }' >"$tmp/codes"
    compare_witness "$mtu" "$tmp/codes" 'select(.protocol == "grpc" and .status_code) | .status_code' "statuses"
    witness "$mtu" tcp.port==17443,http2 -- -Y grpc -e tcp.dstport -e grpc.message_length |
        awk -F '\t' '{ n = split($2, all, "\037"); for (i = 1; i <= n; i++) print ($1 == 17443 ? "request" : "response") }' >"$tmp/messages"
    compare_witness "$mtu" "$tmp/messages" 'select(.protocol == "grpc") | (range(.attributes["rpc.request.messages"] // 0) | "request"), (range(.attributes["rpc.response.messages"] // 0) | "response")' "messages"
done
finish
