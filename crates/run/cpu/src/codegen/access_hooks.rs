//! Access hooks: the events of lowering at which a tool such as the sanitizer may add code.
//!
//! The lowering calls a hook at each access to memory and at each instruction that may fault. Every method has a
//! default that adds nothing: an access is made as it is, a copy is a `memmove`. Plain kernels take these defaults
//! ([`PlainHooks`]), so that their machine code depends on no tool.

use super::lowering::{ClifLowering, IdLocation};
use super::values::PointerOperand;
use super::{ClifResult, ClifScalars};
use crate::module::types::ScalarLeaf;
use cranelift_codegen::ir::Value;
use cranelift_frontend::Variable;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::ir::InstRef;

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryAccessKind {
    /// A plain load.
    Read,
    /// A plain store.
    Write,
    /// An atomic access.
    Atomic {
        /// Whether its result depends on the old value.
        reads: bool,
        /// Whether it may change the memory.
        writes: bool,
        /// The mask of memory semantics, if it is a known constant.
        semantics: Option<u64>,
    },
    /// A volatile load or store.
    Volatile {
        /// Whether it is a store.
        writes: bool,
    },
}

/// An access through a pointer.
#[derive(Clone, Copy)]
pub(crate) struct PointerAccess {
    /// The pointer.
    pub pointer: Id,
    /// The address, which is computed from the pointer.
    pub address: Value,
    /// How the memory is accessed.
    pub kind: MemoryAccessKind,
}

/// One side of a copy.
#[derive(Clone, Copy)]
pub(crate) struct CopyEndpoint {
    /// The pointer.
    pub pointer: Id,
    /// The address that it holds.
    pub address: Value,
}

/// A copy between workgroup memory and other memory that the invocations of a workgroup make together.
#[derive(Clone, Copy)]
pub(crate) struct GroupCopy {
    /// The side that is written.
    pub to: CopyEndpoint,
    /// The side that is read.
    pub from: CopyEndpoint,
    /// Number of elements, 64 bits.
    pub count: Value,
    /// Elements from one to the next on the side outside of workgroup memory, 64 bits.
    pub stride: Value,
    /// Bytes of an element.
    pub bytes: u64,
    /// Whether workgroup memory is written; it is read otherwise.
    pub to_local: bool,
}

/// Emits an access at an address. The result is its loaded scalars, none for a store.
pub(crate) type EmitAccess<'f> = dyn Fn(&mut ClifLowering<'_, '_, '_>, Value) -> ClifScalars + 'f;

/// Emits code that ends the invocation.
pub(crate) type EmitExit<'f> = dyn Fn(&mut ClifLowering<'_, '_, '_>) + 'f;

/// Events of lowering. The defaults add no code.
#[expect(unused_variables, reason = "the defaults ignore their parameters")]
pub(crate) trait AccessHooks {
    /// Whether accesses outside of an object are found by comparison, so that neither guard pages nor shortened
    /// indices have to catch them.
    fn finds_outside_accesses(&self) -> bool {
        false
    }

    /// Whether so much code is added that few registers are left for values that live across an invocation.
    fn takes_registers(&self) -> bool {
        false
    }

    /// Number of the instruction that is being lowered, for reports at run time.
    fn site(&self, lower: &mut ClifLowering<'_, '_, '_>) -> u16 {
        0
    }

    /// A generated function begins.
    fn begin_function(&self) {}

    /// The code of an invocation begins.
    fn begin_invocation(&self, lower: &mut ClifLowering<'_, '_, '_>) {}

    /// The parameters of an invocation are read, its private variables are not initialised yet.
    fn begin_private_memory(&self, lower: &mut ClifLowering<'_, '_, '_>) {}

    /// The body of a callee begins in the place of a call.
    fn begin_inlined_call(&self, lower: &mut ClifLowering<'_, '_, '_>, call: InstRef<'_>) {}

    /// The body of a callee ends.
    fn end_inlined_call(&self) {}

    /// An instruction was lowered.
    fn after_instruction(&self, lower: &mut ClifLowering<'_, '_, '_>, inst: InstRef<'_>) {}

    /// Code for a result begins.
    fn begin_result(&self, lower: &mut ClifLowering<'_, '_, '_>, result: Option<Id>) {}

    /// Control flow depends on a value.
    fn before_branch(&self, lower: &mut ClifLowering<'_, '_, '_>, condition: Id) {}

    /// A block that may run again is entered. `exit` ends the invocation.
    fn before_back_edge(&self, lower: &mut ClifLowering<'_, '_, '_>, exit: &EmitExit<'_>) {}

    /// A function returns a value.
    fn before_return(&self, lower: &mut ClifLowering<'_, '_, '_>, value: Id) {}

    /// State of the value that a phi takes from the block that is being left.
    fn read_phi_operand(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        phi: Id,
        operand: Id,
    ) -> Option<ClifScalars> {
        None
    }

    /// Assigns the state that [`AccessHooks::read_phi_operand`] returned.
    fn assign_phi(&self, lower: &mut ClifLowering<'_, '_, '_>, phi: Id, state: &[Value]) {}

    /// Bytes to allocate for `bytes` of an invocation's private memory.
    fn private_bytes(&self, bytes: u64) -> u64 {
        bytes
    }

    /// Private memory was allocated for a variable or parameter.
    fn after_allocation(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        room: IdLocation,
        bytes: u64,
    ) {
    }

    /// Memory of a variable of a function was initialised.
    fn after_initialisation(&self, lower: &mut ClifLowering<'_, '_, '_>, id: Id) {}

    /// Memory of a module-level private variable was initialised.
    fn after_private_initialisation(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        offset: u32,
        bytes: u64,
    ) {
    }

    /// A promoted variable begins without a value, in `count` Cranelift variables in a row.
    fn begin_promoted(&self, lower: &mut ClifLowering<'_, '_, '_>, first: Variable, count: u32) {}

    /// A Cranelift variable was assigned.
    fn after_assignment(&self, lower: &mut ClifLowering<'_, '_, '_>, variable: Variable) {}

    /// A value was stored to a promoted variable.
    fn after_promoted_store(&self, lower: &mut ClifLowering<'_, '_, '_>, first: Variable) {}

    /// A promoted variable of `count` scalars is loaded through a pointer.
    fn before_promoted_load(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        pointer: Id,
        first: Variable,
        count: u32,
    ) {
    }

    /// The variable that has to be kept over suspensions beside another one.
    fn companion_variable(&self, variable: Variable) -> Option<Variable> {
        None
    }

    /// A load through a pointer begins.
    fn before_load(&self, lower: &mut ClifLowering<'_, '_, '_>, pointer: Id) {}

    /// A store of a value through a pointer to memory begins.
    fn before_store(&self, lower: &mut ClifLowering<'_, '_, '_>, pointer: Id, value: Id) {}

    /// Makes an access to scalars. `values` are stored. Returns the scalars that `emit` loads.
    ///
    /// # Errors
    /// When the access cannot be lowered.
    fn access_scalars(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        leaves: &dyn Fn(&ClifLowering<'_, '_, '_>) -> Vec<ScalarLeaf>,
        values: &[Value],
        emit: &EmitAccess<'_>,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        Ok(emit(lower, access.address))
    }

    /// An access to scalars begins. Returns the address to use.
    ///
    /// # Errors
    /// When the access cannot be lowered.
    fn before_scalar_access(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        leaves: &[ScalarLeaf],
        values: &[Value],
    ) -> Result<Value, SourceDiagnostic> {
        Ok(access.address)
    }

    /// An access to bytes in a row begins. Returns the address to use.
    ///
    /// # Errors
    /// When the access cannot be lowered.
    fn before_range_access(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        bytes: u64,
    ) -> Result<Value, SourceDiagnostic> {
        Ok(access.address)
    }

    /// An atomic access through a pointer begins. Returns the pointer to use.
    ///
    /// # Errors
    /// When the access cannot be lowered.
    fn before_atomic(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        pointer: PointerOperand,
    ) -> Result<PointerOperand, SourceDiagnostic> {
        Ok(pointer)
    }

    /// A memory barrier.
    fn before_fence(&self, lower: &mut ClifLowering<'_, '_, '_>) {}

    /// Copies `size` bytes, a value of 64 bits.
    ///
    /// # Errors
    /// When the copy cannot be lowered.
    fn copy_memory(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        to: CopyEndpoint,
        from: CopyEndpoint,
        size: Value,
    ) -> ClifResult {
        lower.emit_memmove(to.address, from.address, size);
        Ok(())
    }

    /// A copy of a workgroup begins.
    ///
    /// # Errors
    /// When the copy cannot be lowered.
    fn before_group_copy(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        copy: GroupCopy,
    ) -> ClifResult {
        Ok(())
    }

    /// An index into an array of `count` elements is used. Returns the address to go on from.
    ///
    /// # Errors
    /// When the index cannot be lowered.
    fn before_index(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        address: Value,
        index: Id,
        count: u64,
    ) -> Result<Value, SourceDiagnostic> {
        Ok(address)
    }

    /// An index chooses one of `count` components.
    fn before_component(&self, lower: &mut ClifLowering<'_, '_, '_>, index: Value, count: u64) {}

    /// A division by a value.
    fn before_division(&self, lower: &mut ClifLowering<'_, '_, '_>, divisor: Value) {}

    /// A signed division. `overflows` is not zero where its type does not hold the quotient.
    fn before_quotient(&self, lower: &mut ClifLowering<'_, '_, '_>, overflows: Value) {}

    /// A shift of a value.
    fn before_shift(&self, lower: &mut ClifLowering<'_, '_, '_>, value: Value, amount: Value) {}

    /// An access to a field of bits of a value.
    fn before_bit_field(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        value: Value,
        offset: Value,
        count: Value,
    ) {
    }

    /// A call through a pointer finds that it points to no function.
    fn on_invalid_callee(&self, lower: &mut ClifLowering<'_, '_, '_>) {}
}

/// Hooks that add no code.
pub(crate) struct PlainHooks;

impl AccessHooks for PlainHooks {}
