//! Interned names.

use super::NameId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// All names of a program, each once.
#[derive(Clone, Debug, Default)]
pub struct ProgramNames {
    texts: Vec<Rc<str>>,
    ids: FxHashMap<Rc<str>, NameId>,
}

impl ProgramNames {
    /// The id of a name.
    pub fn intern(&mut self, text: &str) -> NameId {
        if let Some(name) = self.ids.get(text) {
            return *name;
        }
        let name = NameId::new(self.texts.len());
        let text: Rc<str> = text.into();
        self.texts.push(text.clone());
        self.ids.insert(text, name);
        name
    }

    /// The id of a name, if there is one.
    pub fn get(&self, text: &str) -> Option<NameId> {
        self.ids.get(text).copied()
    }

    /// The name of an id.
    pub fn text(&self, name: NameId) -> &str {
        &self.texts[name.index()]
    }
}
