//! Ids: dense `u32` newtypes, operands that refer to them, and ranges of pools.

use std::fmt;
use std::num::NonZeroU32;

/// Defines a dense id whose `Option` has the same size. The prefix is part of its debug output.
macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::num::NonZeroU32);

        impl $name {
            /// The id of the entity at `index` of its arena.
            ///
            /// # Panics
            /// Panics if `index` is `u32::MAX` or above. Readers bound their inputs far below.
            pub const fn new(index: usize) -> Self {
                assert!(index < u32::MAX as usize, "too many entities of one kind");
                match std::num::NonZeroU32::new(index as u32 + 1) {
                    Some(id) => $name(id),
                    None => unreachable!(),
                }
            }

            /// Its position in its arena.
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.index())
            }
        }
    };
}
pub(crate) use dense_id;

dense_id! {
    /// A function, declared or defined: its position in [`super::LlvmModule::functions`].
    LlvmFunc, "func"
}
dense_id! {
    /// A basic block within its function.
    LlvmBlock, "block"
}
dense_id! {
    /// An instruction within its function.
    LlvmInst, "inst"
}

dense_id! {
    /// A constant with its type. Equal constants have equal ids.
    LlvmConst, "const"
}

dense_id! {
    /// A metadata string, value or node.
    LlvmMetadata, "!"
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
