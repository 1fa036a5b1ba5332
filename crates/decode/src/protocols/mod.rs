//! One folder per protocol, one line per protocol in the list below.

pub mod amqp;
pub mod dns;
pub mod http;
pub mod http2;
pub mod kafka;
pub mod mongodb;
pub mod mysql;
pub mod postgresql;
pub mod redis;
pub mod rtp;
pub mod sdp;
pub mod sip;
mod sql;
pub mod tls;

use crate::{AfterGap, DecodeError, Decoder, End, Input, Meta, Out, Progress, Start, Verdict};
use model::Dir;

/// Makes the closed list of protocols: their names, their facts, and one decoder that is any of them.
macro_rules! protocols {
    ($($name:ident = $decoder:path,)+) => {
        /// A protocol with a decoder. In the order in which probes are tried.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Protocol {
            $(#[doc = concat!("See [`", stringify!($decoder), "`].")] $name,)+
        }

        impl Protocol {
            /// Every protocol.
            pub const ALL: &'static [Protocol] = &[$(Protocol::$name,)+];

            /// Its fixed facts.
            pub const fn meta(self) -> &'static Meta {
                match self {
                    $(Self::$name => &<$decoder as Decoder>::META,)+
                }
            }

            /// Whether the first bytes of a lane are this protocol.
            pub fn probe(self, input: &Input<'_>) -> Verdict {
                match self {
                    $(Self::$name => <$decoder as Decoder>::probe(input),)+
                }
            }
        }

        /// The decoder of one flow, whatever its protocol.
        #[derive(Debug)]
        pub enum AnyDecoder {
            $(#[doc = concat!("The state of [`", stringify!($decoder), "`].")] $name(Box<$decoder>),)+
        }

        impl AnyDecoder {
            /// The state of a flow of this protocol.
            pub fn open(protocol: Protocol, start: Start) -> Self {
                match protocol {
                    $(Protocol::$name => Self::$name(Box::new(<$decoder as Decoder>::open(start))),)+
                }
            }

            /// Its protocol.
            pub const fn protocol(&self) -> Protocol {
                match self {
                    $(Self::$name(_) => Protocol::$name,)+
                }
            }

            /// See [`Decoder::decode`].
            ///
            /// # Errors
            /// As there.
            pub fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
                match self {
                    $(Self::$name(decoder) => decoder.decode(input, out),)+
                }
            }

            /// See [`Decoder::gap`].
            pub fn gap(&mut self, dir: Dir, missing: u64, out: &mut Out) -> AfterGap {
                match self {
                    $(Self::$name(decoder) => decoder.gap(dir, missing, out),)+
                }
            }

            /// See [`Decoder::finish`].
            pub fn finish(&mut self, end: End, out: &mut Out) {
                match self {
                    $(Self::$name(decoder) => decoder.finish(end, out),)+
                }
            }
        }
    };
}

protocols! {
    Http = http::Http,
    Http2 = http2::Http2,
    Redis = redis::Redis,
    Mysql = mysql::Mysql,
    Postgresql = postgresql::Postgresql,
    Mongodb = mongodb::Mongodb,
    Kafka = kafka::Kafka,
    Amqp = amqp::Amqp,
    Dns = dns::Dns,
    Tls = tls::Tls,
    Sip = sip::Sip,
    Rtp = rtp::Rtp,
}

impl Protocol {
    /// The protocol of a name, as rules write it.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|protocol| protocol.meta().name.eq_ignore_ascii_case(name))
    }

    /// The name in rows, rules and metrics.
    pub const fn as_str(self) -> &'static str {
        self.meta().name
    }
}
