//! TLS 1.0 to 1.3 (RFC 8446, RFC 5246): what the handshake says in plain text.
//!
//! * In: both lanes of a connection up to the ServerHello.
//! * Out: facts for the flow's row, and that it is opaque from then on. No roundtrips.
//!   `tls.client.server_name`, `tls.client.supported_protocols` (ALPN as offered), `tls.client.ja4`,
//!   `tls.client.ech` (an encrypted hello is offered: the name is then a public one),
//!   `tls.protocol.version`, `tls.cipher`, `tls.next_protocol`, `tls.resumed`, `tls.alert`.
//! * Owned: a hello that comes in several records, and the client's session id, to recognise its echo.
//! * Bounded by: [`MAX_HELLO`] bytes a direction, [`Meta::max_message`] bytes of one record.
//! * Lost: a hello with a gap in it.
//!
//! TLS 1.3 encrypts the chosen ALPN, so `tls.next_protocol` is missing there. A connection joined in its middle is recognised by its records.
//! Not decoded: certificates, anything encrypted, QUIC's hello, the hello of SSL 2.0.

mod hello;
mod ja4;
mod names;
#[cfg(test)]
mod tests;

use crate::{AfterGap, Cursor, DecodeError, Decoder, End, Input, Meta, Out, Progress, Start, Verdict, What};
use hello::{ClientHello, ServerHello};
use model::{Dir, Transport};

/// Bytes of a record's header.
const RECORD: usize = 5;

/// Bytes of a handshake message's header.
const HANDSHAKE: usize = 4;

/// The most that a record may hold, with what encryption adds in TLS 1.2 (RFC 5246 §6.2.3).
const MAX_RECORD: usize = 16_384 + 2_048;

/// The largest hello that is put together from several records. Post-quantum key shares make a ClientHello
/// about 2,000 bytes long.
const MAX_HELLO: usize = 32_768;

const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE_RECORD: u8 = 22;
const APPLICATION_DATA: u8 = 23;

const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;

/// What the handshake says.
#[derive(Debug)]
pub struct Tls {
    /// Handshake bytes of records whose message is not whole, by direction.
    parts: [Vec<u8>; 2],
    /// The session id of the ClientHello, and how long it is.
    session: ([u8; 32], usize),
    /// A ClientHello was shown; that after a HelloRetryRequest is not shown again.
    greeted: bool,
    /// The place in a lane was lost: records are only recognised.
    late: bool,
}

impl Decoder for Tls {
    const META: Meta = Meta {
        name: "tls",
        title: "TLS",
        transports: &[Transport::Tcp],
        ports: &[443, 8443, 465, 636, 853, 989, 990, 993, 995, 6443],
        probe_bytes: 16,
        max_message: RECORD + MAX_RECORD,
        specs: &[
            "https://www.rfc-editor.org/rfc/rfc8446",
            "https://www.rfc-editor.org/rfc/rfc5246",
            "https://github.com/FoxIO-LLC/ja4/blob/main/technical_details/JA4.md",
        ],
        decoded: "on the flow: server name, ALPN, version, cipher suite, JA4, resumption, plain alerts",
        not_decoded: "certificates, anything encrypted, QUIC",
    };

    fn open(start: Start) -> Self {
        Self {
            parts: Default::default(),
            session: ([0; 32], 0),
            greeted: false,
            late: start == Start::Middle,
        }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        verdict(input.dir, input.bytes)
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        if self.late && !input.segment_start {
            return Ok(Progress::consumed(input.bytes.len()));
        }
        let Some([kind, major, minor, high, low]) = input.bytes.first_chunk::<RECORD>().copied() else {
            return Ok(wait(input, RECORD));
        };
        let len = usize::from(u16::from_be_bytes([high, low]));
        let record = (CHANGE_CIPHER_SPEC..=APPLICATION_DATA).contains(&kind) && major == 3 && minor <= 4;
        if !record || len == 0 || len > MAX_RECORD {
            if self.late {
                return Ok(Progress::consumed(input.bytes.len()));
            }
            return Err(DecodeError::new(if record { What::BadLength } else { What::BadMagic }, 0));
        }
        let end = RECORD.saturating_add(len);
        let Some(content) = input.bytes.get(RECORD..end) else { return Ok(wait(input, end)) };
        match kind {
            HANDSHAKE_RECORD => self.handshake(input, out, content, end),
            ALERT => {
                if let [level, number] = content {
                    let mut text = [0; 3];
                    let name = names::alert(*number).map(str::as_bytes);
                    out.flow("tls.alert", name.unwrap_or_else(|| decimal(*number, &mut text)));
                    // A warning, such as that of an unknown server name, precedes the ServerHello.
                    if *level == 1 && *number != 0 {
                        return Ok(Progress::consumed(end));
                    }
                }
                Ok(opaque(input, out))
            }
            // From here on nothing is in plain text, or it is not seen how the connection began.
            _ => Ok(opaque(input, out)),
        }
    }

    fn gap(&mut self, _: Dir, _: u64, out: &mut Out) -> AfterGap {
        // Hellos come first: what follows a gap is not worth waiting for once the client's is known.
        if self.greeted {
            out.opaque("tls");
            return AfterGap::Stop;
        }
        self.parts = Default::default();
        self.late = true;
        AfterGap::Resync
    }

    fn finish(&mut self, _: End, out: &mut Out) {
        if self.greeted {
            out.opaque("tls");
        }
    }
}

impl Tls {
    /// One record of the handshake: a message, a part of one, or several.
    fn handshake(
        &mut self,
        input: &Input<'_>,
        out: &mut Out,
        content: &[u8],
        end: usize,
    ) -> Result<Progress, DecodeError> {
        let [to_server, to_client] = &mut self.parts;
        let part = if input.dir == Dir::ToServer { to_server } else { to_client };
        let held;
        let bytes = if part.is_empty() {
            content
        } else {
            part.extend_from_slice(content);
            held = core::mem::take(part);
            &held
        };
        let mut cursor = Cursor::new(bytes);
        let [kind, a, b, c] = match cursor.array::<HANDSHAKE>() {
            Ok(header) => header,
            Err(_) => {
                *part = bytes.to_vec();
                return Ok(Progress::consumed(end));
            }
        };
        let wanted = if input.dir == Dir::ToServer { CLIENT_HELLO } else { SERVER_HELLO };
        if kind != wanted {
            // Encrypted, or a handshake of which the beginning was not seen.
            return Ok(opaque(input, out));
        }
        let len = usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap_or(usize::MAX);
        if len > MAX_HELLO {
            return Err(DecodeError::new(What::TooLarge, RECORD));
        }
        let Ok(body) = cursor.take(len) else {
            *part = bytes.to_vec();
            return Ok(Progress::consumed(end));
        };
        self.late = false;
        if kind == CLIENT_HELLO {
            let hello = ClientHello::parse(body)?;
            if !self.greeted {
                self.greet(out, &hello);
            }
            return Ok(Progress::consumed(end));
        }
        let hello = ServerHello::parse(body)?;
        if hello.retry {
            return Ok(Progress::consumed(end));
        }
        self.answer(out, &hello);
        Ok(opaque(input, out))
    }

    fn greet(&mut self, out: &mut Out, hello: &ClientHello<'_>) {
        self.greeted = true;
        let (session, len) = &mut self.session;
        if let Some(place) = session.get_mut(..hello.session.len()) {
            place.copy_from_slice(hello.session);
            *len = hello.session.len();
        }
        if let Some(name) = hello.server_name {
            out.flow("tls.client.server_name", name);
        }
        // Names of protocols are at most 255 bytes; of a list only as much is shown as fits.
        let (mut offered, mut at) = ([0u8; 256], 0usize);
        for name in hello.protocols() {
            let comma = usize::from(at > 0);
            let end = at.saturating_add(comma).saturating_add(name.len());
            let Some([first, rest @ ..]) = offered.get_mut(at..end) else { break };
            let place = if comma == 1 {
                *first = b',';
                rest
            } else {
                offered.get_mut(at..end).unwrap_or_default()
            };
            place.copy_from_slice(name);
            at = end;
        }
        if at > 0 {
            out.flow("tls.client.supported_protocols", offered.get(..at).unwrap_or_default());
        }
        if let Some(ja4) = ja4::ja4(hello) {
            out.flow("tls.client.ja4", &ja4);
        }
        if hello.encrypted {
            out.flow("tls.client.ech", b"true");
        }
    }

    fn answer(&self, out: &mut Out, hello: &ServerHello<'_>) {
        let hex = hex(hello.version);
        out.flow("tls.protocol.version", names::version(hello.version).map_or(&hex, str::as_bytes));
        let hex = self::hex(hello.cipher);
        out.flow("tls.cipher", names::cipher(hello.cipher).map_or(&hex, str::as_bytes));
        if let Some(protocol) = hello.alpn {
            out.flow("tls.next_protocol", protocol);
        }
        // TLS 1.3 echoes every session id; before it the echo of one is the sign of a resumption.
        let (session, len) = &self.session;
        let echoed = *len > 0 && session.get(..*len) == Some(hello.session);
        if hello.pre_shared_key || (hello.version < 0x0304 && echoed) {
            out.flow("tls.resumed", b"true");
        }
    }
}

fn opaque(input: &Input<'_>, out: &mut Out) -> Progress {
    out.opaque("tls");
    Progress::stop(input.bytes.len())
}

/// Waits until `n` bytes are there; gives up what is there when no more will come.
fn wait(input: &Input<'_>, n: usize) -> Progress {
    if input.is_last() { Progress::consumed(input.bytes.len()) } else { Progress::at_least(n) }
}

/// Whether the first bytes of a lane are TLS. A hello of SSL 2.0 is not.
fn verdict(dir: Dir, bytes: &[u8]) -> Verdict {
    let Some([kind, major, minor, high, low]) = bytes.first_chunk::<RECORD>().copied() else {
        let fits = bytes
            .iter()
            .zip([[20, 23], [3, 3], [0, 4]])
            .all(|(byte, [low, high])| (low..=high).contains(byte));
        return if fits { Verdict::NeedMore } else { Verdict::No };
    };
    let len = usize::from(u16::from_be_bytes([high, low]));
    if major != 3 || minor > 4 || len == 0 || len > MAX_RECORD {
        return Verdict::No;
    }
    let wanted = if dir == Dir::ToServer { CLIENT_HELLO } else { SERVER_HELLO };
    match (kind, bytes.get(RECORD..)) {
        (HANDSHAKE_RECORD, Some([message, 0, ..])) if *message == wanted => Verdict::Yes,
        (HANDSHAKE_RECORD, Some([] | [_])) => Verdict::NeedMore,
        // Under way: any handshake message, an alert, data.
        (HANDSHAKE_RECORD, _) => Verdict::Likely,
        (ALERT, _) if len == 2 || len > 16 => Verdict::Likely,
        (CHANGE_CIPHER_SPEC, _) if len == 1 => Verdict::Likely,
        (APPLICATION_DATA, _) if minor >= 1 => Verdict::Likely,
        _ => Verdict::No,
    }
}

/// `0x` and four hex digits.
fn hex(number: u16) -> [u8; 6] {
    let digit = |shift: u32| {
        let nibble = u32::from(number.wrapping_shr(shift) & 0xf);
        char::from_digit(nibble, 16).map_or(b'0', |digit| u8::try_from(digit).unwrap_or(b'0'))
    };
    [b'0', b'x', digit(12), digit(8), digit(4), digit(0)]
}

/// Decimal digits without leading zeros.
fn decimal(number: u8, text: &mut [u8; 3]) -> &[u8] {
    *text = [number / 100, number / 10 % 10, number % 10].map(|digit| digit.wrapping_add(b'0'));
    let skip = if number >= 100 {
        0
    } else if number >= 10 {
        1
    } else {
        2
    };
    text.get(skip..).unwrap_or_default()
}
