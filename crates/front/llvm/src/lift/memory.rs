//! Lifting of memory instructions: variables, loads, stores, copies and access chains.

use super::body::{FunctionLifter, LiftSource};
use super::lifted_entities::LiftedTypeShape;
use crate::ir::{
    InstructionExtra, LlvmAlign, LlvmInstFlags, LlvmOpcode, LlvmSymbol, LlvmType, LlvmTypeKind,
    LlvmValue, Ordering,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, MemoryAccess};

/// How memory is accessed.
struct LiftedAccess {
    align: LlvmAlign,
    flags: LlvmInstFlags,
    nontemporal: bool,
}

/// Memory operands that LLVM's loads and stores can express.
const EXPRESSIBLE: u32 =
    MemoryAccess::Volatile.0 | MemoryAccess::Aligned.0 | MemoryAccess::Nontemporal.0;

impl<'s> FunctionLifter<'_, 's> {
    /// A variable of the function.
    pub(super) fn lift_variable(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (pointee, initial) = match source.op {
            Op::UntypedVariableKHR => (source.read_id(1)?, source.iter_ids(2).next()),
            _ => (
                self.l.find_pointee(source.result_type()?)?,
                source.iter_ids(1).next(),
            ),
        };
        let pointer = self.result_type(source)?;
        let ty = self.l.find_type(pointee)?;
        let align = source.result.and_then(|id| {
            let words = self.l.find_decoration(id, Decoration::Alignment)?;
            LlvmAlign::from_bytes(words[0].into())
        });
        let align = align.unwrap_or(LlvmAlign::NONE);
        let one = LlvmValue::from_constant(self.l.make_i32(1));
        let extra = InstructionExtra::Alloca { ty, align };
        let place = self.push_with(
            LlvmOpcode::Alloca,
            LlvmInstFlags::NONE,
            pointer,
            &[one],
            extra,
        );
        if let Some(initial) = initial {
            let value = self.l.find_value(initial)?;
            let access = LiftedAccess {
                align,
                flags: LlvmInstFlags::NONE,
                nontemporal: false,
            };
            self.store_to(place, value, &access);
        }
        Ok(Some(place))
    }

    /// The memory operands from operand `n` on; `None` if LLVM cannot express them.
    fn read_memory_access(&self, words: &[u32]) -> Option<LiftedAccess> {
        let mask = words.first().copied().unwrap_or(0);
        if mask & !EXPRESSIBLE != 0 {
            return None;
        }
        let has = |bit: MemoryAccess| mask & bit.0 != 0;
        let align = has(MemoryAccess::Aligned).then(|| words.get(1)).flatten();
        let align = align.and_then(|bytes| LlvmAlign::from_bytes((*bytes).into()));
        let flags = if has(MemoryAccess::Volatile) {
            LlvmInstFlags::VOLATILE
        } else {
            LlvmInstFlags::NONE
        };
        Some(LiftedAccess {
            align: align.unwrap_or(LlvmAlign::NONE),
            flags,
            nontemporal: has(MemoryAccess::Nontemporal),
        })
    }

    fn access_extra(&self, access: &LiftedAccess, ty: LlvmType) -> InstructionExtra {
        // Layouts of shaders may violate the ABI alignments of LLVM's data layout.
        let align = match access.align {
            LlvmAlign::NONE if self.l.is_shader => self.least_align(ty),
            align => align,
        };
        InstructionExtra::Access {
            align,
            ordering: Ordering::NotAtomic,
            scope: LlvmSymbol::EMPTY,
        }
    }

    /// The alignment of scalars; none for aggregates.
    fn least_align(&self, ty: LlvmType) -> LlvmAlign {
        let types = &self.l.out.types;
        let scalar = types.scalar_type(ty);
        let width = types.int_width(scalar).or(types.float_width(scalar));
        LlvmAlign::from_bytes(width.map_or(1, |width| u64::from(width.div_ceil(8))))
            .unwrap_or(LlvmAlign::from_exponent(0))
    }

    fn attach_access_metadata(&mut self, access: &LiftedAccess) {
        if access.nontemporal {
            let node = self.l.md_numbers(&[1]);
            let inst = self.last_instruction();
            self.attach_to_instruction(inst, "nontemporal", node);
        }
    }

    fn load_from(&mut self, place: LlvmValue, ty: LlvmType, access: &LiftedAccess) -> LlvmValue {
        let extra = self.access_extra(access, ty);
        let value = self.push_with(LlvmOpcode::Load, access.flags, ty, &[place], extra);
        self.attach_access_metadata(access);
        value
    }

    fn store_to(&mut self, place: LlvmValue, value: LlvmValue, access: &LiftedAccess) {
        let extra = self.access_extra(access, self.type_of(value));
        let operands = [value, place];
        self.push_with(
            LlvmOpcode::Store,
            access.flags,
            LlvmType::VOID,
            &operands,
            extra,
        );
        self.attach_access_metadata(access);
    }

    /// `OpLoad`
    pub(super) fn lift_load(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let Some(access) = self.read_memory_access(&source.operands[1..]) else {
            return self.lift_friendly_call(source);
        };
        let place = self.operand_value(source, 0)?;
        let ty = self.result_type(source)?;
        Ok(Some(self.load_from(place, ty, &access)))
    }

    /// `OpStore`
    pub(super) fn lift_store(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let Some(access) = self.read_memory_access(&source.operands[2..]) else {
            return self.lift_friendly_call(source);
        };
        let (place, value) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        self.store_to(place, value, &access);
        Ok(None)
    }

    /// `OpCopyMemory`: a load and a store, each with its own memory operands.
    pub(super) fn copy_memory(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let (to, from) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let words = &source.operands[2..];
        let first = usize::from(!words.is_empty())
            + usize::from(
                words
                    .first()
                    .is_some_and(|m| m & MemoryAccess::Aligned.0 != 0),
            );
        let (write, read) = words.split_at(first.min(words.len()));
        let read = if read.is_empty() { write } else { read };
        let (Some(write), Some(read)) = (
            self.read_memory_access(write),
            self.read_memory_access(read),
        ) else {
            return Err(make_refusal("LLVM IR cannot express these memory operands"));
        };
        let pointee = self.l.find_pointee(self.l.type_of(source.read_id(0)?)?)?;
        let ty = self.l.find_type(pointee)?;
        let value = self.load_from(from, ty, &read);
        self.store_to(to, value, &write);
        Ok(None)
    }

    /// `OpCopyMemorySized`: `llvm.memcpy`; the alignments are attributes of its arguments.
    pub(super) fn copy_bytes(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let (to, from) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let size = self.operand_value(source, 2)?;
        let Some(access) = self.read_memory_access(&source.operands[3..]) else {
            return Err(make_refusal("LLVM IR cannot express these memory operands"));
        };
        let volatile = u64::from(access.flags.contains_all(LlvmInstFlags::VOLATILE));
        let out = &mut self.l.out;
        let volatile = out.consts.make_int(&out.types, LlvmType::I1, volatile);
        let [a, b, c] = [to, from, size].map(|v| self.type_of(v));
        let space = |ty| self.l.out.types.address_space(ty);
        let (Some(a_space), Some(b_space)) = (space(a), space(b)) else {
            return Err(make_refusal("an operand is not a pointer"));
        };
        let Some(width) = self.l.out.types.int_width(c) else {
            return Err(make_refusal("the size is not an integer"));
        };
        let name = format!("llvm.memcpy.p{a_space}.p{b_space}.i{width}");
        let params = [a, b, c, LlvmType::I1];
        let func = self
            .l
            .declare_provided_function(&name, LlvmType::VOID, &params, false);
        let args = [to, from, size, LlvmValue::from_constant(volatile)];
        let call = self.push_call(func, LlvmInstFlags::NONE, &args);
        self.align_arguments(call, access.align);
        Ok(None)
    }

    /// States the alignment of the first two arguments of a call.
    fn align_arguments(&mut self, call: LlvmValue, align: LlvmAlign) {
        let (Some(bytes), Some(local)) = (align.to_bytes(), call.as_local()) else {
            return;
        };
        let attributes = &mut self.l.out.attributes;
        let attribute = crate::ir::LlvmAttribute::Number(crate::ir::AttrKind::Align, bytes);
        let set = attributes.intern_set(vec![attribute]);
        let none = crate::ir::AttrSet::EMPTY;
        let list = attributes.intern_list(none, none, vec![set, set]);
        if let Some(inst) = self.function.inst_of(local)
            && let InstructionExtra::Call(number) = self.function.inst(inst).extra
        {
            self.function.calls[number as usize].attributes = list;
        }
    }

    /// Access chains: an address computation over the pointee type of the base.
    pub(super) fn lift_access_chain(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let inbounds = source.op.is_inbounds_access_chain();
        let element = source.op.is_element_access_chain();
        let base = source.read_id(0)?;
        let pointee = self.l.find_pointee(self.l.type_of(base)?)?;
        let ty = self.l.find_type(pointee)?;
        let mut operands = vec![self.l.find_value(base)?];
        let mut indices = source.iter_ids(1);
        if element {
            let index = indices.next().ok_or("an index is missing")?;
            operands.push(self.l.find_value(index)?);
        } else {
            operands.push(LlvmValue::from_constant(self.l.make_i32(0)))
        }
        let mut within = pointee;
        let mut component = None;
        for index in indices {
            if matches!(
                self.l.out.types.kind(self.l.find_type(within)?),
                LlvmTypeKind::Target { .. }
            ) {
                component = Some(index);
                break;
            }
            operands.extend(self.l.step_before(within)?);
            let (value, part) = self.lift_access_index(within, index)?;
            operands.push(value);
            within = part;
        }
        let flags = if inbounds {
            LlvmInstFlags::INBOUNDS
        } else {
            LlvmInstFlags::NONE
        };
        let result = self.result_type(source)?;
        let extra = InstructionExtra::SourceType(ty);
        let is_base = component.is_some() && operands.len() == 2 && !element;
        let whole = if is_base {
            operands[0]
        } else {
            self.push_with(LlvmOpcode::GetElementPtr, flags, result, &operands, extra)
        };
        match component {
            Some(index) => self.lift_matrix_component(source, whole, index),
            None => Ok(Some(whole)),
        }
    }

    /// An index into a type, and the type that it selects.
    fn lift_access_index(&mut self, within: Id, index: Id) -> LlvmResult<(LlvmValue, Id)> {
        if self.l.find_lowered_type(within)?.shape == LiftedTypeShape::Struct {
            let (constant, part) = self.l.constant_step(within, index)?;
            return Ok((LlvmValue::from_constant(constant), part));
        }
        Ok((self.l.find_value(index)?, self.l.type_of_member(within, 0)?))
    }

    /// `OpLifetimeStart` and `OpLifetimeStop`. A size of zero means that the size is unknown.
    pub(super) fn lift_lifetime(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let pointer = self.operand_value(source, 0)?;
        let size = match source.read_word(1)? {
            0 => u64::MAX,
            size => size.into(),
        };
        let word = match source.op {
            Op::LifetimeStart => "start",
            _ => "end",
        };
        let ty = self.type_of(pointer);
        let Some(space) = self.l.out.types.address_space(ty) else {
            return Err(make_refusal("its operand is not a pointer"));
        };
        let name = format!("llvm.lifetime.{word}.p{space}");
        let func =
            self.l
                .declare_provided_function(&name, LlvmType::VOID, &[LlvmType::I64, ty], false);
        let out = &mut self.l.out;
        let size = LlvmValue::from_constant(out.consts.make_int(&out.types, LlvmType::I64, size));
        self.push_call(func, LlvmInstFlags::NONE, &[size, pointer]);
        Ok(None)
    }
}
