//! Frames in, roundtrips out: wire, flow, decode and correlate on one thread.
#![forbid(unsafe_code)]
