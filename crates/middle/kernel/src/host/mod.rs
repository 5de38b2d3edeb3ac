//! Whole programs: functions of the host as steps, kernels as modules.

mod entry;
mod sequential;
mod simplify;

use crate::calls;
use crate::copier;
use crate::ir::{
    Argument, Block, Call, Copy, Expr, ExprData, Func, Kernel, Message, Part, Program, Side,
    StaticData, StmtKind, Type, Use, Var,
};
use crate::lower::{Lowered, SpecValue, lower, refusal};
use rustc_hash::FxHashMap;
use simplify::simplify;
use spirula_diagnostics::{Diagnostic, Place};
use spirula_program::program as out;
use spirula_program::program::{GLOBAL, Mem, Reg, Slot, Step};
use spirula_program::{Literal, Op, Operator, Scalar};
use spirula_spirv::ir::Module;
use std::sync::Arc;

/// Compiles a checked program. A kernel that cannot be lowered fails when it is launched.
///
/// # Errors
/// When the program is not a checked one.
pub fn compile(program: &Program) -> Result<out::Program, Diagnostic> {
    let on_device = calls::on_device(program)?;
    let lowered: Vec<Result<Lowered, Diagnostic>> =
        program.kernel_ids().map(|k| lower(program, k)).collect();
    let (kernels, kernel_ids) = distinct(&lowered);
    let mut host = Host {
        program,
        lowered: &lowered,
        kernel_ids,
        slots: FxHashMap::default(),
        globals: FxHashMap::default(),
        function: out::Function::default(),
        data: Vec::new(),
        place: Place::Unknown,
        invocation: None,
    };
    let (mut scalars, mut memories) = (0, 0);
    for var in &program.globals {
        let slot = match program.scalar(*var) {
            Some(_) => Slot::Scalar(Reg(GLOBAL | count(&mut scalars))),
            None => Slot::Memory(Mem(GLOBAL | count(&mut memories))),
        };
        host.globals.insert(*var, slot);
    }
    let mut result = out::Program {
        kernels,
        parameters: program.parameters.clone(),
        limits: program.limits.clone(),
        messages: program
            .messages
            .iter()
            .map(|m| message(program, m))
            .collect(),
        global_scalars: scalars,
        global_memories: memories,
        initialise: program.functions.len(),
        ..out::Program::default()
    };
    for function in program.function_ids() {
        let mut compiled = match host.function(function) {
            Ok(compiled) => compiled,
            // A function that only kernels call may do what the host cannot.
            Err(_) if on_device[function.index()] => out::Function::default(),
            Err(fault) => return Err(fault),
        };
        let entries = program.entries.iter().filter(|e| e.function == function);
        let first = result.entries.len();
        result
            .entries
            .extend(entries.map(|entry| host.entry(entry)));
        simplify(&mut compiled, &result.entries[first..]);
        result.functions.push(compiled);
    }
    host.begin();
    if let Some(block) = program.initialise {
        host.block(block)?;
    }
    simplify(&mut host.function, &[]);
    result.functions.push(std::mem::take(&mut host.function));
    result.data = host.data;
    copier::add(&mut result)?;
    Ok(result)
}

fn count(number: &mut u32) -> u32 {
    *number += 1;
    *number - 1
}

/// The kernels, equal ones once, and where each is: layers of a model repeat their kernels, which a
/// device would otherwise compile again and again.
fn distinct(lowered: &[Result<Lowered, Diagnostic>]) -> (Vec<out::Kernel>, Vec<usize>) {
    let mut kernels: Vec<out::Kernel> = Vec::new();
    let mut ids = Vec::new();
    let mut known: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    for lowered in lowered {
        let kernel = kernel(lowered);
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

fn kernel(lowered: &Result<Lowered, Diagnostic>) -> out::Kernel {
    match lowered {
        Ok(lowered) => out::Kernel {
            words: lowered.module.to_words(),
            laid_out: lowered.laid_out.as_ref().map(Module::to_words),
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
        Err(fault) => out::Kernel {
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

fn message(program: &Program, message: &crate::ir::MessageData) -> out::Message {
    let parts = message.parts.iter().map(|part| match part {
        Part::Text(text) => out::MessagePart::Text(text.clone()),
        Part::Value(expr) => {
            out::MessagePart::Value(program.type_of(*expr).unwrap_or(Scalar::Unit))
        }
    });
    out::Message {
        parts: parts.collect(),
        backtrace: message.backtrace.clone(),
    }
}

struct Host<'a> {
    program: &'a Program,
    lowered: &'a [Result<Lowered, Diagnostic>],
    /// Where the result has each kernel.
    kernel_ids: Vec<usize>,
    /// Places of the variables of the current function.
    slots: FxHashMap<Var, Slot>,
    globals: FxHashMap<Var, Slot>,
    function: out::Function,
    data: Vec<Arc<[u8]>>,
    place: Place,
    /// The invocation whose statements these are, of a kernel that the host runs.
    invocation: Option<sequential::Invocation>,
}

type Done = Result<(), Diagnostic>;

impl Host<'_> {
    fn begin(&mut self) {
        self.slots = self.globals.clone();
        self.function = out::Function::default();
    }

    fn function(&mut self, function: Func) -> Result<out::Function, Diagnostic> {
        self.begin();
        let data = self.program.function(function);
        self.function.inputs = data.inputs.iter().map(|v| self.slot(*v)).collect();
        self.function.outputs = data.outputs.iter().map(|v| self.slot(*v)).collect();
        if let Some(body) = data.body {
            self.block(body)?;
        }
        Ok(self.function.clone())
    }

    fn slot(&mut self, var: Var) -> Slot {
        if let Some(slot) = self.slots.get(&var) {
            return *slot;
        }
        let slot = match self.program.scalar(var) {
            Some(_) => Slot::Scalar(self.temporary()),
            None => Slot::Memory(Mem(count(&mut self.function.memories))),
        };
        self.slots.insert(var, slot);
        slot
    }

    fn temporary(&mut self) -> Reg {
        Reg(count(&mut self.function.scalars))
    }

    fn reg(&mut self, var: Var) -> Result<Reg, Diagnostic> {
        match self.slot(var) {
            Slot::Scalar(reg) => Ok(reg),
            Slot::Memory(_) => Err(self.refusal("memory as a value")),
        }
    }

    fn mem(&mut self, var: Var) -> Result<Mem, Diagnostic> {
        match self.slot(var) {
            Slot::Memory(mem) => Ok(mem),
            Slot::Scalar(_) => Err(self.refusal("a scalar as memory")),
        }
    }

    fn refusal(&self, what: &str) -> Diagnostic {
        refusal(self.place, what)
    }

    fn push(&mut self, step: Step) {
        self.function.steps.push(step);
    }

    /// The scalar that holds the value of an expression from here on.
    fn expr(&mut self, expr: Expr) -> Result<Reg, Diagnostic> {
        let program = self.program;
        match program.expr(expr) {
            ExprData::Var(var) => self.reg(var),
            ExprData::Literal(literal) => Ok(self.literal(literal)),
            ExprData::Apply(operator, start) => {
                let mut operands = [Reg(0); 3];
                for (to, operand) in operands.iter_mut().zip(program.operands(operator, start)) {
                    *to = self.expr(*operand)?;
                }
                Ok(self.apply(operator, operands))
            }
            ExprData::Parameter(param) => {
                let to = self.temporary();
                self.push(Step::Parameter(to, param.index()));
                Ok(to)
            }
            ExprData::Limit(limit) => {
                let to = self.temporary();
                self.push(Step::Limit(to, limit.index()));
                Ok(to)
            }
        }
    }

    fn literal(&mut self, literal: Literal) -> Reg {
        let to = self.temporary();
        self.push(Step::Set(to, literal.bits));
        to
    }

    fn apply(&mut self, operator: Operator, operands: [Reg; 3]) -> Reg {
        let to = self.temporary();
        self.push(Step::Apply(operator, to, operands));
        to
    }

    /// An operator on two `i64`s.
    fn op(&mut self, op: Op, a: Reg, b: Reg) -> Reg {
        self.apply(Operator::of(op, Scalar::I64), [a, b, b])
    }

    fn block(&mut self, block: Block) -> Done {
        let program = self.program;
        for stmt in program.block(block) {
            self.place = stmt.place;
            self.statement(&stmt.kind)?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &StmtKind) -> Done {
        match stmt {
            StmtKind::Declare(var) => self.declare(*var)?,
            StmtKind::Assign { to, value } => {
                let value = self.expr(*value)?;
                let to = self.reg(*to)?;
                self.push(Step::Move(to, value));
            }
            StmtKind::Alias { to, from } => {
                let (to, from) = (self.mem(*to)?, self.mem(*from)?);
                self.push(Step::Refer(to, from));
            }
            StmtKind::Alloc { to, bytes } => {
                let bytes = self.expr(*bytes)?;
                let to = self.mem(*to)?;
                self.push(Step::Allocate(to, bytes));
            }
            StmtKind::Free(var) => {
                let mem = self.mem(*var)?;
                self.push(Step::Forget(mem));
            }
            StmtKind::Static { to, data } => {
                let to = self.mem(*to)?;
                let bytes = static_bytes(data).ok_or_else(|| self.refusal("so much data"))?;
                self.data.push(bytes.into());
                self.push(Step::Data(to, self.data.len() - 1));
            }
            StmtKind::Read { to, from } => {
                let index = self.expr(from.index)?;
                let memory = self.mem(from.memory)?;
                let to = self.reg(*to)?;
                self.push(Step::Read(to, memory, from.ty, index));
            }
            StmtKind::Write { to, value } => {
                let index = self.expr(to.index)?;
                let value = self.expr(*value)?;
                let memory = self.mem(to.memory)?;
                self.push(Step::Write(memory, to.ty, index, value));
            }
            StmtKind::Copy(copy) => self.copy(copy)?,
            StmtKind::Call(call) => self.call(call)?,
            StmtKind::Assert { condition, message } => {
                let condition = self.expr(*condition)?;
                let values = self.values(*message)?;
                self.push(Step::Assert(condition, message.index(), values));
            }
            StmtKind::Trace(message) => {
                let values = self.values(*message)?;
                self.push(Step::Trace(message.index(), values));
            }
            StmtKind::Launch(kernel) => self.launch(*kernel)?,
            StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. } => {
                self.control(stmt)?;
            }
            StmtKind::Where {
                to,
                what,
                dimension,
            } => {
                let value = self.place_of(*what, *dimension)?;
                let to = self.reg(*to)?;
                self.push(Step::Move(to, value));
            }
            StmtKind::Sync { .. } if self.invocation.is_some() => {}
            StmtKind::Sync { .. }
            | StmtKind::Shuffle { .. }
            | StmtKind::Atomic(_)
            | StmtKind::ReadVector { .. }
            | StmtKind::WriteVector { .. }
            | StmtKind::Fragment(_) => {
                return Err(self.refusal("a statement of kernels on the host"));
            }
        }
        Ok(())
    }

    fn declare(&mut self, var: Var) -> Done {
        match self.program.var(var).ty {
            Type::Memory(_) => {
                let mem = self.mem(var)?;
                self.push(Step::Forget(mem));
                Ok(())
            }
            Type::Scalar(_) => Ok(()),
            Type::Array(_) | Type::Fragment(_) => Err(self.refusal("a private array of the host")),
        }
    }

    fn control(&mut self, stmt: &StmtKind) -> Done {
        match *stmt {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.expr(condition)?;
                let branch = self.here(Step::Unless(condition, 0));
                self.block(then)?;
                let end = self.here(Step::Jump(0));
                self.aim(branch);
                self.block(otherwise)?;
                self.aim(end);
            }
            StmtKind::For {
                counter,
                bound,
                body,
            } => {
                let ty = self.program.scalar(counter).unwrap_or(Scalar::I64);
                let bound = self.expr(bound)?;
                let counter = self.reg(counter)?;
                self.repeat(ty, counter, bound, |host| host.block(body))?;
            }
            StmtKind::While { condition, body } => {
                let start = self.function.steps.len();
                let more = self.expr(condition)?;
                let leave = self.here(Step::Unless(more, 0));
                self.block(body)?;
                self.push(Step::Jump(start));
                self.aim(leave);
            }
            _ => {}
        }
        Ok(())
    }

    /// Steps for each value of a counter from 0 up to a bound, whose value is that of the beginning.
    fn repeat(
        &mut self,
        ty: Scalar,
        counter: Reg,
        bound: Reg,
        body: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let most = self.temporary();
        self.push(Step::Move(most, bound));
        self.push(Step::Set(counter, 0));
        let one = self.literal(Literal::new(ty, 1));
        let start = self.function.steps.len();
        let more = self.apply(Operator::of(Op::SLt, ty), [counter, most, most]);
        let leave = self.here(Step::Unless(more, 0));
        body(self)?;
        let next = Operator::of(Op::Add, ty);
        self.push(Step::Apply(next, counter, [counter, one, one]));
        self.push(Step::Jump(start));
        self.aim(leave);
        Ok(())
    }

    /// Appends a jump that is aimed later; gives its position.
    fn here(&mut self, step: Step) -> usize {
        self.push(step);
        self.function.steps.len() - 1
    }

    /// Lets a jump go to the next step.
    fn aim(&mut self, at: usize) {
        let next = self.function.steps.len();
        match &mut self.function.steps[at] {
            Step::Jump(to) | Step::Unless(_, to) => *to = next,
            _ => {}
        }
    }

    fn values(&mut self, message: Message) -> Result<Vec<Reg>, Diagnostic> {
        let program = self.program;
        let parts = program.message(message).parts.iter();
        let values = parts.filter_map(|part| match part {
            Part::Value(expr) => Some(*expr),
            Part::Text(_) => None,
        });
        values.map(|expr| self.expr(expr)).collect()
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Result<Vec<Reg>, Diagnostic> {
        exprs.iter().map(|expr| self.expr(*expr)).collect()
    }

    fn copy(&mut self, copy: &Copy) -> Done {
        let step = out::Copy {
            size: copy.ty.size(),
            shape: self.exprs(&copy.shape)?,
            to: self.side(&copy.to)?,
            from: self.side(&copy.from)?,
        };
        self.push(Step::Copy(Box::new(step)));
        Ok(())
    }

    fn side(&mut self, side: &Side) -> Result<(Mem, Reg, Vec<Reg>), Diagnostic> {
        let memory = self.mem(side.memory)?;
        Ok((memory, self.expr(side.offset)?, self.exprs(&side.strides)?))
    }

    fn call(&mut self, call: &Call) -> Done {
        let mut inputs = Vec::new();
        for input in &call.inputs {
            inputs.push(match *input {
                Argument::Scalar(expr) => Slot::Scalar(self.expr(expr)?),
                Argument::Memory(var) => Slot::Memory(self.mem(var)?),
            });
        }
        let outputs = call.outputs.iter().map(|v| self.slot(*v)).collect();
        self.push(Step::Call(call.function.index(), inputs, outputs));
        Ok(())
    }

    fn launch(&mut self, kernel: Kernel) -> Done {
        let program = self.program;
        if self.lowered[kernel.index()].is_err() && sequential::is_for_host(program, kernel) {
            return self.sequential(kernel);
        }
        let data = program.kernel(kernel);
        let groups = self.exprs(&data.blocks)?;
        let (mut scalars, mut memories, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for used in &data.uses {
            match *used {
                Use::Scalar(var) => {
                    scalars.push(self.reg(var)?);
                    seen.push(var);
                }
                Use::Memory(var) => memories.push(self.mem(var)?),
                Use::Constant(var, value) => {
                    let value = self.expr(value)?;
                    let to = self.reg(var)?;
                    self.push(Step::Move(to, value));
                    seen.push(var);
                }
            }
        }
        let mut constants = Vec::new();
        if let Ok(lowered) = &self.lowered[kernel.index()] {
            for constant in &lowered.constants {
                let value = match constant {
                    SpecValue::BlockSize(at) => self.expr(data.block_size[*at].value())?,
                    SpecValue::Value(expr) => self.expr(*expr)?,
                    SpecValue::Product(sizes) => {
                        let mut product = self.literal(Literal::i64(1));
                        for size in sizes {
                            let size = self.known(*size, &seen)?;
                            product = self.op(Op::Mul, product, size);
                        }
                        self.at_least_one(product)
                    }
                    SpecValue::Shared {
                        bytes,
                        more,
                        size,
                        least,
                    } => {
                        let mut sum = self.literal(Literal::i64(*more as i64));
                        for bytes in bytes {
                            let bytes = self.known(*bytes, &seen)?;
                            let (fifteen, mask) = (
                                self.literal(Literal::i64(15)),
                                self.literal(Literal::i64(-16)),
                            );
                            let above = self.op(Op::Add, bytes, fifteen);
                            let whole = self.op(Op::And, above, mask);
                            sum = self.op(Op::Add, sum, whole);
                        }
                        let size = self.literal(Literal::i64(*size as i64));
                        let elements = self.op(Op::SQuot, sum, size);
                        match least {
                            0 => elements,
                            _ => self.at_least_one(elements),
                        }
                    }
                };
                constants.push(value);
            }
        }
        self.push(Step::Launch(Box::new(out::Launch {
            kernel: self.kernel_ids[kernel.index()],
            groups,
            constants,
            scalars,
            memories,
        })));
        Ok(())
    }

    fn at_least_one(&mut self, value: Reg) -> Reg {
        let one = self.literal(Literal::i64(1));
        self.op(Op::SMax, value, one)
    }

    /// A size within a kernel, which has to depend on what the kernel uses only.
    fn known(&mut self, expr: Expr, seen: &[Var]) -> Result<Reg, Diagnostic> {
        let mut is_known = true;
        self.program
            .each_var(expr, &mut |var| is_known &= seen.contains(&var));
        match is_known {
            true => self.expr(expr),
            false => Err(self.refusal("memory of a size that is not known at the launch")),
        }
    }
}

/// Largest data, in bytes.
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
