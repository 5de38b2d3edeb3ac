//! What a function that runs has: its place, its scalars, its references to memory.
//!
//! Of each scalar it is known whether sums and products that made it were too large for 64 bits: such
//! a number is no size.

use crate::program::{HostFunction, HostMemoryRef, HostRegister, HostSlot};
use crate::{ByteRegion, ScalarOp, ScalarOperator, ScalarType};

#[derive(Default)]
pub(super) struct HostFrame<'p> {
    pub function: usize,
    /// The step at which it goes on, while another one runs.
    pub next: usize,
    pub scalars: Vec<u64>,
    /// Whether each scalar is wrapped; nothing until one is.
    wrapped: Vec<bool>,
    pub memories: Vec<Option<usize>>,
    /// What launches touch of memory, where that is known.
    regions: Vec<(HostMemoryRef, ByteRegion)>,
    /// Where the caller wants the outputs.
    pub outputs: &'p [HostSlot],
}

impl<'p> HostFrame<'p> {
    /// Makes it that of a function which begins, whatever it was before.
    pub fn begin_function(
        &mut self,
        number: usize,
        function: &HostFunction,
        outputs: &'p [HostSlot],
    ) {
        self.function = number;
        self.scalars.clear();
        self.scalars.resize(function.scalars as usize, 0);
        for (reg, bits) in &function.constants {
            self.scalars[reg.0 as usize] = *bits;
        }
        self.wrapped.clear();
        self.memories.clear();
        self.memories.resize(function.memories as usize, None);
        self.regions.clear();
        self.outputs = outputs;
    }

    /// Takes note of what all launches touch of memory.
    pub fn record_access(&mut self, mem: HostMemoryRef, region: ByteRegion) {
        self.regions.push((mem, region));
    }

    /// What a launch touches of memory, where that is known.
    pub fn accessed_region(&self, mem: HostMemoryRef) -> Option<ByteRegion> {
        let known = self.regions.iter().find(|(known, _)| *known == mem);
        known.map(|(_, region)| *region)
    }

    /// Whether a scalar is no longer what its sums and products would be.
    pub fn is_wrapped(&self, reg: HostRegister) -> bool {
        self.wrapped.get(reg.0 as usize).copied().unwrap_or(false)
    }

    /// Notes it; of scalars of the whole program it is not followed.
    #[inline]
    pub fn note_wrapped(&mut self, reg: HostRegister, is_wrapped: bool) {
        if is_wrapped && self.wrapped.is_empty() {
            self.wrapped.resize(self.scalars.len(), false);
        }
        if let Some(wrapped) = self.wrapped.get_mut(reg.0 as usize) {
            *wrapped = is_wrapped;
        }
    }

    /// Whether the result of an operator is wrapped: what is computed otherwise than by sums,
    /// products and choices of the larger or smaller is anew what it is.
    #[inline]
    pub fn is_result_wrapped(
        &self,
        operator: ScalarOperator,
        operands: &[HostRegister; 3],
        a: u64,
        b: u64,
    ) -> bool {
        if operator.to != ScalarType::I64 {
            return false;
        }
        let (a, b) = (a as i64, b as i64);
        let is_wrapped = match operator.op {
            ScalarOp::Add => a.checked_add(b).is_none(),
            ScalarOp::Sub => a.checked_sub(b).is_none(),
            ScalarOp::Mul => a.checked_mul(b).is_none(),
            ScalarOp::SMax | ScalarOp::SMin => false,
            _ => return false,
        };
        is_wrapped
            || !self.wrapped.is_empty() && operands[..2].iter().any(|reg| self.is_wrapped(*reg))
    }
}
