//! Frames: the position, scalars and references to memory of a running function.
//!
//! A frame tracks for each scalar whether sums and products that computed it overflowed 64 bits. Such a number is not a
//! valid size.

use crate::program::{HostFunction, HostMemoryRef, HostRegister};
use crate::{ByteRegion, ScalarOp, ScalarOperator, ScalarType};

/// The frame of a running function, and those of its callers.
#[derive(Debug)]
pub(super) struct FrameStack {
    pub frame: HostFrame,
    /// The innermost last.
    pub callers: Vec<HostFrame>,
}

impl FrameStack {
    /// The stack of a function without callers.
    pub fn new(frame: HostFrame) -> FrameStack {
        FrameStack {
            frame,
            callers: Vec::new(),
        }
    }
}

/// How far the steps of a call have come.
pub(super) enum StackProgress {
    /// The function has ended.
    Ended(HostFrame),
    /// It has reached a foreign call, and continues after it.
    Foreign(FrameStack),
}

/// The frame of a function.
#[derive(Debug, Default)]
pub(super) struct HostFrame {
    pub function: usize,
    /// The step at which it continues after a call.
    pub next: usize,
    pub scalars: Vec<u64>,
    /// Whether each scalar is wrapped; empty until one is.
    wrapped: Vec<bool>,
    pub memories: Vec<Option<usize>>,
    /// Regions that launches access, where these are known.
    regions: Vec<(HostMemoryRef, ByteRegion)>,
}

impl HostFrame {
    /// Resets the frame to the beginning of a function.
    pub fn begin_function(&mut self, number: usize, function: &HostFunction) {
        self.function = number;
        self.next = 0;
        self.scalars.clear();
        self.scalars.resize(function.scalars as usize, 0);
        for (reg, bits) in &function.constants {
            self.scalars[reg.0 as usize] = *bits;
        }
        self.wrapped.clear();
        self.memories.clear();
        self.memories.resize(function.memories as usize, None);
        self.regions.clear();
    }

    /// Records the region of memory that all launches of the function access.
    pub fn record_access(&mut self, mem: HostMemoryRef, region: ByteRegion) {
        self.regions.push((mem, region));
    }

    /// The region of memory that launches access, where that is known.
    pub fn accessed_region(&self, mem: HostMemoryRef) -> Option<ByteRegion> {
        let known = self.regions.iter().find(|(known, _)| *known == mem);
        known.map(|(_, region)| *region)
    }

    /// Whether a sum or product that computed a scalar overflowed.
    pub fn is_wrapped(&self, reg: HostRegister) -> bool {
        self.wrapped.get(reg.0 as usize).copied().unwrap_or(false)
    }

    /// Notes whether a scalar is wrapped. Scalars that all functions share are not tracked.
    #[inline]
    pub fn note_wrapped(&mut self, reg: HostRegister, is_wrapped: bool) {
        if is_wrapped && self.wrapped.is_empty() {
            self.wrapped.resize(self.scalars.len(), false);
        }
        if let Some(wrapped) = self.wrapped.get_mut(reg.0 as usize) {
            *wrapped = is_wrapped;
        }
    }

    /// Whether the result of an operator is wrapped. Only sums, products, minima and maxima propagate it; results of other
    /// operators are exact.
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
