//! Where time goes: the stages of each kind of thread, in the processor's cycles.
//!
//! A thread is always in exactly one stage, and each cycle between its start and now is charged to exactly one: the
//! times of a thread's stages add up to its life. A stage is entered with one reading of the cycle counter
//! ([`Meters::enter`]), which charges what passed to the stage before. That is done per batch, not per message; how the
//! time of a batch divides between decoding and appending is known from one message in [`SAMPLE_EVERY`].
//!
//! Time is elapsed time: a thread that the kernel took off its core in the middle of a stage is charged for it.

mod board;
mod place;
mod thread;

pub use board::{MeterBoard, Snapshot, Span};
pub use place::{adopt, during};
pub use thread::{Meters, SAMPLE_EVERY, Sampler};

/// Threads that do the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Crew {
    /// They receive HEP.
    Shards,
    /// They capture.
    Capture,
    /// They write files.
    Writers,
}

impl Crew {
    /// Every crew, in the order of the pipeline.
    pub const ALL: [Self; 3] = [Self::Shards, Self::Capture, Self::Writers];

    /// The label in reports and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shards => "shards",
            Self::Capture => "capture",
            Self::Writers => "writers",
        }
    }

    /// The stages of its threads, in the order of the pipeline.
    pub fn stages(self) -> &'static [Meter] {
        let first = self.first() as usize;
        let end = Meter::ALL.iter().rposition(|meter| meter.crew() == self).map_or(first, |last| last + 1);
        Meter::ALL.get(first..end).unwrap_or_default()
    }

    const fn first(self) -> Meter {
        match self {
            Self::Shards => Meter::HepWait,
            Self::Capture => Meter::CaptureWait,
            Self::Writers => Meter::StoreWait,
        }
    }
}

/// What a thread does while it is in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// It waits for work.
    Idle,
    /// It works.
    Work,
    /// It could work, but a later stage keeps it waiting.
    Held,
}

macro_rules! meters {
    ($($variant:ident, $crew:ident, $activity:ident, $name:literal, $unit:literal, $help:literal;)*) => {
        /// A stage whose time is measured.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Meter { $(#[doc = $help] $variant,)* }

        impl Meter {
            /// Every stage, crew by crew, in the order of the pipeline.
            pub const ALL: &'static [Meter] = &[$(Meter::$variant,)*];

            /// The label in reports and metrics.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The threads that it is a stage of.
            pub const fn crew(self) -> Crew {
                match self { $(Self::$variant => Crew::$crew,)* }
            }

            /// What a thread does in it.
            pub const fn activity(self) -> Activity {
                match self { $(Self::$variant => Activity::$activity,)* }
            }

            /// What is counted as its units.
            pub const fn unit(self) -> &'static str {
                match self { $(Self::$variant => $unit,)* }
            }

            /// One sentence for people.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

meters! {
    HepWait, Shards, Idle, "hep.wait", "turns", "Waiting for something to arrive.";
    HepReceive, Shards, Work, "hep.receive", "datagrams", "recvmmsg calls, and all else about sockets.";
    HepRead, Shards, Work, "hep.read", "reads", "Reading TCP connections.";
    HepDecode, Shards, Work, "hep.decode", "messages", "Opening envelopes, inflating, parsing SIP.";
    HepAppend, Shards, Work, "hep.append", "messages", "Setting the columns of rows.";
    HepSeal, Shards, Work, "hep.seal", "rows", "Closing batches of columns.";
    HepHeld, Shards, Held, "hep.held", "batches", "Held up because the store keeps the memory.";
    CaptureWait, Capture, Idle, "capture.wait", "looks", "Waiting for frames in the ring.";
    CaptureDecode, Capture, Work, "capture.decode", "frames", "Frames to flows, messages and roundtrips.";
    CaptureAppend, Capture, Work, "capture.append", "frames", "Setting the columns of rows.";
    CaptureSeal, Capture, Work, "capture.seal", "rows", "Closing batches of columns.";
    CaptureHeld, Capture, Held, "capture.held", "batches", "Held up because the store keeps the memory.";
    StoreWait, Writers, Idle, "store.wait", "looks", "Waiting for enough rows, or for the oldest to come of age.";
    StoreEncode, Writers, Work, "store.encode", "rows", "Sorting rows, encoding and compressing columns.";
    StoreWrite, Writers, Work, "store.write", "bytes", "Writing files.";
    StoreSync, Writers, Work, "store.sync", "syncs", "Waiting for the disk to have what was written.";
    StoreCommit, Writers, Work, "store.commit", "files", "Committing files to the Delta log.";
    StoreRetry, Writers, Work, "store.retry", "tries", "Pausing after the disk refused a file, before the next try.";
}

/// The most stages that a crew has.
const MOST: usize = 7;

impl Meter {
    /// Its place among the stages of its crew.
    const fn slot(self) -> usize {
        self as usize - self.crew().first() as usize
    }

    /// Where a message goes from here while the clock is not read: its time is split by sampling.
    const fn append(self) -> Option<Self> {
        match self {
            Self::HepDecode => Some(Self::HepAppend),
            Self::CaptureDecode => Some(Self::CaptureAppend),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_has_a_slot_of_its_own() {
        for crew in Crew::ALL {
            let slots: Vec<usize> = crew.stages().iter().map(|meter| meter.slot()).collect();
            assert_eq!(slots, (0..slots.len()).collect::<Vec<_>>());
            assert!(slots.len() <= MOST && crew.stages().iter().all(|meter| meter.crew() == crew));
            assert_eq!(crew.stages()[0].activity(), Activity::Idle);
        }
        assert_eq!(Crew::ALL.iter().map(|crew| crew.stages().len()).sum::<usize>(), Meter::ALL.len());
    }
}
