//! Use lists of one function: for each value the instructions in blocks that use it. All lists are in one vector,
//! so that the tables can be reused for the next function.

use spirula_spirv::ir::Inst;
use spirula_spirv::{Id, IdMap};

const END: u32 = u32::MAX;

/// The users of each value.
#[derive(Debug)]
pub struct ValueUsers {
    /// For each value its last entry in `entries`.
    last: IdMap<u32>,
    /// A user, and the previous entry of the same value.
    entries: Vec<(Inst, u32)>,
    /// The values that have an entry.
    touched: Vec<Id>,
}

impl ValueUsers {
    /// Empty lists, for a module with this bound.
    pub fn new(bound: u32) -> Self {
        ValueUsers {
            last: IdMap::new(bound, END),
            entries: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Removes all entries, for the next function.
    pub fn clear(&mut self) {
        for id in self.touched.drain(..) {
            self.last.set(id, END);
        }
        self.entries.clear();
    }

    /// Records a user.
    pub fn add_user(&mut self, id: Id, user: Inst) {
        let last = self.last[id];
        if last == END {
            self.touched.push(id);
        }
        self.last.set(id, self.entries.len() as u32);
        self.entries.push((user, last));
    }

    /// The users of a value, the last first. A user of both operands occurs twice.
    pub fn users_of(&self, id: Id) -> impl Iterator<Item = Inst> + '_ {
        let mut at = self.last[id];
        std::iter::from_fn(move || {
            let (user, before) = *self.entries.get(at as usize)?;
            at = before;
            Some(user)
        })
    }
}
