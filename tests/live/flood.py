"""Writes a capture file of SYNs: flood.py FILE COUNT. Each has an address and a port of its own, so each is a new flow."""

import struct
import sys

TARGET = bytes((192, 0, 2, 1))
# The checksum of the IP header but for the source address.
BASE = 0x4500 + 40 + 0x4000 + 0x4006 + sum(struct.unpack("!2H", TARGET))


def frame(i):
    low, high = i & 0xFFFF, 0x0A00 | i >> 16
    checksum = BASE + high + low
    checksum = ~((checksum & 0xFFFF) + (checksum >> 16)) & 0xFFFF
    ports = 1024 + i * 7919 % 60000
    return (
        b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0"
        + struct.pack("!HHHHHHHH", 0x4500, 40, 0, 0x4000, 0x4006, checksum, high, low)
        + TARGET
        + struct.pack("!HHIIHHHH", ports, 80, i, 0, 0x5002, 64240, 0, 0)
    )


with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for i in range(int(sys.argv[2])):
        bytes_ = frame(i)
        out.write(struct.pack("<IIII", i // 100_000, i % 100_000 * 10, len(bytes_), len(bytes_)) + bytes_)
