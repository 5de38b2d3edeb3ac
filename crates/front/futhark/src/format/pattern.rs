//! Formatter of patterns.

use super::printer::{PrintResult, SourcePrinter};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{PatternId, PatternKind, RecordFieldPattern};

impl SourcePrinter<'_> {
    /// The range of a pattern.
    pub(super) fn pattern_range(&self, id: PatternId) -> TextRange {
        self.tree.patterns[id].range
    }

    pub(super) fn print_pattern(&mut self, id: PatternId) -> PrintResult<()> {
        let range = self.pattern_range(id);
        self.in_layout_of(range, |printer| printer.print_pattern_kind(id))
    }

    fn print_pattern_kind(&mut self, id: PatternId) -> PrintResult<()> {
        let tree = self.tree;
        let node = &tree.patterns[id];
        match &node.kind {
            PatternKind::Name(_) | PatternKind::Wildcard | PatternKind::Literal { .. } => {
                self.print_glued(node.range)
            }
            PatternKind::Parentheses(inner) => {
                self.expect("(")?;
                self.aligned(|printer| printer.print_pattern(*inner))?;
                self.expect(")")
            }
            PatternKind::Tuple(items) => self.print_list(node.range, items, |printer, item| {
                printer.print_pattern(*item)
            }),
            PatternKind::Record(fields) => {
                self.print_list(node.range, fields, Self::print_field_pattern)
            }
            PatternKind::Constructor { payload, .. } => {
                self.print_token();
                if payload.is_empty() {
                    return Ok(());
                }
                self.line();
                self.aligned(|printer| {
                    payload.iter().enumerate().try_for_each(|(number, part)| {
                        if number > 0 {
                            printer.line();
                        }
                        printer.print_pattern(*part)
                    })
                })
            }
            PatternKind::Ascription { pattern, ascribed } => {
                self.print_pattern(*pattern)?;
                self.expect(":")?;
                self.blank();
                self.print_type(*ascribed)
            }
            PatternKind::Attributed { pattern, .. } => {
                self.print_attribute()?;
                self.blank();
                self.print_pattern(*pattern)
            }
        }
    }

    fn print_field_pattern(&mut self, field: &RecordFieldPattern) -> PrintResult<()> {
        let range = self.pattern_range(field.pattern);
        if field.is_explicit {
            self.print_glued(field.name.range)?;
            self.blank();
            self.expect("=")?;
            let whole = field.name.range.extend_to(range);
            return self.follow_or_nest(whole, |printer| printer.print_pattern(field.pattern));
        }
        self.print_glued(field.name.range)?;
        match self.tree.patterns[field.pattern].kind {
            PatternKind::Ascription { ascribed, .. } => {
                self.expect(":")?;
                self.blank();
                self.print_type(ascribed)
            }
            _ => Ok(()),
        }
    }
}
