//! Lowering of the tile IR to LLVM assembly: one program of the grid becomes the work of one workgroup.
//!
//! - Scalars are values that all invocations compute.
//! - A tensor is an expression that is evaluated for each element at its use, or an array in workgroup memory
//!   ([`binding`]). Cheap expressions are evaluated again at each use; others are stored once.
//! - A loop over elements gives consecutive elements to consecutive invocations ([`element_loop`]).
//! - Side effects of scalars are those of the first invocation.

mod atomic;
mod binding;
mod block;
mod buffer;
mod call;
mod control;
mod destination;
mod element_loop;
mod evaluate;
mod facts;
mod load_fusion;
mod map;
mod memory_access;
mod narrow_atomic;
mod output;
mod product;
mod reduce;
mod reuse;
mod scaled_product;
mod scan;
mod stepped;

use crate::TritonResult;
use crate::emit::{LlvmText, value_type};
use crate::ir::{OperationPlace, TileElement, TileFunction, TileModule};
use binding::{TileBinding, TileLowering};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Most bytes of LLVM assembly of a kernel.
const MAX_ASSEMBLY: usize = 1 << 28;

/// A kernel in LLVM assembly.
#[derive(Clone, Debug)]
pub struct TileKernel {
    /// Its name.
    pub name: String,
    /// The module, for OpenCL environments.
    pub assembly: String,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u64,
    /// Number of invocations of a workgroup, which computes one program.
    pub width: u32,
}

/// A kernel while it is written.
pub(crate) struct KernelWriter<'m> {
    module: &'m TileModule,
    text: LlvmText,
    width: u32,
    /// Number of the invocation in its workgroup.
    lane: String,
    workgroup_bytes: u64,
    pool: reuse::BufferPool,
    /// Number of calls around the function that is being lowered.
    call_depth: usize,
    /// Place through which invocations receive what the first one computed.
    exchange: Option<String>,
}

/// Lowers the kernel of a module: its first public function. A workgroup of `width` invocations computes one program.
///
/// # Errors
/// When the module has no kernel, or an operation is not supported.
pub fn lower_module(module: &TileModule, width: u32) -> Result<TileKernel, SourceDiagnostic> {
    let types = || module.functions.iter().flat_map(|function| &function.types);
    // Programs without tensors have nothing to share.
    let width = if types().any(|ty| ty.shape.is_some()) {
        width
    } else {
        1
    };
    let Some(function) = module.functions.iter().find(|function| function.is_public) else {
        let message = "the module has no public function";
        return Err(SourceDiagnostic::error(SourceLocation::Unknown, message));
    };
    let mut writer = KernelWriter {
        module,
        text: LlvmText::new(),
        width,
        lane: "0".to_owned(),
        workgroup_bytes: 0,
        pool: reuse::BufferPool::default(),
        call_depth: 0,
        exchange: None,
    };
    if width > 1 {
        let id = writer
            .text
            .call("i64", "_Z12get_local_idj", &[("i32", "0")]);
        writer.lane = writer.text.compute(format!("trunc i64 {id} to i32"));
    }
    let parameters = lower_kernel(&mut writer, function)?;
    Ok(TileKernel {
        name: function.name.clone(),
        assembly: writer.text.finish(&function.name, &parameters, width),
        workgroup_bytes: writer.workgroup_bytes,
        width,
    })
}

/// Lowers the body of a kernel, and returns its parameters as text. A parameter that is a Boolean is a byte.
fn lower_kernel<'m>(
    writer: &mut KernelWriter<'m>,
    function: &'m TileFunction,
) -> TritonResult<String> {
    let mut lowering = TileLowering::new(function, writer);
    let mut parameters = Vec::new();
    let arguments = function.body.blocks.first().map(|block| &block.arguments);
    for (number, argument) in arguments.into_iter().flatten().enumerate() {
        let ty = function.type_of(*argument);
        if ty.shape.is_some() {
            let message = "a kernel takes scalars and pointers";
            return Err(fault(&function.place, message));
        }
        let mut value = format!("%a{number}");
        if ty.element == TileElement::Integer(1) {
            parameters.push(format!("i8 {value}"));
            value = lowering
                .kernel
                .text
                .compute(format!("icmp ne i8 {value}, 0"));
        } else {
            parameters.push(format!("{} {value}", value_type(&ty.element)));
        }
        lowering.bind(*argument, TileBinding::Scalar(value));
    }
    lowering.lower_region(&function.body)?;
    Ok(parameters.join(", "))
}

/// A fault at the place of an operation.
pub(crate) fn fault(place: &OperationPlace, message: impl Into<String>) -> SourceDiagnostic {
    let diagnostic = SourceDiagnostic::error(place.location, message);
    match &place.source {
        Some(source) => diagnostic.with_note(format!("from {source}")),
        None => diagnostic,
    }
}

impl KernelWriter<'_> {
    /// Makes the invocations of the workgroup wait for each other, and their writes visible.
    pub fn emit_barrier(&mut self) {
        if self.width > 1 {
            self.text.call("void", "_Z7barrierj", &[("i32", "3")]);
        }
    }
}
