//! Metadata printer.

use super::LlvmPrinter;
use crate::bitcode::BOOLEAN;
use crate::ir::{LlvmMetadata, LlvmSymbol, MetadataField, MetadataKind};

impl LlvmPrinter<'_> {
    /// Prints metadata where it is used: nodes by number, everything else in full.
    pub(super) fn print_metadata_ref(&mut self, id: LlvmMetadata) {
        match self.module.metadata.kind(id) {
            MetadataKind::String(symbol) => {
                self.put_text("!");
                self.print_quoted_symbol(symbol);
            }
            MetadataKind::Constant(constant) => self.print_typed_constant(constant),
            MetadataKind::Local(value) => self.print_typed_value(value),
            MetadataKind::ArgList(_) => {
                self.put_text("!DIArgList(");
                let operands = self.module.metadata.operands(id);
                self.print_list(operands.iter().flatten(), |printer, &operand| {
                    printer.print_metadata_ref(operand);
                });
                self.put_text(")");
            }
            MetadataKind::Specialised { class, .. }
                if self.module.symbol_text(class) == "DIExpression" =>
            {
                self.print_node(id);
            }
            MetadataKind::Node { .. } | MetadataKind::Specialised { .. } => {
                self.print_node_number(id)
            }
        }
    }

    fn print_node_number(&mut self, id: LlvmMetadata) {
        let number = match self.node_of[id.index()] {
            Some(number) => number,
            None => {
                let number = self.nodes.len() as u32;
                self.nodes.push(id);
                self.node_of[id.index()] = Some(number);
                number
            }
        };
        self.put_args(format_args!("!{number}"));
    }

    fn print_optional_metadata(&mut self, id: Option<LlvmMetadata>) {
        match id {
            Some(id) => self.print_metadata_ref(id),
            None => self.put_text("null"),
        }
    }

    /// Prints all nodes that were referred to, and the nodes that these refer to.
    pub(super) fn print_nodes(&mut self) {
        let mut at = 0;
        while at < self.nodes.len() {
            self.put_args(format_args!("!{at} = "));
            self.print_node(self.nodes[at]);
            self.put_text("\n");
            at += 1;
        }
    }

    fn print_node(&mut self, id: LlvmMetadata) {
        match self.module.metadata.kind(id) {
            MetadataKind::Node { distinct, .. } => {
                self.put_text(if distinct { "distinct !{" } else { "!{" });
                let operands = self.module.metadata.operands(id);
                self.print_list(operands, |printer, &operand| {
                    printer.print_optional_metadata(operand)
                });
                self.put_text("}");
            }
            MetadataKind::Specialised {
                distinct, class, ..
            } => {
                let class = self.module.symbol_text(class);
                self.put_args(format_args!(
                    "{}!{class}(",
                    if distinct { "distinct " } else { "" }
                ));
                let fields = self.module.metadata.fields(id);
                self.print_list(fields, |printer, &(name, field)| {
                    printer.print_field(name, field)
                });
                self.put_text(")");
            }
            _ => {}
        }
    }

    fn print_field(&mut self, name: LlvmSymbol, field: MetadataField) {
        let name = self.module.symbol_text(name);
        if !name.is_empty() {
            self.put_args(format_args!("{name}: "));
        }
        match field {
            MetadataField::Node(Some(id)) => match self.module.metadata.as_string(id) {
                Some(symbol) => self.print_quoted_symbol(symbol),
                None => self.print_metadata_ref(id),
            },
            MetadataField::Node(None) => self.put_text("null"),
            MetadataField::Int(number) if BOOLEAN.contains(&name) => {
                self.put_text(if number == 0 { "false" } else { "true" });
            }
            MetadataField::Int(number) => self.put_args(format_args!("{number}")),
            MetadataField::Word(word) => {
                let word = self.module.symbol_text(word);
                self.put_text(word);
            }
        }
    }

    /// Prints metadata attachments: each kind and node after `separator`.
    pub(super) fn print_attachment(
        &mut self,
        separator: &str,
        kind: LlvmSymbol,
        node: LlvmMetadata,
    ) {
        self.put_text(separator);
        self.put_text("!");
        let kind = self.module.symbol_text(kind);
        for byte in kind.bytes() {
            if byte.is_ascii_alphanumeric() || b"-$._".contains(&byte) {
                self.out.push(byte as char);
            } else {
                self.put_args(format_args!("\\{byte:02X}"));
            }
        }
        self.put_text(" ");
        self.print_metadata_ref(node);
    }
}
