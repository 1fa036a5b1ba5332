//! MPLS label stacks (RFC 3032).

use crate::WireError;
use crate::walk::{Layer, Step, Walk};

/// The deepest label stack that is followed.
const MAX_LABELS: usize = 16;

impl<'a> Walk<'a> {
    /// Labels name no payload: its first four bits tell IP from a pseudowire (RFC 4928 §3). Labels are not
    /// kept, because the two directions of a flow have different ones.
    pub(crate) fn mpls(&mut self) -> Result<Step<'a>, WireError> {
        let mut bottom = false;
        for _ in 0..MAX_LABELS {
            let [_, _, stack, _] = self.span.take::<4>()?;
            bottom = stack & 1 == 1;
            if bottom {
                break;
            }
        }
        if !bottom {
            return Err(WireError::TooDeep);
        }
        let Some([first]) = self.span.peek::<1>() else {
            return self.span.take::<1>().and(Err(WireError::NotIp));
        };
        match first >> 4 {
            4 => Ok(Step::Next(Layer::Ipv4)),
            6 => Ok(Step::Next(Layer::Ipv6)),
            // The control word of an Ethernet pseudowire (RFC 4448 §4.6).
            0 => self.span.take::<4>().map(|_| Step::Next(Layer::Ethernet)),
            _ => Err(WireError::NotIp),
        }
    }
}
