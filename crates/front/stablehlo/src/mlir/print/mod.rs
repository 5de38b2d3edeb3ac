//! Printer of the generic form, as MLIR prints it.
//!
//! The printed text reads back as the same module without locations.

mod attribute;
mod number;
mod operation;
mod types;

use crate::mlir::{MlirAttr, MlirModule, MlirOp, MlirType};

/// Numbering of the values of different regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SsaNumbering {
    /// Sibling regions use the same numbers: MLIR's default.
    #[default]
    Scoped,
    /// No number is used twice (`mlir-print-unique-ssa-ids`).
    Unique,
}

/// State of the printing of a module.
pub(super) struct MlirPrinter<'m> {
    module: &'m MlirModule,
    out: String,
    /// Names of affine maps and integer sets, if they have some.
    aliases: Vec<Option<String>>,
}

impl<'m> MlirPrinter<'m> {
    fn new(module: &'m MlirModule) -> Self {
        MlirPrinter {
            module,
            out: String::new(),
            aliases: Vec::new(),
        }
    }
}

impl MlirModule {
    /// A type as MLIR prints it.
    pub fn show_type(&self, ty: MlirType) -> String {
        let mut printer = MlirPrinter::new(self);
        printer.write_type(ty);
        printer.out
    }

    /// An attribute as MLIR prints it, without aliases.
    pub fn show_attribute(&self, attr: MlirAttr) -> String {
        let mut printer = MlirPrinter::new(self);
        printer.write_attribute(attr);
        printer.out
    }

    /// The whole module in the generic form, a newline at the end.
    pub fn to_generic_text(&self, numbering: SsaNumbering) -> String {
        self.show_op(self.root(), numbering)
    }

    /// An operation with its regions in the generic form, a newline at the end.
    pub fn show_op(&self, op: MlirOp, numbering: SsaNumbering) -> String {
        let mut printer = MlirPrinter::new(self);
        printer.write_file(op, numbering);
        printer.out
    }
}
