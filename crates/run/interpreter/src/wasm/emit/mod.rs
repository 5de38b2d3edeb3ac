//! Emission of one function: locals, operands and the order of its parts.

mod access;
mod arithmetic;
mod control;
mod floats;
mod integers;
mod steps;
mod structure;
mod vectors;

pub(super) use control::{STATUS_ENDED, waiting_point};

use super::address_facts::{AddressFact, AddressFacts};
use super::block_graph::{BlockGraph, ResumeKind};
use super::function_plan::{FunctionPlan, KernelPlan, STATE_BYTES};
use super::host::{HostFunctions, HostedOperation};
use super::memory_layout::{self as layout, FixedLayout};
use super::module_writer::{
    FIRST_FUNCTION, GLOBAL_PRIVATE, GLOBAL_STATE, HELPER_FIND_REGION, IMPORT_APPLY,
};
use super::step_registers::{list_reads, list_writes};
use super::value_class::{ValueClass, choose_classes};
use crate::decode::DecodedKernel;
use crate::memory::MemoryRegion;
use crate::step::{CONSTANT, CodeStep, Slot};
use spirula_diagnostics::SourceDiagnostic;
use wasm_encoder::{Function, Ieee32, Ieee64, InstructionSink, MemArg, MemArgTarget, ValType};

/// Emits one instruction.
type EmitInstruction = for<'a, 'b> fn(&'a mut InstructionSink<'b>) -> &'a mut InstructionSink<'b>;

/// The operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum StepOperand {
    /// A register or constant.
    Slot(Slot),
    /// A local of a class.
    Local(u32, ValueClass),
}

/// The code of a kernel that is translated.
pub(super) struct KernelEmission<'k> {
    pub kernel: &'k DecodedKernel,
    pub plan: &'k KernelPlan,
    pub layout: FixedLayout,
    pub functions: HostFunctions,
}

/// Bounds of a region in the locals of a function.
struct RegionLocals {
    fact: AddressFact,
    base: u32,
    size: u32,
    /// The address of the region's first byte, where it is not a constant.
    start: Option<u32>,
    /// The first offset that is too large for an access, by the bytes of the access.
    limits: Vec<(u64, u32)>,
}

/// The emission of a function.
pub(super) struct FunctionEmitter<'k, 'e> {
    emission: &'e mut KernelEmission<'k>,
    kernel: &'k DecodedKernel,
    plan: &'k FunctionPlan,
    graph: BlockGraph,
    facts: AddressFacts<'k>,
    classes: Vec<ValueClass>,
    body: Vec<u8>,
    /// Locals after the parameters.
    locals: Vec<ValType>,
    /// The local of each register; none where it is not used.
    registers: Vec<Option<u32>>,
    regions: Vec<RegionLocals>,
    /// Reused locals: an offset in a region, an address in memory, the number of the dispatched block.
    offset_local: u32,
    pointer_local: u32,
    dispatch_local: u32,
    /// Temporaries of each class, which no two steps share.
    temporaries: Vec<(ValueClass, u32)>,
    labels: Vec<structure::CodeLabel>,
}

/// Emits a function.
///
/// # Errors
/// When it is too large.
pub(super) fn emit_function<'k>(
    emission: &mut KernelEmission<'k>,
    number: usize,
) -> Result<Function, SourceDiagnostic> {
    let (kernel, plans) = (emission.kernel, &emission.plan.functions);
    let plan = &plans[number];
    let has_points = !kernel.code.points.is_empty();
    let graph = BlockGraph::from_function(&kernel.code, plan, |step| match step {
        CodeStep::Suspend(_) => ResumeKind::After,
        CodeStep::Call { function, .. } if has_points && plans[*function as usize].may_suspend => {
            ResumeKind::At
        }
        _ => ResumeKind::Never,
    })?;
    let registers = kernel.code.functions[number].registers as usize;
    let mut emitter = FunctionEmitter {
        kernel,
        plan,
        graph,
        facts: AddressFacts::from_function(&kernel.code, plans, plan),
        classes: choose_classes(&kernel.code, plans, plan),
        body: Vec::new(),
        locals: Vec::new(),
        registers: vec![None; registers],
        regions: Vec::new(),
        offset_local: 0,
        pointer_local: 0,
        dispatch_local: 0,
        temporaries: Vec::new(),
        labels: Vec::new(),
        emission,
    };
    emitter.allocate_registers();
    emitter.offset_local = emitter.new_local(ValueClass::I64);
    emitter.pointer_local = emitter.new_local(ValueClass::I32);
    emitter.dispatch_local = emitter.new_local(ValueClass::I32);
    emitter.emit_structure()?;
    Ok(emitter.finish())
}

impl<'k> FunctionEmitter<'k, '_> {
    fn sink(&mut self) -> InstructionSink<'_> {
        InstructionSink::new(&mut self.body)
    }

    /// A local of a class.
    fn new_local(&mut self, class: ValueClass) -> u32 {
        self.locals.push(class.to_type());
        self.plan.parameters + self.locals.len() as u32 - 1
    }

    /// A local that one step uses. The number tells those of a step apart.
    fn temporary(&mut self, class: ValueClass, number: usize) -> u32 {
        let of_class = |temporaries: &[(ValueClass, u32)]| -> Vec<u32> {
            let known = temporaries.iter().filter(|(of, _)| *of == class);
            known.map(|(_, local)| *local).collect()
        };
        while of_class(&self.temporaries).len() <= number {
            let local = self.new_local(class);
            self.temporaries.push((class, local));
        }
        of_class(&self.temporaries)[number]
    }

    /// The local of a register.
    fn register_local(&mut self, slot: Slot) -> (u32, ValueClass) {
        let class = self.classes[slot as usize];
        let local = match self.registers[slot as usize] {
            Some(local) => local,
            None => {
                let local = self.new_local(class);
                self.registers[slot as usize] = Some(local);
                local
            }
        };
        (local, class)
    }

    /// Gives each register that a step or an edge names a local. So all registers that are saved are known before any code.
    fn allocate_registers(&mut self) {
        let (code, plans) = (&self.kernel.code, &self.emission.plan.functions);
        let mut used = Vec::new();
        for step in &code.steps[self.plan.steps.clone()] {
            let writes = list_writes(code, step, |called| plans[called as usize].results);
            let rows = list_reads(code, step).into_iter().chain(writes);
            used.extend(rows.flat_map(|row| row.list()));
        }
        for edge in self.plan.list_edges(code) {
            let moves = code.edges[edge as usize].moves;
            for step in &code.moves[moves.indices()] {
                used.extend(
                    [step.to, step.from]
                        .iter()
                        .filter(|slot| **slot & CONSTANT == 0),
                );
            }
        }
        for slot in used {
            self.register_local(slot);
        }
    }

    /// Pushes the bits of a constant.
    fn push_constant(&mut self, bits: u64, class: ValueClass) {
        let mut sink = self.sink();
        match class {
            ValueClass::I32 => sink.i32_const(bits as i32),
            ValueClass::I64 => sink.i64_const(bits as i64),
            ValueClass::F32 => sink.f32_const(Ieee32::new(bits as u32)),
            ValueClass::F64 => sink.f64_const(Ieee64::new(bits)),
        };
    }

    /// The bits of an operand, where it is a constant.
    fn constant_of(&self, operand: StepOperand) -> Option<u64> {
        match operand {
            StepOperand::Slot(slot) if slot & CONSTANT != 0 => {
                Some(self.kernel.code.constants[(slot & !CONSTANT) as usize])
            }
            _ => None,
        }
    }

    /// Pushes an operand in a class.
    fn push(&mut self, operand: StepOperand, class: ValueClass) {
        if let Some(bits) = self.constant_of(operand) {
            self.push_constant(bits, class);
            return;
        }
        let (local, own) = match operand {
            StepOperand::Slot(slot) => self.register_local(slot),
            StepOperand::Local(local, own) => (local, own),
        };
        let mut sink = self.sink();
        sink.local_get(local);
        own.convert(class, &mut sink);
    }

    /// Pushes a register or constant in a class.
    fn push_slot(&mut self, slot: Slot, class: ValueClass) {
        self.push(StepOperand::Slot(slot), class);
    }

    /// Pops a value of a class to a register.
    fn pop_to(&mut self, slot: Slot, class: ValueClass) {
        let (local, own) = self.register_local(slot);
        let mut sink = self.sink();
        class.convert(own, &mut sink);
        sink.local_set(local);
    }

    /// Copies a register or constant.
    fn copy_slot(&mut self, to: Slot, from: Slot) {
        if to != from {
            let class = self.classes[to as usize];
            self.push_slot(from, class);
            self.pop_to(to, class);
        }
    }

    /// Calls an operation of the host. The result is 64 bits.
    fn call_host(&mut self, operation: HostedOperation, operands: &[StepOperand]) -> ValueClass {
        let number = self.emission.functions.push_operation(operation);
        self.sink().i32_const(number as i32);
        for at in 0..4 {
            match operands.get(at) {
                Some(operand) => self.push(*operand, ValueClass::I64),
                None => self.push_constant(0, ValueClass::I64),
            }
        }
        self.sink().call(IMPORT_APPLY);
        ValueClass::I64
    }

    /// Whether invocations resume in the function.
    fn is_resumed(&self) -> bool {
        self.plan.may_suspend && !self.kernel.code.points.is_empty()
    }

    /// The registers that have locals, with those.
    fn list_used(&self) -> Vec<(Slot, u32, ValueClass)> {
        let registers = self.registers.iter().enumerate();
        registers
            .filter_map(|(slot, local)| Some((slot as Slot, (*local)?, self.classes[slot])))
            .collect()
    }

    /// The offset of a saved register in the state of an invocation.
    fn saved_offset(&self, slot: Slot) -> u64 {
        u64::from(self.plan.saved + STATE_BYTES) + 8 * u64::from(slot)
    }

    /// Puts the parts together: parameters and bounds of regions come first.
    fn finish(mut self) -> Function {
        let body = std::mem::take(&mut self.body);
        for parameter in 0..self.plan.parameters {
            if self.registers[parameter as usize].is_some() {
                self.sink().local_get(parameter);
                self.pop_to(parameter, ValueClass::I64);
            }
        }
        for region in std::mem::take(&mut self.regions) {
            self.emit_region_bounds(&region);
        }
        if self.is_resumed() {
            self.emit_restoration();
        }
        let mut function = Function::new_with_locals_types(self.locals.iter().copied());
        function.raw(self.body).raw(body);
        function
    }

    /// Loads the registers that were saved, where the invocation resumes in the function.
    fn emit_restoration(&mut self) {
        let state = byte_offset(self.plan.saved.into());
        let dispatch = self.dispatch_local;
        let used = self.list_used();
        let mut sink = self.sink();
        sink.global_get(GLOBAL_STATE)
            .i32_load(state)
            .local_tee(dispatch);
        sink.if_(wasm_encoder::BlockType::Empty);
        for (slot, local, class) in used {
            let place = byte_offset(self.saved_offset(slot));
            let mut sink = self.sink();
            sink.global_get(GLOBAL_STATE).i64_load(place);
            ValueClass::I64.convert(class, &mut sink);
            sink.local_set(local);
        }
        self.sink().end();
    }

    /// Sets the locals of a region's bounds.
    fn emit_region_bounds(&mut self, region: &RegionLocals) {
        match region.fact {
            AddressFact::Parameter(slot) => {
                let mask = !((1u64 << crate::memory::OFFSET_BITS) - 1);
                let mut sink = self.sink();
                sink.local_get(slot)
                    .call(HELPER_FIND_REGION)
                    .local_set(region.size)
                    .local_set(region.base);
                if let Some(start) = region.start {
                    sink.local_get(slot)
                        .i64_const(mask as i64)
                        .i64_and()
                        .local_set(start);
                }
            }
            AddressFact::Region(number) if number == MemoryRegion::PRIVATE.0 => {
                let bytes = self.emission.layout.private_bytes;
                self.sink()
                    .global_get(GLOBAL_PRIVATE)
                    .local_set(region.base)
                    .i64_const(bytes as i64)
                    .local_set(region.size);
            }
            AddressFact::Region(number) => {
                let index = match number.checked_sub(MemoryRegion::from_resource(0).0) {
                    Some(resource) => layout::FIXED_REGIONS + resource,
                    None => number,
                };
                let row = u64::from(self.emission.layout.region_row(index));
                self.sink()
                    .i32_const(0)
                    .i32_load(byte_offset(row))
                    .local_set(region.base)
                    .i32_const(0)
                    .i64_load(byte_offset(row + 8))
                    .local_set(region.size);
            }
            _ => {}
        }
        for (span, limit) in &region.limits {
            // The number of offsets at which a given number of bytes fits.
            let span = *span as i64;
            self.sink()
                .local_get(region.size)
                .i64_const(span - 1)
                .i64_sub()
                .i64_const(0)
                .local_get(region.size)
                .i64_const(span)
                .i64_ge_u()
                .select()
                .local_set(*limit);
        }
    }

    /// The index of a function of the kernel.
    fn function_index(number: u32) -> u32 {
        FIRST_FUNCTION + number
    }
}

/// An offset of an access, with the alignment of bytes.
pub(super) fn byte_offset(offset: u64) -> MemArg {
    MemArg {
        offset,
        align: 0,
        target: MemArgTarget::default(),
        ordering: None,
    }
}
