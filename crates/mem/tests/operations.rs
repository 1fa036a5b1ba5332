//! Random sequences of pool and block operations against a model that copies every byte.

use mem::block::{Block, Shared};
use mem::pool::Pool;
use proptest::prelude::*;

const BLOCK: usize = 64;
const BLOCKS: usize = 3;

#[derive(Debug, Clone)]
enum Step {
    Take,
    Write { block: usize, bytes: Vec<u8>, commit: usize },
    Share { block: usize },
    CloneShared { shared: usize },
    IntoBytes { shared: usize },
    DropBlock { block: usize },
    DropShared { shared: usize },
    DropBytes { bytes: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let index = 0..8usize;
    prop_oneof![
        3 => Just(Step::Take),
        6 => (index.clone(), prop::collection::vec(any::<u8>(), 0..24), 0..24usize)
            .prop_map(|(block, bytes, commit)| Step::Write { block, bytes, commit }),
        3 => index.clone().prop_map(|block| Step::Share { block }),
        1 => index.clone().prop_map(|shared| Step::CloneShared { shared }),
        1 => index.clone().prop_map(|shared| Step::IntoBytes { shared }),
        2 => index.clone().prop_map(|block| Step::DropBlock { block }),
        3 => index.clone().prop_map(|shared| Step::DropShared { shared }),
        1 => index.prop_map(|bytes| Step::DropBytes { bytes }),
    ]
}

/// What the model knows of each block: an identity and a copy of what was frozen.
#[derive(Default)]
struct Model {
    frozen: Vec<Vec<u8>>,
    writers: Vec<(usize, Block)>,
    readers: Vec<(usize, Shared)>,
    bytes: Vec<(Vec<u8>, usize, bytes::Bytes)>,
}

impl Model {
    fn live(&self) -> Vec<usize> {
        let mut ids: Vec<usize> = (self.writers.iter().map(|(id, _)| *id))
            .chain(self.readers.iter().map(|(id, _)| *id))
            .chain(self.bytes.iter().map(|(_, id, _)| *id))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn apply(&mut self, pool: &mut Pool, step: Step) {
        match step {
            Step::Take => {
                let live = self.live().len();
                match pool.take() {
                    Some(block) => {
                        assert!(live < BLOCKS, "the budget was exceeded");
                        assert_eq!(block.filled(), 0);
                        self.frozen.push(Vec::new());
                        self.writers.push((self.frozen.len() - 1, block));
                    }
                    None => assert_eq!(live, BLOCKS, "refused although a block was free"),
                }
            }
            Step::Write { block, bytes, commit } if !self.writers.is_empty() => {
                let at = block % self.writers.len();
                let (id, block) = &mut self.writers[at];
                let n = bytes.len().min(block.spare_len());
                block.spare()[..n].copy_from_slice(&bytes[..n]);
                let committed = block.commit(commit.min(n)).to_vec();
                self.frozen[*id].extend(committed);
            }
            Step::Share { block } if !self.writers.is_empty() => {
                let (id, block) = &self.writers[block % self.writers.len()];
                self.readers.push((*id, block.share()));
            }
            Step::CloneShared { shared } if !self.readers.is_empty() => {
                let reader = self.readers[shared % self.readers.len()].clone();
                self.readers.push(reader);
            }
            Step::IntoBytes { shared } if !self.readers.is_empty() => {
                let (id, shared) = self.readers.swap_remove(shared % self.readers.len());
                self.bytes.push((self.frozen[id].clone(), id, shared.into_bytes()));
            }
            Step::DropBlock { block } if !self.writers.is_empty() => {
                self.writers.swap_remove(block % self.writers.len());
            }
            Step::DropShared { shared } if !self.readers.is_empty() => {
                self.readers.swap_remove(shared % self.readers.len());
            }
            Step::DropBytes { bytes } if !self.bytes.is_empty() => {
                self.bytes.swap_remove(bytes % self.bytes.len());
            }
            _ => {}
        }
    }

    fn check(&self, pool: &Pool) {
        for (id, block) in &self.writers {
            assert_eq!(block.frozen(), self.frozen[*id]);
        }
        for (id, shared) in &self.readers {
            assert_eq!(shared.frozen(), self.frozen[*id]);
            assert_eq!(shared.range_of(shared.frozen()), Some(0));
        }
        for (then, _, bytes) in &self.bytes {
            assert_eq!(bytes, then);
        }
        // Two live blocks never overlap.
        for (id, shared) in &self.readers {
            for (other, block) in &self.writers {
                let inside = shared.range_of(block.frozen());
                assert_eq!(inside.is_some(), id == other, "blocks {id} and {other}");
            }
        }
        assert_eq!(pool.in_use(), self.live().len());
        assert!(pool.allocated() <= BLOCKS);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn blocks_keep_their_promises(steps in prop::collection::vec(step(), 1..120)) {
        let mut pool = Pool::new(BLOCK, BLOCKS);
        let mut model = Model::default();
        for step in steps {
            model.apply(&mut pool, step);
            model.check(&pool);
        }
    }
}
