//! Printing in the generic form, as MLIR prints it.
//!
//! What is printed reads back as the same module, locations left out.

mod attribute;
mod number;
mod operation;
mod types;

use crate::mlir::{Attr, Module, Op, Type};

/// How values of different regions are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// Regions beside each other use the same numbers: MLIR's default.
    #[default]
    Scoped,
    /// No number is used twice (`mlir-print-unique-ssa-ids`).
    Unique,
}

/// Text that is made of a module.
pub(super) struct Printer<'m> {
    module: &'m Module,
    out: String,
    /// Names of affine maps and integer sets, if they have some.
    aliases: Vec<Option<String>>,
}

impl<'m> Printer<'m> {
    fn new(module: &'m Module) -> Self {
        Printer {
            module,
            out: String::new(),
            aliases: Vec::new(),
        }
    }
}

impl Module {
    /// A type as MLIR prints it.
    pub fn show_type(&self, ty: Type) -> String {
        let mut printer = Printer::new(self);
        printer.write_type(ty);
        printer.out
    }

    /// An attribute as MLIR prints it, without aliases.
    pub fn show_attribute(&self, attr: Attr) -> String {
        let mut printer = Printer::new(self);
        printer.write_attribute(attr);
        printer.out
    }

    /// The whole module in the generic form, a newline at the end.
    pub fn show(&self, numbering: Numbering) -> String {
        self.show_op(self.root(), numbering)
    }

    /// An operation with its regions in the generic form, a newline at the end.
    pub fn show_op(&self, op: Op, numbering: Numbering) -> String {
        let mut printer = Printer::new(self);
        printer.file(op, numbering);
        printer.out
    }
}
