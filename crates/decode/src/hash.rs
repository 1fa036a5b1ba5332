//! Hashes of a few bytes, for keys within one flow.

/// 64 bits of FNV-1a with a final mix. Not for tables that a stranger can fill.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes bytes in, lower case and upper case alike.
    pub(crate) fn add_ignore_case(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add_byte(byte.to_ascii_lowercase());
        }
    }

    /// Takes bytes in.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add_byte(*byte);
        }
    }

    fn add_byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    /// The hash of what was taken in.
    pub(crate) const fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::Hash;

    #[test]
    fn case_counts_where_it_should() {
        let hash = |add: fn(&mut Hash, &[u8]), bytes: &[u8]| {
            let mut hash = Hash::new();
            add(&mut hash, bytes);
            hash.finish()
        };
        assert_ne!(hash(Hash::add, b"a"), hash(Hash::add, b"A"));
        assert_eq!(hash(Hash::add_ignore_case, b"aB"), hash(Hash::add_ignore_case, b"Ab"));
        assert_ne!(hash(Hash::add, b""), hash(Hash::add, b"\0"));
    }
}
