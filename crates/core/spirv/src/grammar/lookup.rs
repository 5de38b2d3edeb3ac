//! Look-ups in the grammar tables: by number in constant time, by name through an index that is built once.

use super::generated::ext::EXT_INST_SETS;
use super::generated::instructions::{BY_NUMBER, INSTRUCTIONS};
use super::generated::kinds::{KINDS, Kind};
use super::opcode_layout::OpcodeRole;
use super::registry;
use super::types::{
    EnumerantInfo, ExtInst, ExtInstSet, InstructionInfo, KindInfo, Op, OperandCategory, ResultForm,
};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::OnceLock;

impl Op {
    /// Row of this opcode, `None` for a number that neither the table knows nor
    /// [`GrammarAdditions`](super::GrammarAdditions).
    #[inline]
    pub fn info(self) -> Option<&'static InstructionInfo> {
        self.in_tables()
            .or_else(|| registry::find_instruction(self))
    }

    /// Row of this opcode in the table.
    #[inline]
    pub(super) fn in_tables(self) -> Option<&'static InstructionInfo> {
        INSTRUCTIONS.get(usize::from(*BY_NUMBER.get(usize::from(self.0))?))
    }

    /// Number of this opcode's row among [`all_instructions`].
    #[inline]
    pub(crate) const fn row_index(self) -> Option<usize> {
        let number = self.0 as usize;
        if number >= BY_NUMBER.len() {
            return None;
        }
        let row = BY_NUMBER[number] as usize;
        if row < INSTRUCTIONS.len() {
            Some(row)
        } else {
            None
        }
    }

    /// Opcode by name, with or without the leading `Op`.
    pub fn by_name(name: &str) -> Option<Op> {
        let name = name.strip_prefix("Op").unwrap_or(name);
        Op::by_name_in_tables(name).or_else(|| registry::opcode_by_name(name))
    }

    /// Opcode by name, without the leading `Op`, in the table.
    pub(super) fn by_name_in_tables(name: &str) -> Option<Op> {
        static INDEX: OnceLock<FxHashMap<&'static str, Op>> = OnceLock::new();
        let index = INDEX.get_or_init(|| {
            let rows = INSTRUCTIONS.iter();
            rows.flat_map(|i| {
                i.aliases
                    .iter()
                    .chain([&i.name])
                    .map(|name| (&name[2..], i.op))
            })
            .collect()
        });
        index.get(name).copied()
    }

    /// Whether the instruction has a result; unknown instructions are taken to have none.
    #[inline]
    pub fn result_form(self) -> ResultForm {
        match self.shape().head_length() {
            0 => ResultForm::None,
            1 => ResultForm::Untyped,
            _ => ResultForm::Typed,
        }
    }

    /// Whether the instruction ends a basic block (specification, section 2.2.5).
    #[inline]
    pub const fn is_terminator(self) -> bool {
        matches!(
            self,
            Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::Return
                | Op::ReturnValue
                | Op::Kill
                | Op::TerminateInvocation
                | Op::Unreachable
                | Op::IgnoreIntersectionKHR
                | Op::TerminateRayKHR
                | Op::EmitMeshTasksEXT
                | Op::AbortKHR
        )
    }

    /// Whether the instruction names or decorates ids. It is deleted with them.
    #[inline]
    pub fn is_about_ids(self) -> bool {
        matches!(self, Op::Name | Op::MemberName) || self.shape().role == OpcodeRole::Annotation
    }

    /// Whether the instruction gives the source line of those after it.
    #[inline]
    pub fn is_line(self) -> bool {
        matches!(self, Op::Line | Op::NoLine)
    }
}

/// All instructions of the core grammar by increasing opcode.
pub const fn all_instructions() -> &'static [InstructionInfo] {
    &INSTRUCTIONS
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.info() {
            Some(info) => f.write_str(info.name),
            None => write!(f, "Op{}", self.0),
        }
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Kind {
    /// Row of this kind.
    #[inline]
    pub const fn info(self) -> &'static KindInfo {
        &KINDS[self as usize]
    }

    /// Whether values of this kind have rows in the tables: enumerants, and numbers of instructions.
    pub(crate) const fn has_rows(self) -> bool {
        matches!(
            self.info().category,
            OperandCategory::ValueEnum | OperandCategory::BitEnum
        ) || matches!(
            self,
            Kind::LiteralExtInstInteger | Kind::LiteralSpecConstantOpInteger
        )
    }
}

/// All operand kinds.
pub(crate) fn all_kinds() -> &'static [KindInfo] {
    &KINDS
}

/// All sets of extended instructions that the tables know.
pub(crate) fn ext_inst_sets() -> &'static [ExtInstSet] {
    &EXT_INST_SETS
}

impl KindInfo {
    /// Row of a value; the first where several names share it.
    pub fn enumerant_by_value(&self, value: u32) -> Option<&'static EnumerantInfo> {
        let found = self.in_tables(value);
        found.or_else(|| registry::find_enumerant(self.kind, value))
    }

    #[inline]
    pub(super) fn in_tables(&self, value: u32) -> Option<&'static EnumerantInfo> {
        // Rows of small values are at these positions, or a little before.
        let near = self.enumerants.get(..=value as usize).unwrap_or(&[]);
        for (at, row) in near.iter().enumerate().rev().take(6) {
            if row.value == value && (at == 0 || near[at - 1].value < value) {
                return Some(row);
            }
        }
        let at = self.enumerants.partition_point(|e| e.value < value);
        self.enumerants.get(at).filter(|e| e.value == value)
    }

    /// Row of a name.
    pub fn by_name(&self, name: &str) -> Option<&'static EnumerantInfo> {
        let found = self.by_name_in_tables(name);
        found.or_else(|| registry::value_by_name(self.kind, name))
    }

    pub(super) fn by_name_in_tables(&self, name: &str) -> Option<&'static EnumerantInfo> {
        static INDEX: OnceLock<FxHashMap<(Kind, &'static str), &'static EnumerantInfo>> =
            OnceLock::new();
        let index = INDEX.get_or_init(|| {
            let mut index = FxHashMap::default();
            for kind in &KINDS {
                for row in kind.enumerants {
                    for name in [row.name].iter().chain(row.aliases) {
                        index.entry((kind.kind, *name)).or_insert(row);
                    }
                }
            }
            index
        });
        index.get(&(self.kind, name)).copied()
    }

    /// Whether every bit of a mask has a row.
    pub fn has_bits(&self, mask: u32) -> bool {
        let mut rest = mask;
        while rest != 0 {
            if self
                .enumerant_by_value(rest & rest.wrapping_neg())
                .is_none()
            {
                return false;
            }
            rest &= rest - 1;
        }
        true
    }

    /// Writes a value by name, a mask as names joined by `|`, and an unknown value as a number.
    pub fn fmt_value(&self, value: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(e) = self.enumerant_by_value(value) {
            return f.write_str(e.name);
        }
        if self.category != OperandCategory::BitEnum || value == 0 {
            return write!(f, "{value}");
        }
        let mut rest = value;
        let mut bar = "";
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            rest ^= bit;
            match self.enumerant_by_value(bit) {
                Some(e) => write!(f, "{bar}{}", e.name)?,
                None => write!(f, "{bar}{bit:#x}")?,
            }
            bar = "|";
        }
        Ok(())
    }
}

impl ExtInstSet {
    /// The set that an `OpExtInstImport` names. Later revisions of the reflection sets and
    /// unknown ones of a known family are not found.
    pub fn by_name(name: &str) -> Option<&'static ExtInstSet> {
        let found = ExtInstSet::in_tables(name).or_else(|| registry::set_by_name(name));
        found.or_else(|| ExtInstSet::of_other_version(name))
    }

    /// The newest version that the tables have of a set of which they do not have this version. A later version
    /// of a non-semantic set has the instructions of the earlier ones.
    fn of_other_version(name: &str) -> Option<&'static ExtInstSet> {
        let wanted = strip_version(name).filter(|family| family.starts_with("NonSemantic."))?;
        let mut known = EXT_INST_SETS.iter().rev();
        known.find(|set| set.name == wanted || strip_version(set.name) == Some(wanted))
    }

    #[inline]
    pub(super) fn in_tables(name: &str) -> Option<&'static ExtInstSet> {
        EXT_INST_SETS.iter().find(|set| set.name == name)
    }

    /// Row of an instruction number.
    pub fn instruction_by_number(&self, number: u32) -> Option<&'static ExtInst> {
        let at = self.instructions.partition_point(|i| i.number < number);
        self.instructions.get(at).filter(|i| i.number == number)
    }

    /// Row of an instruction name.
    pub fn instruction_by_name(&self, name: &str) -> Option<&'static ExtInst> {
        static INDEX: OnceLock<FxHashMap<(&'static str, &'static str), &'static ExtInst>> =
            OnceLock::new();
        let index = INDEX.get_or_init(|| {
            let sets = EXT_INST_SETS.iter();
            sets.flat_map(|set| set.instructions.iter().map(|i| ((set.name, i.name), i)))
                .collect()
        });
        let added = || self.instructions.iter().find(|i| i.name == name);
        index.get(&(self.name, name)).copied().or_else(added)
    }
}

/// The name of a set without the version at its end.
fn strip_version(name: &str) -> Option<&str> {
    let (family, version) = name.rsplit_once('.')?;
    let is_number = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(family)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::enumerants::{MemorySemantics, StorageClass};

    #[test]
    fn every_row_is_found_by_number_and_name() {
        for row in all_instructions() {
            assert_eq!(row.op.info().map(|i| i.name), Some(row.name));
            assert_eq!(Op::by_name(row.name), Some(row.op));
            assert_eq!(row.op.result_form(), row.result);
        }
        assert!(Op(u16::MAX).info().is_none());
        assert_eq!(Op::by_name("OpIAdd"), Some(Op::IAdd));
        assert_eq!(Op::by_name("IAdd"), Some(Op::IAdd));
    }

    #[test]
    fn values_print_by_name() {
        assert_eq!(StorageClass::CrossWorkgroup.to_string(), "CrossWorkgroup");
        assert_eq!(StorageClass(0x7fff_0000).to_string(), "2147418112");
        let mask = MemorySemantics::AcquireRelease | MemorySemantics::WorkgroupMemory;
        assert_eq!(mask.to_string(), "AcquireRelease|WorkgroupMemory");
    }

    #[test]
    fn extended_sets_are_found() {
        let set = ExtInstSet::by_name("OpenCL.std").expect("the set is in the table");
        assert_eq!(set.instruction_by_number(0).map(|i| i.name), Some("acos"));
        assert_eq!(
            set.instruction_by_name("vloadn").map(|i| i.number),
            Some(171)
        );
    }

    #[test]
    fn non_semantic_sets_of_other_versions_are_known() {
        let found = |name: &str| ExtInstSet::by_name(name).map(|set| set.name);
        let (old, new) = (
            "NonSemantic.Shader.DebugInfo.100",
            "NonSemantic.Shader.DebugInfo",
        );
        assert_eq!(found(old), Some(old));
        for version in ["101", "102", "200"] {
            let name = format!("NonSemantic.Shader.DebugInfo.{version}");
            assert_eq!(found(&name), Some(new));
        }
        assert_eq!(
            found("NonSemantic.ClspvReflection.7"),
            Some("NonSemantic.ClspvReflection.5")
        );
        for unknown in [
            "NonSemantic.Shader.DebugInfo.x",
            "NonSemantic.Shader.DebugInfo.",
            "NonSemantic.Other.1",
            "OpenCL.DebugInfo.101",
        ] {
            assert_eq!(found(unknown), None, "{unknown}");
        }
    }
}
