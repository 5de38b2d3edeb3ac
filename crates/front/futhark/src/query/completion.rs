//! Completion: the names that may stand at a place, with their types.

use super::{SourceAnalysis, touches};
use crate::check::environment::{ModuleScope, ModuleValue, TermBinding, ValueBinding, ValueTarget};
use crate::check::types::{TypeForm, TypeId};
use crate::syntax::tree::SourceNameId;
use crate::typed::{FileId, LocalId, ProgramPlace};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The kinds of names that complete a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionKind {
    /// A variable of an expression.
    Variable,
    /// A field of a record.
    Field,
    /// A function.
    Function,
    /// A constant.
    Constant,
    /// A module.
    Module,
    /// A type.
    Type,
    /// A module type.
    ModuleType,
}

/// A name that may stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionName {
    /// The name.
    pub name: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// Its type after the name, or nothing.
    pub detail: String,
    /// Its documentation.
    pub documentation: Option<String>,
}

/// The beginning of a name in front of a byte of a text, with the names and dots before it: `m.n.pre`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamePath {
    /// The names that a dot follows.
    pub holders: Vec<String>,
    /// The written part of the name itself.
    pub start: String,
}

impl NamePath {
    /// Reads the path in front of a byte of a text.
    pub fn read_before(text: &str, at: usize) -> NamePath {
        let at = text.floor_char_boundary(at);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'' || c == '.';
        let path = &text[..at];
        let start = path.rfind(|c: char| !is_part(c)).map_or(0, |last| {
            last + path[last..].chars().next().map_or(1, char::len_utf8)
        });
        let mut parts: Vec<String> = path[start..].split('.').map(str::to_owned).collect();
        let start = parts.pop().unwrap_or_default();
        NamePath {
            holders: parts,
            start,
        }
    }
}

/// The kind of a name's members.
enum MemberHolder {
    Module(Rc<ModuleScope>),
    Record(TypeId),
}

impl SourceAnalysis {
    /// The names that may stand at a byte of a file after other names and dots, in order. All that are in scope, where
    /// there are no other names.
    pub fn complete_name(&self, file: FileId, at: u32, holders: &[String]) -> Vec<CompletionName> {
        let Some((first, rest)) = holders.split_first() else {
            return self.list_scope(file, at);
        };
        let mut holder = self.find_holder(file, at, first);
        for name in rest {
            holder = holder.and_then(|holder| self.find_member(&holder, name));
        }
        match holder {
            Some(MemberHolder::Module(scope)) => {
                self.list_module_scope(&scope, &FxHashSet::default(), &|_| true)
            }
            Some(MemberHolder::Record(type_id)) => self.list_fields(type_id),
            None => Vec::new(),
        }
    }

    /// The variables that are visible at a place, the innermost first.
    fn list_visible(&self, file: FileId, at: u32) -> Vec<(SourceNameId, Option<LocalId>)> {
        let names = &self.checked.names;
        let visible = names.visible_locals.iter();
        let mut visible: Vec<_> = visible
            .filter(|visible| visible.place.file == file && touches(visible.place.range, at))
            .collect();
        visible.sort_by_key(|visible| std::cmp::Reverse(visible.place.range.start));
        let visible = visible.into_iter();
        visible
            .map(|visible| (visible.name, visible.local))
            .collect()
    }

    /// The names of the innermost module or file around a place.
    fn find_region(&self, file: FileId, at: u32) -> Option<&Rc<ModuleScope>> {
        let regions = self.checked.names.regions.iter();
        let around =
            regions.filter(|region| region.place.file == file && touches(region.place.range, at));
        let inner = around.min_by_key(|region| region.place.range.end - region.place.range.start);
        inner.map(|region| &region.scope)
    }

    fn list_scope(&self, file: FileId, at: u32) -> Vec<CompletionName> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        for (name, local) in self.list_visible(file, at) {
            if seen.insert(name) {
                found.push(CompletionName {
                    name: self.checked.program.names[name].to_owned(),
                    kind: CompletionKind::Variable,
                    detail: local.map_or_else(String::new, |local| self.print_local(local)),
                    documentation: None,
                });
            }
        }
        let is_before = |place: ProgramPlace| place.file != file || place.range.start <= at;
        if let Some(scope) = self.find_region(file, at) {
            found.extend(self.list_module_scope(scope, &seen, &is_before));
        }
        found
    }

    /// The names of a module, in order. Values and modules that were seen before are hidden.
    fn list_module_scope(
        &self,
        scope: &ModuleScope,
        seen: &FxHashSet<SourceNameId>,
        is_visible: &dyn Fn(ProgramPlace) -> bool,
    ) -> Vec<CompletionName> {
        let mut found = Vec::new();
        for (&name, term) in &scope.terms {
            if !seen.contains(&name) {
                found.extend(self.complete_term(name, term, is_visible));
            }
        }
        let types = scope.types.iter();
        let types = types.map(|(&name, binding)| (name, binding.place, CompletionKind::Type));
        let module_types = scope.module_types.iter();
        let module_types =
            module_types.map(|(&name, binding)| (name, binding.place, CompletionKind::ModuleType));
        for (name, place, kind) in types.chain(module_types) {
            if is_visible(place) {
                found.push(CompletionName {
                    name: self.checked.program.names[name].to_owned(),
                    kind,
                    detail: String::new(),
                    documentation: self.find_documentation(place),
                });
            }
        }
        found.sort_by(|left, right| (&left.name, left.kind).cmp(&(&right.name, right.kind)));
        found
    }

    fn complete_term(
        &self,
        name: SourceNameId,
        term: &TermBinding,
        is_visible: &dyn Fn(ProgramPlace) -> bool,
    ) -> Option<CompletionName> {
        let (place, kind, detail) = match term {
            TermBinding::Value(value) => {
                let type_id = value.scheme.body;
                let is_function = matches!(
                    self.checked.program.types.form(type_id),
                    TypeForm::Function(..)
                );
                let kind = if is_function {
                    CompletionKind::Function
                } else {
                    CompletionKind::Constant
                };
                (value.place, kind, self.print_value(value))
            }
            TermBinding::Module(_, place) => (*place, CompletionKind::Module, String::new()),
            TermBinding::Faulty(place) => (*place, CompletionKind::Function, String::new()),
            TermBinding::Local(..) => return None,
        };
        let text = &self.checked.program.names[name];
        let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic());
        (is_word && is_visible(place)).then(|| CompletionName {
            name: text.to_owned(),
            kind,
            detail,
            documentation: self.find_documentation(place),
        })
    }

    fn print_value(&self, value: &ValueBinding) -> String {
        match (&value.shape, value.target) {
            (Some(shape), _) => self.printer().print_scheme(shape),
            (None, ValueTarget::Definition(id)) => self.print_definition(id),
            (None, _) => format!(": {}", self.print_type(value.scheme.body)),
        }
    }

    fn list_fields(&self, type_id: TypeId) -> Vec<CompletionName> {
        let program = &self.checked.program;
        let TypeForm::Record(fields) = program.types.form(type_id) else {
            return Vec::new();
        };
        let fields = fields.iter().map(|(name, field)| CompletionName {
            name: program.names[*name].to_owned(),
            kind: CompletionKind::Field,
            detail: format!(": {}", self.print_type(*field)),
            documentation: None,
        });
        fields.collect()
    }

    /// The owner of the members that a name at a place has.
    fn find_holder(&self, file: FileId, at: u32, text: &str) -> Option<MemberHolder> {
        let program = &self.checked.program;
        let visible = self.list_visible(file, at);
        let local = visible
            .iter()
            .find(|(name, _)| &program.names[*name] == text);
        if let Some((_, local)) = local {
            return Some(MemberHolder::Record(program.locals[(*local)?].type_id));
        }
        let scope = MemberHolder::Module(Rc::clone(self.find_region(file, at)?));
        self.find_member(&scope, text)
    }

    fn find_member(&self, holder: &MemberHolder, text: &str) -> Option<MemberHolder> {
        let program = &self.checked.program;
        match holder {
            MemberHolder::Module(scope) => {
                let mut terms = scope.terms.iter();
                let (_, term) = terms.find(|(name, _)| &program.names[**name] == text)?;
                match term {
                    TermBinding::Module(ModuleValue::Structure(inner), _) => {
                        Some(MemberHolder::Module(Rc::clone(inner)))
                    }
                    TermBinding::Value(value) => Some(MemberHolder::Record(value.scheme.body)),
                    _ => None,
                }
            }
            MemberHolder::Record(type_id) => {
                let TypeForm::Record(fields) = program.types.form(*type_id) else {
                    return None;
                };
                let mut fields = fields.iter();
                let (_, field) = fields.find(|(name, _)| &program.names[*name] == text)?;
                Some(MemberHolder::Record(*field))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NamePath;

    #[test]
    fn a_path_is_read_up_to_the_cursor() {
        let read = |text: &str| {
            let path = NamePath::read_before(text, text.len());
            (path.holders.join("/"), path.start)
        };
        assert_eq!(read("f (m.n.pre"), ("m/n".into(), "pre".into()));
        assert_eq!(read("\u{e6}x"), (String::new(), "x".into()));
        assert_eq!(read("a + "), (String::new(), String::new()));
        assert_eq!(read("r."), ("r".into(), String::new()));
    }
}
