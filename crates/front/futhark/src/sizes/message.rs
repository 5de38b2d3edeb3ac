//! Messages about sizes.

use super::SizeInference;
use super::print::ShapePrinter;
use super::shape::{ShapedTypeId, SizeId};
use super::variable::{BinderKind, ClashReason, SizeClash};
use crate::check::SourceFault;
use crate::typed::{LocalId, ProgramPlace};

impl SizeInference<'_> {
    /// A printer of types and sizes.
    fn printer(&self) -> ShapePrinter<'_> {
        ShapePrinter {
            table: self.table,
            program: self.program,
        }
    }

    /// A size for a message.
    pub(super) fn print_size(&self, id: SizeId) -> String {
        self.printer().print_size(id)
    }

    /// A type for a message.
    pub(super) fn print_shape(&mut self, id: ShapedTypeId) -> String {
        let id = self.variables.resolve_shape(self.table, id);
        self.printer().print_shape(id)
    }

    /// The fault that two types have different sizes.
    pub(super) fn fail_clash(
        &mut self,
        clash: SizeClash,
        place: ProgramPlace,
        role: &str,
        expected: ShapedTypeId,
        found: ShapedTypeId,
    ) -> Box<SourceFault> {
        let left = self.variables.resolve(self.table, clash.left);
        let right = self.variables.resolve(self.table, clash.right);
        let expected = self.print_shape(expected);
        let found = self.print_shape(found);
        let (first, second) = (self.print_size(left), self.print_size(right));
        let mut notes = vec![match clash.reason {
            ClashReason::Differ => format!("the sizes `{first}` and `{second}` differ"),
            ClashReason::Infinite => {
                format!("the size would contain itself: `{first}` is `{second}`")
            }
            ClashReason::Scope(local) => {
                let name = &self.program.names[self.program.locals[local].name];
                format!("`{name}` is not in scope where the size is needed")
            }
            ClashReason::Anonymous => {
                "a size that a function chooses for each result cannot be a size of the type of all results"
                    .to_owned()
            }
        }];
        for size in [left, right] {
            self.table.visit_locals(size, &mut |local| {
                notes.extend(self.describe_produced(local))
            });
        }
        notes.dedup();
        let message = format!("{role} is of type `{found}`, but `{expected}` is expected");
        self.fail_at(place, message, |mut diagnostic| {
            for note in notes {
                diagnostic = diagnostic.with_note(note);
            }
            let diagnostic = diagnostic.with_label(format!("expected `{expected}`"));
            match clash.reason {
                ClashReason::Differ => diagnostic.with_hint(format!(
                    "if the sizes are the same when the program runs, write `:> {expected}`"
                )),
                _ => diagnostic,
            }
        })
    }

    /// How a size came about.
    pub(super) fn describe_produced(&self, local: LocalId) -> Option<String> {
        let binder = self.variables.binders.get(&local)?;
        let BinderKind::Produced(_, description) = &binder.kind else {
            return None;
        };
        let name = &self.program.names[self.program.locals[local].name];
        Some(format!("`{name}` is a size that is produced {description}"))
    }
}
