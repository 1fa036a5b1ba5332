#!/usr/bin/env bash
# Connections that are older than the capture, with all that was said at their beginning unseen: HTTP/2 and gRPC with what
# is in the tables of header compression, PostgreSQL and MySQL with their statements prepared. What is done from then on
# has its rows; what cannot be known says so, and nothing is made up.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/wire.sh"

need go setpriv
need_databases
bounded 300
for peer in grpc sql; do
    (cd "$here/$peer" && CGO_ENABLED=0 go build -o "$tmp/$peer" .) >"$tmp/go.log" 2>&1 || absent "the $peer peers cannot be built: $(tail -n 1 "$tmp/go.log")"
done
start_mariadb 13307
start_postgres 15433
"$tmp/grpc" serve 127.0.0.1:17444 & pids+=($!)
until_true 10 listens 17444 || die "the gRPC server does not listen"

# hold NAME COMMAND...: starts a client, which works and then waits. Of it, $tmp/NAME.calls has what it does afterwards.
held=()
hold() {
    local name=$1
    shift
    mkfifo "$tmp/$name.go"
    "$@" <"$tmp/$name.go" >"$tmp/$name.calls" 2>"$tmp/$name.ready" &
    held+=($!)
    pids+=($!)
    # Both ends of a pipe that nobody has open yet.
    exec {pipe}<>"$tmp/$name.go"
    until_true 20 grep -q ready "$tmp/$name.ready" || die "$name is not ready: $(cat "$tmp/$name.ready")"
}

hold grpc "$tmp/grpc" hold 127.0.0.1:17444
hold postgresql "$tmp/sql" postgresql 'postgres://postgres@127.0.0.1:15433/postgres?sslmode=disable'
hold mysql "$tmp/sql" mysql 'root@tcp(127.0.0.1:13307)/shop'
start_capture joined
for name in grpc postgresql mysql; do echo >"$tmp/$name.go"; done
for pid in "${held[@]}"; do wait "$pid" || fail "a client ends with $?"; done
stop_capture joined

for kind in live rows; do
    rows=$tmp/joined.$kind
    words="joined, ${kind/rows/file}"
    same "$(count <"$tmp/grpc.calls") answered late_join unknown 200" \
        "$(jq -r 'select(.server_port == 17444) | "\(.outcome) \(.confidence) \(.notices) \(.status_code)"' "$rows" | tally)" \
        "$words: each call of gRPC has a row, which says that something about it is unknown"
    # Paths lie in the client's table; one was new.
    same "/grpc.testing.TestService/EmptyCall" "$(jq -r 'select(.server_port == 17444 and .resource) | .resource' "$rows")" "$words: the path that was said since is known, and no other"
    # MySQL forbids to ask before the answer is there: nothing is in doubt.
    tally <"$tmp/mysql.calls" >"$tmp/expected"
    jq -r 'select(.protocol == "mysql") | "\(if .notices == "unknown" then "prepared" else .operation end) \(if .outcome != "answered" then .outcome else .status_code // "ok" end)"' "$rows" | tally >"$tmp/found"
    same_files "$tmp/expected" "$tmp/found" "$words: MySQL: executions of statements prepared before, and what was prepared since"
    # PostgreSQL lets a client ask ahead. The place in the client's bytes is known from the first answer on, and it takes
    # sixteen rounds until it is clear that this client does not ask ahead: what is asked until then is not paired.
    asked=$(grep -c prepared "$tmp/postgresql.calls")
    executed=$(jq -r 'select(.protocol == "postgresql" and .operation == "EXECUTE" and .notices == "unknown") | .outcome' "$rows" | count)
    unseen=$((asked - executed))
    same true "$( ((unseen == 0 || unseen == 1)) && echo true || echo false)" "$words: PostgreSQL: all executions have rows, but for the first ($executed of $asked)"
    same true "$(jq -s 'map(select(.protocol == "postgresql" and .operation)) | sort_by(.ts) | .[16:] | all(.outcome == "answered")' "$rows")" "$words: PostgreSQL: all are answered after sixteen rounds"
    same "PREPARE SELECT DELETE" "$(jq -r 'select(.protocol == "postgresql" and .operation != "EXECUTE" and .status == "ok" and .operation) | .operation' "$rows" | xargs)" \
        "$words: PostgreSQL: what is prepared since is known"
    # Every third execution fails, so a wrong pair would show.
    for protocol in mysql postgresql; do
        same true "$(jq -s --argjson first "$([[ $protocol == mysql ]] && echo 0 || echo "$unseen")" "map(select(.protocol == \"$protocol\" and .operation == \"EXECUTE\")) | sort_by(.ts)
            | to_entries | all(.value.outcome != \"answered\" or ((.key + \$first) % 3 == 2) == (.value.status == \"error\"))" "$rows")" "$words: $protocol: no pair is wrong"
    done
    same "mysql postgresql" "$(jq -r 'select(.server_port == 13307 or .server_port == 15433) | .protocol' "$rows" | sort -u | xargs)" "$words: both are named from their middle"
done
finish
