//! Types of names, with the documentation of what they stand for.

use super::{SourceAnalysis, SymbolKind, SymbolNode};
use crate::check::name_record::{NameMeaning, NameOccurrence};
use crate::syntax::token::TextRange;
use crate::typed::{DefinitionId, FileId, LocalId, ProgramPlace, TypedExpressionId, TypedKind};

/// A description of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoverText {
    /// Where the name stands.
    pub range: TextRange,
    /// The name with its type, or the declaration that it stands for, as Futhark.
    pub code: String,
    /// The documentation, without its dashes.
    pub documentation: Option<String>,
}

/// Lines of a declaration that are shown.
const MAX_LINES: usize = 12;

impl SourceAnalysis {
    /// Describes the name at a byte of a file. None where no name is.
    pub fn describe_name(&self, file: FileId, at: u32) -> Option<HoverText> {
        let (range, occurrence) = self.find_occurrence(file, at)?;
        let place = ProgramPlace { file, range };
        Some(HoverText {
            range,
            code: self.describe_occurrence(place, occurrence),
            documentation: occurrence
                .definition
                .and_then(|place| self.find_documentation(place)),
        })
    }

    /// The documentation of what is defined at a place. A file is defined at its beginning.
    pub(super) fn find_documentation(&self, place: ProgramPlace) -> Option<String> {
        let range = if place.range == TextRange::default() {
            self.files.files[place.file].tree.documentation?
        } else {
            self.symbols.find(place)?.documentation?
        };
        let comment = self.text_at(ProgramPlace { range, ..place });
        let lines = comment.lines().map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("-- |").or(line.strip_prefix("--"));
            let line = line.unwrap_or_default();
            line.strip_prefix(' ').unwrap_or(line).trim_end()
        });
        Some(lines.collect::<Vec<_>>().join("\n"))
    }

    fn describe_occurrence(&self, place: ProgramPlace, occurrence: &NameOccurrence) -> String {
        let name = self.text_at(place);
        match &occurrence.meaning {
            NameMeaning::Expression(typed) => self.describe_expression(name, *typed),
            NameMeaning::Local(local) => format!("{name} {}", self.print_local(*local)),
            NameMeaning::Definition(id) => format!("{name} {}", self.print_definition(*id)),
            NameMeaning::Specification(Some(scheme)) => {
                format!("{name} {}", self.printer().print_scheme(scheme))
            }
            NameMeaning::Field { value, .. } => {
                let found = self.find_projection(place);
                let printed = found.map(|typed| self.print_expression_type(typed));
                let printed = printed.unwrap_or_else(|| self.print_type(*value));
                format!("{name} : {printed}")
            }
            NameMeaning::Constructor(type_id) => {
                let name = name.trim_start_matches('#');
                format!("#{name} : {}", self.print_type(*type_id))
            }
            NameMeaning::File => format!("import {name}"),
            NameMeaning::Type
            | NameMeaning::Module
            | NameMeaning::ModuleType
            | NameMeaning::Faulty
            | NameMeaning::Specification(None) => self.describe_declaration(name, occurrence),
        }
    }

    /// A value in an expression: its general type if it has one, and its type at the place.
    fn describe_expression(&self, name: &str, typed: TypedExpressionId) -> String {
        let here = self.print_expression_type(typed);
        let general = match &self.checked.program.expressions[typed].kind {
            TypedKind::Global(id, _) => self.print_definition(*id),
            TypedKind::Local(local, types) if !types.is_empty() => self.print_local(*local),
            _ => String::new(),
        };
        // Parameters stand in front of the colon.
        if general.is_empty() || general.starts_with(':') {
            format!("{name} : {here}")
        } else {
            format!("{name} {general}\n-- here : {here}")
        }
    }

    /// The declaration behind a name as it is written.
    fn describe_declaration(&self, name: &str, occurrence: &NameOccurrence) -> String {
        let symbol = occurrence
            .definition
            .and_then(|place| Some((place.file, self.symbols.find(place)?)));
        if let Some((file, symbol)) = symbol {
            return self.print_symbol(file, symbol);
        }
        match occurrence.meaning {
            NameMeaning::Type => format!("type {name}"),
            NameMeaning::Module => format!("module {name}"),
            NameMeaning::ModuleType => format!("module type {name}"),
            _ => name.to_owned(),
        }
    }

    /// A declaration without its body. Types are shown whole.
    pub(super) fn print_symbol(&self, file: FileId, symbol: &SymbolNode) -> String {
        let range = symbol.range;
        let text = self.text_at(ProgramPlace { file, range });
        let has_body = matches!(
            symbol.kind,
            SymbolKind::Entry | SymbolKind::Function | SymbolKind::Constant | SymbolKind::Module
        );
        let shown = match text.find(" =") {
            Some(end) if has_body => &text[..end],
            _ => text,
        };
        let mut lines: Vec<&str> = shown.trim_end().lines().collect();
        if lines.len() > MAX_LINES {
            lines.truncate(MAX_LINES);
            lines.push("-- …");
        }
        lines.join("\n")
    }

    /// The projection whose field stands at a place.
    fn find_projection(&self, place: ProgramPlace) -> Option<TypedExpressionId> {
        let expressions = &self.checked.program.expressions;
        let mut projections = expressions.iter().filter(|(_, typed)| {
            typed.place.file == place.file
                && typed.place.range.end == place.range.end
                && matches!(typed.kind, TypedKind::Projection(..))
        });
        projections.next().map(|(id, _)| id)
    }

    /// The type of an expression, with its sizes as far as they are known.
    pub(super) fn print_expression_type(&self, id: TypedExpressionId) -> String {
        let record = self.checked.shapes.record.as_ref();
        match record.and_then(|record| record.expressions.get(&id)) {
            Some(shape) => self.printer().print_shape(*shape),
            None => self.print_type(self.checked.program.expressions[id].type_id),
        }
    }

    /// The type of a variable after its name.
    pub(super) fn print_local(&self, id: LocalId) -> String {
        let record = self.checked.shapes.record.as_ref();
        match record.and_then(|record| record.locals.get(&id)) {
            Some(scheme) => self.printer().print_scheme(scheme),
            None => format!(
                ": {}",
                self.print_type(self.checked.program.locals[id].type_id)
            ),
        }
    }

    /// The type of a definition after its name.
    pub(super) fn print_definition(&self, id: DefinitionId) -> String {
        match self.checked.shapes.definitions.get(&id) {
            Some(scheme) => self.printer().print_scheme(scheme),
            None => format!(
                ": {}",
                self.print_type(self.checked.program.definitions[id].type_id)
            ),
        }
    }

    /// A type without sizes.
    pub(super) fn print_type(&self, id: crate::check::types::TypeId) -> String {
        let program = &self.checked.program;
        program.types.print(id, &program.names)
    }
}
