//! What a message says, field by field.

use super::{
    addr::NameAddr,
    auth,
    headers::Headers,
    message::{CSeq, Message, Span},
    names::Known,
    uri::Uri,
    via::{Hop, Via},
    window::Usual,
};
use crate::{number::digits, text::Text};

impl<'a> Message<'a> {
    /// Whether it is a request.
    #[inline]
    pub const fn is_request(&self) -> bool {
        self.start.is_request
    }

    /// Method of the request line; `None` for a response.
    #[inline]
    pub fn request_method(&self) -> Option<&'a [u8]> {
        self.request_text().some()
    }

    /// The same, empty for a response.
    #[inline(always)]
    pub(super) fn request_text(&self) -> Text<'a> {
        self.start.method.text(self.bytes())
    }

    /// Method of the request line, or that of CSeq for a response. `None` only for a response
    /// without a usable CSeq.
    #[inline]
    pub fn method(&self) -> Option<&'a [u8]> {
        let method = if self.is_request() { self.start.method } else { self.cseq_method };
        method.get(self.bytes())
    }

    /// Status code 100 to 699; `None` for a request or a code outside of that range.
    #[inline]
    pub const fn code(&self) -> Option<u16> {
        match self.start.code {
            0 => None,
            code => Some(code),
        }
    }

    /// Reason phrase of the status line.
    #[inline]
    pub fn reason(&self) -> Option<&'a [u8]> {
        if self.is_request() { None } else { self.start.rest.get(self.bytes()) }
    }

    /// Request-URI as it stands on the wire.
    #[inline]
    pub fn ruri_raw(&self) -> Option<&'a [u8]> {
        if self.is_request() { self.start.rest.get(self.bytes()) } else { None }
    }

    /// The same, empty for a response.
    #[inline(always)]
    pub(super) fn request_uri_text(&self) -> Text<'a> {
        let rest = self.start.rest.text(self.bytes());
        if self.is_request() { rest } else { rest.upto(rest.at()) }
    }

    /// Request-URI, also when it wrongly stands in angle brackets.
    #[inline]
    pub fn ruri(&self) -> Option<Uri<'a>> {
        if !self.is_request() {
            return None;
        }
        let uri = self.request_uri_text();
        let usual = &self.usual.ruri;
        Some(if usual.is_some() {
            Uri::from_parts(uri.whole(), usual.uri(uri.at()))
        } else if uri.starts_with(b'<') {
            NameAddr::parse_text(uri).uri
        } else {
            Uri::unusual(uri)
        })
    }

    /// Sequence number and method; `None` when CSeq is missing or malformed.
    #[inline]
    pub fn cseq(&self) -> Option<CSeq<'a>> {
        Some(CSeq { number: self.cseq?, method: self.cseq_method.get(self.bytes())? })
    }

    /// First value of a header.
    #[inline]
    pub fn value(&self, header: Known) -> Option<&'a [u8]> {
        self.value_text(header).some()
    }

    /// The same within reach of what follows it; empty when absent.
    #[inline(always)]
    pub(super) fn value_text(&self, header: Known) -> Text<'a> {
        self.span(header).text(self.bytes())
    }

    #[inline(always)]
    pub(super) fn span(&self, header: Known) -> Span {
        self.spans.get(header as usize).copied().unwrap_or_default()
    }

    #[inline(always)]
    fn address(&self, header: Known) -> Option<NameAddr<'a>> {
        let value = self.value_text(header);
        if value.is_empty() { None } else { Some(NameAddr::parse_text(value)) }
    }

    /// The same where it was looked at already.
    #[inline(always)]
    fn seen_address(&self, header: Known, usual: &Usual) -> Option<NameAddr<'a>> {
        let value = self.value_text(header);
        if value.is_empty() { None } else { Some(NameAddr::seen(value, usual)) }
    }

    #[inline(always)]
    fn number(&self, header: Known) -> Option<u32> {
        // Places of values have no white space around them.
        digits(self.value_text(header).get())
    }

    /// Call-ID.
    #[inline]
    pub fn call_id(&self) -> Option<&'a [u8]> {
        self.value(Known::CallId)
    }

    /// From.
    #[inline]
    pub fn from(&self) -> Option<NameAddr<'a>> {
        self.seen_address(Known::From, &self.usual.from)
    }

    /// To.
    #[inline]
    pub fn to(&self) -> Option<NameAddr<'a>> {
        self.seen_address(Known::To, &self.usual.to)
    }

    /// The first Contact.
    #[inline]
    pub fn contact(&self) -> Option<NameAddr<'a>> {
        self.seen_address(Known::Contact, &self.usual.contact)
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
        let value = self.value_text(Known::Via);
        if value.is_empty() { None } else { Some(Via::seen(value, &self.usual.via)) }
    }

    /// Transport, host and branch of the top Via: less work than [`via`](Self::via).
    #[inline]
    pub fn hop(&self) -> Option<Hop<'a>> {
        let value = self.value_text(Known::Via);
        if value.is_empty() { None } else { Some(Hop::seen(value, &self.usual.via)) }
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
        let name = |header| {
            let value = self.value_text(header);
            if value.is_empty() { None } else { auth::username(value.get()) }
        };
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
