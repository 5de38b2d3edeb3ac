//! LLVM assembly printer.
//!
//! The output reads back as the same module. Metadata and attribute groups are numbered in the
//! order of their first reference, so equal modules are printed equally, whatever they were read
//! from.

mod function;
mod metadata;
mod module;
mod value;

use crate::ir::{AttrSet, LlvmFunction, LlvmMetadata, LlvmModule, LlvmSymbol, LlvmType};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Prints the module as LLVM assembly of LLVM 20 or later, or with typed pointers if it was read
/// with them.
pub fn print_assembly(module: &LlvmModule) -> String {
    let mut printer = LlvmPrinter::new(module);
    printer.print_module();
    printer.out
}

/// A type as LLVM assembly.
pub fn print_type(module: &LlvmModule, ty: LlvmType) -> String {
    let mut printer = LlvmPrinter::new(module);
    printer.print_type(ty);
    printer.out
}

/// The text so far, and the entities that it refers to.
struct LlvmPrinter<'m> {
    module: &'m LlvmModule,
    out: String,
    /// Attribute groups in the order of their numbers.
    groups: Vec<AttrSet>,
    group_of: FxHashMap<AttrSet, usize>,
    /// Metadata in the order of its numbers.
    nodes: Vec<LlvmMetadata>,
    node_of: Vec<Option<u32>>,
    /// The current function, with the numbers of its unnamed locals and blocks.
    func: Option<&'m LlvmFunction>,
    numbers: Vec<u32>,
    block_numbers: Vec<u32>,
    /// Numbers of globals without names.
    unnamed: Vec<u32>,
}

impl<'m> LlvmPrinter<'m> {
    fn new(module: &'m LlvmModule) -> Self {
        LlvmPrinter {
            module,
            out: String::new(),
            groups: Vec::new(),
            group_of: FxHashMap::default(),
            nodes: Vec::new(),
            node_of: vec![None; module.metadata.len()],
            func: None,
            numbers: Vec::new(),
            block_numbers: Vec::new(),
            unnamed: Vec::new(),
        }
    }
}

impl LlvmPrinter<'_> {
    fn put_text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn put_args(&mut self, args: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(args);
    }

    /// Items with commas between them.
    fn print_list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut item: impl FnMut(&mut Self, T),
    ) {
        for (index, one) in items.into_iter().enumerate() {
            if index > 0 {
                self.put_text(", ");
            }
            item(self, one);
        }
    }

    /// Prints a name after a sigil, in quotes if necessary.
    fn print_name(&mut self, sigil: &str, name: LlvmSymbol) {
        let text = self.module.symbol_text(name);
        self.put_text(sigil);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-$._".contains(&byte);
        let digit_first = text.as_bytes().first().is_some_and(u8::is_ascii_digit);
        if !text.is_empty() && !digit_first && text.bytes().all(plain) {
            self.put_text(text);
        } else {
            self.print_quoted(text.as_bytes());
        }
    }

    /// Bytes in quotes with escapes.
    fn print_quoted(&mut self, bytes: &[u8]) {
        self.out.push('"');
        for &byte in bytes {
            if (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\' {
                self.out.push(byte as char);
            } else {
                self.put_args(format_args!("\\{byte:02X}"));
            }
        }
        self.out.push('"');
    }

    /// A symbol in quotes.
    fn print_quoted_symbol(&mut self, symbol: LlvmSymbol) {
        let text = self.module.symbol_text(symbol);
        self.print_quoted(text.as_bytes());
    }
}
