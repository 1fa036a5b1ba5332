#!/usr/bin/env bash
# The udp-forwarder between Cloud Foundry's own libraries: the dropsonde client sends, go-loggregator's server receives.
#
# Every envelope is numbered within its type; the receiver tells what is missing, repeated or out of order. Compared with
# the forwarder's books, its metrics and what the kernel says of the socket. N is how many envelopes a flood has.
source "$(dirname "$0")/lib.sh"
need go openssl curl jq python3
bounded 400

N=${N:-200000}
free_port; udp=$port
free_port; agent=$port
free_port; control=$port
free_port; metrics=$port

export GOFLAGS=-mod=readonly
for part in receiver emitter; do
    (cd "$repo/tests/loggregator/$part" && go build -o "$tmp/$part" .) >"$tmp/go.log" 2>&1 ||
        absent "the Go modules of tests/loggregator cannot be had: $(tail -n 1 "$tmp/go.log")"
done
cd "$tmp"

authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=ca 2>/dev/null
    local name
    for name in metron client; do
        openssl req -newkey rsa:2048 -nodes -keyout "$name.key" -out "$name.csr" -subj "/CN=$name" 2>/dev/null
        openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out "$name.crt" \
            -extfile <(printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth' "$name") 2>/dev/null
    done
}

receiver() {
    ./receiver -listen "127.0.0.1:$agent" -control "127.0.0.1:$control" -ca ca.crt -cert metron.crt -key metron.key "$@" 2>>receiver.log &
    receiver_pid=$!
    pids+=("$receiver_pid")
    for _ in {1..100}; do curl -sf "127.0.0.1:$control/counts" >/dev/null && return; sleep 0.1; done
    die "the receiver did not start: $(cat receiver.log)"
}

forwarder() {
    env UDP_PORT="$udp" LOGGREGATOR_AGENT_ADDR="127.0.0.1:$agent" DEPLOYMENT=cf JOB=router INDEX=0 IP=10.0.0.1 \
        LOGGREGATOR_AGENT_CA_FILE_PATH=ca.crt LOGGREGATOR_AGENT_CERT_FILE_PATH=client.crt LOGGREGATOR_AGENT_KEY_FILE_PATH=client.key \
        METRICS_CA_FILE_PATH=ca.crt METRICS_CERT_FILE_PATH=metron.crt METRICS_KEY_FILE_PATH=metron.key \
        METRICS_PORT="$metrics" DEBUG_METRICS=true USE_RFC3339=true "$@" "$WIRELAKE" udp-forwarder 2>forwarder.log &
    wirelake_pid=$!
    for _ in {1..100}; do grep -q ready forwarder.log && return; sleep 0.1; done
    die "the forwarder did not start: $(cat forwarder.log)"
}

page() {
    curl -sf --cacert ca.crt --cert client.crt --key client.key --resolve "metron:$metrics:127.0.0.1" "https://metron:$metrics/metrics"
}

figure() { # NAME WITH LABELS
    awk -v name="$1" '$1 == name { print $2 }' metrics.txt
}

# Ends the forwarder; its last books are in books.json.
end_forwarder() {
    page >metrics.txt || true
    kill -TERM "$wirelake_pid"
    wait "$wirelake_pid" || true
    wirelake_pid=
    sed -n 's/.*ledger=//p' forwarder.log | tail -n 1 >books.json
}

counts() { curl -sf "127.0.0.1:$control/counts" >counts.json; }

# Waits until all that was sent was read, or lost in the kernel.
taken() { # ENVELOPES
    for _ in {1..300}; do
        page >metrics.txt || true
        lost=$(figure wirelake_loggregator_kernel_drops_total)
        took=$(figure 'ingress{metric_version="1.0"}')
        ((${took:-0} + ${lost:-0} >= $1)) && return
        sleep 0.1
    done
}

# Waits until nothing waits for the agent any more.
sent_on() {
    for _ in {1..300}; do
        page >metrics.txt || true
        [[ $(figure "wirelake_egress_queue_envelopes{destination=\"loggregator://127.0.0.1:$agent\"}") == 0 ]] && break
        sleep 0.1
    done
    counts
}

authority

# ---- All types at full speed: sent = arrived + what the kernel threw away, to the envelope, each type in order ----
receiver
forwarder
./emitter -to "127.0.0.1:$udp" -count "$N" >sent.json
taken "$N"
sent_on
end_forwarder
arrived=$(jq .total.distinct counts.json)
# A receiver that gets too little of the processor cannot take all of it, and the queue is bounded.
dropped=$(figure 'dropped{direction="all",metric_version="1.0"}')
same "$N" $((arrived + lost + dropped)) "at full speed, $(jq .per_second sent.json)/s: sent = arrived + lost in the kernel + dropped for a queue that was full"
same 0 "$(jq .total.repeated counts.json)" "nothing arrived twice"
same 0 "$(jq .total.out_of_order counts.json)" "nothing out of order within a type"
same true "$(jq .balanced books.json)" "the books balance"
same "$arrived" "$(jq '.destinations[0].sent' books.json)" "the agent confirmed what it has"
same $((N - lost)) "$(figure 'ingress{metric_version="1.0"}')" "ingress, as the original names it"
same "$dropped" "$(jq '[.destinations[0].dropped[]] | add // 0' books.json)" "dropped, as the original names it, and by reason"
cpu=$(figure process_cpu_seconds_total) rss=$(figure process_resident_memory_bytes)
echo "# $lost lost in the kernel, $dropped dropped; $(awk -v c="$cpu" -v n="$arrived" 'BEGIN { printf "%.2f", c * 1e6 / n }') CPU seconds per million, $((rss >> 20)) MiB"
# 37 MiB are there before the first envelope; what waits takes about twice its size.
if ((rss < 80 << 20)); then ok "memory stays under 80 MiB"; else fail "memory is $((rss >> 20)) MiB"; fi
if page=$(curl -sf --cacert ca.crt --resolve "metron:$metrics:127.0.0.1" "https://metron:$metrics/metrics" 2>&1); then
    fail "metrics without a certificate: $page"
else
    ok "metrics need a certificate"
fi
kill "$receiver_pid"; wait "$receiver_pid" 2>/dev/null || true

# ---- Bad datagrams beside good ones: counted, no flood of the log, good ones pass ----
receiver
forwarder
python3 - "$udp" <<'PY' &
import os, random, socket, sys
random.seed(7)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(20000):
    s.sendto(b"\xff" + random.randbytes(random.randrange(200)), ("127.0.0.1", int(sys.argv[1])))
PY
bad=$!
./emitter -to "127.0.0.1:$udp" -count 20000 -rate 10000 >sent.json
wait "$bad"
taken 40000
sent_on
end_forwarder
same 40000 "$(jq '.in.total' books.json)" "good ones beside bad ones: all that was sent is in the books"
same "$((20000 + lost))" "$(($(jq "[.drops[].count] | add" books.json) + 20000 - $(jq .taken books.json)))" "bad ones are counted by cause"
same "$(jq .taken books.json)" "$(jq .total.distinct counts.json)" "good ones arrived"
lines=$(wc -l <forwarder.log)
if ((lines < 50)); then ok "20,000 bad datagrams, $lines lines of log"; else fail "$lines lines of log"; fi
kill "$receiver_pid"; wait "$receiver_pid" 2>/dev/null || true

# ---- The agent is away, then back: what waited arrives in order, once ----
forwarder QUEUE_MIB=64
./emitter -to "127.0.0.1:$udp" -count 30000 -rate 10000 >sent.json
taken 30000
same $((30000 - lost)) "$(figure "wirelake_egress_queue_envelopes{destination=\"loggregator://127.0.0.1:$agent\"}")" "all wait for an agent that is away"
receiver
sent_on
end_forwarder
same $((30000 - lost)) "$(jq .total.distinct counts.json)" "all that waited arrived"
same 0 "$(jq .total.out_of_order counts.json)" "in order"
same true "$(jq .balanced books.json)" "the books balance"
kill "$receiver_pid"; wait "$receiver_pid" 2>/dev/null || true

finish
