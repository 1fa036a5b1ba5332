#!/usr/bin/env bash
# MongoDB's protocol: FerretDB 1.24 on SQLite with the official Go driver, which reports every command that it sends.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/../wire.sh"

need go
bounded 400
port=27217
(cd "$here/servers/mongodb" && CGO_ENABLED=0 go build -o "$tmp/peers" .) >"$tmp/go.log" 2>&1 ||
    skip "FerretDB or its client cannot be built: $(tail -n 1 "$tmp/go.log")"
mkdir "$tmp/ferret"
"$tmp/peers" serve "127.0.0.1:$port" "$tmp/ferret" >"$tmp/ferret.log" 2>&1 & pids+=($!)
until_true 30 listens "$port" || die "FerretDB does not listen: $(tail -n 3 "$tmp/ferret.log")"

# The driver greets by itself, and reports refused commands by the name of the error.
call='select(.protocol == "mongodb" and .operation and (.operation | IN("hello", "isMaster", "ismaster") | not)) |
    "\(.operation) \(if .outcome == "answered" then .attributes["error.type"] // .status_code // "ok" else .outcome end)"'
for mtu in "${mtus[@]}"; do
    set_mtu "$mtu"
    start_capture "$mtu"
    timeout 60 "$tmp/peers" talk "mongodb://127.0.0.1:$port/" >"$tmp/calls" 2>"$tmp/client.err" || fail "the client ends with $?: $(tail -n 2 "$tmp/client.err")"
    stop_capture "$mtu"
    tally <"$tmp/calls" >"$tmp/calls.tally"
    compare_rows "$mtu" "$tmp/calls.tally" "$call" "$(count <"$tmp/calls") commands and how they ended, as the driver reports them"
    # Its answers to writes that ask for none.
    same "5" "$(jq -r 'select(.outcome == "orphan") | .protocol' "$tmp/$mtu.rows" | count)" "$mtu: answers that nobody asked for"
    all_named "$mtu" "$port" mongodb
    witness "$mtu" "tcp.port==$port,mongo" -- -Y "mongo.opcode and tcp.dstport == $port" -e mongo.opcode | tr '\037' '\n' >"$tmp/requests"
    compare_witness "$mtu" "$tmp/requests" 'select(.protocol == "mongodb" and .operation) | if .operation == "isMaster" then "2004" else "2013" end' "requests by opcode"
done
finish
