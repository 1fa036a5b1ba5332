#!/usr/bin/env bash
# More than a capture can be asked to follow: a million SYNs, each of a flow of its own, beside a client that behaves; ten
# thousand connections at a time; one flow as fast as loopback carries it. Memory stays bounded, the books balance, what
# the kernel lost is counted, and the neighbours are served.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/wire.sh"

need nginx h2load tcpreplay nsenter unshare curl
[[ -n ${WIRELAKE_LIVE_NETNS:-} ]] || skip "network namespaces cannot be made here"
bounded 300
flows=1000000
# What a capture that is not asked for much takes, and the flows that it follows at a time, of 256 bytes each.
rss_mib=100
table_mib=64
ulimit -n 12000 2>/dev/null || skip "ten thousand connections need more open files than are allowed"

# A second namespace, at the other end of a pair of interfaces.
unshare --net sleep 600 & other=$!
pids+=("$other")
until_true 5 eval '[[ $(readlink /proc/$other/ns/net) != $(readlink /proc/self/ns/net) ]]' || die "there is no second namespace"
ip link add here0 type veth peer name there0 netns "$other"
ip address add 10.99.0.1/24 dev here0
ip link set here0 up
there() { nsenter --target "$other" --net "$@"; }
there ip address add 10.99.0.2/24 dev there0
there ip link set there0 up

mkdir "$tmp/www"
head -c 10240 /dev/zero >"$tmp/www/10k"
truncate -s 1G "$tmp/www/1g"
cat >"$tmp/nginx.conf" <<CONF
daemon off; pid $tmp/nginx.pid; error_log $tmp/nginx.err; worker_processes 1; user root;
events { worker_connections 11000; }
http {
    access_log off; keepalive_timeout 60s;
    client_body_temp_path $tmp; proxy_temp_path $tmp; fastcgi_temp_path $tmp; uwsgi_temp_path $tmp; scgi_temp_path $tmp;
    server { listen 18081 backlog=16384; root $tmp/www; }
}
CONF
sysctl -qw net.core.somaxconn=16384 net.ipv4.tcp_max_syn_backlog=16384 2>/dev/null || true
nginx -c "$tmp/nginx.conf" >"$tmp/nginx.log" 2>&1 & pids+=($!)
until_true 10 listens 18081 || die "nginx does not listen: $(tail -n 2 "$tmp/nginx.err")"

# watch NAME INTERFACE [FLAG...] and stop: only the program; tcpdump would lose more than it.
watch() {
    local name=$1 interface=$2
    shift 2
    "$WIRELAKE" watch -i "$interface" --stat --ledger "$tmp/$name.ledger" "$@" >/dev/null 2>"$tmp/$name.err" &
    watch_pid=$!
    pids+=("$watch_pid")
    until_true 20 eval '(($(grep -c . /proc/net/packet) >= 2))' || die "the capture does not start: $(cat "$tmp/$name.err")"
    sleep 0.5
}
# stop NAME MIB: the most memory that it may have taken.
stop() {
    local name=$1 most=$2 peak lost
    sleep 1
    peak=$(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$watch_pid/status")
    kill -INT "$watch_pid"
    wait "$watch_pid" || fail "$name: watch ended with $?"
    lost=$(jq .frames.source_drops "$tmp/$name.ledger")
    echo "$name: $(jq -c '{seen: .frames.seen, lost: .frames.source_drops, opened: .flows.opened, closed: .flows.closed, roundtrips: .roundtrips.answered}' "$tmp/$name.ledger"), $peak MiB"
    same true "$(jq .balanced "$tmp/$name.ledger")" "$name: the books balance"
    same true "$( ((peak <= most)) && echo true || echo "$peak MiB")" "$name: at most $most MiB of memory"
    # What the kernel lost cannot be known; that it did is known.
    whole=$((lost == 0))
}

# answered NAME REQUESTS: as many roundtrips as the client has answers, or as many fewer as the losses explain.
answered() {
    local found
    found=$(jq .roundtrips.answered "$tmp/$1.ledger")
    if ((whole)); then
        same "$2" "$found" "$1: every request of the neighbour has its roundtrip"
    else
        same true "$( ((found <= $2 && found * 2 > $2)) && echo true || echo "$found of $2")" "$1: the kernel lost packets, and most requests of the neighbour have their roundtrip ($found of $2)"
    fi
}

/usr/bin/python3 "$here/flood.py" "$tmp/flood.pcap" "$flows"
watch flood here0
there tcpreplay --quiet --topspeed -i there0 "$tmp/flood.pcap" >"$tmp/tcpreplay.log" 2>&1 & replay=$!
there h2load --h1 -n 3000 -c 10 http://10.99.0.1:18081/10k >"$tmp/h2load"
wait "$replay" || fail "tcpreplay ends with $?"
grep -E 'Rated|Actual' "$tmp/tcpreplay.log"
stop flood "$((rss_mib + table_mib))"
same "3000 succeeded" "$(grep -oE '[0-9]+ succeeded' "$tmp/h2load")" "flood: the neighbour is served"
answered flood 3000
same true "$(jq --argjson flows "$flows" '.flows.opened + .frames.source_drops >= $flows and .flows.closed.evicted > 0' "$tmp/flood.ledger")" \
    "flood: each SYN is a flow or counted as lost; the table is full and says what it gave up"

watch many here0
there h2load --h1 -n 20000 -c 10000 -m 1 http://10.99.0.1:18081/10k >"$tmp/h2load" || true
stop many "$rss_mib"
succeeded=$(grep -oE '[0-9]+ succeeded' "$tmp/h2load" | cut -d ' ' -f 1)
same 20000 "$succeeded" "many: ten thousand connections at a time are served"
answered many "$succeeded"

watch one lo
curl -s -o /dev/null -w '%{size_download} %{speed_download}\n' http://127.0.0.1:18081/1g >"$tmp/curl"
echo "one: $(awk '{ printf "%.2f GB/s\n", $2 / 1e9 }' "$tmp/curl")"
stop one "$rss_mib"
same 1073741824 "$(cut -d ' ' -f 1 "$tmp/curl")" "one: a body of 1 GiB arrives"
same "1 0" "$(jq -r '"\(.roundtrips.answered) \(.roundtrips.unanswered + .roundtrips.orphan)"' "$tmp/one.ledger")" "one: it is one roundtrip"
finish
