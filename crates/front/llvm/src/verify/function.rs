//! Function and instruction rules (rules 6 and 7).

use super::{dominance, ensure_holds};
use crate::ir::{
    InstructionExtra, LlvmBlock, LlvmFunction, LlvmInst, LlvmInstruction, LlvmModule, LlvmOpcode,
    LlvmType, LlvmTypeKind, LlvmTypes, LlvmValue, member_type,
};
use crate::{LlvmResult, error_at, make_refusal};

/// Checks a function.
pub fn verify_function(module: &LlvmModule, function: &LlvmFunction) -> LlvmResult<()> {
    let place = module.global(function.global).place;
    let Some((result, params, _)) = module.types.function_signature(function.ty) else {
        return Err(error_at(place, "a function without a function type"));
    };
    if params != function.params {
        return Err(error_at(
            place,
            "parameters of other types than the function type has",
        ));
    }
    if function.is_declaration() {
        return Ok(());
    }
    let checker = LlvmFunctionChecker {
        module,
        types: &module.types,
        function,
        result,
    };
    for (index, inst) in function.insts.iter().enumerate() {
        let id = LlvmInst::new(index);
        checker.verify_instruction(id, inst).map_err(|why| {
            error_at(
                function.inst_place(id),
                format!("`{}`: {why}", inst.opcode.name()),
            )
        })?;
    }
    checker.verify_phis()?;
    dominance::verify_dominance(module, function)
}

struct LlvmFunctionChecker<'m> {
    module: &'m LlvmModule,
    types: &'m LlvmTypes,
    function: &'m LlvmFunction,
    result: LlvmType,
}

impl LlvmFunctionChecker<'_> {
    fn value_type(&self, value: LlvmValue) -> LlvmType {
        self.function.type_of(self.module, value)
    }

    fn require_same_type(&self, a: LlvmValue, b: LlvmValue) -> LlvmResult<()> {
        ensure_holds(
            self.types
                .is_compatible(self.value_type(a), self.value_type(b)),
            "operands of two types",
        )
    }

    fn require_pointer(&self, value: LlvmValue) -> LlvmResult<()> {
        let is = matches!(
            self.types.kind(self.value_type(value)),
            LlvmTypeKind::Pointer { .. }
        );
        ensure_holds(is, "expected a pointer")
    }

    fn require_integer(&self, value: LlvmValue) -> LlvmResult<()> {
        ensure_holds(
            self.types.int_width(self.value_type(value)).is_some(),
            "expected an integer",
        )
    }

    fn verify_instruction(&self, id: LlvmInst, inst: &LlvmInstruction) -> LlvmResult<()> {
        let operands = self.function.operands(id);
        match inst.opcode {
            opcode if opcode.is_binary() => {
                self.require_same_type(operands[0], operands[1])?;
                verify_arithmetic_type(self.types, opcode, self.value_type(operands[0]))
            }
            opcode if opcode.is_cast() => {
                verify_cast(self.types, opcode, self.value_type(operands[0]), inst.ty)
            }
            opcode if opcode.is_call() => self.verify_call(id),
            LlvmOpcode::FNeg => {
                let scalar = self.types.scalar_type(inst.ty);
                ensure_holds(
                    self.types.float_width(scalar).is_some(),
                    "expected a floating-point number",
                )
            }
            LlvmOpcode::ICmp | LlvmOpcode::FCmp => self.verify_compare(inst, operands),
            LlvmOpcode::Ret => self.verify_return(operands),
            LlvmOpcode::Br => operands.first().map_or(Ok(()), |&condition| {
                ensure_holds(
                    self.value_type(condition) == LlvmType::I1,
                    "a branch on a value that is not an `i1`",
                )
            }),
            LlvmOpcode::Switch => self.verify_switch(operands),
            LlvmOpcode::IndirectBr => self.require_pointer(operands[0]),
            LlvmOpcode::Phi => {
                let fits =
                    |&value: &LlvmValue| self.types.is_compatible(self.value_type(value), inst.ty);
                ensure_holds(operands.iter().all(fits), "a value of another type")
            }
            LlvmOpcode::Select => self.verify_select(operands),
            LlvmOpcode::Alloca => self.require_integer(operands[0]),
            LlvmOpcode::Load => {
                self.in_memory(inst.ty)?;
                self.require_pointer(operands[0])
            }
            LlvmOpcode::Store => {
                self.in_memory(self.value_type(operands[0]))?;
                self.require_pointer(operands[1])
            }
            LlvmOpcode::CmpXchg => {
                self.require_same_type(operands[1], operands[2])?;
                self.require_pointer(operands[0])
            }
            LlvmOpcode::AtomicRmw => {
                self.in_memory(inst.ty)?;
                self.require_pointer(operands[0])
            }
            LlvmOpcode::ExtractElement | LlvmOpcode::InsertElement | LlvmOpcode::ShuffleVector => {
                self.verify_vector_instruction(inst.opcode, operands)
            }
            LlvmOpcode::ExtractValue | LlvmOpcode::InsertValue => {
                self.verify_aggregate_access(id, operands)
            }
            // The other opcodes take any value, or the readers have checked their operands.
            _ => Ok(()),
        }
    }

    fn in_memory(&self, ty: LlvmType) -> LlvmResult<()> {
        let outside = matches!(
            self.types.kind(ty),
            LlvmTypeKind::Void
                | LlvmTypeKind::Label
                | LlvmTypeKind::Metadata
                | LlvmTypeKind::Token
                | LlvmTypeKind::Function { .. }
        );
        ensure_holds(!outside, "a value that cannot be in memory")
    }

    fn verify_compare(&self, inst: &LlvmInstruction, operands: &[LlvmValue]) -> LlvmResult<()> {
        self.require_same_type(operands[0], operands[1])?;
        let scalar = self.types.scalar_type(self.value_type(operands[0]));
        let InstructionExtra::Compare(predicate) = inst.extra else {
            return Err(make_refusal("no comparison is given"));
        };
        let fits = match inst.opcode {
            LlvmOpcode::FCmp => self.types.float_width(scalar).is_some() && !predicate.is_integer(),
            _ => {
                let comparable = matches!(
                    self.types.kind(scalar),
                    LlvmTypeKind::Int(_) | LlvmTypeKind::Pointer { .. }
                );
                comparable && predicate.is_integer()
            }
        };
        ensure_holds(fits, "operands that this predicate cannot compare")
    }

    fn verify_return(&self, operands: &[LlvmValue]) -> LlvmResult<()> {
        let ty = operands
            .first()
            .map_or(LlvmType::VOID, |&value| self.value_type(value));
        ensure_holds(
            self.types.is_compatible(ty, self.result),
            "a value of another type than the function has",
        )
    }

    fn verify_switch(&self, operands: &[LlvmValue]) -> LlvmResult<()> {
        self.require_integer(operands[0])?;
        let is_case = |&case: &LlvmValue| {
            self.value_type(case) == self.value_type(operands[0])
                && case
                    .as_const()
                    .is_some_and(|case| is_integer_constant(self.module, case))
        };
        ensure_holds(
            operands[1..].iter().all(is_case),
            "a case that is not an integer of the condition's type",
        )
    }

    fn verify_select(&self, operands: &[LlvmValue]) -> LlvmResult<()> {
        self.require_same_type(operands[1], operands[2])?;
        let condition = self.value_type(operands[0]);
        let same_shape = || {
            vector_shape(self.types, condition)
                == vector_shape(self.types, self.value_type(operands[1]))
        };
        ensure_holds(
            condition == LlvmType::I1
                || self.types.scalar_type(condition) == LlvmType::I1 && same_shape(),
            "a condition that is neither an `i1` nor a vector of `i1` of the same length",
        )
    }

    fn verify_vector_instruction(
        &self,
        opcode: LlvmOpcode,
        operands: &[LlvmValue],
    ) -> LlvmResult<()> {
        let LlvmTypeKind::Vector { element, .. } = *self.types.kind(self.value_type(operands[0]))
        else {
            return Err(make_refusal("expected a vector"));
        };
        match opcode {
            LlvmOpcode::ExtractElement => self.require_integer(operands[1]),
            LlvmOpcode::InsertElement => {
                let fits = self
                    .types
                    .is_compatible(self.value_type(operands[1]), element);
                ensure_holds(fits, "an element of another type")?;
                self.require_integer(operands[2])
            }
            _ => self.require_same_type(operands[0], operands[1]),
        }
    }

    fn verify_aggregate_access(&self, id: LlvmInst, operands: &[LlvmValue]) -> LlvmResult<()> {
        let path = self.function.numbers_of(id);
        let member = member_type(self.types, self.value_type(operands[0]), path);
        let member = member.filter(|_| !path.is_empty());
        let member = member
            .ok_or_else(|| make_refusal("indices that do not select a member of the aggregate"))?;
        operands.get(1).map_or(Ok(()), |&value| {
            ensure_holds(
                self.types.is_compatible(self.value_type(value), member),
                "an element of another type",
            )
        })
    }

    fn verify_call(&self, id: LlvmInst) -> LlvmResult<()> {
        let Some(call) = self.function.call_info(id) else {
            return Err(make_refusal("a call without a callee"));
        };
        let Some((_, params, variadic)) = self.types.function_signature(call.function_type) else {
            return Err(make_refusal("the callee is not a function"));
        };
        self.require_pointer(self.function.operands(id)[0])?;
        let arguments = self.function.arguments(id);
        let fits = arguments.len() >= params.len()
            && (variadic || arguments.len() == params.len())
            && arguments.iter().zip(params).all(|(&argument, &param)| {
                self.types.is_compatible(self.value_type(argument), param)
            });
        ensure_holds(fits, "arguments of other types than the function has")
    }

    /// Edges and phis (rule 7).
    fn verify_phis(&self) -> LlvmResult<()> {
        let function = self.function;
        let mut edges = vec![0_u32; function.blocks.len()];
        for block in function.block_ids() {
            for successor in function.successors(block) {
                edges[successor.index()] += 1;
            }
        }
        if edges[0] != 0 {
            let place = function.inst_place(LlvmInst::new(0));
            return Err(error_at(place, "a branch to the entry block"));
        }
        for block in function.block_ids() {
            let mut others = false;
            for id in function.block_insts(block) {
                let is_phi = function.inst(id).opcode == LlvmOpcode::Phi;
                if is_phi && (others || !self.has_all_edges(id, edges[block.index()])) {
                    let why = if others {
                        "a `phi` after other instructions"
                    } else {
                        "a `phi` whose number of values differs from the number of edges into its block"
                    };
                    return Err(error_at(function.inst_place(id), why));
                }
                others |= !is_phi;
            }
        }
        Ok(())
    }

    fn has_all_edges(&self, phi: LlvmInst, edges: u32) -> bool {
        let blocks: &[LlvmBlock] = self.function.blocks_of(phi);
        blocks.len() as u64 == u64::from(edges)
    }
}

fn is_integer_constant(module: &LlvmModule, id: crate::ir::LlvmConst) -> bool {
    matches!(
        module.consts.kind(id),
        crate::ir::ConstKind::Int(_) | crate::ir::ConstKind::Wide(_)
    )
}

/// Number of elements and scalability; `None` if the type is not a vector.
fn vector_shape(types: &LlvmTypes, ty: LlvmType) -> Option<(u32, bool)> {
    match *types.kind(ty) {
        LlvmTypeKind::Vector { len, scalable, .. } => Some((len, scalable)),
        _ => None,
    }
}

/// Checks that the operands of a binary operation have a type that it operates on.
pub fn verify_arithmetic_type(
    types: &LlvmTypes,
    opcode: LlvmOpcode,
    ty: LlvmType,
) -> LlvmResult<()> {
    let scalar = types.scalar_type(ty);
    let floats = matches!(
        opcode,
        LlvmOpcode::FAdd
            | LlvmOpcode::FSub
            | LlvmOpcode::FMul
            | LlvmOpcode::FDiv
            | LlvmOpcode::FRem
    );
    let fits = if floats {
        types.float_width(scalar).is_some()
    } else {
        types.int_width(scalar).is_some()
    };
    ensure_holds(
        fits,
        if floats {
            "expected floating-point numbers"
        } else {
            "expected integers"
        },
    )
}

/// Classes of types that conversions distinguish.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConversionTypeClass {
    Int,
    Float,
    Pointer,
    Other,
}

fn classify_type(types: &LlvmTypes, ty: LlvmType) -> ConversionTypeClass {
    match types.kind(types.scalar_type(ty)) {
        LlvmTypeKind::Int(_) => ConversionTypeClass::Int,
        LlvmTypeKind::Pointer { .. } => ConversionTypeClass::Pointer,
        _ if types.float_width(types.scalar_type(ty)).is_some() => ConversionTypeClass::Float,
        _ => ConversionTypeClass::Other,
    }
}

/// Checks that a conversion is between types that it can convert.
pub fn verify_cast(
    types: &LlvmTypes,
    opcode: LlvmOpcode,
    from: LlvmType,
    to: LlvmType,
) -> LlvmResult<()> {
    let (source, target) = (classify_type(types, from), classify_type(types, to));
    if opcode == LlvmOpcode::BitCast {
        let pointers =
            source == ConversionTypeClass::Pointer && target == ConversionTypeClass::Pointer;
        let spaces = |ty| types.address_space(types.scalar_type(ty));
        let numbers =
            source != ConversionTypeClass::Pointer && target != ConversionTypeClass::Pointer;
        let fits = if pointers {
            spaces(from) == spaces(to)
        } else {
            numbers && same_bits(types, from, to)
        };
        return ensure_holds(
            fits,
            "a conversion between types of the wrong sizes or kinds",
        );
    }
    let bits = |ty: LlvmType| {
        let scalar = types.scalar_type(ty);
        types
            .int_width(scalar)
            .or(types.float_width(scalar))
            .unwrap_or(0)
    };
    let (narrower, wider) = (bits(to) < bits(from), bits(to) > bits(from));
    let (source_class, target_class, sizes) = match opcode {
        LlvmOpcode::Trunc => (ConversionTypeClass::Int, ConversionTypeClass::Int, narrower),
        LlvmOpcode::ZExt | LlvmOpcode::SExt => {
            (ConversionTypeClass::Int, ConversionTypeClass::Int, wider)
        }
        LlvmOpcode::FpTrunc => (
            ConversionTypeClass::Float,
            ConversionTypeClass::Float,
            narrower,
        ),
        LlvmOpcode::FpExt => (
            ConversionTypeClass::Float,
            ConversionTypeClass::Float,
            wider,
        ),
        LlvmOpcode::FpToUi | LlvmOpcode::FpToSi => {
            (ConversionTypeClass::Float, ConversionTypeClass::Int, true)
        }
        LlvmOpcode::UiToFp | LlvmOpcode::SiToFp => {
            (ConversionTypeClass::Int, ConversionTypeClass::Float, true)
        }
        LlvmOpcode::PtrToInt | LlvmOpcode::PtrToAddr => {
            (ConversionTypeClass::Pointer, ConversionTypeClass::Int, true)
        }
        LlvmOpcode::IntToPtr => (ConversionTypeClass::Int, ConversionTypeClass::Pointer, true),
        _ => (
            ConversionTypeClass::Pointer,
            ConversionTypeClass::Pointer,
            true,
        ),
    };
    let fits = source == source_class
        && target == target_class
        && sizes
        && vector_shape(types, from) == vector_shape(types, to);
    ensure_holds(fits, "a conversion between types it cannot convert")
}

/// Whether values of two types have the same number of bits. Unknown sizes count as equal.
fn same_bits(types: &LlvmTypes, a: LlvmType, b: LlvmType) -> bool {
    let bits = |ty: LlvmType| {
        let scalar = types.scalar_type(ty);
        let width = types.int_width(scalar).or(types.float_width(scalar))?;
        let (len, scalable) = vector_shape(types, ty).unwrap_or((1, false));
        Some((u64::from(width) * u64::from(len), scalable))
    };
    match (bits(a), bits(b)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}
