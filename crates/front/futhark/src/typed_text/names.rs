//! Names of the text: unique names for definitions, and names of variables that hide none of these.

use crate::check::types::{PrimitiveType, TypeParameterId};
use crate::syntax::tree::SourceNameId;
use crate::typed::{DefinitionId, LocalId, TypedProgram};
use rustc_hash::{FxHashMap, FxHashSet};

/// Names of definitions that would have a meaning of their own in the text.
const RESERVED: [&str; 2] = ["intrinsics", "main"];

/// Words for the characters of operators.
const OPERATOR_WORDS: [(char, &str); 13] = [
    ('+', "plus"),
    ('-', "minus"),
    ('*', "times"),
    ('/', "over"),
    ('%', "mod"),
    ('=', "eq"),
    ('!', "not"),
    ('<', "lt"),
    ('>', "gt"),
    ('|', "or"),
    ('&', "and"),
    ('^', "xor"),
    ('.', "dot"),
];

/// A name as an identifier. That of an operator is made of words for its characters.
fn spell_identifier(name: &str) -> String {
    let is_operator = name.starts_with(|first: char| {
        OPERATOR_WORDS
            .iter()
            .any(|(character, _)| *character == first)
    });
    if !is_operator {
        return name.to_owned();
    }
    let words = name.chars().map(|character| {
        let found = OPERATOR_WORDS.iter().find(|(other, _)| *other == character);
        found.map_or("op", |(_, word)| word)
    });
    words.collect::<Vec<_>>().join("_")
}

/// The first of `base`, `base_1`, `base_2` and so on that is free.
fn find_free_name(base: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&base) {
        return base;
    }
    let numbered = (1u64..).map(|number| format!("{base}_{number}"));
    numbered
        .into_iter()
        .find(|name| !is_taken(name))
        .unwrap_or(base)
}

/// The names of definitions in the text. All differ.
#[derive(Default)]
pub(super) struct DefinitionNames {
    names: FxHashMap<DefinitionId, String>,
    taken: FxHashSet<String>,
}

impl DefinitionNames {
    /// Chooses names for definitions. Entry points keep theirs. Others have the names of their modules in front.
    pub(super) fn choose(program: &TypedProgram, definitions: &[DefinitionId]) -> Self {
        let mut chosen = DefinitionNames::default();
        for &entry in &program.entries {
            let name = program.names[program.definitions[entry].name].to_owned();
            chosen.taken.insert(name.clone());
            chosen.names.insert(entry, name);
        }
        chosen.taken.extend(RESERVED.map(str::to_owned));
        for &id in definitions {
            if chosen.names.contains_key(&id) {
                continue;
            }
            let definition = &program.definitions[id];
            let path = definition.modules.iter().chain([&definition.name]);
            let path = path.map(|part| spell_identifier(&program.names[*part]));
            let base = path.collect::<Vec<_>>().join("_");
            let name = find_free_name(base, |name| chosen.taken.contains(name));
            chosen.taken.insert(name.clone());
            chosen.names.insert(id, name);
        }
        chosen
    }

    /// The name of a definition.
    pub(super) fn find(&self, id: DefinitionId) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }
}

/// The variables and type parameters in scope at a place of the text.
#[derive(Default)]
pub(super) struct ScopeNames {
    locals: Vec<(LocalId, String)>,
    types: Vec<(TypeParameterId, String)>,
}

/// A place in the stack of scopes.
#[derive(Clone, Copy)]
pub(super) struct ScopeMark {
    locals: usize,
    types: usize,
}

impl ScopeNames {
    /// The scopes that are open.
    pub(super) fn mark(&self) -> ScopeMark {
        ScopeMark {
            locals: self.locals.len(),
            types: self.types.len(),
        }
    }

    /// Closes the scopes since a mark.
    pub(super) fn close(&mut self, mark: ScopeMark) {
        self.locals.truncate(mark.locals);
        self.types.truncate(mark.types);
    }

    /// Binds a variable. Its name hides no other that is in scope.
    pub(super) fn bind_local(
        &mut self,
        local: LocalId,
        name: &str,
        definitions: &DefinitionNames,
    ) -> String {
        let base = spell_identifier(name);
        let chosen = find_free_name(base, |name| {
            definitions.taken.contains(name) || self.locals.iter().any(|(_, other)| other == name)
        });
        self.locals.push((local, chosen.clone()));
        chosen
    }

    /// Binds a type parameter. Its name hides no built-in type.
    pub(super) fn bind_type(
        &mut self,
        parameter: TypeParameterId,
        program: &TypedProgram,
    ) -> String {
        let name: SourceNameId = program.types.parameter_name(parameter);
        let chosen = find_free_name(program.names[name].to_owned(), |name| {
            PrimitiveType::all().any(|scalar| scalar.spelling() == name)
                || self.types.iter().any(|(_, other)| other == name)
        });
        self.types.push((parameter, chosen.clone()));
        chosen
    }

    /// The name of a variable, if it is in scope.
    pub(super) fn find_local(&self, local: LocalId) -> Option<&str> {
        let mut bound = self.locals.iter().rev();
        let found = bound.find(|(other, _)| *other == local);
        found.map(|(_, name)| name.as_str())
    }

    /// The name of a type parameter, if it is in scope.
    pub(super) fn find_type(&self, parameter: TypeParameterId) -> Option<&str> {
        let mut bound = self.types.iter().rev();
        let found = bound.find(|(other, _)| *other == parameter);
        found.map(|(_, name)| name.as_str())
    }
}
