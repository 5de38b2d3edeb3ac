//! SPIR-V friendly functions: functions that are named after instructions.
//!
//! The forms are `__spirv_NAME`, `__spirv_ocl_NAME` and `__spirv_BuiltInNAME`, as in SYCL and in
//! SPIR-V that was translated to LLVM IR.

use super::memory::{lower_printf, to_space};
use super::numeric::split_rounding;
use crate::ir::{AttrKind, ConstKind, LlvmType, LlvmTypeKind};
use crate::translate::call_rules::ExternalCall;
use crate::translate::extended_instructions::extended_number;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::NumericElement;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, FPRoundingMode};
use spirula_spirv::grammar::{
    InstructionClass, InstructionInfo, Kind, Op, OperandCategory, OperandInfo, OperandQuantifier,
    ResultForm, opencl_std,
};

/// Instruction classes that functions can represent.
pub(crate) const CALLABLE: &[InstructionClass] = &[
    InstructionClass::Arithmetic,
    InstructionClass::Atomic,
    InstructionClass::Barrier,
    InstructionClass::Bit,
    InstructionClass::Composite,
    InstructionClass::Conversion,
    InstructionClass::DeviceSideEnqueue,
    InstructionClass::Group,
    InstructionClass::Image,
    InstructionClass::Memory,
    InstructionClass::Miscellaneous,
    InstructionClass::NonUniform,
    InstructionClass::Pipe,
    InstructionClass::Primitive,
    InstructionClass::RelationalandLogical,
    InstructionClass::Reserved,
];

impl FunctionTranslator<'_, '_> {
    /// Translates a call of a function that represents an instruction.
    pub(in crate::translate) fn lower_spirv_function(
        &mut self,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let name = call.name.strip_prefix("__spirv_").unwrap_or(call.name);
        if let Some(name) = name.strip_prefix("BuiltIn") {
            let Some(row) = Kind::BuiltIn.info().by_name(name) else {
                return Err(make_refusal("there is no such built-in variable"));
            };
            return self.lower_work_item(BuiltIn(row.value), 0, call).map(Some);
        }
        if let Some(name) = name.strip_prefix("ocl_") {
            let name = name.split("_R").next().unwrap_or(name);
            return match extended_number(name) {
                Some(opencl_std::PRINTF) => lower_printf(self, call),
                Some(number) => self.emit_opencl_instruction(number, call).map(Some),
                None => Err(make_refusal("there is no such extended instruction")),
            };
        }
        if let Some(name) = name.strip_prefix("glsl_") {
            return self.lower_glsl_function(name, call).map(Some);
        }
        let (name, saturated, rounding) = strip_suffixes(name);
        match Op::by_name(name) {
            Some(Op::GenericCastToPtrExplicit) => to_space(self, call),
            Some(Op::GenericCastToPtr) => self.lower_generic_cast(call).map(Some),
            Some(Op::SpecConstant) => self.lower_spec_constant(call).map(Some),
            Some(Op::AbortKHR) => self.lower_abort(call).map(|()| None),
            Some(Op::SpecConstantComposite) => self.lower_spec_composite(call).map(Some),
            // The two are equivalent, and SPIR-V 1.6 has only this one.
            Some(Op::LessOrGreater) => {
                self.lower_spirv_instruction(Op::FOrdNotEqual, saturated, rounding, call)
            }
            Some(op) => self.lower_spirv_instruction(op, saturated, rounding, call),
            None => Err(make_refusal("there is no such instruction")),
        }
    }

    fn lower_spirv_instruction(
        &mut self,
        op: Op,
        saturated: bool,
        rounding: Option<FPRoundingMode>,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let Some(row) = op.info() else {
            return Err(make_refusal("there is no such instruction"));
        };
        if !CALLABLE.contains(&row.class) {
            return Err(make_refusal(
                "the instruction cannot be called as a function",
            ));
        }
        if row.last_version < self.t.version {
            return Err(make_refusal("the target no longer has such an instruction"));
        }
        let skip = match row.result {
            ResultForm::Typed => 2,
            ResultForm::None => 0,
            ResultForm::Untyped => return Err(make_refusal("the instruction has no result")),
        };
        // The result of such a function is stored through its first argument.
        let stored = row.result == ResultForm::Typed && self.stores_result(call);
        let mut words = self.spirv_operands(op, row, skip, usize::from(stored), call)?;
        self.state_texels(op, call, &mut words);
        if stored {
            return self
                .lower_stored_instruction(op, &words, call)
                .map(|()| None);
        }
        if row.result == ResultForm::None {
            self.t.b.append_effect(op, &words);
            return Ok(None);
        }
        let id = self.spirv_result(op, &words, call)?;
        if saturated {
            self.decorate_result(id, Decoration::SaturatedConversion, &[]);
        }
        if let Some(mode) = rounding {
            self.decorate_result(id, Decoration::FPRoundingMode, &[mode.0]);
        }
        Ok((self.function.inst(call.inst).ty != LlvmType::VOID).then_some(id))
    }

    /// The operands that the arguments from `first` on denote. As in the instruction, parameters of
    /// enumerants follow them.
    fn spirv_operands(
        &mut self,
        op: Op,
        row: &InstructionInfo,
        skip: usize,
        first: usize,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Vec<u32>> {
        let mut words = Vec::with_capacity(call.args.len());
        let mut expected: Vec<OperandInfo> = row.operands[skip..].iter().rev().copied().collect();
        for index in first..call.args.len() {
            let Some(operand) = expected.pop() else {
                return Err(make_refusal("there are more arguments than operands"));
            };
            if operand.quantifier == OperandQuantifier::Many {
                expected.push(operand);
            }
            let info = operand.kind.info();
            if info.category == OperandCategory::Id {
                words.push(self.spirv_operand(op, call, index, index - first)?.word());
                continue;
            }
            let word = self.constant_argument(call, index)? as u32;
            words.push(word);
            let chosen = info
                .enumerants
                .iter()
                .rev()
                .filter(|row| match info.category {
                    OperandCategory::BitEnum => row.value != 0 && word & row.value == row.value,
                    _ => row.value == word,
                });
            for enumerant in chosen {
                expected.extend(enumerant.parameters.iter().rev());
            }
        }
        if expected
            .iter()
            .any(|o| o.quantifier == OperandQuantifier::One)
        {
            return Err(make_refusal("there are fewer arguments than operands"));
        }
        Ok(words)
    }

    /// Whether a call returns its result through its first argument.
    fn stores_result(&self, call: &ExternalCall<'_>) -> bool {
        let void = self.function.inst(call.inst).ty == LlvmType::VOID;
        let attributes = &self.t.module.attributes;
        let stated = self.function.call_info(call.inst).is_some_and(|info| {
            let set = attributes.param_set(info.attributes, 0);
            attributes.has_attribute(set, AttrKind::StructRet)
        });
        void && stated
    }

    /// An instruction whose result is stored through the first argument.
    fn lower_stored_instruction(
        &mut self,
        op: Op,
        words: &[u32],
        call: &ExternalCall<'_>,
    ) -> LlvmResult<()> {
        let place = call.arg(0)?;
        let attributes = &self.t.module.attributes;
        let stated = self.function.call_info(call.inst).and_then(|info| {
            let set = attributes.param_set(info.attributes, 0);
            attributes.type_of(set, AttrKind::StructRet)
        });
        let ty = match stated {
            Some(ty) => self.t.memory_type(ty)?,
            None => {
                let pointer = self.lower_value(place)?;
                let known = self.t.b.type_of(pointer);
                match known.and_then(|ty| self.t.pointee_of(ty)) {
                    Some((_, ty)) => ty,
                    None => return Err(make_refusal("the first argument is not a pointer")),
                }
            }
        };
        let pointer = self.lower_pointer(place, ty)?;
        let id = self.t.b.append_value(op, ty, words);
        self.t
            .b
            .append_effect(Op::Store, &[pointer.word(), id.word()]);
        Ok(())
    }

    /// An operand. Instructions on Booleans get Booleans.
    fn spirv_operand(
        &mut self,
        op: Op,
        call: &ExternalCall<'_>,
        index: usize,
        position: usize,
    ) -> LlvmResult<Id> {
        if (op.is_atomic() || matches!(op, Op::Load | Op::Store)) && position == 0 {
            let ty = self.accessed_type(op, call)?;
            let result = self.t.find_shape(self.function.inst(call.inst).ty);
            if result.is_some_and(|shape| shape.elem == NumericElement::Brain) {
                return Err(make_refusal(
                    "atomic operations on bfloat have no counterpart in SPIR-V",
                ));
            }
            return self.lower_pointer(call.arg(0)?, ty);
        }
        if op == Op::Store && position == 1 {
            return self.in_memory(call.args[index]);
        }
        if op == Op::GroupAsyncCopy && matches!(position, 3 | 4) {
            return self.size_argument(call, index);
        }
        if op == Op::CooperativeMatrixLengthKHR {
            let ty = self.type_of(call.args[index]);
            return self.t.register_type(ty);
        }
        let is_matrix_access = matches!(
            op,
            Op::CooperativeMatrixLoadKHR | Op::CooperativeMatrixStoreKHR
        );
        if is_matrix_access && position == 0 && self.is_address(call.args[index]) {
            let part = self.matrix_component(op, call)?;
            return self.address_to_pointer(call.args[index], part);
        }
        let id = self.lower_argument(call, index)?;
        let votes = matches!(
            op,
            Op::GroupAll | Op::GroupAny | Op::GroupNonUniformAll | Op::GroupNonUniformAny
        );
        let shape = self.t.find_shape(self.type_of(call.args[index]));
        match shape {
            Some(shape) if shape.elem == NumericElement::Int && votes && index > 0 => {
                match self.t.module.as_u64(call.args[index]) {
                    Some(known) => Ok(self.t.b.constant_bool(known != 0)),
                    None => Ok(self.is_nonzero(shape, id)),
                }
            }
            _ => Ok(id),
        }
    }

    /// The component type of the cooperative matrix that is loaded or stored.
    fn matrix_component(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let matrix = match op {
            Op::CooperativeMatrixStoreKHR => self.type_of(call.arg(1)?),
            _ => self.function.inst(call.inst).ty,
        };
        match self.t.module.types.kind(matrix) {
            LlvmTypeKind::Target { types, .. } if types.len() == 1 => {
                let component = types[0];
                self.t.memory_type(component)
            }
            _ => Err(make_refusal(
                "the loaded or stored value is not a cooperative matrix",
            )),
        }
    }

    /// The type that an atomic instruction accesses.
    fn accessed_type(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        match op {
            Op::AtomicFlagTestAndSet | Op::AtomicFlagClear => Ok(self.t.b.int_type(32, false)),
            Op::AtomicStore => {
                let shape = self.shape_of(call.arg(3)?)?;
                Ok(self.t.shape_type(shape))
            }
            Op::Store => {
                let ty = self.type_of(call.arg(1)?);
                self.t.memory_type(ty)
            }
            Op::Load => self.t.memory_type(self.function.inst(call.inst).ty),
            _ => self.call_type(call),
        }
    }

    /// `AbortKHR(message)`: it ends its block, so the code after it is unreachable.
    fn lower_abort(&mut self, call: &ExternalCall<'_>) -> LlvmResult<()> {
        let message = self.lower_value(call.arg(0)?)?;
        let Some(ty) = self.t.b.type_of(message) else {
            return Err(make_refusal("the message has no type"));
        };
        let words = [ty, message].map(Id::word);
        self.t.b.append_effect(Op::AbortKHR, &words);
        let after = self.t.b.fresh_id();
        self.begin_block(after);
        Ok(())
    }

    /// `GenericCastToPtr_ToSPACE(pointer, space)`
    fn lower_generic_cast(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let ty = self.call_type(call)?;
        let Some((class, pointee)) = self.t.pointee_of(ty) else {
            return Err(make_refusal("the result is not a pointer"));
        };
        let pointer = self.lower_pointer(call.arg(0)?, pointee)?;
        self.cast_space(pointer, class)
    }

    /// `SpecConstant(number, default)`
    fn lower_spec_constant(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let number = self.constant_argument(call, 0)? as u32;
        let shape = self.result_shape(call.inst)?;
        let default = call.arg(1)?.as_const();
        let bits = default.and_then(|c| match *self.t.module.consts.kind(c) {
            ConstKind::Int(bits) | ConstKind::Float(bits) => Some(bits),
            _ => None,
        });
        let (Some(bits), 1) = (bits, shape.lanes) else {
            return Err(make_refusal("the default must be a constant number"));
        };
        Ok(self.t.make_spec_constant(number, shape, bits))
    }

    /// `SpecConstantComposite(members…)`
    fn lower_spec_composite(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let ty = self.call_type(call)?;
        let mut words = Vec::with_capacity(call.args.len());
        for &argument in call.args {
            words.push(self.in_memory(argument)?.word());
        }
        Ok(self.t.b.append_value(Op::CompositeConstruct, ty, &words))
    }

    fn spirv_result(&mut self, op: Op, words: &[u32], call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.t.find_shape(self.function.inst(call.inst).ty);
        if let Some(shape) = shape
            && has_boolean_result(op)
            && shape.elem != NumericElement::Bool
        {
            let ty = self.t.shape_type(shape.as_bool());
            let truth = self.t.b.append_value(op, ty, words);
            return self.as_result(truth, call);
        }
        if op == Op::Load {
            let ty = self.function.inst(call.inst).ty;
            let memory = self.t.memory_type(ty)?;
            let id = self.t.b.append_value(op, memory, words);
            return self.convert_to_register(ty, id);
        }
        let ty = match op {
            // The stated type of the result is ignored.
            Op::SampledImage => {
                let image = Id::new(words[0]).and_then(|id| self.t.b.type_of(id));
                let image =
                    image.ok_or_else(|| make_refusal("the first argument is not an image"))?;
                self.t.b.declare_type(Op::TypeSampledImage, &[image.word()])
            }
            _ => self.call_type(call)?,
        };
        Ok(self.t.b.append_value(op, ty, words))
    }
}

/// Whether a demangled name with the prefix `__spirv_` denotes an entity of SPIR-V. Every name in
/// the form of an instruction's does, even if there is no such instruction.
pub(super) fn is_friendly(name: &str) -> bool {
    let Some(name) = name.strip_prefix("__spirv_") else {
        return false;
    };
    if ["BuiltIn", "ocl_", "glsl_"]
        .iter()
        .any(|p| name.starts_with(p))
    {
        return true;
    }
    let stem = name.split('_').next().unwrap_or(name);
    stem.starts_with(|c: char| c.is_ascii_uppercase())
        && (stem == name || Op::by_name(stem).is_some())
}

/// Whether the result of an instruction is a Boolean for all operands.
fn has_boolean_result(op: Op) -> bool {
    let range = Op::Any.0..=Op::FUnordGreaterThanEqual.0;
    let selects = op == Op::Select;
    (range.contains(&op.0) && !selects)
        || matches!(
            op,
            Op::GroupAll
                | Op::GroupAny
                | Op::GroupNonUniformElect
                | Op::GroupNonUniformAll
                | Op::GroupNonUniformAny
                | Op::GroupNonUniformInverseBallot
                | Op::GroupNonUniformAllEqual
                | Op::AtomicFlagTestAndSet
        )
}

/// A name without its suffixes. These are rounding, saturation, and those that repeat the type of
/// the result (`_Rfloat4`, `_ToGlobal`). No instruction has an underscore in its name.
fn strip_suffixes(name: &str) -> (&str, bool, Option<FPRoundingMode>) {
    let (rest, rounding) = split_rounding(name);
    let mut parts = rest.split('_');
    let stem = parts.next().unwrap_or(rest);
    (stem, parts.any(|part| part == "sat"), rounding)
}
