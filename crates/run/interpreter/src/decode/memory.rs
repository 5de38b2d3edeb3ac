//! Loads, stores, addresses, atomics.

use super::{CodeDecoder, DecodeResult};
use crate::facts::{MatrixOrder, ScalarKind, refuse};
use crate::memory::{MemoryRegion, OFFSET_BITS, REGION_STRIDE};
use crate::operation::ScalarOperation;
use crate::step::{AddressTerm, AtomicAction, AtomicStep, CodeStep, Slot, TableRange};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::int::sign_extend;
use spirula_scalar::table::ScalarExtSet;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir::InstRef;

/// An access chain whose types were followed.
pub(super) struct WalkedChain {
    /// Bytes of all constant indices.
    pub(super) offset: u64,
    /// How matrices lie behind the pointer.
    order: MatrixOrder,
    /// The other indices, with their widths and strides.
    pub(super) terms: Vec<(Id, u32, u64)>,
}

impl<'m> CodeDecoder<'m> {
    /// Decodes an instruction on memory or addresses. Returns whether it is one.
    ///
    /// # Errors
    /// When its types are not supported.
    pub(super) fn decode_memory(&mut self, inst: InstRef<'m>) -> Result<bool, SourceDiagnostic> {
        match inst.op() {
            Op::Variable => self.decode_variable(inst)?,
            Op::Load => {
                let pointer = inst.id_operand(0);
                let ty = self.result_type(inst)?;
                let (to, address) = (self.result_slot(inst)?, self.value_slot(pointer)?);
                let cells = self.cells_of(ty, self.order_of(pointer))?;
                self.push_step(CodeStep::Load { to, address, cells });
            }
            Op::Store => {
                let (pointer, value) = (inst.id_operand(0), inst.id_operand(1));
                let (address, from) = (self.value_slot(pointer)?, self.value_slot(value)?);
                let ty = self.facts.type_of(value)?;
                self.push_store(address, from, ty, self.order_of(pointer))?;
            }
            Op::CopyMemory => self.copy_memory(inst)?,
            Op::CopyMemorySized => {
                let [to, from, bytes] = [0, 1, 2].map(|n| self.value_slot(inst.id_operand(n)));
                let (to, from, bytes) = (to?, from?, bytes?);
                self.push_step(CodeStep::CopyMemory { to, from, bytes });
            }
            op if op.is_access_chain() => self.decode_chain(inst)?,
            Op::ArrayLength => self.array_length(inst)?,
            Op::PtrCastToGeneric
            | Op::GenericCastToPtr
            | Op::CrossWorkgroupCastToPtrINTEL
            | Op::PtrCastToCrossWorkgroupINTEL => {
                self.copy_to_result(inst, inst.id_operand(0))?;
            }
            Op::GenericCastToPtrExplicit => self.cast_explicitly(inst)?,
            Op::PtrEqual => self.compare_pointers(inst, Op::IEqual)?,
            Op::PtrNotEqual => self.compare_pointers(inst, Op::INotEqual)?,
            Op::PtrDiff => self.subtract_pointers(inst)?,
            Op::ConvertPtrToU | Op::ConvertUToPtr => self.convert_pointer(inst)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The order of matrices behind a pointer.
    fn order_of(&self, pointer: Id) -> MatrixOrder {
        self.orders.get(&pointer).copied().unwrap_or_default()
    }

    /// The cells of a type in the table of the code.
    pub(super) fn cells_of(
        &mut self,
        ty: Id,
        order: MatrixOrder,
    ) -> Result<TableRange, SourceDiagnostic> {
        let mut cells = self.facts.list_cells(ty, order)?;
        let range = TableRange {
            first: self.code.cells.len() as u32,
            count: cells.len() as u32,
        };
        self.code.cells.append(&mut cells);
        Ok(range)
    }

    /// Appends the store of a value.
    ///
    /// # Errors
    /// When its type is not supported.
    pub(super) fn push_store(
        &mut self,
        address: Slot,
        from: Slot,
        ty: Id,
        order: MatrixOrder,
    ) -> DecodeResult {
        let cells = self.cells_of(ty, order)?;
        self.push_step(CodeStep::Store {
            address,
            from,
            cells,
        });
        Ok(())
    }

    /// The type that a pointer points to.
    pub(super) fn pointee_of(&self, pointer: Id) -> Result<Id, SourceDiagnostic> {
        let ty = self.facts.define(self.facts.type_of(pointer)?)?;
        match ty.op() {
            Op::TypePointer => Ok(ty.id_operand(1)),
            _ => Err(refuse(ty, "the interpreter knows typed pointers alone")),
        }
    }

    fn copy_memory(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let (target, source) = (inst.id_operand(0), inst.id_operand(1));
        let ty = self.pointee_of(target)?;
        let count = self.facts.count_scalars(ty)?;
        let value = self.reserve_registers(count);
        let (to, from) = (self.value_slot(target)?, self.value_slot(source)?);
        let cells = self.cells_of(self.pointee_of(source)?, self.order_of(source))?;
        self.push_step(CodeStep::Load {
            to: value,
            address: from,
            cells,
        });
        self.push_store(to, value, ty, self.order_of(target))
    }

    /// Decodes an access chain: constant offsets are added at once.
    fn decode_chain(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let base_id = inst.id_operand(0);
        let indices: Vec<Id> = inst.id_operands(1).collect();
        let has_element = inst.op().selects_element();
        let chain = self.walk_chain(inst, base_id, &indices, has_element)?;
        let (to, base) = (self.result_slot(inst)?, self.value_slot(base_id)?);
        if let Some(id) = inst
            .result()
            .filter(|_| chain.order != MatrixOrder::default())
        {
            self.orders.insert(id, chain.order);
        }
        let terms = TableRange {
            first: self.code.terms.len() as u32,
            count: chain.terms.len() as u32,
        };
        for (index, width, stride) in chain.terms {
            let slot = self.value_slot(index)?;
            self.code.terms.push(AddressTerm {
                slot,
                width,
                stride,
            });
        }
        self.push_step(CodeStep::Address {
            to,
            base,
            offset: chain.offset,
            terms,
        });
        Ok(())
    }

    /// Follows the indices of a chain through types.
    ///
    /// # Errors
    /// When an index leads nowhere.
    pub(super) fn walk_chain(
        &self,
        inst: InstRef<'_>,
        base: Id,
        indices: &[Id],
        has_element: bool,
    ) -> Result<WalkedChain, SourceDiagnostic> {
        let mut ty = self.pointee_of(base)?;
        let mut chain = WalkedChain {
            offset: 0,
            order: self.order_of(base),
            terms: Vec::new(),
        };
        let mut indices = indices.iter();
        if has_element {
            let pointer = self.facts.type_of(base)?;
            let stride = self.facts.decoration(pointer, Decoration::ArrayStride);
            let stride = stride.map_or_else(|| self.element_stride(ty), u64::from);
            if let Some(index) = indices.next() {
                self.append_index(*index, stride, &mut chain)?;
            }
        }
        for index in indices {
            let outer = self.facts.define(ty)?;
            if outer.op() == Op::TypeStruct {
                let member = self.facts.scalar_constant(*index);
                let member =
                    member.ok_or_else(|| refuse(inst, "a member's index is no constant"))?;
                let place = self.facts.member_layout(ty, member as u32);
                chain.offset = chain.offset.wrapping_add(place.offset);
                chain.order = MatrixOrder {
                    stride: place.matrix_stride,
                    is_row_major: place.row_major,
                };
                ty = outer
                    .get_id(member as usize)
                    .ok_or_else(|| refuse(inst, "the structure has no such member"))?;
                continue;
            }
            let stride = self.step_stride(ty, chain.order);
            self.append_index(*index, stride, &mut chain)?;
            ty = outer
                .get_id(0)
                .ok_or_else(|| refuse(inst, format!("{} has no elements", outer.op())))?;
        }
        Ok(chain)
    }

    /// Bytes from an element to the next behind a pointer.
    fn element_stride(&self, ty: Id) -> u64 {
        let layout = self.facts.layout(ty);
        layout.size.next_multiple_of(layout.align.max(1).into())
    }

    /// Bytes from a component of a type to the next. Columns of matrices have the order that a member states.
    fn step_stride(&self, ty: Id, order: MatrixOrder) -> u64 {
        let layout = self.facts.layout(ty);
        let inst = self.facts.define(ty).ok();
        match inst.map(InstRef::op) {
            Some(Op::TypeArray) if self.facts.is_descriptor_array(ty) => REGION_STRIDE,
            Some(Op::TypeMatrix) => {
                let part = inst
                    .and_then(|inst| inst.get_id(0))
                    .map_or(0, |column| self.facts.layout(column).stride);
                if order.is_row_major {
                    part
                } else {
                    order.stride.unwrap_or(layout.stride)
                }
            }
            Some(Op::TypeVector) if order.is_row_major => order.stride.unwrap_or(layout.stride),
            _ => layout.stride,
        }
    }

    /// Appends an index of a chain.
    fn append_index(&self, index: Id, stride: u64, chain: &mut WalkedChain) -> DecodeResult {
        let width = self
            .facts
            .component_kind(self.facts.type_of(index)?)?
            .bits();
        match self.facts.scalar_constant(index) {
            Some(bits) => {
                let index = sign_extend(bits, width) as u64;
                chain.offset = chain.offset.wrapping_add(index.wrapping_mul(stride));
            }
            None => chain.terms.push((index, width, stride)),
        }
        Ok(())
    }

    fn array_length(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let (structure, member) = (self.pointee_of(inst.id_operand(0))?, inst.operand_word(1));
        let place = self.facts.member_layout(structure, member);
        let array = self.facts.define(structure)?.get_id(member as usize);
        let array = array.ok_or_else(|| refuse(inst, "the structure has no such member"))?;
        let stride = self.facts.layout(array).stride;
        let address = self.value_slot(inst.id_operand(0))?;
        let to = self.result_slot(inst)?;
        self.push_step(CodeStep::ArrayLength {
            to,
            address,
            offset: place.offset,
            stride,
        });
        Ok(())
    }

    /// A cast of a generic pointer, which gives null where its memory is of another class.
    fn cast_explicitly(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let (int, pointer) = (ScalarKind::Int(64), inst.id_operand(0));
        let address = self.value_slot(pointer)?;
        let to = self.result_slot(inst)?;
        let shift = self.pool_constants(&[OFFSET_BITS.into()]);
        let region = self.reserve_registers(2);
        self.push_operation(
            Op::ShiftRightLogical,
            int,
            &[int, int],
            region,
            &[address, shift],
        )?;
        let (op, class) = match StorageClass(inst.operand_word(1)) {
            StorageClass::Function => (Op::IEqual, MemoryRegion::PRIVATE),
            StorageClass::Workgroup => (Op::IEqual, MemoryRegion::WORKGROUP),
            _ => (Op::UGreaterThan, MemoryRegion::WORKGROUP),
        };
        let class = self.pool_constants(&[class.0.into()]);
        let kinds = [int, int];
        self.push_operation(op, ScalarKind::Bool, &kinds, region + 1, &[region, class])?;
        let null = self.pool_constants(&[0]);
        self.push_apply(
            ScalarOperation::select(),
            to,
            &[region + 1, address, null],
            &[],
            1,
        );
        Ok(())
    }

    fn compare_pointers(&mut self, inst: InstRef<'m>, op: Op) -> DecodeResult {
        let kinds = [ScalarKind::Pointer; 2];
        let (a, b) = (inst.id_operand(0), inst.id_operand(1));
        let operands = [self.value_slot(a)?, self.value_slot(b)?];
        let to = self.result_slot(inst)?;
        self.push_operation(op, ScalarKind::Bool, &kinds, to, &operands)
    }

    /// The difference of pointers, in elements.
    fn subtract_pointers(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let ty = self.pointee_of(inst.id_operand(0))?;
        let stride = self.element_stride(ty).max(1);
        let int = ScalarKind::Int(64);
        let (a, b) = (inst.id_operand(0), inst.id_operand(1));
        let operands = [self.value_slot(a)?, self.value_slot(b)?];
        let to = self.result_slot(inst)?;
        let difference = self.reserve_registers(1);
        self.push_operation(Op::ISub, int, &[int, int], difference, &operands)?;
        let divisor = self.pool_constants(&[stride]);
        let quotient = self.reserve_registers(1);
        self.push_operation(Op::SDiv, int, &[int, int], quotient, &[difference, divisor])?;
        let kind = self.facts.component_kind(self.result_type(inst)?)?;
        self.push_operation(Op::UConvert, kind, &[int], to, &[quotient])
    }

    fn convert_pointer(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let from = self
            .facts
            .component_kind(self.facts.type_of(inst.id_operand(0))?)?;
        let kind = self.facts.component_kind(self.result_type(inst)?)?;
        let operand = self.value_slot(inst.id_operand(0))?;
        let to = self.result_slot(inst)?;
        self.push_operation(Op::UConvert, kind, &[from], to, &[operand])
    }

    /// Appends an operation on one scalar.
    ///
    /// # Errors
    /// When the operation has no rule for these types.
    pub(super) fn push_operation(
        &mut self,
        op: Op,
        result: ScalarKind,
        kinds: &[ScalarKind],
        to: Slot,
        operands: &[Slot],
    ) -> DecodeResult {
        let operation = ScalarOperation::from_core(op, result, kinds).ok_or_else(|| {
            SourceDiagnostic::error(self.place, format!("{op} is not possible on these types"))
        })?;
        self.push_apply(operation, to, operands, &[], 1);
        Ok(())
    }

    /// Decodes an atomic instruction. Returns whether it is one.
    ///
    /// # Errors
    /// When its type is not supported.
    pub(super) fn decode_atomic(&mut self, inst: InstRef<'m>) -> Result<bool, SourceDiagnostic> {
        // The operand of the value follows the pointer, the scope and the semantics.
        let (action, operand_at) = match inst.op() {
            Op::AtomicLoad => (AtomicAction::Load, None),
            Op::AtomicStore => (AtomicAction::Store, Some(3)),
            Op::AtomicExchange => (AtomicAction::Exchange, Some(3)),
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                (AtomicAction::CompareExchange, Some(4))
            }
            Op::AtomicFlagTestAndSet => (AtomicAction::TestAndSet, None),
            Op::AtomicFlagClear => (AtomicAction::Clear, None),
            Op::AtomicIIncrement | Op::AtomicIDecrement => (self.find_atomic_action(inst)?, None),
            Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicFAddEXT
            | Op::AtomicFMinEXT
            | Op::AtomicFMaxEXT => (self.find_atomic_action(inst)?, Some(3)),
            _ => return Ok(false),
        };
        let pointer = inst.id_operand(0);
        let address = self.value_slot(pointer)?;
        let kind = self.facts.component_kind(self.pointee_of(pointer)?)?;
        let operand = match operand_at {
            Some(at) => self.value_slot(inst.id_operand(at))?,
            None => self.pool_constants(&[1]),
        };
        let comparand = match action {
            AtomicAction::CompareExchange => self.value_slot(inst.id_operand(5))?,
            _ => operand,
        };
        let to = if inst.result().is_some() {
            self.result_slot(inst)?
        } else {
            0
        };
        self.push_step(CodeStep::Atomic(Box::new(AtomicStep {
            action,
            to,
            address,
            operand,
            comparand,
            bytes: kind.bits().div_ceil(8) as u8,
        })));
        Ok(true)
    }

    /// The operation of an atomic instruction that changes memory.
    fn find_atomic_action(&self, inst: InstRef<'m>) -> Result<AtomicAction, SourceDiagnostic> {
        let kind = self.facts.component_kind(self.result_type(inst)?)?;
        let core = |op: Op| ScalarOperation::from_core(op, kind, &[kind, kind]);
        let named = |name: &str| {
            let row = ScalarExtSet::Glsl.find_named_function(name)?;
            ScalarOperation::from_extended(row, kind)
        };
        let operation = match inst.op() {
            Op::AtomicIAdd | Op::AtomicIIncrement => core(Op::IAdd),
            Op::AtomicISub | Op::AtomicIDecrement => core(Op::ISub),
            Op::AtomicAnd => core(Op::BitwiseAnd),
            Op::AtomicOr => core(Op::BitwiseOr),
            Op::AtomicXor => core(Op::BitwiseXor),
            Op::AtomicFAddEXT => core(Op::FAdd),
            Op::AtomicSMin => named("SMin"),
            Op::AtomicUMin => named("UMin"),
            Op::AtomicSMax => named("SMax"),
            Op::AtomicUMax => named("UMax"),
            Op::AtomicFMinEXT => named("FMin"),
            Op::AtomicFMaxEXT => named("FMax"),
            _ => None,
        };
        let operation = operation.ok_or_else(|| self.refuse_inst(inst))?;
        Ok(AtomicAction::Apply(operation))
    }
}
