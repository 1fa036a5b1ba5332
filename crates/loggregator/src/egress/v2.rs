//! `loggregator.v2.Ingress/BatchSender`: one stream, on which the destination never answers.
//!
//! So how is a batch known to have arrived? A second call on the same connection is written behind it: `Send` with no
//! envelope in it. A peer reads frames in the order in which they were written, so its answer, whatever it says, shows
//! that everything before the call was read. An HTTP/2 PING would show the same, but servers made with grpc-go close a
//! connection on which they are pinged more often than every ten seconds or five minutes while they send nothing
//! themselves (`too_many_pings`, keepalive enforcement); the answer to a call is such a sending.
//!
//! What was read by the peer's transport may still be lost in a peer that is killed, or that ends the stream with an error
//! while something waits in it to be taken; the protocol has no word for more. So that a peer that refuses a stream can
//! say so first, nothing is confirmed in the first moments of a stream. At an orderly end the stream is closed on our
//! side and the peer's last word is waited for, by which it read to the end.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::SendStream;
use h2::client::SendRequest;
use tokio::time::{Instant, sleep_until, timeout};

use super::connect::Stream;
use super::grpc::{self, Status, code};
use super::wire::{Followed, Written};
use super::{Context, End, Remote, Session, Stopped, now_ns};
use crate::batch::PREFIX;
use crate::counters::{Cause, Reason};
use crate::queue::{Outcome, Window};

const BATCH_SENDER: &str = "/loggregator.v2.Ingress/BatchSender";
const SEND: &str = "/loggregator.v2.Ingress/Send";

/// Confirmations are asked for at least this far apart, unless half the window is taken.
const CONFIRM_EVERY: Duration = Duration::from_millis(50);

/// How often it is looked whether the destination asked us to leave.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long the last word of the destination is waited for when there is nothing left to lose.
const LAST_WORD: Duration = Duration::from_secs(2);

/// What is kept between sessions.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The last stream was ended for what it carried: batches go one at a time until one is confirmed, to find which.
    suspicious: bool,
}

/// A call under way that confirms the batches before it.
struct Barrier {
    answer: Pin<Box<dyn Future<Output = Result<(), h2::Error>> + Send>>,
    covers: usize,
    /// It is written when so many bytes of other streams are; from then on its answer is waited for.
    written_at: u64,
    deadline: Option<Instant>,
}

struct Sender<'a> {
    context: &'a Context,
    window: Window,
    calls: SendRequest<Bytes>,
    stream: SendStream<Bytes>,
    written: Arc<Written>,
    authority: String,
    tls: bool,
    /// The rest of the batch that is being written.
    rest: Bytes,
    /// Bytes given to the stream.
    given: u64,
    /// Of each batch in flight, how many bytes the stream has with it.
    ends: VecDeque<u64>,
    barriers: u64,
    next_barrier: Instant,
    leaving: Option<Leaving>,
}

/// No further batch is begun.
struct Leaving {
    /// The destination asked for it; otherwise all is done.
    asked: bool,
    closed: bool,
    deadline: Instant,
}

pub(crate) async fn session(state: &mut State, io: Stream, context: &Context, remote: &Remote) -> Session {
    let (io, written) = Followed::new(io);
    let (calls, mut driver) = grpc::handshake(io, remote.connect_timeout).await?;
    let authority = remote.tls.as_ref().map_or(&remote.address, |tls| &tls.server_name).clone();
    let tls = remote.tls.is_some();
    let ready = timeout(remote.connect_timeout, calls.ready()).await;
    let mut calls = match ready {
        Ok(Ok(calls)) => calls,
        // The connection knows better than the call why it ended.
        Ok(Err(error)) => return Err(reason(&mut driver, &error).await),
        Err(_) => return Err(End::new(Cause::ConnectTimeout, "no stream could be opened")),
    };
    let request = grpc::request(&authority, BATCH_SENDER, tls)?;
    let (response, stream) = match calls.send_request(request, false) {
        Ok(opened) => opened,
        Err(error) => return Err(reason(&mut driver, &error).await),
    };
    let window = if state.suspicious { Window { batches: 1, ..context.window } } else { context.window };
    let mut sender = Sender {
        context,
        window,
        calls,
        stream,
        written: written.clone(),
        authority,
        tls,
        rest: Bytes::new(),
        given: 0,
        ends: VecDeque::new(),
        barriers: 0,
        next_barrier: Instant::now() + CONFIRM_EVERY,
        leaving: None,
    };
    let mut answer = std::pin::pin!(grpc::answer(response, 0));
    let mut barrier: Option<Barrier> = None;
    loop {
        if barrier.is_none() {
            barrier = sender.ask();
        }
        sender.leave_if_done();
        let wake = sender.wake_at(barrier.as_ref());
        tokio::select! {
            biased;
            answered = &mut answer => {
                let status = match answered {
                    Ok((status, _)) => status,
                    Err(error) => return Err(reason(&mut driver, &error).await),
                };
                return sender.answered(&status, state);
            }
            done = barrier_answer(&mut barrier) => {
                match done {
                    Ok(covered) => {
                        sender.confirm(covered);
                        (state.suspicious, sender.window) = (false, context.window);
                    }
                    // A call that is reset was seen too, but says nothing about a destination in good order.
                    Err(error) => return Err(reason(&mut driver, &error).await),
                }
            }
            end = driver.ended() => return Err(end),
            () = sender.feed() => {}
            () = written.progress.notified() => {}
            () = sleep_until(wake) => sender.look(barrier.as_mut(), remote.answer_timeout)?,
            () = context.stopped() => {}
        }
        if let Some(leaving) = &sender.leaving
            && Instant::now() >= leaving.deadline
        {
            return if leaving.asked {
                Err(End {
                    orderly: true,
                    ..End::new(Cause::GoAway, "asked to leave; the last batches were not confirmed")
                })
            } else {
                Ok(Stopped)
            };
        }
    }
}

/// The connection's own end where it follows at once, otherwise the call's.
async fn reason(driver: &mut grpc::Driver, error: &h2::Error) -> End {
    if error.is_go_away() || error.is_reset() {
        return grpc::end(error);
    }
    timeout(Duration::from_millis(200), driver.ended()).await.unwrap_or_else(|_| grpc::end(error))
}

async fn barrier_answer(barrier: &mut Option<Barrier>) -> Result<usize, h2::Error> {
    let Some(waiting) = barrier else { return std::future::pending().await };
    waiting.answer.as_mut().await?;
    Ok(barrier.take().map_or(0, |done| done.covers))
}

impl Sender<'_> {
    /// Writes on, or begins the next batch; waits while neither can be done. Nothing is lost when it is not waited for.
    async fn feed(&mut self) {
        if self.rest.is_empty() {
            if self.leaving.is_some() {
                return std::future::pending().await;
            }
            let Some(batch) = self.context.queue.take(self.window) else {
                return self.context.queue.ready().await;
            };
            self.rest = batch.framed();
            self.ends.push_back(self.given.saturating_add(self.rest.len() as u64));
            return;
        }
        self.stream.reserve_capacity(self.rest.len());
        let mut room = self.stream.capacity();
        if room == 0 {
            room = match poll_fn(|context| self.stream.poll_capacity(context)).await {
                Some(Ok(room)) => room,
                // The stream or the connection ended; whoever waits for its answer hears why.
                Some(Err(_)) | None => return std::future::pending().await,
            };
        }
        let part = self.rest.split_to(room.min(self.rest.len()));
        let length = part.len() as u64;
        if self.stream.send_data(part, false).is_err() {
            return std::future::pending().await;
        }
        self.given = self.given.saturating_add(length);
    }

    /// Asks for a confirmation if there is something to confirm and it is time.
    fn ask(&mut self) -> Option<Barrier> {
        if self.ends.is_empty() || self.leaving.as_ref().is_some_and(|leaving| leaving.asked) {
            return None;
        }
        let written = self.written.first();
        let covers = self.ends.iter().take_while(|end| **end <= written).count();
        let crowded = self.ends.len().saturating_mul(2) >= self.window.batches;
        let due = Instant::now() >= self.next_barrier;
        let hurry = self.barriers > 0 && (crowded || self.context.stopping());
        if covers == 0 || !(due || hurry) {
            return None;
        }
        let request = grpc::request(&self.authority, SEND, self.tls).ok()?;
        let sent = self.calls.send_request(request, false).and_then(|(response, mut stream)| {
            stream.send_data(Bytes::from_static(&[0; PREFIX]), true)?;
            Ok(response)
        });
        match sent {
            Ok(response) => {
                self.barriers = self.barriers.saturating_add(1);
                self.next_barrier = Instant::now() + CONFIRM_EVERY;
                Some(Barrier {
                    answer: Box::pin(async move { grpc::answer(response, 0).await.map(|_| ()) }),
                    covers,
                    written_at: self.barriers.saturating_mul(PREFIX as u64),
                    deadline: None,
                })
            }
            Err(_) => {
                self.leave(true);
                None
            }
        }
    }

    fn confirm(&mut self, batches: usize) {
        let now = now_ns();
        for _ in 0..batches {
            self.ends.pop_front();
            self.context.queue.confirm(Outcome::default(), now);
        }
    }

    fn leave(&mut self, asked: bool) {
        let within = if asked { self.context.answer_timeout } else { LAST_WORD };
        let leaving = Leaving { asked, closed: false, deadline: Instant::now() + within };
        self.leaving.get_or_insert(leaving);
    }

    /// Closes our side of the stream when nothing more is to be written on it.
    fn leave_if_done(&mut self) {
        if self.context.stopping() && self.ends.is_empty() && self.context.queue.is_empty() {
            self.leave(false);
        }
        if let Some(leaving) = self.leaving.as_mut().filter(|leaving| !leaving.closed && self.rest.is_empty())
        {
            leaving.closed = true;
            let _ = self.stream.send_data(Bytes::new(), true);
        }
    }

    fn wake_at(&self, barrier: Option<&Barrier>) -> Instant {
        let mut wake = Instant::now() + LOOK_EVERY;
        if barrier.is_none() && !self.ends.is_empty() && self.next_barrier > Instant::now() {
            wake = wake.min(self.next_barrier);
        }
        let deadlines = [
            barrier.and_then(|barrier| barrier.deadline),
            self.leaving.as_ref().map(|leaving| leaving.deadline),
        ];
        deadlines.into_iter().flatten().fold(wake, Instant::min)
    }

    /// Looks whether the destination is there, and whether it wants us to leave.
    fn look(&mut self, barrier: Option<&mut Barrier>, answer_timeout: Duration) -> Result<(), End> {
        let (now, others) = (Instant::now(), self.written.others());
        let asked = barrier.is_some();
        if let Some(barrier) = barrier
            && others >= barrier.written_at
            && now >= *barrier.deadline.get_or_insert(now + answer_timeout)
        {
            return Err(End::new(Cause::Silent, format!("no answer within {answer_timeout:?}")));
        }
        let mut asleep = std::task::Context::from_waker(std::task::Waker::noop());
        if !asked
            && let std::task::Poll::Ready(Err(error)) = self.calls.poll_ready(&mut asleep)
            && error.is_go_away()
        {
            self.leave(true);
        }
        Ok(())
    }

    /// The destination ended the stream.
    fn answered(&mut self, status: &Status, state: &mut State) -> Session {
        let closed = self.leaving.as_ref().is_some_and(|leaving| leaving.closed);
        // An agent ends with the error of its last read, which after our end is EOF.
        let read_all =
            status.code == code::OK || status.code == code::UNKNOWN && status.message.contains("EOF");
        if closed && read_all {
            self.confirm(self.ends.len());
            if self.context.stopping() && self.context.queue.is_empty() {
                return Ok(Stopped);
            }
            return Err(End { orderly: true, ..End::new(Cause::GoAway, "asked to leave") });
        }
        let end = status.end();
        if end.poison {
            if state.suspicious && self.ends.len() == 1 {
                self.refuse();
            }
            state.suspicious = true;
        }
        Err(end)
    }

    /// The one batch in flight is what the destination refuses.
    fn refuse(&mut self) {
        self.ends.clear();
        self.context
            .queue
            .confirm(Outcome { skipped: 0, dropped: Some((Reason::Refused, u32::MAX)) }, now_ns());
    }
}
