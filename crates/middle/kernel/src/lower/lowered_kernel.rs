//! The result of a kernel's lowering.

use crate::ir::{ExprId, VarId};
use spirula_program::ScalarType;
use spirula_spirv::ir::SpirvModule;

/// A lowered kernel: its module, and the values that its launch has to provide.
#[derive(Debug)]
pub struct LoweredKernel {
    /// The module; its entry point is `main`.
    pub module: SpirvModule,
    /// The same kernel with an explicit layout of shared memory, for devices that support it. `None` if that gains
    /// nothing.
    pub laid_out: Option<SpirvModule>,
    /// Values of the specialisation constants.
    pub constants: Vec<SpecValue>,
    /// Offsets of the captured scalars in bytes; the number of workgroups comes first.
    pub scalars: Vec<(VarId, ScalarType, u32)>,
    /// Bytes of the number of workgroups and the scalars.
    pub scalar_bytes: u32,
    /// Whether scalars are passed in a buffer instead of push constants.
    pub scalars_in_buffer: bool,
    /// For each binding of a block, the bytes that indices of 32 bits reach; 0 if the block is not accessed.
    pub reach: Vec<u64>,
    /// Whether the failure block is bound.
    pub uses_failures: bool,
    /// Whether assertions of the kernel may fail.
    pub can_fail: bool,
}

/// The value of a specialisation constant, which the host computes.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecValue {
    /// Size of the workgroup in a dimension, 32 bits.
    BlockSize(usize),
    /// An expression over parameters, limits and the kernel's constants.
    Value(ExprId),
    /// The product of sizes, but at least 1; 32 bits.
    Product(Vec<ExprId>),
    /// The size of shared memory in elements, 32 bits: each allocation is rounded up to a multiple of 16 bytes.
    Shared {
        /// Sizes of the allocations in bytes.
        bytes: Vec<ExprId>,
        /// Additional bytes, a multiple of 16.
        more: u64,
        /// Bytes of an element.
        size: u64,
        /// The least result.
        least: u64,
    },
}
