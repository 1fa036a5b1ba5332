//! Packets of the server.

use super::answer::{self, Answer, Done, Stage};
use super::command::{Kind, Waiting};
use super::framing::{HEAD, Head, Reader, Run};
use super::login::input_rest;
use super::{Mysql, Phase, lane};
use crate::{DecodeError, Input, Key, Out, Progress, Role, Status, What};
use model::Dir;

/// Bytes of a packet that tells something: `OK`, `ERR`, a count of columns.
const TELL_WINDOW: usize = 1_024;

/// The error code of MariaDB's progress reports, which are no errors.
const PROGRESS: u16 = 0xffff;

/// The longest `EOF` packet is 5 bytes; `OK` has at least 7.
const EOF_LENGTH: usize = 5;

impl Mysql {
    /// One packet, or a run of rows or column definitions.
    pub(super) fn server(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        if self.phase == Phase::Greeting {
            return self.greeting(input, out);
        }
        let Some(head) = Head::read(input.bytes) else { return Ok(Progress::at_least(HEAD)) };
        let waiting = self.pending.front().copied();
        let follows = waiting.is_some_and(|waiting| head.sequence == waiting.sequence.wrapping_add(1));
        if !*lane(&mut self.placed, Dir::ToClient) {
            if !(input.segment_start && follows && head.length > 0) {
                self.lose_answer(input, out);
                return Ok(Progress::consumed(input.bytes.len()));
            }
            *lane(&mut self.placed, Dir::ToClient) = true;
        }
        if !self.in_step {
            *lane(&mut self.continued, Dir::ToClient) = head.continues();
            return Ok(Progress::skip(HEAD, head.length as u64));
        }
        let window = HEAD.saturating_add(head.length.min(TELL_WINDOW));
        let Some(waiting) = waiting else { return self.unasked(input, head, window, out) };
        if !follows {
            return Err(DecodeError::new(What::BadSequence, 3));
        }
        if let Some(progress) = self.continuation(Dir::ToClient, head) {
            self.passed(head);
            return Ok(progress);
        }
        if !self.answer.open {
            if input.bytes.len() < window.min(HEAD.saturating_add(1)) {
                return Ok(Progress::at_least(HEAD.saturating_add(1)));
            }
            out.begin(input, Role::Response, Key::Order);
            self.answer = Answer::default();
            self.answer.open = true;
            if waiting.kind == Kind::Rows {
                self.answer.stage = Stage::Rows;
            }
        }
        match self.answer.stage {
            Stage::Columns(_) | Stage::Parameters(..) | Stage::Results(_) => {
                Ok(self.definition(input, head, out))
            }
            Stage::Rows => match self.rows(input) {
                Some(progress) => progress,
                None => self.tell(input, head, waiting, window, out),
            },
            _ => self.tell(input, head, waiting, window, out),
        }
    }

    /// What was skipped may have been the answer to what is pending.
    fn lose_answer(&mut self, input: &Input<'_>, out: &mut Out) {
        for _ in &self.pending {
            out.cut(input.time, Key::Order, "gap");
        }
        self.lose_step();
    }

    /// Counts a packet of the answer.
    fn passed(&mut self, head: Head) {
        self.answer.bytes = self.answer.bytes.saturating_add(head.total());
        if let Some(waiting) = self.pending.front_mut() {
            waiting.sequence = head.sequence;
        }
    }

    /// A packet while nothing was asked.
    fn unasked(
        &mut self,
        input: &Input<'_>,
        head: Head,
        window: usize,
        out: &mut Out,
    ) -> Result<Progress, DecodeError> {
        let Some(payload) = input.bytes.get(HEAD..window) else { return Ok(Progress::at_least(window)) };
        match payload {
            [0xff, ..] => self.idle_error(input, payload, head.total(), out),
            [0xfe, ..] if self.answer.stray_eof && head.length == EOF_LENGTH => {}
            // It answers something that is held back, or was lost.
            _ => self.lose_step(),
        }
        self.answer.stray_eof = false;
        *lane(&mut self.continued, Dir::ToClient) = head.continues();
        Ok(Progress::skip(window, input_rest(head.length, TELL_WINDOW)))
    }

    /// A column definition. It is counted and not looked at.
    fn definition(&mut self, input: &Input<'_>, head: Head, out: &mut Out) -> Progress {
        self.passed(head);
        let eof = self.capabilities.deprecate_eof() != Some(true);
        self.answer.stage = match self.answer.stage {
            Stage::Columns(left) if left > 1 => Stage::Columns(left.saturating_sub(1)),
            Stage::Columns(_) if eof => Stage::ColumnsEnd,
            Stage::Columns(_) => Stage::Rows,
            Stage::Parameters(left, columns) if left > 1 => {
                Stage::Parameters(left.saturating_sub(1), columns)
            }
            Stage::Parameters(_, columns) if eof => Stage::ParametersEnd(columns),
            Stage::Parameters(_, columns) if columns > 0 => Stage::Results(columns),
            Stage::Results(left) if left > 1 => Stage::Results(left.saturating_sub(1)),
            _ => Stage::ResultsEnd,
        };
        if matches!(self.answer.stage, Stage::ParametersEnd(0) | Stage::ResultsEnd) {
            self.prepared(input, out);
        }
        *lane(&mut self.continued, Dir::ToClient) = head.continues();
        Progress::skip(HEAD, head.length as u64)
    }

    /// The last definition of a prepared statement has passed. Whether an `EOF` follows may be unknown.
    fn prepared(&mut self, input: &Input<'_>, out: &mut Out) {
        match self.capabilities.deprecate_eof() {
            Some(false) => self.answer.stage = Stage::ResultsEnd,
            Some(true) => self.finish(input, Status::Ok, out),
            None => {
                self.finish(input, Status::Ok, out);
                self.answer.stray_eof = true;
            }
        }
    }

    /// A run of rows; `None` when the next packet is none.
    fn rows(&mut self, input: &Input<'_>) -> Option<Result<Progress, DecodeError>> {
        let waiting = self.pending.front_mut()?;
        let Run { mut count, mut sequence, rest } = Run::of(input.bytes, waiting.sequence);
        let at = input.bytes.len().saturating_sub(rest.len());
        let mut total = at as u64;
        let told = match (Head::read(rest), rest.get(HEAD)) {
            (Some(head), Some(_)) if head.sequence != sequence.wrapping_add(1) => {
                Some(Err(DecodeError::new(What::BadSequence, at.saturating_add(3))))
            }
            // `EOF`, `OK` or `ERR`. A row can start with 0xfe only when it is longer than a packet.
            (Some(head), Some(first))
                if *first == 0xff || (*first == 0xfe && !head.continues()) || head.length == 0 =>
            {
                (at > 0).then(|| Ok(Progress::consumed(at)))
            }
            // A row that goes on behind these bytes, or in another packet.
            (Some(head), Some(_)) => {
                (count, sequence) = (count.saturating_add(1), head.sequence);
                total = total.saturating_add(head.total());
                *lane(&mut self.continued, Dir::ToClient) = head.continues();
                let end = at.saturating_add(HEAD).saturating_add(head.length);
                let beyond = end.saturating_sub(input.bytes.len()) as u64;
                Some(Ok(Progress::skip(end.min(input.bytes.len()), beyond)))
            }
            _ => Some(Ok(Progress { consumed: at, ..Progress::at_least(HEAD.saturating_add(1)) })),
        };
        waiting.sequence = sequence;
        self.answer.bytes = self.answer.bytes.saturating_add(total);
        self.answer.add_rows(count);
        told
    }

    /// A packet that tells something.
    fn tell(
        &mut self,
        input: &Input<'_>,
        head: Head,
        waiting: Waiting,
        window: usize,
        out: &mut Out,
    ) -> Result<Progress, DecodeError> {
        let Some(payload) = input.bytes.get(HEAD..window) else { return Ok(Progress::at_least(window)) };
        let Some(first) = payload.first().copied() else { return Err(DecodeError::new(What::BadLength, 0)) };
        let progress = Progress::skip(window, input_rest(head.length, TELL_WINDOW));
        // Column definitions are over. What comes is their `EOF`, or already what follows it.
        let eof = first == 0xfe && head.length == EOF_LENGTH;
        match self.answer.stage {
            Stage::ColumnsEnd => {
                self.answer.stage = Stage::Rows;
                if !eof {
                    // The next stage reads the same packet.
                    return self.server(input, out);
                }
                self.passed(head);
                if Done::read(payload, head.length).is_some_and(Done::cursor) {
                    self.answer.result(Done::default(), true);
                    self.finish(input, Status::Ok, out);
                }
                return Ok(progress);
            }
            Stage::ParametersEnd(columns) => {
                self.answer.stage = if columns > 0 { Stage::Results(columns) } else { Stage::ResultsEnd };
                if !eof {
                    // The next stage reads the same packet.
                    return self.server(input, out);
                }
                self.passed(head);
                return Ok(progress);
            }
            Stage::ResultsEnd => {
                self.passed(head);
                self.finish(input, Status::Ok, out);
                return if eof { Ok(progress) } else { Err(DecodeError::new(What::OutOfStep, 0)) };
            }
            _ => {}
        }
        self.passed(head);
        *lane(&mut self.continued, Dir::ToClient) = head.continues();
        if first == 0xff {
            if Reader::new(payload.get(1..).unwrap_or_default()).u16() != Some(PROGRESS) {
                self.fail(input, payload, out);
            }
            return Ok(progress);
        }
        if self.answer.stage == Stage::Rows {
            let done = Done::read(payload, head.length).ok_or(DecodeError::new(What::BadLength, 0))?;
            self.answer.add_rows(0);
            self.result(input, done, true, out);
            return Ok(progress);
        }
        match waiting.kind {
            Kind::Login if first == 0 => {
                self.finish(input, Status::Ok, out);
                if self.capabilities.compressed() {
                    out.opaque("compressed");
                    return Ok(Progress::stop(input.bytes.len()));
                }
            }
            Kind::Login => {}
            Kind::Stream => {
                self.finish(input, Status::Ok, out);
                out.opaque("replication");
                return Ok(Progress::stop(input.bytes.len()));
            }
            Kind::Prepare if first == 0 => self.preparing(input, payload, waiting, out)?,
            Kind::Results => self.first(input, head, payload, out)?,
            Kind::Plain if matches!(first, 0 | 0xfe) => {
                if let Some(done) = Done::read(payload, head.length) {
                    self.answer.result(done, false);
                }
                self.finish(input, Status::Ok, out);
            }
            Kind::Text => self.finish(input, Status::Ok, out),
            _ => return Err(DecodeError::new(What::OutOfStep, HEAD)),
        }
        Ok(progress)
    }

    /// The first packet of a result.
    fn first(
        &mut self,
        input: &Input<'_>,
        head: Head,
        payload: &[u8],
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        match payload.first() {
            Some(0xfb) => {
                self.sending_file = true;
                self.answer.copied(0);
                return Ok(());
            }
            // An `OK` has at least 7 bytes; a shorter packet is a flag and a count.
            Some(0 | 0xfe) if head.length >= 7 || !matches!(payload, [0, _, ..]) => {
                let done = Done::read(payload, head.length).ok_or(DecodeError::new(What::BadLength, 0))?;
                self.result(input, done, false, out);
                return Ok(());
            }
            _ => {}
        }
        let (columns, described) = self.columns(payload).ok_or(DecodeError::new(What::BadLength, HEAD))?;
        self.answer.add_rows(0);
        self.answer.stage = match (columns, described) {
            (0, _) => return Err(DecodeError::new(What::BadLength, HEAD)),
            (columns, true) => Stage::Columns(columns),
            _ if self.capabilities.deprecate_eof() == Some(true) => Stage::Rows,
            _ => Stage::ColumnsEnd,
        };
        Ok(())
    }

    /// The count of columns, and whether their definitions follow: said by a byte before the count in MySQL,
    /// behind it in MariaDB. Without such a flag there is no byte more than the count.
    fn columns(&self, payload: &[u8]) -> Option<(u64, bool)> {
        let mut reader = Reader::new(payload);
        let count = reader.int()?;
        match reader.rest() {
            [] => Some((count, true)),
            [flag @ (0 | 1)] if !self.capabilities.optional_metadata() && count > 0 => {
                Some((count, *flag == 1))
            }
            _ => {
                let mut reader = Reader::new(payload.get(1..)?);
                let count = reader.int()?;
                let flag = *payload.first()?;
                (reader.rest().is_empty() && flag <= 1).then_some((count, flag == 1))
            }
        }
    }

    /// The answer to `STMT_PREPARE`.
    fn preparing(
        &mut self,
        input: &Input<'_>,
        payload: &[u8],
        waiting: Waiting,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let mut reader = Reader::new(payload);
        let mut read = || {
            reader.u8()?;
            let number = reader.u32()?;
            let (columns, parameters) = (reader.u16()?, reader.u16()?);
            // Filler, warnings, then MySQL's flag whether definitions follow.
            let described = reader.take(3).and_then(|_| reader.u8()) != Some(0);
            Some((number, columns, parameters, described))
        };
        let (number, columns, parameters, described) = read().ok_or(DecodeError::new(What::BadLength, 0))?;
        if let Some(statement) = waiting.statement {
            self.statements.number(statement, number);
        }
        match (parameters, columns) {
            (0, 0) => self.finish(input, Status::Ok, out),
            _ if !described => self.finish(input, Status::Ok, out),
            (0, columns) => self.answer.stage = Stage::Results(columns),
            (parameters, columns) => self.answer.stage = Stage::Parameters(parameters, columns),
        }
        Ok(())
    }

    /// A result is over; another may follow.
    fn result(&mut self, input: &Input<'_>, done: Done, rows: bool, out: &mut Out) {
        self.answer.result(done, rows);
        let fetching = self.pending.front().is_some_and(|waiting| waiting.kind == Kind::Rows);
        if done.more() && !fetching {
            self.answer.stage = Stage::First;
        } else {
            self.finish(input, Status::Ok, out);
        }
    }

    /// The answer is over.
    fn finish(&mut self, input: &Input<'_>, status: Status, out: &mut Out) {
        let kind = self.pending.pop_front().map_or(Kind::Plain, |waiting| waiting.kind);
        let answer = core::mem::take(&mut self.answer);
        answer.end(input, status, matches!(kind, Kind::Results | Kind::Rows), out);
        if let Some(namespace) = self.wanted_namespace.take() {
            self.namespace = namespace;
        }
    }

    /// The answer is an error.
    fn fail(&mut self, input: &Input<'_>, payload: &[u8], out: &mut Out) {
        let waiting = self.pending.pop_front();
        let answer = core::mem::take(&mut self.answer);
        let counts = waiting.is_some_and(|waiting| matches!(waiting.kind, Kind::Results | Kind::Rows));
        let limits = *out.limits();
        let message = answer.end(input, Status::Error, counts, out);
        answer::error(payload, &mut self.query, &limits, message);
        self.wanted_namespace = None;
        self.sending_file = false;
    }
}
