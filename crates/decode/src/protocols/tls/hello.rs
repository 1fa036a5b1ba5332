//! ClientHello and ServerHello (RFC 8446 §4.1, RFC 5246 §7.4.1) and the extensions that are shown.

use crate::{Cursor, DecodeError};

/// `server_name`, RFC 6066 §3.
pub(super) const SERVER_NAME: u16 = 0x0000;
/// `signature_algorithms`, RFC 8446 §4.2.3.
pub(super) const SIGNATURE_ALGORITHMS: u16 = 0x000d;
/// `application_layer_protocol_negotiation`, RFC 7301.
pub(super) const ALPN: u16 = 0x0010;
/// `pre_shared_key`, RFC 8446 §4.2.11.
const PRE_SHARED_KEY: u16 = 0x0029;
/// `supported_versions`, RFC 8446 §4.2.1.
pub(super) const SUPPORTED_VERSIONS: u16 = 0x002b;
/// `encrypted_client_hello`, RFC 9849.
const ENCRYPTED_CLIENT_HELLO: u16 = 0xfe0d;

/// The random of a HelloRetryRequest, RFC 8446 §4.1.3.
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, //
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// The first message of a client; lists are as they are on the wire.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientHello<'a> {
    pub version: u16,
    pub session: &'a [u8],
    /// Two bytes each.
    pub ciphers: &'a [u8],
    /// Type, length and content each.
    pub extensions: &'a [u8],
    pub server_name: Option<&'a [u8]>,
    /// Length and name each.
    pub alpn: Option<&'a [u8]>,
    /// Two bytes each.
    pub versions: Option<&'a [u8]>,
    pub signature_algorithms: Option<&'a [u8]>,
    pub encrypted: bool,
}

impl<'a> ClientHello<'a> {
    /// Reads the body of a ClientHello.
    pub(super) fn parse(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body);
        let mut hello = Self { version: cursor.be_u16()?, ..Self::default() };
        cursor.take(32)?;
        hello.session = short(&mut cursor)?;
        hello.ciphers = long(&mut cursor)?;
        short(&mut cursor)?;
        if !cursor.is_empty() {
            hello.extensions = long(&mut cursor)?;
        }
        for (kind, content) in Extensions(Cursor::new(hello.extensions)) {
            let mut content = Cursor::new(content);
            match kind {
                SERVER_NAME => hello.server_name = server_name(content),
                ALPN => hello.alpn = long(&mut content).ok(),
                SUPPORTED_VERSIONS => hello.versions = short(&mut content).ok(),
                SIGNATURE_ALGORITHMS => hello.signature_algorithms = long(&mut content).ok(),
                ENCRYPTED_CLIENT_HELLO => hello.encrypted = true,
                _ => {}
            }
        }
        Ok(hello)
    }

    /// The names that the client would speak, in its order.
    pub(super) fn protocols(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut cursor = Cursor::new(self.alpn.unwrap_or_default());
        core::iter::from_fn(move || short(&mut cursor).ok())
    }
}

/// What the server chose.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ServerHello<'a> {
    pub version: u16,
    pub session: &'a [u8],
    pub cipher: u16,
    pub alpn: Option<&'a [u8]>,
    /// A key of an earlier connection is used.
    pub pre_shared_key: bool,
    /// It asks for another ClientHello.
    pub retry: bool,
}

impl<'a> ServerHello<'a> {
    /// Reads the body of a ServerHello or HelloRetryRequest.
    pub(super) fn parse(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body);
        let mut hello = Self { version: cursor.be_u16()?, ..Self::default() };
        hello.retry = cursor.array::<32>()? == RETRY;
        hello.session = short(&mut cursor)?;
        hello.cipher = cursor.be_u16()?;
        cursor.u8()?;
        let extensions = if cursor.is_empty() { &[] } else { long(&mut cursor)? };
        for (kind, content) in Extensions(Cursor::new(extensions)) {
            let mut content = Cursor::new(content);
            match kind {
                ALPN => {
                    hello.alpn = long(&mut content).ok().and_then(|list| short(&mut Cursor::new(list)).ok());
                }
                SUPPORTED_VERSIONS => hello.version = content.be_u16().unwrap_or(hello.version),
                PRE_SHARED_KEY => hello.pre_shared_key = true,
                _ => {}
            }
        }
        Ok(hello)
    }
}

/// The extensions of a hello: type and content. Stops where they are damaged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extensions<'a>(pub Cursor<'a>);

impl<'a> Iterator for Extensions<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let kind = self.0.be_u16().ok()?;
        Some((kind, long(&mut self.0).ok()?))
    }
}

/// The numbers of a list of two bytes each, without the reserved ones of RFC 8701 (GREASE).
pub(super) fn numbers(list: &[u8]) -> impl Iterator<Item = u16> {
    let (pairs, _) = list.as_chunks::<2>();
    pairs.iter().map(|pair| u16::from_be_bytes(*pair)).filter(|number| !is_grease(*number))
}

/// `0x0a0a`, `0x1a1a` ... `0xfafa`.
pub(super) const fn is_grease(number: u16) -> bool {
    number & 0x0f0f == 0x0a0a && number >> 8 == number & 0xff
}

/// The host name of the list; the only type there is.
fn server_name(mut content: Cursor<'_>) -> Option<&[u8]> {
    let mut list = Cursor::new(long(&mut content).ok()?);
    match list.u8().ok()? {
        0 => long(&mut list).ok(),
        _ => None,
    }
}

/// Bytes behind a length of one byte.
fn short<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let len = cursor.u8()?;
    cursor.take(usize::from(len))
}

/// Bytes behind a length of two bytes.
fn long<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let len = cursor.be_u16()?;
    cursor.take(usize::from(len))
}
