//! Lowering of whole programs: functions of the host to steps, kernels to modules.

mod entry;
mod sequential;
mod simplify;

use crate::call_graph;
use crate::ir::{
    CallStmt, CopyOperand, CopyStmt, ExprData, ExprId, FuncArgument, FuncId, KernelCapture,
    KernelId, KernelProgram, MessageId, MessageSegment, StaticData, StmtBlock, StmtKind, VarId,
    VariableType,
};
use crate::lower::{LoweredKernel, SpecValue, lower_kernel, unsupported_diagnostic};
use rustc_hash::FxHashMap;
use simplify::simplify_function;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::program as out;
use spirula_program::program::{GLOBAL, HostMemoryRef, HostRegister, HostSlot, HostStep};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use spirula_spirv::ir::SpirvModule;
use std::sync::Arc;

/// Compiles a checked program. A kernel that cannot be lowered fails when it is launched.
///
/// # Errors If the program breaks a rule of the verifier that lowering depends on.
pub fn compile_program(program: &KernelProgram) -> Result<out::CompiledProgram, SourceDiagnostic> {
    let on_device = call_graph::on_device(program)?;
    let lowered: Vec<Result<LoweredKernel, SourceDiagnostic>> = program
        .kernel_ids()
        .map(|k| lower_kernel(program, k))
        .collect();
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

fn take_number(number: &mut u32) -> u32 {
    *number += 1;
    *number - 1
}

/// Removes duplicate kernels; returns the kernels and, for each kernel of the program, its index among them. Layers
/// of a model repeat their kernels, which a device would otherwise compile again each time.
fn deduplicate_kernels(
    lowered: &[Result<LoweredKernel, SourceDiagnostic>],
) -> (Vec<out::ProgramKernel>, Vec<usize>) {
    let mut kernels: Vec<out::ProgramKernel> = Vec::new();
    let mut ids = Vec::new();
    let mut known: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    for lowered in lowered {
        let kernel = to_program_kernel(lowered);
        let equal = known
            .get(&kernel.words)
            .filter(|id| kernels[**id] == kernel);
        let id = match equal {
            Some(id) => *id,
            None => {
                known.insert(kernel.words.clone(), kernels.len());
                kernels.push(kernel);
                kernels.len() - 1
            }
        };
        ids.push(id);
    }
    (kernels, ids)
}

fn to_program_kernel(lowered: &Result<LoweredKernel, SourceDiagnostic>) -> out::ProgramKernel {
    match lowered {
        Ok(lowered) => out::ProgramKernel {
            words: lowered.module.to_words(),
            laid_out: lowered.laid_out.as_ref().map(SpirvModule::to_words),
            refusal: None,
            scalars: lowered
                .scalars
                .iter()
                .map(|(_, ty, at)| (*at, *ty))
                .collect(),
            scalar_bytes: lowered.scalar_bytes,
            scalars_in_buffer: lowered.scalars_in_buffer,
            uses_failures: lowered.uses_failures,
            can_fail: lowered.can_fail,
            bound: lowered.bound.clone(),
            reach: lowered.reach.clone(),
        },
        Err(fault) => out::ProgramKernel {
            words: Vec::new(),
            laid_out: None,
            refusal: Some(fault.message.clone()),
            scalars: Vec::new(),
            scalar_bytes: 4,
            scalars_in_buffer: false,
            uses_failures: false,
            can_fail: false,
            bound: Vec::new(),
            reach: Vec::new(),
        },
    }
}

fn to_program_message(
    program: &KernelProgram,
    message: &crate::ir::MessageData,
) -> out::ProgramMessage {
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

struct HostStepLowering<'a> {
    program: &'a KernelProgram,
    lowered: &'a [Result<LoweredKernel, SourceDiagnostic>],
    /// For each kernel of the program, its index in the result.
    kernel_ids: Vec<usize>,
    /// Slots of the variables of the current function.
    slots: FxHashMap<VarId, HostSlot>,
    globals: FxHashMap<VarId, HostSlot>,
    function: out::HostFunction,
    data: Vec<Arc<[u8]>>,
    place: SourceLocation,
    /// The invocation that is being lowered, if the host runs a kernel itself.
    invocation: Option<sequential::HostInvocation>,
}

impl HostStepLowering<'_> {
    fn begin_function(&mut self) {
        self.slots = self.globals.clone();
        self.function = out::HostFunction::default();
    }

    fn lower_function(&mut self, function: FuncId) -> Result<out::HostFunction, SourceDiagnostic> {
        self.begin_function();
        let data = self.program.function(function);
        self.function.inputs = data.inputs.iter().map(|v| self.slot_of_var(*v)).collect();
        self.function.outputs = data.outputs.iter().map(|v| self.slot_of_var(*v)).collect();
        if let Some(body) = data.body {
            self.lower_block(body)?;
        }
        Ok(self.function.clone())
    }

    fn slot_of_var(&mut self, var: VarId) -> HostSlot {
        if let Some(slot) = self.slots.get(&var) {
            return *slot;
        }
        let slot = match self.program.scalar_type(var) {
            Some(_) => HostSlot::Scalar(self.new_temporary()),
            None => HostSlot::Memory(HostMemoryRef(take_number(&mut self.function.memories))),
        };
        self.slots.insert(var, slot);
        slot
    }

    fn new_temporary(&mut self) -> HostRegister {
        HostRegister(take_number(&mut self.function.scalars))
    }

    fn scalar_register(&mut self, var: VarId) -> Result<HostRegister, SourceDiagnostic> {
        match self.slot_of_var(var) {
            HostSlot::Scalar(reg) => Ok(reg),
            HostSlot::Memory(_) => Err(self.unsupported_diagnostic("memory as a value")),
        }
    }

    fn memory_reference(&mut self, var: VarId) -> Result<HostMemoryRef, SourceDiagnostic> {
        match self.slot_of_var(var) {
            HostSlot::Memory(mem) => Ok(mem),
            HostSlot::Scalar(_) => Err(self.unsupported_diagnostic("a scalar as memory")),
        }
    }

    fn unsupported_diagnostic(&self, what: &str) -> SourceDiagnostic {
        unsupported_diagnostic(self.place, what)
    }

    fn push_step(&mut self, step: HostStep) {
        self.function.steps.push(step);
    }

    /// The register that holds the value of an expression.
    fn lower_expr(&mut self, expr: ExprId) -> Result<HostRegister, SourceDiagnostic> {
        let program = self.program;
        match program.expr(expr) {
            ExprData::Var(var) => self.scalar_register(var),
            ExprData::Literal(literal) => Ok(self.set_literal(literal)),
            ExprData::Apply(operator, start) => {
                let mut operands = [HostRegister(0); 3];
                for (to, operand) in operands.iter_mut().zip(program.operands(operator, start)) {
                    *to = self.lower_expr(*operand)?;
                }
                Ok(self.apply_operator(operator, operands))
            }
            ExprData::Parameter(param) => {
                let to = self.new_temporary();
                self.push_step(HostStep::Parameter(to, param.index()));
                Ok(to)
            }
            ExprData::Limit(limit) => {
                let to = self.new_temporary();
                self.push_step(HostStep::Limit(to, limit.index()));
                Ok(to)
            }
        }
    }

    fn set_literal(&mut self, literal: ScalarLiteral) -> HostRegister {
        let to = self.new_temporary();
        self.push_step(HostStep::Set(to, literal.bits));
        to
    }

    fn apply_operator(
        &mut self,
        operator: ScalarOperator,
        operands: [HostRegister; 3],
    ) -> HostRegister {
        let to = self.new_temporary();
        self.push_step(HostStep::Apply(operator, to, operands));
        to
    }

    /// Applies an operator to two `i64`s.
    fn apply_i64_op(&mut self, op: ScalarOp, a: HostRegister, b: HostRegister) -> HostRegister {
        self.apply_operator(ScalarOperator::with_type(op, ScalarType::I64), [a, b, b])
    }

    fn lower_block(&mut self, block: StmtBlock) -> Result<(), SourceDiagnostic> {
        let program = self.program;
        for stmt in program.block_stmts(block) {
            self.place = stmt.place;
            self.lower_statement(&stmt.kind)?;
        }
        Ok(())
    }

    fn lower_statement(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        match stmt {
            StmtKind::Declare(var) => self.lower_declaration(*var)?,
            StmtKind::Assign { to, value } => {
                let value = self.lower_expr(*value)?;
                let to = self.scalar_register(*to)?;
                self.push_step(HostStep::Move(to, value));
            }
            StmtKind::Alias { to, from } => {
                let (to, from) = (self.memory_reference(*to)?, self.memory_reference(*from)?);
                self.push_step(HostStep::Refer(to, from));
            }
            StmtKind::Alloc { to, bytes } => {
                let bytes = self.lower_expr(*bytes)?;
                let to = self.memory_reference(*to)?;
                self.push_step(HostStep::Allocate(to, bytes));
            }
            StmtKind::Free(var) => {
                let mem = self.memory_reference(*var)?;
                self.push_step(HostStep::Forget(mem));
            }
            StmtKind::Static { to, data } => {
                let to = self.memory_reference(*to)?;
                let bytes = static_bytes(data)
                    .ok_or_else(|| self.unsupported_diagnostic("so much data"))?;
                self.data.push(bytes.into());
                self.push_step(HostStep::Data(to, self.data.len() - 1));
            }
            StmtKind::Read { to, from } => {
                let index = self.lower_expr(from.index)?;
                let memory = self.memory_reference(from.memory)?;
                let to = self.scalar_register(*to)?;
                self.push_step(HostStep::Read(to, memory, from.ty, index));
            }
            StmtKind::Write { to, value } => {
                let index = self.lower_expr(to.index)?;
                let value = self.lower_expr(*value)?;
                let memory = self.memory_reference(to.memory)?;
                self.push_step(HostStep::Write(memory, to.ty, index, value));
            }
            StmtKind::Copy(copy) => self.lower_copy(copy)?,
            StmtKind::Call(call) => self.lower_call(call)?,
            StmtKind::Assert { condition, message } => {
                let condition = self.lower_expr(*condition)?;
                let values = self.lower_message_values(*message)?;
                self.push_step(HostStep::Assert(condition, message.index(), values));
            }
            StmtKind::Trace(message) => {
                let values = self.lower_message_values(*message)?;
                self.push_step(HostStep::Trace(message.index(), values));
            }
            StmtKind::Launch(kernel) => self.lower_launch(*kernel)?,
            StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. } => {
                self.lower_control_flow(stmt)?;
            }
            StmtKind::Where {
                to,
                what,
                dimension,
            } => {
                let value = self.place_of(*what, *dimension)?;
                let to = self.scalar_register(*to)?;
                self.push_step(HostStep::Move(to, value));
            }
            StmtKind::Sync { .. } if self.invocation.is_some() => {}
            StmtKind::Sync { .. }
            | StmtKind::Shuffle { .. }
            | StmtKind::Atomic(_)
            | StmtKind::ReadVector { .. }
            | StmtKind::WriteVector { .. }
            | StmtKind::Fragment(_) => {
                return Err(self.unsupported_diagnostic("a statement of kernels on the host"));
            }
        }
        Ok(())
    }

    fn lower_declaration(&mut self, var: VarId) -> Result<(), SourceDiagnostic> {
        match self.program.var(var).ty {
            VariableType::Memory(_) => {
                let mem = self.memory_reference(var)?;
                self.push_step(HostStep::Forget(mem));
                Ok(())
            }
            VariableType::Scalar(_) => Ok(()),
            VariableType::Array(_) | VariableType::Fragment(_) => {
                Err(self.unsupported_diagnostic("a private array of the host"))
            }
        }
    }

    fn lower_control_flow(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        match *stmt {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.lower_expr(condition)?;
                let branch = self.push_jump(HostStep::Unless(condition, 0));
                self.lower_block(then)?;
                let end = self.push_jump(HostStep::Jump(0));
                self.aim_jump(branch);
                self.lower_block(otherwise)?;
                self.aim_jump(end);
            }
            StmtKind::For {
                counter,
                bound,
                body,
            } => {
                let ty = self.program.scalar_type(counter).unwrap_or(ScalarType::I64);
                let bound = self.lower_expr(bound)?;
                let counter = self.scalar_register(counter)?;
                self.push_counted_loop(ty, counter, bound, |host| host.lower_block(body))?;
            }
            StmtKind::While { condition, body } => {
                let start = self.function.steps.len();
                let more = self.lower_expr(condition)?;
                let leave = self.push_jump(HostStep::Unless(more, 0));
                self.lower_block(body)?;
                self.push_step(HostStep::Jump(start));
                self.aim_jump(leave);
            }
            _ => {}
        }
        Ok(())
    }

    /// Emits a loop over a counter from 0 to below a bound. The bound is copied before the loop.
    fn push_counted_loop(
        &mut self,
        ty: ScalarType,
        counter: HostRegister,
        bound: HostRegister,
        body: impl FnOnce(&mut Self) -> Result<(), SourceDiagnostic>,
    ) -> Result<(), SourceDiagnostic> {
        let most = self.new_temporary();
        self.push_step(HostStep::Move(most, bound));
        self.push_step(HostStep::Set(counter, 0));
        let one = self.set_literal(ScalarLiteral::new(ty, 1));
        let start = self.function.steps.len();
        let more = self.apply_operator(
            ScalarOperator::with_type(ScalarOp::SLt, ty),
            [counter, most, most],
        );
        let leave = self.push_jump(HostStep::Unless(more, 0));
        body(self)?;
        let next = ScalarOperator::with_type(ScalarOp::Add, ty);
        self.push_step(HostStep::Apply(next, counter, [counter, one, one]));
        self.push_step(HostStep::Jump(start));
        self.aim_jump(leave);
        Ok(())
    }

    /// Appends a jump whose target is set later, and returns its position.
    fn push_jump(&mut self, step: HostStep) -> usize {
        self.push_step(step);
        self.function.steps.len() - 1
    }

    /// Sets the target of a jump to the next step.
    fn aim_jump(&mut self, at: usize) {
        let next = self.function.steps.len();
        match &mut self.function.steps[at] {
            HostStep::Jump(to) | HostStep::Unless(_, to) => *to = next,
            _ => {}
        }
    }

    fn lower_message_values(
        &mut self,
        message: MessageId,
    ) -> Result<Vec<HostRegister>, SourceDiagnostic> {
        let program = self.program;
        let parts = program.message(message).parts.iter();
        let values = parts.filter_map(|part| match part {
            MessageSegment::Value(expr) => Some(*expr),
            MessageSegment::Text(_) => None,
        });
        values.map(|expr| self.lower_expr(expr)).collect()
    }

    fn lower_exprs(&mut self, exprs: &[ExprId]) -> Result<Vec<HostRegister>, SourceDiagnostic> {
        exprs.iter().map(|expr| self.lower_expr(*expr)).collect()
    }

    fn lower_copy(&mut self, copy: &CopyStmt) -> Result<(), SourceDiagnostic> {
        let step = out::StridedCopy {
            size: copy.ty.size(),
            shape: self.lower_exprs(&copy.shape)?,
            to: self.lower_copy_operand(&copy.to)?,
            from: self.lower_copy_operand(&copy.from)?,
        };
        self.push_step(HostStep::Copy(Box::new(step)));
        Ok(())
    }

    fn lower_copy_operand(
        &mut self,
        side: &CopyOperand,
    ) -> Result<(HostMemoryRef, HostRegister, Vec<HostRegister>), SourceDiagnostic> {
        let memory = self.memory_reference(side.memory)?;
        Ok((
            memory,
            self.lower_expr(side.offset)?,
            self.lower_exprs(&side.strides)?,
        ))
    }

    fn lower_call(&mut self, call: &CallStmt) -> Result<(), SourceDiagnostic> {
        let mut inputs = Vec::new();
        for input in &call.inputs {
            inputs.push(match *input {
                FuncArgument::Scalar(expr) => HostSlot::Scalar(self.lower_expr(expr)?),
                FuncArgument::Memory(var) => HostSlot::Memory(self.memory_reference(var)?),
            });
        }
        let outputs = call.outputs.iter().map(|v| self.slot_of_var(*v)).collect();
        self.push_step(HostStep::Call(call.function.index(), inputs, outputs));
        Ok(())
    }

    fn lower_launch(&mut self, kernel: KernelId) -> Result<(), SourceDiagnostic> {
        let program = self.program;
        if self.lowered[kernel.index()].is_err() && sequential::is_for_host(program, kernel) {
            return self.lower_sequential_kernel(kernel);
        }
        let data = program.kernel(kernel);
        let groups = self.lower_exprs(&data.blocks)?;
        let (mut scalars, mut memories, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for used in &data.uses {
            match *used {
                KernelCapture::Scalar(var) => {
                    scalars.push(self.scalar_register(var)?);
                    seen.push(var);
                }
                KernelCapture::Memory(var) => memories.push(self.memory_reference(var)?),
                KernelCapture::Constant(var, value) => {
                    let value = self.lower_expr(value)?;
                    let to = self.scalar_register(var)?;
                    self.push_step(HostStep::Move(to, value));
                    seen.push(var);
                }
            }
        }
        let mut constants = Vec::new();
        if let Ok(lowered) = &self.lowered[kernel.index()] {
            for constant in &lowered.constants {
                let value = match constant {
                    SpecValue::BlockSize(at) => {
                        self.lower_expr(data.block_size[*at].size_expr())?
                    }
                    SpecValue::Value(expr) => self.lower_expr(*expr)?,
                    SpecValue::Product(sizes) => {
                        let mut product = self.set_literal(ScalarLiteral::from_i64(1));
                        for size in sizes {
                            let size = self.lower_known_size(*size, &seen)?;
                            product = self.apply_i64_op(ScalarOp::Mul, product, size);
                        }
                        self.at_least_one(product)
                    }
                    SpecValue::Shared {
                        bytes,
                        more,
                        size,
                        least,
                    } => {
                        let mut sum = self.set_literal(ScalarLiteral::from_i64(*more as i64));
                        for bytes in bytes {
                            let bytes = self.lower_known_size(*bytes, &seen)?;
                            let (fifteen, mask) = (
                                self.set_literal(ScalarLiteral::from_i64(15)),
                                self.set_literal(ScalarLiteral::from_i64(-16)),
                            );
                            let above = self.apply_i64_op(ScalarOp::Add, bytes, fifteen);
                            let whole = self.apply_i64_op(ScalarOp::And, above, mask);
                            sum = self.apply_i64_op(ScalarOp::Add, sum, whole);
                        }
                        let size = self.set_literal(ScalarLiteral::from_i64(*size as i64));
                        let elements = self.apply_i64_op(ScalarOp::SQuot, sum, size);
                        match least {
                            0 => elements,
                            _ => self.at_least_one(elements),
                        }
                    }
                };
                constants.push(value);
            }
        }
        self.push_step(HostStep::Launch(Box::new(out::LaunchStep {
            kernel: self.kernel_ids[kernel.index()],
            groups,
            constants,
            scalars,
            memories,
        })));
        Ok(())
    }

    fn at_least_one(&mut self, value: HostRegister) -> HostRegister {
        let one = self.set_literal(ScalarLiteral::from_i64(1));
        self.apply_i64_op(ScalarOp::SMax, value, one)
    }

    /// The value of a size within a kernel. It may depend only on the scalars that the kernel captures.
    fn lower_known_size(
        &mut self,
        expr: ExprId,
        seen: &[VarId],
    ) -> Result<HostRegister, SourceDiagnostic> {
        let mut is_known = true;
        self.program
            .each_var(expr, &mut |var| is_known &= seen.contains(&var));
        if is_known {
            self.lower_expr(expr)
        } else {
            Err(self.unsupported_diagnostic("memory of a size that is not known at the launch"))
        }
    }
}

/// Largest constant data, in bytes.
const DATA: u64 = 1 << 30;

fn static_bytes(data: &StaticData) -> Option<Vec<u8>> {
    let size = data.ty.size() as usize;
    let mut bytes = Vec::new();
    for value in &data.values {
        bytes.extend(&value.bits.to_le_bytes()[..size]);
    }
    match data.repeat {
        None => Some(bytes),
        Some(times) => {
            let total = times.checked_mul(bytes.len() as u64)?;
            (total <= DATA).then(|| bytes.repeat(times as usize))
        }
    }
}
