//! The closed list of what a shard counts. A counter is an index into a flat array: a shard adds to a
//! plain `u64` and publishes all of them by copy.

use crate::reason::DropReason;

macro_rules! counters {
    ($($variant:ident, $name:literal, $help:literal;)*) => {
        /// A figure that one shard counts, beside the drop reasons.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Counter { $(#[doc = $help] $variant,)* }

        impl Counter {
            /// Every counter, in the order of the pipeline.
            pub const ALL: &'static [Counter] = &[$(Counter::$variant,)*];

            /// The metric name without its `wirelake_` prefix.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// One sentence for people.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

counters! {
    UdpDatagrams, "listen_udp_datagrams_total", "Datagrams read from UDP sockets, after GRO was split.";
    UdpBytes, "listen_udp_bytes_total", "Bytes of the datagrams read.";
    UdpReads, "listen_udp_reads_total", "recvmmsg calls that returned datagrams.";
    UdpCoalesced, "listen_udp_coalesced_total", "Buffers that held more than one datagram (UDP_GRO).";
    TcpFrames, "listen_tcp_frames_total", "HEP frames cut out of TCP connections, good or bad.";
    TcpBytes, "listen_tcp_bytes_total", "Bytes read from TCP connections.";
    TcpReads, "listen_tcp_reads_total", "read calls on TCP connections that returned bytes.";
    TcpAccepted, "listen_tcp_accepted_total", "TCP connections accepted.";
    TcpClosed, "listen_tcp_closed_total", "TCP connections closed, by either side.";
    TcpCopiedBytes, "listen_tcp_copied_bytes_total", "Bytes copied because a frame straddled two reads.";
    TcpDiscardedBytes, "listen_tcp_discarded_bytes_total", "Bytes thrown away with a connection closed for bad framing.";
    BlockWaits, "listen_block_waits_total", "Times reading stopped until the store gave memory back.";
    SocketErrors, "listen_socket_errors_total", "Errors of accept, recvmmsg or read other than would-block.";
    RowsSip, "rows_sip_total", "Rows made for the table sip.";
    RowsHep, "rows_hep_total", "Rows made for the table hep.";
    RowsRoundtrips, "rows_roundtrips_total", "Rows made for the table roundtrips.";
    RowsCapturedSip, "rows_captured_sip_total", "Rows made for the table sip of messages seen on the wire.";
    RowsFlows, "rows_flows_total", "Rows made for the table flows.";
    RowsLogs, "rows_logs_total", "Rows made for the table logs.";
    RowsMetrics, "rows_metrics_total", "Rows made for the table metrics.";
    RowsSpans, "rows_spans_total", "Rows made for the table spans.";
    Batches, "rows_batches_total", "Batches sealed and handed to the lake.";
    HandedOver, "rows_handed_over_total", "Rows in those batches.";
    NoticeTrailingBytes, "notice_trailing_bytes_total", "HEP packets followed by bytes beyond their length.";
    NoticeBadChunkSize, "notice_bad_chunk_size_total", "HEP packets with a generic chunk of the wrong size, which was ignored.";
    NoticeDuplicateChunk, "notice_duplicate_chunk_total", "HEP packets with a chunk given twice; the first one counts.";
    NoticeTimeReplaced, "notice_time_replaced_total", "Times that were missing or impossible; the time of receipt stands in.";
    NoticeSipUnparsed, "notice_sip_unparsed_total", "SIP payloads that could not be parsed; their rows carry the reason.";
    NoticeSipProblem, "notice_sip_problem_total", "SIP messages that were parsed but lack something (no Call-ID, bad CSeq...).";
    NoticeNotUtf8, "notice_not_utf8_total", "SIP heads that are not UTF-8; their columns hold escaped text, their payload is as it was.";
    NoticeNotInflated, "notice_not_inflated_total", "Compressed payloads that are damaged or too large; their rows keep the bytes as they came.";
    PayloadsInflated, "envelope_payloads_inflated_total", "Compressed payloads that were inflated.";
}

/// How many numbers a shard publishes: counters, then drop reasons.
pub const SLOTS: usize = Counter::ALL.len() + DropReason::ALL.len();

/// The slot of a drop reason, behind the counters.
pub(crate) const fn drop_slot(reason: DropReason) -> usize {
    Counter::ALL.len() + reason as usize
}
