//! Instructions.

use super::memory::offset_address;
use super::value::{AbstractScalar, AbstractValue, ObjectAddress, count_scalars};
use super::{
    EvaluationResult, EvaluatorFrame, LlvmEvaluator, float, integer, stop_undefined,
    stop_unsupported,
};
use spirula_llvm::ir::{
    InstructionExtra, LlvmBlock, LlvmFunc, LlvmInst, LlvmInstFlags, LlvmModule, LlvmOpcode,
    LlvmType, LlvmTypeKind, Predicate, RmwOp,
};

/// Whether a type has padding.
pub fn has_padding(module: &LlvmModule, ty: LlvmType) -> bool {
    match module.types.kind(ty) {
        LlvmTypeKind::Struct { .. } | LlvmTypeKind::Array { .. } => true,
        LlvmTypeKind::Vector { len, .. } => !len.is_power_of_two(),
        // Integers of odd widths are stored in the next wider ones.
        LlvmTypeKind::Int(width) => !matches!(width, 8 | 16 | 32 | 64),
        _ => false,
    }
}

impl LlvmEvaluator<'_> {
    /// The target of a branch or switch.
    pub(super) fn eval_branch(
        &mut self,
        frame: &EvaluatorFrame,
        inst: LlvmInst,
    ) -> EvaluationResult<LlvmBlock> {
        let module = self.module;
        let function = module.function(frame.func);
        let (targets, operands) = (function.blocks_of(inst), function.operands(inst));
        let Some(first) = operands.first() else {
            return Ok(targets[0]);
        };
        let Some(value) = self.eval_operand(frame, *first)?[0].known_bits() else {
            return stop_undefined("a branch by what may be anything");
        };
        if function.inst(inst).opcode == LlvmOpcode::Br {
            return Ok(targets[usize::from(value == 0)]);
        }
        for (case, target) in operands[1..].iter().zip(&targets[1..]) {
            if self.eval_operand(frame, *case)?[0].known_bits() == Some(value) {
                return Ok(*target);
            }
        }
        Ok(targets[0])
    }

    /// The function that a pointer refers to.
    fn pointed_function(&self, pointer: AbstractScalar) -> EvaluationResult<LlvmFunc> {
        let AbstractScalar::Address(address) = pointer else {
            return stop_undefined("a call of what may be anything");
        };
        let module = self.module;
        let is_it = |func: &LlvmFunc| {
            let global = module.function(*func).global;
            self.globals[global.index()] == Some(address)
        };
        match module.function_ids().find(is_it) {
            Some(func) => Ok(func),
            None => stop_undefined("a call of what is no function"),
        }
    }

    /// Evaluates an instruction other than a terminator or a phi.
    pub(super) fn eval_instruction(
        &mut self,
        frame: &EvaluatorFrame,
        inst: LlvmInst,
    ) -> EvaluationResult<AbstractValue> {
        let module = self.module;
        let function = module.function(frame.func);
        let instruction = function.inst(inst);
        let mut operands = Vec::new();
        let mut types = Vec::new();
        let given = if instruction.opcode.is_call() {
            function.arguments(inst)
        } else {
            function.operands(inst)
        };
        for operand in given {
            operands.push(self.eval_operand(frame, *operand)?);
            types.push(function.type_of(module, *operand));
        }
        let (op, ty) = (instruction.opcode, instruction.ty);
        match (op, instruction.extra) {
            (LlvmOpcode::Call, _) => self.eval_call(frame, inst, operands),
            (_, InstructionExtra::Compare(predicate)) => {
                let kind = self.scalar_kind(types[0])?;
                let width = kind.bit_width();
                Ok(map_pairs(&operands, |a, b| {
                    if predicate.is_integer() {
                        eval_integer_comparison(predicate, width, a, b)
                    } else {
                        float::eval_compare(predicate, width, a, b)
                    }
                }))
            }
            (_, InstructionExtra::Alloca { ty, .. }) => {
                let size = module.layout.alloc_size(&module.types, ty).unwrap_or(0);
                Ok(vec![AbstractScalar::Address(
                    self.memory.allocate_object(size),
                )])
            }
            (LlvmOpcode::Load, _) => self.read_value(operands[0][0], ty),
            (LlvmOpcode::Store, _) => {
                let address = to_address(operands[1][0])?;
                self.write_value(address, types[0], &operands[0])?;
                Ok(AbstractValue::new())
            }
            (LlvmOpcode::GetElementPtr, InstructionExtra::SourceType(source)) => {
                self.eval_element_pointer(source, &operands, &types)
            }
            (LlvmOpcode::AtomicRmw, InstructionExtra::Rmw { op, .. }) => {
                self.eval_atomic_update(op, &operands, types[1])
            }
            (LlvmOpcode::CmpXchg, _) => self.eval_compare_exchange(&operands, types[1]),
            (LlvmOpcode::Fence, _) => Ok(AbstractValue::new()),
            (LlvmOpcode::Select, _) => Ok(eval_select(&operands)),
            (LlvmOpcode::Freeze, _) => Ok(operands.swap_remove(0)),
            (LlvmOpcode::FNeg, _) => {
                let width = self.scalar_kind(ty)?.bit_width();
                let negated =
                    |s: &AbstractScalar| float::with_sign(width, *s, |bits, sign| bits ^ sign);
                Ok(operands[0].iter().map(negated).collect())
            }
            _ if op.is_binary() => self.eval_binary(op, instruction.flags, &operands, ty),
            _ if op.is_cast() => self.eval_cast(op, &operands[0], types[0], ty),
            _ => self.eval_composite(frame, inst, operands, &types),
        }
    }

    fn eval_call(
        &mut self,
        frame: &EvaluatorFrame,
        inst: LlvmInst,
        args: Vec<AbstractValue>,
    ) -> EvaluationResult<AbstractValue> {
        let module = self.module;
        let Some(callee) = module.function(frame.func).callee(inst) else {
            return stop_unsupported("a call of no function");
        };
        let func = match module.as_function(callee) {
            Some(func) => func,
            None => {
                let pointer = self.eval_operand(frame, callee)?[0];
                self.pointed_function(pointer)?
            }
        };
        self.call_function(func, args)
    }

    fn eval_binary(
        &mut self,
        op: LlvmOpcode,
        flags: LlvmInstFlags,
        operands: &[AbstractValue],
        ty: LlvmType,
    ) -> EvaluationResult<AbstractValue> {
        let kind = self.scalar_kind(ty)?;
        let is_float = matches!(kind, super::LeafType::Float(_));
        let width = kind.bit_width();
        let mut result = AbstractValue::new();
        for (a, b) in operands[0].iter().zip(&operands[1]) {
            result.push(match (a, b) {
                _ if is_float => float::eval_binary(op, width, *a, *b),
                (AbstractScalar::Bits(a), AbstractScalar::Bits(b)) => {
                    match integer::eval_binary(op, flags, width, *a, *b) {
                        Some(scalar) => scalar,
                        None => return stop_undefined("a division"),
                    }
                }
                (AbstractScalar::Address(a), AbstractScalar::Address(b))
                    if op == LlvmOpcode::Sub && a.object == b.object =>
                {
                    integer::truncate_to_width(width, (a.offset - b.offset).into())
                }
                (_, AbstractScalar::Any)
                    if matches!(
                        op,
                        LlvmOpcode::UDiv | LlvmOpcode::URem | LlvmOpcode::SDiv | LlvmOpcode::SRem
                    ) =>
                {
                    return stop_undefined("a division by what may be anything");
                }
                _ => AbstractScalar::Any,
            });
        }
        Ok(result)
    }

    /// `getelementptr`
    pub(super) fn eval_element_pointer(
        &mut self,
        source: LlvmType,
        operands: &[AbstractValue],
        types: &[LlvmType],
    ) -> EvaluationResult<AbstractValue> {
        let module = self.module;
        let (types_of, layout) = (&module.types, &module.layout);
        if operands.iter().any(|o| o.len() != 1) {
            return stop_unsupported("a vector of addresses");
        }
        let mut ty = source;
        let mut offset: i64 = 0;
        for (n, index) in operands[1..].iter().enumerate() {
            let Some(bits) = index[0].known_bits() else {
                return Ok(vec![AbstractScalar::Any]);
            };
            let width = types_of.int_width(types[n + 1]).unwrap_or(64);
            let index = integer::sign_extend(width, bits) as i64;
            let step = match types_of.kind(ty) {
                _ if n == 0 => layout.alloc_size(types_of, ty).unwrap_or(0) as i64 * index,
                LlvmTypeKind::Struct { .. } => {
                    let fields = layout.struct_layout(types_of, ty);
                    let at = fields.and_then(|f| f.offsets.get(index as usize).copied());
                    ty = types_of.element_type(ty, index as u64).unwrap_or(ty);
                    at.unwrap_or(0) as i64
                }
                LlvmTypeKind::Array { element, .. } | LlvmTypeKind::Vector { element, .. } => {
                    ty = *element;
                    layout.alloc_size(types_of, ty).unwrap_or(0) as i64 * index
                }
                _ => return stop_unsupported("an index into a scalar"),
            };
            offset = offset.wrapping_add(step);
        }
        Ok(vec![match operands[0][0] {
            AbstractScalar::Address(address) => {
                AbstractScalar::Address(offset_address(address, offset as u64))
            }
            AbstractScalar::Bits(bits) => {
                integer::truncate_to_width(64, bits as i128 + i128::from(offset))
            }
            _ => AbstractScalar::Any,
        }])
    }

    pub(super) fn read_value(
        &mut self,
        from: AbstractScalar,
        ty: LlvmType,
    ) -> EvaluationResult<AbstractValue> {
        let address = to_address(from)?;
        let mut value = AbstractValue::new();
        for leaf in self.type_leaves(ty)?.iter() {
            match self.memory.load_scalar(address, *leaf) {
                Some(scalar) => value.push(scalar),
                None => return stop_undefined("a load outside of an object"),
            }
        }
        Ok(value)
    }

    fn eval_atomic_update(
        &mut self,
        op: RmwOp,
        operands: &[AbstractValue],
        ty: LlvmType,
    ) -> EvaluationResult<AbstractValue> {
        let old = self.read_value(operands[0][0], ty)?;
        let width = self.scalar_kind(ty)?.bit_width();
        let new = match (old[0].known_bits(), operands[1][0].known_bits()) {
            (Some(a), Some(b)) => integer::eval_atomic_update(op, width, a, b),
            _ => Some(AbstractScalar::Any),
        };
        let Some(new) = new else {
            return stop_unsupported(format!("atomicrmw {}", op.name()));
        };
        self.write_value(to_address(operands[0][0])?, ty, &[new])?;
        Ok(old)
    }

    fn eval_compare_exchange(
        &mut self,
        operands: &[AbstractValue],
        ty: LlvmType,
    ) -> EvaluationResult<AbstractValue> {
        let old = self.read_value(operands[0][0], ty)?[0];
        let equal = match (old.known_bits(), operands[1][0].known_bits()) {
            (Some(a), Some(b)) => AbstractScalar::from_bool(a == b),
            _ => AbstractScalar::Any,
        };
        let new = match equal {
            AbstractScalar::Bits(1) => operands[2][0],
            AbstractScalar::Bits(_) => old,
            _ => AbstractScalar::Any,
        };
        self.write_value(to_address(operands[0][0])?, ty, &[new])?;
        Ok(vec![old, equal])
    }

    /// Insertion into and extraction from vectors and aggregates.
    fn eval_composite(
        &mut self,
        frame: &EvaluatorFrame,
        inst: LlvmInst,
        mut operands: Vec<AbstractValue>,
        types: &[LlvmType],
    ) -> EvaluationResult<AbstractValue> {
        let function = self.module.function(frame.func);
        let numbers = function.numbers_of(inst);
        match function.inst(inst).opcode {
            LlvmOpcode::ExtractElement => Ok(vec![match operands[1][0].known_bits() {
                Some(at) => operands[0]
                    .get(at as usize)
                    .copied()
                    .unwrap_or(AbstractScalar::Any),
                None => AbstractScalar::Any,
            }]),
            LlvmOpcode::InsertElement => {
                let at = operands[2][0].known_bits();
                let part = operands[1][0];
                let mut vector = operands.swap_remove(0);
                match at.and_then(|at| vector.get_mut(at as usize)) {
                    Some(lane) => *lane = part,
                    None => vector.fill(AbstractScalar::Any),
                }
                Ok(vector)
            }
            LlvmOpcode::ShuffleVector => {
                let all = operands.concat();
                let pick = |n: &u32| all.get(*n as usize).copied().unwrap_or(AbstractScalar::Any);
                Ok(numbers.iter().map(pick).collect())
            }
            LlvmOpcode::ExtractValue => {
                let (from, len) = self.locate_part(types[0], numbers)?;
                Ok(operands[0][from..from + len].to_vec())
            }
            LlvmOpcode::InsertValue => {
                let (from, len) = self.locate_part(types[0], numbers)?;
                let part = operands.swap_remove(1);
                let mut whole = operands.swap_remove(0);
                whole[from..from + len].copy_from_slice(&part);
                Ok(whole)
            }
            op => stop_unsupported(op.name()),
        }
    }

    /// The scalars of an aggregate that a path leads to: the first, and their number.
    fn locate_part(&mut self, ty: LlvmType, path: &[u32]) -> EvaluationResult<(usize, usize)> {
        let module = self.module;
        let (mut ty, mut from) = (ty, 0);
        for index in path {
            for before in 0..*index {
                let element = module.types.element_type(ty, before.into());
                from += element.and_then(|e| count_scalars(module, e)).unwrap_or(0);
            }
            let Some(element) = module.types.element_type(ty, (*index).into()) else {
                return stop_unsupported("a path out of an aggregate");
            };
            ty = element;
        }
        Ok((from, self.type_leaves(ty)?.len()))
    }
}

/// The address that a scalar holds.
pub fn to_address(scalar: AbstractScalar) -> EvaluationResult<ObjectAddress> {
    match scalar {
        AbstractScalar::Address(address) => Ok(address),
        _ => stop_undefined("an access to no object"),
    }
}

fn map_pairs(
    operands: &[AbstractValue],
    make: impl Fn(AbstractScalar, AbstractScalar) -> AbstractScalar,
) -> AbstractValue {
    let both = operands[0].iter().zip(&operands[1]);
    both.map(|(a, b)| make(*a, *b)).collect()
}

/// Compares two addresses for equality. Their order is unspecified.
fn eval_address_equality(predicate: Predicate, is_one: bool) -> AbstractScalar {
    match predicate {
        Predicate::Eq => AbstractScalar::from_bool(is_one),
        Predicate::Ne => AbstractScalar::from_bool(!is_one),
        _ => AbstractScalar::Any,
    }
}

fn eval_select(operands: &[AbstractValue]) -> AbstractValue {
    let conditions = operands[0].iter().cycle();
    let both = operands[1].iter().zip(&operands[2]);
    both.zip(conditions)
        .map(|((a, b), condition)| match condition {
            AbstractScalar::Bits(0) => *b,
            AbstractScalar::Bits(_) => *a,
            _ => AbstractScalar::Any,
        })
        .collect()
}

/// Compares integers or addresses; `predicate` is one of `icmp`.
fn eval_integer_comparison(
    predicate: Predicate,
    width: u32,
    a: AbstractScalar,
    b: AbstractScalar,
) -> AbstractScalar {
    match (a, b) {
        (AbstractScalar::Bits(a), AbstractScalar::Bits(b)) => {
            AbstractScalar::from_bool(integer::eval_compare(predicate, width, a, b))
        }
        (AbstractScalar::Address(a), AbstractScalar::Address(b)) => {
            eval_address_equality(predicate, a == b)
        }
        // No object is at null.
        (AbstractScalar::Address(_), AbstractScalar::Bits(0))
        | (AbstractScalar::Bits(0), AbstractScalar::Address(_)) => {
            eval_address_equality(predicate, false)
        }
        _ => AbstractScalar::Any,
    }
}
