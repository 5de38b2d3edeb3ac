//! Host programs: memory, launches and control flow of a function.

mod dynamic_sizes;
mod result_memory;

use super::host_scalars::find_host_scalars;
use super::kernel;
use super::kernel_loop::{KernelLoops, select_kernel_loops};
use super::node_emitter::TensorStorage;
use super::scalar_operation::emit_scalar_results;
use super::while_statement::WhileStatement;
use crate::ir::{
    ForeignCall, LastUses, MessagePiece, OpKind, RunAssertion, SizeConstraint, StructuredOp,
    TensorBlock, TensorConstant, TensorFunction, TensorValue, find_last_uses,
};
use crate::schedule::{ScheduleProfile, TensorDispatch};
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    ArrayDimension, CopyOperand, CopyStmt, EntryDecl, EntryDeclParameter, EntryDeclValue,
    EntryKind, ExprId, ForeignStmt, FuncArgument, FuncId, KernelData, KernelProgram, MemoryElement,
    MemorySpace, MessageData, MessageSegment, PlainValue, StaticData, StmtKind, VarId,
    VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// A function as a program with one entry point. `dispatches` has the dispatches of structured operations that run on
/// the device, by their first results.
pub(super) fn lower_host_program(
    function: &TensorFunction,
    dispatches: &FxHashMap<TensorValue, TensorDispatch>,
    profile: ScheduleProfile,
) -> KernelProgram {
    let kernel_loops = select_kernel_loops(function, &profile);
    let mut host = HostProgramLowering {
        b: ProgramBuilder::new(),
        function,
        dispatches,
        profile,
        is_host: find_host_scalars(function, &kernel_loops),
        is_size: dynamic_sizes::mark_sizes(function),
        sources: FxHashMap::default(),
        constants: Vec::new(),
        last: find_last_uses(function),
        kernel_loops,
        demands: function.demands.clone(),
        extra_kernels: Vec::new(),
    };
    host.lower_function();
    for kernel in std::mem::take(&mut host.extra_kernels) {
        host.b.add_kernel(kernel);
    }
    host.fill_constants();
    host.b.finish_program()
}

pub(super) struct HostProgramLowering<'a> {
    pub b: ProgramBuilder,
    pub function: &'a TensorFunction,
    dispatches: &'a FxHashMap<TensorValue, TensorDispatch>,
    pub profile: ScheduleProfile,
    is_host: Vec<bool>,
    is_size: Vec<bool>,
    pub sources: FxHashMap<TensorValue, TensorStorage>,
    /// Constants and the globals that hold them.
    constants: Vec<(VarId, &'a TensorConstant)>,
    /// Constraints on sizes that have not been checked yet.
    demands: Vec<SizeConstraint>,
    /// Kernels that are not dispatches; they are numbered after those.
    extra_kernels: Vec<KernelData>,
    /// Values by their last use.
    pub last: LastUses,
    /// The loops that run within one kernel.
    pub kernel_loops: KernelLoops,
}

impl<'a> HostProgramLowering<'a> {
    fn lower_function(&mut self) {
        let id = self.b.declare_function(&self.function.name);
        self.b.begin_function(id);
        let body = self.function.block(self.function.body());
        let entry = &self.function.entry;
        self.parameter_sizes(id);
        let mut parameters = Vec::new();
        for (at, value) in body.parameters.iter().enumerate() {
            let name = entry.parameters.get(at).map_or("x", String::as_str);
            let ty = self.variable_type(*value);
            let var = self.b.add_input(id, name, ty);
            self.bind_value(*value, var);
            let unsigned = entry.unsigned_parameters.get(at).copied();
            let sizes = self.function.ty(*value).dynamic_sizes();
            let sizes = sizes.filter_map(|size| match self.sources.get(&size) {
                Some(TensorStorage::Scalar(var)) => Some(*var),
                _ => None,
            });
            let shape = self.entry_shape(*value, sizes);
            parameters.push(EntryDeclParameter {
                name: name.to_owned(),
                value: self.entry_value(*value, var, unsigned.unwrap_or(false), shape),
            });
        }
        let outputs = self.declare_outputs(id);
        self.b.begin_block();
        for value in &body.parameters {
            self.read_size(*value);
        }
        self.compare_sizes();
        self.lower_block(self.function.body());
        let mut results = Vec::new();
        for (at, (value, (out, sizes))) in body.results.iter().zip(&outputs).enumerate() {
            let known = self.function.ty(*value).dynamic_sizes();
            for (size, out) in known.zip(sizes) {
                let scalar = self.as_scalar(size);
                self.b.push_assignment(*out, scalar);
            }
            match self.function.ty(*value).rank() {
                0 => {
                    let scalar = self.as_scalar(*value);
                    self.b.push_assignment(*out, scalar);
                }
                _ => {
                    let from = self.as_memory(*value);
                    self.b.push_statement(StmtKind::Alias { to: *out, from });
                }
            }
            let unsigned = entry.unsigned_results.get(at).copied();
            let shape = self.entry_shape(*value, sizes.iter().copied());
            let unsigned = unsigned.unwrap_or(false);
            results.push(self.entry_value(*value, *out, unsigned, shape));
        }
        let block = self.b.end_block();
        self.b.define_function(id, block);
        self.b.add_entry(EntryDecl {
            name: self.function.name.clone(),
            function: id,
            parameters,
            results,
        });
    }

    /// Declares sizes that are known from the arguments.
    fn parameter_sizes(&mut self, id: FuncId) {
        let function = self.function;
        for parameter in &function.block(function.body()).parameters {
            for size in function.ty(*parameter).dynamic_sizes() {
                if !self.sources.contains_key(&size) {
                    let var = self
                        .b
                        .add_input(id, "n", VariableType::Scalar(ScalarType::I64));
                    self.sources.insert(size, TensorStorage::Scalar(var));
                }
            }
        }
    }

    /// Declares the results, each with its sizes that are known only at run time.
    fn declare_outputs(&mut self, id: FuncId) -> Vec<(VarId, Vec<VarId>)> {
        let function = self.function;
        let mut outputs = Vec::new();
        for value in &function.block(function.body()).results {
            let ty = function.ty(*value);
            let kind = match ty.rank() {
                0 => VariableType::Scalar(ty.element),
                _ => VariableType::Memory(MemorySpace::Device),
            };
            let out = self.b.add_output(id, "out", kind);
            let sizes = ty.dynamic_sizes();
            let sizes = sizes.map(|_| {
                self.b
                    .add_output(id, "n", VariableType::Scalar(ScalarType::I64))
            });
            outputs.push((out, sizes.collect()));
        }
        outputs
    }

    /// The shape of a parameter or result, with variables for sizes that are known only at run time.
    fn entry_shape(
        &self,
        value: TensorValue,
        sizes: impl Iterator<Item = VarId>,
    ) -> Option<Vec<ArrayDimension>> {
        let shape = &self.function.ty(value).shape;
        let mut sizes = sizes;
        let dimensions = shape.iter().map(|dim| match dim.as_static() {
            Some(size) => ArrayDimension::Literal(size as i64),
            None => sizes
                .next()
                .map_or(ArrayDimension::Literal(0), ArrayDimension::Var),
        });
        (!shape.is_empty()).then(|| dimensions.collect())
    }

    fn entry_value(
        &self,
        value: TensorValue,
        var: VarId,
        unsigned: bool,
        shape: Option<Vec<ArrayDimension>>,
    ) -> EntryDeclValue {
        let ty = self.function.ty(value);
        EntryDeclValue {
            unique: false,
            kind: EntryKind::Plain(PlainValue {
                var,
                element: ty.element,
                unsigned,
                shape,
            }),
        }
    }

    fn variable_type(&self, value: TensorValue) -> VariableType {
        if self.is_host[value.index()] {
            VariableType::Scalar(self.function.ty(value).element)
        } else {
            VariableType::Memory(MemorySpace::Device)
        }
    }

    /// Binds a value to a variable.
    fn bind_value(&mut self, value: TensorValue, var: VarId) {
        let source = if self.is_host[value.index()] {
            TensorStorage::Scalar(var)
        } else {
            TensorStorage::Memory(var)
        };
        self.sources.insert(value, source);
    }

    /// Declares the variable of a value.
    fn declare_value(&mut self, value: TensorValue) -> VarId {
        let ty = self.variable_type(value);
        let name = match ty {
            VariableType::Scalar(_) => "s",
            _ => "m",
        };
        let var = self.b.declare_var(name, ty, false);
        self.bind_value(value, var);
        var
    }

    /// Declares a value and allocates its memory.
    pub(super) fn allocate_value(&mut self, value: TensorValue) -> VarId {
        let var = self.declare_value(value);
        let bytes = self.emit_byte_count(value);
        self.b.push_statement(StmtKind::Alloc { to: var, bytes });
        var
    }

    pub(super) fn emit_byte_count(&mut self, value: TensorValue) -> ExprId {
        let ty = self.function.ty(value);
        let element = ty.element.size();
        if let Some(count) = ty.element_count() {
            return self.b.make_i64((count * element) as i64);
        }
        let count = self.emit_element_count(value);
        let element = self.b.make_i64(element as i64);
        self.b.apply_op(ScalarOp::Mul, &[count, element])
    }

    /// A value as memory of the device. A scalar is written to a new allocation.
    pub(super) fn as_memory(&mut self, value: TensorValue) -> VarId {
        match self.sources.get(&value) {
            Some(TensorStorage::Memory(var)) => *var,
            _ => {
                let ty = self.function.ty(value).element;
                let scalar = self.as_scalar(value);
                let to = self
                    .b
                    .declare_var("m", VariableType::Memory(MemorySpace::Device), false);
                let bytes = self.b.make_i64(ty.size() as i64);
                self.b.push_statement(StmtKind::Alloc { to, bytes });
                let to = self.first_element(to, ty);
                self.b.push_statement(StmtKind::Write { to, value: scalar });
                to.memory
            }
        }
    }

    pub(super) fn first_element(&mut self, memory: VarId, ty: ScalarType) -> MemoryElement {
        MemoryElement {
            memory,
            ty,
            index: self.b.make_i64(0),
            volatile: false,
        }
    }

    /// A value of rank 0 as a scalar; it is read if it is in the device's memory.
    pub(super) fn as_scalar(&mut self, value: TensorValue) -> ExprId {
        match self.sources.get(&value).copied() {
            Some(TensorStorage::Scalar(var)) => self.b.read_var(var),
            Some(TensorStorage::Memory(memory)) => {
                let ty = self.function.ty(value).element;
                let to = self.b.declare_var("s", VariableType::Scalar(ty), false);
                let from = self.first_element(memory, ty);
                self.b.push_statement(StmtKind::Read { to, from });
                self.b.read_var(to)
            }
            None => self.b.make_i64(0),
        }
    }

    fn lower_block(&mut self, block: TensorBlock) {
        let function = self.function;
        for (at, op) in function.block(block).ops.iter().enumerate() {
            self.b.set_place(op.place);
            self.lower_op((block, at), &op.kind, &op.results);
            for result in &op.results {
                self.read_size(*result);
            }
            if op.results.iter().any(|v| self.is_size[v.index()]) {
                self.check_sizes(&op.results);
                self.compare_sizes();
            }
            for value in self.last.remove(&(block, at)).unwrap_or_default() {
                self.free_value(value);
            }
        }
    }

    fn lower_op(
        &mut self,
        position: (TensorBlock, usize),
        kind: &'a OpKind,
        results: &[TensorValue],
    ) {
        match kind {
            OpKind::Constant(constant) => self.lower_constant(constant, results[0]),
            OpKind::Structured(op) => match self.dispatches.get(&results[0]) {
                Some(dispatch) => {
                    let updated = self.allocate_results(position, op, results);
                    self.emit_launch(dispatch, &updated);
                }
                None if op.is_empty() => {
                    self.allocate_results(position, op, results);
                }
                None => self.lower_scalar_op(op, results),
            },
            OpKind::Reshape(source) => {
                self.check_reshape(results[0], *source);
                self.alias_value(results[0], *source);
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => self.lower_if(*condition, *then, *otherwise, results),
            OpKind::While {
                initial,
                condition,
                body,
            } => {
                if self.kernel_loops.contains_key(&position) {
                    return self.run_loop_in_kernel(position, initial, *condition, *body);
                }
                self.bind_loop_values(position, initial, results);
                self.lower_while(*condition, *body, results);
            }
            OpKind::Assert(assertion) => self.lower_assertion(assertion),
            OpKind::Foreign(call) => self.lower_foreign(call, results),
            OpKind::RadixSort(sort) => self.lower_radix_sort(sort, results[0]),
            OpKind::WordSelection(selection) => self.lower_word_selection(selection, results[0]),
            // The pass `sort` has replaced sorts.
            OpKind::Sort(_) => {}
        }
    }

    fn lower_assertion(&mut self, assertion: &RunAssertion) {
        let condition = self.as_scalar(assertion.condition);
        let pieces = assertion.message.iter().map(|piece| match piece {
            MessagePiece::Text(text) => MessageSegment::Text(text.clone()),
            MessagePiece::Value(value) => MessageSegment::Value(self.as_scalar(*value)),
        });
        let parts = pieces.collect();
        let message = self.b.add_message(MessageData {
            parts,
            backtrace: assertion.origin.clone(),
        });
        self.b
            .push_statement(StmtKind::Assert { condition, message });
    }

    fn lower_foreign(&mut self, call: &ForeignCall, results: &[TensorValue]) {
        let mut inputs = Vec::with_capacity(call.operands.len());
        for operand in &call.operands {
            inputs.push(if self.is_host[operand.index()] {
                FuncArgument::Scalar(self.as_scalar(*operand))
            } else {
                FuncArgument::Memory(self.as_memory(*operand))
            });
        }
        let outputs = results.iter().map(|v| self.declare_value(*v)).collect();
        self.b
            .push_statement(StmtKind::Foreign(Box::new(ForeignStmt {
                signature: call.signature.clone(),
                inputs,
                outputs,
            })));
    }

    fn lower_constant(&mut self, constant: &'a TensorConstant, result: TensorValue) {
        if self.is_host[result.index()] {
            let to = self.declare_value(result);
            let literal = ScalarLiteral::new(constant.ty.element, constant.element_bits(0));
            let literal = self.b.make_literal(literal);
            self.b.push_assignment(to, literal);
            return;
        }
        let global = self
            .b
            .add_global("constant", VariableType::Memory(MemorySpace::Device));
        self.bind_value(result, global);
        self.constants.push((global, constant));
    }

    /// Fills the globals of constants.
    fn fill_constants(&mut self) {
        if self.constants.is_empty() {
            return;
        }
        self.b.begin_block();
        for (to, constant) in std::mem::take(&mut self.constants) {
            let ty = constant.ty.element;
            let count = constant.ty.element_count().unwrap_or(0);
            let length = self.b.make_i64(count as i64);
            let bytes = self.b.make_i64((count * ty.size()) as i64);
            self.b.push_statement(StmtKind::Alloc { to, bytes });
            let host = self
                .b
                .declare_var("data", VariableType::Memory(MemorySpace::Host), false);
            let values =
                (0..count as usize).map(|at| ScalarLiteral::new(ty, constant.element_bits(at)));
            let data = Box::new(StaticData {
                ty,
                values: values.collect(),
                repeat: None,
            });
            self.b.push_statement(StmtKind::Static { to: host, data });
            self.emit_copy(to, host, ty, length);
        }
        let block = self.b.end_block();
        self.b.set_initialiser(block);
    }

    /// Copies a block of elements.
    pub(super) fn emit_copy(&mut self, to: VarId, from: VarId, ty: ScalarType, count: ExprId) {
        let shape = vec![count];
        let mut side = |memory| CopyOperand {
            memory,
            offset: self.b.make_i64(0),
            strides: vec![self.b.make_i64(1)],
        };
        let (to, from) = (side(to), side(from));
        self.b.push_statement(StmtKind::Copy(Box::new(CopyStmt {
            ty,
            shape,
            to,
            from,
        })));
    }

    /// Makes a value an alias of another.
    fn alias_value(&mut self, to: TensorValue, from: TensorValue) {
        let var = self.declare_value(to);
        self.assign_value(to, var, from);
    }

    /// Assigns the value `from` to the variable of the value `to`.
    fn assign_value(&mut self, to: TensorValue, var: VarId, from: TensorValue) {
        if self.is_host[to.index()] {
            let scalar = self.as_scalar(from);
            self.b.push_assignment(var, scalar);
        } else {
            let from = self.as_memory(from);
            self.b.push_statement(StmtKind::Alias { to: var, from });
        }
    }

    /// Lowers an operation on scalars to arithmetic of the host.
    fn lower_scalar_op(&mut self, op: &StructuredOp, results: &[TensorValue]) {
        let vars: Vec<VarId> = results.iter().map(|v| self.declare_value(*v)).collect();
        let values = emit_scalar_results(&mut self.b, self.function, op, &self.sources);
        for (var, value) in vars.into_iter().zip(values) {
            self.b.push_assignment(var, value);
        }
    }

    /// Launches a dispatch. It reads the tensors of `updated` in the memory of the results that replace them.
    fn emit_launch(&mut self, dispatch: &TensorDispatch, updated: &[(TensorValue, TensorValue)]) {
        let looks_back = dispatch.plan.looks_back();
        let status = looks_back.then(|| self.allocate_look_back_status(dispatch));
        let status = status.as_ref();
        let mut before = Vec::new();
        for (base, result) in updated {
            let memory = self.sources[result];
            before.push((*base, self.sources.insert(*base, memory)));
        }
        let data =
            kernel::lower_dispatch(&mut self.b, self.function, dispatch, &self.sources, status);
        for (base, storage) in before {
            storage.and_then(|storage| self.sources.insert(base, storage));
        }
        let id = self.b.add_kernel(data);
        self.b.push_statement(StmtKind::Launch(id));
        if let Some(status) = status {
            status.free_memory(&mut self.b);
        }
    }

    /// Allocates memory for a scan that looks back.
    fn allocate_look_back_status(&mut self, dispatch: &TensorDispatch) -> kernel::LookBackStatus {
        let number = self.dispatches.len() + self.extra_kernels.len();
        let number = self.b.later_kernel(number);
        let (status, kernel) = kernel::LookBackStatus::new(&mut self.b, dispatch, number);
        self.extra_kernels.push(kernel);
        status
    }

    /// Launches a kernel that is not a dispatch.
    pub(super) fn launch_extra_kernel(&mut self, data: KernelData) {
        let number = self.dispatches.len() + self.extra_kernels.len();
        let id = self.b.later_kernel(number);
        self.extra_kernels.push(data);
        self.b.push_statement(StmtKind::Launch(id));
    }

    fn lower_if(
        &mut self,
        condition: TensorValue,
        then: TensorBlock,
        otherwise: TensorBlock,
        results: &[TensorValue],
    ) {
        let vars: Vec<VarId> = results.iter().map(|v| self.declare_value(*v)).collect();
        let condition = self.as_scalar(condition);
        let [then, otherwise] = [then, otherwise].map(|block| {
            self.b.begin_block();
            self.lower_block(block);
            let given = &self.function.block(block).results;
            for ((result, var), from) in results.iter().zip(&vars).zip(given) {
                self.assign_value(*result, *var, *from);
            }
            self.free_block_results(block);
            self.b.end_block()
        });
        self.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Lowers a loop that evaluates its condition at the beginning of each iteration. Variables hold the initial values.
    fn lower_while(&mut self, condition: TensorBlock, body: TensorBlock, results: &[TensorValue]) {
        let vars = results.iter().filter_map(|v| match self.sources.get(v) {
            Some(TensorStorage::Memory(var) | TensorStorage::Scalar(var)) => Some(*var),
            None => None,
        });
        let vars: Vec<VarId> = vars.collect();
        for block in [condition, body] {
            let parameters = &self.function.block(block).parameters;
            for (parameter, var) in parameters.iter().zip(&vars) {
                self.bind_value(*parameter, *var);
            }
        }
        let repeat = WhileStatement::begin(&mut self.b);
        self.lower_block(condition);
        let goes_on = self.as_scalar(self.function.block(condition).results[0]);
        repeat.begin_body(&mut self.b);
        self.lower_block(body);
        self.assign_next_values(body, &vars);
        repeat.finish(&mut self.b, goes_on);
    }
}
