#!/usr/bin/env bash
# HTTP/2 in the clear: nghttpd with curl, nghttp and h2load; nghttpx, which takes up an upgrade from HTTP/1.1, before it.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/wire.sh"

need curl nghttp nghttpd nghttpx h2load
bounded 300
server=18443
proxy=18444
mkdir "$tmp/www"
head -c 1000000 /dev/zero >"$tmp/www/big"
head -c 3000 /dev/zero >"$tmp/www/small"
echo hello >"$tmp/www/index.html"
nghttpd --no-tls -d "$tmp/www" --trailer='x-checksum: 17' "$server" >"$tmp/nghttpd.log" 2>&1 & pids+=($!)
nghttpx --workers=1 --frontend="127.0.0.1,$proxy;no-tls" --backend="127.0.0.1,$server;;proto=h2" --errorlog-file="$tmp/nghttpx.log" >/dev/null 2>&1 & pids+=($!)
until_true 10 listens "$server" "$proxy" || die "nghttpd or nghttpx does not listen"

# asked METHOD PATH CODE: what a client did, at the server; behind the proxy it is seen twice.
asked() { echo "$server $*" >>"$tmp/calls"; }
asked_twice() {
    asked "$@"
    echo "$proxy $*" >>"$tmp/calls"
}

talk() {
    local i path code
    : >"$tmp/calls"
    for path in / /big /none /index.html?token=secret; do
        code=$(curl -s -o /dev/null -w '%{http_code}' --http2-prior-knowledge "http://127.0.0.1:$server$path")
        asked GET "${path%%\?*}" "$code"
    done
    code=$(curl -sI -o /dev/null -w '%{http_code}' --http2-prior-knowledge "http://127.0.0.1:$server/big")
    asked HEAD /big "$code"
    code=$(curl -s -o /dev/null -w '%{http_code}' --http2-prior-knowledge --data-binary "@$tmp/www/big" "http://127.0.0.1:$server/")
    asked POST / "$code"
    # Four streams at a time over one connection, with headers in CONTINUATION.
    nghttp -n -m 4 --header "x-long: $(head -c 40000 /dev/zero | tr '\0' a)" --continuation "http://127.0.0.1:$server/small" >"$tmp/nghttp.log" 2>&1 || fail "nghttp: $(tail -n 1 "$tmp/nghttp.log")"
    for i in 1 2 3 4; do asked GET /small 200; done
    nghttp -n --no-dep -b 500 "http://127.0.0.1:$server/small" >"$tmp/nghttp.log" 2>&1 || fail "nghttp: $(tail -n 1 "$tmp/nghttp.log")"
    asked GET /small 200
    h2load -n 2000 -c 8 -m 25 "http://127.0.0.1:$server/small" >"$tmp/h2load"
    same "2000 total, 2000 started, 2000 done, 2000 succeeded" "$(grep -oE '2000 total.*succeeded' "$tmp/h2load")" "h2load had all its answers"
    for i in $(seq 2000); do asked GET /small 200; done
    # Upgraded from HTTP/1.1: the first request is in the old form, later ones in the new one.
    for path in / /none; do
        code=$(curl -s -o /dev/null -w '%{http_code} %{http_version}' --http2 "http://127.0.0.1:$proxy$path")
        same 2 "${code#* }" "curl was upgraded"
        asked_twice GET "$path" "${code% *}"
    done
    nghttp -n -u "http://127.0.0.1:$proxy/big" "http://127.0.0.1:$proxy/small" >"$tmp/nghttp.log" 2>&1 || fail "nghttp: $(tail -n 1 "$tmp/nghttp.log")"
    asked_twice GET /big 200
    asked_twice GET /small 200
    # And HTTP/1.1 in front, HTTP/2 behind.
    code=$(curl -s -o /dev/null -w '%{http_code}' --http1.1 "http://127.0.0.1:$proxy/small")
    asked_twice GET /small "$code"
}

call='select(.server_port == '$server' or .server_port == '$proxy') | "\(.server_port) \(.operation) \(.resource) \(.status_code // .outcome)"'
for mtu in "${mtus[@]}"; do
    set_mtu "$mtu"
    start_capture "$mtu"
    talk
    stop_capture "$mtu"
    tally <"$tmp/calls" >"$tmp/calls.tally"
    compare_rows "$mtu" "$tmp/calls.tally" "$call" "$(count <"$tmp/calls") requests: port, method, path, status as the clients counted"
    all_named "$mtu" "$server" http2
    all_named "$mtu" "$proxy" http http2
    for field in method status; do
        witness "$mtu" "tcp.port==$server,http2" -- -Y "http2.headers.$field and tcp.port == $server" -e "http2.headers.$field" | tr '\037' '\n' >"$tmp/$field"
    done
    compare_witness "$mtu" "$tmp/method" "select(.server_port == $server) | .operation" "methods"
    compare_witness "$mtu" "$tmp/status" "select(.server_port == $server) | .status_code" "statuses"
done
finish
