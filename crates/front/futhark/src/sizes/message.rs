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
        ShapePrinter::new(self.table, self.program)
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

    /// A size and a type for one message.
    pub(super) fn print_size_and_shape(
        &mut self,
        size: LocalId,
        shape: ShapedTypeId,
    ) -> [String; 2] {
        let shape = self.variables.resolve_shape(self.table, shape);
        let printer = self.printer();
        [printer.print_local(size), printer.print_shape(shape)]
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
        let expected = self.variables.resolve_shape(self.table, expected);
        let found = self.variables.resolve_shape(self.table, found);
        let printer = self.printer();
        let [found, expected] = [found, expected].map(|shape| printer.print_shape(shape));
        let [first, second] = [left, right].map(|size| printer.print_size(size));
        let mut notes = vec![match clash.reason {
            ClashReason::Differ => format!("the sizes `{first}` and `{second}` differ"),
            ClashReason::Infinite => {
                format!("the size would contain itself: `{first}` is `{second}`")
            }
            ClashReason::Scope(local) => {
                let name = printer.print_local(local);
                format!("`{name}` is not in scope where the size is needed")
            }
            ClashReason::Anonymous => {
                "a size that a function chooses for each result cannot be a size of the type of all results"
                    .to_owned()
            }
        }];
        for size in [left, right] {
            self.table.visit_locals(size, &mut |local| {
                notes.extend(self.describe_produced(local, &printer.print_local(local)))
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

    /// How a size came about, which the message calls `name`.
    pub(super) fn describe_produced(&self, local: LocalId, name: &str) -> Option<String> {
        let binder = self.variables.binders.get(&local)?;
        let BinderKind::Produced(_, description) = &binder.kind else {
            return None;
        };
        Some(format!("`{name}` is a size that is produced {description}"))
    }
}
