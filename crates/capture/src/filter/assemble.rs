//! From operations with labels to instructions with distances.
//!
//! A conditional jump of classic BPF reaches 255 instructions. One whose target is farther jumps to an
//! unconditional one that is put behind it, which reaches everything.

use super::code::{JA, RET};
use super::{Cause, FilterError, Instruction, op};

/// A place in the program that is known later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(usize);

#[derive(Debug, Clone, Copy)]
enum Operation {
    Plain(Instruction),
    Branch { code: u16, k: u32, yes: Label, no: Label },
    Jump(Label),
}

/// A program that is being written. All jumps lead forward.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    operations: Vec<Operation>,
    /// Where each label is, as a number of operations before it.
    labels: Vec<usize>,
}

/// The farthest that a conditional jump reaches.
const REACH: usize = 255;

/// More operations than this are not worth laying out: each is at least one instruction.
const MOST: usize = super::MAX_INSTRUCTIONS * 4;

impl Assembler {
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// The label is here.
    pub(super) fn place(&mut self, label: Label) {
        if let Some(at) = self.labels.get_mut(label.0) {
            *at = self.operations.len();
        }
    }

    pub(super) fn plain(&mut self, code: u16, k: u32) {
        self.operations.push(Operation::Plain(op(code, k)));
    }

    pub(super) fn branch(&mut self, code: u16, k: u32, yes: Label, no: Label) {
        self.operations.push(Operation::Branch { code, k, yes, no });
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.operations.push(Operation::Jump(to));
    }

    /// The instructions.
    pub(super) fn finish(self) -> Result<Vec<Instruction>, FilterError> {
        let too_long = |instructions| FilterError { column: 1, cause: Cause::TooLong { instructions } };
        if self.operations.len() > MOST {
            return Err(too_long(self.operations.len()));
        }
        // Which targets of which branches are far. That only ever grows, so this ends.
        let mut far = vec![(false, false); self.operations.len()];
        loop {
            let starts = starts(&far);
            let mut changed = false;
            for (at, operation) in self.operations.iter().enumerate() {
                let Operation::Branch { yes, no, .. } = *operation else { continue };
                let distance = |label: Label| self.target(&starts, label) - starts[at] - 1;
                let new = (far[at].0 || distance(yes) > REACH, far[at].1 || distance(no) > REACH);
                changed |= new != far[at];
                far[at] = new;
            }
            if !changed {
                return Ok(self.lay_out(&starts, &far));
            }
        }
    }

    fn target(&self, starts: &[usize], label: Label) -> usize {
        starts[self.labels[label.0]]
    }

    fn lay_out(&self, starts: &[usize], far: &[(bool, bool)]) -> Vec<Instruction> {
        let mut code: Vec<Instruction> = Vec::with_capacity(starts.last().copied().unwrap_or(0));
        for (at, operation) in self.operations.iter().enumerate() {
            match *operation {
                Operation::Plain(instruction) => code.push(instruction),
                Operation::Jump(to) => {
                    code.push(op(JA, (self.target(starts, to) - code.len() - 1) as u32));
                }
                Operation::Branch { code: test, k, yes, no } => {
                    let (far_yes, far_no) = far[at];
                    let next = code.len() + 1;
                    // The jump for `yes` comes first, the one for `no` behind it.
                    let jt = if far_yes { 0 } else { self.target(starts, yes) - next };
                    let jf = if far_no { usize::from(far_yes) } else { self.target(starts, no) - next };
                    code.push(Instruction { code: test, jt: jt as u8, jf: jf as u8, k });
                    for to in [far_yes.then_some(yes), far_no.then_some(no)].into_iter().flatten() {
                        code.push(op(JA, (self.target(starts, to) - code.len() - 1) as u32));
                    }
                }
            }
        }
        debug_assert!(code.last().is_some_and(|last| last.code == RET));
        code
    }
}

/// Where each operation starts, and where the program ends.
fn starts(far: &[(bool, bool)]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = Vec::with_capacity(far.len() + 1);
    for &(yes, no) in far {
        starts.push(at);
        at += 1 + usize::from(yes) + usize::from(no);
    }
    starts.push(at);
    starts
}
