//! Gang loop: where code for single invocations can be vectorised into code for SIMD gangs.

use cranelift_codegen::ir::{Block, Value};
use cranelift_codegen::isa::TargetFrontendConfig;

/// The loop over the invocations of a workgroup, which steps by gangs.
#[derive(Clone, Copy)]
pub(crate) struct GangLoop {
    /// Invocations of a gang.
    pub width: usize,
    /// Where a gang begins. It is set when the loop is built.
    pub roots: Option<GangEntry>,
}

impl GangLoop {
    /// A loop for gangs of `width` invocations that is not built yet.
    pub fn new(width: usize) -> GangLoop {
        GangLoop { width, roots: None }
    }
}

/// The values from which those of the other lanes follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GangEntry {
    /// Invocations of a gang, at most [`crate::module::entry_point::MAX_GANG_WIDTH`].
    pub width: usize,
    /// The launch context.
    pub context: Value,
    /// Offset of the context's field with the global id of the workgroup's first invocation in x. The id is a multiple
    /// of the gang's width.
    pub base_offset: i32,
    /// A block whose parameters are numbers of the gang's first invocation. Each further invocation has the next
    /// number.
    pub lanes: Block,
    /// The frame of the gang. Values that are kept over barriers lie before it, once for each lane.
    pub frame: Option<Value>,
}

/// Properties of the target that the code for gangs depends on.
#[derive(Clone, Copy)]
pub(crate) struct GangTarget {
    /// The target's configuration for Cranelift's front end.
    pub config: TargetFrontendConfig,
    /// Whether there are fused multiplications and additions of vectors.
    pub has_fma: bool,
}
