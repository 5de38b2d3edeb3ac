//! Emitting instructions: types, constants, values, variables, structured control flow.

use super::KernelLowering;
use spirula_program::{ScalarLiteral, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Capability, StorageClass};

impl KernelLowering<'_> {
    /// The SPIR-V type of values of a scalar type: integers have no sign, truth values no width.
    pub(super) fn ty(&mut self, ty: ScalarType) -> Id {
        match ty {
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => {
                self.uint(ty.width())
            }
            ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => {
                match ty {
                    ScalarType::F16 => self.b.capability(Capability::Float16),
                    ScalarType::F64 => self.b.capability(Capability::Float64),
                    _ => {}
                }
                self.floats |= ty.width();
                self.b.float(ty.width())
            }
            ScalarType::Bool => self.b.bool(),
            ScalarType::Unit => self.uint(32),
        }
    }

    pub(super) fn uint(&mut self, width: u32) -> Id {
        match width {
            8 => self.b.capability(Capability::Int8),
            16 => self.b.capability(Capability::Int16),
            64 => self.b.capability(Capability::Int64),
            _ => {}
        }
        self.b.int(width, false)
    }

    pub(super) fn u32(&mut self, value: u32) -> Id {
        self.b.constant_u32(value)
    }

    /// A number of a width.
    pub(super) fn number(&mut self, width: u32, value: u64) -> Id {
        let ty = self.uint(width);
        self.b.constant_bits(ty, width, value)
    }

    pub(super) fn literal(&mut self, literal: ScalarLiteral) -> Id {
        match literal.ty {
            ScalarType::Bool => self.b.constant_bool(literal.bits != 0),
            ScalarType::Unit => self.u32(0),
            ty => {
                let id = self.ty(ty);
                self.b.constant_bits(id, ty.width(), literal.bits)
            }
        }
    }

    pub(super) fn value(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        self.b.value(op, ty, &words)
    }

    /// A comparison or another operation that gives a truth value.
    pub(super) fn test(&mut self, op: Op, operands: &[Id]) -> Id {
        let ty = self.b.bool();
        self.value(op, ty, operands)
    }

    pub(super) fn select(&mut self, ty: Id, condition: Id, yes: Id, no: Id) -> Id {
        self.value(Op::Select, ty, &[condition, yes, no])
    }

    pub(super) fn not(&mut self, condition: Id) -> Id {
        self.test(Op::LogicalNot, &[condition])
    }

    /// An instruction of GLSL.std.450.
    pub(super) fn glsl(&mut self, number: u32, ty: Id, operands: &[Id]) -> Id {
        let set = self.b.import("GLSL.std.450");
        let mut words = vec![set.word(), number];
        words.extend(operands.iter().map(|id| id.word()));
        self.b.value(Op::ExtInst, ty, &words)
    }

    pub(super) fn effect(&mut self, op: Op, operands: &[Id]) {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        self.b.effect(op, &words);
    }

    /// A variable of the function, in its first block.
    pub(super) fn variable(&mut self, ty: Id) -> Id {
        let pointer = self.b.pointer(StorageClass::Function, ty);
        let current = self.b.current_block();
        self.b.continue_block(self.first);
        let words = [StorageClass::Function.0];
        let id = self.b.value(Op::Variable, pointer, &words);
        self.b.continue_block(current);
        id
    }

    /// A variable outside of functions.
    pub(super) fn global(&mut self, class: StorageClass, ty: Id) -> Id {
        let pointer = self.b.pointer(class, ty);
        let id = self.b.global_variable(pointer, class, None);
        self.interface.push(id);
        id
    }

    pub(super) fn load(&mut self, ty: Id, pointer: Id) -> Id {
        self.value(Op::Load, ty, &[pointer])
    }

    pub(super) fn store(&mut self, pointer: Id, value: Id) {
        self.effect(Op::Store, &[pointer, value]);
    }

    /// Bits of one type as another of the same width; truth values are no bits.
    pub(super) fn bitcast(&mut self, to: Id, value: Id) -> Id {
        match self.b.type_of(value) == Some(to) {
            true => value,
            false => self.value(Op::Bitcast, to, &[value]),
        }
    }

    pub(super) fn begin(&mut self, label: Id) {
        self.b.begin_block(label);
    }

    pub(super) fn branch(&mut self, to: Id) {
        self.effect(Op::Branch, &[to]);
    }

    /// Runs one of two pieces of code.
    pub(super) fn if_else<E>(
        &mut self,
        condition: Id,
        then: impl FnOnce(&mut Self) -> Result<(), E>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let [yes, no, merge] = [(); 3].map(|()| self.b.fresh_id());
        self.b.effect(Op::SelectionMerge, &[merge.word(), 0]);
        self.effect(Op::BranchConditional, &[condition, yes, no]);
        self.begin(yes);
        then(self)?;
        self.branch(merge);
        self.begin(no);
        otherwise(self)?;
        self.branch(merge);
        self.begin(merge);
        Ok(())
    }

    /// Runs a piece of code where a condition holds.
    pub(super) fn when<E>(
        &mut self,
        condition: Id,
        then: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let [yes, merge] = [(); 2].map(|()| self.b.fresh_id());
        self.b.effect(Op::SelectionMerge, &[merge.word(), 0]);
        self.effect(Op::BranchConditional, &[condition, yes, merge]);
        self.begin(yes);
        then(self)?;
        self.branch(merge);
        self.begin(merge);
        Ok(())
    }

    /// Ends the invocation where a condition holds.
    pub(super) fn return_when(&mut self, condition: Id) {
        let [yes, merge] = [(); 2].map(|()| self.b.fresh_id());
        self.b.effect(Op::SelectionMerge, &[merge.word(), 0]);
        self.effect(Op::BranchConditional, &[condition, yes, merge]);
        self.begin(yes);
        self.b.effect(Op::Return, &[]);
        self.begin(merge);
    }

    /// Repeats while a condition, evaluated before each round, holds.
    pub(super) fn repeat<E>(
        &mut self,
        condition: impl FnOnce(&mut Self) -> Result<Id, E>,
        body: impl FnOnce(&mut Self) -> Result<(), E>,
        step: impl FnOnce(&mut Self),
    ) -> Result<(), E> {
        let [header, check, inside, next, merge] = [(); 5].map(|()| self.b.fresh_id());
        self.branch(header);
        self.begin(header);
        self.b
            .effect(Op::LoopMerge, &[merge.word(), next.word(), 0]);
        self.branch(check);
        self.begin(check);
        let condition = condition(self)?;
        self.effect(Op::BranchConditional, &[condition, inside, merge]);
        self.begin(inside);
        body(self)?;
        self.branch(next);
        self.begin(next);
        step(self);
        self.branch(header);
        self.begin(merge);
        Ok(())
    }

    /// Counts from 0 to below a bound of a width.
    pub(super) fn count<E>(
        &mut self,
        width: u32,
        bound: Id,
        body: impl FnOnce(&mut Self, Id) -> Result<(), E>,
    ) -> Result<(), E> {
        let ty = self.uint(width);
        let counter = self.variable(ty);
        let (zero, one) = (self.number(width, 0), self.number(width, 1));
        self.store(counter, zero);
        self.repeat(
            |l| {
                let at = l.load(ty, counter);
                Ok(l.test(Op::SLessThan, &[at, bound]))
            },
            |l| {
                let at = l.load(ty, counter);
                body(l, at)
            },
            |l| {
                let at = l.load(ty, counter);
                let next = l.value(Op::IAdd, ty, &[at, one]);
                l.store(counter, next);
            },
        )
    }
}
