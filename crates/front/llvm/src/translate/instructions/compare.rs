//! Comparisons, `select` and `freeze`.

use crate::ir::{ConstKind, InstructionExtra, LlvmInst, LlvmTypeKind, LlvmValue, Predicate};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, SpirvVersion};

/// Predicates with their instruction.
const PREDICATES: &[(Predicate, Op)] = &[
    (Predicate::FOeq, Op::FOrdEqual),
    (Predicate::FOgt, Op::FOrdGreaterThan),
    (Predicate::FOge, Op::FOrdGreaterThanEqual),
    (Predicate::FOlt, Op::FOrdLessThan),
    (Predicate::FOle, Op::FOrdLessThanEqual),
    (Predicate::FOne, Op::FOrdNotEqual),
    (Predicate::FOrd, Op::Ordered),
    (Predicate::FUno, Op::Unordered),
    (Predicate::FUeq, Op::FUnordEqual),
    (Predicate::FUgt, Op::FUnordGreaterThan),
    (Predicate::FUge, Op::FUnordGreaterThanEqual),
    (Predicate::FUlt, Op::FUnordLessThan),
    (Predicate::FUle, Op::FUnordLessThanEqual),
    (Predicate::FUne, Op::FUnordNotEqual),
    (Predicate::Eq, Op::IEqual),
    (Predicate::Ne, Op::INotEqual),
    (Predicate::Ugt, Op::UGreaterThan),
    (Predicate::Uge, Op::UGreaterThanEqual),
    (Predicate::Ult, Op::ULessThan),
    (Predicate::Ule, Op::ULessThanEqual),
    (Predicate::Sgt, Op::SGreaterThan),
    (Predicate::Sge, Op::SGreaterThanEqual),
    (Predicate::Slt, Op::SLessThan),
    (Predicate::Sle, Op::SLessThanEqual),
];

impl FunctionTranslator<'_, '_> {
    pub(super) fn lower_compare(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let InstructionExtra::Compare(predicate) = self.function.inst(inst).extra else {
            return Err(make_refusal("a comparison without a predicate"));
        };
        let operands = self.function.operands(inst);
        let result = self.result_shape(inst)?;
        match predicate {
            Predicate::FFalse => return Ok(self.t.make_zero(result)),
            Predicate::FTrue => return Ok(self.t.make_splat(result, 1)),
            _ => {}
        }
        let left = self.lower_value(operands[0])?;
        if let Some(id) = self.compare_addresses(predicate, left, operands[1])? {
            return Ok(id);
        }
        let right = self.lower_value(operands[1])?;
        if self.is_pointer(operands[0]) {
            let size = NumericShape::new_int(self.t.pointer_bits, 1);
            let left = self.pointer_bits_as(left, size)?;
            let right = self.pointer_bits_as(right, size)?;
            return self.compare_numbers(predicate, size, left, right);
        }
        let shape = self.shape_of(operands[0])?;
        let id = self.compare_numbers(predicate, shape, left, right)?;
        self.decorate_late_fast_math(inst, id);
        Ok(id)
    }

    /// Whether two pointers to the same storage class are equal or unequal, which SPIR-V can test
    /// since version 1.4.
    fn compare_addresses(
        &mut self,
        predicate: Predicate,
        left: Id,
        right: LlvmValue,
    ) -> LlvmResult<Option<Id>> {
        let op = match predicate {
            Predicate::Eq => Op::PtrEqual,
            Predicate::Ne => Op::PtrNotEqual,
            _ => return Ok(None),
        };
        let class = |body: &Self, id| body.t.b.type_of(id).and_then(|ty| body.t.pointee_of(ty));
        let Some((from, pointee)) = class(self, left) else {
            return Ok(None);
        };
        if self.t.version < SpirvVersion::new(1, 4) {
            return Ok(None);
        }
        let right = self.lower_pointer(right, pointee)?;
        if class(self, right).is_none_or(|(to, _)| to != from) {
            return Ok(None);
        }
        let bool = self.t.b.bool_type();
        Ok(Some(self.emit_op(op, bool, [left, right])))
    }

    /// Compares numbers of a shape.
    pub(in crate::translate) fn compare_numbers(
        &mut self,
        predicate: Predicate,
        shape: NumericShape,
        left: Id,
        right: Id,
    ) -> LlvmResult<Id> {
        let ty = self.t.shape_type(shape.as_bool());
        let signed = matches!(
            predicate,
            Predicate::Sgt | Predicate::Sge | Predicate::Slt | Predicate::Sle
        );
        if shape.elem == NumericElement::Bool {
            return Ok(self.compare_booleans(predicate, ty, left, right));
        }
        let (left, right) = if signed {
            (
                self.sign_extend_value(shape, left),
                self.sign_extend_value(shape, right),
            )
        } else {
            (
                self.promote_float(shape, left),
                self.promote_float(shape, right),
            )
        };
        if self.t.is_shader() && matches!(predicate, Predicate::FUno | Predicate::FOrd) {
            return Ok(self.compare_order(predicate, ty, left, right));
        }
        match PREDICATES.iter().find(|row| row.0 == predicate) {
            Some((_, op)) => Ok(self.emit_op(*op, ty, [left, right])),
            None => Err(make_refusal(format!("the predicate {}", predicate.name()))),
        }
    }

    /// Ordered and unordered comparison: whether neither or one of two numbers is NaN. Shaders have
    /// no single instruction for them.
    fn compare_order(&mut self, predicate: Predicate, ty: Id, left: Id, right: Id) -> Id {
        let mut unordered = self.emit_op(Op::IsNan, ty, [left]);
        if left != right {
            let other = self.emit_op(Op::IsNan, ty, [right]);
            unordered = self.emit_op(Op::LogicalOr, ty, [unordered, other]);
        }
        match predicate {
            Predicate::FOrd => self.emit_op(Op::LogicalNot, ty, [unordered]),
            _ => unordered,
        }
    }

    /// Compares Booleans: true is 1, or -1 if signed.
    fn compare_booleans(&mut self, predicate: Predicate, ty: Id, left: Id, right: Id) -> Id {
        let (op, complemented) = match predicate {
            Predicate::Eq => (Op::LogicalEqual, None),
            Predicate::Ne => (Op::LogicalNotEqual, None),
            Predicate::Ugt | Predicate::Slt => (Op::LogicalAnd, Some(right)),
            Predicate::Uge | Predicate::Sle => (Op::LogicalOr, Some(right)),
            Predicate::Ult | Predicate::Sgt => (Op::LogicalAnd, Some(left)),
            _ => (Op::LogicalOr, Some(left)),
        };
        match complemented {
            None => self.emit_op(op, ty, [left, right]),
            Some(id) => {
                let not = self.emit_op(Op::LogicalNot, ty, [id]);
                let other = if id == left { right } else { left };
                self.emit_op(op, ty, [not, other])
            }
        }
    }

    pub(super) fn select_instruction(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let [condition, yes, no] = self.function.operands(inst) else {
            return Err(make_refusal("a select without three operands"));
        };
        self.emit_select_of(inst, [*condition, *yes, *no])
    }

    /// A select with the result type of an instruction: the condition, the value if it is true, and
    /// the value if it is false.
    pub(in crate::translate) fn emit_select_of(
        &mut self,
        inst: LlvmInst,
        [condition, yes, no]: [LlvmValue; 3],
    ) -> LlvmResult<Id> {
        let condition_shape = self.shape_of(condition)?;
        let ty = self.result_type(inst)?;
        let mut condition = self.lower_value(condition)?;
        let yes = self.value_as(yes, ty)?;
        let no = self.value_as(no, ty)?;
        let result = self.inst_type(inst);
        let old = self.t.version < SpirvVersion::new(1, 4);
        match self.t.find_shape(result) {
            Some(shape) if old && shape.lanes > 1 && condition_shape.lanes == 1 => {
                condition = self.splat_scalar(shape.as_bool(), condition);
            }
            // Aggregates can be selected since SPIR-V 1.4; opaque values never.
            None if !self.t.module.types.is_pointer_like(result) => {
                let opaque = matches!(
                    self.t.module.types.kind(result),
                    LlvmTypeKind::Target { .. }
                );
                if old || opaque {
                    return Ok(self.choose_by_branch(ty, condition, yes, no));
                }
            }
            _ => {}
        }
        Ok(self.emit_select(ty, condition, yes, no))
    }

    /// One of two values by a branch.
    fn choose_by_branch(&mut self, ty: Id, condition: Id, yes: Id, no: Id) -> Id {
        let before = self.current_label();
        let [other, after] = [(); 2].map(|()| self.t.b.fresh_id());
        let words = [condition, after, other].map(Id::word);
        self.t.b.append_effect(Op::BranchConditional, &words);
        self.begin_block(other);
        self.t.b.append_effect(Op::Branch, &[after.word()]);
        self.begin_block(after);
        let (id, phi) = self.t.b.append_phi(ty);
        let words = [yes, before, no, other].map(Id::word);
        self.t.b.set_phi(phi, &words);
        id
    }

    /// A frozen value is the value itself; an undefined one becomes zero.
    pub(super) fn lower_freeze(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operand = self.function.operands(inst)[0];
        if self.is_undefined(operand) {
            let ty = self.result_type(inst)?;
            return Ok(match self.t.find_shape(self.inst_type(inst)) {
                Some(shape) => self.t.make_zero(shape),
                None => self.t.b.constant_null(ty),
            });
        }
        self.lower_value(operand)
    }

    /// Whether a value is `undef` or `poison`.
    pub(in crate::translate) fn is_undefined(&self, value: LlvmValue) -> bool {
        value.as_const().is_some_and(|constant| {
            matches!(
                self.t.module.consts.kind(constant),
                ConstKind::Undef | ConstKind::Poison
            )
        })
    }
}
