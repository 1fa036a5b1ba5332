//! A capture file through one or several taps: the same rows in the same order whatever their number.
//!
//! Frames are dealt to the taps by addresses and ports, in windows of [`WINDOW`] frames. At the end of a
//! window every tap is told the time of its last frame, so that all of them have ended what is overdue, and
//! the rows of the window are sorted. Which rows a window has therefore does not depend on who made them.
//!
//! Bounded by: [`DEPTH`] windows on their way per tap, each a copy of its frames.

use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use capture::file::{FileError, Reader};
use model::{Frame, LinkType, Nanos};
use wire::Body;

use crate::{Sink, Tap};

/// Frames of one window.
pub const WINDOW: usize = 4_096;

/// Windows that wait for a tap.
const DEPTH: usize = 4;

/// A sink whose rows can be taken and put in order.
pub trait Collect: Sink + Send {
    /// A row; rows of a window are put in this order.
    type Item: Ord + Send;

    /// Moves the rows made since the last call behind those in `to`.
    fn take(&mut self, to: &mut Vec<Self::Item>);
}

/// A copy of the frames of one window that belong to one tap.
#[derive(Debug, Default)]
struct Window {
    bytes: Vec<u8>,
    frames: Vec<Meta>,
    /// The time of the window's last frame, of whatever tap; `None` ends the replay.
    end: Option<Nanos>,
    last: bool,
}

#[derive(Debug, Clone, Copy)]
struct Meta {
    time: Nanos,
    link: LinkType,
    wire_len: u32,
    vlan: Option<u16>,
    end: usize,
}

impl Window {
    fn push(&mut self, frame: &Frame<'_>) {
        self.bytes.extend_from_slice(frame.bytes);
        self.frames.push(Meta {
            time: frame.time,
            link: frame.link,
            wire_len: frame.wire_len,
            vlan: frame.vlan,
            end: self.bytes.len(),
        });
    }

    fn run<C: Collect>(&self, tap: &mut Tap<C>) {
        let mut start = 0;
        for meta in &self.frames {
            let bytes = self.bytes.get(start..meta.end).unwrap_or_default();
            start = meta.end;
            let Meta { time, link, wire_len, vlan, .. } = *meta;
            tap.frame(&Frame { time, link, wire_len, vlan, bytes });
        }
        if let Some(end) = self.end {
            tap.tick(end);
        }
        if self.last {
            tap.finish();
        }
    }
}

/// Reads the file to its end through `taps`; `accept` says which frames are wanted, `each` is given the rows
/// in order. The taps come back with their counters. With `at_once` a single tap gives its rows with the frame
/// that completes them: for a source that is still being written.
///
/// # Errors
/// When the file is damaged or cut: what was read before it has become rows all the same.
pub fn replay<R: Read, C: Collect>(
    reader: &mut Reader<R>,
    mut taps: Vec<Tap<C>>,
    at_once: bool,
    accept: impl FnMut(&Frame<'_>) -> bool,
    each: impl FnMut(C::Item),
) -> (Vec<Tap<C>>, Result<(), FileError>) {
    if taps.len() == 1
        && let Some(tap) = taps.first_mut()
    {
        let window = if at_once { 1 } else { WINDOW };
        let result = alone(reader, tap, window, accept, each);
        return (taps, result);
    }
    dealt(reader, taps, accept, each)
}

/// One tap takes the frames straight from the reader.
fn alone<R: Read, C: Collect>(
    reader: &mut Reader<R>,
    tap: &mut Tap<C>,
    window: usize,
    mut accept: impl FnMut(&Frame<'_>) -> bool,
    mut each: impl FnMut(C::Item),
) -> Result<(), FileError> {
    let mut rows = Vec::new();
    let mut count = 0;
    let mut end = None;
    let mut settle = |tap: &mut Tap<C>| {
        tap.sink().take(&mut rows);
        rows.sort();
        rows.drain(..).for_each(&mut each);
    };
    let result = loop {
        match reader.next() {
            Ok(Some(frame)) => {
                if !accept(&frame) {
                    continue;
                }
                end = end.max(Some(frame.time));
                tap.frame(&frame);
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        count += 1;
        if count >= window {
            count = 0;
            if let Some(end) = end {
                tap.tick(end);
            }
            settle(tap);
        }
    };
    if let Some(end) = end {
        tap.tick(end);
    }
    tap.finish();
    settle(tap);
    result
}

/// Several taps, a thread each.
fn dealt<R: Read, C: Collect>(
    reader: &mut Reader<R>,
    taps: Vec<Tap<C>>,
    mut accept: impl FnMut(&Frame<'_>) -> bool,
    mut each: impl FnMut(C::Item),
) -> (Vec<Tap<C>>, Result<(), FileError>) {
    std::thread::scope(|scope| {
        let mut shards: Vec<Shard<C::Item>> = Vec::new();
        let threads: Vec<_> = taps
            .into_iter()
            .map(|mut tap| {
                let (windows, todo) = sync_channel::<Window>(DEPTH);
                let (done, results) = sync_channel(DEPTH + 1);
                shards.push(Shard { windows, results, filling: Window::default(), free: Vec::new() });
                scope.spawn(move || {
                    for window in todo {
                        window.run(&mut tap);
                        let mut rows = Vec::new();
                        tap.sink().take(&mut rows);
                        if done.send((rows, window)).is_err() {
                            break;
                        }
                    }
                    tap
                })
            })
            .collect();
        let mut rows = Vec::new();
        let mut on_their_way = 0;
        let mut count = 0;
        let mut end = None;
        let result = loop {
            match reader.next() {
                Ok(Some(frame)) => {
                    if !accept(&frame) {
                        continue;
                    }
                    end = end.max(Some(frame.time));
                    let at = home(&frame, shards.len());
                    if let Some(shard) = shards.get_mut(at) {
                        shard.filling.push(&frame);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
            count += 1;
            if count == WINDOW {
                count = 0;
                shards.iter_mut().for_each(|shard| shard.send(end, false));
                on_their_way += 1;
                if on_their_way == DEPTH {
                    on_their_way -= 1;
                    collect(&mut shards, &mut rows, &mut each);
                }
            }
        };
        shards.iter_mut().for_each(|shard| shard.send(end, true));
        for _ in 0..=on_their_way {
            collect(&mut shards, &mut rows, &mut each);
        }
        drop(shards);
        let taps = threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
        (taps, result)
    })
}

/// The reader's end of one tap's thread.
struct Shard<T> {
    windows: SyncSender<Window>,
    results: Receiver<(Vec<T>, Window)>,
    filling: Window,
    free: Vec<Window>,
}

impl<T> Shard<T> {
    fn send(&mut self, end: Option<Nanos>, last: bool) {
        let next = self.free.pop().unwrap_or_default();
        let mut window = std::mem::replace(&mut self.filling, next);
        window.end = end;
        window.last = last;
        // A tap's thread ends before its windows only by a panic, which `join` will tell.
        let _ = self.windows.send(window);
    }
}

/// Waits for the oldest window of every tap and gives its rows in order.
fn collect<T: Ord>(shards: &mut [Shard<T>], rows: &mut Vec<T>, each: &mut impl FnMut(T)) {
    for shard in shards {
        if let Ok((mut made, mut window)) = shard.results.recv() {
            rows.append(&mut made);
            window.bytes.clear();
            window.frames.clear();
            shard.free.push(window);
        }
    }
    rows.sort();
    rows.drain(..).for_each(each);
}

/// Which tap a frame belongs to. Both directions of a flow meet, and so do the fragments of a datagram:
/// UDP is dealt by addresses alone.
fn home(frame: &Frame<'_>, shards: usize) -> usize {
    let Ok(packet) = wire::parse(frame) else { return 0 };
    let fold = |ip: std::net::IpAddr| match ip {
        std::net::IpAddr::V4(v4) => u64::from(v4.to_bits()),
        std::net::IpAddr::V6(v6) => {
            let [a, b, c, d, e, f, g, h] = v6.segments().map(u64::from);
            (a << 48 | b << 32 | c << 16 | d) ^ (e << 48 | f << 32 | g << 16 | h)
        }
    };
    let ports = match &packet.body {
        Body::Tcp(segment) => u64::from(segment.src_port) ^ u64::from(segment.dst_port),
        _ => 0,
    };
    // Exclusive or is the same both ways; the multiplication spreads it (Fibonacci hashing).
    let mixed = (fold(packet.src) ^ fold(packet.dst) ^ ports << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> 40).unwrap_or(0) % shards.max(1)
}
