//! What batches take from, one thing after the other, and what several batches may use.

use std::sync::Arc;

/// Things of others that are used at most by a batch which is to be kept: each may have come from one before.
const MOST: usize = 64;

/// A list of things that are used up in their order, and of those of others.
pub struct RecycledResources<T> {
    own: Vec<Arc<T>>,
    /// The one that is used up next.
    current: usize,
    /// Things of others that are used, too.
    others: Vec<Arc<T>>,
}

impl<T> Default for RecycledResources<T> {
    fn default() -> Self {
        RecycledResources {
            own: Vec::new(),
            current: 0,
            others: Vec::new(),
        }
    }
}

impl<T> RecycledResources<T> {
    /// The thing that is used up next, if there is one.
    pub fn current(&self) -> Option<&Arc<T>> {
        self.own.get(self.current)
    }

    /// Goes on to the next.
    pub fn go_on(&mut self) {
        self.current += 1;
    }

    /// Adds a thing behind all.
    pub fn push_owned(&mut self, thing: T) {
        self.own.push(Arc::new(thing));
    }

    /// The own things.
    pub fn owned_resources(&self) -> &[Arc<T>] {
        &self.own
    }

    /// Takes over what another one has, which is empty then. What of it was used stays so.
    pub fn absorb_all(&mut self, other: &mut RecycledResources<T>) {
        let mut own = std::mem::take(&mut other.own);
        self.current += own.len();
        own.append(&mut self.own);
        self.own = own;
        self.others.append(&mut other.others);
        other.current = 0;
    }

    /// Uses what another one has, too.
    pub fn share_all(&mut self, other: &RecycledResources<T>) {
        let all = other.own.iter().chain(&other.others);
        self.others.extend(all.map(Arc::clone));
    }

    /// Whether so much of others is used that it had better be let go of soon.
    pub fn is_long(&self) -> bool {
        self.others.len() > MOST
    }

    /// Begins anew, without what others use.
    pub fn clear(&mut self) {
        self.others.clear();
        self.own.retain(|thing| Arc::strong_count(thing) == 1);
        self.current = 0;
    }
}
