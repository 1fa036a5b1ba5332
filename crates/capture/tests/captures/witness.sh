#!/bin/bash
# Writes beside each capture what tshark reads in it: the innermost headers of each frame.
set -euo pipefail
cd "$(dirname "$0")"
for file in *.pcap *.pcapng; do
  [ -e "$file" ] || continue
  tshark -n -r "$file" -o ip.defragment:FALSE -o ipv6.defragment:FALSE -o tcp.analyze_sequence_numbers:FALSE \
    -T fields -E separator=, -E occurrence=l -e frame.time_epoch -e frame.len -e frame.cap_len -e ip.src -e ip.dst \
    -e ipv6.src -e ipv6.dst -e ip.ttl -e ipv6.hlim -e tcp.srcport -e tcp.dstport -e tcp.seq_raw -e tcp.ack_raw \
    -e tcp.flags -e tcp.window_size_value -e tcp.len -e udp.srcport -e udp.dstport -e udp.length \
    -e ip.frag_offset -e ipv6.fraghdr.offset -e vlan.id -e vxlan.vni 2>/dev/null >"$file.csv"
done
