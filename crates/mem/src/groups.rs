//! The control word of a group of seven slots: seven tags, and how many entries went past the group.
//!
//! One word, so that one store takes an entry out and puts another in its place, and one load tells a reader
//! which slots are worth a look and whether there is more further on. The layout is that of F14 (A. Bronson
//! and X. Shi, "Open-sourcing F14", 2019): the count makes tombstones unnecessary.

/// Slots of a group.
pub(crate) const SLOTS: usize = 7;

/// Where the count lies.
const COUNT: u32 = 56;

/// A count that is full says so for ever: one more look per search, and never a wrong answer.
const FULL: u64 = 0xff;

const LOW: u64 = 0x0101_0101_0101_0101;
const SEVEN_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const TAGS: u64 = 0x00ff_ffff_ffff_ffff;

/// A control word. A tag of 0 means that no reader is to look at the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group(pub(crate) u64);

impl Group {
    /// The tag of a hash: never 0.
    #[inline]
    pub(crate) const fn tag(hash: u64) -> u64 {
        0x80 | hash >> 57
    }

    /// The slots with this tag, lowest first. Exact: a slot without it is never among them.
    #[inline]
    pub(crate) const fn matches(self, tag: u64) -> Slots {
        let differs = self.0 ^ (tag * LOW);
        let zero = !(((differs & SEVEN_BITS) + SEVEN_BITS) | differs | SEVEN_BITS);
        Slots(zero & TAGS)
    }

    /// The slots that readers do not look at.
    pub(crate) const fn vacant(self) -> Slots {
        self.matches(0)
    }

    /// The slots that readers look at.
    pub(crate) const fn taken(self) -> Slots {
        Slots(!self.vacant().0 & !SEVEN_BITS & TAGS)
    }

    /// Whether an entry may lie further on.
    #[inline]
    pub(crate) const fn goes_on(self) -> bool {
        self.0 >> COUNT != 0
    }

    /// With this tag at a slot; 0 takes it out.
    pub(crate) const fn with(self, slot: usize, tag: u64) -> Self {
        let at = slot * 8;
        Self(self.0 & !(0xff << at) | tag << at)
    }

    /// One more entry went past.
    pub(crate) const fn passed(self) -> Self {
        if self.0 >> COUNT == FULL { self } else { Self(self.0 + (1 << COUNT)) }
    }

    /// One that went past is gone.
    pub(crate) const fn returned(self) -> Self {
        match self.0 >> COUNT {
            0 | FULL => self,
            _ => Self(self.0 - (1 << COUNT)),
        }
    }
}

/// Some slots of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots(u64);

impl Iterator for Slots {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let slot = (self.0 != 0).then(|| self.0.trailing_zeros() as usize / 8);
        self.0 &= self.0.wrapping_sub(1);
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_is_found_where_it_is_and_nowhere_else() {
        for tag in 0x80..=0xff_u64 {
            for slot in 0..SLOTS {
                let group = Group(0x81 << COUNT).with(slot, tag);
                assert_eq!(group.matches(tag).collect::<Vec<_>>(), [slot]);
                assert_eq!(group.taken().collect::<Vec<_>>(), [slot]);
                assert_eq!(group.vacant().count(), SLOTS - 1);
                // A neighbour that differs by one bit is where inexact searches go wrong.
                if slot + 1 < SLOTS {
                    let both = group.with(slot + 1, tag ^ 1);
                    assert_eq!(both.matches(tag).collect::<Vec<_>>(), [slot]);
                }
                assert_eq!(group.with(slot, 0), Group(0x81 << COUNT));
            }
        }
    }

    #[test]
    fn the_count_goes_up_and_down_until_it_is_full() {
        let mut group = Group(0).with(6, 0xff);
        assert!(!group.goes_on());
        group = group.passed();
        assert!(group.goes_on());
        assert!(!group.returned().goes_on());
        for _ in 0..300 {
            group = group.passed();
        }
        for _ in 0..300 {
            group = group.returned();
        }
        assert!(group.goes_on(), "a full count no longer knows how many there were");
        assert_eq!(group.taken().collect::<Vec<_>>(), [6]);
    }
}
