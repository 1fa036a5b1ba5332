//! The entries of a map whose keys may come again on the wire.

/// More entries than these are sorted rather than compared pairwise.
const FEW: usize = 32;

/// The entries that count: of a key that comes again the last one.
///
/// Few entries come in their order on the wire and take no memory; more than 32 come in the order of
/// their keys and are gathered first.
#[derive(Clone, Debug)]
pub struct Distinct<'a, I, V> {
    few: Option<I>,
    many: std::vec::IntoIter<(&'a [u8], V)>,
}

impl<'a, V, I: Iterator<Item = (&'a [u8], V)> + Clone> Distinct<'a, I, V> {
    pub(super) fn new(entries: I) -> Self {
        if entries.clone().nth(FEW).is_none() {
            return Self { few: Some(entries), many: Vec::new().into_iter() };
        }
        Self { few: None, many: sorted(entries).into_iter() }
    }
}

/// The entries that count, in the order of their keys.
pub(super) fn sorted<'a, V>(entries: impl Iterator<Item = (&'a [u8], V)>) -> Vec<(&'a [u8], V)> {
    let mut all: Vec<_> = entries.collect();
    // The last of equal keys is to come first, because the first one is kept.
    all.reverse();
    all.sort_by_key(|(key, _)| *key);
    all.dedup_by(|(a, _), (b, _)| a == b);
    all
}

impl<'a, V, I: Iterator<Item = (&'a [u8], V)> + Clone> Iterator for Distinct<'a, I, V> {
    type Item = (&'a [u8], V);

    fn next(&mut self) -> Option<Self::Item> {
        let Some(few) = &mut self.few else { return self.many.next() };
        loop {
            let (key, value) = few.next()?;
            if !few.clone().any(|(later, _)| later == key) {
                return Some((key, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_counts() {
        let few: [(&[u8], u8); 5] = [(b"b", 1), (b"a", 2), (b"b", 3), (b"c", 4), (b"a", 5)];
        let want: [(&[u8], u8); 3] = [(b"b", 3), (b"c", 4), (b"a", 5)];
        assert!(Distinct::new(few.iter().copied()).eq(want));

        let keys: Vec<[u8; 1]> = (0..100).map(|at| [at % 40]).collect();
        let many = keys.iter().enumerate().map(|(at, key)| (key.as_slice(), at));
        let got: Vec<_> = Distinct::new(many).collect();
        assert_eq!(got.len(), 40);
        assert!(got.iter().all(|(key, at)| *at == (60..100).find(|at| at % 40 == key[0] as usize).unwrap()));
    }
}
