//! The table as a whole.

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_operations(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        crate::fuzz::table(&bytes);
    }
}
