//! Vectors, fragments and shuffles (rule 12).

use super::{Checked, Checker};
use crate::ir::{Element, Expr, Fragment, FragmentOp, Patch, Role, Type, Var};
use spirula_diagnostics::Diagnostic;
use spirula_program::Scalar;

/// Invocations that a subgroup has at most (Vulkan's limit).
const MOST_LANES: u32 = 128;

impl Checker<'_> {
    /// Adjacent elements of memory.
    pub(super) fn vector(&self, first: &Element, count: usize) -> Checked {
        self.on_device("a vector")?;
        self.element(first)?;
        let is_memory = matches!(self.program.var(first.memory).ty, Type::Memory(_));
        self.demand(7, is_memory, || "private arrays have no vectors".to_owned())?;
        let bytes = first.ty.size() * count as u64;
        self.demand(12, matches!(bytes, 4 | 8 | 16) && count > 1, || {
            format!("a vector of {bytes} bytes")
        })
    }

    pub(super) fn shuffle(&self, to: Var, value: Expr, mask: u32) -> Checked {
        self.on_device("a shuffle")?;
        let ty = self.expr(value)?;
        self.demand(12, matches!(ty, Scalar::I32 | Scalar::F32), || {
            format!("values of type {ty} are not shuffled")
        })?;
        self.demand(12, mask < MOST_LANES, || {
            format!("no subgroup has an invocation {mask}")
        })?;
        self.target(to, ty)
    }

    pub(super) fn fragment(&self, op: &FragmentOp) -> Checked {
        self.on_device("a fragment")?;
        match op {
            FragmentOp::Clear(var) => self.fragment_type(*var).map(|_| ()),
            FragmentOp::Load { to, from } => self.patch(*to, from),
            FragmentOp::Store { to, from } => self.patch(*from, to),
            FragmentOp::Accumulate { to, factors } => {
                let sum = self.fragment_type(*to)?;
                let left = self.fragment_type(factors[0])?;
                let right = self.fragment_type(factors[1])?;
                let roles = [left.role, right.role, sum.role];
                let fits = roles == [Role::Left, Role::Right, Role::Sum]
                    && (left.rows, right.columns) == (sum.rows, sum.columns)
                    && left.columns == right.rows;
                self.demand(12, fits, || {
                    "the fragments do not fit each other".to_owned()
                })
            }
        }
    }

    fn fragment_type(&self, var: Var) -> Result<Fragment, Diagnostic> {
        self.see(var)?;
        match self.program.var(var).ty {
            Type::Fragment(fragment) => Ok(fragment),
            _ => {
                let text = format!("%{} is no fragment (rule 12)", self.name(var));
                Err(Diagnostic::error(self.place, text))
            }
        }
    }

    fn patch(&self, var: Var, patch: &Patch) -> Checked {
        let fragment = self.fragment_type(var)?;
        self.element(&patch.first)?;
        self.typed(patch.stride, Scalar::I64)?;
        let is_memory = matches!(self.program.var(patch.first.memory).ty, Type::Memory(_));
        let fits = is_memory && patch.first.ty == fragment.number.stored();
        self.demand(12, fits, || {
            format!("%{} is not kept in such memory", self.name(var))
        })
    }
}
