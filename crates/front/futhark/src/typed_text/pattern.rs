//! Patterns of the text.

use super::{ExpressionNesting, TypedPrinter};
use crate::typed::{TypedPatternId, TypedPatternKind};

impl TypedPrinter<'_> {
    /// A pattern, whose variables are bound until the scope ends.
    pub(super) fn print_pattern(&mut self, id: TypedPatternId) -> String {
        let program = self.program;
        let pattern = &program.patterns[id];
        match &pattern.kind {
            TypedPatternKind::Local(local) => self.bind(*local),
            TypedPatternKind::Wildcard => "_".to_owned(),
            TypedPatternKind::Scalar(literal) => self.print_literal(literal, pattern.type_id),
            TypedPatternKind::Record(fields) => {
                let is_tuple = self.is_tuple(fields.iter().map(|(name, _)| *name));
                let fields = fields.iter().map(|(name, field)| {
                    let field = self.print_pattern(*field);
                    if is_tuple {
                        field
                    } else {
                        format!("{} = {field}", self.name_text(*name))
                    }
                });
                let fields = fields.collect::<Vec<_>>().join(", ");
                if is_tuple {
                    format!("({fields})")
                } else {
                    format!("{{{fields}}}")
                }
            }
            TypedPatternKind::Constructor(name, payload) => {
                let mut text = format!("#{}", self.name_text(*name));
                for &part in payload {
                    text.push(' ');
                    text.push_str(&self.print_pattern(part));
                }
                if payload.is_empty() {
                    text
                } else {
                    format!("({text})")
                }
            }
            TypedPatternKind::Ascribed(inner) => {
                let ascribed = pattern.ascribed.map(|ascribed| self.print_sized(ascribed));
                let inner = self.print_pattern(*inner);
                match ascribed {
                    Some(ascribed) => {
                        format!("({inner}: {})", ascribed.nest(ExpressionNesting::Whole))
                    }
                    None => inner,
                }
            }
        }
    }

    /// The pattern of a parameter of a function without a name or of a local one. Its type is printed if it has no
    /// arrays: as an argument, such a function may consume what no type is written for.
    pub(super) fn print_parameter_pattern(&mut self, id: TypedPatternId) -> String {
        let inferred = if self.is_written(id) {
            None
        } else {
            self.print_inferred(self.program.patterns[id].type_id)
        };
        self.print_ascribed(id, inferred)
    }

    /// The pattern of a parameter of a definition, with its type if all its sizes have names.
    pub(super) fn print_definition_parameter(&mut self, id: TypedPatternId) -> String {
        let produced = self.program.sizes.patterns.get(&id);
        let inferred = match produced {
            Some(produced) if !self.is_written(id) => {
                self.print_exact(produced.sized, self.program.patterns[id].type_id)
            }
            _ => None,
        };
        self.print_ascribed(id, inferred)
    }

    /// Whether the source has the type of a whole pattern.
    fn is_written(&self, id: TypedPatternId) -> bool {
        matches!(
            self.program.patterns[id].kind,
            TypedPatternKind::Ascribed(_)
        )
    }

    fn print_ascribed(&mut self, id: TypedPatternId, ascribed: Option<String>) -> String {
        let text = self.print_pattern(id);
        match ascribed {
            Some(ascribed) => format!("({text}: {ascribed})"),
            None => text,
        }
    }
}
