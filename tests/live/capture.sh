#!/usr/bin/env bash
# Real servers and clients on loopback of a network namespace of its own, watched live, stored by `serve`, and read back
# from tcpdump's file, at an MTU of 65536 and of 1500. What wirelake shows must be what the clients sent and tshark saw.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/wire.sh"

need curl nginx redis-server redis-cli dnsmasq dig
need_databases
bounded 170

start_servers() {
    mkdir -p "$tmp/www"
    head -c 1000000 /dev/zero >"$tmp/www/big"
    echo hello >"$tmp/www/index.html"
    cat >"$tmp/nginx.conf" <<CONF
daemon off; pid $tmp/nginx.pid; error_log $tmp/nginx.err; worker_processes 1; user root;
events {}
http {
    access_log off;
    client_body_temp_path $tmp; proxy_temp_path $tmp; fastcgi_temp_path $tmp; uwsgi_temp_path $tmp; scgi_temp_path $tmp;
    server { listen 127.0.0.1:18080; root $tmp/www; location /teapot { return 418 "short and stout"; } }
}
CONF
    nginx -c "$tmp/nginx.conf" >"$tmp/nginx.log" 2>&1 & pids+=($!)
    redis-server --port 16379 --bind 127.0.0.1 --save '' --dir "$tmp" >"$tmp/redis.log" 2>&1 & pids+=($!)
    dnsmasq --no-daemon --no-resolv --no-hosts --listen-address=127.0.0.1 --bind-interfaces --port=15353 \
        --address=/known.example/192.0.2.7 --txt-record=text.example,"some text" >"$tmp/dnsmasq.log" 2>&1 & pids+=($!)
    start_mariadb 13306
    start_postgres 15432
    until_true 30 redis-cli -p 16379 ping >/dev/null 2>&1 || die "redis does not answer"
    until_true 10 curl -so /dev/null http://127.0.0.1:18080/ || die "nginx does not answer"
}

# What each client asks, so that the expected counts below can be read off.
talk() {
    local i
    for i in $(seq 20); do
        curl -s "http://127.0.0.1:18080/" "http://127.0.0.1:18080/none" "http://127.0.0.1:18080/teapot" >/dev/null
    done
    curl -so /dev/null "http://127.0.0.1:18080/big"
    curl -sIo /dev/null "http://127.0.0.1:18080/big"
    for i in $(seq 50); do echo "SET key:$i value"; echo "GET key:$i"; done | redis-cli -p 16379 >/dev/null
    redis-cli -p 16379 LPUSH key:1 x >/dev/null || true
    for i in $(seq 200); do printf 'PING\r\n'; done | timeout 5 redis-cli -p 16379 --pipe >/dev/null
    dig +short @127.0.0.1 -p 15353 known.example A >/dev/null
    dig +short @127.0.0.1 -p 15353 unknown.invalid A >/dev/null
    dig +short +tcp @127.0.0.1 -p 15353 text.example TXT >/dev/null
    PGSSLMODE=prefer psql -h 127.0.0.1 -p 15432 -U postgres -q >/dev/null 2>&1 <<'SQL'
create table if not exists items (id int, name text);
insert into items select i, 'item' from generate_series(1, 1000) i;
select * from items limit 100;
select * from nowhere;
copy items to stdout;
SQL
    mariadb --no-defaults -h 127.0.0.1 -P 13306 -u root --force >/dev/null 2>&1 <<'SQL'
create database if not exists shop;
use shop;
create or replace table items (id int, name text);
insert into items values (1, 'one'), (2, 'two');
select * from items;
select * from nowhere;
SQL
}

# shown FILE JQ-FILTER: how many roundtrips of a file of JSON lines the filter selects.
shown() { jq -c "select($2)" "$1" | count; }

# compare FILE WORDS: one file of JSON lines against what the clients did.
compare() {
    local rows=$1 words=$2
    same 62 "$(shown "$rows" '.protocol == "http" and .outcome == "answered"')" "$words: HTTP requests"
    same 20 "$(shown "$rows" '.protocol == "http" and .status_code == "404"')" "$words: HTTP not found"
    same 20 "$(shown "$rows" '.protocol == "http" and .status_code == "418"')" "$words: HTTP teapots"
    same 1 "$(shown "$rows" '.protocol == "http" and .operation == "GET" and .resource == "/big" and .response_bytes > 1000000')" "$words: the large body, whole"
    same 50 "$(shown "$rows" '.protocol == "redis" and .operation == "SET" and .status == "ok"')" "$words: Redis SET"
    same 50 "$(shown "$rows" '.protocol == "redis" and .operation == "GET"')" "$words: Redis GET"
    same 200 "$(shown "$rows" '.protocol == "redis" and .operation == "PING"')" "$words: Redis pipeline of inline commands"
    same WRONGTYPE "$(jq -r 'select(.protocol == "redis" and .operation == "LPUSH") | .status_code' "$rows")" "$words: Redis error"
    same "NOERROR REFUSED NOERROR" "$(jq -r 'select(.protocol == "dns") | .status_code' "$rows" | xargs)" "$words: DNS answers, UDP and TCP"
    same 1 "$(shown "$rows" '.protocol == "postgresql" and .operation == "INSERT" and .status == "ok"')" "$words: PostgreSQL insert"
    same 42P01 "$(jq -r 'select(.protocol == "postgresql" and .status == "error") | .status_code' "$rows")" "$words: PostgreSQL error"
    same 1 "$(shown "$rows" '.protocol == "postgresql" and .operation == "COPY" and .status == "ok"')" "$words: PostgreSQL copy"
    same 1 "$(shown "$rows" '.protocol == "mysql" and .operation == "INSERT" and .status == "ok"')" "$words: MySQL insert"
    same 42S02 "$(jq -r 'select(.protocol == "mysql" and .status == "error") | .status_code' "$rows")" "$words: MySQL error"
    same 0 "$(shown "$rows" '.outcome == "orphan" or (.outcome == "unanswered" and .protocol != "redis")')" "$words: nothing left alone"
}

start_servers
for mtu in "${mtus[@]}"; do
    set_mtu "$mtu"
    start_capture "$mtu"
    talk
    stop_capture "$mtu"
    compare "$tmp/$mtu.live" "$mtu, live"
    compare "$tmp/$mtu.rows" "$mtu, file"
    all_named "$mtu" 18080 http
    all_named "$mtu" 16379 redis
    all_named "$mtu" 15353 dns
    all_named "$mtu" 15432 postgresql
    all_named "$mtu" 13306 mysql
    same "$(tshark -r "$tmp/$mtu.pcap" -d tcp.port==18080,http -Y http.request 2>/dev/null | count)" \
        "$(shown "$tmp/$mtu.rows" '.protocol == "http"')" "$mtu: tshark saw as many HTTP requests"
    same "$(tshark -r "$tmp/$mtu.pcap" -d udp.port==15353,dns -d tcp.port==15353,dns -Y 'dns.flags.response == 0' 2>/dev/null | count)" \
        "$(shown "$tmp/$mtu.rows" '.protocol == "dns"')" "$mtu: tshark saw as many DNS queries"
    "$WIRELAKE" read - --format jsonl <"$tmp/$mtu.pcap" | sort >"$tmp/$mtu.stream"
    sort "$tmp/$mtu.rows" >"$tmp/$mtu.sorted"
    same_files "$tmp/$mtu.sorted" "$tmp/$mtu.stream" "$mtu: standard input makes the same rows"
done

# A server that captures, stores and keeps the packets.
set_mtu 65536
start_wirelake 127.0.0.1 --capture lo --capture-filter 'port 16379' --set "capture.packets_dir=$tmp/packets"
redis-cli -p 16379 SET stored 1 >/dev/null
rows() { "$WIRELAKE" sql --format json "SELECT count(*) AS n FROM roundtrips WHERE operation = 'SET' AND resource = 'stored'" | jq '.[0].n'; }
stored() { [[ $(rows) == 1 ]]; }
until_true 10 stored || true
same 1 "$(rows)" "serve stores the roundtrip"
same true "$(curl -s "http://127.0.0.1:$api/api/ledger" | jq '.balanced and .capture.balanced')" "serve: the books balance"
stop_wirelake
same 1 "$("$WIRELAKE" sql --data "$tmp/lake" --format json "SELECT count(*) AS n FROM roundtrips WHERE resource = 'stored'" | jq '.[0].n')" "the roundtrip is in a file after the end"
"$WIRELAKE" packets --from "$tmp/packets" -w "$tmp/back.pcapng" 2>/dev/null
same 1 "$("$WIRELAKE" read "$tmp/back.pcapng" --format jsonl | jq -r 'select(.resource == "stored") | .operation' | count)" "the packets of it can be had again"
"$WIRELAKE" read "$tmp/65536.pcap" --format none --into-lake "$tmp/lake2"
same "$(count <"$tmp/65536.rows")" "$("$WIRELAKE" sql --data "$tmp/lake2" --format json 'SELECT count(*) AS n FROM roundtrips' | jq '.[0].n')" "a file read into a lake gives as many rows"
finish
