#!/bin/bash
# Records the captures of this folder anew: real traffic between two network namespaces. Needs root,
# tcpdump, tshark, curl, socat and python3.
set -euo pipefail
cd "$(dirname "$0")"
a=wl-rec-a b=wl-rec-b
ip netns add $a; ip netns add $b
pids=()
finish() { kill "${pids[@]}" 2>/dev/null || true; ip netns del $a; ip netns del $b; rm -rf "$web"; }
web=$(mktemp -d); seq 1 40 >"$web/small"; seq 1 3000 >"$web/large"
trap finish EXIT
at() { local ns=$1; shift; ip netns exec "$ns" "$@"; }
ip link add wl-a netns $a type veth peer name wl-b netns $b
for side in a:1 b:2; do
  ns=wl-rec-${side%:*} n=${side#*:} dev=wl-${side%:*}
  at $ns sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
  at $ns ip link set lo up
  at $ns ip addr add 10.1.0.$n/24 dev $dev; at $ns ip -6 addr add fd01::$n/64 dev $dev nodad
  at $ns ip link set $dev up
  at $ns ip link add vx type vxlan id 42 remote 10.1.0.$((3 - n)) dstport 4789 dev $dev
  at $ns ip addr add 10.2.0.$n/24 dev vx; at $ns ip -6 addr add fd02::$n/64 dev vx nodad
  at $ns ip link set vx up
done
sleep 1
ip netns exec $b python3 -m http.server --bind :: --directory "$web" 8000 >/dev/null 2>&1 & pids+=($!)
ip netns exec $b socat -T5 UDP6-RECVFROM:9000,fork EXEC:/bin/cat & pids+=($!)
ip netns exec $a python3 -m http.server --bind :: --directory "$web" 8000 >/dev/null 2>&1 & pids+=($!)
sleep 1
tcpdump_pid=
start() { local ns=$1; shift; ip netns exec "$ns" tcpdump -q -U --immediate-mode "$@" 2>/dev/null & tcpdump_pid=$!; sleep 1; }
stop() { sleep 0.5; kill $tcpdump_pid; wait $tcpdump_pid || true; }
get() { at $a curl -sg --max-time 5 -o /dev/null "$1"; }
echo_udp() { head -c "$2" /dev/zero | tr '\0' x | at $a socat -t1 -b9000 - "$1" >/dev/null; }

start $a -i wl-a --time-stamp-precision=nano -w ethernet.pcap
get http://10.1.0.2:8000/small; get 'http://[fd01::2]:8000/small'
echo_udp UDP4:10.1.0.2:9000 300; echo_udp 'UDP6:[fd01::2]:9000' 300
stop
start $a -i wl-a -w fragments.pcap udp or ip6
echo_udp UDP4:10.1.0.2:9000 4000; echo_udp 'UDP6:[fd01::2]:9000' 4000
stop
# Offloads are on: segments of up to 64 KiB, of which 160 bytes are kept.
start $a -i wl-a -s 160 -w offload.pcap tcp
get http://10.1.0.2:8000/large
stop
start $a -i wl-a -w vxlan.pcap port 4789
get http://10.2.0.2:8000/small; get 'http://[fd02::2]:8000/small'; echo_udp UDP4:10.2.0.2:9000 200
stop
start $a -i any -w sll2.pcap
get http://127.0.0.1:8000/small; get 'http://[::1]:8000/small'; get http://10.1.0.2:8000/small
stop
start $a -i any -y LINUX_SLL -w sll.pcap
get http://127.0.0.1:8000/small; get 'http://[::1]:8000/small'; get http://10.1.0.2:8000/small
stop
./witness.sh
