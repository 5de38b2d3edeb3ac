//! Lowering of whole programs: functions of the host to steps, kernels to modules.

mod context;
mod control_flow;
mod entry;
mod kernels;
mod launch;
mod sequential;
mod simplify;
mod statements;

use crate::call_graph;
use crate::ir::{KernelProgram, MessageData, MessageSegment};
use crate::lower::{LoweredKernel, lower_kernel};
use context::{HostStepLowering, take_number};
use kernels::deduplicate_kernels;
use rustc_hash::FxHashMap;
use simplify::simplify_function;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::ScalarType;
use spirula_program::program as out;
use spirula_program::program::{GLOBAL, HostMemoryRef, HostRegister, HostSlot};

fn lower_kernels(program: &KernelProgram) -> Vec<Result<LoweredKernel, SourceDiagnostic>> {
    let kernels = program.kernel_ids();
    kernels
        .map(|kernel| lower_kernel(program, kernel))
        .collect()
}

/// The number of each kernel among those of the compiled program, where equal kernels have one.
pub(crate) fn number_kernels(program: &KernelProgram) -> Vec<usize> {
    deduplicate_kernels(&lower_kernels(program)).1
}

/// Lowers a checked program, without the functions that its copies need.
pub(crate) fn lower_program(
    program: &KernelProgram,
) -> Result<out::CompiledProgram, SourceDiagnostic> {
    let on_device = call_graph::on_device(program)?;
    let lowered = lower_kernels(program);
    let (kernels, kernel_ids) = deduplicate_kernels(&lowered);
    let mut host = HostStepLowering {
        program,
        lowered: &lowered,
        kernel_ids,
        slots: FxHashMap::default(),
        globals: FxHashMap::default(),
        function: out::HostFunction::default(),
        data: Vec::new(),
        place: SourceLocation::Unknown,
        invocation: None,
    };
    let (mut scalars, mut memories) = (0, 0);
    for var in &program.globals {
        let slot = match program.scalar_type(*var) {
            Some(_) => HostSlot::Scalar(HostRegister(GLOBAL | take_number(&mut scalars))),
            None => HostSlot::Memory(HostMemoryRef(GLOBAL | take_number(&mut memories))),
        };
        host.globals.insert(*var, slot);
    }
    let mut result = out::CompiledProgram {
        kernels,
        parameters: program.parameters.clone(),
        limits: program.limits.clone(),
        messages: program
            .messages
            .iter()
            .map(|m| to_program_message(program, m))
            .collect(),
        global_scalars: scalars,
        global_memories: memories,
        initialise: program.functions.len(),
        ..out::CompiledProgram::default()
    };
    for function in program.function_ids() {
        let mut compiled = match host.lower_function(function) {
            Ok(compiled) => compiled,
            // A function that only kernels call may contain statements that the host cannot run.
            Err(_) if on_device[function.index()] => out::HostFunction::default(),
            Err(fault) => return Err(fault),
        };
        let entries = program.entries.iter().filter(|e| e.function == function);
        let first = result.entries.len();
        result
            .entries
            .extend(entries.map(|entry| host.lower_entry(entry)));
        simplify_function(&mut compiled, &result.entries[first..]);
        result.functions.push(compiled);
    }
    host.begin_function();
    if let Some(block) = program.initialise {
        host.lower_block(block)?;
    }
    simplify_function(&mut host.function, &[]);
    result.functions.push(std::mem::take(&mut host.function));
    result.data = host.data;
    Ok(result)
}

fn to_program_message(program: &KernelProgram, message: &MessageData) -> out::ProgramMessage {
    let parts = message.parts.iter().map(|part| match part {
        MessageSegment::Text(text) => out::MessagePart::Text(text.clone()),
        MessageSegment::Value(expr) => {
            out::MessagePart::Value(program.type_of(*expr).unwrap_or(ScalarType::Unit))
        }
    });
    out::ProgramMessage {
        parts: parts.collect(),
        backtrace: message.backtrace.clone(),
    }
}
