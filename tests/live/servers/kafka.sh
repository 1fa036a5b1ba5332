#!/usr/bin/env bash
# Kafka 4.1 (KRaft, one node) with its own Java clients: admin, producers with every kind of acknowledgement, a transaction,
# both group protocols, errors; and joined in the middle. The clients' own log says what they sent and got.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/../wire.sh"

need java javac
[[ -n ${KAFKA_JARS:-} && -d $KAFKA_JARS ]] || skip "KAFKA_JARS names no folder: make live-servers fetches them"
bounded 300
port=19292
jars=("$KAFKA_JARS"/*.jar)
classes="$tmp/classes:$(IFS=:; echo "${jars[*]}")"
javac -cp "$classes" -d "$tmp/classes" "$here/servers/kafka/Talk.java" || die "the client does not compile"

log=-Dorg.slf4j.simpleLogger
cat >"$tmp/broker.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
log.dirs=$tmp/broker
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
CONF
java -Xmx64m -cp "$classes" "$log.defaultLogLevel=error" kafka.tools.StorageTool format --standalone -t 3Db5QLSqSZieL3rJBUUegA -c "$tmp/broker.properties" >"$tmp/format.log" 2>&1 ||
    die "the broker's folder cannot be made: $(tail -n 3 "$tmp/format.log")"
java -Xmx300m -cp "$classes" "$log.defaultLogLevel=warn" kafka.Kafka "$tmp/broker.properties" >"$tmp/broker.log" 2>&1 & pids+=($!)
until_true 60 listens "$port" || die "the broker does not listen: $(tail -n 3 "$tmp/broker.log")"

# client MODE: its log is $tmp/client.log.
client() {
    timeout 90 java -Xmx128m -cp "$classes" "$log.defaultLogLevel=error" "$log.log.org.apache.kafka.clients.NetworkClient=debug" \
        "$log.logFile=$tmp/client.log" Talk "127.0.0.1:$port" "$1" 2>"$tmp/client.err"
}

# logged WHAT LOG: client id, API and version of each request that was sent, or received an answer.
logged() {
    sed -nE "s/.* $1 ([A-Z_]+) re(quest|sponse) .*apiVersion=([0-9]+), clientId=([^,]+),.*/\4 \1 \3/p" "$2" | tr -d _ | tally
}

rows="select(.server_port == $port and ((.attributes[\"messaging.client.id\"] // \"\") | startswith(\"live-\")))"
line='"\(.attributes["messaging.client.id"]) \(.operation | ascii_upcase) \(.attributes["messaging.kafka.api_version"])"'
errors='CreateTopics TOPIC_ALREADY_EXISTS;DeleteGroups GROUP_ID_NOT_FOUND;DeleteTopics UNKNOWN_TOPIC_OR_PARTITION;Produce MESSAGE_TOO_LARGE'
names='0 Produce;1 Fetch;2 ListOffsets;3 Metadata;8 OffsetCommit;9 OffsetFetch;10 FindCoordinator;11 JoinGroup;12 Heartbeat;13 LeaveGroup
14 SyncGroup;15 DescribeGroups;16 ListGroups;18 ApiVersions;19 CreateTopics;20 DeleteTopics;22 InitProducerId;24 AddPartitionsToTxn
26 EndTxn;27 WriteTxnMarkers;42 DeleteGroups;60 DescribeCluster;68 ConsumerGroupHeartbeat;75 DescribeTopicPartitions'

# as_logged NAME LOG: the rows are what the clients logged.
as_logged() {
    logged Sending "$2" >"$tmp/sent"
    logged Received "$2" >"$tmp/received"
    compare_rows "$1" "$tmp/sent" "$rows | $line" "$(awk '{ n += $1 } END { print n }' "$tmp/sent") requests by client, API and version as the clients logged them"
    compare_rows "$1" "$tmp/received" "$rows | select(.outcome == \"answered\") | $line" "answers"
}

for mtu in "${mtus[@]}"; do
    set_mtu "$mtu"
    start_capture "$mtu"
    client all || fail "the client ends with $?: $(tail -n 3 "$tmp/client.err")"
    stop_capture "$mtu"
    as_logged "$mtu" "$tmp/client.log"
    # What the client insisted on being refused; the codes of coordinators that are not ready yet come and go.
    tr ';' '\n' <<<"$errors" | tally >"$tmp/errors"
    compare_rows "$mtu" "$tmp/errors" "$rows | select(.status == \"error\") | \"\(.operation) \(.status_code)\" | select(test(\"ALREADY|GROUP_ID_NOT|UNKNOWN_TOPIC_OR|TOO_LARGE\"))" "errors"
    echo "50 Produce" >"$tmp/silent"
    compare_rows "$mtu" "$tmp/silent" "$rows | select(.outcome == \"one_way\") | .operation" "produced without an acknowledgement"
    all_named "$mtu" "$port" kafka
    all_named "$mtu" "$((port + 1))" kafka
    witness "$mtu" "tcp.port==$port,kafka" -- -Y "kafka.api_key and tcp.dstport == $port" -e kafka.api_key |
        awk -v names="$(tr '\n' ';' <<<"$names")" '
            BEGIN { n = split(names, all, ";"); for (i = 1; i <= n; i++) { split(all[i], pair, " "); name[pair[1]] = pair[2] } }
            { n = split($0, keys, "\037"); for (i = 1; i <= n; i++) print (keys[i] in name ? name[keys[i]] : keys[i]) }' >"$tmp/apis"
    compare_witness "$mtu" "$tmp/apis" "select(.server_port == $port) | .operation" "requests"
done

# Connections that are older than the capture: the clients are connected and have read and written when it starts.
set_mtu 65536
mkfifo "$tmp/go"
client hold <"$tmp/go" >"$tmp/client.out" &
held=$!
exec 3>"$tmp/go"
until_true 60 grep -q ready "$tmp/client.out" || die "the client is not ready: $(tail -n 3 "$tmp/client.err")"
start_capture joined
lines=$(wc -l <"$tmp/client.log")
echo >&3
wait "$held" || fail "the client ends with $?: $(tail -n 3 "$tmp/client.err")"
exec 3>&-
stop_capture joined
tail -n "+$((lines + 1))" "$tmp/client.log" >"$tmp/joined.log"
as_logged joined "$tmp/joined.log"
same 20 "$(jq -r "$rows | select(.operation == \"Produce\" and .outcome == \"answered\" and .confidence == \"late_join\") | .operation" "$tmp/joined.live" | count)" \
    "joined: what was produced over an older connection says that its beginning was not seen"
finish
