//! Lifting to metadata: nodes, and decorations that LLVM cannot express otherwise.

use super::lifter::SpirvLifter;
use crate::ir::{LlvmConst, LlvmMetadata, MetadataKind, NamedMetadata};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::grammar::{Kind, OperandCategory, literal_string};

/// Decorations with another counterpart in LLVM: names, flags, attributes, alignments.
const EXPRESSED: &[Decoration] = &[
    Decoration::BuiltIn,
    Decoration::LinkageAttributes,
    Decoration::Alignment,
    Decoration::Constant,
    Decoration::FuncParamAttr,
    Decoration::FPFastMathMode,
    Decoration::NoSignedWrap,
    Decoration::NoUnsignedWrap,
    Decoration::FPRoundingMode,
    Decoration::SaturatedConversion,
    Decoration::SpecId,
];

impl SpirvLifter<'_> {
    /// A text.
    pub(super) fn md_text(&mut self, text: &str) -> LlvmMetadata {
        let symbol = self.out.strings.intern_text(text);
        self.out.metadata.push(MetadataKind::String(symbol))
    }

    /// A constant.
    pub(super) fn md_constant(&mut self, constant: LlvmConst) -> LlvmMetadata {
        self.out.metadata.push(MetadataKind::Constant(constant))
    }

    /// A number of 32 bits.
    pub(super) fn md_number(&mut self, number: u32) -> LlvmMetadata {
        let constant = self.make_i32(number);
        self.md_constant(constant)
    }

    /// A list.
    pub(super) fn md_node(&mut self, parts: &[LlvmMetadata]) -> LlvmMetadata {
        let parts: Vec<Option<LlvmMetadata>> = parts.iter().copied().map(Some).collect();
        let operands = self.out.metadata.push_operands(&parts);
        self.out.metadata.push(MetadataKind::Node {
            distinct: false,
            operands,
        })
    }

    /// A list of numbers. Equal lists share one node.
    pub(super) fn md_numbers(&mut self, numbers: &[u32]) -> LlvmMetadata {
        if let Some(node) = self.number_nodes.get(numbers) {
            return *node;
        }
        let parts: Vec<LlvmMetadata> = numbers.iter().map(|n| self.md_number(*n)).collect();
        let node = self.md_node(&parts);
        self.number_nodes.insert(numbers.to_vec(), node);
        node
    }

    /// A named list.
    pub(super) fn md_named(&mut self, name: &str, operands: Vec<LlvmMetadata>) {
        if operands.is_empty() {
            return;
        }
        let name = self.out.strings.intern_text(name);
        self.out
            .named_metadata
            .push(NamedMetadata { name, operands });
    }

    /// The decorations of an id without another counterpart in LLVM: `!{!{number, operands…}, …}`.
    pub(super) fn decoration_node(&mut self, id: Id) -> Option<LlvmMetadata> {
        let rows = self.decoration_rows(id, u32::MAX, EXPRESSED);
        (!rows.is_empty()).then(|| self.md_node(&rows))
    }

    /// The decorations of an id or member, without those in `except`.
    pub(super) fn decoration_rows(
        &mut self,
        id: Id,
        member: u32,
        but: &[Decoration],
    ) -> Vec<LlvmMetadata> {
        let source = self.source;
        let stated = self.decorations.decorations_of(source, id, member);
        let stated: Vec<_> = stated.filter(|(d, _)| !but.contains(d)).collect();
        let mut rows = Vec::new();
        for (decoration, words) in stated {
            rows.extend(self.decoration_row(decoration, words));
        }
        rows
    }

    /// A decoration as a list of its number and operands. Operands are numbers, strings, and the
    /// values of constants given by id.
    fn decoration_row(&mut self, decoration: Decoration, words: &[u32]) -> Option<LlvmMetadata> {
        let row = Kind::Decoration.info().enumerant_by_value(decoration.0)?;
        let mut parts = vec![self.md_number(decoration.0)];
        let mut words = words;
        for parameter in row.parameters {
            if words.is_empty() {
                break;
            }
            let used = match parameter.kind {
                Kind::LiteralString => {
                    let text = literal_string(words);
                    parts.push(self.md_text(&text));
                    let end = words.iter().position(|w| w.to_le_bytes().contains(&0));
                    end.map_or(words.len(), |at| at + 1)
                }
                kind if kind.info().category == OperandCategory::Id => {
                    let number = self.read_constant_number(Id::new(words[0])?).ok()?;
                    parts.push(self.md_number(number as u32));
                    1
                }
                _ => {
                    parts.push(self.md_number(words[0]));
                    1
                }
            };
            words = &words[used..];
        }
        Some(self.md_node(&parts))
    }
}
