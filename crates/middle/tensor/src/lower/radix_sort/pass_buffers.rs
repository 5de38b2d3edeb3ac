//! The memory that a pass reads and writes.
//!
//! Between passes, each word stands beside the number that it carries, so that both are moved by one access.

use super::kernel_code::{RadixKernelCode, RadixPass};
use super::radix_rows::RadixRows;
use spirula_kernel::ir::{ExprId, VarId};
use spirula_program::ScalarOp;

/// The memory of a pass.
#[derive(Clone, Copy)]
pub(super) struct PassBuffers {
    pub from: PassSource,
    pub to: PassTarget,
}

/// A pass over the chunks of rows.
pub(super) struct ChunkPass<'a> {
    pub rows: &'a RadixRows,
    pub pass: RadixPass,
    pub buffers: PassBuffers,
    /// The number of elements with each digit in each chunk of each row.
    pub totals: VarId,
}

/// The memory that a pass reads.
#[derive(Clone, Copy)]
pub(super) enum PassSource {
    /// The operands of the sort: words, and numbers that are carried. Without these, indices are carried.
    Operands(VarId, Option<VarId>),
    /// Words and numbers in pairs.
    Pairs(VarId),
}

/// The memory that a pass writes.
#[derive(Clone, Copy)]
pub(super) enum PassTarget {
    /// Words and numbers in pairs.
    Pairs(VarId),
    /// The result: the numbers alone.
    Result(VarId),
}

impl PassSource {
    /// Loads the word of an element.
    pub fn load_word(self, code: &mut RadixKernelCode<'_>, at: ExprId) -> ExprId {
        match self {
            PassSource::Operands(words, _) => code.load("word", words, at),
            PassSource::Pairs(pairs) => {
                let at = pair_place(code, at);
                code.load("word", pairs, at)
            }
        }
    }

    /// Loads the word of an element and the number that it carries. `index` is the index in its row.
    pub fn load(self, code: &mut RadixKernelCode<'_>, at: ExprId, index: ExprId) -> [ExprId; 2] {
        match self {
            PassSource::Operands(words, carried) => {
                let word = code.load("word", words, at);
                let number = carried.map(|carried| code.load("carried", carried, at));
                [word, number.unwrap_or(index)]
            }
            PassSource::Pairs(pairs) => {
                let at = pair_place(code, at);
                code.load_pair(pairs, at)
            }
        }
    }
}

impl PassTarget {
    /// Stores an element: a word and the number that it carries.
    pub fn store(self, code: &mut RadixKernelCode<'_>, at: ExprId, [word, number]: [ExprId; 2]) {
        match self {
            PassTarget::Pairs(pairs) => {
                let at = pair_place(code, at);
                code.store_pair(pairs, at, [word, number]);
            }
            PassTarget::Result(result) => code.store(result, at, number),
        }
    }
}

/// The place of the first word of a pair, an `i64`.
fn pair_place(code: &mut RadixKernelCode<'_>, at: ExprId) -> ExprId {
    let at = code.widen(at);
    let two = code.b.make_i64(2);
    code.apply(ScalarOp::Mul, &[at, two])
}
