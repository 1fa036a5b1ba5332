//! Portals: bound statements that are ready to run.
//!
//! * In: `Bind` and `Close`.
//! * Out: the statement that a portal runs.
//! * Owned: names of portals.
//! * Bounded by: [`MAX_PORTALS`] names of [`MAX_NAME`] bytes.
//! * Lost: the named portal bound first, when there are more.

use super::super::sql::Ref;

/// Named portals that a flow remembers; most clients use only the one without a name.
pub(super) const MAX_PORTALS: usize = 16;

/// Bytes of the name of a portal or a statement that are waited for.
pub(super) const MAX_NAME: usize = 256;

/// The portals of a session.
#[derive(Debug, Default)]
pub(super) struct Portals {
    unnamed: Option<Ref>,
    named: Vec<(Vec<u8>, Option<Ref>)>,
    /// The place that is given away next.
    next: usize,
}

impl Portals {
    pub fn bind(&mut self, name: &[u8], statement: Option<Ref>) {
        if name.is_empty() {
            self.unnamed = statement;
        } else if let Some((_, bound)) = self.named.iter_mut().find(|(known, _)| known == name) {
            *bound = statement;
        } else if self.named.len() < MAX_PORTALS {
            self.named.push((name.to_vec(), statement));
        } else if let Some((known, bound)) = self.named.get_mut(self.next) {
            known.clear();
            known.extend_from_slice(name);
            *bound = statement;
            self.next = self.next.wrapping_add(1) % MAX_PORTALS;
        }
    }

    pub fn find(&self, name: &[u8]) -> Option<Ref> {
        if name.is_empty() {
            return self.unnamed;
        }
        self.named.iter().find(|(known, _)| known == name).and_then(|(_, bound)| *bound)
    }

    pub fn close(&mut self, name: &[u8]) {
        if name.is_empty() {
            self.unnamed = None;
        } else if let Some((_, bound)) = self.named.iter_mut().find(|(known, _)| known == name) {
            *bound = None;
        }
    }

    pub fn clear(&mut self) {
        self.unnamed = None;
        self.named.clear();
    }
}
