//! Doubly linked lists through the nodes of a slab: insertion and removal in constant time, nothing allocated.

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// How many nodes a node that comes late passes on its way to its place.
const LOOK_BACK: usize = 64;

/// The neighbours of a node in the list that it is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    older: u32,
    newer: u32,
}

impl Link {
    pub const UNLINKED: Self = Self { older: NONE, newer: NONE };
}

impl Default for Link {
    fn default() -> Self {
        Self::UNLINKED
    }
}

/// A node that can be in one list at a time.
pub(crate) trait Linked {
    fn link(&mut self) -> &mut Link;
}

/// A list from the oldest node to the newest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    oldest: u32,
    newest: u32,
    len: u32,
}

impl List {
    pub const EMPTY: Self = Self { oldest: NONE, newest: NONE, len: 0 };

    pub const fn len(&self) -> u32 {
        self.len
    }

    /// The node that was pushed first, [`NONE`] when there is none.
    pub const fn oldest(&self) -> u32 {
        self.oldest
    }

    /// Adds a node that is in no list.
    pub fn push<T: Linked>(&mut self, nodes: &mut [T], at: u32) {
        self.push_after(nodes, at, |_| true);
    }

    /// Adds a node that is in no list behind the newest one that is `before` it. Gives up the search after
    /// [`LOOK_BACK`] nodes: the list is in order as long as times run back by little.
    pub fn push_after<T: Linked>(&mut self, nodes: &mut [T], at: u32, before: impl Fn(&T) -> bool) {
        let mut older = self.newest;
        for _ in 0..LOOK_BACK {
            match nodes.get_mut(older as usize) {
                Some(node) if !before(node) => older = node.link().older,
                _ => break,
            }
        }
        let newer = match nodes.get_mut(older as usize) {
            Some(node) => core::mem::replace(&mut node.link().newer, at),
            None => core::mem::replace(&mut self.oldest, at),
        };
        match nodes.get_mut(newer as usize) {
            Some(node) => node.link().older = at,
            None => self.newest = at,
        }
        if let Some(node) = nodes.get_mut(at as usize) {
            *node.link() = Link { older, newer };
        }
        self.len = self.len.wrapping_add(1);
    }

    /// Takes out a node that is in this list.
    pub fn remove<T: Linked>(&mut self, nodes: &mut [T], at: u32) {
        let Some(node) = nodes.get_mut(at as usize) else { return };
        let Link { older, newer } = core::mem::replace(node.link(), Link::UNLINKED);
        self.len = self.len.wrapping_sub(1);
        match nodes.get_mut(older as usize) {
            Some(node) => node.link().newer = newer,
            None => self.oldest = newer,
        }
        match nodes.get_mut(newer as usize) {
            Some(node) => node.link().older = older,
            None => self.newest = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Linked for Link {
        fn link(&mut self) -> &mut Link {
            self
        }
    }

    #[test]
    fn nodes_leave_from_anywhere() {
        let mut nodes = [Link::UNLINKED; 4];
        let mut list = List::EMPTY;
        (0..4).for_each(|at| list.push(&mut nodes, at));
        for (gone, oldest) in [(1, 0), (0, 2), (3, 2), (2, NONE)] {
            list.remove(&mut nodes, gone);
            assert_eq!(list.oldest(), oldest);
        }
        assert_eq!(list.len(), 0);
        list.push(&mut nodes, 3);
        list.push(&mut nodes, 1);
        assert_eq!((list.oldest(), list.len()), (3, 2));
        list.push_after(&mut nodes, 0, |_| false);
        assert_eq!((list.oldest(), list.len()), (0, 3), "before all others");
        [1, 0, 3].iter().for_each(|at| list.remove(&mut nodes, *at));
        assert_eq!((list.oldest(), list.len()), (NONE, 0));
    }
}
