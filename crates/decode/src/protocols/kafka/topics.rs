//! Topic ids and the names that a flow gave them, in answers to Metadata and CreateTopics.

/// Topics remembered a flow, the oldest out.
const MAX_TOPICS: usize = 64;

/// Bytes of the longest legal topic name.
const MAX_NAME: usize = 249;

/// What was learned.
#[derive(Debug, Default)]
pub(super) struct TopicIds {
    known: Vec<([u8; 16], Box<[u8]>)>,
    oldest: usize,
}

impl TopicIds {
    /// Remembers a name. Allocates once a topic.
    pub(super) fn learn(&mut self, id: [u8; 16], name: &[u8]) {
        if id == [0; 16] || name.is_empty() || name.len() > MAX_NAME || self.name(&id) == Some(name) {
            return;
        }
        let entry = (id, name.into());
        if let Some(known) = self.known.iter_mut().find(|(known, _)| *known == id) {
            *known = entry;
        } else if self.known.len() < MAX_TOPICS {
            self.known.push(entry);
        } else if let Some(slot) = self.known.get_mut(self.oldest) {
            *slot = entry;
            self.oldest = self.oldest.saturating_add(1) % MAX_TOPICS;
        }
    }

    /// The name of an id.
    pub(super) fn name(&self, id: &[u8; 16]) -> Option<&[u8]> {
        self.known.iter().find(|(known, _)| known == id).map(|(_, name)| &**name)
    }
}

/// An id as Kafka's tools print it: 22 characters of unpadded URL-safe Base64.
pub(super) fn id_text(id: &[u8; 16]) -> [u8; 22] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits = u128::from_be_bytes(*id);
    let mut text = [0; 22];
    // 22 characters are 132 bits: the last of them has four bits of padding.
    let mut rest = bits;
    for (i, slot) in text.iter_mut().rev().enumerate() {
        let (six, shift) = if i == 0 { ((rest & 3).wrapping_shl(4), 2) } else { (rest & 63, 6) };
        *slot = ALPHABET.get(usize::try_from(six).unwrap_or(0)).copied().unwrap_or(b'A');
        rest = rest.wrapping_shr(shift);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_as_tools_print_them() {
        assert_eq!(&id_text(&[0; 16]), b"AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(&id_text(&[0xff; 16]), b"_____________________w");
        let id = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        assert_eq!(&id_text(&id), b"AAECAwQFBgcICQoLDA0ODw");
    }

    #[test]
    fn the_oldest_topic_goes_first() {
        let mut topics = TopicIds::default();
        for i in 1..=65 {
            topics.learn([i; 16], b"topic");
        }
        assert_eq!(topics.name(&[1; 16]), None);
        assert_eq!(topics.name(&[65; 16]), Some(&b"topic"[..]));
        topics.learn([65; 16], b"renamed");
        assert_eq!(topics.name(&[65; 16]), Some(&b"renamed"[..]));
        assert_eq!(topics.known.len(), 64);
    }
}
