//! Names that are bound twice: by patterns, by declarations of a module, and by specifications of a module type.

use super::{CheckResult, SourceChecker, SourceFault};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    DeclarationKind, FunctionSignature, ModuleSpecification, SourceDeclaration, SourceName,
    SourceNameId, SpecificationKind, TypeParameterKind,
};
use crate::typed::ProgramPlace;
use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Names that are bound together, with their places.
#[derive(Debug, Default)]
pub(super) struct BoundNames {
    places: FxHashMap<SourceNameId, TextRange>,
}

/// The name spaces of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NameSpace {
    Term,
    Type,
    ModuleType,
}

impl NameSpace {
    fn describe(self) -> &'static str {
        match self {
            NameSpace::Term => "value or module",
            NameSpace::Type => "type",
            NameSpace::ModuleType => "module type",
        }
    }
}

impl SourceChecker<'_> {
    /// Adds a name to those that are bound together.
    pub(super) fn add_bound(&self, bound: &mut BoundNames, name: SourceName) -> CheckResult<()> {
        self.require_redefinable(name)?;
        match bound.places.insert(name.name, name.range) {
            Some(before) => Err(self.fail_twice(name, before)),
            None => Ok(()),
        }
    }

    /// The names of size parameters, which parameters and sizes must not have, too.
    pub(super) fn bound_sizes(&self, signature: &FunctionSignature) -> BoundNames {
        let mut bound = BoundNames::default();
        for parameter in &signature.type_parameters {
            if parameter.kind == TypeParameterKind::Size {
                bound
                    .places
                    .insert(parameter.name.name, parameter.name.range);
            }
        }
        bound
    }

    /// Requires that a name may have another meaning. The operators that evaluate one operand only may not.
    pub(super) fn require_redefinable(&self, name: SourceName) -> CheckResult<()> {
        let text = self.name_text(name.name);
        if matches!(text, "&&" | "||") {
            let message = format!("the operator `{text}` may not be redefined");
            return Err(self.fail_with(name.range, message, |fault| {
                fault.with_hint("a function evaluates both arguments, but `&&` and `||` do not")
            }));
        }
        Ok(())
    }

    /// Reports the names that declarations bind twice. A local declaration and an opened module may bind them again.
    pub(super) fn check_duplicate_declarations(&mut self, declarations: &[SourceDeclaration]) {
        let mut seen = FxHashMap::default();
        for declaration in declarations {
            let (space, name) = match &declaration.kind {
                DeclarationKind::Value(value) => (NameSpace::Term, value.name),
                DeclarationKind::Type(declared) => (NameSpace::Type, declared.name),
                DeclarationKind::ModuleType { name, .. } => (NameSpace::ModuleType, *name),
                DeclarationKind::Module { name, .. } => (NameSpace::Term, *name),
                DeclarationKind::Open(_)
                | DeclarationKind::Import(_)
                | DeclarationKind::Local(_) => continue,
            };
            self.check_duplicate(&mut seen, space, name);
        }
    }

    /// Reports the names that specifications bind twice.
    pub(super) fn check_duplicate_specifications(
        &mut self,
        specifications: &[ModuleSpecification],
    ) {
        let mut seen = FxHashMap::default();
        for specification in specifications {
            let (space, name) = match &specification.kind {
                SpecificationKind::Value { name, .. } => (NameSpace::Term, *name),
                SpecificationKind::Type(declared) => (NameSpace::Type, declared.name),
                SpecificationKind::Module(name, _) => (NameSpace::Term, *name),
                SpecificationKind::Include(_) => continue,
            };
            self.check_duplicate(&mut seen, space, name);
        }
    }

    fn check_duplicate(
        &mut self,
        seen: &mut FxHashMap<(NameSpace, SourceNameId), TextRange>,
        space: NameSpace,
        name: SourceName,
    ) {
        let Some(before) = seen.insert((space, name.name), name.range) else {
            return;
        };
        if self.is_instance {
            return;
        }
        let (text, class) = (self.name_text(name.name), space.describe());
        let message = format!("Duplicate definition of {class} `{text}`");
        let note = self.describe_range(before);
        let fault = self.fail_with(name.range, message, |fault| {
            fault.with_note(format!("it is also defined at {note}"))
        });
        self.report(fault);
    }

    /// Line and column of a place in the file at hand.
    pub(super) fn describe_range(&self, range: TextRange) -> String {
        self.files.describe_place(self.place(range))
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, place: ProgramPlace, message: String, hint: &str) {
        let location =
            SourceLocation::from_text_range(place.range.start as usize, place.range.end as usize);
        self.program.warnings.push(SourceFault {
            file: place.file,
            diagnostic: SourceDiagnostic::warning(location, message).with_hint(hint),
        });
    }
}
