//! Verification of memory accesses (rules 3, 4 and 7).

use super::KernelVerifier;
use crate::ir::{
    AtomicOp, AtomicStmt, CopyStmt, MemoryElement, MemorySpace, StaticData, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;

impl KernelVerifier<'_> {
    pub(super) fn verify_alias(&self, to: VarId, from: VarId) -> Result<(), SourceDiagnostic> {
        self.verify_visible(to)?;
        self.verify_visible(from)?;
        let fits = match (self.program.var(to).ty, self.program.var(from).ty) {
            (VariableType::Memory(a), VariableType::Memory(b)) => a == b,
            (VariableType::Array(a), VariableType::Array(b)) => {
                self.program.array(a).element == self.program.array(b).element
            }
            _ => false,
        };
        self.require_rule(7, fits, || {
            format!(
                "%{} cannot refer to %{}",
                self.var_name(to),
                self.var_name(from)
            )
        })
    }

    pub(super) fn verify_static_data(
        &self,
        to: VarId,
        data: &StaticData,
    ) -> Result<(), SourceDiagnostic> {
        self.on_host("data")?;
        self.verify_memory(to, &[MemorySpace::Host])?;
        let typed = data.values.iter().all(|value| value.ty == data.ty);
        self.require_rule(4, typed, || {
            format!("data of %{} is not {}", self.var_name(to), data.ty)
        })?;
        let repeats = data.repeat.is_none() || data.values.len() == 1;
        self.require_rule(4, repeats, || "only a single value is repeated".to_owned())
    }

    pub(super) fn verify_memory(
        &self,
        var: VarId,
        spaces: &[MemorySpace],
    ) -> Result<(), SourceDiagnostic> {
        self.verify_visible(var)?;
        let ty = self.program.var(var).ty;
        let fits = matches!(ty, VariableType::Memory(space) if spaces.contains(&space));
        self.require_rule(7, fits, || {
            format!("%{} is not in the memory needed", self.var_name(var))
        })
    }

    /// Checks that a block or array can be accessed here.
    pub(super) fn verify_accessible(
        &self,
        var: VarId,
        ty: ScalarType,
    ) -> Result<(), SourceDiagnostic> {
        self.verify_visible(var)?;
        let fits = match self.program.var(var).ty {
            VariableType::Memory(MemorySpace::Device) => true,
            VariableType::Memory(MemorySpace::Shared) => self.is_device,
            VariableType::Memory(MemorySpace::Host) => !self.is_device,
            VariableType::Array(array) => self.program.array(array).element == ty,
            VariableType::Scalar(_) | VariableType::Fragment(_) => false,
        };
        self.require_rule(7, fits, || {
            format!(
                "%{} has no elements of type {ty} that can be accessed here",
                self.var_name(var)
            )
        })
    }

    pub(super) fn verify_element(&self, element: &MemoryElement) -> Result<(), SourceDiagnostic> {
        self.verify_accessible(element.memory, element.ty)?;
        self.require_rule(4, element.ty != ScalarType::Unit, || {
            "units have no place in memory".to_owned()
        })?;
        self.verify_expr_type(element.index, ScalarType::I64)
    }

    pub(super) fn verify_copy(&self, copy: &CopyStmt) -> Result<(), SourceDiagnostic> {
        for side in [&copy.to, &copy.from] {
            self.verify_accessible(side.memory, copy.ty)?;
            self.verify_expr_type(side.offset, ScalarType::I64)?;
            for stride in &side.strides {
                self.verify_expr_type(*stride, ScalarType::I64)?;
            }
            self.require_rule(4, side.strides.len() == copy.shape.len(), || {
                "a copy has one stride for each dimension".to_owned()
            })?;
        }
        for size in &copy.shape {
            self.verify_expr_type(*size, ScalarType::I64)?;
        }
        Ok(())
    }

    pub(super) fn verify_atomic(&self, atomic: &AtomicStmt) -> Result<(), SourceDiagnostic> {
        self.on_device("an atomic operation")?;
        self.verify_element(&atomic.element)?;
        let ty = atomic.element.ty;
        let is_memory = matches!(
            self.program.var(atomic.element.memory).ty,
            VariableType::Memory(_)
        );
        self.require_rule(7, is_memory, || "private arrays have no atomics".to_owned())?;
        self.require_rule(3, atomic.op.can_apply_to(ty), || {
            format!("no such atomic on {ty}")
        })?;
        self.verify_expr_type(atomic.value, ty)?;
        let is_exchange = atomic.op == AtomicOp::CompareExchange;
        self.require_rule(3, is_exchange == atomic.expected.is_some(), || {
            "only a compare and exchange expects a value".to_owned()
        })?;
        if let Some(expected) = atomic.expected {
            self.verify_expr_type(expected, ty)?;
        }
        let gives = atomic.op != AtomicOp::Write;
        self.require_rule(4, gives == atomic.old.is_some(), || {
            "an atomic operation returns the old value, a write none".to_owned()
        })?;
        atomic.old.map_or(Ok(()), |old| self.verify_target(old, ty))
    }
}
