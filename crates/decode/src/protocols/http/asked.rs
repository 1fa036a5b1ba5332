//! What the unanswered requests were: the length of a response depends on the method that it answers.

/// Requests remembered one by one. What is pipelined beyond them is only counted, and taken for
/// [`Method::Other`] when it is answered.
pub(super) const MAX_REMEMBERED: usize = 64;

/// As much of a method as matters to the length of its response (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Method {
    /// The response may have a body.
    #[default]
    Other,
    /// It has none, whatever its header says.
    Head,
    /// What follows a success is a tunnel.
    Connect,
}

impl Method {
    pub(super) fn of(method: &[u8]) -> Self {
        match method {
            b"HEAD" => Self::Head,
            b"CONNECT" => Self::Connect,
            _ => Self::Other,
        }
    }
}

/// The methods of the unanswered requests, oldest first.
#[derive(Debug)]
pub(super) struct Asked {
    ring: [Method; MAX_REMEMBERED],
    first: usize,
    len: usize,
    beyond: u64,
}

impl Default for Asked {
    fn default() -> Self {
        Self { ring: [Method::Other; MAX_REMEMBERED], first: 0, len: 0, beyond: 0 }
    }
}

impl Asked {
    /// One more was asked.
    pub(super) fn push(&mut self, method: Method) {
        let place = self.first.saturating_add(self.len) % MAX_REMEMBERED;
        match self.ring.get_mut(place) {
            // Once some are only counted, those that follow must be too: they are younger.
            Some(slot) if self.len < MAX_REMEMBERED && self.beyond == 0 => {
                *slot = method;
                self.len = self.len.saturating_add(1);
            }
            _ => self.beyond = self.beyond.saturating_add(1),
        }
    }

    /// The oldest one; `None` when its request was not seen.
    pub(super) fn oldest(&self) -> Option<Method> {
        match self.len {
            0 => (self.beyond > 0).then_some(Method::Other),
            _ => self.ring.get(self.first).copied(),
        }
    }

    /// The oldest one is answered.
    pub(super) fn pop(&mut self) {
        match self.len.checked_sub(1) {
            Some(fewer) => {
                self.len = fewer;
                self.first = self.first.saturating_add(1) % MAX_REMEMBERED;
            }
            None => self.beyond = self.beyond.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_what_is_too_much_is_counted() {
        let mut asked = Asked::default();
        assert_eq!(asked.oldest(), None);
        for round in 0..3 {
            for i in 0..MAX_REMEMBERED + 5 {
                asked.push(if i % 3 == round { Method::Head } else { Method::Other });
            }
            for i in 0..MAX_REMEMBERED + 5 {
                let head = i % 3 == round && i < MAX_REMEMBERED;
                assert_eq!(asked.oldest(), Some(if head { Method::Head } else { Method::Other }));
                asked.pop();
            }
            assert_eq!(asked.oldest(), None);
            asked.push(Method::Connect);
            assert_eq!(asked.oldest(), Some(Method::Connect));
            asked.pop();
        }
    }
}
