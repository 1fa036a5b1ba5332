//! A message: its bytes and where in them things are.

use super::{
    addr::NameAddr,
    auth,
    headers::Headers,
    names::{KNOWN, Known},
    problems::Problems,
    uri::Uri,
    via::Via,
};
use crate::text::{Text, decimal};

/// A range of the message. Positions survive when the buffer moves, and are half of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    at: u32,
    len: u32,
}

impl Span {
    /// The place of `part` in its message.
    #[inline(always)]
    pub(super) const fn of(part: Text<'_>) -> Self {
        Self { at: narrow(part.at()), len: narrow(part.len()) }
    }

    #[inline(always)]
    fn text(self, whole: &[u8]) -> Text<'_> {
        let at = self.at as usize;
        Text::within(whole, at, at.wrapping_add(self.len as usize))
    }

    #[inline(always)]
    fn get(self, whole: &[u8]) -> Option<&[u8]> {
        self.text(whole).some()
    }
}

/// A position in 32 bits. A message is shorter than 4 GiB, which [`parse`](super::parse) checks
/// first, so no bit is lost.
#[allow(clippy::cast_possible_truncation, reason = "the length of the message is checked")]
#[inline(always)]
const fn narrow(at: usize) -> u32 {
    at as u32
}

#[derive(Clone, Copy, Debug)]
pub(super) enum StartLine {
    Request { method: Span, uri: Span },
    Status { code: u16, reason: Span },
}

/// The CSeq header: sequence number and method (RFC 3261 §20.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CSeq<'a> {
    /// Sequence number.
    pub number: u32,
    /// Method, as written.
    pub method: &'a [u8],
}

/// One SIP message, borrowing from the bytes given to [`parse`](super::parse).
///
/// Values are those of the first header of that name, without white space around them, as they
/// stand on the wire: folds are still inside ([`unfold`](super::unfold) flattens them). An empty
/// value reads as absent.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
    text: Option<&'a str>,
    pub(super) start: StartLine,
    spans: [Span; KNOWN],
    cseq: Option<u32>,
    cseq_method: Span,
    head_end: u32,
    body_at: u32,
    folded: bool,
    pub(super) problems: Problems,
}

impl<'a> Message<'a> {
    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            text: None,
            start: StartLine::Status { code: 0, reason: Span::default() },
            spans: [Span::default(); KNOWN],
            cseq: None,
            cseq_method: Span::default(),
            head_end: 0,
            body_at: 0,
            folded: false,
            problems: Problems::NONE,
        }
    }

    #[inline(always)]
    /// Sets the place of a value, unless it is set: no value is at position 0, where the start
    /// line is. Says whether it did.
    pub(super) fn set(&mut self, header: Known, value: Text<'_>) -> bool {
        match self.spans.get_mut(header as usize) {
            Some(span) if span.at == 0 => {
                *span = Span::of(value);
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    pub(super) const fn set_cseq(&mut self, number: u32, method: Text<'_>) {
        self.cseq = Some(number);
        self.cseq_method = Span::of(method);
    }

    #[inline(always)]
    pub(super) fn set_end(&mut self, head_end: usize, body_at: usize) {
        self.head_end = narrow(head_end);
        self.body_at = narrow(body_at);
    }

    #[inline(always)]
    pub(super) const fn set_folded(&mut self) {
        self.folded = true;
    }

    /// Keeps the text of the head: that of the message where it is given, else the head itself when
    /// it is valid.
    #[inline(always)]
    pub(super) fn set_text(&mut self, message: Option<&'a str>) {
        self.text = match message {
            Some(message) => message.get(..self.head_end as usize),
            None => simdutf8::basic::from_utf8(self.head()).ok(),
        };
        if self.text.is_none() {
            self.problems |= Problems::NOT_UTF8;
        }
    }

    /// The message from its start line on, without line ends that came before it.
    #[inline]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Start line and headers, without the empty line.
    #[inline]
    pub fn head(&self) -> &'a [u8] {
        self.bytes.get(..self.head_end as usize).unwrap_or(self.bytes)
    }

    /// All that follows the empty line, whatever Content-Length says.
    #[inline]
    pub fn body(&self) -> &'a [u8] {
        self.bytes.get(self.body_at as usize..).unwrap_or(&[])
    }

    /// What is odd about the message.
    #[inline]
    pub const fn problems(&self) -> Problems {
        self.problems
    }

    /// Whether a header value may have a fold inside: without one no value has a line end in it.
    #[inline]
    pub const fn has_folds(&self) -> bool {
        self.folded
    }

    /// Whether start line and headers are valid UTF-8.
    #[inline]
    pub const fn head_is_utf8(&self) -> bool {
        self.text.is_some()
    }

    /// `part`, a slice of the head, as text, without looking at its bytes again.
    ///
    /// `None` when the head is not valid UTF-8, when `part` is not within the head, or when it
    /// begins or ends within a character.
    #[inline(always)]
    pub fn text(&self, part: &[u8]) -> Option<&'a str> {
        let text = self.text?;
        let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        text.get(at..at.checked_add(part.len())?)
    }

    /// Whether it is a request.
    #[inline]
    pub const fn is_request(&self) -> bool {
        matches!(self.start, StartLine::Request { .. })
    }

    /// Method of the request line; `None` for a response.
    #[inline]
    pub fn request_method(&self) -> Option<&'a [u8]> {
        match self.start {
            StartLine::Request { method, .. } => method.get(self.bytes),
            StartLine::Status { .. } => None,
        }
    }

    /// Method of the request line, or that of CSeq for a response. `None` only for a response
    /// without a usable CSeq.
    #[inline]
    pub fn method(&self) -> Option<&'a [u8]> {
        match self.start {
            StartLine::Request { method, .. } => method.get(self.bytes),
            StartLine::Status { .. } => self.cseq_method.get(self.bytes),
        }
    }

    /// Status code 100 to 699; `None` for a request or a code outside of that range.
    #[inline]
    pub const fn code(&self) -> Option<u16> {
        match self.start {
            StartLine::Status { code, .. } if code != 0 => Some(code),
            _ => None,
        }
    }

    /// Reason phrase of the status line.
    #[inline]
    pub fn reason(&self) -> Option<&'a [u8]> {
        match self.start {
            StartLine::Status { reason, .. } => reason.get(self.bytes),
            StartLine::Request { .. } => None,
        }
    }

    /// Request-URI as it stands on the wire.
    #[inline]
    pub fn ruri_raw(&self) -> Option<&'a [u8]> {
        match self.start {
            StartLine::Request { uri, .. } => uri.get(self.bytes),
            StartLine::Status { .. } => None,
        }
    }

    /// Request-URI, also when it wrongly stands in angle brackets.
    #[inline]
    pub fn ruri(&self) -> Option<Uri<'a>> {
        let StartLine::Request { uri, .. } = self.start else { return None };
        let uri = uri.text(self.bytes);
        Some(if uri.starts_with(b'<') { NameAddr::parse_text(uri).uri } else { Uri::whole(uri) })
    }

    /// Sequence number and method; `None` when CSeq is missing or malformed.
    #[inline]
    pub fn cseq(&self) -> Option<CSeq<'a>> {
        Some(CSeq { number: self.cseq?, method: self.cseq_method.get(self.bytes)? })
    }

    /// First value of a header.
    #[inline]
    pub fn value(&self, header: Known) -> Option<&'a [u8]> {
        self.value_text(header).some()
    }

    /// The same within reach of what follows it; empty when absent.
    #[inline(always)]
    pub(super) fn value_text(&self, header: Known) -> Text<'a> {
        self.spans.get(header as usize).copied().unwrap_or_default().text(self.bytes)
    }

    #[inline(always)]
    fn address(&self, header: Known) -> Option<NameAddr<'a>> {
        let value = self.value_text(header);
        if value.is_empty() { None } else { Some(NameAddr::parse_text(value)) }
    }

    #[inline(always)]
    fn number(&self, header: Known) -> Option<u32> {
        decimal(self.value_text(header))
    }

    /// Call-ID.
    #[inline]
    pub fn call_id(&self) -> Option<&'a [u8]> {
        self.value(Known::CallId)
    }

    /// From.
    #[inline]
    pub fn from(&self) -> Option<NameAddr<'a>> {
        self.address(Known::From)
    }

    /// To.
    #[inline]
    pub fn to(&self) -> Option<NameAddr<'a>> {
        self.address(Known::To)
    }

    /// The first Contact.
    #[inline]
    pub fn contact(&self) -> Option<NameAddr<'a>> {
        self.address(Known::Contact)
    }

    /// The first P-Asserted-Identity.
    #[inline]
    pub fn asserted_identity(&self) -> Option<NameAddr<'a>> {
        self.address(Known::PAssertedIdentity)
    }

    /// The first Remote-Party-ID.
    #[inline]
    pub fn remote_party(&self) -> Option<NameAddr<'a>> {
        self.address(Known::RemotePartyId)
    }

    /// The first Diversion.
    #[inline]
    pub fn diversion(&self) -> Option<NameAddr<'a>> {
        self.address(Known::Diversion)
    }

    /// The top Via: the first value of the first Via header.
    #[inline]
    pub fn via(&self) -> Option<Via<'a>> {
        Some(self.value_text(Known::Via)).filter(|value| !value.is_empty()).map(Via::parse_text)
    }

    /// User-Agent.
    #[inline]
    pub fn user_agent(&self) -> Option<&'a [u8]> {
        self.value(Known::UserAgent)
    }

    /// Server.
    #[inline]
    pub fn server(&self) -> Option<&'a [u8]> {
        self.value(Known::Server)
    }

    /// Content-Type.
    #[inline]
    pub fn content_type(&self) -> Option<&'a [u8]> {
        self.value(Known::ContentType)
    }

    /// Content-Length in bytes, as announced.
    #[inline]
    pub fn content_length(&self) -> Option<u32> {
        self.number(Known::ContentLength)
    }

    /// Max-Forwards in hops.
    #[inline]
    pub fn max_forwards(&self) -> Option<u32> {
        self.number(Known::MaxForwards)
    }

    /// Expires in seconds; the `expires` parameter of Contact is not looked at.
    #[inline]
    pub fn expires(&self) -> Option<u32> {
        self.number(Known::Expires)
    }

    /// User name of Authorization, else of Proxy-Authorization.
    #[inline]
    pub fn auth_username(&self) -> Option<&'a [u8]> {
        let name = |header| auth::username(self.value_text(header));
        name(Known::Authorization).or_else(|| name(Known::ProxyAuthorization))
    }

    /// All headers in wire order, found by walking the head again.
    pub fn headers(&self) -> Headers<'a> {
        Headers::new(self.head())
    }

    /// First value of the header called `name`, in any case, long or compact form. Walks the head
    /// again; for headers in [`Known`] prefer [`value`](Self::value).
    pub fn header(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.headers().find(|header| header.is(name)).map(|header| header.value).filter(|v| !v.is_empty())
    }
}
