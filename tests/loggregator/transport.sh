#!/usr/bin/env bash
# The transport against go-loggregator: its generated server behind grpc-go, and its IngressClient.
#
# Usage: tests/loggregator/transport.sh [SCENARIO…]; needs go, openssl, curl and python3. TRANSPORT names a built example
# `transport` of the crate loggregator; without it cargo builds one. N is how many envelopes a scenario sends.
set -euo pipefail
cd "$(dirname "$0")/../.."
N=${N:-200000}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

(cd tests/loggregator/receiver && go build -o "$work/receiver" . && go build -o "$work/client" ./client)
if [[ -z ${TRANSPORT:-} ]]; then
    cargo build -q --release -p loggregator --example transport
    TRANSPORT=${CARGO_TARGET_DIR:-target}/release/examples/transport
fi

# ---- Certificates ----
cd "$work"
cat >ca.conf <<'CONF'
[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
CONF
: >index
echo 01 >serial
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=ca 2>/dev/null
issue() { # FILE HOST FROM UNTIL: RSA for the server as in Cloud Foundry, ECDSA for the client
    local kind=(rsa:2048)
    [[ $1 == client ]] && kind=(ec -pkeyopt ec_paramgen_curve:prime256v1)
    openssl req -newkey "${kind[@]}" -nodes -keyout "$1.key.new" -out "$1.csr" -subj "/CN=$2" \
        -addext "subjectAltName=DNS:$2" -addext extendedKeyUsage=serverAuth,clientAuth 2>/dev/null
    openssl ca -batch -notext -config ca.conf -cert ca.crt -keyfile ca.key -startdate "$3" -enddate "$4" \
        -in "$1.csr" -out "$1.crt.new" 2>/dev/null
    mv "$1.key.new" "$1.key"; mv "$1.crt.new" "$1.crt"
}
now=(20200101000000Z 20400101000000Z) past=(20200101000000Z 20210101000000Z)
issue server metron "${now[@]}"
issue client client "${now[@]}"

# ---- Parts ----
port=$((20000 + RANDOM % 20000)) control=$((port + 1)) relay=$((port + 2))
receiver() { # FURTHER FLAGS
    ./receiver -listen "127.0.0.1:$port" -control "127.0.0.1:$control" -ca ca.crt -cert server.crt -key server.key "$@" 2>>receiver.log &
    receiver=$!
    for _ in {1..600}; do curl -sf "127.0.0.1:$control/counts" >/dev/null && return; sleep 0.1; done
    echo "the receiver did not start" >&2; exit 1
}
tell() { curl -sf -X POST "127.0.0.1:$control/$1" >/dev/null || true; }
receiver=
gone() { [[ -z $receiver ]] || { kill -9 "$receiver"; wait "$receiver"; } 2>/dev/null || true; }
start() { "$TRANSPORT" send "to=127.0.0.1:$port" count="$N" stop=120 "$@" >sent.json 2>>transport.log & sender=$!; }
send() { start "$@"; wait "$sender"; }
# check SCENARIO EXPRESSION: a Python expression over s, the books of the sender, and r, the receiver's total.
check() {
    curl -sf "127.0.0.1:$control/counts" >counts.json
    python3 - "$1" "$2" "$N" <<'PY'
import json, sys
s = json.loads(open("sent.json").read().splitlines()[-1])
counts = json.load(open("counts.json"))
r, streams, N = counts["total"], counts["streams"], int(sys.argv[3])
ok = bool(eval(sys.argv[2])) and s.get("balanced", True)
print(f"{'ok    ' if ok else 'FAILED'} {sys.argv[1]}: sent {s.get('sent')}, arrived {r['distinct']} + {r['repeated']} again,"
      f" out of order {r['out_of_order']}, resent {s.get('resent')}, streams {streams},"
      f" dropped {s.get('dropped')}, ended {s.get('ended')}, {s.get('seconds')} s")
sys.exit(not ok)
PY
}
fresh() { gone; rm -f state; rm -rf spool; }
exact='r["distinct"] == N and s["sent"] == N and r["repeated"] == 0 and r["out_of_order"] == 0'
complete='r["distinct"] == N and s["sent"] == N and r["out_of_order"] == 0'

# ---- Scenarios ----
normal() { receiver; send; check normal "$exact"; }
# For longer than the receiver lets a client ping: grpc-go would end the connection with too_many_pings.
patient() { receiver -pings 5m; send rate=$((N / 20)); check patient "$exact and streams == 1"; }
away() { start policy=oldest memory=$((256 << 20)); sleep 3; receiver; wait "$sender"; check away "$exact and s['ended']['connect'] > 1"; }
disk() { start memory=$((2 << 20)) disk=spool policy=block; sleep 5; receiver; wait "$sender"; check disk "$exact"; }
slow() { local N=20000; receiver -mode slow=20; start policy=oldest memory=$((1 << 20)); wait "$sender"
    check slow 'r["distinct"] == s["sent"] and s["sent"] + s["dropped"]["queue_full"] == N and r["out_of_order"] == 0'; }
stalled() { receiver -mode stall; start; sleep 3; tell mode?take; wait "$sender"; check stalled "$exact"; }
refusing() { receiver -mode refuse=14; start; sleep 2; tell mode?refuse=12; sleep 2; tell mode?take; wait "$sender"
    check refusing "$complete and s['ended']['unavailable'] > 0 and s['ended']['unimplemented'] > 0"; }
drained() { receiver -state state; start rate=$((N / 8)); for _ in 1 2 3; do sleep 2; tell drain; wait "$receiver" || true; receiver -state state; done
    wait "$sender"; check drained "$exact"; }
# Killed while it reads: what its transport had read and its program had not is lost with it, at most the window of the
# stream each time, and nothing else.
killed() { receiver -state state; start rate=$((N / 8)); for _ in 1 2 3; do sleep 2; gone; receiver -state state; done
    wait "$sender"; check killed 'N - 3 * 64 * 1024 / 100 <= r["distinct"] <= N and s["sent"] == N and r["out_of_order"] == 0'; }
expired() { issue client client "${past[@]}"; receiver; start; sleep 3; issue client client "${now[@]}"; wait "$sender"
    check expired "$exact and s['ended']['own_certificate_expired'] > 1"; }
renewed() { issue server metron "${past[@]}"; receiver; start; sleep 3; issue server metron "${now[@]}"; wait "$sender"
    check renewed "$exact and s['ended']['peer_certificate_expired'] > 1"; }
# go-loggregator's own client -> the Ingress server -> a destination -> go-loggregator's server.
client() { receiver
    "$TRANSPORT" relay "listen=127.0.0.1:$relay" "to=127.0.0.1:$port" cert=server.crt key=server.key stop=60 >sent.json 2>>transport.log & local relaying=$!
    sleep 1; ./client -to "127.0.0.1:$relay" -ca ca.crt -cert client.crt -key client.key -count "$N" >/dev/null
    kill "$relaying"; wait "$relaying"; check client "$exact"; }

failed=0
for name in ${*:-normal patient away disk slow stalled refusing drained killed expired renewed client}; do
    fresh
    "$name" || { failed=1; tail -n 3 receiver.log transport.log; }
done
exit $failed
