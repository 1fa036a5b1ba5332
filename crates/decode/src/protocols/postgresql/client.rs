//! Messages of the client.

use super::Postgresql;
use super::framing::{self, HEAD, Tell};
use super::portals::MAX_NAME;
use super::roundtrip::{Item, Kind};
use crate::protocols::sql::{self, Dialect, Ref};
use crate::{DecodeError, Input, Key, Name, Out, Progress, Role, Status};

impl Postgresql {
    /// One message.
    pub(super) fn client(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let (kind, length) = match Self::head(input)? {
            Tell::Message(kind, length) => (kind, length),
            Tell::More => return Ok(Progress::at_least(HEAD)),
        };
        let wanted = match kind {
            b'Q' => sql::window(out.limits(), length),
            b'P' => length.min(sql::window(out.limits(), length).saturating_add(MAX_NAME)),
            b'B' => length.min(MAX_NAME.saturating_mul(2)),
            b'E' | b'D' | b'C' => length.min(MAX_NAME.saturating_add(6)),
            _ => 0,
        };
        let window = HEAD.saturating_add(wanted);
        let Some(body) = input.bytes.get(HEAD..window) else { return Ok(Progress::at_least(window)) };
        self.step_in(input);
        let total = (HEAD as u64).saturating_add(length as u64);
        match kind {
            b'Q' => self.query(input, body, length, total, out)?,
            b'P' => self.parse(input, body, length, total, out)?,
            b'B' => self.bind(input, body, total)?,
            b'E' => self.execute(input, body, total, out)?,
            b'D' => self.describe(input, body, total)?,
            b'C' => self.close(input, body, total)?,
            b'S' | b'H' => self.flush(kind, total, out)?,
            b'F' => self.function(input, total, out)?,
            b'd' => self.copied(length),
            b'c' | b'f' => self.copying_in = false,
            b'X' if self.in_step => {
                let key = self.one_way_key();
                let message = out.begin(input, Role::OneWay, key);
                self.place(message).label(Name::Operation, "TERMINATE");
                out.end(input, Role::OneWay, key, total, Status::Unset);
            }
            // Passwords, and what they have become: not looked at.
            _ => {}
        }
        Ok(Progress::skip(window, (length.saturating_sub(wanted)) as u64))
    }

    /// A message of the client behind a `ReadyForQuery`: from here on answers can be told from each other.
    fn step_in(&mut self, input: &Input<'_>) {
        if !self.in_step && input.first >= self.heard {
            self.in_step = self.quiet;
            self.quiet = false;
        }
    }

    fn query(
        &mut self,
        input: &Input<'_>,
        body: &[u8],
        length: usize,
        total: u64,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        if !self.in_step {
            return Ok(());
        }
        let whole = body.len() == length;
        let text = body.strip_suffix(&[0]).unwrap_or(body);
        self.query.set(text, whole, Dialect::Postgresql, out.limits());
        self.ask(Item::whole(Kind::Query))?;
        let verb = self.query.verb();
        let message = out.begin(input, Role::Request, Key::Order);
        let message =
            self.place(message).label(Name::Operation, if verb.is_empty() { "QUERY" } else { verb });
        self.query.describe(message);
        self.ending = Some(total);
        Ok(())
    }

    fn parse(
        &mut self,
        input: &Input<'_>,
        body: &[u8],
        length: usize,
        total: u64,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let mut statement = None;
        if let Some((name, rest)) = framing::text(body) {
            let (text, whole) = match framing::text(rest) {
                Some((text, _)) => (text, true),
                None => (rest, body.len() == length),
            };
            statement = Some(self.statements.insert(name, text, whole, Dialect::Postgresql, out.limits()));
        }
        if self.in_step { self.part(input, Kind::Parse, total, statement) } else { Ok(()) }
    }

    fn statement(&mut self, name: &[u8]) -> Ref {
        match self.statements.by_name(name) {
            Some(known) => known,
            None => self.statements.insert_unknown(name, Dialect::Postgresql),
        }
    }

    fn bind(&mut self, input: &Input<'_>, body: &[u8], total: u64) -> Result<(), DecodeError> {
        let mut statement = None;
        if let Some((portal, rest)) = framing::text(body) {
            statement = framing::text(rest).map(|(name, _)| self.statement(name));
            self.portals.bind(portal, statement);
        }
        if self.in_step { self.part(input, Kind::Bind, total, statement) } else { Ok(()) }
    }

    fn execute(
        &mut self,
        input: &Input<'_>,
        body: &[u8],
        total: u64,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        if !self.in_step {
            return Ok(());
        }
        let statement = framing::text(body).and_then(|(portal, _)| self.portals.find(portal));
        self.part(input, Kind::Execute, total, statement)?;
        self.close_unit(out);
        Ok(())
    }

    fn describe(&mut self, input: &Input<'_>, body: &[u8], total: u64) -> Result<(), DecodeError> {
        let statement = match body.split_first() {
            Some((b'S', rest)) => framing::text(rest).map(|(name, _)| self.statement(name)),
            Some((_, rest)) => framing::text(rest).and_then(|(portal, _)| self.portals.find(portal)),
            None => None,
        };
        if self.in_step { self.part(input, Kind::Describe, total, statement) } else { Ok(()) }
    }

    fn close(&mut self, input: &Input<'_>, body: &[u8], total: u64) -> Result<(), DecodeError> {
        if let Some((kind, rest)) = body.split_first()
            && let Some((name, _)) = framing::text(rest)
        {
            if *kind == b'S' {
                self.statements.remove_name(name);
            } else {
                self.portals.close(name);
            }
        }
        if self.in_step { self.part(input, Kind::Close, total, None) } else { Ok(()) }
    }

    /// `Sync` or `Flush`: both end a request that runs nothing.
    fn flush(&mut self, kind: u8, total: u64, out: &mut Out) -> Result<(), DecodeError> {
        if !self.in_step || self.copying_in {
            return Ok(());
        }
        let open = self.unit.items > 0;
        if kind == b'S' {
            self.ask(Item { kind: Kind::Sync, first: false, last: open })?;
        } else if open {
            match self.pending.back_mut() {
                Some(item) => item.last = true,
                None => self.end_answer(out),
            }
        }
        if open {
            self.unit.bytes = self.unit.bytes.saturating_add(total);
            self.close_unit(out);
        }
        Ok(())
    }

    fn function(&mut self, input: &Input<'_>, total: u64, out: &mut Out) -> Result<(), DecodeError> {
        if self.in_step {
            self.ask(Item::whole(Kind::Function))?;
            let message = out.begin(input, Role::Request, Key::Order);
            self.place(message).label(Name::Operation, "FUNCTION CALL");
            self.ending = Some(total);
        }
        Ok(())
    }

    /// Data of a `COPY … FROM STDIN`.
    fn copied(&mut self, length: usize) {
        if self.copying_in {
            let copied = self.answer.copied.unwrap_or_default();
            self.answer.copied = Some(copied.saturating_add(length as u64));
        }
    }
}
