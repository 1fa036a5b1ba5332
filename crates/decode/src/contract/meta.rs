//! What is known of a protocol before a byte of it is seen.

use model::Transport;

/// The fixed facts of one protocol.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// Its name in rows, rules and metrics.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// Where it runs.
    pub transports: &'static [Transport],
    /// The ports it is usually found on: a hint, tried before the probes of the others.
    pub ports: &'static [u16],
    /// The most bytes that its probe looks at.
    pub probe_bytes: usize,
    /// The most bytes that it may ask for at once; a head that is larger is an error of the lane.
    pub max_message: usize,
    /// Where it is specified.
    pub specs: &'static [&'static str],
    /// One sentence: what a row of it holds.
    pub decoded: &'static str,
    /// One sentence: what is not decoded.
    pub not_decoded: &'static str,
}
