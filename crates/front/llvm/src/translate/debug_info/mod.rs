//! Debug information: OpenCL.DebugInfo.100 or NonSemantic.Shader.DebugInfo.100.
//!
//! The sets are specified by Khronos ("OpenCL Extended Debug Information", revision 2) and,
//! following it, NonSemantic.Shader.DebugInfo.100 (revision 6). Sources, types, functions, blocks
//! and variables are described at module scope; scopes, lines and locations of variables within
//! functions.
//!
//! Each metadata node becomes one instruction at its first use. In OpenCL.DebugInfo.100 a composite
//! type precedes its members, which it references forward; in the other set it follows them. All
//! other instructions follow those that they reference. Information that SPIR-V cannot express
//! becomes `DebugInfoNone`.

mod array_types;
pub(super) mod debug_state;
mod dwarf_encodings;
mod functions_and_variables;
mod macros_and_imports;
mod nodes;
mod scopes_and_lines;
mod types;

use super::translator::LlvmTranslator;
use crate::ir::{LlvmMetadata, MetadataField};
use crate::translate::options::DebugInfo;
use crate::translate::words::push_string;
use spirula_spirv::Id;
use spirula_spirv::grammar::{ExtInstSet, Op, OperandCategory};
use spirula_spirv::ir::ModuleSection;

/// The instructions that NonSemantic.Shader.DebugInfo.200 adds to those of 100. All their operands
/// are ids.
const LATER: &[(&str, u32)] = &[
    ("DebugModule", 200),
    ("DebugTypeSubrange", 201),
    ("DebugTypeArrayDynamic", 202),
    ("DebugTypeString", 203),
];

/// The extension that the non-semantic sets need before SPIR-V 1.6.
const NON_SEMANTIC: &str = "SPV_KHR_non_semantic_info";

/// Bytes of a string beyond which it is cut.
const MAX_TEXT: usize = 4096;

/// Number of operands beyond which an instruction would be too long; the rest is omitted.
const MAX_ARGUMENTS: usize = 60_000;

/// Nesting depth of nodes beyond which nothing is described.
const MAX_DEPTH: u32 = 100;

/// An operand: an id, or a number, which becomes a constant if the instruction takes an id.
#[derive(Clone, Copy)]
enum DebugInfoOperand {
    Id(Id),
    Number(u32),
}

/// Emits debug information at module scope, from the module's metadata.
pub(super) struct DebugInfoEmitter<'t, 'm> {
    t: &'t mut LlvmTranslator<'m>,
}

impl<'m> LlvmTranslator<'m> {
    /// The emitter of debug information.
    pub(super) fn debug_info(&mut self) -> DebugInfoEmitter<'_, 'm> {
        DebugInfoEmitter { t: self }
    }

    /// Whether debug information is kept.
    pub(super) fn has_debug(&self) -> bool {
        let allowed = !self.is_non_semantic() || self.may_use(NON_SEMANTIC);
        let kept = self.options.debug != DebugInfo::None && allowed;
        kept && !self.module.named_metadata("llvm.dbg.cu").is_empty()
    }

    /// Whether debug information is in one of the non-semantic sets.
    pub(super) fn is_non_semantic(&self) -> bool {
        matches!(
            self.options.debug,
            DebugInfo::NonSemantic | DebugInfo::NonSemantic200
        )
    }
}

impl DebugInfoEmitter<'_, '_> {
    /// Makes the compilation units and global variables.
    pub(super) fn emit_units(&mut self) {
        if !self.t.has_debug() {
            return;
        }
        let units = self.t.module.named_metadata("llvm.dbg.cu");
        for &unit in units {
            self.emit_node(Some(unit));
        }
        self.emit_build(units);
        let mut seen = vec![false; self.t.module.metadata.len()];
        for &unit in units {
            self.emit_macros(unit, &mut seen);
        }
        self.emit_globals();
        self.emit_imports();
    }

    fn import_debug_set(&mut self) -> Id {
        match self.t.debug.set {
            Some(id) => id,
            None => {
                let id = self
                    .t
                    .b
                    .import_set(self.t.options.debug.extended_set_name());
                if self.t.is_non_semantic() {
                    self.t.b.declare_extension(NON_SEMANTIC);
                }
                self.t.debug.set = Some(id);
                id
            }
        }
    }

    /// The number of an instruction and its operands as words.
    fn encode_instruction(&mut self, name: &str, arguments: &[DebugInfoOperand]) -> Vec<u32> {
        let arguments = &arguments[..arguments.len().min(MAX_ARGUMENTS)];
        if let Some((_, number)) = LATER.iter().find(|row| row.0 == name) {
            let mut words = vec![self.import_debug_set().word(), *number];
            words.extend(arguments.iter().map(|argument| match *argument {
                DebugInfoOperand::Id(id) => id.word(),
                DebugInfoOperand::Number(number) => self.t.b.constant_u32(number).word(),
            }));
            return words;
        }
        let known = if self.t.is_non_semantic() {
            DebugInfo::NonSemantic
        } else {
            DebugInfo::OpenCl
        };
        let set = ExtInstSet::by_name(known.extended_set_name());
        let row = set.and_then(|set| set.instruction_by_name(name));
        let Some(row) = row else { return Vec::new() };
        let mut words = vec![self.import_debug_set().word(), row.number];
        for (index, argument) in arguments.iter().enumerate() {
            let operand = row.operands.get(index).or(row.operands.last());
            let literal = operand.is_some_and(|o| {
                !matches!(
                    o.kind.info().category,
                    OperandCategory::Id | OperandCategory::Composite
                )
            });
            words.push(match *argument {
                DebugInfoOperand::Id(id) => id.word(),
                DebugInfoOperand::Number(number) if literal => number,
                DebugInfoOperand::Number(number) => self.t.b.constant_u32(number).word(),
            });
        }
        words
    }

    /// An instruction at module level.
    fn emit_instruction(&mut self, name: &str, arguments: &[DebugInfoOperand]) -> Id {
        let id = self.t.b.fresh_id();
        self.define_instruction(id, name, arguments);
        id
    }

    /// An instruction at module scope under an id that was referenced before.
    fn define_instruction(&mut self, id: Id, name: &str, arguments: &[DebugInfoOperand]) {
        let void = self.t.b.void_type();
        let mut words = vec![void.word(), id.word()];
        words.extend(self.encode_instruction(name, arguments));
        self.t
            .b
            .push_inst(ModuleSection::Globals, Op::ExtInst, &words);
    }

    /// The id of `DebugInfoNone`.
    fn emit_none(&mut self) -> Id {
        match self.t.debug.none {
            Some(id) => id,
            None => {
                let id = self.emit_instruction("DebugInfoNone", &[]);
                self.t.debug.none = Some(id);
                id
            }
        }
    }

    /// A string.
    fn emit_string(&mut self, text: &str) -> Id {
        let end = (0..=text.len().min(MAX_TEXT))
            .rev()
            .find(|at| text.is_char_boundary(*at));
        let text = &text[..end.unwrap_or(0)];
        if let Some(id) = self.t.debug.strings.get(text) {
            return *id;
        }
        let id = self.t.b.fresh_id();
        let mut words = vec![id.word()];
        push_string(&mut words, text);
        self.t
            .b
            .push_inst(ModuleSection::Sources, Op::String, &words);
        self.t.debug.strings.insert(text.to_owned(), id);
        id
    }

    fn find_field(&self, node: LlvmMetadata, name: &str) -> Option<MetadataField> {
        let name = self.t.module.strings.find_symbol(name)?;
        self.t.module.metadata.find_field(node, name)
    }

    fn node_field(&self, node: LlvmMetadata, name: &str) -> Option<LlvmMetadata> {
        match self.find_field(node, name)? {
            MetadataField::Node(node) => node,
            _ => None,
        }
    }

    fn number_field(&self, node: LlvmMetadata, name: &str) -> u32 {
        match self.find_field(node, name) {
            Some(MetadataField::Int(number)) => u32::try_from(number).unwrap_or(0),
            // Since LLVM 21 a size may be a constant node, or unknown.
            Some(MetadataField::Node(Some(node))) => {
                let constant = self.t.module.metadata.as_constant(node);
                let number = constant.and_then(|c| self.t.module.consts.as_u64(c));
                number.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
            }
            _ => 0,
        }
    }

    fn text_field(&self, node: LlvmMetadata, name: &str) -> String {
        let text = self.node_field(node, name);
        let text = text.and_then(|m| self.t.module.metadata.as_string(m));
        text.map_or("", |s| self.t.module.symbol_text(s)).to_owned()
    }

    /// The row of a table for a field that is a keyword or a number.
    fn row_field(&self, node: LlvmMetadata, name: &str, rows: &[(&str, u64, u32)]) -> Option<u32> {
        let row = match self.find_field(node, name)? {
            MetadataField::Word(word) => {
                let word = self.t.module.symbol_text(word);
                rows.iter().find(|row| row.0 == word)
            }
            MetadataField::Int(number) => rows.iter().find(|row| i128::from(row.1) == number),
            MetadataField::Node(_) => None,
        };
        row.map(|row| row.2)
    }

    /// The flags of a field: keywords joined by bars, or bits of a number.
    fn flag_field(&self, node: LlvmMetadata, name: &str, rows: &[(&str, u64, u32)]) -> u32 {
        match self.find_field(node, name) {
            Some(MetadataField::Word(word)) => {
                let words = self.t.module.symbol_text(word).split('|').map(str::trim);
                words
                    .filter_map(|word| rows.iter().find(|row| row.0 == word))
                    .fold(0, |all, row| all | row.2)
            }
            Some(MetadataField::Int(bits)) => rows
                .iter()
                .filter(|row| bits & i128::from(row.1) != 0)
                .fold(0, |all, row| all | row.2),
            _ => 0,
        }
    }
}
