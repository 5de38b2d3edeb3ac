//! Loads, stores and copies.

use super::access_hooks::{CopyEndpoint, EmitAccess, MemoryAccessKind, PointerAccess};
use super::lowering::{
    ClifLowering, IdLocation, SymbolicPointer, clif_type, invariant_flags, plain_flags,
};
use super::values::PointerOperand;
use super::{ClifResult, ClifScalars};
use crate::layout::globals::{variable_align, variable_initialiser};
use crate::layout::launch_context::at;
use crate::module::types::{LoweredTypeKind, MatrixStrides, ScalarLeaf};
use cranelift_codegen::ir::{Inst, InstBuilder, MemFlagsData, Opcode, Value, ValueDef, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{MemoryAccess, StorageClass};
use spirula_spirv::ir::InstRef;

/// `OpVariable` of a function.
pub(crate) fn lower_variable(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let Some(id) = inst.result() else {
        return Ok(());
    };
    let Some(ty) = lower.program.variable_type(id) else {
        return lower.fail_unsupported("a variable of this type");
    };
    let initialiser = variable_initialiser(inst);
    if lower.program.is_in_memory_matrix(ty) {
        return super::in_memory_matrix::lower_in_memory_variable(lower, id, ty, initialiser);
    }
    if lower.program.functions.is_promoted(id) {
        let first = match lower.id_location(id) {
            IdLocation::Symbol(SymbolicPointer::Promoted { first }) => first,
            _ => {
                let first = lower.declare_variables(ty).0;
                let func = lower.current_scope().func;
                let live = &lower.program.functions.get(func).live;
                let local = lower.program.functions.local_index(id);
                if local.is_some_and(|local| live.is_kept(local)) {
                    lower.keep_variable(first, ty);
                }
                first
            }
        };
        lower.set_id_location(id, IdLocation::Symbol(SymbolicPointer::Promoted { first }));
        let values = match initialiser {
            Some(init) => lower.read_values(init)?,
            None => lower.emit_zeros(ty),
        };
        lower.assign_variables(first, &values);
        if initialiser.is_none() {
            lower
                .hooks()
                .begin_promoted(lower, first, values.len() as u32);
        }
        return Ok(());
    }
    let bytes = lower.program.types.layouts.get(ty).size;
    let address = lower.open_room(id, ty, bytes)?;
    if let Some(init) = initialiser {
        lower.store_to(PointerOperand::Address(address, None), ty, init)?;
        lower.hooks().after_initialisation(lower, id);
    }
    Ok(())
}

/// Most values of a function whose push constants are loaded outside of its loops. In larger ones they would take registers from
/// the loops within.
const MOST_VALUES_AROUND_PUSH: usize = 512;

/// `OpLoad`.
pub(crate) fn lower_load(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    if lower.program.is_in_memory_matrix(ty) {
        return super::in_memory_matrix::lower_in_memory_read(lower, inst, ty);
    }
    let id = inst.id_operand(0);
    lower.hooks().before_load(lower, id);
    let pointer = lower.read_pointer(id)?;
    // A variable of the kernel's own holds the stored bits, whatever their type is.
    let is_own = is_function_variable(lower, id)?;
    if let LoweredTypeKind::Handle { count } = lower.program.types.kind(ty)
        && !is_own
    {
        let address = lower.address_of(pointer)?;
        let values = lower.load_handle(address, count);
        return lower.set_result(inst.result(), &values);
    }
    let volatile = is_volatile(inst.operands().get(1));
    if lower.is_large(ty) {
        let extent = lower.program.types.get(ty).extent;
        let access = PointerAccess {
            pointer: id,
            address: lower.address_of(pointer)?,
            kind: MemoryAccessKind::Read,
        };
        let address = lower.hooks().before_range_access(lower, access, extent)?;
        return lower.set_large(inst, ty, address);
    }
    lower.hooks().begin_result(lower, inst.result());
    if let PointerOperand::Symbol(SymbolicPointer::Promoted { first }) = pointer {
        let count = lower.program.types.scalar_count(ty) as u32;
        lower.hooks().before_promoted_load(lower, id, first, count);
    }
    let values = if let PointerOperand::Symbol(_) = pointer {
        lower.load_from(pointer, ty, volatile)?
    } else {
        let kind = if volatile {
            MemoryAccessKind::Volatile { writes: false }
        } else {
            MemoryAccessKind::Read
        };
        let strides = strides_of(pointer);
        lower.access_value(id, pointer, ty, kind, &[], &|lower, address| {
            lower.load_at(address, ty, strides, volatile)
        })?
    };
    lower.set_result(inst.result(), &values)
}

/// Whether a pointer is to memory of the invocation.
fn is_function_variable(lower: &ClifLowering, pointer: Id) -> Result<bool, SourceDiagnostic> {
    let ty = lower.type_of(pointer)?;
    Ok(matches!(
        lower.program.types.kind(ty),
        LoweredTypeKind::Pointer {
            class: StorageClass::Function,
            ..
        }
    ))
}

/// `OpStore`.
pub(crate) fn lower_store(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.type_of(inst.id_operand(1))?;
    if lower.program.is_in_memory_matrix(ty) {
        return super::in_memory_matrix::lower_in_memory_write(lower, inst, ty);
    }
    let (id, value) = (inst.id_operand(0), inst.id_operand(1));
    let pointer = lower.read_pointer(id)?;
    let before = lower.builder.func.dfg.num_insts();
    if let PointerOperand::Symbol(symbol) = pointer {
        lower.store_to(pointer, ty, value)?;
        lower.note_non_temporal(id, before);
        if let SymbolicPointer::Promoted { first } = symbol {
            lower.hooks().after_promoted_store(lower, first);
        }
        return Ok(());
    }
    lower.hooks().before_store(lower, id, value);
    let kind = if is_volatile(inst.operands().get(2)) {
        MemoryAccessKind::Volatile { writes: true }
    } else {
        MemoryAccessKind::Write
    };
    if lower.is_large(ty) {
        let extent = lower.program.types.get(ty).extent;
        let access = PointerAccess {
            pointer: id,
            address: lower.address_of(pointer)?,
            kind,
        };
        let address = lower.hooks().before_range_access(lower, access, extent)?;
        lower.store_to(PointerOperand::Address(address, None), ty, value)?;
    } else {
        let values = lower.read_values(value)?;
        let strides = strides_of(pointer);
        lower.access_value(id, pointer, ty, kind, &values, &|lower, address| {
            lower.store_at(address, ty, strides, &values);
            ClifScalars::new()
        })?;
    }
    lower.note_non_temporal(id, before);
    Ok(())
}

/// `OpCopyMemory`.
pub(crate) fn copy_memory(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let known = |id| lower.program.pointee_of(id);
    let Some(ty) = known(inst.id_operand(0)).or_else(|| known(inst.id_operand(1))) else {
        return lower.fail_unsupported("a copy through untyped pointers");
    };
    let (to, from) = (
        lower.read_pointer(inst.id_operand(0))?,
        lower.read_pointer(inst.id_operand(1))?,
    );
    if lower.is_large(ty) {
        let (to, from) = read_copy_operands(lower, inst, to, from)?;
        let extent = lower.program.types.get(ty).extent;
        let size = lower.emit_iconst(types::I64, extent as i64);
        return lower.hooks().copy_memory(lower, to, from, size);
    }
    let from = lower.begin_access(inst.id_operand(1), from, ty, MemoryAccessKind::Read, &[])?;
    let values = lower.load_from(from, ty, false)?;
    let to = lower.begin_access(inst.id_operand(0), to, ty, MemoryAccessKind::Write, &values)?;
    lower.store_values(to, ty, &values)
}

/// The operands of a copy, with the addresses of its pointers.
fn read_copy_operands(
    lower: &mut ClifLowering,
    inst: InstRef,
    to: PointerOperand,
    from: PointerOperand,
) -> Result<(CopyEndpoint, CopyEndpoint), SourceDiagnostic> {
    let to = CopyEndpoint {
        pointer: inst.id_operand(0),
        address: lower.address_of(to)?,
    };
    let from = CopyEndpoint {
        pointer: inst.id_operand(1),
        address: lower.address_of(from)?,
    };
    Ok((to, from))
}

/// `OpCopyMemorySized`.
pub(crate) fn copy_memory_sized(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (to, from) = (
        lower.read_pointer(inst.id_operand(0))?,
        lower.read_pointer(inst.id_operand(1))?,
    );
    let (to, from) = read_copy_operands(lower, inst, to, from)?;
    if let Some(bytes) = lower.program.constants.get_u64(inst.id_operand(2)) {
        let size = lower.emit_iconst(types::I64, bytes as i64);
        return lower.hooks().copy_memory(lower, to, from, size);
    }
    let size = lower.read_value(inst.id_operand(2))?;
    let mut size = lower.extend_to(size, types::I64, false);
    if [0, 1]
        .iter()
        .any(|n| lower.is_in_guarded_memory(inst.id_operand(*n)))
    {
        // A copy may begin at the end of memory. Its end must not lie after the guard.
        let most = lower.emit_iconst(types::I64, i64::from(u32::MAX));
        size = lower.builder.ins().umin(size, most);
    }
    lower.hooks().copy_memory(lower, to, from, size)
}

fn is_volatile(access: Option<&u32>) -> bool {
    access.is_some_and(|mask| mask & MemoryAccess::Volatile.0 != 0)
}

impl ClifLowering<'_, '_, '_> {
    /// Allocates `bytes` bytes of private memory for a variable of a type, or for a parameter with its own copy.
    /// Returns the address.
    pub fn open_room(&mut self, id: Id, ty: Id, bytes: u64) -> Result<Value, SourceDiagnostic> {
        let hooks = self.hooks();
        let align = variable_align(self.program, id, ty);
        let room = self.allocate_private_memory(hooks.private_bytes(bytes), align)?;
        hooks.after_allocation(self, id, room, bytes);
        self.set_id_location(id, room);
        Ok(self.private_memory_address(room))
    }

    /// The address that a pointer has.
    pub fn address_of(&mut self, pointer: PointerOperand) -> Result<Value, SourceDiagnostic> {
        match pointer {
            PointerOperand::Address(address, _) => Ok(address),
            PointerOperand::Entry(entry) => Ok(self.entry_address(entry)),
            PointerOperand::Symbol(symbol) => self.materialise_pointer(symbol),
        }
    }

    /// The scalars of a value of a type in memory.
    fn list_pointee_scalars(&self, pointer: PointerOperand, ty: Id) -> Vec<ScalarLeaf> {
        let mut leaves = Vec::new();
        let strides = strides_of(pointer);
        self.program
            .types
            .append_leaves(ty, 0, strides, &mut leaves);
        leaves
    }

    /// Begins an access to a value of a type. Returns the pointer to use.
    pub fn begin_access(
        &mut self,
        id: Id,
        pointer: PointerOperand,
        ty: Id,
        kind: MemoryAccessKind,
        values: &[Value],
    ) -> Result<PointerOperand, SourceDiagnostic> {
        if let PointerOperand::Symbol(_) = pointer {
            return Ok(pointer);
        }
        let access = PointerAccess {
            pointer: id,
            address: self.address_of(pointer)?,
            kind,
        };
        let leaves = self.list_pointee_scalars(pointer, ty);
        let hooks = self.hooks();
        let address = hooks.before_scalar_access(self, access, &leaves, values)?;
        Ok(PointerOperand::Address(address, strides_of(pointer)))
    }

    /// Makes an access to a value of a type. Returns the scalars that `emit` loads.
    fn access_value(
        &mut self,
        id: Id,
        pointer: PointerOperand,
        ty: Id,
        kind: MemoryAccessKind,
        values: &[Value],
        emit: &EmitAccess<'_>,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let access = PointerAccess {
            pointer: id,
            address: self.address_of(pointer)?,
            kind,
        };
        let leaves = |lower: &ClifLowering<'_, '_, '_>| lower.list_pointee_scalars(pointer, ty);
        self.hooks()
            .access_scalars(self, access, &leaves, values, emit)
    }

    /// Loads a value of at most 64 scalars.
    pub fn load_from(
        &mut self,
        pointer: PointerOperand,
        ty: Id,
        volatile: bool,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        match pointer {
            PointerOperand::Symbol(SymbolicPointer::Promoted { first }) => {
                Ok(self.read_variables(first, self.program.types.scalar_count(ty)))
            }
            PointerOperand::Symbol(SymbolicPointer::BuiltIn {
                variable,
                component,
            }) => self.read_builtin(variable, component),
            _ => {
                let strides = strides_of(pointer);
                let address = self.address_of(pointer)?;
                Ok(self.load_at(address, ty, strides, volatile))
            }
        }
    }

    /// Loads the scalars of a type from an address.
    pub fn load_at(
        &mut self,
        address: Value,
        ty: Id,
        strides: Option<MatrixStrides>,
        volatile: bool,
    ) -> ClifScalars {
        let mut leaves = Vec::new();
        self.program
            .types
            .append_leaves(ty, 0, strides, &mut leaves);
        leaves
            .iter()
            .map(|leaf| self.load_leaf(address, *leaf, volatile))
            .collect()
    }

    fn load_leaf(&mut self, address: Value, leaf: ScalarLeaf, volatile: bool) -> Value {
        let ty = clif_type(leaf.scalar);
        if volatile {
            // No optimisation merges an atomic load of the same width with another load.
            let at = self.builder.ins().iadd_imm_s(address, leaf.offset as i64);
            let int = super::lowering::int_of(leaf.scalar.bytes());
            let bits = self.builder.ins().atomic_load(int, plain_flags(), at);
            return self.bits_to(leaf.scalar, bits);
        }
        let (address, offset) = self.split_offset(address, leaf.offset);
        let values: usize = self.scopes.iter().map(|scope| scope.held.len()).sum();
        let flags = if values < MOST_VALUES_AROUND_PUSH && self.is_push_block(address) {
            invariant_flags()
        } else {
            plain_flags()
        };
        self.builder.ins().load(ty, flags, address, offset)
    }

    /// Whether an address is that of a push constant. They are there in full, and no invocation changes them.
    fn is_push_block(&self, address: Value) -> bool {
        let dfg = &self.builder.func.dfg;
        let define = |value: Value| match dfg.value_def(dfg.resolve_aliases(value)) {
            ValueDef::Result(inst, _) => Some(inst),
            _ => None,
        };
        let is_constant = |value: Value| {
            define(value).is_some_and(|inst| dfg.insts[inst].opcode() == Opcode::Iconst)
        };
        let Some(mut inst) = define(address) else {
            return false;
        };
        if let (Opcode::Iadd, [base, offset]) = (dfg.insts[inst].opcode(), dfg.inst_args(inst))
            && is_constant(*offset)
        {
            let Some(base) = define(*base) else {
                return false;
            };
            inst = base;
        }
        let data = &dfg.insts[inst];
        data.opcode() == Opcode::Load
            && data.load_store_offset() == Some(at::PUSH)
            && dfg.inst_args(inst)[0] == self.item.context
    }

    /// Stores a value.
    pub fn store_to(&mut self, pointer: PointerOperand, ty: Id, value: Id) -> ClifResult {
        if self.is_large(ty) {
            let to = self.address_of(pointer)?;
            let extent = self.program.types.get(ty).extent;
            if self.program.constants.is_zero(value) {
                self.zero_bytes(to, extent);
                return Ok(());
            }
            let from = self.large_value_address(value)?;
            self.copy_bytes(to, from, extent);
            return Ok(());
        }
        let values = self.read_values(value)?;
        self.store_values(pointer, ty, &values)
    }

    /// Records which of the instructions since number `before` store to memory that is only written.
    fn note_non_temporal(&mut self, pointer: Id, before: usize) {
        let shared = &mut *self.shared;
        if shared.gang.is_none() || !shared.non_temporal.pointers.contains(&pointer) {
            return;
        }
        let dfg = &self.builder.func.dfg;
        let made = (before..dfg.num_insts()).map(|at| Inst::from_u32(at as u32));
        let stores = made.filter(|inst| dfg.insts[*inst].opcode() == Opcode::Store);
        shared.non_temporal_insts.extend(stores);
    }

    /// Stores scalars.
    pub fn store_values(
        &mut self,
        pointer: PointerOperand,
        ty: Id,
        values: &[Value],
    ) -> ClifResult {
        match pointer {
            PointerOperand::Symbol(SymbolicPointer::Promoted { first }) => {
                self.assign_variables(first, values)
            }
            PointerOperand::Symbol(_) => return self.fail_unsupported("a store to an input"),
            _ => {
                let strides = strides_of(pointer);
                let address = self.address_of(pointer)?;
                self.store_at(address, ty, strides, values);
            }
        }
        Ok(())
    }

    /// Stores the scalars of a type to an address.
    pub fn store_at(
        &mut self,
        address: Value,
        ty: Id,
        strides: Option<MatrixStrides>,
        values: &[Value],
    ) {
        let mut leaves = Vec::new();
        self.program
            .types
            .append_leaves(ty, 0, strides, &mut leaves);
        for (leaf, value) in leaves.iter().zip(values) {
            let (address, offset) = self.split_offset(address, leaf.offset);
            self.builder
                .ins()
                .store(plain_flags(), *value, address, offset);
        }
    }

    fn split_offset(&mut self, address: Value, offset: u64) -> (Value, i32) {
        match i32::try_from(offset) {
            Ok(offset) => (address, offset),
            Err(_) => (self.builder.ins().iadd_imm_s(address, offset as i64), 0),
        }
    }

    /// Copies bytes between memory that may overlap.
    pub fn copy_bytes(&mut self, to: Value, from: Value, bytes: u64) {
        let size = self.emit_iconst(types::I64, bytes as i64);
        self.emit_memmove(to, from, size);
    }

    /// Copies `size` bytes, a value of 64 bits, between memory that may overlap.
    pub fn emit_memmove(&mut self, to: Value, from: Value, size: Value) {
        let config = self.shared.code.frontend_config();
        self.builder.call_memmove(config, to, from, size);
    }

    /// Clears bytes.
    pub fn zero_bytes(&mut self, to: Value, bytes: u64) {
        let config = self.shared.code.frontend_config();
        let size = self.emit_iconst(types::I64, bytes as i64);
        let zero = self.emit_iconst(types::I8, 0);
        self.builder.call_memset(config, to, zero, size);
    }

    /// Sets the result to a copy of a value in memory.
    pub fn set_large(&mut self, inst: InstRef<'_>, ty: Id, from: Value) -> ClifResult {
        let address = self.large_result(inst, ty)?;
        self.copy_bytes(address, from, self.program.types.get(ty).extent);
        Ok(())
    }

    /// Room for a result that is kept in memory, and its address.
    pub fn large_result(&mut self, inst: InstRef<'_>, ty: Id) -> Result<Value, SourceDiagnostic> {
        let layout = self.program.types.layouts.get(ty);
        let room = self.allocate_private_memory(layout.size, layout.align)?;
        let address = self.private_memory_address(room);
        if let Some(id) = inst.result() {
            let held = match room {
                IdLocation::RoomAddress(offset) => IdLocation::RoomMemory(offset),
                _ => IdLocation::Memory(address),
            };
            self.set_id_location(id, held);
        }
        Ok(address)
    }

    /// The number with these bits.
    pub fn bits_to(&mut self, scalar: crate::module::types::ScalarRepr, bits: Value) -> Value {
        let ty = clif_type(scalar);
        if ty.is_float() {
            self.builder.ins().bitcast(ty, MemFlagsData::new(), bits)
        } else {
            bits
        }
    }
}

fn strides_of(pointer: PointerOperand) -> Option<MatrixStrides> {
    match pointer {
        PointerOperand::Address(_, strides) => strides,
        _ => None,
    }
}
