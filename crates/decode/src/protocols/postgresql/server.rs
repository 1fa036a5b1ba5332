//! Messages of the server.

use super::framing::{self, HEAD, Tell};
use super::report::{REPORT_WINDOW, Report, Tag};
use super::roundtrip::{Item, Kind};
use super::{Postgresql, report};
use crate::{DecodeError, Input, Key, Name, Notice, Out, Progress, Role, Status, What};
use model::Dir;

/// Bytes of a notification that are read: process, channel, start of the payload.
const NOTIFY_WINDOW: usize = 128;

/// Why a message got no answer of its own.
const SKIPPED: &str = "skipped after an error earlier in the pipeline";

impl Postgresql {
    /// One message, or a run of rows.
    pub(super) fn server(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let (kind, length) = match Self::head(input)? {
            Tell::Message(kind, length) => (kind, length),
            Tell::More => return Ok(Progress::at_least(HEAD)),
        };
        let wanted = match kind {
            b'E' | b'N' => length.min(REPORT_WINDOW),
            b'C' | b'Z' => length,
            b'R' => 4,
            b'A' => length.min(NOTIFY_WINDOW),
            _ => 0,
        };
        let window = HEAD.saturating_add(wanted);
        let Some(body) = input.bytes.get(HEAD..window) else { return Ok(Progress::at_least(window)) };
        let rest = length.saturating_sub(wanted) as u64;
        if self.in_step && self.pending.is_empty() && !matches!(kind, b'S' | b'N' | b'A' | b'E') {
            // It answers something that is held back, or was lost.
            self.end_answer(out);
            self.lose_step();
        }
        if !self.in_step {
            let total = (HEAD as u64).saturating_add(length as u64);
            self.out_of_step(input, kind, total, out);
            return Ok(Progress::skip(window, rest));
        }
        let total = (HEAD as u64).saturating_add(length as u64);
        match kind {
            b'D' => return self.rows(input, out),
            b'S' => self.aside(total, false),
            b'N' if self.answer.open || !self.pending.is_empty() => self.aside(total, true),
            b'N' => self.tell(input, Report::read(body), false, total, out),
            b'A' => self.notification(input, body, total, out),
            b'E' => self.error(input, body, total, out)?,
            b'Z' => self.ready(input, total, out)?,
            b'W' => {
                self.answer(input, true, total, out);
                self.end_answer(out);
                out.opaque("replication");
                return Ok(Progress::stop(input.bytes.len()));
            }
            _ => self.reply(input, kind, body, total, out)?,
        }
        Ok(Progress::skip(window, rest))
    }

    /// Not in step: only a `ReadyForQuery` says that the session is idle. It ends an answer to something that
    /// was not seen, or is no longer known.
    pub(super) fn out_of_step(&mut self, input: &Input<'_>, kind: u8, bytes: u64, out: &mut Out) {
        match kind {
            b'N' | b'A' | b'S' => return,
            _ => self.quiet = kind == b'Z',
        }
        self.answer.bytes = self.answer.bytes.saturating_add(bytes);
        if self.quiet {
            let bytes = core::mem::take(&mut self.answer).bytes;
            report::system(out.begin(input, Role::Response, Key::Order));
            out.end(input, Role::Response, Key::Order, bytes, Status::Unset);
        }
    }

    /// A message that the server says when it likes.
    fn aside(&mut self, total: u64, notice: bool) {
        if self.answer.open {
            self.answer.bytes = self.answer.bytes.saturating_add(total);
        }
        if notice {
            self.answer.notices = self.answer.notices.saturating_add(1);
        }
    }

    /// A run of rows. They are counted and not looked at.
    fn rows(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let item = self.oldest(&[Kind::Execute, Kind::Query])?;
        self.answer(input, item.first, 0, out);
        let (mut at, mut rows) = (0_usize, 0_u64);
        let mut total = 0_u64;
        let skip = loop {
            let here = input.bytes.get(at..).unwrap_or_default();
            let Ok(Tell::Message(b'D', length)) = framing::tell(here, Dir::ToClient) else { break 0 };
            rows = rows.saturating_add(1);
            let size = HEAD.saturating_add(length);
            total = total.saturating_add(size as u64);
            at = at.saturating_add(size);
            if let Some(beyond) = at.checked_sub(input.bytes.len()) {
                break beyond as u64;
            }
        };
        let answer = &mut self.answer;
        answer.bytes = answer.bytes.saturating_add(total);
        answer.rows = answer.rows.saturating_add(rows);
        answer.fresh_rows = answer.fresh_rows.saturating_add(rows);
        Ok(Progress::skip(at.min(input.bytes.len()), skip))
    }

    /// The oldest item, which must be of a kind that such an answer has.
    fn oldest(&self, kinds: &[Kind]) -> Result<Item, DecodeError> {
        match self.pending.front() {
            Some(item) if kinds.contains(&item.kind) && !self.skipping => Ok(*item),
            _ => Err(DecodeError::new(What::OutOfStep, 0)),
        }
    }

    fn reply(
        &mut self,
        input: &Input<'_>,
        kind: u8,
        body: &[u8],
        total: u64,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let kinds: &[Kind] = match kind {
            b'R' | b'K' | b'v' => &[Kind::Startup],
            b'1' => &[Kind::Parse],
            b'2' => &[Kind::Bind],
            b'3' => &[Kind::Close],
            b't' | b'n' => &[Kind::Describe],
            b'T' => &[Kind::Describe, Kind::Execute, Kind::Query],
            b's' => &[Kind::Execute],
            b'V' => &[Kind::Function],
            _ => &[Kind::Execute, Kind::Query],
        };
        let item = self.oldest(kinds)?;
        self.answer(input, item.first, total, out);
        match kind {
            b'R' => self.authentication(body),
            b'T' if item.kind != Kind::Describe => self.answer.returns = true,
            b'C' => self.complete(body),
            b'G' => self.copy_in(item.kind),
            b'H' => self.answer.copied = Some(0),
            b'd' => {
                let copied = self.answer.copied.unwrap_or_default();
                self.answer.copied = Some(copied.saturating_add(total).saturating_sub(HEAD as u64));
            }
            _ => {}
        }
        let answered = match kind {
            b'1' | b'2' | b'3' | b'n' | b's' => true,
            b'T' => item.kind == Kind::Describe,
            b'C' | b'I' => item.kind == Kind::Execute,
            _ => false,
        };
        if answered {
            self.answered(out);
        }
        Ok(())
    }

    fn authentication(&mut self, body: &[u8]) {
        self.authentication = match body {
            [0, 0, 0, 3] => "password",
            [0, 0, 0, 5] => "md5",
            [0, 0, 0, 7 | 8] => "gssapi",
            [0, 0, 0, 9] => "sspi",
            [0, 0, 0, 10] => "sasl",
            [0, 0, 0, 0] if self.authentication.is_empty() => "trust",
            _ => self.authentication,
        };
    }

    fn complete(&mut self, tag: &[u8]) {
        let answer = &mut self.answer;
        answer.commands = answer.commands.saturating_add(1);
        let affected = match Tag::read(tag) {
            Tag::Returned(0) => {
                answer.returns = true;
                None
            }
            // `CREATE TABLE … AS` counts rows that it does not return.
            Tag::Returned(rows) if answer.fresh_rows == 0 && !answer.returns => Some(rows),
            Tag::Returned(_) => {
                answer.returns = true;
                None
            }
            Tag::Affected(rows) => Some(rows),
            Tag::Plain => None,
        };
        if let Some(rows) = affected {
            answer.affected = Some(answer.affected.unwrap_or_default().saturating_add(rows));
        }
        answer.fresh_rows = 0;
    }

    /// The server asks for data; what the client has sent behind an `Execute` is discarded.
    fn copy_in(&mut self, kind: Kind) {
        self.copying_in = true;
        self.answer.copied = Some(0);
        if kind == Kind::Execute {
            self.pending.retain(|item| item.kind != Kind::Sync);
        }
    }

    fn error(
        &mut self,
        input: &Input<'_>,
        body: &[u8],
        total: u64,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let report = Report::read(body);
        let Some(item) = self.pending.front().copied() else {
            if self.answer.open {
                self.end_answer(out);
            }
            self.tell(input, report, true, total, out);
            return Ok(());
        };
        self.copying_in = false;
        if self.skipping || (item.kind == Kind::Sync && !item.last && !self.answer.open) {
            self.tell(input, report, true, total, out);
            return Ok(());
        }
        // In front of a Sync it is the commit of the answer before that failed.
        self.answer(input, item.first && item.kind != Kind::Sync, total, out);
        let message = self.fail_answer(input.time, out);
        report.describe(message, true);
        self.skipping = !matches!(item.kind, Kind::Startup | Kind::Query | Kind::Function | Kind::Sync);
        // The error is the answer; what still follows is the ReadyForQuery.
        if let Some(item) = self.pending.front_mut() {
            item.first = false;
            item.last = false;
        }
        Ok(())
    }

    /// An error or a notice that answers nothing.
    fn tell(&mut self, input: &Input<'_>, report: Report<'_>, error: bool, total: u64, out: &mut Out) {
        let key = self.one_way_key();
        let message = out.begin(input, Role::OneWay, key);
        let message = self.place(message).label(Name::Operation, if error { "ERROR" } else { "NOTICE" });
        report.describe(message, error);
        let status = if error { Status::Error } else { Status::Unset };
        out.end(input, Role::OneWay, key, total, status);
    }

    fn notification(&mut self, input: &Input<'_>, body: &[u8], total: u64, out: &mut Out) {
        let key = self.one_way_key();
        let channel = body.get(4..).and_then(framing::text).map_or(&b""[..], |(channel, _)| channel);
        let message = out.begin(input, Role::OneWay, key);
        self.place(message).label(Name::Operation, "NOTIFICATION").text(Name::Resource, channel);
        out.end(input, Role::OneWay, key, total, Status::Unset);
    }

    /// `ReadyForQuery`: everything up to here is answered.
    fn ready(&mut self, input: &Input<'_>, total: u64, out: &mut Out) -> Result<(), DecodeError> {
        self.copying_in = false;
        if core::mem::take(&mut self.skipping) {
            while let Some(item) = self.pending.pop_front() {
                if item.first {
                    out.begin(input, Role::Response, Key::Order);
                    out.end(input, Role::Response, Key::Order, 0, Status::Error).label(Name::Error, SKIPPED);
                }
                if item.kind == Kind::Sync {
                    break;
                }
            }
            return Ok(());
        }
        let item = self.oldest(&[Kind::Sync, Kind::Startup, Kind::Query, Kind::Function])?;
        self.pending.pop_front();
        if item.last {
            self.answer(input, item.first, total, out);
        } else if self.answer.open {
            self.answer.ready(input.time, total);
        }
        if item.kind == Kind::Startup && self.answer.open {
            let answer = core::mem::take(&mut self.answer);
            let message =
                out.end_at(Dir::ToClient, input.time, Role::Response, Key::Order, answer.bytes, Status::Ok);
            if matches!(self.authentication, "" | "trust") {
                message.label(Name::Attribute("postgresql.authentication"), "trust");
            } else {
                message
                    .label(Name::Attribute("postgresql.authentication"), self.authentication)
                    .notice(Notice::Redacted);
            }
            return Ok(());
        }
        self.end_answer(out);
        Ok(())
    }
}
