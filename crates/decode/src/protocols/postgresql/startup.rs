//! The start of a session: messages without a type, and the answer to a wish for encryption.

use super::roundtrip::{Item, Kind};
use super::{MAX_NAMESPACE, Postgresql, framing, report};
use crate::{DecodeError, Input, Key, Name, Next, Out, Progress, Protocol, Role, Status, Verdict, What};

const SSL_REQUEST: u32 = 80_877_103;
const GSSENC_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;

/// The major version in the upper half of the code.
const MAJOR: u32 = 3;

/// The longest start message that a server accepts.
const MAX_STARTUP: u32 = 10_000;

/// Whether a client's first bytes open a session.
pub(super) fn probe(bytes: &[u8]) -> Verdict {
    let Some([a, b, c, d, e, f, g, h]) = bytes.first_chunk::<8>().copied() else {
        return if matches!(bytes, [] | [0] | [0, 0, ..]) { Verdict::NeedMore } else { Verdict::No };
    };
    let (length, code) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
    match code {
        SSL_REQUEST | GSSENC_REQUEST if length == 8 => Verdict::Yes,
        CANCEL_REQUEST if (16..=268).contains(&length) => Verdict::Yes,
        code if code >> 16 == MAJOR && code & 0xffff <= 2 && (9..=MAX_STARTUP).contains(&length) => {
            // The first parameter has a name of letters.
            match bytes.get(8) {
                Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' || *byte == 0 => Verdict::Yes,
                Some(_) => Verdict::No,
                None => Verdict::Likely,
            }
        }
        _ => Verdict::No,
    }
}

impl Postgresql {
    /// One message without a type.
    pub(super) fn startup(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let Some([a, b, c, d, e, f, g, h]) = input.bytes.first_chunk::<8>().copied() else {
            return Ok(Progress::at_least(8));
        };
        let (length, code) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        let whole = usize::try_from(length).unwrap_or(usize::MAX);
        match code {
            SSL_REQUEST | GSSENC_REQUEST if length == 8 => {
                self.asked_encryption = true;
                return Ok(Progress::consumed(whole));
            }
            CANCEL_REQUEST if (16..=268).contains(&length) => {
                let key = self.one_way_key();
                let message = out.begin(input, Role::OneWay, key);
                report::system(message).label(Name::Operation, "CANCEL");
                out.end(input, Role::OneWay, key, u64::from(length), Status::Unset);
                // The secret key that follows is nobody's business.
                return Ok(Progress::skip(8, u64::from(length).saturating_sub(8)));
            }
            code if code >> 16 == MAJOR && (9..=MAX_STARTUP).contains(&length) => {}
            code if code >> 16 == MAJOR => return Err(DecodeError::new(What::BadLength, 0)),
            _ => return Err(DecodeError::new(What::BadMagic, 4)),
        }
        let Some(parameters) = input.bytes.get(8..whole) else {
            return Ok(Progress::at_least(whole));
        };
        self.session(input, parameters, u64::from(length), out);
        Ok(Progress::consumed(whole))
    }

    fn session(&mut self, input: &Input<'_>, mut parameters: &[u8], length: u64, out: &mut Out) {
        let (mut user, mut database, mut application) = (&b""[..], &b""[..], &b""[..]);
        while let Some((name, rest)) = framing::text(parameters)
            && !name.is_empty()
            && let Some((value, rest)) = framing::text(rest)
        {
            match name {
                b"user" => user = value,
                b"database" => database = value,
                b"application_name" => application = value,
                b"replication" => self.replication = !matches!(value, b"false" | b"off" | b"no" | b"0"),
                _ => {}
            }
            parameters = rest;
        }
        // The database is named like the user where it is not named.
        let database = if database.is_empty() { user } else { database };
        self.namespace.clear();
        self.namespace.extend_from_slice(database.get(..MAX_NAMESPACE).unwrap_or(database));
        self.starting = false;
        self.pending.push_back(Item::whole(Kind::Startup));
        let mut message = report::system(out.begin(input, Role::Request, Key::Order))
            .label(Name::Operation, "CONNECT")
            .text(Name::Resource, database)
            .text(Name::Attribute("db.namespace"), database)
            .text(Name::Attribute("user.name"), user);
        if !application.is_empty() {
            message = message.text(Name::Attribute("db.client.application_name"), application);
        }
        if self.replication {
            message.flag(Name::Attribute("postgresql.replication"), true);
        }
        out.end(input, Role::Request, Key::Order, length, Status::Unset);
    }

    /// The byte that answers a wish for encryption.
    pub(super) fn encryption(&mut self, input: &Input<'_>, out: &mut Out) -> Progress {
        let Some(answer) = input.bytes.first() else { return Progress::at_least(1) };
        self.asked_encryption = false;
        match answer {
            b'S' => Progress { consumed: 1, next: Next::Switch(Protocol::Tls) },
            b'G' => {
                out.opaque("gssapi");
                Progress::stop(1)
            }
            b'N' => Progress::consumed(1),
            // A server that knows no encryption says so with an ErrorResponse: the client starts anew.
            _ => {
                *self.placed_mut(input.dir) = false;
                Progress::consumed(input.bytes.len())
            }
        }
    }
}
