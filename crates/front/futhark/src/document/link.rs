//! Links: which names stand for which places of the documentation.

use crate::syntax::tree::{QualifiedName, SourceNameId};
use spirula_entity::StringInterner;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::rc::Rc;

/// A place of the documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTarget {
    /// Name of the file.
    pub file: String,
    /// The identifier of the place on the page of the file. Empty for the page itself.
    pub anchor: String,
}

/// The name spaces of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceSpace {
    /// Values and modules.
    Term,
    /// Types.
    Type,
    /// Module types.
    ModuleType,
}

impl ReferenceSpace {
    /// The word for it in a reference of a comment.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ReferenceSpace::Term => "term",
            ReferenceSpace::Type => "type",
            ReferenceSpace::ModuleType => "mtype",
        }
    }

    /// The name space of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<ReferenceSpace> {
        [
            ReferenceSpace::Term,
            ReferenceSpace::Type,
            ReferenceSpace::ModuleType,
        ]
        .into_iter()
        .find(|space| space.word() == word)
    }
}

/// The meanings of names at a place, or in a module.
#[derive(Clone, Debug, Default)]
pub struct DocumentScope {
    names: HashMap<(ReferenceSpace, SourceNameId), NamedPlace>,
}

/// The meaning of a name.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedPlace {
    /// The place of its documentation, if it is documented.
    pub(super) target: Option<LinkTarget>,
    /// The members of a module or module type, or of the result of a parametric module.
    pub(super) members: Rc<DocumentScope>,
}

impl DocumentScope {
    pub(super) fn insert(&mut self, space: ReferenceSpace, name: SourceNameId, place: NamedPlace) {
        self.names.insert((space, name), place);
    }

    /// Adds all names of another scope, which hide those of the same names.
    pub(super) fn extend(&mut self, other: &DocumentScope) {
        let names = other.names.iter();
        self.names
            .extend(names.map(|(name, place)| (*name, place.clone())));
    }

    /// Forgets places of a file that are not shown.
    pub(super) fn forget_places(&mut self, file: &str, anchors: &HashSet<String>) {
        for place in self.names.values_mut() {
            let is_shown =
                |target: &LinkTarget| target.file != file || !anchors.contains(&target.anchor);
            place.target = place.target.take().filter(is_shown);
            let mut members = (*place.members).clone();
            members.forget_places(file, anchors);
            place.members = Rc::new(members);
        }
    }

    /// The meaning of a qualified name.
    pub(super) fn resolve(
        &self,
        space: ReferenceSpace,
        name: &QualifiedName,
    ) -> Option<&NamedPlace> {
        let modules = name.modules.iter().map(|module| module.name);
        self.resolve_path(space, modules, name.name.name)
    }

    fn resolve_path(
        &self,
        space: ReferenceSpace,
        modules: impl Iterator<Item = SourceNameId>,
        name: SourceNameId,
    ) -> Option<&NamedPlace> {
        let mut scope = self;
        for module in modules {
            scope = &scope.names.get(&(ReferenceSpace::Term, module))?.members;
        }
        scope.names.get(&(space, name))
    }

    /// The documentation of a name such as `m.f`.
    #[must_use]
    pub fn find_target(
        &self,
        space: ReferenceSpace,
        name: &str,
        names: &StringInterner<SourceNameId>,
    ) -> Option<&LinkTarget> {
        // The dot of an operator such as `.*` is none between names.
        let end = name.find(|c: char| !c.is_alphanumeric() && !"._'".contains(c));
        let split = name[..end.unwrap_or(name.len())].rfind('.');
        let (modules, name) = match split.filter(|&split| split > 0) {
            Some(split) => (&name[..split], &name[split + 1..]),
            None => ("", name),
        };
        let modules = modules.split('.').filter(|module| !module.is_empty());
        let modules: Option<Vec<_>> = modules.map(|module| names.find(module)).collect();
        let place = self.resolve_path(space, modules?.into_iter(), names.find(name)?)?;
        place.target.as_ref()
    }
}

/// The modules and module types around a definition.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemPath {
    /// The prefix of the names of members.
    pub(super) prefix: String,
}

impl ItemPath {
    /// The path of the members of a module.
    pub(super) fn enter_module(&self, name: &str) -> ItemPath {
        ItemPath {
            prefix: format!("{}{name}.", self.prefix),
        }
    }

    /// The path of the members of a module type. It differs from that of a module of the same name.
    pub(super) fn enter_module_type(&self, name: &str) -> ItemPath {
        ItemPath {
            prefix: format!("{}{name}/", self.prefix),
        }
    }

    /// The identifier of a member. Letters that may not stand in links are written as `~` and their code.
    pub(super) fn make_anchor(&self, space: ReferenceSpace, name: &str) -> String {
        let mut anchor = format!("{}:", space.word());
        for c in self.prefix.chars().chain(name.chars()) {
            if c.is_ascii_alphanumeric() || "_./".contains(c) {
                anchor.push(c);
            } else {
                // Writing to a string does not fail.
                let _ = write!(anchor, "~{:x}", u32::from(c));
            }
        }
        anchor
    }
}
