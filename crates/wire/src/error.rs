//! Why a frame gives no packet: a closed cause, one byte, `Copy`.

use core::fmt;

/// Defines the causes once: the enum, the list of all, the labels and the sentences.
macro_rules! causes {
    ($($(#[doc = $doc:literal])+ $name:ident = $label:literal,)+) => {
        /// Why a frame gives no packet. The list is closed: each cause is a metric label.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum WireError {
            $($(#[doc = $doc])+ $name,)+
        }

        impl WireError {
            /// Every cause, in declaration order.
            pub const ALL: &'static [WireError] = &[$(WireError::$name,)+];

            /// The cause as a metric label in snake case.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(WireError::$name => $label,)+
                }
            }
        }
    };
}

causes! {
    /// The bytes end inside a header, and there were no more of them on the wire.
    Truncated = "truncated",
    /// The snapshot length of the capture ended inside a header; a larger one helps.
    Cut = "cut",
    /// The frame carries neither IPv4 nor IPv6: ARP, LLDP, spanning tree, PPP control and the like.
    NotIp = "not_ip",
    /// The version field of the IP header is not that of the header announced.
    BadIpVersion = "bad_ip_version",
    /// An IPv4 header shorter than 20 bytes, or a total length shorter than the header.
    BadIpLength = "bad_ip_length",
    /// A fragment without payload, or one that ends behind the largest datagram.
    BadFragment = "bad_fragment",
    /// A TCP data offset of less than 20 bytes, or behind the end of the packet.
    BadTcpLength = "bad_tcp_length",
    /// A UDP length of less than 8 bytes, or behind the end of the packet.
    BadUdpLength = "bad_udp_length",
    /// GRE version 1: PPTP carries PPP, compressed or encrypted as a rule, and is not read.
    GrePptp = "gre_pptp",
    /// A GRE version that nobody has defined.
    GreVersion = "gre_version",
    /// An ERSPAN version or frame type that is not read.
    ErspanType = "erspan_type",
    /// More headers in one frame than are followed.
    TooDeep = "too_deep",
}

const _: () = assert!(size_of::<WireError>() <= 8);

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for WireError {}
