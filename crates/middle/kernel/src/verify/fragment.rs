//! Verification of vectors, fragments and shuffles (rule 12).

use super::KernelVerifier;
use crate::ir::{
    ExprId, FragmentAddress, FragmentOp, FragmentRole, FragmentType, MemoryElement, VarId,
    VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;

/// Most invocations of a subgroup (Vulkan's limit).
const MOST_LANES: u32 = 128;

impl KernelVerifier<'_> {
    /// Checks an access of adjacent elements.
    pub(super) fn verify_vector(
        &self,
        first: &MemoryElement,
        count: usize,
    ) -> Result<(), SourceDiagnostic> {
        self.on_device("a vector")?;
        self.verify_element(first)?;
        let is_memory = matches!(self.program.var(first.memory).ty, VariableType::Memory(_));
        self.require_rule(7, is_memory, || "private arrays have no vectors".to_owned())?;
        let bytes = first.ty.size() * count as u64;
        self.require_rule(12, matches!(bytes, 4 | 8 | 16) && count > 1, || {
            format!("a vector of {bytes} bytes")
        })
    }

    pub(super) fn verify_shuffle(
        &self,
        to: VarId,
        value: ExprId,
        mask: u32,
    ) -> Result<(), SourceDiagnostic> {
        self.on_device("a shuffle")?;
        let ty = self.verify_expr(value)?;
        self.require_rule(12, matches!(ty, ScalarType::I32 | ScalarType::F32), || {
            format!("values of type {ty} are not shuffled")
        })?;
        self.require_rule(12, mask < MOST_LANES, || {
            format!("no subgroup has an invocation {mask}")
        })?;
        self.verify_target(to, ty)
    }

    pub(super) fn verify_fragment_op(&self, op: &FragmentOp) -> Result<(), SourceDiagnostic> {
        self.on_device("a fragment")?;
        match op {
            FragmentOp::Clear(var) => self.fragment_type(*var).map(|_| ()),
            FragmentOp::Load { to, from } => self.verify_fragment_address(*to, from),
            FragmentOp::Store { to, from } => self.verify_fragment_address(*from, to),
            FragmentOp::Accumulate { to, factors } => {
                let sum = self.fragment_type(*to)?;
                let left = self.fragment_type(factors[0])?;
                let right = self.fragment_type(factors[1])?;
                let roles = [left.role, right.role, sum.role];
                let fits = roles == [FragmentRole::Left, FragmentRole::Right, FragmentRole::Sum]
                    && (left.rows, right.columns) == (sum.rows, sum.columns)
                    && left.columns == right.rows;
                self.require_rule(12, fits, || {
                    "the fragments do not fit each other".to_owned()
                })
            }
        }
    }

    fn fragment_type(&self, var: VarId) -> Result<FragmentType, SourceDiagnostic> {
        self.verify_visible(var)?;
        match self.program.var(var).ty {
            VariableType::Fragment(fragment) => Ok(fragment),
            _ => {
                let text = format!("%{} is no fragment (rule 12)", self.var_name(var));
                Err(SourceDiagnostic::error(self.place, text))
            }
        }
    }

    fn verify_fragment_address(
        &self,
        var: VarId,
        patch: &FragmentAddress,
    ) -> Result<(), SourceDiagnostic> {
        let fragment = self.fragment_type(var)?;
        self.verify_element(&patch.first)?;
        self.verify_expr_type(patch.stride, ScalarType::I64)?;
        let is_memory = matches!(
            self.program.var(patch.first.memory).ty,
            VariableType::Memory(_)
        );
        let fits = is_memory && patch.first.ty == fragment.number.storage_type();
        self.require_rule(12, fits, || {
            format!("%{} is not kept in such memory", self.var_name(var))
        })
    }
}
