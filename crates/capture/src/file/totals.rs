//! What a capture held.

/// What was read so far. `frames + unknown_link + damaged` is the number of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Frames handed out.
    pub frames: u64,
    /// Their bytes, as captured.
    pub bytes: u64,
    /// Frames skipped because their link type is not read.
    pub unknown_link: u64,
    /// The link type of the first of them, a number of <https://www.tcpdump.org/linktypes.html>.
    pub unknown_link_type: Option<u32>,
    /// Records skipped because they contradict themselves: more bytes than their block, an interface that
    /// was not described.
    pub damaged: u64,
    /// Frames that carry no time of their own and got that of the frame before (pcapng simple packets).
    pub without_time: u64,
    /// Where the record starts inside which the capture ends, when it is cut.
    pub cut: Option<u64>,
    /// Frames that the capturing machine says it lost: interfaces and system together (pcapng statistics).
    pub interface_drops: u64,
}
