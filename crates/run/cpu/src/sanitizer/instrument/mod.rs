//! Sanitizer hooks: emit checks around accesses to memory and before instructions that may fault.
//!
//! [`SanitizerHooks`] implements [`AccessHooks`], by which the lowering of plain code calls it. Objects, shadow cells and
//! definedness are explained in [`crate::sanitizer`].

pub(crate) mod access;
pub(crate) mod accessed_object;
pub(crate) mod analysis;
pub(crate) mod atomics;
pub(crate) mod cells;
pub(crate) mod copies;
pub(crate) mod faults;
pub(crate) mod private;
pub(crate) mod shadow_state;
pub(crate) mod strided;
pub(crate) mod stubs;
pub(crate) mod undefined;

use super::access_info as info;
use super::instruction_sites::SiteTable;
use super::volatile_updates::is_update;
use crate::codegen::access_hooks::{
    AccessHooks, CopyEndpoint, EmitAccess, EmitExit, GroupCopy, MemoryAccessKind, PointerAccess,
};
use crate::codegen::lowering::{ClifLowering, IdLocation};
use crate::codegen::values::PointerOperand;
use crate::codegen::{ClifResult, ClifScalars};
use crate::module::types::ScalarLeaf;
use analysis::{RowKind, SanitizerAnalysis};
use cranelift_codegen::ir::Value;
use cranelift_frontend::Variable;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use std::cell::{Cell, RefCell};

/// Number of the kind of fault "uninitialised".
const UNINITIALISED: u64 = 2;
/// Flag beside a kind of fault: a value is at fault, not the memory that is read.
const DEPENDS: u64 = info::DEPENDS >> info::KIND_SHIFT;
/// Most scalars of an access that is emitted twice: at its own address and at the one to use instead.
const MAX_MADE_TWICE: usize = 4;

/// Hooks that emit the checks of one kernel.
pub(crate) struct SanitizerHooks {
    analysis: SanitizerAnalysis,
    /// Rows of arguments and bindings.
    rows: Vec<RowKind>,
    sites: RefCell<SiteTable>,
    /// Most bytes of one access so far.
    largest: Cell<u64>,
    state: RefCell<FunctionState>,
}

/// State of the generated function that is being lowered.
#[derive(Default)]
struct FunctionState {
    /// The private memory of each variable and copied parameter.
    rooms: FxHashMap<Id, VariableShadow>,
    /// Result of the common check of each strided group. It is not zero where all its addresses are inside and all
    /// its loads are accounted for.
    group_results: FxHashMap<usize, Value>,
    /// The flag of each Cranelift variable that says whether it was assigned.
    assigned: Vec<Option<Variable>>,
    /// One for each inlined call around the current instruction. The first is that of the function itself.
    scopes: Vec<ScopeFlags>,
}

/// Flags of undefined values in the scope of one call.
#[derive(Default)]
struct ScopeFlags {
    /// First flag of the call's result.
    exit_flags: Option<Variable>,
    /// First flag of each value, by local number.
    flags: Vec<Option<Variable>>,
    /// First of the flags that each phi takes from the block before.
    arriving: FxHashMap<Id, Variable>,
}

/// Private memory of a variable.
#[derive(Clone, Copy)]
struct VariableShadow {
    held: IdLocation,
    bytes: u64,
    /// Bytes from a byte to the flag that says whether it is defined.
    defined: u64,
}

/// The facts that remain when a kernel is lowered.
pub(crate) struct InstrumentedKernel {
    /// Facts about the kernel.
    pub analysis: SanitizerAnalysis,
    /// Rows of arguments and bindings.
    pub rows: Vec<RowKind>,
    /// The instructions that reports name.
    pub sites: SiteTable,
    /// Most bytes of one access.
    pub largest: u64,
}

/// Bits that describe an access kind to the runtime.
fn info_bits(kind: MemoryAccessKind) -> u64 {
    let bit = |is: bool, bit: u64| if is { bit } else { 0 };
    match kind {
        MemoryAccessKind::Read => info::READ,
        MemoryAccessKind::Write => info::WRITE,
        MemoryAccessKind::Volatile { writes } => {
            info::ATOMIC | if writes { info::WRITE } else { info::READ }
        }
        MemoryAccessKind::Atomic {
            reads,
            writes,
            semantics,
        } => {
            let semantics = semantics.unwrap_or(0x18);
            info::ATOMIC
                | bit(reads, info::READ)
                | bit(writes, info::WRITE)
                | bit(semantics & 0x1a != 0, info::ACQUIRE)
                | bit(semantics & 0x1c != 0, info::RELEASE)
        }
    }
}

/// Whether an access writes.
fn is_write(kind: MemoryAccessKind) -> bool {
    info_bits(kind) & info::WRITE != 0
}

/// Whether an access is an atomic update that orders nothing by itself.
fn is_relaxed_change(kind: MemoryAccessKind) -> bool {
    const ORDERS: u64 = 0x1e;
    match kind {
        MemoryAccessKind::Atomic {
            writes, semantics, ..
        } => writes && semantics.is_some_and(|s| s & ORDERS == 0),
        _ => false,
    }
}

fn is_volatile(kind: MemoryAccessKind) -> bool {
    matches!(kind, MemoryAccessKind::Volatile { .. })
}

fn is_plain(kind: MemoryAccessKind) -> bool {
    matches!(kind, MemoryAccessKind::Read | MemoryAccessKind::Write)
}

impl SanitizerHooks {
    /// Hooks for a kernel that is not lowered yet.
    pub fn new(analysis: SanitizerAnalysis, rows: Vec<RowKind>) -> SanitizerHooks {
        SanitizerHooks {
            analysis,
            rows,
            sites: RefCell::new(SiteTable::new()),
            largest: Cell::new(0),
            state: RefCell::default(),
        }
    }

    /// The facts that launches need, after the kernel is lowered.
    pub fn finish(self) -> InstrumentedKernel {
        InstrumentedKernel {
            analysis: self.analysis,
            rows: self.rows,
            sites: self.sites.into_inner(),
            largest: self.largest.get(),
        }
    }

    /// Site number of the instruction that is being lowered.
    fn current_site(&self, lower: &mut ClifLowering<'_, '_, '_>) -> u16 {
        let (program, Some(inst)) = (lower.program, lower.current) else {
            return 0;
        };
        let scope = lower.current_scope();
        let (func, position) = (scope.func, scope.position);
        let block = program.functions.get(func).cfg.block(position);
        let block = program.module.label(block);
        let purpose = inst.result().map(|id| self.analysis.purposes[id]);
        let purpose = purpose.unwrap_or_default();
        let mut sites = self.sites.borrow_mut();
        sites.assign_number(program, func, block, inst, purpose)
    }

    /// Calls `f` with the flags of the current scope.
    fn with_scope<T>(&self, f: impl FnOnce(&mut ScopeFlags) -> T) -> T {
        let scopes = &mut self.state.borrow_mut().scopes;
        if scopes.is_empty() {
            scopes.push(ScopeFlags::default());
        }
        let last = scopes.len() - 1;
        f(&mut scopes[last])
    }

    /// The kind of the access that is being lowered. A volatile store counts as a plain one where it only updates the
    /// value that it has read and nothing waits.
    fn effective_kind(
        &self,
        lower: &ClifLowering<'_, '_, '_>,
        kind: MemoryAccessKind,
    ) -> MemoryAccessKind {
        let store = lower.current.filter(|inst| inst.op() == Op::Store);
        match store {
            Some(store)
                if kind == (MemoryAccessKind::Volatile { writes: true })
                    && !self.analysis.waits
                    && is_update(lower.program, store) =>
            {
                MemoryAccessKind::Write
            }
            _ => kind,
        }
    }
}

impl AccessHooks for SanitizerHooks {
    fn finds_outside_accesses(&self) -> bool {
        true
    }

    fn takes_registers(&self) -> bool {
        true
    }

    fn site(&self, lower: &mut ClifLowering<'_, '_, '_>) -> u16 {
        self.current_site(lower)
    }

    fn begin_function(&self) {
        *self.state.borrow_mut() = FunctionState::default();
    }

    fn begin_invocation(&self, lower: &mut ClifLowering<'_, '_, '_>) {
        self.reset_budget(lower);
    }

    fn begin_private_memory(&self, lower: &mut ClifLowering<'_, '_, '_>) {
        self.begin_private(lower);
    }

    fn begin_inlined_call(&self, lower: &mut ClifLowering<'_, '_, '_>, call: InstRef<'_>) {
        let exit_flags = self.result_flags(lower, call);
        // The scope of the caller exists from here on.
        self.with_scope(|_| ());
        self.state.borrow_mut().scopes.push(ScopeFlags {
            exit_flags,
            ..ScopeFlags::default()
        });
    }

    fn end_inlined_call(&self) {
        self.state.borrow_mut().scopes.pop();
    }

    fn after_instruction(&self, lower: &mut ClifLowering<'_, '_, '_>, inst: InstRef<'_>) {
        self.follow_undefined(lower, inst);
    }

    fn begin_result(&self, lower: &mut ClifLowering<'_, '_, '_>, result: Option<Id>) {
        self.begin_flags(lower, result);
    }

    fn before_branch(&self, lower: &mut ClifLowering<'_, '_, '_>, condition: Id) {
        self.check_depends(lower, condition);
    }

    fn before_back_edge(&self, lower: &mut ClifLowering<'_, '_, '_>, exit: &EmitExit<'_>) {
        self.count_round(lower, exit);
    }

    fn before_return(&self, lower: &mut ClifLowering<'_, '_, '_>, value: Id) {
        self.return_flags(lower, value);
    }

    fn read_phi_operand(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        phi: Id,
        operand: Id,
    ) -> Option<ClifScalars> {
        self.phi_flags(lower, phi, operand)
    }

    fn assign_phi(&self, lower: &mut ClifLowering<'_, '_, '_>, phi: Id, state: &[Value]) {
        self.assign_phi_flags(lower, phi, state);
    }

    fn private_bytes(&self, bytes: u64) -> u64 {
        // The flags of defined bytes lie after the bytes.
        bytes.next_multiple_of(16).saturating_mul(2)
    }

    fn after_allocation(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        room: IdLocation,
        bytes: u64,
    ) {
        self.record_private_memory(lower, id, room, bytes, bytes.next_multiple_of(16));
    }

    fn after_initialisation(&self, lower: &mut ClifLowering<'_, '_, '_>, id: Id) {
        self.define_private_memory(lower, id);
    }

    fn after_private_initialisation(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        offset: u32,
        bytes: u64,
    ) {
        self.define_private(lower, offset, bytes);
    }

    fn begin_promoted(&self, lower: &mut ClifLowering<'_, '_, '_>, first: Variable, count: u32) {
        self.note_unassigned(lower, first, count);
    }

    fn after_assignment(&self, lower: &mut ClifLowering<'_, '_, '_>, variable: Variable) {
        self.mark_assigned(lower, variable, true);
    }

    fn after_promoted_store(&self, lower: &mut ClifLowering<'_, '_, '_>, first: Variable) {
        self.assign_flags(lower, first);
    }

    fn before_promoted_load(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        pointer: Id,
        first: Variable,
        count: u32,
    ) {
        self.check_assigned(lower, pointer, first, count);
    }

    fn companion_variable(&self, variable: Variable) -> Option<Variable> {
        self.flag_of(variable)
    }

    fn before_load(&self, lower: &mut ClifLowering<'_, '_, '_>, pointer: Id) {
        self.check_depends(lower, pointer);
    }

    fn before_store(&self, lower: &mut ClifLowering<'_, '_, '_>, pointer: Id, value: Id) {
        self.check_depends(lower, pointer);
        self.check_shared(lower, pointer, value);
    }

    fn access_scalars(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        leaves: &dyn Fn(&ClifLowering<'_, '_, '_>) -> Vec<ScalarLeaf>,
        values: &[Value],
        emit: &EmitAccess<'_>,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let leaves = leaves(lower);
        if leaves.is_empty() {
            return Ok(emit(lower, access.address));
        }
        let kind = self.effective_kind(lower, access.kind);
        let access = PointerAccess { kind, ..access };
        if leaves.len() > MAX_MADE_TWICE {
            let address = self.guard_address(lower, access, &leaves, values)?;
            return Ok(emit(lower, address));
        }
        self.guard_leaves(lower, access, &leaves, values, emit)
    }

    fn before_scalar_access(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        leaves: &[ScalarLeaf],
        values: &[Value],
    ) -> Result<Value, SourceDiagnostic> {
        if leaves.is_empty() {
            return Ok(access.address);
        }
        self.guard_address(lower, access, leaves, values)
    }

    fn before_range_access(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        bytes: u64,
    ) -> Result<Value, SourceDiagnostic> {
        let kind = self.effective_kind(lower, access.kind);
        self.guard_range(lower, PointerAccess { kind, ..access }, bytes)
    }

    fn before_atomic(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        pointer: PointerOperand,
    ) -> Result<PointerOperand, SourceDiagnostic> {
        self.guard_atomic(lower, id, pointer)
    }

    fn before_fence(&self, lower: &mut ClifLowering<'_, '_, '_>) {
        self.check_fence(lower);
    }

    fn copy_memory(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        to: CopyEndpoint,
        from: CopyEndpoint,
        size: Value,
    ) -> ClifResult {
        self.guarded_copy(lower, to, from, size)
    }

    fn before_group_copy(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        copy: GroupCopy,
    ) -> ClifResult {
        self.check_group_copy(lower, copy)
    }

    fn before_index(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        address: Value,
        index: Id,
        count: u64,
    ) -> Result<Value, SourceDiagnostic> {
        self.check_array_index(lower, address, index, count)
    }

    fn before_component(&self, lower: &mut ClifLowering<'_, '_, '_>, index: Value, count: u64) {
        self.check_component(lower, index, count);
    }

    fn before_division(&self, lower: &mut ClifLowering<'_, '_, '_>, divisor: Value) {
        self.check_divisor(lower, divisor);
    }

    fn before_quotient(&self, lower: &mut ClifLowering<'_, '_, '_>, overflows: Value) {
        self.check_quotient(lower, overflows);
    }

    fn before_shift(&self, lower: &mut ClifLowering<'_, '_, '_>, value: Value, amount: Value) {
        self.check_shift(lower, value, amount);
    }

    fn before_bit_field(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        value: Value,
        offset: Value,
        count: Value,
    ) {
        self.check_field(lower, value, offset, count);
    }

    fn on_invalid_callee(&self, lower: &mut ClifLowering<'_, '_, '_>) {
        self.check_callee(lower);
    }
}
