//! How messages are laid out, and the walk over them.
//!
//! A layout lists the fields of a message in order, each with the versions that have it. The walk reads
//! what has a role and passes over the rest; it never looks behind the window that it was given.

use super::batch;
use super::topics::TopicIds;

/// Fields read of one message: a message of empty structures must end somewhere.
const MAX_STEPS: u32 = 16_384;

/// In that version and all later ones that are known.
pub(super) const LAST: i16 = i16::MAX;

/// What a field is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Skip,
    Topic,
    TopicId,
    Group,
    Member,
    Txn,
    /// What a coordinator is looked for: a group, or a transactional id.
    Key,
    KeyType,
    /// A configured resource of any type.
    Thing,
    Mechanism,
    Acks,
    Records,
    Error,
    /// The text of the error before it.
    Why,
    Throttle,
}

/// How a field lies in the message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// So many bytes.
    Fixed(u8),
    Text,
    Bytes,
    /// An array of values of so many bytes.
    Fixeds(u8),
    /// An array of texts.
    Texts,
    /// A structure.
    Struct(&'static [Field]),
    /// An array of structures.
    Structs(&'static [Field]),
    /// An array of structures of which the front of the first is read; nothing behind it is.
    First(&'static [Field]),
}

/// One field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    from: i16,
    to: i16,
    role: Role,
    kind: Kind,
}

pub(super) const fn f(from: i16, to: i16, role: Role, kind: Kind) -> Field {
    Field { from, to, role, kind }
}

/// What a message said.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) topic: Option<&'a [u8]>,
    pub(super) topic_id: Option<[u8; 16]>,
    /// How many topics it names.
    pub(super) topics: u32,
    pub(super) group: Option<&'a [u8]>,
    pub(super) member: Option<&'a [u8]>,
    pub(super) txn: Option<&'a [u8]>,
    pub(super) key: Option<&'a [u8]>,
    pub(super) key_type: u8,
    pub(super) thing: Option<&'a [u8]>,
    pub(super) mechanism: Option<&'a [u8]>,
    pub(super) acks: Option<i16>,
    /// Records of the batches seen, and of how many partitions.
    pub(super) records: Option<u32>,
    record_sets: u32,
    sets_announced: u32,
    /// The first error that is not 0; 0 when all that were seen are.
    pub(super) error: Option<i16>,
    pub(super) why: Option<&'a [u8]>,
    pub(super) throttle_ms: i32,
    /// The walk ended behind the last field.
    pub(super) whole: bool,
}

impl Facts<'_> {
    /// The records of the request, when all of its batches were seen.
    pub(super) fn all_records(&self) -> Option<u32> {
        let only = self.topics == 1 && self.sets_announced == 1 && self.record_sets == 1;
        self.records.filter(|_| self.whole || only)
    }
}

/// Why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// This many bytes of the window were needed.
    Beyond(usize),
    /// A length that cannot be.
    Malformed,
    /// All that is wanted was read.
    Enough,
}

/// A reading position in the window of a message.
#[derive(Debug)]
pub(super) struct Walk<'w, 'a> {
    /// The bytes from the start of the message, as far as they are there.
    pub(super) window: &'a [u8],
    /// The next byte; it may lie behind the window.
    pub(super) at: usize,
    /// Bytes of the message.
    pub(super) size: usize,
    /// Bytes of the largest window.
    pub(super) limit: usize,
    pub(super) version: i16,
    pub(super) flexible: bool,
    pub(super) ids: &'w mut TopicIds,
    pub(super) steps: u32,
}

impl<'a> Walk<'_, 'a> {
    /// Reads the fields of a layout.
    ///
    /// # Errors
    /// See [`Halt`]; `facts` holds what was read before.
    pub(super) fn fields(&mut self, layout: &'static [Field], facts: &mut Facts<'a>) -> Result<(), Halt> {
        let mut named = None;
        for field in layout {
            if self.version < field.from || self.version > field.to {
                continue;
            }
            self.steps = self.steps.saturating_add(1);
            if self.steps > MAX_STEPS {
                return Err(Halt::Enough);
            }
            match field.kind {
                Kind::Fixed(n) => self.fixed(field.role, n, named, facts)?,
                Kind::Text => {
                    let text = self.text_of(field.role)?;
                    if field.role == Role::Topic {
                        named = text;
                    }
                    note(field.role, text, facts);
                }
                Kind::Bytes => self.bytes(field.role, facts)?,
                Kind::Fixeds(n) => {
                    let count = self.count()?;
                    self.pass((count as usize).saturating_mul(usize::from(n)))?;
                }
                Kind::Texts => self.texts(field.role, facts)?,
                Kind::Struct(inner) => {
                    self.fields(inner, facts)?;
                    self.tags()?;
                }
                Kind::Structs(inner) => {
                    for _ in 0..self.announced(inner, facts)? {
                        self.fields(inner, facts)?;
                        self.tags()?;
                    }
                }
                Kind::First(inner) => {
                    if self.announced(inner, facts)? > 0 {
                        self.fields(inner, facts)?;
                    }
                    return Err(Halt::Enough);
                }
            }
        }
        Ok(())
    }

    /// The length of an array of structures; counts topics and record sets.
    fn announced(&mut self, inner: &[Field], facts: &mut Facts<'a>) -> Result<u32, Halt> {
        let count = self.count()?;
        let holds = |roles: &[Role]| inner.iter().any(|field| roles.contains(&field.role));
        if holds(&[Role::Topic, Role::TopicId]) {
            facts.topics = facts.topics.saturating_add(count);
        }
        if holds(&[Role::Records]) {
            facts.sets_announced = facts.sets_announced.saturating_add(count);
        }
        Ok(count)
    }

    fn fixed(
        &mut self,
        role: Role,
        n: u8,
        named: Option<&'a [u8]>,
        facts: &mut Facts<'a>,
    ) -> Result<(), Halt> {
        match role {
            Role::Error => {
                let code = i16::from_be_bytes(self.array()?);
                if facts.error.is_none_or(|first| first == 0) {
                    facts.error = Some(code);
                }
            }
            Role::Acks => facts.acks = Some(i16::from_be_bytes(self.array()?)),
            Role::Throttle => facts.throttle_ms = i32::from_be_bytes(self.array()?),
            Role::KeyType => [facts.key_type] = self.array()?,
            Role::TopicId => {
                let id = self.array()?;
                if let Some(name) = named {
                    self.ids.learn(id, name);
                }
                if facts.topic_id.is_none() && id != [0; 16] {
                    facts.topic_id = Some(id);
                }
            }
            _ => self.pass(usize::from(n))?,
        }
        Ok(())
    }

    /// A text, or none.
    pub(super) fn text(&mut self) -> Result<Option<&'a [u8]>, Halt> {
        self.text_of(Role::Topic)
    }

    fn text_of(&mut self, role: Role) -> Result<Option<&'a [u8]>, Halt> {
        let Some(len) = self.text_len()? else { return Ok(None) };
        if role == Role::Skip {
            self.pass(len)?;
            return Ok(None);
        }
        self.take(len).map(Some)
    }

    fn texts(&mut self, role: Role, facts: &mut Facts<'a>) -> Result<(), Halt> {
        let count = self.count()?;
        if role == Role::Topic {
            facts.topics = facts.topics.saturating_add(count);
        }
        for _ in 0..count {
            let text = self.text_of(role)?;
            note(role, text, facts);
        }
        Ok(())
    }

    fn bytes(&mut self, role: Role, facts: &mut Facts<'a>) -> Result<(), Halt> {
        let len = if self.flexible {
            self.varint()?.checked_sub(1)
        } else {
            match i32::from_be_bytes(self.array()?) {
                -1 => None,
                len => Some(u32::try_from(len).map_err(|_| Halt::Malformed)?),
            }
        };
        let len = len.unwrap_or(0) as usize;
        if role == Role::Records && len > 0 {
            let end = self.at.saturating_add(len);
            self.within(end)?;
            let there = self.window.get(self.at..end.min(self.window.len())).unwrap_or_default();
            let seen = match batch::records(there, len) {
                Ok(seen) => seen,
                Err(need) => {
                    let reach = self.at.saturating_add(need);
                    if reach <= self.limit && reach > self.window.len() {
                        return Err(Halt::Beyond(reach));
                    }
                    None
                }
            };
            facts.record_sets = facts.record_sets.saturating_add(1);
            let before = if facts.record_sets == 1 { Some(0) } else { facts.records };
            facts.records = before.zip(seen).map(|(before, seen)| before.saturating_add(seen));
        }
        self.pass(len)
    }

    /// Passes over the tagged fields at the end of a structure.
    pub(super) fn tags(&mut self) -> Result<(), Halt> {
        if !self.flexible {
            return Ok(());
        }
        for _ in 0..self.varint()? {
            self.steps = self.steps.saturating_add(1);
            if self.steps > MAX_STEPS {
                return Err(Halt::Enough);
            }
            self.varint()?;
            let len = self.varint()?;
            self.pass(len as usize)?;
        }
        Ok(())
    }

    fn text_len(&mut self) -> Result<Option<usize>, Halt> {
        if self.flexible {
            return Ok(self.varint()?.checked_sub(1).map(|len| len as usize));
        }
        match i16::from_be_bytes(self.array()?) {
            -1 => Ok(None),
            len => usize::try_from(len).map(Some).map_err(|_| Halt::Malformed),
        }
    }

    /// The length of an array; none is 0.
    fn count(&mut self) -> Result<u32, Halt> {
        let count = if self.flexible {
            self.varint()?.saturating_sub(1)
        } else {
            match i32::from_be_bytes(self.array()?) {
                -1 => 0,
                count => u32::try_from(count).map_err(|_| Halt::Malformed)?,
            }
        };
        // Every element has a byte at least, but for structures without fields in this version.
        if count as usize > self.size { Err(Halt::Malformed) } else { Ok(count) }
    }

    /// An unsigned LEB128 number of 32 bits.
    fn varint(&mut self) -> Result<u32, Halt> {
        let mut value = 0u32;
        for shift in [0u32, 7, 14, 21, 28] {
            let [byte] = self.array()?;
            value |= u32::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Halt::Malformed)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Halt> {
        self.take(N)?.first_chunk().copied().ok_or(Halt::Malformed)
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], Halt> {
        let end = self.at.checked_add(n).ok_or(Halt::Malformed)?;
        self.within(end)?;
        let taken = self.window.get(self.at..end).ok_or(Halt::Beyond(end))?;
        self.at = end;
        Ok(taken)
    }

    /// Moves on without looking.
    fn pass(&mut self, n: usize) -> Result<(), Halt> {
        let end = self.at.checked_add(n).ok_or(Halt::Malformed)?;
        self.within(end)?;
        self.at = end;
        Ok(())
    }

    const fn within(&self, end: usize) -> Result<(), Halt> {
        if end > self.size { Err(Halt::Malformed) } else { Ok(()) }
    }
}

fn note<'a>(role: Role, text: Option<&'a [u8]>, facts: &mut Facts<'a>) {
    let Some(text) = text else { return };
    let slot = match role {
        Role::Topic => &mut facts.topic,
        Role::Group => &mut facts.group,
        Role::Member => &mut facts.member,
        Role::Txn => &mut facts.txn,
        Role::Key => &mut facts.key,
        Role::Thing => &mut facts.thing,
        Role::Mechanism => &mut facts.mechanism,
        Role::Why if facts.error.is_some_and(|code| code != 0) => &mut facts.why,
        _ => return,
    };
    if slot.is_none() && !text.is_empty() {
        *slot = Some(text);
    }
}
