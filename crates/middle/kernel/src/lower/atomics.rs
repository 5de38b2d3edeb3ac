//! Atomic operations.
//!
//! Floating-point sums and operations on elements of fewer than 32 bits have no instruction. They become loops of
//! compare and exchange on whole words.

use super::context::KernelLowering;
use super::unsupported::unsupported_diagnostic;
use crate::ir::{AtomicOp, AtomicStmt, MemoryElement, MemorySpace, VariableType};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

/// Instructions for integers of 32 and 64 bits.
const INSTRUCTIONS: &[(AtomicOp, S)] = &[
    (AtomicOp::Add, S::AtomicIAdd),
    (AtomicOp::SMax, S::AtomicSMax),
    (AtomicOp::SMin, S::AtomicSMin),
    (AtomicOp::UMax, S::AtomicUMax),
    (AtomicOp::UMin, S::AtomicUMin),
    (AtomicOp::And, S::AtomicAnd),
    (AtomicOp::Or, S::AtomicOr),
    (AtomicOp::Xor, S::AtomicXor),
    (AtomicOp::Exchange, S::AtomicExchange),
];

/// The operators with which compare-and-exchange loops compute the new value.
const OPERATORS: &[(AtomicOp, ScalarOp)] = &[
    (AtomicOp::Add, ScalarOp::Add),
    (AtomicOp::FAdd, ScalarOp::FAdd),
    (AtomicOp::SMax, ScalarOp::SMax),
    (AtomicOp::SMin, ScalarOp::SMin),
    (AtomicOp::UMax, ScalarOp::UMax),
    (AtomicOp::UMin, ScalarOp::UMin),
    (AtomicOp::And, ScalarOp::And),
    (AtomicOp::Or, ScalarOp::Or),
    (AtomicOp::Xor, ScalarOp::Xor),
];

/// The word of memory that contains an element.
struct AtomicWord {
    pointer: Id,
    /// Width of the word in bits.
    width: u32,
    /// Bit offset of the element in the word, if the element is smaller.
    shift: Option<Id>,
    scope: Id,
}

impl KernelLowering<'_> {
    pub(super) fn lower_atomic(&mut self, atomic: &AtomicStmt) -> Result<(), SourceDiagnostic> {
        let element = atomic.element;
        let index = self.lower_index(element.index)?;
        let value = self.lower_expr(atomic.value)?;
        if atomic.op == AtomicOp::Write {
            let element = MemoryElement {
                volatile: true,
                ..element
            };
            self.write_element(&element, index, value)?;
            self.emit_fence(
                self.p.var(element.memory).ty == VariableType::Memory(MemorySpace::Shared),
            );
            return Ok(());
        }
        let expected = atomic.expected.map(|e| self.lower_expr(e)).transpose()?;
        let ty = self.scalar_type(element.ty);
        let old = if self.p.var(element.memory).ty == VariableType::Memory(MemorySpace::Shared) {
            let word = self.shared_word(&element, index)?;
            self.emit_atomic(&word, atomic.op, element.ty, value, expected)?
        } else {
            let old = self.emit_for_binding(element.memory, Some(ty), |l, binding| {
                let word = l.device_word(binding, element.ty, index);
                l.emit_atomic(&word, atomic.op, element.ty, value, expected)
                    .map(Some)
            })?;
            old.ok_or_else(|| unsupported_diagnostic(self.place, "memory that is nowhere"))?
        };
        if let Some(to) = atomic.old {
            self.assign_var(to, old);
        }
        Ok(())
    }

    fn device_word(&mut self, binding: u32, ty: ScalarType, index: Id) -> AtomicWord {
        let size = ty.size();
        let own = size.max(4);
        let (mut index, mut shift) = (index, None);
        if size < own {
            let (word, by) = self.split_index(index, own / size, size);
            (index, shift) = (word, Some(by));
        }
        AtomicWord {
            pointer: self.device_pointer(binding, own, index),
            width: own as u32 * 8,
            shift,
            scope: self.const_u32(1),
        }
    }

    fn shared_word(
        &mut self,
        element: &MemoryElement,
        index: Id,
    ) -> Result<AtomicWord, SourceDiagnostic> {
        let size = element.ty.size();
        if self.layout.is_some() {
            let own = size.max(4);
            let (mut index, mut shift) = (index, None);
            if size < own {
                let (word, by) = self.split_index(index, own / size, size);
                (index, shift) = (word, Some(by));
            }
            return Ok(AtomicWord {
                pointer: self.laid_out_pointer(element.memory, own, index)?,
                width: own as u32 * 8,
                shift,
                scope: self.const_u32(2),
            });
        }
        let class = self.find_alias_class(element.memory)?;
        let own = self.shared_variable(class)?.size;
        let (pointer, shift) = if size < own {
            let (pointer, shift) =
                self.shared_part_pointer(element.memory, own / size, size, index)?;
            (pointer, Some(shift))
        } else {
            (self.shared_pointer(element.memory, index)?, None)
        };
        Ok(AtomicWord {
            pointer,
            width: own as u32 * 8,
            shift,
            scope: self.const_u32(2),
        })
    }

    /// Changes an element and returns its old value.
    fn emit_atomic(
        &mut self,
        word: &AtomicWord,
        op: AtomicOp,
        ty: ScalarType,
        value: Id,
        expected: Option<Id>,
    ) -> Result<Id, SourceDiagnostic> {
        let bits = self.uint_type(word.width);
        let relaxed = self.const_u32(0);
        let instruction = INSTRUCTIONS.iter().find(|(o, _)| *o == op).map(|(_, i)| *i);
        let is_word = word.shift.is_none() && !(ty.is_float() && op == AtomicOp::FAdd);
        if let (true, Some(expected)) = (is_word, expected) {
            let old = self.emit_value(
                S::AtomicCompareExchange,
                bits,
                &[word.pointer, word.scope, relaxed, relaxed, value, expected],
            );
            return Ok(old);
        }
        if let (true, Some(instruction)) = (is_word, instruction) {
            let to = self.scalar_type(ty);
            let value = self.emit_bitcast(bits, value);
            let old = self.emit_value(
                instruction,
                bits,
                &[word.pointer, word.scope, relaxed, value],
            );
            return Ok(self.emit_bitcast(to, old));
        }
        self.change_in_loop(word, op, ty, value, expected)
    }

    fn change_in_loop(
        &mut self,
        word: &AtomicWord,
        op: AtomicOp,
        ty: ScalarType,
        value: Id,
        expected: Option<Id>,
    ) -> Result<Id, SourceDiagnostic> {
        let bits = self.uint_type(word.width);
        let flag = self.b.bool_type();
        let relaxed = self.const_u32(0);
        let (seen, open) = (self.add_local_variable(bits), self.add_local_variable(flag));
        let first = self.emit_value(S::AtomicLoad, bits, &[word.pointer, word.scope, relaxed]);
        self.emit_store(seen, first);
        let yes = self.b.constant_bool(true);
        self.emit_store(open, yes);
        self.emit_loop(
            |l| Ok(l.emit_load(flag, open)),
            |l| {
                let before = l.emit_load(bits, seen);
                let old = l.extract_element(word, ty, before);
                let new = match (op, expected) {
                    (AtomicOp::CompareExchange, Some(expected)) => {
                        let fits = l.lower_operator(
                            ScalarOperator::with_type(ScalarOp::Eq, ty),
                            &[old, expected],
                        )?;
                        let to = l.scalar_type(ty);
                        l.select(to, fits, value, old)
                    }
                    (AtomicOp::Exchange, _) => value,
                    _ => {
                        let found = OPERATORS.iter().find(|(o, _)| *o == op).map(|(_, o)| *o);
                        let operator =
                            found.ok_or_else(|| unsupported_diagnostic(l.place, "this atomic"))?;
                        l.lower_operator(ScalarOperator::with_type(operator, ty), &[old, value])?
                    }
                };
                let after = l.insert_element(word, ty, before, new);
                let found = l.emit_value(
                    S::AtomicCompareExchange,
                    bits,
                    &[word.pointer, word.scope, relaxed, relaxed, after, before],
                );
                let other = l.emit_bool_value(S::INotEqual, &[found, before]);
                l.emit_store(open, other);
                // After a successful exchange this is the old value.
                l.emit_store(seen, found);
                Ok::<(), SourceDiagnostic>(())
            },
            |_| {},
        )?;
        let before = self.emit_load(bits, seen);
        Ok(self.extract_element(word, ty, before))
    }

    /// Extracts the element from a word.
    fn extract_element(&mut self, word: &AtomicWord, ty: ScalarType, bits: Id) -> Id {
        let to = self.scalar_type(ty);
        let Some(shift) = word.shift else {
            return self.emit_bitcast(to, bits);
        };
        let (whole, part) = (
            self.uint_type(word.width),
            self.uint_type(ty.size() as u32 * 8),
        );
        let bits = self.emit_value(S::ShiftRightLogical, whole, &[bits, shift]);
        let bits = self.emit_value(S::UConvert, part, &[bits]);
        match ty {
            ScalarType::Bool => {
                let zero = self.const_uint(8, 0);
                self.emit_bool_value(S::INotEqual, &[bits, zero])
            }
            _ => self.emit_bitcast(to, bits),
        }
    }

    /// Inserts an element into a word.
    fn insert_element(&mut self, word: &AtomicWord, ty: ScalarType, bits: Id, value: Id) -> Id {
        let whole = self.uint_type(word.width);
        let Some(shift) = word.shift else {
            return self.emit_bitcast(whole, value);
        };
        let part = self.uint_type(ty.size() as u32 * 8);
        let value = match ty {
            ScalarType::Bool => {
                let (one, zero) = (self.const_uint(8, 1), self.const_uint(8, 0));
                self.select(part, value, one, zero)
            }
            _ => self.emit_bitcast(part, value),
        };
        let value = self.emit_value(S::UConvert, whole, &[value]);
        let value = self.emit_value(S::ShiftLeftLogical, whole, &[value, shift]);
        let ones = self.const_uint(word.width, (1 << (ty.size() * 8)) - 1);
        let hole = self.emit_value(S::ShiftLeftLogical, whole, &[ones, shift]);
        let hole = self.emit_value(S::Not, whole, &[hole]);
        let rest = self.emit_value(S::BitwiseAnd, whole, &[bits, hole]);
        self.emit_value(S::BitwiseOr, whole, &[rest, value])
    }
}
