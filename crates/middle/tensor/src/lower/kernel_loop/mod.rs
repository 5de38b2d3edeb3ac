//! Loops within a kernel: one workgroup runs all iterations of a loop whose operations are small.
//!
//! Tensors of rank 0 are variables of the kernel. Other tensors are in memory that the host allocates. Structured
//! operations are loops over their points. A single invocation runs them in the order of the points. Where most
//! operations have several points, a team of invocations shares these.

mod selection;
mod storage;
mod team;

pub(super) use selection::KernelLoops;
pub(crate) use selection::select_kernel_loops;

use super::host_program::HostProgramLowering;
use super::kernel;
use super::node_emitter::TensorStorage;
use super::scalar_operation::emit_scalar_results;
use super::while_statement::WhileStatement;
use crate::ir::{OpKind, StructuredOp, TensorBlock, TensorFunction, TensorOp, TensorValue};
use crate::schedule::{TensorDispatch, form_serial_dispatch, form_team_dispatch, share_points};
use rustc_hash::FxHashMap;
use spirula_kernel::ir::{BlockSize, KernelData, StmtKind, VarId, VariableType};
use spirula_program::ScalarLiteral;
use team::LoopTeam;

/// Lowers a loop to a kernel and its launch. The memory of the results holds the initial values; those of rank 0 are given
/// as `initial`.
pub(super) fn lower_kernel_loop(
    host: &mut HostProgramLowering<'_>,
    op: &TensorOp,
    initial: &[TensorValue],
    condition: TensorBlock,
    body: TensorBlock,
    lanes: u64,
) {
    let function = host.function;
    host.b.begin_block();
    let team = LoopTeam::begin(&mut host.b, lanes);
    let mut lowering = KernelLoopLowering {
        host,
        team,
        holders: FxHashMap::default(),
        wanted: FxHashMap::default(),
        blocks: Vec::new(),
    };
    let mut carried = Vec::new();
    for (result, from) in op.results.iter().zip(initial) {
        let Some(memory) = lowering.memory_of(*result) else {
            continue;
        };
        carried.push(match function.ty(*result).rank() {
            0 => TensorStorage::Scalar(lowering.copy_scalar(*from)),
            _ => TensorStorage::Memory(memory),
        });
    }
    lowering.lower_loop(condition, body, &carried);
    for (result, storage) in op.results.iter().zip(&carried) {
        if let (TensorStorage::Scalar(var), Some(memory)) = (storage, lowering.memory_of(*result)) {
            lowering.write_scalar(memory, *result, *var);
        }
    }
    let blocks = std::mem::take(&mut lowering.blocks);
    let b = &mut host.b;
    let kernel = b.end_block();
    for (var, bytes) in &blocks {
        b.push_statement(StmtKind::Declare(*var));
        let bytes = b.make_i64(*bytes as i64);
        b.push_statement(StmtKind::Alloc { to: *var, bytes });
    }
    let [one, invocations] = [1, lanes as i64].map(|count| b.make_i64(count));
    let data = KernelData {
        label: Some("while".to_owned()),
        blocks: vec![one],
        block_size: vec![BlockSize::Constant(invocations)],
        captures: b.find_captures(kernel),
        failure_tolerant: true,
        body: kernel,
        place: op.place,
    };
    host.launch_extra_kernel(data);
    for (var, _) in blocks {
        host.b.push_statement(StmtKind::Free(var));
    }
}

/// All constants within blocks that are not scalars.
pub(super) fn collect_constants<'f>(
    function: &'f TensorFunction,
    blocks: impl Iterator<Item = TensorBlock>,
    found: &mut Vec<&'f TensorOp>,
) {
    for block in blocks {
        for op in &function.block(block).ops {
            if matches!(&op.kind, OpKind::Constant(constant) if constant.ty.rank() > 0) {
                found.push(op);
            }
            collect_constants(function, op.kind.blocks(), found);
        }
    }
}

struct KernelLoopLowering<'h, 'a> {
    host: &'h mut HostProgramLowering<'a>,
    /// The invocations, where there are several.
    team: Option<LoopTeam>,
    /// The tensors that are alive in each block of memory that belongs to the loop.
    holders: FxHashMap<VarId, Vec<TensorValue>>,
    /// The memory where the next value of a carried tensor is wanted.
    wanted: FxHashMap<TensorValue, VarId>,
    /// Memory that the host allocates for the loop, with its size in bytes.
    blocks: Vec<(VarId, u64)>,
}

impl KernelLoopLowering<'_, '_> {
    /// Lowers a loop whose carried values are in variables and in memory.
    fn lower_loop(&mut self, condition: TensorBlock, body: TensorBlock, carried: &[TensorStorage]) {
        let function = self.host.function;
        for (parameter, storage) in function.block(condition).parameters.iter().zip(carried) {
            self.host.sources.insert(*parameter, *storage);
        }
        let data = function.block(body);
        let used = self.host.collect_values_used(body);
        for ((parameter, result), storage) in data.parameters.iter().zip(&data.results).zip(carried)
        {
            self.host.sources.insert(*parameter, *storage);
            if let TensorStorage::Memory(memory) = storage {
                let is_alive = used.contains(parameter);
                let holders = is_alive.then_some(*parameter).into_iter().collect();
                self.holders.insert(*memory, holders);
                self.wanted.entry(*result).or_insert(*memory);
            }
        }
        self.finish_accesses();
        let repeat = WhileStatement::begin(&mut self.host.b);
        self.lower_block(condition);
        let goes_on = self.copy_scalar(function.block(condition).results[0]);
        self.finish_accesses();
        repeat.begin_body(&mut self.host.b);
        self.lower_block(body);
        self.assign_next_values(body, carried);
        self.finish_accesses();
        let goes_on = self.host.b.read_var(goes_on);
        repeat.finish(&mut self.host.b, goes_on);
    }

    /// A new variable with the value of a tensor of rank 0.
    fn copy_scalar(&mut self, value: TensorValue) -> VarId {
        let ty = VariableType::Scalar(self.host.function.ty(value).element);
        let to = self.host.b.declare_var("s", ty, false);
        self.assign_scalar(to, value);
        to
    }

    fn assign_scalar(&mut self, to: VarId, value: TensorValue) {
        match self.host.sources.get(&value).copied() {
            Some(TensorStorage::Scalar(from)) => {
                let value = self.host.b.read_var(from);
                self.host.b.push_assignment(to, value);
            }
            Some(TensorStorage::Memory(memory)) => {
                self.order_accesses(&[memory], &[]);
                let from = self.first_element(memory, value);
                self.host.b.push_statement(StmtKind::Read { to, from });
            }
            None => {}
        }
    }

    /// Binds a tensor of rank 0 to a new variable with the value of another.
    fn bind_scalar(&mut self, value: TensorValue, from: TensorValue) {
        let var = self.copy_scalar(from);
        self.host.sources.insert(value, TensorStorage::Scalar(var));
    }

    fn lower_block(&mut self, block: TensorBlock) {
        let function = self.host.function;
        for (at, op) in function.block(block).ops.iter().enumerate() {
            self.host.b.set_place(op.place);
            self.lower_op((block, at), op);
            self.release_dead((block, at));
        }
    }

    fn lower_op(&mut self, position: (TensorBlock, usize), op: &TensorOp) {
        let result = op.results.first().copied();
        match (&op.kind, result) {
            (OpKind::Constant(constant), Some(result)) if constant.ty.rank() == 0 => {
                let element = constant.ty.element;
                let ty = VariableType::Scalar(element);
                let var = self.host.b.declare_var("s", ty, false);
                let literal = ScalarLiteral::new(element, constant.element_bits(0));
                let literal = self.host.b.make_literal(literal);
                self.host.b.push_assignment(var, literal);
                self.host.sources.insert(result, TensorStorage::Scalar(var));
            }
            (OpKind::Structured(structured), _) => self.lower_structured(position, op, structured),
            (OpKind::Reshape(source), Some(result)) => self.lower_reshape(result, *source),
            (
                OpKind::If {
                    condition,
                    then,
                    otherwise,
                },
                _,
            ) => self.lower_if(*condition, [*then, *otherwise], &op.results),
            (
                OpKind::While {
                    initial,
                    condition,
                    body,
                },
                _,
            ) => {
                let carried = self.carry_values(position, initial, &op.results);
                self.lower_loop(*condition, *body, &carried);
                for (result, storage) in op.results.iter().zip(&carried) {
                    if let TensorStorage::Memory(memory) = storage {
                        self.holders.insert(*memory, vec![*result]);
                    }
                }
            }
            // Other constants are globals, and loops with sorts or assertions are not selected.
            _ => {}
        }
    }

    fn lower_structured(
        &mut self,
        position: (TensorBlock, usize),
        op: &TensorOp,
        structured: &StructuredOp,
    ) {
        if structured.axes.is_empty() && structured.is_map() {
            return self.lower_scalar_op(structured, &op.results);
        }
        let updated = self.place_results(position, structured, &op.results);
        if structured.is_empty() {
            return;
        }
        let operands = structured.collect_operands();
        let needed = operands.iter().chain(&op.results);
        let stored = needed.filter_map(|value| Some((*value, *self.host.sources.get(value)?)));
        let mut sources: FxHashMap<TensorValue, TensorStorage> = stored.collect();
        for (base, result) in updated {
            sources.insert(base, self.host.sources[&result]);
        }
        let memory_of = |value: &TensorValue| match sources.get(value) {
            Some(TensorStorage::Memory(memory)) => Some(*memory),
            _ => None,
        };
        let reads: Vec<VarId> = operands.iter().filter_map(memory_of).collect();
        let writes: Vec<VarId> = op.results.iter().filter_map(memory_of).collect();
        self.order_accesses(&reads, &writes);
        self.emit_points(op, structured, &sources);
        let function = self.host.function;
        for result in &op.results {
            if function.ty(*result).rank() == 0 {
                self.bind_scalar(*result, *result);
            }
        }
    }

    /// Emits the loops over the points of an operation.
    fn emit_points(
        &mut self,
        op: &TensorOp,
        structured: &StructuredOp,
        sources: &FxHashMap<TensorValue, TensorStorage>,
    ) {
        let profile = self.host.profile;
        let shares = self.team.as_ref().map(|team| team.lanes);
        let shares = shares.map_or(Vec::new(), |lanes| {
            share_points(structured, &profile, lanes)
        });
        if shares.is_empty() {
            let dispatch = form_serial_dispatch(op, structured, profile);
            return self.run_by_first(|this| this.emit_dispatch(&dispatch, sources));
        }
        for share in shares {
            let dispatch = form_team_dispatch(op, structured, profile, share);
            self.emit_dispatch(&dispatch, sources);
        }
    }

    fn emit_dispatch(
        &mut self,
        dispatch: &TensorDispatch,
        sources: &FxHashMap<TensorValue, TensorStorage>,
    ) {
        let function = self.host.function;
        kernel::emit_dispatch(&mut self.host.b, function, dispatch, sources, None);
    }

    /// Lowers an operation on scalars to assignments.
    fn lower_scalar_op(&mut self, op: &StructuredOp, results: &[TensorValue]) {
        let operands = op.collect_operands().into_iter();
        let reads: Vec<VarId> = operands.filter_map(|value| self.memory_of(value)).collect();
        self.order_accesses(&reads, &[]);
        let function = self.host.function;
        let b = &mut self.host.b;
        let values = emit_scalar_results(b, function, op, &self.host.sources);
        for (result, value) in results.iter().zip(values) {
            let ty = VariableType::Scalar(function.ty(*result).element);
            let var = self.host.b.declare_var("s", ty, false);
            self.host.b.push_assignment(var, value);
            self.host
                .sources
                .insert(*result, TensorStorage::Scalar(var));
        }
    }

    fn lower_reshape(&mut self, result: TensorValue, source: TensorValue) {
        if self.host.function.ty(result).rank() == 0 {
            return self.bind_scalar(result, source);
        }
        match self.memory_of(source) {
            Some(memory) if self.holders.contains_key(&memory) => self.hold_memory(result, memory),
            Some(memory) => {
                self.host
                    .sources
                    .insert(result, TensorStorage::Memory(memory));
            }
            None => {
                let memory = self.new_memory(result);
                self.copy_tensor(memory, source);
                self.hold_memory(result, memory);
            }
        }
    }

    fn lower_if(
        &mut self,
        condition: TensorValue,
        branches: [TensorBlock; 2],
        results: &[TensorValue],
    ) {
        let function = self.host.function;
        for result in results {
            let ty = function.ty(*result);
            if ty.rank() == 0 {
                let var = self
                    .host
                    .b
                    .declare_var("s", VariableType::Scalar(ty.element), false);
                self.host
                    .sources
                    .insert(*result, TensorStorage::Scalar(var));
            } else {
                let memory = self.new_memory(*result);
                self.hold_memory(*result, memory);
            }
        }
        let condition = self.copy_scalar(condition);
        self.finish_accesses();
        let [then, otherwise] = branches.map(|block| {
            self.host.b.begin_block();
            self.lower_block(block);
            for (result, from) in results.iter().zip(&function.block(block).results) {
                match self.host.sources[result] {
                    TensorStorage::Scalar(var) => self.assign_scalar(var, *from),
                    TensorStorage::Memory(memory) => self.copy_tensor(memory, *from),
                }
            }
            self.finish_accesses();
            self.host.b.end_block()
        });
        let condition = self.host.b.read_var(condition);
        self.host.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Binds the results of an inner loop to variables and memory with the initial values.
    fn carry_values(
        &mut self,
        position: (TensorBlock, usize),
        initial: &[TensorValue],
        results: &[TensorValue],
    ) -> Vec<TensorStorage> {
        let inside = self.host.collect_values_inside(position);
        let mut carried = Vec::new();
        for (result, from) in results.iter().zip(initial) {
            if self.host.function.ty(*result).rank() == 0 {
                self.bind_scalar(*result, *from);
            } else {
                let is_only_begun = !inside.contains(from);
                let taken = self.memory_of(*from).filter(|memory| {
                    let is_other =
                        |storage: &TensorStorage| *storage == TensorStorage::Memory(*memory);
                    is_only_begun
                        && !carried.iter().any(is_other)
                        && self.is_free_after(position, *memory)
                });
                let memory = match taken {
                    Some(memory) => memory,
                    None => {
                        let memory = self.new_memory(*result);
                        self.copy_tensor(memory, *from);
                        memory
                    }
                };
                self.hold_memory(*result, memory);
            }
            carried.push(self.host.sources[result]);
        }
        carried
    }

    /// Assigns the next values of all carried values at once.
    fn assign_next_values(&mut self, body: TensorBlock, carried: &[TensorStorage]) {
        let data = self.host.function.block(body);
        let mut next = Vec::new();
        for (result, storage) in data.results.iter().zip(carried) {
            next.push(match storage {
                TensorStorage::Scalar(_) => TensorStorage::Scalar(self.copy_scalar(*result)),
                TensorStorage::Memory(to) => {
                    let from = self.memory_of(*result).unwrap_or(*to);
                    let is_carried = carried.contains(&TensorStorage::Memory(from));
                    if from != *to && is_carried {
                        let copy = self.new_memory(*result);
                        self.copy_memory(copy, from, *result);
                        TensorStorage::Memory(copy)
                    } else {
                        TensorStorage::Memory(from)
                    }
                }
            });
        }
        for ((result, to), from) in data.results.iter().zip(carried).zip(next) {
            match (*to, from) {
                (TensorStorage::Scalar(to), TensorStorage::Scalar(from)) => {
                    let value = self.host.b.read_var(from);
                    self.host.b.push_assignment(to, value);
                }
                (TensorStorage::Memory(to), TensorStorage::Memory(from)) if to != from => {
                    self.copy_memory(to, from, *result);
                }
                _ => {}
            }
        }
    }
}
