//! Decoding: an entry point and the functions that it calls as steps.

mod async_copy;
mod composite;
mod control;
mod extended;
mod globals;
mod memory;
mod scalar;
mod waiting;

pub(crate) use globals::{BuiltinPlace, CodeParameter, KernelResource};

use crate::facts::{MatrixOrder, TypeFacts, refuse};
use crate::step::{CONSTANT, CodeFunction, CodeStep, KernelCode, RegisterMove, Slot, TableRange};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::{Func, InstRef, ModuleSection, SpirvModule};
use std::collections::HashMap;

/// An entry point as code.
#[derive(Debug)]
pub(crate) struct DecodedKernel {
    pub code: KernelCode,
    /// Size of workgroups, where the module fixes it.
    pub workgroup: Option<[u32; 3]>,
    /// Bytes of the variables of a workgroup.
    pub workgroup_bytes: u64,
    /// Initial contents of the variables of the module, and of those of each invocation.
    pub module_memory: Vec<u8>,
    pub private_memory: Vec<u8>,
    pub resources: Vec<KernelResource>,
    pub parameters: Vec<CodeParameter>,
    pub builtins: Vec<BuiltinPlace>,
}

/// A decoder of the functions of an entry point.
pub(crate) struct CodeDecoder<'m> {
    pub(crate) facts: TypeFacts<'m>,
    pub(crate) code: KernelCode,
    /// Addresses of variables of the module.
    globals: HashMap<Id, u64>,
    /// Constants in the pool.
    pooled: HashMap<Id, Slot>,
    /// Numbers of functions, and those that are not yet decoded.
    functions: HashMap<Id, u32>,
    waiting: Vec<(u32, Func)>,
    /// Registers of the values of the function.
    slots: HashMap<Id, Slot>,
    registers: u32,
    frame_bytes: u64,
    /// How matrices lie behind pointers to members.
    orders: HashMap<Id, MatrixOrder>,
    /// The place of the instruction that is decoded.
    place: SourceLocation,
}

/// The result of decoding an instruction.
pub(crate) type DecodeResult = Result<(), SourceDiagnostic>;

/// Decodes an entry point with values of specialisation constants.
///
/// # Errors
/// When there is no such entry point, or something is not supported.
pub(crate) fn decode_kernel(
    module: &SpirvModule,
    entry: &str,
    specialised: &[(u32, u64)],
) -> Result<DecodedKernel, SourceDiagnostic> {
    let mut points = module.section_insts(ModuleSection::EntryPoints);
    let point = points.find(|point| point.string_operand(2) == entry);
    let point = point.ok_or_else(|| {
        let message = format!("the module has no entry point {entry}");
        SourceDiagnostic::error(SourceLocation::Unknown, message)
    })?;
    let model = ExecutionModel(point.operand_word(0));
    if model != ExecutionModel::Kernel && model != ExecutionModel::GLCompute {
        return Err(refuse(
            point,
            format!("the interpreter does not run the model {model}"),
        ));
    }
    let facts = TypeFacts::from_module(module, specialised)?;
    let mut decoder = CodeDecoder {
        facts,
        code: KernelCode::default(),
        globals: HashMap::new(),
        pooled: HashMap::new(),
        functions: HashMap::new(),
        waiting: Vec::new(),
        slots: HashMap::new(),
        registers: 0,
        frame_bytes: 0,
        orders: HashMap::new(),
        place: SourceLocation::Unknown,
    };
    let function = point.id_operand(1);
    let is_kernel = model == ExecutionModel::Kernel;
    let globals = globals::place_globals(&mut decoder, is_kernel)?;
    let parameters = globals::list_parameters(&decoder, function)?;
    let workgroup = globals::find_workgroup_size(&decoder, function);
    decoder.function_number(function)?;
    while let Some((number, func)) = decoder.waiting.pop() {
        decoder.decode_function(number, func)?;
    }
    Ok(DecodedKernel {
        code: decoder.code,
        workgroup: if is_kernel {
            workgroup
        } else {
            Some(workgroup.unwrap_or([1; 3]))
        },
        workgroup_bytes: globals.workgroup_bytes,
        module_memory: globals.module_memory,
        private_memory: globals.private_memory,
        resources: globals.resources,
        parameters,
        builtins: globals.builtins,
    })
}

impl<'m> CodeDecoder<'m> {
    /// The number of a function, which is decoded later.
    ///
    /// # Errors
    /// When it has no body.
    pub(crate) fn function_number(&mut self, id: Id) -> Result<u32, SourceDiagnostic> {
        if let Some(number) = self.functions.get(&id) {
            return Ok(*number);
        }
        let module = self.facts.module;
        let mut functions = module.functions().iter();
        let func = functions.find(|func| module.function_id(**func) == id);
        let func = func.filter(|func| !module.function(**func).blocks.is_empty());
        let func = func.ok_or_else(|| {
            SourceDiagnostic::error(self.place, format!("the function {id} has no body"))
        })?;
        let number = self.code.functions.len() as u32;
        self.code.functions.push(CodeFunction::default());
        self.functions.insert(id, number);
        self.waiting.push((number, *func));
        Ok(number)
    }

    fn decode_function(&mut self, number: u32, func: Func) -> DecodeResult {
        let module = self.facts.module;
        self.slots.clear();
        self.orders.clear();
        self.registers = 0;
        self.frame_bytes = 0;
        let function = module.function(func);
        for parameter in module.list_insts(function.params) {
            if let Some(id) = parameter.result() {
                self.value_slot(id)?;
            }
        }
        let entry = self.code.steps.len() as u32;
        self.decode_blocks(func)?;
        self.code.functions[number as usize] = CodeFunction {
            entry,
            registers: self.registers,
            frame_bytes: self.frame_bytes,
        };
        Ok(())
    }

    /// Appends a step of the instruction that is decoded.
    pub(crate) fn push_step(&mut self, step: CodeStep) {
        self.code.steps.push(step);
        self.code.places.push(self.place);
    }

    /// The first register or constant of a value.
    ///
    /// # Errors
    /// When the value has a type without scalars.
    pub(crate) fn value_slot(&mut self, id: Id) -> Result<Slot, SourceDiagnostic> {
        if let Some(slot) = self.slots.get(&id).or_else(|| self.pooled.get(&id)) {
            return Ok(*slot);
        }
        let inst = self.facts.define(id)?;
        let ty = self.facts.type_of(id)?;
        if let Some(bits) = self.constant_bits(id) {
            let slot = self.pool_constants(&bits);
            self.pooled.insert(id, slot);
            return Ok(slot);
        }
        let globals = ModuleSection::Globals.list();
        if self.facts.module.list_of(inst.handle()) == Some(globals) && inst.op() != Op::Undef {
            return Err(refuse(
                inst,
                format!("the interpreter has no value of {}", inst.op()),
            ));
        }
        let count = self.facts.count_scalars(ty)?;
        if inst.op() == Op::Undef {
            let slot = self.pool_constants(&vec![0; count as usize]);
            self.pooled.insert(id, slot);
            return Ok(slot);
        }
        let slot = self.reserve_registers(count);
        self.slots.insert(id, slot);
        Ok(slot)
    }

    /// Registers without a value.
    pub(crate) fn reserve_registers(&mut self, count: u32) -> Slot {
        let slot = self.registers;
        self.registers += count;
        slot
    }

    /// Constants in a row.
    pub(crate) fn pool_constants(&mut self, bits: &[u64]) -> Slot {
        let slot = self.code.constants.len() as Slot;
        self.code.constants.extend_from_slice(bits);
        slot | CONSTANT
    }

    /// The register of an instruction's result.
    ///
    /// # Errors
    /// When it has none.
    pub(crate) fn result_slot(&mut self, inst: InstRef<'_>) -> Result<Slot, SourceDiagnostic> {
        let id = inst.result();
        let id = id.ok_or_else(|| refuse(inst, "the instruction has no result"))?;
        self.value_slot(id)
    }

    /// Number of scalars of a value.
    ///
    /// # Errors
    /// When it has no type.
    pub(crate) fn count_of(&self, id: Id) -> Result<u32, SourceDiagnostic> {
        self.facts.count_scalars(self.facts.type_of(id)?)
    }

    /// The type of an instruction's result.
    ///
    /// # Errors
    /// When it has none.
    pub(crate) fn result_type(&self, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
        let ty = inst.result_type();
        ty.ok_or_else(|| refuse(inst, "the instruction has no result type"))
    }

    /// Copies a value to the result of an instruction.
    pub(crate) fn copy_to_result(&mut self, inst: InstRef<'_>, from: Id) -> DecodeResult {
        let to = self.result_slot(inst)?;
        let from = self.value_slot(from)?;
        let count = self.facts.count_scalars(self.result_type(inst)?)?;
        self.push_step(CodeStep::Copy { to, from, count });
        Ok(())
    }

    /// Appends moves to their table.
    pub(crate) fn push_moves(&mut self, moves: &[RegisterMove]) -> TableRange {
        let first = self.code.moves.len() as u32;
        self.code.moves.extend_from_slice(moves);
        TableRange {
            first,
            count: moves.len() as u32,
        }
    }

    /// Bytes for a variable of the function. Returns their offset.
    pub(crate) fn reserve_frame(&mut self, bytes: u64, align: u32) -> u64 {
        let offset = self.frame_bytes.next_multiple_of(u64::from(align.max(16)));
        self.frame_bytes = offset.saturating_add(bytes);
        offset
    }

    /// Decodes an instruction that is no terminator.
    fn decode_inst(&mut self, inst: InstRef<'m>) -> DecodeResult {
        match inst.op() {
            Op::Nop
            | Op::Line
            | Op::NoLine
            | Op::LoopMerge
            | Op::SelectionMerge
            | Op::LifetimeStart
            | Op::LifetimeStop
            | Op::MemoryBarrier
            | Op::AssumeTrueKHR
            | Op::Phi
            | Op::Undef
            | Op::Label => Ok(()),
            Op::FunctionCall => self.decode_call(inst),
            Op::ExtInst => self.decode_extended(inst),
            Op::GroupAsyncCopy => self.decode_async_copy(inst),
            op if op.info().is_none() => Err(self.refuse_inst(inst)),
            _ => {
                let decoded = self.decode_memory(inst)?
                    || self.decode_atomic(inst)?
                    || self.decode_composite(inst)?
                    || self.decode_waiting(inst)?
                    || self.decode_scalar(inst)?;
                if decoded {
                    Ok(())
                } else {
                    Err(self.refuse_inst(inst))
                }
            }
        }
    }

    /// The refusal of an instruction that the interpreter lacks.
    pub(crate) fn refuse_inst(&self, inst: InstRef<'_>) -> SourceDiagnostic {
        refuse(inst, format!("the interpreter does not run {}", inst.op()))
    }
}
