//! Sequence numbers: 32 bits that wrap (RFC 9293 section 3.4).

/// How far behind the next byte a segment may start and still be an old one: the largest window there is
/// (RFC 7323 section 2.3). What is further back has wrapped and lies ahead.
const OLDEST: u32 = 1 << 30;

/// Where a segment starts, seen from the next byte of its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many bytes after it, 0 when it is the next one.
    Ahead(u32),
    /// So many bytes before it.
    Behind(u32),
}

/// Where `seq` lies, seen from `next`.
pub(crate) const fn place(seq: u32, next: u32) -> Place {
    let behind = next.wrapping_sub(seq);
    if behind != 0 && behind <= OLDEST { Place::Behind(behind) } else { Place::Ahead(seq.wrapping_sub(next)) }
}

/// Whether `a` comes after `b`: by less than 2 GiB.
pub(crate) const fn after(a: u32, b: u32) -> bool {
    let ahead = a.wrapping_sub(b);
    ahead != 0 && ahead < 1 << 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        assert_eq!(place(5, u32::MAX), Place::Ahead(6));
        assert_eq!(place(u32::MAX, 5), Place::Behind(6));
        assert_eq!(place(7, 7), Place::Ahead(0));
        assert_eq!(place(0, OLDEST), Place::Behind(OLDEST));
        assert_eq!(place(0, OLDEST + 1), Place::Ahead(u32::MAX - OLDEST));
        assert!(after(0, u32::MAX) && !after(u32::MAX, 0) && !after(3, 3));
    }
}
