//! One message of a call, as it comes back out of the lake.

use std::net::IpAddr;

use crate::time::Nanos;

/// One SIP message with what HEP said about its transport. Owned: it outlives the query that found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallMessage {
    /// When the capture agent saw it.
    pub time: Nanos,
    /// Sender's address, where the envelope carried one.
    pub src_ip: Option<IpAddr>,
    /// Sender's port; 0 when unknown.
    pub src_port: u16,
    /// Receiver's address, where the envelope carried one.
    pub dst_ip: Option<IpAddr>,
    /// Receiver's port; 0 when unknown.
    pub dst_port: u16,
    /// IANA protocol number of the transport (6 TCP, 17 UDP, 132 SCTP).
    pub ip_proto: u8,
    /// IEEE 802.1Q VLAN id, where the envelope carried one.
    pub vlan: Option<u16>,
    /// Call-ID; empty when the message has none.
    pub call_id: String,
    /// Correlation id given by the capture agent.
    pub cid: Option<String>,
    /// Request method, or the CSeq method of a response.
    pub method: Option<String>,
    /// Status code of a response; `None` for a request.
    pub code: Option<u16>,
    /// Reason phrase of a response.
    pub reason: Option<String>,
    /// CSeq number.
    pub cseq: Option<u32>,
    /// User part of From.
    pub from_user: Option<String>,
    /// Host part of From.
    pub from_host: Option<String>,
    /// Tag of From.
    pub from_tag: Option<String>,
    /// User part of To.
    pub to_user: Option<String>,
    /// Host part of To.
    pub to_host: Option<String>,
    /// Tag of To.
    pub to_tag: Option<String>,
    /// User-Agent or Server.
    pub user_agent: Option<String>,
    /// Capture agent's number.
    pub node_id: Option<u32>,
    /// Capture agent's name.
    pub node_name: Option<String>,
    /// Why the message could not be read as SIP, or what it lacks.
    pub parse_error: Option<String>,
    /// The message as it was on the wire.
    pub payload: Vec<u8>,
    /// Media endpoints offered in its SDP.
    pub media: Vec<Media>,
}

impl CallMessage {
    /// Whether it is a request (a message that is not SIP counts as one without a method).
    pub fn is_request(&self) -> bool {
        self.code.is_none()
    }
}

/// One media line of an SDP body (RFC 8866 §5.14) with the address that holds for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// `audio`, `video`, `image`, `application`...
    pub kind: String,
    /// Connection address: an IP address or a name.
    pub address: String,
    /// Port; 0 means the stream is refused.
    pub port: u16,
}
