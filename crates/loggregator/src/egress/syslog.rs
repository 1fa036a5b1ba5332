//! Syslog over TCP or TLS, RFC 5424 messages with octet counting (RFC 6587 section 3.4.1, RFC 5425 section 4.3).
//!
//! Syslog has no confirmation. A batch counts as sent when the connection took all of its bytes and was not seen to be
//! closed by then; what the kernel still held when the other side vanished is lost without a trace, as with every sender
//! of syslog. A peer that reads slowly is waited for; one that takes nothing for the answer time is left.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, split};
use tokio::time::timeout;

use super::connect::Stream;
use super::{Context, End, Session, Stopped, now_ns};
use crate::batch;
use crate::counters::Cause;
use crate::queue::Outcome;
use crate::tls;

/// What one write hands over at most, so that slow progress is seen as progress.
const PIECE: usize = 64 << 10;

/// Turns an envelope of loggregator v2 into messages; says whether there were any.
pub type Render = Arc<dyn Fn(&[u8], &mut Messages) -> bool + Send + Sync>;

/// Messages that go out together.
#[derive(Debug, Default)]
pub struct Messages {
    bytes: Vec<u8>,
}

impl Messages {
    /// Adds one message, with its length in front. Copies it.
    pub fn push(&mut self, message: &[u8]) {
        let mut digits = [0; 20];
        let mut rest = message.len();
        let mut used = 0usize;
        for digit in digits.iter_mut().rev() {
            *digit = b'0'.wrapping_add(u8::try_from(rest % 10).unwrap_or(0));
            used = used.saturating_add(1);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let length = digits.get(digits.len().saturating_sub(used)..).unwrap_or_default();
        self.bytes.extend_from_slice(length);
        self.bytes.push(b' ');
        self.bytes.extend_from_slice(message);
    }

    /// What was added so far, as it goes out.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// What is kept between sessions.
pub(crate) struct State {
    pub render: Render,
    pub messages: Messages,
}

pub(crate) async fn session(state: &mut State, io: Stream, context: &Context) -> Session {
    let (mut reader, mut writer) = split(io);
    loop {
        let Some(batch) = context.queue.take(context.window) else {
            if context.stopping() && context.queue.is_empty() {
                // Tells the other side that nothing is missing at the end.
                let _ = timeout(Duration::from_secs(2), writer.shutdown()).await;
                return Ok(Stopped);
            }
            tokio::select! {
                end = closed(&mut reader) => return Err(end),
                () = context.queue.ready() => {}
                () = context.stopped() => {}
            }
            continue;
        };
        let mut outcome = Outcome::default();
        state.messages.bytes.clear();
        for envelope in batch::envelopes(batch.message()) {
            let rendered = envelope.is_ok_and(|envelope| (state.render)(envelope, &mut state.messages));
            outcome.skipped = outcome.skipped.saturating_add(u32::from(!rendered));
        }
        let mut rest = &state.messages.bytes[..];
        while !rest.is_empty() {
            let piece = rest.get(..PIECE).unwrap_or(rest);
            tokio::select! {
                biased;
                end = closed(&mut reader) => return Err(end),
                written = timeout(context.answer_timeout, writer.write(piece)) => match written {
                    Ok(Ok(0)) => return Err(End::new(Cause::Reset, "the connection takes nothing more")),
                    Ok(Ok(length)) => rest = rest.get(length..).unwrap_or_default(),
                    Ok(Err(error)) => return Err(End::new(tls::cause(&error), error)),
                    Err(_) => {
                        let detail = format!("took nothing for {:?}", context.answer_timeout);
                        return Err(End::new(Cause::Silent, detail));
                    }
                },
            }
        }
        let flushed = timeout(context.answer_timeout, writer.flush()).await;
        match flushed {
            Ok(Ok(())) => context.queue.confirm(outcome, now_ns()),
            Ok(Err(error)) => return Err(End::new(tls::cause(&error), error)),
            Err(_) => return Err(End::new(Cause::Silent, "took nothing")),
        }
    }
}

/// Waits for the other side to close. What it says is not read for meaning: syslog has no answers.
async fn closed(reader: &mut ReadHalf<Stream>) -> End {
    let mut nothing = [0; 256];
    loop {
        match reader.read(&mut nothing).await {
            Ok(0) => return End::new(Cause::Reset, "the destination closed the connection"),
            Ok(_) => {}
            Err(error) => return End::new(tls::cause(&error), error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_stand_in_front() {
        let mut messages = Messages::default();
        for length in [0, 9, 10, 12_345] {
            messages.push(&vec![b'x'; length]);
        }
        let text = String::from_utf8(messages.bytes().to_vec()).unwrap();
        assert!(text.starts_with("0 9 xxxxxxxxx10 xxxxxxxxxx12345 xxx"));
        assert_eq!(text.len(), 2 + 11 + 13 + 12_351);
    }
}
