//! What the unanswered requests were: the length of a response depends on the method that it answers.

/// Unanswered requests with HEAD or CONNECT that are remembered; all others are only counted.
pub(super) const MAX_REMEMBERED: usize = 64;

/// As much of a method as matters to the length of its response (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// The response may have a body.
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

/// The unanswered requests: how many, and which of them are special.
#[derive(Debug)]
pub(super) struct Asked {
    /// Requests and answers so far.
    asked: u64,
    answered: u64,
    /// The numbers of the special ones, oldest first, and what they are.
    ring: [(u64, Method); MAX_REMEMBERED],
    first: usize,
    len: usize,
    /// From this request on a special one may not be remembered.
    unsure: u64,
}

impl Default for Asked {
    fn default() -> Self {
        let ring = [(0, Method::Other); MAX_REMEMBERED];
        Self { asked: 0, answered: 0, ring, first: 0, len: 0, unsure: u64::MAX }
    }
}

impl Asked {
    /// One more was asked.
    pub(super) fn push(&mut self, method: Method) {
        let number = self.asked;
        self.asked = self.asked.saturating_add(1);
        if method == Method::Other {
            return;
        }
        let place = self.first.saturating_add(self.len) % MAX_REMEMBERED;
        match self.ring.get_mut(place) {
            Some(slot) if self.len < MAX_REMEMBERED => {
                *slot = (number, method);
                self.len = self.len.saturating_add(1);
            }
            _ => self.unsure = self.unsure.min(number),
        }
    }

    /// The oldest unanswered one; `None` when it was not seen, or is not known.
    pub(super) fn oldest(&self) -> Option<Method> {
        if self.answered >= self.asked || self.answered >= self.unsure {
            return None;
        }
        match self.ring.get(self.first) {
            Some((number, method)) if self.len > 0 && *number == self.answered => Some(*method),
            _ => Some(Method::Other),
        }
    }

    /// The oldest one is answered.
    pub(super) fn pop(&mut self) {
        if self.answered >= self.asked {
            return;
        }
        if let Some((number, _)) = self.ring.get(self.first)
            && self.len > 0
            && *number == self.answered
        {
            self.first = self.first.saturating_add(1) % MAX_REMEMBERED;
            self.len = self.len.saturating_sub(1);
        }
        self.answered = self.answered.saturating_add(1);
        if self.answered == self.asked {
            self.unsure = u64::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_plain_requests_and_a_bounded_one_of_special_ones() {
        let mut asked = Asked::default();
        assert_eq!(asked.oldest(), None);
        for round in 0..3 {
            for i in 0..10_000 {
                asked.push(if i % 200 == round { Method::Head } else { Method::Other });
            }
            for i in 0..10_000 {
                assert_eq!(asked.oldest(), Some(if i % 200 == round { Method::Head } else { Method::Other }));
                asked.pop();
            }
            assert_eq!(asked.oldest(), None);
            asked.pop();
        }
        for _ in 0..=MAX_REMEMBERED {
            asked.push(Method::Head);
        }
        for _ in 0..MAX_REMEMBERED {
            assert_eq!(asked.oldest(), Some(Method::Head));
            asked.pop();
        }
        assert_eq!(asked.oldest(), None);
        asked.pop();
        asked.push(Method::Connect);
        assert_eq!(asked.oldest(), Some(Method::Connect));
    }
}
