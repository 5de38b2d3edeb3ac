//! Sequential kernels: kernels that the host runs because no device can.
//!
//! A kernel may call a function that allocates memory or launches kernels, which is impossible on a device. If its
//! invocations do not communicate, the host runs them one after the other: two loops around the body, whose
//! statements become steps of the host. This is slow but correct.

use super::context::{HostInvocation, HostStepLowering};
use crate::call_graph;
use crate::ir::{
    BlockSize, KernelCapture, KernelId, KernelProgram, LaunchIndex, MemorySpace, StmtKind,
    SyncKind, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::program::{HostRegister, HostStep};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// Whether the host can run a kernel: it calls a function that only the host can run, has one dimension, and its
/// invocations share nothing.
pub(super) fn is_for_host(program: &KernelProgram, kernel: KernelId) -> bool {
    let data = program.kernel(kernel);
    let (called, _) = call_graph::collect_calls_and_kernels(program, data.body);
    let mut called = called.into_iter();
    if data.blocks.len() != 1 || !called.any(|f| call_graph::is_host_only(program, f)) {
        return false;
    }
    let mut open = vec![data.body];
    while let Some(block) = open.pop() {
        for stmt in program.block_stmts(block) {
            let is_shared = match &stmt.kind {
                StmtKind::Declare(var) => {
                    let ty = program.var(*var).ty;
                    matches!(
                        ty,
                        VariableType::Memory(MemorySpace::Shared) | VariableType::Array(_)
                    )
                }
                StmtKind::Sync { kind, .. } => *kind == SyncKind::Barrier,
                StmtKind::Atomic(_) | StmtKind::Shuffle { .. } => true,
                _ => false,
            };
            if is_shared {
                return false;
            }
            open.extend(stmt.kind.nested_blocks());
        }
    }
    true
}

impl HostStepLowering<'_> {
    /// Runs all invocations of a kernel.
    pub(super) fn lower_sequential_kernel(
        &mut self,
        kernel: KernelId,
    ) -> Result<(), SourceDiagnostic> {
        let data = self.program.kernel(kernel);
        for used in &data.captures {
            if let KernelCapture::Constant(var, value) = *used {
                let value = self.lower_expr(value)?;
                let to = self.scalar_register(var)?;
                self.push_step(HostStep::Move(to, value));
            }
        }
        let [groups] = data.blocks[..] else {
            return Err(self.unsupported_diagnostic("several dimensions on the host"));
        };
        let groups = self.lower_expr(groups)?;
        let size = match data.block_size.first() {
            Some(BlockSize::Dynamic(size) | BlockSize::Constant(size)) => self.lower_expr(*size)?,
            None => self.set_literal(ScalarLiteral::from_i64(1)),
        };
        let narrow =
            ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I64, ScalarType::I32);
        let before = self.invocation;
        let (group, local) = (self.new_temporary(), self.new_temporary());
        self.push_counted_loop(ScalarType::I64, group, groups, |host| {
            host.push_counted_loop(ScalarType::I64, local, size, |host| {
                let [group, local, size] =
                    [group, local, size].map(|n| host.apply_operator(narrow, [n; 3]));
                host.invocation = Some(HostInvocation { group, local, size });
                host.lower_block(data.body)
            })
        })?;
        self.invocation = before;
        Ok(())
    }

    /// The position of the invocation in the launch.
    pub(super) fn position_register(
        &mut self,
        part: LaunchIndex,
        dimension: u8,
    ) -> Result<HostRegister, SourceDiagnostic> {
        let Some(invocation) = self.invocation else {
            return Err(self.unsupported_diagnostic("a statement of kernels on the host"));
        };
        Ok(match (part, dimension) {
            (LaunchIndex::Group, 0) => invocation.group,
            (LaunchIndex::Local, 0) => invocation.local,
            (LaunchIndex::LocalSize, 0) => invocation.size,
            (
                LaunchIndex::Group | LaunchIndex::Local | LaunchIndex::Subgroup | LaunchIndex::Lane,
                _,
            ) => self.set_literal(ScalarLiteral::new(ScalarType::I32, 0)),
            _ => self.set_literal(ScalarLiteral::new(ScalarType::I32, 1)),
        })
    }
}
