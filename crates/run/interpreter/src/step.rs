//! Decoded code: steps over registers.

use crate::exchange::ExchangePoint;
use crate::facts::MemoryCell;
use crate::geometry::GeometryFunction;
use crate::operation::ScalarOperation;
use spirula_diagnostics::SourceLocation;
use spirula_scalar::table::RealFn;
use spirula_scalar::{FloatEncoding, FloatRounding};
use std::ops::Range;

/// A register of the function that runs, or with [`CONSTANT`] a constant.
pub(crate) type Slot = u32;

/// Marks slots that are constants.
pub(crate) const CONSTANT: Slot = 1 << 31;

/// A range of a table of the code.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TableRange {
    pub first: u32,
    pub count: u32,
}

impl TableRange {
    /// The range as indices.
    pub(crate) fn indices(self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// A copy of one register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterMove {
    pub to: Slot,
    pub from: Slot,
}

/// A way to a block: the registers that it sets, and the step that follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeEdge {
    pub target: u32,
    pub moves: TableRange,
}

/// An index of an access chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressTerm {
    pub slot: Slot,
    /// Bits of the index, which has a sign.
    pub width: u32,
    pub stride: u64,
}

/// A case of a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchCase {
    pub literal: u64,
    pub edge: u32,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeFunction {
    /// Its first step.
    pub entry: u32,
    /// Number of its registers; parameters are the first.
    pub registers: u32,
    /// Bytes of its variables.
    pub frame_bytes: u64,
}

/// The effect of an atomic instruction on memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AtomicAction {
    Load,
    Store,
    Exchange,
    /// Stores the operand where the old value equals the comparand.
    CompareExchange,
    /// Applies an operation to the old value and the operand.
    Apply(ScalarOperation),
    /// Sets a flag, and returns whether it was set.
    TestAndSet,
    Clear,
}

/// An atomic instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtomicStep {
    pub action: AtomicAction,
    pub to: Slot,
    pub address: Slot,
    pub operand: Slot,
    pub comparand: Slot,
    pub bytes: u8,
}

impl AtomicStep {
    /// Whether the instruction has a result.
    pub(crate) fn has_result(&self) -> bool {
        !matches!(self.action, AtomicAction::Store | AtomicAction::Clear)
    }
}

/// A sum of products of components: `a[0]·b[0] + a[s]·b[1] + …`, from the first on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProductSum {
    pub to: Slot,
    pub a: Slot,
    pub a_stride: u32,
    pub b: Slot,
    pub count: u32,
    pub format: FloatEncoding,
}

/// A function with a second result: in memory, or in the register after the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecondResultStep {
    pub single: RealFn<f32>,
    pub double: RealFn<f64>,
    pub format: FloatEncoding,
    pub is_second_real: bool,
    pub to: Slot,
    pub a: Slot,
    pub b: Slot,
    pub second: SecondResult,
}

/// The place of a second result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SecondResult {
    Register(Slot),
    /// An address, the offset there, and the bytes.
    Memory(Slot, u64, u8),
}

/// Conversion of halves in memory: `vload_half` and `vstore_half`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfAccess {
    pub is_load: bool,
    pub value: Slot,
    pub address: Slot,
    pub count: u32,
    pub format: FloatEncoding,
    pub rounding: FloatRounding,
}

/// A function on vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeometryStep {
    pub function: GeometryFunction,
    pub format: FloatEncoding,
    pub to: Slot,
    pub to_count: u32,
    pub operands: [Slot; 3],
    pub counts: [u32; 3],
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) enum CodeStep {
    /// An operation on each component. An operand with stride 0 is the same for all.
    Apply {
        operation: ScalarOperation,
        to: Slot,
        operands: [Slot; 4],
        strides: [u8; 4],
        count: u32,
    },
    Copy {
        to: Slot,
        from: Slot,
        count: u32,
    },
    Load {
        to: Slot,
        address: Slot,
        cells: TableRange,
    },
    Store {
        address: Slot,
        from: Slot,
        cells: TableRange,
    },
    CopyMemory {
        to: Slot,
        from: Slot,
        bytes: Slot,
    },
    Address {
        to: Slot,
        base: Slot,
        offset: u64,
        terms: TableRange,
    },
    /// The address of a variable of the function.
    LocalAddress {
        to: Slot,
        offset: u64,
    },
    ArrayLength {
        to: Slot,
        address: Slot,
        offset: u64,
        stride: u64,
    },
    Atomic(Box<AtomicStep>),
    ProductSum(Box<ProductSum>),
    SecondResult(Box<SecondResultStep>),
    HalfAccess(HalfAccess),
    Geometry(Box<GeometryStep>),
    /// A component of a vector by an index in a register.
    PickComponent {
        to: Slot,
        vector: Slot,
        count: u32,
        index: Slot,
    },
    PutComponent {
        to: Slot,
        value: Slot,
        count: u32,
        index: Slot,
    },
    Jump(u32),
    Branch {
        condition: Slot,
        edges: [u32; 2],
    },
    Switch {
        selector: Slot,
        cases: TableRange,
        default: u32,
    },
    Call {
        function: u32,
        arguments: TableRange,
        to: Slot,
    },
    Return {
        from: Slot,
        count: u32,
    },
    /// The end of the invocation.
    End,
    Unreachable,
    /// A wait for other invocations.
    Suspend(u32),
}

impl CodeStep {
    /// Whether the step after it is not the next one.
    pub(crate) fn ends_block(&self) -> bool {
        matches!(
            self,
            CodeStep::Jump(_)
                | CodeStep::Branch { .. }
                | CodeStep::Switch { .. }
                | CodeStep::Return { .. }
                | CodeStep::End
                | CodeStep::Unreachable
        )
    }
}

/// The code of an entry point and of all functions that it calls.
#[derive(Debug, Default)]
pub(crate) struct KernelCode {
    pub steps: Vec<CodeStep>,
    /// The place of each step in the module.
    pub places: Vec<SourceLocation>,
    pub functions: Vec<CodeFunction>,
    pub constants: Vec<u64>,
    pub cells: Vec<MemoryCell>,
    pub edges: Vec<CodeEdge>,
    pub moves: Vec<RegisterMove>,
    pub terms: Vec<AddressTerm>,
    pub cases: Vec<SwitchCase>,
    pub points: Vec<ExchangePoint>,
}
