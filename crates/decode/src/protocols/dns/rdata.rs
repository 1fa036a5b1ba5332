//! The data of a record, as zone files write it.

use super::name::{name, quoted};
use crate::{Cursor, DecodeError, scratch::Scratch};
use core::{fmt::Write, net::Ipv6Addr};

/// Bytes of data whose form is not known that are shown.
const SHOWN: usize = 32;

/// Writes the data at `at..end` of a message.
///
/// # Errors
/// The data is not what its type demands.
pub(super) fn rdata<const N: usize>(
    message: &[u8],
    at: usize,
    end: usize,
    kind: u16,
    text: &mut Scratch<N>,
) -> Result<(), DecodeError> {
    let data = message.get(at..end).unwrap_or_default();
    let mut cursor = Cursor::new(data);
    // Names are read in the message, because of their pointers.
    let name_at = |offset: usize, text: &mut Scratch<N>| {
        name(message.get(..end).unwrap_or_default(), at.saturating_add(offset), text)
            .map(|end| end.saturating_sub(at))
    };
    match kind {
        1 => ipv4(cursor.array()?, text),
        28 => drop(write!(text, "{}", Ipv6Addr::from(cursor.array::<16>()?))),
        2 | 5 | 12 | 39 => drop(name_at(0, text)?),
        6 => {
            let next = name_at(0, text)?;
            text.byte(b' ');
            let next = name_at(next, text)?;
            cursor.take(next)?;
            for _ in 0..5 {
                text.byte(b' ');
                text.decimal(cursor.be_u32()?.into());
            }
        }
        15 | 18 | 36 => {
            numbers(&mut cursor, 1, text)?;
            name_at(2, text)?;
        }
        33 => {
            numbers(&mut cursor, 3, text)?;
            name_at(6, text)?;
        }
        13 | 16 | 99 | 261 => strings(&mut cursor, usize::MAX, text)?,
        35 => {
            numbers(&mut cursor, 2, text)?;
            strings(&mut cursor, 3, text)?;
            text.byte(b' ');
            name_at(cursor.at(), text)?;
        }
        43 | 59 | 32_769 => {
            numbers(&mut cursor, 1, text)?;
            octets(&mut cursor, 2, text)?;
            text.hex(cursor.rest());
        }
        44 => {
            octets(&mut cursor, 2, text)?;
            text.hex(cursor.rest());
        }
        52 | 53 => {
            octets(&mut cursor, 3, text)?;
            text.hex(cursor.rest());
        }
        46 => {
            // Without the signature itself.
            let covered = cursor.be_u16()?;
            kind_name(covered, text);
            text.byte(b' ');
            octets(&mut cursor, 2, text)?;
            for _ in 0..3 {
                text.decimal(cursor.be_u32()?.into());
                text.byte(b' ');
            }
            numbers(&mut cursor, 1, text)?;
            name_at(18, text)?;
        }
        47 => drop(name_at(0, text)?),
        48 | 60 => {
            numbers(&mut cursor, 1, text)?;
            octets(&mut cursor, 2, text)?;
            base64(cursor.rest(), text);
        }
        64 | 65 => {
            numbers(&mut cursor, 1, text)?;
            let next = name_at(2, text)?;
            let mut params = Cursor::new(data.get(next..).unwrap_or_default());
            while !params.is_empty() {
                service_parameter(&mut params, text)?;
            }
        }
        256 => {
            numbers(&mut cursor, 2, text)?;
            quoted(cursor.rest(), text);
        }
        257 => {
            octets(&mut cursor, 1, text)?;
            let len = cursor.u8()?;
            text.push(cursor.take(len.into())?);
            text.byte(b' ');
            quoted(cursor.rest(), text);
        }
        _ => unknown(data, text),
    }
    Ok(())
}

/// The name of a type, or `TYPE123` (RFC 3597 §5).
pub(super) fn kind_name<const N: usize>(kind: u16, text: &mut Scratch<N>) {
    match super::names::kind(kind) {
        Some(name) => text.push(name.as_bytes()),
        None => {
            text.push(b"TYPE");
            text.decimal(kind.into());
        }
    }
}

/// `\# 4 0a000001` (RFC 3597 §5), cut.
pub(super) fn unknown<const N: usize>(data: &[u8], text: &mut Scratch<N>) {
    text.push(b"\\# ");
    text.decimal(data.len() as u64);
    if !data.is_empty() {
        text.byte(b' ');
    }
    text.hex(data.get(..SHOWN).unwrap_or(data));
    if data.len() > SHOWN {
        text.push(b"...");
    }
}

fn ipv4<const N: usize>([a, b, c, d]: [u8; 4], text: &mut Scratch<N>) {
    text.decimal(a.into());
    for octet in [b, c, d] {
        text.byte(b'.');
        text.decimal(octet.into());
    }
}

fn numbers<const N: usize>(
    cursor: &mut Cursor<'_>,
    count: usize,
    text: &mut Scratch<N>,
) -> Result<(), DecodeError> {
    for _ in 0..count {
        text.decimal(cursor.be_u16()?.into());
        text.byte(b' ');
    }
    Ok(())
}

fn octets<const N: usize>(
    cursor: &mut Cursor<'_>,
    count: usize,
    text: &mut Scratch<N>,
) -> Result<(), DecodeError> {
    for _ in 0..count {
        text.decimal(cursor.u8()?.into());
        text.byte(b' ');
    }
    Ok(())
}

fn strings<const N: usize>(
    cursor: &mut Cursor<'_>,
    most: usize,
    text: &mut Scratch<N>,
) -> Result<(), DecodeError> {
    let mut count = 0usize;
    while count < most && !cursor.is_empty() {
        let len = cursor.u8()?;
        if count > 0 {
            text.byte(b' ');
        }
        quoted(cursor.take(len.into())?, text);
        count = count.saturating_add(1);
    }
    Ok(())
}

/// One parameter of SVCB and HTTPS (RFC 9460 §14.3.2).
fn service_parameter<const N: usize>(
    params: &mut Cursor<'_>,
    text: &mut Scratch<N>,
) -> Result<(), DecodeError> {
    let (key, len) = (params.be_u16()?, params.be_u16()?);
    let mut value = params.sub(len.into())?;
    text.byte(b' ');
    let known: &[u8] = match key {
        0 => b"mandatory",
        1 => b"alpn",
        2 => b"no-default-alpn",
        3 => b"port",
        4 => b"ipv4hint",
        5 => b"ech",
        6 => b"ipv6hint",
        7 => b"dohpath",
        _ => b"",
    };
    text.push(known);
    if known.is_empty() {
        text.push(b"key");
        text.decimal(key.into());
    }
    if value.is_empty() {
        return Ok(());
    }
    text.byte(b'=');
    if matches!(key, 5 | 7..) {
        match key {
            5 => base64(value.rest(), text),
            _ => quoted(value.rest(), text),
        }
        return Ok(());
    }
    let mut first = true;
    while !value.is_empty() {
        if !core::mem::take(&mut first) {
            text.byte(b',');
        }
        match key {
            1 => {
                let len = value.u8()?;
                text.push(value.take(len.into())?);
            }
            4 => ipv4(value.array()?, text),
            6 => drop(write!(text, "{}", Ipv6Addr::from(value.array::<16>()?))),
            _ => text.decimal(value.be_u16()?.into()),
        }
    }
    Ok(())
}

/// RFC 4648 §4.
fn base64<const N: usize>(bytes: &[u8], text: &mut Scratch<N>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let mut bits = 0u32;
        for at in 0..3 {
            bits = bits << 8 | u32::from(group.get(at).copied().unwrap_or_default());
        }
        for at in 0..4usize {
            let digit = bits >> (18usize.saturating_sub(at.saturating_mul(6))) & 63;
            text.byte(if at > group.len() {
                b'='
            } else {
                DIGITS.get(digit as usize).copied().unwrap_or_default()
            });
        }
    }
}
