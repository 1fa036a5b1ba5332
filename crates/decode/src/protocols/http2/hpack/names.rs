//! The header fields that are kept.

/// A header field by its name. Values of [`Known::Other`] are never stored, so no cookie and no credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Known {
    Method,
    Path,
    Authority,
    Scheme,
    Status,
    Host,
    UserAgent,
    ContentType,
    Traceparent,
    B3,
    B3Trace,
    B3Span,
    GrpcStatus,
    GrpcMessage,
    GrpcTimeout,
    GrpcEncoding,
    /// Any other one, also one whose name was not seen.
    Other,
}

/// How many of them have a value that is kept.
pub(super) const KEPT: usize = Known::Other as usize;

impl Known {
    /// The field of a name; HTTP/2 writes them in lower case.
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b":method" => Self::Method,
            b":path" => Self::Path,
            b":authority" => Self::Authority,
            b":scheme" => Self::Scheme,
            b":status" => Self::Status,
            b"host" => Self::Host,
            b"user-agent" => Self::UserAgent,
            b"content-type" => Self::ContentType,
            b"traceparent" => Self::Traceparent,
            b"b3" => Self::B3,
            b"x-b3-traceid" => Self::B3Trace,
            b"x-b3-spanid" => Self::B3Span,
            b"grpc-status" => Self::GrpcStatus,
            b"grpc-message" => Self::GrpcMessage,
            b"grpc-timeout" => Self::GrpcTimeout,
            b"grpc-encoding" => Self::GrpcEncoding,
            _ => Self::Other,
        }
    }
}
