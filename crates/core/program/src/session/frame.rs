//! What a function that runs has: its place, its scalars, its references to memory.
//!
//! Of each scalar it is known whether sums and products that made it were too large for 64 bits: such
//! a number is no size.

use crate::program::{Function, Mem, Reg, Slot};
use crate::{Op, Operator, Region, Scalar};

#[derive(Default)]
pub(super) struct Frame<'p> {
    pub function: usize,
    /// The step at which it goes on, while another one runs.
    pub next: usize,
    pub scalars: Vec<u64>,
    /// Whether each scalar is wrapped; nothing until one is.
    wrapped: Vec<bool>,
    pub memories: Vec<Option<usize>>,
    /// What launches touch of memory, where that is known.
    regions: Vec<(Mem, Region)>,
    /// Where the caller wants the outputs.
    pub outputs: &'p [Slot],
}

impl<'p> Frame<'p> {
    /// Makes it that of a function which begins, whatever it was before.
    pub fn begin(&mut self, number: usize, function: &Function, outputs: &'p [Slot]) {
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
    pub fn touch(&mut self, mem: Mem, region: Region) {
        self.regions.push((mem, region));
    }

    /// What a launch touches of memory, where that is known.
    pub fn touched(&self, mem: Mem) -> Option<Region> {
        let known = self.regions.iter().find(|(known, _)| *known == mem);
        known.map(|(_, region)| *region)
    }

    /// Whether a scalar is no longer what its sums and products would be.
    pub fn is_wrapped(&self, reg: Reg) -> bool {
        self.wrapped.get(reg.0 as usize).copied().unwrap_or(false)
    }

    /// Notes it; of scalars of the whole program it is not followed.
    #[inline]
    pub fn note_wrapped(&mut self, reg: Reg, is_wrapped: bool) {
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
    pub fn wraps(&self, operator: Operator, operands: &[Reg; 3], a: u64, b: u64) -> bool {
        if operator.to != Scalar::I64 {
            return false;
        }
        let (a, b) = (a as i64, b as i64);
        let is_wrapped = match operator.op {
            Op::Add => a.checked_add(b).is_none(),
            Op::Sub => a.checked_sub(b).is_none(),
            Op::Mul => a.checked_mul(b).is_none(),
            Op::SMax | Op::SMin => false,
            _ => return false,
        };
        is_wrapped
            || !self.wrapped.is_empty() && operands[..2].iter().any(|reg| self.is_wrapped(*reg))
    }
}
