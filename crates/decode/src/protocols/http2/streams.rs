//! The open streams of a connection.

use super::grpc::Messages;
use model::Dir;

/// Streams held at a time; another one closes the oldest. Servers allow 100 to 250.
pub(super) const MAX_STREAMS: usize = 1_000;

/// One direction of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Half {
    /// Its headers were seen.
    pub begun: bool,
    /// Its last byte was seen.
    pub ended: bool,
    /// Bytes of its frames.
    pub bytes: u64,
    /// Bytes of its DATA, without padding.
    pub body: u64,
    /// gRPC messages, where the stream is known to carry them since its headers.
    pub messages: Option<Messages>,
    /// Its headers may have been lost in a gap: only what says that it is a head is one.
    pub missed: bool,
}

/// A stream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stream {
    pub id: u32,
    pub grpc: bool,
    /// The HTTP status of the response; 0 when it is not known.
    pub code: u16,
    /// Whether it carries gRPC may be told by what was not seen: the status waits for the end.
    pub unsure: bool,
    /// What goes to the server, and what comes from it.
    pub halves: [Half; 2],
}

impl Stream {
    pub(super) const fn half(&mut self, dir: Dir) -> &mut Half {
        let [request, response] = &mut self.halves;
        match dir {
            Dir::ToServer => request,
            Dir::ToClient => response,
        }
    }
}

/// The open streams by number, and which numbers were used before.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// Sorted by `id`; clients count upwards, so new ones come last.
    open: Vec<Stream>,
    /// The first request seen; 0 before one was.
    first: u32,
    /// The last request seen.
    last: u32,
    /// Between these two, exclusive, requests were lost in a gap.
    hole: (u32, u32),
}

impl Streams {
    fn place(&self, id: u32) -> Result<usize, usize> {
        self.open.binary_search_by_key(&id, |stream| stream.id)
    }

    pub(super) fn find(&mut self, id: u32) -> Option<&mut Stream> {
        let place = self.place(id).ok()?;
        self.open.get_mut(place)
    }

    /// Adds a stream. Returns the one that had to make room for it.
    pub(super) fn open(&mut self, id: u32) -> Option<u32> {
        let mut evicted = None;
        if self.open.len() >= MAX_STREAMS {
            evicted = self.open.first().map(|oldest| oldest.id);
            self.open.drain(..1);
        }
        if let Err(place) = self.place(id) {
            self.open.insert(place, Stream { id, ..Stream::default() });
        }
        evicted
    }

    /// Notes that the client opened a stream.
    pub(super) fn asked(&mut self, id: u32) {
        if self.first == 0 {
            self.first = id;
        }
        if id > self.last {
            self.hole.1 = self.hole.1.min(id);
            self.last = id;
        }
    }

    pub(super) fn close(&mut self, id: u32) {
        if let Ok(place) = self.place(id) {
            self.open.remove(place);
        }
    }

    /// Whether the stream was seen to open and is over.
    pub(super) fn is_closed(&self, id: u32) -> bool {
        let lost = self.hole.0 < id && id < self.hole.1;
        let used = self.first != 0 && (self.first..=self.last).contains(&id);
        used && !lost && id & 1 == 1 && self.place(id).is_err()
    }

    /// The next open stream above `id` of which the response has not begun.
    pub(super) fn unanswered_above(&self, id: u32) -> Option<u32> {
        let from = self.open.partition_point(|stream| stream.id <= id);
        let waits = |stream: &&Stream| {
            let [_, response] = &stream.halves;
            stream.id & 1 == 1 && !response.begun
        };
        self.open.get(from..)?.iter().find(waits).map(|stream| stream.id)
    }

    /// Bytes of a lane are missing: messages under way in it are forgotten.
    pub(super) fn gap(&mut self, dir: Dir) {
        self.open.retain_mut(|stream| {
            let half = stream.half(dir);
            half.missed |= !half.begun;
            !half.begun || half.ended
        });
        if dir == Dir::ToServer {
            self.hole = (self.last, u32::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_streams_are_told_from_unseen_ones() {
        let mut streams = Streams::default();
        assert!(!streams.is_closed(1));
        for id in [7, 9, 11] {
            assert_eq!(streams.open(id), None);
            streams.asked(id);
        }
        streams.close(9);
        assert_eq!([5, 7, 9, 11, 13].map(|id| streams.is_closed(id)), [false, false, true, false, false]);
        streams.gap(Dir::ToServer);
        streams.open(17);
        streams.asked(17);
        streams.close(17);
        assert_eq!([9, 13, 15, 17].map(|id| streams.is_closed(id)), [true, false, false, true]);
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut streams = Streams::default();
        for i in 0..MAX_STREAMS as u32 {
            assert_eq!(streams.open(2 * i + 1), None);
        }
        assert_eq!(streams.open(5_001), Some(1));
        assert!(streams.find(1).is_none() && streams.find(3).is_some());
        assert_eq!(streams.unanswered_above(1_995), Some(1_997));
        assert_eq!(streams.unanswered_above(5_001), None);
    }
}
