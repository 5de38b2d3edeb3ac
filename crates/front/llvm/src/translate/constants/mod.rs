//! Constants.
//!
//! Every constant becomes one instruction at module scope, and so does every constant expression
//! (`OpSpecConstantOp`). So a constant can be used wherever LLVM permits it, including as operand
//! of a phi.

pub(super) mod constant_table;
mod expressions;
mod long_arrays;
mod specialisation;

use super::translator::LlvmTranslator;
use crate::ir::{ConstKind, GlobalKind, LlvmConst, LlvmFunc, LlvmType};
use crate::translate::call_rules::LlvmCallee;
use crate::translate::shapes::{NumericElement, NumericShape, make_width_mask};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Nesting of constants beyond which they are refused.
const MAX_DEPTH: u32 = 255;

/// Number of members beyond which a constant's instruction would be too long.
const MAX_MEMBERS: usize = 65_532;

impl LlvmTranslator<'_> {
    /// A constant in register form. A pointer has its natural pointee type.
    pub(in crate::translate) fn lower_constant(&mut self, constant: LlvmConst) -> LlvmResult<Id> {
        if let Some(id) = self.consts.register[constant.index()] {
            return Ok(id);
        }
        let id = self.make_nested(|t| t.make_register(constant))?;
        self.consts.register[constant.index()] = Some(id);
        Ok(id)
    }

    /// A constant in memory form.
    pub(in crate::translate) fn constant_in_memory(
        &mut self,
        constant: LlvmConst,
    ) -> LlvmResult<Id> {
        if let Some(id) = self.consts.memory[constant.index()] {
            return Ok(id);
        }
        let id = self.make_nested(|t| t.make_memory(constant))?;
        self.consts.memory[constant.index()] = Some(id);
        Ok(id)
    }

    /// A constant pointer to a type in memory form.
    pub(in crate::translate) fn constant_pointer(
        &mut self,
        constant: LlvmConst,
        pointee: Id,
    ) -> LlvmResult<Id> {
        let ty = self.module.consts.ty(constant);
        let space = self.module.types.address_space(ty).unwrap_or(0);
        let class = self.storage_class(space)?;
        match self.module.consts.kind(constant) {
            ConstKind::Null => {
                let ty = self.pointer_type(class, pointee);
                Ok(self.b.constant_null(ty))
            }
            ConstKind::Undef | ConstKind::Poison => {
                let ty = self.pointer_type(class, pointee);
                Ok(self.b.declare_undef(ty))
            }
            _ => {
                let id = self.lower_constant(constant)?;
                Ok(self.cast_constant_pointer(id, pointee))
            }
        }
    }

    /// Casts a pointer at module scope to another pointee type.
    fn cast_constant_pointer(&mut self, id: Id, pointee: Id) -> Id {
        let Some((class, have)) = self.b.type_of(id).and_then(|ty| self.pointee_of(ty)) else {
            return id;
        };
        if have == pointee {
            return id;
        }
        let ty = self.pointer_type(class, pointee);
        match self.path_to_first(have, pointee) {
            Some(steps) => {
                let zero = self.b.constant_u32(0);
                let mut words = vec![id.word()];
                words.extend(std::iter::repeat_n(zero.word(), steps));
                self.emit_spec_op(Op::InBoundsAccessChain, ty, &words)
            }
            None => self.emit_spec_op(Op::Bitcast, ty, &[id.word()]),
        }
    }

    fn emit_spec_op(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let mut words = vec![u32::from(op.0)];
        words.extend_from_slice(operands);
        let id = self.b.declare_constant(Op::SpecConstantOp, ty, &words);
        self.consts.special.set(id, true);
        id
    }

    fn make_composite(&mut self, ty: Id, members: &[Id]) -> Id {
        if !members.iter().any(|id| self.consts.special[*id]) {
            return self.b.constant_composite(ty, members);
        }
        let words: Vec<u32> = members.iter().map(|id| id.word()).collect();
        let id = self
            .b
            .declare_constant(Op::SpecConstantComposite, ty, &words);
        self.consts.special.set(id, true);
        id
    }

    fn make_nested(&mut self, make: impl FnOnce(&mut Self) -> LlvmResult<Id>) -> LlvmResult<Id> {
        if self.consts.depth >= MAX_DEPTH {
            return Err(make_refusal("constants are nested too deeply"));
        }
        self.consts.depth += 1;
        let made = make(self);
        self.consts.depth -= 1;
        made
    }

    fn make_register(&mut self, constant: LlvmConst) -> LlvmResult<Id> {
        let module = self.module;
        let data = module.consts.get(constant);
        if let ConstKind::Expr(expr) = &data.kind {
            return match self.computed_number(constant, data.ty) {
                Some(id) => Ok(id),
                None => self.lower_expression(data.ty, expr),
            };
        }
        if let Some(shape) = self.find_shape(data.ty) {
            return self.lower_number(shape, data.ty, constant);
        }
        if let Some(wide) = self.find_wide_type(data.ty) {
            return self.wide_composite(constant, wide);
        }
        match &data.kind {
            ConstKind::Null => {
                let ty = self.register_type(data.ty)?;
                Ok(self.b.constant_null(ty))
            }
            ConstKind::Global(global) => match module.global(*global).kind {
                GlobalKind::Variable(_) => {
                    let id = self.translate_global_variable(*global)?;
                    let space = module.types.address_space(data.ty);
                    self.as_generic(id, space.unwrap_or(module.global(*global).space))
                }
                GlobalKind::Alias(target) => match target.0 {
                    Some(target) => self.lower_constant(target),
                    None => Err(make_refusal("an alias without a target")),
                },
                GlobalKind::Function(func) => {
                    let id = self.function_pointer(func)?;
                    let space = module.types.address_space(data.ty);
                    self.as_generic(id, space.unwrap_or(module.global(*global).space))
                }
                GlobalKind::Ifunc(_) => Err(make_refusal(format!(
                    "the function {} is selected at load time",
                    module.symbol_text(module.global(*global).name)
                ))),
            },
            _ => self.constant_in_memory(constant),
        }
    }

    /// The integer value of an expression in which all addresses cancel.
    fn computed_number(&mut self, constant: LlvmConst, ty: LlvmType) -> Option<Id> {
        let shape = self.find_shape(ty)?;
        if shape.elem != NumericElement::Int || shape.lanes != 1 || shape.bits > 64 {
            return None;
        }
        let form = self
            .consts
            .address_forms
            .find_layout(self.module, constant)?;
        let number = form.as_number()? & make_width_mask(shape.bits);
        let id = self.shape_type(shape);
        Some(self.scalar_constant(id, shape.width, number))
    }

    /// The address of a function: of the extension SPV_INTEL_function_pointers.
    fn function_pointer(&mut self, func: LlvmFunc) -> LlvmResult<Id> {
        if !matches!(*self.find_callee(func), LlvmCallee::Function) {
            return Err(make_refusal(format!(
                "the address of the built-in function {} is taken",
                self.module.function_name(func)
            )));
        }
        let data = self.module.global(self.module.function(func).global);
        // Blocks are called by name, never through the addresses in their literals.
        if self.module.function_name(func).contains("_block_invoke") {
            let class = self.storage_class(data.space)?;
            let byte = self.make_byte_type();
            let ty = self.pointer_type(class, byte);
            return Ok(self.b.constant_null(ty));
        }
        let signature = self.intern_signature(func)?;
        let class = match self.storage_class(data.space)? {
            // The class that a function's address is cast from.
            StorageClass::Generic => StorageClass::Function,
            class => class,
        };
        let ty = self.pointer_type(class, signature.ty);
        let words = [signature.id.word()];
        Ok(self
            .b
            .declare_constant(Op::ConstantFunctionPointerINTEL, ty, &words))
    }

    /// A pointer at module scope as a generic one, if that is its address space.
    fn as_generic(&mut self, id: Id, space: u32) -> LlvmResult<Id> {
        let known = self.b.type_of(id).and_then(|ty| self.pointee_of(ty));
        match (known, self.storage_class(space)?) {
            (Some((_, pointee)), StorageClass::Generic) => {
                let ty = self.pointer_type(StorageClass::Generic, pointee);
                Ok(self.emit_spec_op(Op::PtrCastToGeneric, ty, &[id.word()]))
            }
            _ => Ok(id),
        }
    }

    fn lower_number(
        &mut self,
        shape: NumericShape,
        ty: LlvmType,
        constant: LlvmConst,
    ) -> LlvmResult<Id> {
        let module = self.module;
        let id = self.shape_type(shape);
        match module.consts.kind(constant) {
            ConstKind::Int(value) if shape.elem == NumericElement::Bool => {
                Ok(self.b.constant_bool(*value != 0))
            }
            ConstKind::Int(bits) | ConstKind::Float(bits) => {
                Ok(self.scalar_constant(id, shape.width, *bits))
            }
            ConstKind::Zero | ConstKind::Null => Ok(self.make_zero(shape)),
            ConstKind::Wide(words) if shape.width > 64 => {
                Ok(self.wide_constant(id, shape.width, words))
            }
            ConstKind::Undef | ConstKind::Poison => Ok(self.b.declare_undef(id)),
            ConstKind::Data(_) => {
                let bits: Vec<u64> = module
                    .consts
                    .data_elements(&module.types, constant)
                    .into_iter()
                    .flatten()
                    .collect();
                let scalar = self.shape_type(shape.to_scalar());
                let lanes = bits
                    .iter()
                    .map(|bits| self.scalar_constant(scalar, shape.width, *bits))
                    .collect();
                Ok(self.compose_constant_lanes(shape, lanes))
            }
            ConstKind::Aggregate(elements) => {
                let mut lanes = Vec::with_capacity(elements.len());
                for element in elements {
                    lanes.push(self.lower_constant(*element)?);
                }
                Ok(self.compose_constant_lanes(shape, lanes))
            }
            _ => Err(self.no_type(ty)),
        }
    }

    /// A number by its bits. Zero is the null constant of its type, as for all other types.
    pub(in crate::translate) fn scalar_constant(&mut self, ty: Id, width: u32, bits: u64) -> Id {
        match bits {
            0 => self.b.constant_null(ty),
            // All bits of a wider integer.
            u64::MAX if width > 64 => {
                let words = vec![u64::MAX; width.div_ceil(64) as usize];
                self.wide_constant(ty, width, &words)
            }
            _ if width > 64 => self.wide_constant(ty, width, &[bits]),
            _ => self.b.constant_bits(ty, width, bits),
        }
    }

    /// An integer of more than 64 bits, least significant word first.
    fn wide_constant(&mut self, ty: Id, width: u32, words: &[u64]) -> Id {
        let halves = words.iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]);
        let count = width.div_ceil(32) as usize;
        let mut words: Vec<u32> = halves.chain(std::iter::repeat(0)).take(count).collect();
        if let (Some(last), rest @ 1..) = (words.last_mut(), width % 32) {
            *last &= (1 << rest) - 1;
        }
        self.b.declare_constant(Op::Constant, ty, &words)
    }

    /// An integer constant as an index. Members of structures can only be selected by `OpConstant`.
    pub(in crate::translate) fn index_constant(&mut self, constant: LlvmConst) -> Option<Id> {
        let ConstKind::Int(bits) = *self.module.consts.kind(constant) else {
            return None;
        };
        if let known @ Some(_) = self.consts.indices[constant.index()] {
            return known;
        }
        let shape = self.find_shape(self.module.consts.ty(constant))?;
        if shape.elem != NumericElement::Int || shape.is_odd() {
            return None;
        }
        let ty = self.shape_type(shape);
        let id = self.b.constant_bits(ty, shape.width, bits);
        self.consts.indices[constant.index()] = Some(id);
        Some(id)
    }

    /// Zero of a shape.
    pub(in crate::translate) fn make_zero(&mut self, shape: NumericShape) -> Id {
        match (shape.elem, shape.padded) {
            (NumericElement::Bool, 1) => self.b.constant_bool(false),
            (_, 1) => self.make_splat(shape, 0),
            _ => {
                let ty = self.shape_type(shape);
                self.b.constant_null(ty)
            }
        }
    }

    /// The same bits in every lane.
    pub(in crate::translate) fn make_splat(&mut self, shape: NumericShape, bits: u64) -> Id {
        let ty = self.shape_type(shape.to_scalar());
        let lane = match shape.elem {
            NumericElement::Bool => self.b.constant_bool(bits != 0),
            _ => self.scalar_constant(ty, shape.width, bits & make_width_mask(shape.width)),
        };
        let lanes = vec![lane; shape.lanes as usize];
        self.compose_constant_lanes(shape, lanes)
    }

    /// The float 1.0 or -1.0 in every lane.
    pub(in crate::translate) fn splat_one(&mut self, shape: NumericShape, negative: bool) -> Id {
        let (bits, sign) = match shape.width {
            16 if shape.elem == NumericElement::Brain => (0x3f80, 1 << 15),
            16 => (0x3c00, 1 << 15),
            32 => (0x3f80_0000, 1 << 31),
            _ => (0x3ff0_0000_0000_0000, 1 << 63),
        };
        self.make_splat(shape, if negative { bits | sign } else { bits })
    }

    fn compose_constant_lanes(&mut self, shape: NumericShape, mut lanes: Vec<Id>) -> Id {
        if shape.padded == 1 {
            return lanes[0];
        }
        if lanes.len() < shape.padded as usize {
            let pad = self.make_zero(shape.to_scalar());
            lanes.resize(shape.padded as usize, pad);
        }
        let ty = self.shape_type(shape);
        self.make_composite(ty, &lanes)
    }

    fn make_memory(&mut self, constant: LlvmConst) -> LlvmResult<Id> {
        let module = self.module;
        let data = module.consts.get(constant);
        let ty = self.memory_type(data.ty)?;
        match &data.kind {
            ConstKind::Null | ConstKind::Zero => Ok(self.b.constant_null(ty)),
            ConstKind::Int(literal) if self.is_sampler(data.ty) => {
                Ok(self.literal_sampler(*literal))
            }
            ConstKind::Undef | ConstKind::Poison => Ok(self.b.declare_undef(ty)),
            ConstKind::Int(value) if data.ty == LlvmType::I1 => {
                Ok(self.b.constant_bits(ty, 8, *value))
            }
            _ if self
                .find_shape(data.ty)
                .is_some_and(|s| s.to_packed().is_some()) =>
            {
                self.pack_booleans(ty, constant)
            }
            _ if self.find_shape(data.ty).is_some() || self.find_wide_type(data.ty).is_some() => {
                self.lower_constant(constant)
            }
            ConstKind::Data(_) => self.lower_data(constant, ty),
            ConstKind::Aggregate(elements) => {
                check_members(elements.len())?;
                let mut members = Vec::with_capacity(elements.len());
                for element in elements {
                    members.push(self.constant_in_memory(*element)?);
                }
                Ok(self.make_composite(ty, &members))
            }
            _ if module.types.is_pointer_like(data.ty) => {
                let byte = self.make_byte_type();
                let id = self.constant_pointer(constant, byte)?;
                Ok(self.as_constituent(id, ty))
            }
            _ => Err(make_refusal(
                "a constant of this kind has no counterpart in SPIR-V",
            )),
        }
    }

    /// A vector of Booleans as the integer of its bits.
    fn pack_booleans(&mut self, ty: Id, constant: LlvmConst) -> LlvmResult<Id> {
        let module = self.module;
        let ConstKind::Aggregate(elements) = module.consts.kind(constant) else {
            return Err(make_refusal("a vector of Booleans that are not constant"));
        };
        let mut bits = 0;
        for (lane, element) in elements.iter().enumerate() {
            if module.consts.as_u64(*element) == Some(1) {
                bits |= 1 << lane;
            }
        }
        let width = elements.len().next_power_of_two().max(8) as u32;
        Ok(self.b.constant_bits(ty, width, bits))
    }

    /// A pointer as a member of a constant. Variables cannot be members directly.
    fn as_constituent(&mut self, id: Id, ty: Id) -> Id {
        if !self.is_variable(id) {
            return id;
        }
        let zero = self.b.constant_u32(0);
        self.emit_spec_op(Op::InBoundsPtrAccessChain, ty, &[id.word(), zero.word()])
    }

    fn lower_data(&mut self, constant: LlvmConst, ty: Id) -> LlvmResult<Id> {
        let members = self.data_members(constant)?;
        check_members(members.len())?;
        Ok(self.make_composite(ty, &members))
    }

    /// The elements of plain numbers.
    fn data_members(&mut self, constant: LlvmConst) -> LlvmResult<Vec<Id>> {
        let module = self.module;
        let element = module.types.element_type(module.consts.ty(constant), 0);
        let Some(shape) = element.and_then(|ty| self.find_shape(ty)) else {
            return Err(make_refusal(
                "a constant of this kind has no counterpart in SPIR-V",
            ));
        };
        let bits = module.consts.data_elements(&module.types, constant);
        let scalar = self.shape_type(shape);
        Ok(bits
            .into_iter()
            .flatten()
            .map(|bits| self.scalar_constant(scalar, shape.width, bits))
            .collect())
    }
}

fn check_members(count: usize) -> LlvmResult<()> {
    if count > MAX_MEMBERS {
        return Err(make_refusal(format!(
            "a constant of {count} members is too large"
        )));
    }
    Ok(())
}
