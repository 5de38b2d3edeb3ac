//! The text of typed source: Futhark in one file, without modules and without the prelude.
//!
//! The text begins with a line of its own ([`TYPED_HEADER`]), and has the definitions that entry points use, each in
//! front of its uses. The reader of source knows the line, and then opens no prelude: only the module `intrinsics` of
//! the compiler's functions, and the operators in it, are in scope. The checker verifies the text: its types, sizes and
//! uniqueness.
//!
//! - A definition has one identifier. It is made of the names of its modules and its own, with a number if that is
//!   taken. An operator has words for its characters.
//! - A variable has its own name, with a number if the name has a meaning where the variable is bound.
//! - A literal has the suffix of its type. Parameters and results have the types that are written. Types that were
//!   inferred are printed if they have no arrays, functions and type parameters. Those of a definition's parameters are
//!   printed with their sizes, if these have names. Other types are inferred again.
//! - An abstract type is printed as the type that it hides, also where it is the type of an entry point.
//! - `&&` and `||` are conditions, sections are functions or applications, and an implicit first value of a loop is
//!   printed.

mod control;
mod definition;
mod expression;
mod names;
mod pattern;
mod types;

use crate::check::types::TypeId;
use crate::compile::with_large_stack;
use crate::format::format_source;
use crate::syntax::tree::SourceNameId;
use crate::typed::{DefinitionId, LocalId, SizedTypeId, TypedProgram};
use names::{DefinitionNames, ScopeNames};
use rustc_hash::FxHashSet;
use types::TypeArgumentTexts;

/// The first line of the text.
pub const TYPED_HEADER: &str =
    "-- Typed source: names are resolved, and the prelude is not in scope.";

/// Where a part of an expression or type stands, which decides whether it needs parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ExpressionNesting {
    /// Between brackets or keywords.
    Whole,
    /// Beside an operator.
    Operand,
    /// As an argument.
    Atom,
}

/// The text of a program: of the definitions that its entry points use.
pub fn print_typed(program: &TypedProgram) -> String {
    let text = with_large_stack(|| print_reached(program));
    format_source(&text).unwrap_or(text)
}

/// Whether a text is that of typed source.
pub fn is_typed_text(text: &str) -> bool {
    text.lines().next().map(str::trim_end) == Some(TYPED_HEADER)
}

fn print_reached(program: &TypedProgram) -> String {
    let all: Vec<_> = program.definitions.ids().collect();
    let mut search = TypedPrinter::new(program, &all);
    let mut pending = program.entries.clone();
    let mut reached: FxHashSet<DefinitionId> = pending.iter().copied().collect();
    while let Some(id) = pending.pop() {
        search.print_definition(id);
        let found = std::mem::take(&mut search.reached);
        pending.extend(found.into_iter().filter(|id| reached.insert(*id)));
    }
    let mut reached = Vec::from_iter(reached);
    reached.sort();
    let mut printer = TypedPrinter::new(program, &reached);
    let mut text = format!("{TYPED_HEADER}\n");
    for id in reached {
        text.push('\n');
        text.push_str(&printer.print_definition(id));
    }
    text
}

/// The text of a type without its sizes.
fn remove_sizes(text: &str) -> String {
    let mut depth = 0usize;
    let mut plain = String::new();
    for character in text.chars() {
        depth -= usize::from(character == ']' && depth > 0);
        if depth == 0 {
            plain.push(character);
        }
        depth += usize::from(character == '[');
    }
    plain
}

/// State of the printer.
struct TypedPrinter<'p> {
    program: &'p TypedProgram,
    names: DefinitionNames,
    /// The variables and type parameters in scope.
    scope: ScopeNames,
    /// The arguments of the abstract types that are printed as what they hide.
    arguments: Vec<TypeArgumentTexts>,
    /// The definitions that the text mentions.
    reached: FxHashSet<DefinitionId>,
    /// The variables that the text mentions.
    mentioned: FxHashSet<LocalId>,
    /// Whether the types that were printed lately have all their sizes and parameters.
    is_exact: bool,
    /// Whether the types that were printed lately have no arrays, functions and type parameters.
    is_scalar: bool,
    /// Whether the variables that were printed lately are in scope.
    is_complete: bool,
}

impl<'p> TypedPrinter<'p> {
    fn new(program: &'p TypedProgram, definitions: &[DefinitionId]) -> Self {
        TypedPrinter {
            program,
            names: DefinitionNames::choose(program, definitions),
            scope: ScopeNames::default(),
            arguments: Vec::new(),
            reached: FxHashSet::default(),
            mentioned: FxHashSet::default(),
            is_exact: true,
            is_scalar: true,
            is_complete: true,
        }
    }

    /// The text of a name of the source.
    fn name_text(&self, name: SourceNameId) -> &'p str {
        &self.program.names[name]
    }

    /// Binds a variable until the scope ends. Returns its name.
    fn bind(&mut self, local: LocalId) -> String {
        let name = &self.program.names[self.program.locals[local].name];
        self.scope.bind_local(local, name, &self.names)
    }

    /// The name of a variable.
    fn name_local(&mut self, local: LocalId) -> String {
        self.mentioned.insert(local);
        match self.scope.find_local(local) {
            Some(name) => name.to_owned(),
            None => {
                self.is_complete = false;
                self.program.names[self.program.locals[local].name].to_owned()
            }
        }
    }

    /// A type that was inferred, if its values are made of scalars: those with arrays and functions have sizes, and
    /// may be unique.
    fn print_inferred(&mut self, id: TypeId) -> Option<String> {
        let outer = std::mem::replace(&mut self.is_exact, true);
        self.is_scalar = true;
        let text = self.print_type(id).nest(ExpressionNesting::Whole);
        let is_exact = std::mem::replace(&mut self.is_exact, outer);
        (is_exact && self.is_scalar).then_some(text)
    }

    /// A type with sizes that was inferred, if the text can name all its sizes and parameters. Types of which nothing is
    /// known stand in it as `()`, which is no type for `type_id`.
    fn print_exact(&mut self, id: SizedTypeId, type_id: TypeId) -> Option<String> {
        let outer = std::mem::replace(&mut self.is_exact, true);
        let mentioned = std::mem::take(&mut self.mentioned);
        let text = self.print_sized(id).nest(ExpressionNesting::Whole);
        let found = std::mem::replace(&mut self.mentioned, mentioned);
        let mut is_exact = std::mem::replace(&mut self.is_exact, outer);
        let plain = self.print_type(type_id).nest(ExpressionNesting::Whole);
        self.is_exact = outer;
        is_exact &= remove_sizes(&text) == remove_sizes(&plain);
        if is_exact {
            self.mentioned.extend(found);
        }
        is_exact.then_some(text)
    }

    /// Whether the fields of a record, in the order of the text, are those of a tuple.
    fn is_tuple(&self, fields: impl ExactSizeIterator<Item = SourceNameId>) -> bool {
        let is_single = fields.len() == 1;
        let mut fields = fields.enumerate();
        !is_single && fields.all(|(index, name)| self.program.names[name] == *index.to_string())
    }
}
