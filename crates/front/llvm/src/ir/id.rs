//! Ids: dense `u32` newtypes, operands that refer to them, and ranges of pools.

use spirula_entity::define_ids;
use std::fmt;
use std::num::NonZeroU32;

define_ids! {
    /// A function, declared or defined: its position in [`super::LlvmModule::functions`].
    pub struct LlvmFunc: "func";
    /// A basic block within its function.
    pub struct LlvmBlock: "block";
    /// An instruction within its function.
    pub struct LlvmInst: "inst";
    /// A constant with its type. Equal constants have equal ids.
    pub struct LlvmConst: "const";
    /// A metadata string, value or node.
    pub struct LlvmMetadata: "!";
}

/// A range of one of the pools of a function or of an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LlvmPoolRange {
    /// Index of the first element.
    pub start: u32,
    /// Number of elements.
    pub len: u32,
}

impl LlvmPoolRange {
    /// The range from `start` to the current end of `pool`.
    pub fn from_start<T>(start: usize, pool: &[T]) -> Self {
        LlvmPoolRange {
            start: start as u32,
            len: (pool.len() - start) as u32,
        }
    }

    /// As a range of indices.
    pub fn to_range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// A reference to an operand, in one word. See [`ValueKind`].
///
/// Locals are numbered densely within their function: parameters first, then every instruction in
/// program order, with or without a result. So a subtraction finds the instruction that defines a
/// local: [`super::LlvmFunction::inst_of`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LlvmValue(NonZeroU32);

/// The kinds of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A parameter or the result of an instruction of the same function, by number.
    Local(usize),
    /// A constant, which includes globals and inline assembly.
    Const(LlvmConst),
    /// Metadata as an argument of a call.
    Metadata(LlvmMetadata),
}

const TAG_SHIFT: u32 = 30;
const PAYLOAD: u32 = (1 << TAG_SHIFT) - 1;

impl LlvmValue {
    const fn pack_tagged(tag: u32, index: usize) -> Self {
        assert!(index < PAYLOAD as usize, "too many values");
        match NonZeroU32::new((tag << TAG_SHIFT) | (index as u32 + 1)) {
            Some(word) => LlvmValue(word),
            None => unreachable!(),
        }
    }

    /// The local with this number.
    pub const fn from_local(number: usize) -> Self {
        LlvmValue::pack_tagged(0, number)
    }

    /// A constant.
    pub const fn from_constant(id: LlvmConst) -> Self {
        LlvmValue::pack_tagged(1, id.index())
    }

    /// Metadata.
    pub const fn from_metadata(id: LlvmMetadata) -> Self {
        LlvmValue::pack_tagged(2, id.index())
    }

    /// The referenced entity.
    pub const fn kind(self) -> ValueKind {
        let index = (self.0.get() & PAYLOAD) as usize - 1;
        match self.0.get() >> TAG_SHIFT {
            0 => ValueKind::Local(index),
            1 => ValueKind::Const(LlvmConst::new(index)),
            _ => ValueKind::Metadata(LlvmMetadata::new(index)),
        }
    }

    /// The number of the local, if it is one.
    pub const fn as_local(self) -> Option<usize> {
        match self.kind() {
            ValueKind::Local(number) => Some(number),
            _ => None,
        }
    }

    /// The constant, if it is one.
    pub const fn as_const(self) -> Option<LlvmConst> {
        match self.kind() {
            ValueKind::Const(id) => Some(id),
            _ => None,
        }
    }
}

impl fmt::Debug for LlvmValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ValueKind::Local(number) => write!(f, "%{number}"),
            ValueKind::Const(id) => write!(f, "{id:?}"),
            ValueKind::Metadata(id) => write!(f, "{id:?}"),
        }
    }
}
