//! Emitting of instructions: types, constants, values, variables and structured control flow.

use super::context::KernelLowering;
use spirula_program::{ScalarLiteral, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

impl KernelLowering<'_> {
    /// The SPIR-V type of a scalar type. Integers have no signedness, truth values are `OpTypeBool`.
    pub(super) fn scalar_type(&mut self, ty: ScalarType) -> Id {
        match ty {
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => {
                self.uint_type(ty.width())
            }
            ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => {
                self.floats |= ty.width();
                self.b.float_type(ty.width())
            }
            ScalarType::Bool => self.b.bool_type(),
            ScalarType::Unit => self.uint_type(32),
        }
    }

    pub(super) fn uint_type(&mut self, width: u32) -> Id {
        self.b.int_type(width, false)
    }

    pub(super) fn const_u32(&mut self, value: u32) -> Id {
        self.b.constant_u32(value)
    }

    /// A constant integer of a width.
    pub(super) fn const_uint(&mut self, width: u32, value: u64) -> Id {
        let ty = self.uint_type(width);
        self.b.constant_bits(ty, width, value)
    }

    pub(super) fn const_literal(&mut self, literal: ScalarLiteral) -> Id {
        match literal.ty {
            ScalarType::Bool => self.b.constant_bool(literal.bits != 0),
            ScalarType::Unit => self.const_u32(0),
            ty => {
                let id = self.scalar_type(ty);
                self.b.constant_bits(id, ty.width(), literal.bits)
            }
        }
    }

    pub(super) fn emit_value(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        self.b.append_value(op, ty, &words)
    }

    /// A comparison, or another operation whose result is a truth value.
    pub(super) fn emit_bool_value(&mut self, op: Op, operands: &[Id]) -> Id {
        let ty = self.b.bool_type();
        self.emit_value(op, ty, operands)
    }

    pub(super) fn select(&mut self, ty: Id, condition: Id, yes: Id, no: Id) -> Id {
        self.emit_value(Op::Select, ty, &[condition, yes, no])
    }

    pub(super) fn not(&mut self, condition: Id) -> Id {
        self.emit_bool_value(Op::LogicalNot, &[condition])
    }

    /// An instruction of GLSL.std.450.
    pub(super) fn emit_glsl(&mut self, number: u32, ty: Id, operands: &[Id]) -> Id {
        let set = self.b.import_set("GLSL.std.450");
        let mut words = vec![set.word(), number];
        words.extend(operands.iter().map(|id| id.word()));
        self.b.append_value(Op::ExtInst, ty, &words)
    }

    pub(super) fn emit_effect(&mut self, op: Op, operands: &[Id]) {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        self.b.append_effect(op, &words);
    }

    /// A variable of the function, declared in its first block.
    pub(super) fn add_local_variable(&mut self, ty: Id) -> Id {
        let pointer = self.b.pointer_type(StorageClass::Function, ty);
        let current = self.b.current_block();
        self.b.continue_block(self.first);
        let words = [StorageClass::Function.0];
        let id = self.b.append_value(Op::Variable, pointer, &words);
        self.b.continue_block(current);
        id
    }

    /// A variable of the module.
    pub(super) fn add_global_variable(&mut self, class: StorageClass, ty: Id) -> Id {
        let pointer = self.b.pointer_type(class, ty);
        let id = self.b.global_variable(pointer, class, None);
        self.interface.push(id);
        id
    }

    pub(super) fn emit_load(&mut self, ty: Id, pointer: Id) -> Id {
        self.emit_value(Op::Load, ty, &[pointer])
    }

    pub(super) fn emit_store(&mut self, pointer: Id, value: Id) {
        self.emit_effect(Op::Store, &[pointer, value]);
    }

    /// Reinterprets bits as another type of the same width. Truth values cannot be reinterpreted.
    pub(super) fn emit_bitcast(&mut self, to: Id, value: Id) -> Id {
        if self.b.type_of(value) == Some(to) {
            value
        } else {
            self.emit_value(Op::Bitcast, to, &[value])
        }
    }

    pub(super) fn begin_block(&mut self, label: Id) {
        self.b.begin_block(label);
    }

    pub(super) fn emit_branch(&mut self, to: Id) {
        self.emit_effect(Op::Branch, &[to]);
    }

    /// Emits a selection with two branches.
    pub(super) fn if_else<E>(
        &mut self,
        condition: Id,
        then: impl FnOnce(&mut Self) -> Result<(), E>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let [yes, no, merge] = [(); 3].map(|()| self.b.fresh_id());
        self.b.append_effect(Op::SelectionMerge, &[merge.word(), 0]);
        self.emit_effect(Op::BranchConditional, &[condition, yes, no]);
        self.begin_block(yes);
        then(self)?;
        self.emit_branch(merge);
        self.begin_block(no);
        otherwise(self)?;
        self.emit_branch(merge);
        self.begin_block(merge);
        Ok(())
    }

    /// Emits a selection with one branch.
    pub(super) fn emit_if<E>(
        &mut self,
        condition: Id,
        then: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let [yes, merge] = [(); 2].map(|()| self.b.fresh_id());
        self.b.append_effect(Op::SelectionMerge, &[merge.word(), 0]);
        self.emit_effect(Op::BranchConditional, &[condition, yes, merge]);
        self.begin_block(yes);
        then(self)?;
        self.emit_branch(merge);
        self.begin_block(merge);
        Ok(())
    }

    /// Returns from the kernel where a condition holds.
    pub(super) fn return_when(&mut self, condition: Id) {
        let [yes, merge] = [(); 2].map(|()| self.b.fresh_id());
        self.b.append_effect(Op::SelectionMerge, &[merge.word(), 0]);
        self.emit_effect(Op::BranchConditional, &[condition, yes, merge]);
        self.begin_block(yes);
        self.b.append_effect(Op::Return, &[]);
        self.begin_block(merge);
    }

    /// Emits a loop whose condition is evaluated before each iteration.
    pub(super) fn emit_loop<E>(
        &mut self,
        condition: impl FnOnce(&mut Self) -> Result<Id, E>,
        body: impl FnOnce(&mut Self) -> Result<(), E>,
        step: impl FnOnce(&mut Self),
    ) -> Result<(), E> {
        let [header, check, inside, next, merge] = [(); 5].map(|()| self.b.fresh_id());
        self.emit_branch(header);
        self.begin_block(header);
        self.b
            .append_effect(Op::LoopMerge, &[merge.word(), next.word(), 0]);
        self.emit_branch(check);
        self.begin_block(check);
        let condition = condition(self)?;
        self.emit_effect(Op::BranchConditional, &[condition, inside, merge]);
        self.begin_block(inside);
        body(self)?;
        self.emit_branch(next);
        self.begin_block(next);
        step(self);
        self.emit_branch(header);
        self.begin_block(merge);
        Ok(())
    }

    /// Emits a loop with a counter of a width, from 0 to below a bound.
    pub(super) fn emit_counted_loop<E>(
        &mut self,
        width: u32,
        bound: Id,
        body: impl FnOnce(&mut Self, Id) -> Result<(), E>,
    ) -> Result<(), E> {
        let ty = self.uint_type(width);
        let counter = self.add_local_variable(ty);
        let (zero, one) = (self.const_uint(width, 0), self.const_uint(width, 1));
        self.emit_store(counter, zero);
        self.emit_loop(
            |l| {
                let at = l.emit_load(ty, counter);
                Ok(l.emit_bool_value(Op::SLessThan, &[at, bound]))
            },
            |l| {
                let at = l.emit_load(ty, counter);
                body(l, at)
            },
            |l| {
                let at = l.emit_load(ty, counter);
                let next = l.emit_value(Op::IAdd, ty, &[at, one]);
                l.emit_store(counter, next);
            },
        )
    }
}
