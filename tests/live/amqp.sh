#!/usr/bin/env bash
# AMQP 0-9-1: RabbitMQ with pika: several channels, confirms, returns, gets, deliveries, a transaction, errors.
# shellcheck source=tests/live/wire.sh
. "$(dirname "${BASH_SOURCE[0]}")/wire.sh"

rabbit=/usr/lib/rabbitmq/bin/rabbitmq-server
need epmd setpriv
[[ -x $rabbit ]] || skip "rabbitmq-server is missing"
# Debian's own Python has Debian's pika.
/usr/bin/python3 -c 'import pika' 2>/dev/null || skip "python3-pika is missing"
bounded 300
port=15673
mkdir "$tmp/rabbit"
printf 'listeners.tcp.1 = 127.0.0.1:%s\nloopback_users = none\nlog.file = false\nlog.console = true\n' "$port" >"$tmp/rabbit/rabbitmq.conf"
: >"$tmp/rabbit/plugins"
chown -R rabbitmq "$tmp/rabbit"
as_rabbit() { exec setpriv --reuid rabbitmq --regid rabbitmq --clear-groups env HOME="$tmp/rabbit" ERL_EPMD_PORT=24369 "$@"; }
# Left to itself, RabbitMQ would start its port mapper as a daemon that stays, and itself behind a shell.
as_rabbit epmd -port 24369 -address 127.0.0.1 >"$tmp/epmd.log" 2>&1 & pids+=($!)
as_rabbit RUNNING_UNDER_SYSTEMD=1 RABBITMQ_NODENAME=live@localhost RABBITMQ_DIST_PORT=25673 RABBITMQ_MNESIA_BASE="$tmp/rabbit" \
    RABBITMQ_CONFIG_FILE="$tmp/rabbit/rabbitmq.conf" RABBITMQ_ENABLED_PLUGINS_FILE="$tmp/rabbit/plugins" "$rabbit" >"$tmp/rabbit.log" 2>&1 & pids+=($!)
until_true 150 listens "$port" || die "RabbitMQ does not listen: $(tail -n 5 "$tmp/rabbit.log")"

# What a client asks and a broker says by itself, in the numbers of the specification.
names='10.10 connection.start;10.30 connection.tune;10.40 connection.open;10.50 connection.close;20.10 channel.open;20.40 channel.close
40.10 exchange.declare;40.20 exchange.delete;50.10 queue.declare;50.20 queue.bind;50.30 queue.purge;50.40 queue.delete
60.10 basic.qos;60.20 basic.consume;60.30 basic.cancel;60.40 basic.publish;60.50 basic.return;60.60 basic.deliver
60.70 basic.get;60.80 basic.ack;60.120 basic.nack;85.10 confirm.select;90.10 tx.select;90.20 tx.commit;90.30 tx.rollback'
call='select(.protocol == "amqp") | "\(.operation) \(.resource // "-") \(.status_code // .outcome)"'
for mtu in "${mtus[@]}"; do
    set_mtu "$mtu"
    start_capture "$mtu"
    timeout 60 /usr/bin/python3 "$here/amqp.py" "$port" >"$tmp/calls" || fail "the client ended with $?"
    stop_capture "$mtu"
    tally <"$tmp/calls" >"$tmp/calls.tally"
    compare_rows "$mtu" "$tmp/calls.tally" "$call" "$(count <"$tmp/calls") methods with what they are about and their outcome, as the client counted"
    all_named "$mtu" "$port" amqp
    # The broker's acknowledgements are confirms, and its ends of channels are answers here: they have no rows.
    witness "$mtu" "tcp.port==$port,amqp" -- -Y amqp.method.class -e tcp.srcport -e amqp.method.class -e amqp.method.method |
        awk -F '\t' -v server="$port" -v names="$(tr '\n' ';' <<<"$names")" '
            BEGIN { n = split(names, all, ";"); for (i = 1; i <= n; i++) { split(all[i], pair, " "); name[pair[1]] = pair[2] } }
            {
                n = split($2, class, "\037"); split($3, method, "\037")
                for (i = 1; i <= n; i++) {
                    what = class[i] "." method[i]
                    if (what in name && ($1 != server || what !~ /^(60\.80|60\.120|20\.40)$/)) print name[what]
                }
            }' >"$tmp/methods"
    compare_witness "$mtu" "$tmp/methods" 'select(.protocol == "amqp" and (.operation != "channel.close" or .direction == "to_server")) | .operation' "methods"
done
finish
