//! Addresses: access chains, casts and comparisons of pointers.

use super::ClifResult;
use super::lowering::{ClifLowering, IdLocation, PointeeInfo, SymbolicPointer, invariant_flags};
use super::values::PointerOperand;
use crate::module::types::{LoweredTypeKind, MatrixStrides};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Opcode, Value, types};
use cranelift_frontend::Variable;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::InstRef;

/// `OpAccessChain` and its relatives.
pub(crate) fn access_chain(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let untyped = inst.op().is_untyped_access_chain();
    let by_element = inst.op().selects_element();
    let (base, first) = if untyped {
        (inst.id_operand(1), 2)
    } else {
        (inst.id_operand(0), 1)
    };
    let pointee = if untyped {
        Some(inst.id_operand(0))
    } else {
        lower.program.pointee_of(base)
    };
    let Some(pointee) = pointee else {
        return lower.fail_unsupported("an access chain on this pointer");
    };
    let Some(result) = inst.result() else {
        return Ok(());
    };
    let indexes: Vec<Id> = inst.id_operands(first).collect();
    let (element, indexes) = match (by_element, indexes.split_first()) {
        (true, Some((element, rest))) => (Some(*element), rest.to_vec()),
        _ => (None, indexes),
    };
    let pointer = lower.read_pointer(base)?;
    if let PointerOperand::Symbol(symbol) = pointer
        && element.is_none()
        && lower.symbolic_chain(result, symbol, pointee, &indexes)?
    {
        return Ok(());
    }
    let mut walk = lower.begin_walk(pointer, pointee)?;
    walk.reach = lower.reach_of(base);
    if let Some(element) = element {
        let stride = lower.program.element_stride(base, pointee);
        lower.step_by_index(&mut walk, element, true, stride)?;
    }
    if let (PointerOperand::Entry(entry), None, true) = (pointer, element, indexes.is_empty()) {
        lower.set_values(result, &[entry]);
        let pointed = PointeeInfo {
            strides: None,
            is_entry: true,
        };
        lower.set_pointee_info(result, pointed);
        return Ok(());
    }
    for index in &indexes {
        lower.walk_index(&mut walk, *index)?;
    }
    lower.finish_walk(result, walk);
    Ok(())
}

/// A position within a value in memory.
struct AccessChainWalk {
    address: Value,
    offset: i64,
    ty: Id,
    strides: Option<MatrixStrides>,
    reach: IndexReach,
}

/// The range that indices from an address may reach.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IndexReach {
    /// Anywhere.
    Any,
    /// Within the guards of the memory. The first index has been truncated to 32 bits where `begun`.
    Guarded { begun: bool },
}

/// Widest elements to which an index of 32 bits stays within the guards of memory ([`crate::memory::thread_memory`]).
const MAX_GUARDED_STRIDE: u64 = 16;

impl ClifLowering<'_, '_, '_> {
    fn begin_walk(
        &mut self,
        pointer: PointerOperand,
        ty: Id,
    ) -> Result<AccessChainWalk, SourceDiagnostic> {
        let strides = match pointer {
            PointerOperand::Address(_, strides) => strides,
            _ => None,
        };
        Ok(AccessChainWalk {
            address: self.address_of(pointer)?,
            offset: 0,
            ty,
            strides,
            reach: IndexReach::Any,
        })
    }

    /// The range that indices from a pointer may reach. Memory that the device itself allocates lies between guards,
    /// and has less than 2^31 bytes. Hooks that find outside accesses compare indices as they are.
    fn reach_of(&self, pointer: Id) -> IndexReach {
        if self.is_in_guarded_memory(pointer) {
            IndexReach::Guarded { begun: false }
        } else {
            IndexReach::Any
        }
    }

    /// Whether a pointer leads to memory between guards which indices of 32 bits do not reach across.
    pub fn is_in_guarded_memory(&self, pointer: Id) -> bool {
        let ty = self
            .program
            .type_of(pointer)
            .map(|ty| self.program.types.kind(ty));
        let guarded = matches!(
            ty,
            Some(LoweredTypeKind::Pointer {
                class: StorageClass::Workgroup | StorageClass::Function | StorageClass::Private,
                ..
            })
        );
        guarded && !self.hooks().finds_outside_accesses()
    }

    /// The low half of a 64-bit number, sign-extended. A number that was extended from a narrower one stays.
    pub fn cut_to_half(&mut self, number: Value) -> Value {
        let dfg = &self.builder.func.dfg;
        let made = dfg.value_def(dfg.resolve_aliases(number)).inst();
        let widens = |inst| matches!(dfg.insts[inst].opcode(), Opcode::Uextend | Opcode::Sextend);
        if made.is_some_and(widens) {
            return number;
        }
        let half = self.builder.ins().ireduce(types::I32, number);
        self.builder.ins().sextend(types::I64, half)
    }

    fn finish_walk(&mut self, result: Id, walk: AccessChainWalk) {
        let offset = match walk.reach {
            IndexReach::Any => walk.offset,
            IndexReach::Guarded { .. } => i64::from(walk.offset as i32),
        };
        let address = match offset {
            0 => walk.address,
            _ => self.builder.ins().iadd_imm_s(walk.address, offset),
        };
        self.set_values(result, &[address]);
        let pointed = PointeeInfo {
            strides: walk.strides,
            is_entry: false,
        };
        self.set_pointee_info(result, pointed);
    }

    fn walk_index(&mut self, walk: &mut AccessChainWalk, index: Id) -> ClifResult {
        let types = &self.program.types;
        let next = match types.kind(walk.ty) {
            LoweredTypeKind::Struct { count, .. } => {
                let n = self.read_constant(index)?;
                if n >= u64::from(count) {
                    return Err(self.instruction_fault(format!("there is no member {n}")));
                }
                let (offset, strides) = types.part_offset(walk.ty, n, walk.strides);
                walk.offset = walk.offset.wrapping_add(offset as i64);
                walk.strides = strides;
                types.find_part(walk.ty, n as u32).map(|part| part.0)
            }
            LoweredTypeKind::Array { element, .. } | LoweredTypeKind::RuntimeArray { element } => {
                Some(element)
            }
            LoweredTypeKind::Vector { component, .. } => Some(component),
            LoweredTypeKind::Matrix { column, .. } => Some(column),
            _ => None,
        };
        if !matches!(types.kind(walk.ty), LoweredTypeKind::Struct { .. }) {
            let stride = types.part_stride(walk.ty, walk.strides);
            let count = match types.kind(walk.ty) {
                LoweredTypeKind::Array { count, .. } => Some(count),
                LoweredTypeKind::Vector { count, .. } => Some(count.into()),
                _ => None,
            };
            let signed = self.is_index_signed(index);
            self.step_by_index(walk, index, signed, stride)?;
            if let Some(count) = count {
                walk.address = self
                    .hooks()
                    .before_index(self, walk.address, index, count)?;
            }
        }
        match next {
            Some(ty) => walk.ty = ty,
            None => return self.fail_unsupported("an index into this type"),
        }
        Ok(())
    }

    /// Whether an index into an array may be below zero. Where outside accesses are found, an index that wrapped counts as
    /// one below zero.
    fn is_index_signed(&self, index: Id) -> bool {
        self.hooks().finds_outside_accesses() || self.program.is_index_signed(index)
    }

    /// Advances the address by a number of strides, which may be negative.
    fn step_by_index(
        &mut self,
        walk: &mut AccessChainWalk,
        index: Id,
        signed: bool,
        stride: u64,
    ) -> ClifResult {
        if let Some(n) = self.program.constant_index(index, signed) {
            walk.offset = walk.offset.wrapping_add(n.wrapping_mul(stride as i64));
            return Ok(());
        }
        let index = self.read_value(index)?;
        let mut index = self.extend_to(index, types::I64, signed);
        let is_first = walk.reach == IndexReach::Guarded { begun: false };
        let cuts_index = is_first && stride <= MAX_GUARDED_STRIDE;
        if cuts_index {
            index = self.cut_to_half(index);
            walk.reach = IndexReach::Guarded { begun: true };
        }
        let mut bytes = if stride.is_power_of_two() {
            let shift = i64::from(stride.trailing_zeros());
            self.builder.ins().ishl_imm_u(index, shift)
        } else {
            self.builder.ins().imul_imm_s(index, stride as i64)
        };
        if walk.reach != IndexReach::Any && !cuts_index {
            bytes = self.cut_to_half(bytes);
        }
        walk.address = self.builder.ins().iadd(walk.address, bytes);
        Ok(())
    }

    /// An access chain on a pointer that is no address; false where it has to become one.
    fn symbolic_chain(
        &mut self,
        result: Id,
        symbol: SymbolicPointer,
        pointee: Id,
        indexes: &[Id],
    ) -> Result<bool, SourceDiagnostic> {
        match symbol {
            SymbolicPointer::Promoted { first } => {
                let (mut ty, mut at) = (pointee, 0);
                for index in indexes {
                    let n = self.read_constant(*index)?;
                    let part = u32::try_from(n).ok();
                    let part = part.and_then(|n| self.program.types.find_part(ty, n));
                    let Some(part) = part else {
                        return Err(self.instruction_fault(format!("there is no part {n}")));
                    };
                    (ty, at) = (part.0, at + part.1);
                }
                let first = Variable::from_u32(first.as_u32() + at as u32);
                self.set_id_location(
                    result,
                    IdLocation::Symbol(SymbolicPointer::Promoted { first }),
                );
                Ok(true)
            }
            SymbolicPointer::BuiltIn {
                variable,
                component: None,
            } => {
                let [index] = indexes else { return Ok(false) };
                let Some(n) = self.program.constants.get_u64(*index) else {
                    return Ok(false);
                };
                let component = Some(n as u32);
                self.set_id_location(
                    result,
                    IdLocation::Symbol(SymbolicPointer::BuiltIn {
                        variable,
                        component,
                    }),
                );
                Ok(true)
            }
            SymbolicPointer::BuiltIn { .. } => Ok(false),
            SymbolicPointer::Bindings { binding } => {
                self.binding_chain(result, binding, pointee, indexes)?;
                Ok(true)
            }
        }
    }

    /// The first index chooses the binding of the array.
    fn binding_chain(
        &mut self,
        result: Id,
        binding: u32,
        pointee: Id,
        indexes: &[Id],
    ) -> ClifResult {
        let Some((first, rest)) = indexes.split_first() else {
            self.set_id_location(
                result,
                IdLocation::Symbol(SymbolicPointer::Bindings { binding }),
            );
            return Ok(());
        };
        let (LoweredTypeKind::Array { element, .. } | LoweredTypeKind::RuntimeArray { element }) =
            self.program.types.kind(pointee)
        else {
            return self.fail_unsupported("this array of bindings");
        };
        let bindings =
            self.load_context_field(types::I64, crate::layout::launch_context::at::BINDINGS);
        let offset = i32::try_from(binding * 16).unwrap_or(0);
        let table = self
            .builder
            .ins()
            .load(types::I64, invariant_flags(), bindings, offset);
        let index = self.read_value(*first)?;
        let index = self.extend_to(index, types::I64, false);
        let bytes = self.builder.ins().ishl_imm_u(index, 4);
        let entry = self.builder.ins().iadd(table, bytes);
        if rest.is_empty() {
            self.set_values(result, &[entry]);
            let pointed = PointeeInfo {
                strides: None,
                is_entry: true,
            };
            self.set_pointee_info(result, pointed);
            return Ok(());
        }
        let mut walk = self.begin_walk(PointerOperand::Entry(entry), element)?;
        for index in rest {
            self.walk_index(&mut walk, *index)?;
        }
        self.finish_walk(result, walk);
        Ok(())
    }
}

/// `OpArrayLength` and `OpUntypedArrayLengthKHR`.
pub(crate) fn array_length(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let untyped = inst.op() == Op::UntypedArrayLengthKHR;
    let (structure, pointer, member) = if untyped {
        (
            Some(inst.id_operand(0)),
            inst.id_operand(1),
            inst.operand_word(2),
        )
    } else {
        let structure = lower.program.pointee_of(inst.id_operand(0));
        (structure, inst.id_operand(0), inst.operand_word(1))
    };
    let PointerOperand::Entry(entry) = lower.read_pointer(pointer)? else {
        return lower.fail_unsupported("the length of an array behind this pointer");
    };
    let types = &lower.program.types;
    let part = structure.and_then(|s| Some((s, types.find_part(s, member)?.0)));
    let Some((structure, array)) = part else {
        return Err(lower.instruction_fault(format!("there is no member {member}")));
    };
    let (offset, _) = types.part_offset(structure, member.into(), None);
    let stride = types.layouts.get(array).stride.max(1);
    let length = lower
        .builder
        .ins()
        .load(types::I64, invariant_flags(), entry, 8);
    let rest = lower.builder.ins().iadd_imm_s(length, -(offset as i64));
    let none = lower.emit_iconst(types::I64, 0);
    let short = lower
        .builder
        .ins()
        .icmp_imm_u(IntCC::UnsignedLessThan, length, offset as i64);
    let rest = lower.builder.ins().select(short, none, rest);
    let count = lower.builder.ins().udiv_imm_u(rest, stride as i64);
    let count = lower.builder.ins().ireduce(types::I32, count);
    lower.set_result(inst.result(), &[count])
}

/// Casts between pointers, and copies of them.
pub(crate) fn lower_pointer_copy(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (Some(result), operand) = (inst.result(), inst.id_operand(0)) else {
        return Ok(());
    };
    let ty = lower.result_type(inst)?;
    if lower.is_large(ty) {
        let address = lower.large_value_address(operand)?;
        return lower.set_large(inst, ty, address);
    }
    if let (Op::CopyObject, IdLocation::Symbol(symbol)) = (inst.op(), lower.id_location(operand)) {
        lower.set_id_location(result, IdLocation::Symbol(symbol));
        return Ok(());
    }
    let values = lower.read_values(operand)?;
    lower.set_values(result, &values);
    let mut pointed = lower.pointee_info(operand);
    pointed.is_entry = false;
    lower.set_pointee_info(result, pointed);
    Ok(())
}

/// `OpConvertPtrToU` and `OpConvertUToPtr`.
pub(crate) fn lower_pointer_conversion(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let to = super::lowering::clif_type(lower.component_scalar(ty)?);
    let value = lower.read_value(inst.id_operand(0))?;
    let value = lower.resize_integer(value, to, false);
    lower.set_result(inst.result(), &[value])
}

/// `OpPtrEqual`, `OpPtrNotEqual`.
pub(crate) fn lower_pointer_compare(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (a, b) = (
        lower.read_value(inst.id_operand(0))?,
        lower.read_value(inst.id_operand(1))?,
    );
    let condition = if inst.op() == Op::PtrEqual {
        IntCC::Equal
    } else {
        IntCC::NotEqual
    };
    let result = lower.builder.ins().icmp(condition, a, b);
    lower.set_result(inst.result(), &[result])
}

/// `OpPtrDiff`: in elements.
pub(crate) fn lower_pointer_difference(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let Some(pointee) = lower.program.pointee_of(inst.id_operand(0)) else {
        return lower.fail_unsupported("a difference of untyped pointers");
    };
    let stride = lower
        .program
        .element_stride(inst.id_operand(0), pointee)
        .max(1);
    let (a, b) = (
        lower.read_value(inst.id_operand(0))?,
        lower.read_value(inst.id_operand(1))?,
    );
    let bytes = lower.builder.ins().isub(a, b);
    let count = lower.builder.ins().sdiv_imm_s(bytes, stride as i64);
    let ty = lower.result_type(inst)?;
    let to = super::lowering::clif_type(lower.component_scalar(ty)?);
    let count = lower.resize_integer(count, to, true);
    lower.set_result(inst.result(), &[count])
}
