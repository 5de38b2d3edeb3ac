//! The state of lowering: the function being built, and a scope for each inlined call.

use super::ClifScalars;
use super::access_hooks::AccessHooks;
use super::gang_loop::GangLoop;
use super::jit::JitCode;
use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::block_counters::BlockCounters;
use crate::analysis::non_temporal_stores::NonTemporalStores;
use crate::analysis::privatised_atomics::PrivatisedAtomics;
use crate::analysis::suspension::SuspensionPoint;
use crate::host::printf::PrintfArgument;
use crate::layout::frames::{FrameExtent, PrivateExtent};
use crate::layout::globals::ReachedGlobals;
use crate::layout::parameters::ParameterSlot;
use crate::module::types::{MatrixStrides, ScalarRepr};
use cranelift_codegen::ir::{
    AbiParam, AliasRegionData, Block, InstBuilder, MemFlagsData, Signature, StackSlot,
    StackSlotData, StackSlotKind, Type, Value, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::wide::WideFunction;
use spirula_spirv::Id;
use spirula_spirv::ir::{Func, Inst, InstRef};

/// Most bytes of a variable on the stack.
const MAX_STACK_SLOT: u32 = 1 << 17;

/// The state that the functions of a kernel share while they are lowered.
pub(crate) struct ClifKernelContext<'a, 'm> {
    pub program: &'a AnalysedModule<'m>,
    pub globals: &'a ReachedGlobals,
    /// Lanes of a subgroup, a power of two.
    pub subgroup_size: u32,
    /// The code that is being generated.
    pub code: &'a mut JitCode,
    /// Suspension points so far.
    pub points: Vec<SuspensionPoint>,
    /// The gang loop, if code for gangs is generated.
    pub gang: Option<GangLoop>,
    /// The part of an invocation's private memory that private variables and the functions so far take.
    pub rooms: PrivateExtent,
    /// Addresses of constants that are kept in memory.
    pub large_constants: rustc_hash::FxHashMap<Id, usize>,
    /// The counters of blocks, if they are counted.
    pub counters: Option<BlockCounters>,
    /// Hooks at accesses and at instructions that may fault.
    pub hooks: &'a dyn AccessHooks,
    /// The kernel's parameters.
    pub slots: &'a [ParameterSlot],
    /// The arguments of each instruction that prints.
    pub prints: Vec<Vec<PrintfArgument>>,
    /// Vector forms of functions on one number, by the addresses of the latter.
    pub wide_functions: rustc_hash::FxHashMap<usize, WideFunction>,
    /// Bytes of the workgroup's memory for large cooperative matrices.
    pub matrix_bytes: u32,
    /// Whether invocations have to come in their order.
    pub in_order: bool,
    /// Memory that is only written.
    pub non_temporal: NonTemporalStores,
    /// The memory that is only updated by atomics of one kind.
    pub privatised: PrivatisedAtomics,
    /// The stores to it, of the code for gangs.
    pub non_temporal_insts: rustc_hash::FxHashSet<cranelift_codegen::ir::Inst>,
    /// Addresses and lengths of formats that are no constants.
    pub strings: Vec<(u64, u64)>,
}

impl<'a, 'm> ClifKernelContext<'a, 'm> {
    /// The context of a kernel of which nothing is lowered yet. Subgroups have one lane, and blocks are not counted.
    pub fn new(
        program: &'a AnalysedModule<'m>,
        globals: &'a ReachedGlobals,
        slots: &'a [ParameterSlot],
        code: &'a mut JitCode,
        hooks: &'a dyn AccessHooks,
    ) -> Self {
        ClifKernelContext {
            program,
            globals,
            subgroup_size: 1,
            code,
            points: Vec::new(),
            gang: None,
            rooms: PrivateExtent::default(),
            large_constants: rustc_hash::FxHashMap::default(),
            counters: None,
            hooks,
            slots,
            prints: Vec::new(),
            wide_functions: rustc_hash::FxHashMap::default(),
            matrix_bytes: 0,
            in_order: false,
            non_temporal: NonTemporalStores::from_program(program, &globals.bound),
            privatised: PrivatisedAtomics::from_program(program, &globals.bound),
            non_temporal_insts: rustc_hash::FxHashSet::default(),
            strings: Vec::new(),
        }
    }
}

/// The values that identify the invocation that runs.
#[derive(Clone, Copy)]
pub(crate) struct InvocationValues {
    /// The launch context.
    pub context: Value,
    /// Local id, 32 bits each.
    pub local: [Value; 3],
    /// Local index, 32 bits.
    pub linear: Value,
    /// The invocation's private memory: the module's private variables, then rooms.
    pub rooms: Value,
    /// The invocation's frame, in entry functions; one for all where none is suspended.
    pub frame: Option<Value>,
}

/// A pointer that is no address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SymbolicPointer {
    /// Into a promoted variable: its first scalar and its Cranelift variables.
    Promoted { first: Variable },
    /// An input variable that holds a built-in value, or a component of the value.
    BuiltIn {
        variable: Id,
        component: Option<u32>,
    },
    /// An array of bindings.
    Bindings { binding: u32 },
}

/// The location of an id's scalars.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IdLocation {
    /// Nowhere yet.
    Unset,
    /// In the pool of values.
    Values { start: u32, count: u32 },
    /// In slots of the frame, as they are live at suspension points. The variables name the slots.
    Kept { start: u32, count: u32 },
    /// In memory, as they are too many for registers.
    Memory(Value),
    /// A large constant.
    Constant(Id),
    /// In the invocation's private memory, at an offset, as they are too many for registers.
    RoomMemory(u32),
    /// A large cooperative matrix, at an offset in the workgroup's memory for such matrices.
    InMemoryMatrix(u32),
    /// An address within the invocation's private memory.
    RoomAddress(u32),
    /// A pointer that is no address.
    Symbol(SymbolicPointer),
}

/// Properties of a pointer besides its address.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointeeInfo {
    /// Strides of the matrix or column that it points to, or of matrices in there.
    pub strides: Option<MatrixStrides>,
    /// Whether the scalar is the address of a binding's entry, which holds the address meant.
    pub is_entry: bool,
}

/// The scope of a function whose body is being lowered into the current one.
pub(crate) struct InlineScope {
    pub func: Func,
    pub held: Vec<IdLocation>,
    pub pointed: Vec<PointeeInfo>,
    /// First variable of each phi.
    pub phis: Vec<Option<Variable>>,
    /// Cranelift's block of each block.
    pub blocks: Vec<Block>,
    /// Position of the block being lowered.
    pub position: u32,
    /// The block that follows an inlined function, with the variables of its result.
    pub exit: Option<(Block, Vec<Variable>)>,
    /// The suspension point or suspending call being lowered.
    pub cut: Option<Inst>,
    /// Whether the lowering of each block has begun.
    pub begun: Vec<bool>,
}

/// Lowering of one function of generated code.
pub(crate) struct ClifLowering<'a, 'b, 'm> {
    pub shared: &'a mut ClifKernelContext<'b, 'm>,
    pub program: &'b AnalysedModule<'m>,
    pub builder: FunctionBuilder<'a>,
    pub scopes: Vec<InlineScope>,
    pub item: InvocationValues,
    /// Layout of the invocations' frames; only in entry functions that suspend.
    pub frame: FrameExtent,
    /// The block in which an invocation's run ends. Its argument is the new state.
    pub item_end: Option<Block>,
    /// The block in which the invocation resumes after each suspension point.
    pub resumes: Vec<Block>,
    pub pool: Vec<Value>,
    /// Offset and type of each Cranelift variable's slot in the frame.
    pub slots: Vec<Option<(i32, Type)>>,
    /// Variables of promoted module-level variables.
    pub private: Vec<(Id, Variable)>,
    /// Whether an instruction assigned values of the wrong type.
    pub is_ill_typed: bool,
    /// The instruction being lowered, for diagnostics.
    pub current: Option<InstRef<'m>>,
}

impl<'a, 'b, 'm> ClifLowering<'a, 'b, 'm> {
    /// A lowering without any code.
    pub fn new(
        shared: &'a mut ClifKernelContext<'b, 'm>,
        builder: FunctionBuilder<'a>,
        item: InvocationValues,
        frame: FrameExtent,
    ) -> Self {
        shared.hooks.begin_function();
        ClifLowering {
            program: shared.program,
            shared,
            builder,
            scopes: Vec::new(),
            item,
            frame,
            item_end: None,
            resumes: Vec::new(),
            pool: Vec::new(),
            slots: Vec::new(),
            private: Vec::new(),
            is_ill_typed: false,
            current: None,
        }
    }
}

impl<'b> ClifLowering<'_, 'b, '_> {
    /// The hooks of the kernel.
    pub fn hooks(&self) -> &'b dyn AccessHooks {
        self.shared.hooks
    }
}

impl<'m> ClifLowering<'_, '_, 'm> {
    /// The scope of the function being lowered.
    pub fn current_scope(&mut self) -> &mut InlineScope {
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// A fault of the instruction being lowered.
    pub fn instruction_fault(&self, message: impl std::fmt::Display) -> SourceDiagnostic {
        match self.current {
            Some(inst) => {
                SourceDiagnostic::error(inst.place(), format!("{}: {message}", inst.op()))
            }
            None => SourceDiagnostic::error(
                spirula_diagnostics::SourceLocation::Unknown,
                message.to_string(),
            ),
        }
    }

    /// The fault that the instruction cannot be lowered for these operands.
    pub fn fail_unsupported<T>(
        &self,
        construct: impl std::fmt::Display,
    ) -> Result<T, SourceDiagnostic> {
        Err(self.instruction_fault(format!("{construct} is not supported by the CPU device")))
    }

    /// The result type of an instruction that has one.
    pub fn result_type(&self, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
        inst.result_type()
            .ok_or_else(|| self.instruction_fault("it has no result type"))
    }

    /// The type of a value.
    pub fn type_of(&self, id: Id) -> Result<Id, SourceDiagnostic> {
        let ty = self.program.type_of(id);
        ty.ok_or_else(|| self.instruction_fault(format!("{id} is no value")))
    }

    /// The component type of a value.
    pub fn scalar_of(&self, id: Id) -> Result<ScalarRepr, SourceDiagnostic> {
        let ty = self.type_of(id)?;
        self.component_scalar(ty)
    }

    /// The component type of a type.
    pub fn component_scalar(&self, ty: Id) -> Result<ScalarRepr, SourceDiagnostic> {
        let scalar = self.program.types.component_scalar(ty);
        scalar.ok_or_else(|| self.instruction_fault(format!("the type {ty} is not supported")))
    }

    /// The value of a constant operand.
    pub fn read_constant(&self, id: Id) -> Result<u64, SourceDiagnostic> {
        let value = self.program.constants.get_u64(id);
        value.ok_or_else(|| self.instruction_fault(format!("{id} is no constant")))
    }

    /// A field of the launch context.
    pub fn load_context_field(&mut self, ty: Type, offset: i32) -> Value {
        let context = self.item.context;
        self.builder
            .ins()
            .load(ty, invariant_flags(), context, offset)
    }

    /// Flags of accesses to slots in the frame, which nothing else reaches.
    pub fn slot_flags(&mut self) -> MemFlagsData {
        let region = AliasRegionData {
            user_id: 0,
            description: "slots".into(),
        };
        let region = self.builder.func.dfg.alias_regions.insert(region);
        MemFlagsData::trusted().with_alias_region(Some(region))
    }

    /// An integer constant.
    pub fn emit_iconst(&mut self, ty: Type, value: i64) -> Value {
        // Cranelift wants the bits above the type to be zero.
        let bits = match ty.bits() {
            64.. => value,
            bits => value & ((1 << bits) - 1),
        };
        self.builder.ins().iconst(ty, bits)
    }

    /// Room on the function's stack.
    pub fn stack_slot(&mut self, bytes: u64) -> Result<StackSlot, SourceDiagnostic> {
        let size = u32::try_from(bytes).ok().filter(|b| *b <= MAX_STACK_SLOT);
        let Some(size) = size else {
            return self.fail_unsupported(format!("a variable of {bytes} bytes"));
        };
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size.max(1), 4);
        Ok(self.builder.create_sized_stack_slot(data))
    }

    /// Room in the invocation's private memory, which lies between guards: the stack would not survive an index that
    /// is out of bounds.
    pub fn allocate_private_memory(
        &mut self,
        bytes: u64,
        align: u32,
    ) -> Result<IdLocation, SourceDiagnostic> {
        match self.frame.rooms.open_room(bytes, align) {
            Some(offset) => Ok(IdLocation::RoomAddress(offset)),
            None => self.fail_unsupported(format!("a variable of {bytes} bytes")),
        }
    }

    /// The address of room.
    pub fn private_memory_address(&mut self, room: IdLocation) -> Value {
        match room {
            IdLocation::RoomAddress(offset) | IdLocation::RoomMemory(offset) => {
                let rooms = self.item.rooms;
                self.builder.ins().iadd_imm_s(rooms, i64::from(offset))
            }
            _ => self.emit_iconst(types::I64, 0),
        }
    }

    /// Calls a function of the host.
    pub fn call_host(
        &mut self,
        address: usize,
        params: &[Type],
        results: &[Type],
        args: &[Value],
    ) -> ClifScalars {
        let mut signature = Signature::new(self.shared.code.host_convention());
        signature
            .params
            .extend(params.iter().map(|t| AbiParam::new(*t)));
        signature
            .returns
            .extend(results.iter().map(|t| AbiParam::new(*t)));
        let signature = self.builder.import_signature(signature);
        let callee = self.emit_iconst(types::I64, address as i64);
        let call = self.builder.ins().call_indirect(signature, callee, args);
        self.builder.inst_results(call).iter().copied().collect()
    }
}

/// Flags of accesses to memory that never changes during a call.
pub(crate) fn invariant_flags() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

/// Flags of plain accesses to the program's memory.
pub(crate) fn plain_flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Cranelift's type for a scalar.
pub(crate) fn clif_type(scalar: ScalarRepr) -> Type {
    match scalar {
        ScalarRepr::Bool | ScalarRepr::Int(8) | ScalarRepr::E4M3 | ScalarRepr::E5M2 => types::I8,
        ScalarRepr::Int(16) | ScalarRepr::F16 | ScalarRepr::BF16 => types::I16,
        ScalarRepr::Int(32) => types::I32,
        ScalarRepr::F32 => types::F32,
        ScalarRepr::F64 => types::F64,
        ScalarRepr::Int(_) | ScalarRepr::Pointer => types::I64,
    }
}

/// The integer type of a size in bytes.
pub(crate) fn int_of(bytes: u32) -> Type {
    match bytes {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}
