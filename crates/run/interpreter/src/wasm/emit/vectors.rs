//! Functions on vectors: sums of products, lengths, and what the host computes.

use super::{FunctionEmitter, StepOperand};
use crate::geometry::GeometryFunction;
use crate::step::{GeometryStep, ProductSum, Slot};
use crate::wasm::host::HostedOperation;
use crate::wasm::module_writer::{IMPORT_COMPUTE_ROW, IMPORT_PUT_ROW, IMPORT_TAKE_ROW};
use crate::wasm::value_class::ValueClass;
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::FoldType;

impl FunctionEmitter<'_, '_> {
    /// Pushes a component as the type that its products are computed in.
    fn push_factor(&mut self, slot: Slot, format: FloatEncoding, class: ValueClass) {
        match format {
            FloatEncoding::F32 | FloatEncoding::F64 => self.push_slot(slot, class),
            format => {
                let operands = [StepOperand::Slot(slot)];
                let made = self.call_host(HostedOperation::Widen(format), &operands);
                made.convert(class, &mut self.sink());
            }
        }
    }

    pub(super) fn emit_product_sum(&mut self, sum: &ProductSum) {
        let is_double = sum.format == FloatEncoding::F64;
        let class = if is_double {
            ValueClass::F64
        } else {
            ValueClass::F32
        };
        if sum.count == 0 {
            self.push_constant(0, class);
        }
        for n in 0..sum.count {
            self.push_factor(sum.a + n * sum.a_stride, sum.format, class);
            self.push_factor(sum.b + n, sum.format, class);
            let mut sink = self.sink();
            match (is_double, n > 0) {
                (true, false) => sink.f64_mul(),
                (true, true) => sink.f64_mul().f64_add(),
                (false, false) => sink.f32_mul(),
                (false, true) => sink.f32_mul().f32_add(),
            };
        }
        if class == ValueClass::of_type(FoldType::Float(sum.format)) {
            self.pop_to(sum.to, class);
            return;
        }
        let total = self.temporary(class, 0);
        self.sink().local_set(total);
        let operands = [StepOperand::Local(total, class)];
        let made = self.call_host(HostedOperation::Narrow(sum.format), &operands);
        self.pop_to(sum.to, made);
    }

    /// A length, distance or normalised vector of numbers that WebAssembly has. Returns whether the step is one.
    fn emit_norm(&mut self, step: &GeometryStep) -> bool {
        let class = match step.format {
            FloatEncoding::F32 => ValueClass::F32,
            FloatEncoding::F64 => ValueClass::F64,
            _ => return false,
        };
        let [a, b, _] = step.operands;
        let count = step.counts[0];
        let other = match step.function {
            GeometryFunction::Length | GeometryFunction::Normalize => None,
            GeometryFunction::Distance => Some(b),
            _ => return false,
        };
        if count < 2 {
            return false;
        }
        self.push_norm(a, other, count, class);
        if step.function != GeometryFunction::Normalize {
            self.pop_to(step.to, class);
            return true;
        }
        // A vector of zeros is divided by 1.
        let (norm, divisor) = (self.temporary(class, 0), self.temporary(class, 1));
        self.sink().local_set(norm);
        let one = match class {
            ValueClass::F64 => 1f64.to_bits(),
            _ => 1f32.to_bits().into(),
        };
        self.push_constant(one, class);
        self.sink().local_get(norm).local_get(norm);
        self.push_constant(0, class);
        let mut sink = self.sink();
        match class {
            ValueClass::F64 => sink.f64_eq(),
            _ => sink.f32_eq(),
        };
        sink.select().local_set(divisor);
        for n in 0..step.to_count.min(count) {
            self.push_slot(a + n, class);
            let mut sink = self.sink();
            sink.local_get(divisor);
            match class {
                ValueClass::F64 => sink.f64_div(),
                _ => sink.f32_div(),
            };
            self.pop_to(step.to + n, class);
        }
        true
    }

    /// Pushes the length of a vector, or that of its difference to another.
    fn push_norm(&mut self, a: Slot, other: Option<Slot>, count: u32, class: ValueClass) {
        let is_double = class == ValueClass::F64;
        let part = self.temporary(class, 0);
        for n in 0..count {
            self.push_slot(a + n, class);
            if let Some(other) = other {
                self.push_slot(other + n, class);
                let mut sink = self.sink();
                if is_double {
                    sink.f64_sub();
                } else {
                    sink.f32_sub();
                }
            }
            let mut sink = self.sink();
            sink.local_tee(part).local_get(part);
            match (is_double, n > 0) {
                (true, false) => sink.f64_mul(),
                (true, true) => sink.f64_mul().f64_add(),
                (false, false) => sink.f32_mul(),
                (false, true) => sink.f32_mul().f32_add(),
            };
        }
        let mut sink = self.sink();
        if is_double {
            sink.f64_sqrt();
        } else {
            sink.f32_sqrt();
        }
    }

    pub(super) fn emit_geometry(&mut self, step: &GeometryStep) {
        if self.emit_norm(step) {
            return;
        }
        let mut at = 0;
        for (operand, count) in step.operands.iter().zip(step.counts) {
            for n in 0..count {
                self.sink().i32_const(at);
                self.push_slot(operand + n, ValueClass::I64);
                self.sink().call(IMPORT_PUT_ROW);
                at += 1;
            }
        }
        let number = self.emission.functions.push_geometry(*step);
        self.sink()
            .i32_const(number as i32)
            .call(IMPORT_COMPUTE_ROW);
        for n in 0..step.to_count {
            self.sink().i32_const(n as i32).call(IMPORT_TAKE_ROW);
            self.pop_to(step.to + n, ValueClass::I64);
        }
    }
}
