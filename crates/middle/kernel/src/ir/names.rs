//! Interned names.

use super::Name;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// All names of a program, each once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<Rc<str>>,
    ids: FxHashMap<Rc<str>, Name>,
}

impl Names {
    /// The id of a name.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.ids.get(text) {
            return *name;
        }
        let name = Name::new(self.texts.len());
        let text: Rc<str> = text.into();
        self.texts.push(text.clone());
        self.ids.insert(text, name);
        name
    }

    /// The id of a name, if there is one.
    pub fn get(&self, text: &str) -> Option<Name> {
        self.ids.get(text).copied()
    }

    /// The name of an id.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.index()]
    }
}
