//! Values of variables: one slot for each variable of a definition, for code that walks its body.

use crate::typed::LocalId;
use std::ops::Range;

/// The values of the variables of a definition that have one.
#[derive(Clone, Debug)]
pub struct LocalSlots<V> {
    /// The position of the first variable among those of the program.
    first: usize,
    values: Vec<Option<V>>,
}

impl<V> LocalSlots<V> {
    /// Slots without values, for variables at positions of the program.
    pub fn new(locals: &Range<usize>) -> Self {
        LocalSlots {
            first: locals.start,
            values: locals.clone().map(|_| None).collect(),
        }
    }

    /// The value of a variable. `None` if it has none, or belongs to another definition.
    pub fn get(&self, local: LocalId) -> Option<&V> {
        let index = local.index().checked_sub(self.first)?;
        self.values.get(index)?.as_ref()
    }

    /// Sets or removes the value of a variable. Variables of other definitions have none.
    pub fn set(&mut self, local: LocalId, value: Option<V>) {
        let index = local.index().checked_sub(self.first);
        if let Some(slot) = index.and_then(|index| self.values.get_mut(index)) {
            *slot = value;
        }
    }

    /// The slots with other values, in the order of the variables.
    pub fn map_slots(&self, change: impl FnMut(Option<&V>) -> Option<V>) -> Self {
        LocalSlots {
            first: self.first,
            values: self.values.iter().map(Option::as_ref).map(change).collect(),
        }
    }
}
