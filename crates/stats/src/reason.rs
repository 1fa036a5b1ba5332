//! The closed lists of stages and drop reasons. Both are metric labels, so no value may be made at run
//! time, and the order here is the order of the books.

/// A stage of the pipeline that can lose a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Sockets: what the kernel or the framing lost.
    Listen,
    /// The outer wrapper (HEP).
    Envelope,
    /// The lake: sealing, files, commits.
    Store,
}

impl Stage {
    /// The label used in the ledger and in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Listen => "listen",
            Self::Envelope => "envelope",
            Self::Store => "store",
        }
    }
}

macro_rules! drop_reasons {
    ($($variant:ident, $stage:ident, $label:literal, $help:literal;)*) => {
        /// Why a unit was lost. Each reason belongs to exactly one [`Stage`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DropReason { $(#[doc = $help] $variant,)* }

        impl DropReason {
            /// Every reason, in the order of the pipeline.
            pub const ALL: &'static [DropReason] = &[$(DropReason::$variant,)*];

            /// The stage that loses units for this reason.
            pub const fn stage(self) -> Stage {
                match self { $(Self::$variant => Stage::$stage,)* }
            }

            /// The label used in the ledger and in metrics.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $label,)* }
            }

            /// One sentence for people.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

drop_reasons! {
    KernelBuffer, Listen, "kernel_buffer", "The socket's receive buffer was full (SO_RXQ_OVFL, SO_MEMINFO).";
    DatagramTruncated, Listen, "datagram_truncated", "A datagram was larger than the receive slot.";
    BadFraming, Listen, "bad_framing", "A TCP peer sent bytes that are no HEP frame; the connection was closed.";
    FrameIncomplete, Listen, "frame_incomplete", "A TCP connection ended in the middle of a frame.";
    ConnectionLimit, Listen, "connection_limit", "A TCP connection was refused because the limit was reached.";
    Stopping, Listen, "stopping", "A datagram arrived after the program was asked to stop.";
    Abandoned, Listen, "abandoned", "A datagram still waited when the time to drain was over.";
    Empty, Envelope, "empty", "A datagram without bytes, or of keep-alive bytes only.";
    NotHep, Envelope, "not_hep", "The bytes start with none of the HEP magics.";
    Truncated, Envelope, "truncated", "The header announces more bytes than arrived.";
    BadLength, Envelope, "bad_length", "A length field contradicts itself.";
    AuthMissing, Envelope, "auth_missing", "A key is configured and the packet carries none.";
    AuthWrong, Envelope, "auth_wrong", "The packet's key is not the configured one.";
    StoreFailed, Store, "store_failed", "The rows could not be written and the program had to stop.";
}
