//! Recycled resources: objects that a batch uses up in order, and those that it shares with other batches.

use std::sync::Arc;

/// Most shared objects of a batch that is kept for replay: each may come from an earlier batch.
const MOST_SHARED: usize = 64;

/// Objects of a batch that are used up in order, and objects of other batches that it shares.
pub struct RecycledResources<T> {
    own: Vec<Arc<T>>,
    /// Position of the object that is used next.
    current: usize,
    /// Objects of other batches that are used as well.
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
    /// The object that is used next, if there is one.
    pub fn current(&self) -> Option<&Arc<T>> {
        self.own.get(self.current)
    }

    /// Advances to the next object.
    pub fn advance(&mut self) {
        self.current += 1;
    }

    /// Appends an object.
    pub fn push_owned(&mut self, thing: T) {
        self.own.push(Arc::new(thing));
    }

    /// The objects of this batch.
    pub fn owned_resources(&self) -> &[Arc<T>] {
        &self.own
    }

    /// Takes all objects of another list, which is empty then. Objects that were used stay used.
    pub fn absorb_all(&mut self, other: &mut RecycledResources<T>) {
        let mut own = std::mem::take(&mut other.own);
        self.current += own.len();
        own.append(&mut self.own);
        self.own = own;
        self.others.append(&mut other.others);
        other.current = 0;
    }

    /// Shares all objects of another list.
    pub fn share_all(&mut self, other: &RecycledResources<T>) {
        let all = other.own.iter().chain(&other.others);
        self.others.extend(all.map(Arc::clone));
    }

    /// Whether enough objects are shared for the batch to be released soon.
    pub fn shares_too_many(&self) -> bool {
        self.others.len() > MOST_SHARED
    }

    /// Begins again from the first object; objects that other batches share are dropped.
    pub fn clear(&mut self) {
        self.others.clear();
        self.own.retain(|thing| Arc::strong_count(thing) == 1);
        self.current = 0;
    }
}
