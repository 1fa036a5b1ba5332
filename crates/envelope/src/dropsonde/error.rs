//! Why an envelope is refused.

use core::fmt;

use crate::protobuf;

macro_rules! labels {
    ($(#[$doc:meta])* $name:ident { $($(#[$one:meta])* $variant:ident = $label:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$one])* $variant,)+
        }

        impl $name {
            /// Every one, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// As a metric label.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $label,)+
                }
            }
        }
    };
}

labels! {
    /// The cause. The list is closed: each is a metric label.
    What {
        /// A value ends behind the end of its message.
        Truncated = "truncated",
        /// A varint has more than ten bytes or more than 64 bits.
        BadVarint = "bad_varint",
        /// A field number is 0 or too large, or the wire type does not exist.
        BadTag = "bad_tag",
        /// A group ends that did not begin, or with another number than it began with.
        BadGroup = "bad_group",
        /// Groups nest deeper than [`protobuf::MAX_GROUPS`].
        TooDeep = "too_deep",
        /// A required field is not there; [`Error::field`] says which.
        MissingRequired = "missing_required",
        /// The event type has no body in this format: the unnamed ones, and the historic 1 to 3.
        UnknownEventType = "unknown_event_type",
        /// The body that the event type names is not there; [`Error::field`] says which.
        NoBody = "no_body",
    }
}

labels! {
    /// The field that is missed, by the name it has in the reference.
    Field {
        /// None is missed.
        None = "",
        /// `Envelope.origin`
        Origin = "origin",
        /// `Envelope.eventType`
        EventType = "eventType",
        /// `Envelope.httpStartStop`
        HttpStartStop = "httpStartStop",
        /// `Envelope.logMessage`
        LogMessage = "logMessage",
        /// `Envelope.valueMetric`
        ValueMetric = "valueMetric",
        /// `Envelope.counterEvent`
        CounterEvent = "counterEvent",
        /// `Envelope.error`
        ErrorEvent = "error",
        /// `Envelope.containerMetric`
        ContainerMetric = "containerMetric",
        /// `HttpStartStop.startTimestamp`
        HttpStart = "httpStartStop.startTimestamp",
        /// `HttpStartStop.stopTimestamp`
        HttpStop = "httpStartStop.stopTimestamp",
        /// `HttpStartStop.requestId`
        HttpRequestId = "httpStartStop.requestId",
        /// `HttpStartStop.peerType`
        HttpPeerType = "httpStartStop.peerType",
        /// `HttpStartStop.method`
        HttpMethod = "httpStartStop.method",
        /// `HttpStartStop.uri`
        HttpUri = "httpStartStop.uri",
        /// `HttpStartStop.remoteAddress`
        HttpRemoteAddress = "httpStartStop.remoteAddress",
        /// `HttpStartStop.userAgent`
        HttpUserAgent = "httpStartStop.userAgent",
        /// `HttpStartStop.statusCode`
        HttpStatusCode = "httpStartStop.statusCode",
        /// `HttpStartStop.contentLength`
        HttpContentLength = "httpStartStop.contentLength",
        /// `UUID.low`, of either UUID
        UuidLow = "uuid.low",
        /// `UUID.high`, of either UUID
        UuidHigh = "uuid.high",
        /// `LogMessage.message`
        LogText = "logMessage.message",
        /// `LogMessage.message_type`
        LogType = "logMessage.message_type",
        /// `LogMessage.timestamp`
        LogTimestamp = "logMessage.timestamp",
        /// `ValueMetric.name`
        ValueName = "valueMetric.name",
        /// `ValueMetric.value`
        Value = "valueMetric.value",
        /// `ValueMetric.unit`
        ValueUnit = "valueMetric.unit",
        /// `CounterEvent.name`
        CounterName = "counterEvent.name",
        /// `CounterEvent.delta`
        CounterDelta = "counterEvent.delta",
        /// `Error.source`
        ErrorSource = "error.source",
        /// `Error.code`
        ErrorCode = "error.code",
        /// `Error.message`
        ErrorMessage = "error.message",
        /// `ContainerMetric.applicationId`
        ContainerApplicationId = "containerMetric.applicationId",
        /// `ContainerMetric.instanceIndex`
        ContainerInstanceIndex = "containerMetric.instanceIndex",
        /// `ContainerMetric.cpuPercentage`
        ContainerCpu = "containerMetric.cpuPercentage",
        /// `ContainerMetric.memoryBytes`
        ContainerMemory = "containerMetric.memoryBytes",
        /// `ContainerMetric.diskBytes`
        ContainerDisk = "containerMetric.diskBytes",
    }
}

/// What went wrong, and what was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The cause.
    pub what: What,
    /// The field that is missed, for `MissingRequired` and `NoBody`.
    pub field: Field,
}

const _: () = assert!(size_of::<Error>() == 2);

impl Error {
    #[cold]
    pub(super) const fn missing(field: Field) -> Self {
        Self { what: What::MissingRequired, field }
    }
}

impl From<protobuf::What> for Error {
    #[cold]
    fn from(what: protobuf::What) -> Self {
        let what = match what {
            protobuf::What::Truncated => What::Truncated,
            protobuf::What::BadVarint => What::BadVarint,
            protobuf::What::BadTag => What::BadTag,
            protobuf::What::BadGroup => What::BadGroup,
            protobuf::What::TooDeep => What::TooDeep,
        };
        Self { what, field: Field::None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what.as_str())?;
        match self.field {
            Field::None => Ok(()),
            field => write!(f, " ({})", field.as_str()),
        }
    }
}

impl core::error::Error for Error {}
