//! Names in scope: look-up, and changes that are undone where a scope ends.

use super::environment::{ModuleScope, ModuleTypeBinding, ModuleValue, TermBinding, TypeBinding};
use super::{CheckFault, CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{QualifiedName, SourceName, SourceNameId};
use std::rc::Rc;

/// A name of the scope before it was changed.
#[derive(Debug)]
pub(super) enum ScopeChange {
    /// A value or module.
    Term(SourceNameId, Option<TermBinding>),
    /// A type.
    Type(SourceNameId, Option<TypeBinding>),
}

impl SourceChecker<'_> {
    /// Gives a name of the term name space a meaning until the scope ends.
    pub(super) fn bind_term(&mut self, name: SourceNameId, binding: TermBinding) {
        let before = self.scope.terms.insert(name, binding);
        self.changes.push(ScopeChange::Term(name, before));
    }

    /// Gives a type name a meaning until the scope ends.
    pub(super) fn bind_type(&mut self, name: SourceNameId, binding: TypeBinding) {
        let before = self.scope.types.insert(name, binding);
        self.changes.push(ScopeChange::Type(name, before));
    }

    /// Opens a module until the scope ends.
    pub(super) fn open_locally(&mut self, module: &ModuleScope) {
        for (name, term) in &module.terms {
            self.bind_term(*name, term.clone());
        }
        for (name, binding) in &module.types {
            self.bind_type(*name, binding.clone());
        }
    }

    /// The beginning of a scope.
    pub(super) fn mark_scope(&self) -> usize {
        self.changes.len()
    }

    /// The end of a scope.
    pub(super) fn end_scope(&mut self, mark: usize) {
        while self.changes.len() > mark {
            match self.changes.pop() {
                Some(ScopeChange::Term(name, Some(before))) => {
                    self.scope.terms.insert(name, before);
                }
                Some(ScopeChange::Term(name, None)) => {
                    self.scope.terms.remove(&name);
                }
                Some(ScopeChange::Type(name, Some(before))) => {
                    self.scope.types.insert(name, before);
                }
                Some(ScopeChange::Type(name, None)) => {
                    self.scope.types.remove(&name);
                }
                None => break,
            }
        }
    }

    /// The meaning of a qualified name, and how many of its parts are modules and the term; the rest are fields.
    pub(super) fn find_term(&self, path: &QualifiedName) -> CheckResult<(TermBinding, usize)> {
        let parts: Vec<SourceName> = path.modules.iter().copied().chain([path.name]).collect();
        let mut scope = &self.scope;
        let mut holder: Rc<ModuleScope>;
        for (index, part) in parts.iter().enumerate() {
            let Some(term) = scope.terms.get(&part.name) else {
                return Err(self.fail_unknown(*part, "value or module", scope));
            };
            match term {
                TermBinding::Module(ModuleValue::Structure(structure), _)
                    if index + 1 < parts.len() =>
                {
                    holder = Rc::clone(structure);
                    scope = &holder;
                }
                TermBinding::Faulty(_) => return Err(CheckFault(None)),
                other => return Ok((other.clone(), index + 1)),
            }
        }
        Err(self.fail(path.name.range, "a module is no value"))
    }

    /// The module that a list of names leads to. The whole scope if the list is empty.
    fn find_structure(&self, path: &[SourceName]) -> CheckResult<Option<Rc<ModuleScope>>> {
        let mut found: Option<Rc<ModuleScope>> = None;
        for part in path {
            let scope = found.as_deref().unwrap_or(&self.scope);
            found = match scope.terms.get(&part.name) {
                Some(TermBinding::Module(ModuleValue::Structure(structure), _)) => {
                    Some(Rc::clone(structure))
                }
                Some(TermBinding::Module(ModuleValue::Parametric(_), _)) => {
                    return Err(self.fail(
                        part.range,
                        "a parametric module has no members before it is applied",
                    ));
                }
                Some(TermBinding::Faulty(_)) => return Err(CheckFault(None)),
                Some(_) => {
                    let text = self.name_text(part.name);
                    return Err(self.fail(part.range, format!("`{text}` is a value, not a module")));
                }
                None => return Err(self.fail_unknown(*part, "module", scope)),
            };
        }
        Ok(found)
    }

    /// The module that a qualified name stands for.
    pub(super) fn find_module(&self, path: &QualifiedName) -> CheckResult<ModuleValue> {
        let holder = self.find_structure(&path.modules)?;
        let scope = holder.as_deref().unwrap_or(&self.scope);
        match scope.terms.get(&path.name.name) {
            Some(TermBinding::Module(module, _)) => Ok(module.clone()),
            Some(TermBinding::Faulty(_)) => Err(CheckFault(None)),
            Some(_) => {
                let text = self.name_text(path.name.name);
                Err(self.fail(
                    path.name.range,
                    format!("`{text}` is a value, not a module"),
                ))
            }
            None => Err(self.fail_unknown(path.name, "module", scope)),
        }
    }

    /// The type that a qualified name stands for.
    pub(super) fn find_type(&self, path: &QualifiedName) -> CheckResult<TypeBinding> {
        let holder = self.find_structure(&path.modules)?;
        let scope = holder.as_deref().unwrap_or(&self.scope);
        match scope.types.get(&path.name.name) {
            Some(binding) => Ok(binding.clone()),
            None => Err(self.fail_unknown(path.name, "type", scope)),
        }
    }

    /// The module type that a qualified name stands for.
    pub(super) fn find_module_type(
        &self,
        path: &QualifiedName,
    ) -> CheckResult<Rc<ModuleTypeBinding>> {
        let holder = self.find_structure(&path.modules)?;
        let scope = holder.as_deref().unwrap_or(&self.scope);
        match scope.module_types.get(&path.name.name) {
            Some(binding) => Ok(Rc::clone(binding)),
            None => Err(self.fail_unknown(path.name, "module type", scope)),
        }
    }

    /// The fault that a name stands for nothing, with the most similar name that does.
    fn fail_unknown(&self, name: SourceName, class: &str, scope: &ModuleScope) -> CheckFault {
        let text = self.name_text(name.name);
        let candidates: Box<dyn Iterator<Item = &SourceNameId>> = match class {
            "type" => Box::new(scope.types.keys()),
            "module type" => Box::new(scope.module_types.keys()),
            _ => Box::new(scope.terms.keys()),
        };
        let similar = candidates
            .map(|&candidate| self.name_text(candidate))
            .map(|candidate| (count_edits(text, candidate), candidate))
            .filter(|(edits, _)| *edits <= 1 + text.len() / 4)
            .min();
        self.fail_with(
            name.range,
            format!("there is no {class} `{text}` here"),
            |diagnostic| match similar {
                Some((_, similar)) => diagnostic.with_hint(format!("is `{similar}` meant?")),
                None => diagnostic,
            },
        )
    }

    /// The fault that a name is bound twice.
    pub(super) fn fail_twice(&self, name: SourceName, before: TextRange) -> CheckFault {
        let text = self.name_text(name.name);
        let message = format!("`{text}` is bound twice");
        let note = format!("it is also bound at {}", self.describe_range(before));
        self.fail_with(name.range, message, |fault| fault.with_note(note))
    }
}

/// The number of characters to insert, delete or replace to make one word of another (V. Levenshtein, 1966).
fn count_edits(left: &str, right: &str) -> usize {
    if left.len().abs_diff(right.len()) > 4 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, left) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, right) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
