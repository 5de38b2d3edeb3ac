//! Functions to host programs.

mod sizes;

use super::emit::{NodeEmitter, TensorStorage};
use super::kernel;
use super::placement::placement;
use crate::ir::{
    MessagePiece, OpKind, RunAssertion, SizeConstraint, StructuredOp, TensorBlock, TensorConstant,
    TensorFunction, TensorValue, YieldDestination,
};
use crate::schedule::{ScheduleStrategy, TensorDispatch};
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    ArrayDimension, CopyOperand, CopyStmt, EntryDecl, EntryDeclParameter, EntryDeclValue,
    EntryKind, ExprId, FuncId, KernelData, KernelProgram, MemoryElement, MemorySpace, MessageData,
    MessageSegment, PlainValue, StaticData, StmtKind, VarId, VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// A function as a program with one entry point. Structured operations that run on the device have
/// their dispatches, by their first results.
pub(super) fn lower(
    function: &TensorFunction,
    dispatches: &FxHashMap<TensorValue, TensorDispatch>,
) -> KernelProgram {
    let mut host = HostProgramLowering {
        b: ProgramBuilder::new(),
        function,
        dispatches,
        is_host: placement(function),
        is_size: sizes::sizes(function),
        sources: FxHashMap::default(),
        constants: Vec::new(),
        last: crate::lower::lifetime::last_uses(function),
        demands: function.demands.clone(),
        behind: Vec::new(),
    };
    host.function();
    for kernel in std::mem::take(&mut host.behind) {
        host.b.kernel(kernel);
    }
    host.initialise();
    host.b.finish()
}

struct HostProgramLowering<'a> {
    b: ProgramBuilder,
    function: &'a TensorFunction,
    dispatches: &'a FxHashMap<TensorValue, TensorDispatch>,
    is_host: Vec<bool>,
    is_size: Vec<bool>,
    sources: FxHashMap<TensorValue, TensorStorage>,
    /// Constants and the globals that hold them.
    constants: Vec<(VarId, &'a TensorConstant)>,
    /// What has to hold of sizes that have not been compared yet.
    demands: Vec<SizeConstraint>,
    /// Kernels that are no dispatches: they have the numbers behind those.
    behind: Vec<KernelData>,
    /// Values by the operation after which nothing uses them.
    last: FxHashMap<(TensorBlock, usize), Vec<TensorValue>>,
}

impl<'a> HostProgramLowering<'a> {
    fn function(&mut self) {
        let id = self.b.function(&self.function.name);
        self.b.begin_function(id);
        let body = self.function.block(self.function.body());
        let entry = &self.function.entry;
        self.parameter_sizes(id);
        let mut parameters = Vec::new();
        for (at, value) in body.parameters.iter().enumerate() {
            let name = entry.parameters.get(at).map_or("x", String::as_str);
            let ty = self.variable_type(*value);
            let var = self.b.input(id, name, ty);
            self.bind(*value, var);
            let unsigned = entry.unsigned_parameters.get(at).copied();
            let sizes = self.function.ty(*value).sizes();
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
        let outputs = self.outputs(id);
        self.b.begin_block();
        for value in &body.parameters {
            self.read_size(*value);
        }
        self.compare_sizes();
        self.block(self.function.body());
        let mut results = Vec::new();
        for (at, (value, (out, sizes))) in body.results.iter().zip(&outputs).enumerate() {
            let known = self.function.ty(*value).sizes();
            for (size, out) in known.zip(sizes) {
                let scalar = self.as_scalar(size);
                self.b.assign(*out, scalar);
            }
            match self.function.ty(*value).rank() {
                0 => {
                    let scalar = self.as_scalar(*value);
                    self.b.assign(*out, scalar);
                }
                _ => {
                    let from = self.as_memory(*value);
                    self.b.push(StmtKind::Alias { to: *out, from });
                }
            }
            let unsigned = entry.unsigned_results.get(at).copied();
            let shape = self.entry_shape(*value, sizes.iter().copied());
            let unsigned = unsigned.unwrap_or(false);
            results.push(self.entry_value(*value, *out, unsigned, shape));
        }
        let block = self.b.end_block();
        self.b.define(id, block);
        self.b.entry(EntryDecl {
            name: self.function.name.clone(),
            function: id,
            parameters,
            results,
        });
    }

    /// Declares sizes that are known with the arguments.
    fn parameter_sizes(&mut self, id: FuncId) {
        let function = self.function;
        for parameter in &function.block(function.body()).parameters {
            for size in function.ty(*parameter).sizes() {
                if !self.sources.contains_key(&size) {
                    let var = self.b.input(id, "n", VariableType::Scalar(ScalarType::I64));
                    self.sources.insert(size, TensorStorage::Scalar(var));
                }
            }
        }
    }

    /// Declares the results, each with its sizes that are known only when run.
    fn outputs(&mut self, id: FuncId) -> Vec<(VarId, Vec<VarId>)> {
        let function = self.function;
        let mut outputs = Vec::new();
        for value in &function.block(function.body()).results {
            let ty = function.ty(*value);
            let kind = match ty.rank() {
                0 => VariableType::Scalar(ty.element),
                _ => VariableType::Memory(MemorySpace::Device),
            };
            let out = self.b.output(id, "out", kind);
            let sizes = ty.sizes();
            let sizes = sizes.map(|_| {
                self.b
                    .output(id, "n", VariableType::Scalar(ScalarType::I64))
            });
            outputs.push((out, sizes.collect()));
        }
        outputs
    }

    /// The shape of a parameter or result, with variables for what is known only when run.
    fn entry_shape(
        &self,
        value: TensorValue,
        sizes: impl Iterator<Item = VarId>,
    ) -> Option<Vec<ArrayDimension>> {
        let shape = &self.function.ty(value).shape;
        let mut sizes = sizes;
        let dimensions = shape.iter().map(|dim| match dim.known() {
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
        match self.is_host[value.index()] {
            true => VariableType::Scalar(self.function.ty(value).element),
            false => VariableType::Memory(MemorySpace::Device),
        }
    }

    /// Notes where a value is.
    fn bind(&mut self, value: TensorValue, var: VarId) {
        let source = match self.is_host[value.index()] {
            true => TensorStorage::Scalar(var),
            false => TensorStorage::Memory(var),
        };
        self.sources.insert(value, source);
    }

    /// Declares the variable of a value.
    fn declare(&mut self, value: TensorValue) -> VarId {
        let ty = self.variable_type(value);
        let name = match ty {
            VariableType::Scalar(_) => "s",
            _ => "m",
        };
        let var = self.b.declare(name, ty, false);
        self.bind(value, var);
        var
    }

    /// Declares a value and makes its memory.
    fn allocate(&mut self, value: TensorValue) -> VarId {
        let var = self.declare(value);
        let bytes = self.bytes(value);
        self.b.push(StmtKind::Alloc { to: var, bytes });
        var
    }

    fn bytes(&mut self, value: TensorValue) -> ExprId {
        let ty = self.function.ty(value);
        let element = ty.element.size();
        if let Some(count) = ty.elements() {
            return self.b.i64((count * element) as i64);
        }
        let count = self.elements(value);
        let element = self.b.i64(element as i64);
        self.b.op(ScalarOp::Mul, &[count, element])
    }

    /// A value as memory of the device; scalars are written to a block of their own.
    fn as_memory(&mut self, value: TensorValue) -> VarId {
        match self.sources.get(&value) {
            Some(TensorStorage::Memory(var)) => *var,
            _ => {
                let ty = self.function.ty(value).element;
                let scalar = self.as_scalar(value);
                let to = self
                    .b
                    .declare("m", VariableType::Memory(MemorySpace::Device), false);
                let bytes = self.b.i64(ty.size() as i64);
                self.b.push(StmtKind::Alloc { to, bytes });
                let to = self.first_element(to, ty);
                self.b.push(StmtKind::Write { to, value: scalar });
                to.memory
            }
        }
    }

    fn first_element(&mut self, memory: VarId, ty: ScalarType) -> MemoryElement {
        MemoryElement {
            memory,
            ty,
            index: self.b.i64(0),
            volatile: false,
        }
    }

    /// A value of rank 0 as a scalar; what is in the device's memory is read.
    fn as_scalar(&mut self, value: TensorValue) -> ExprId {
        match self.sources.get(&value).copied() {
            Some(TensorStorage::Scalar(var)) => self.b.value(var),
            Some(TensorStorage::Memory(memory)) => {
                let ty = self.function.ty(value).element;
                let to = self.b.declare("s", VariableType::Scalar(ty), false);
                let from = self.first_element(memory, ty);
                self.b.push(StmtKind::Read { to, from });
                self.b.value(to)
            }
            None => self.b.i64(0),
        }
    }

    fn block(&mut self, block: TensorBlock) {
        let function = self.function;
        for (at, op) in function.block(block).ops.iter().enumerate() {
            self.b.at(op.place);
            self.op(&op.kind, &op.results);
            for result in &op.results {
                self.read_size(*result);
            }
            if op.results.iter().any(|v| self.is_size[v.index()]) {
                self.check_sizes(&op.results);
                self.compare_sizes();
            }
            for value in self.last.remove(&(block, at)).unwrap_or_default() {
                if let Some(TensorStorage::Memory(var)) = self.sources.get(&value) {
                    self.b.push(StmtKind::Free(*var));
                }
            }
        }
    }

    fn op(&mut self, kind: &'a OpKind, results: &[TensorValue]) {
        match kind {
            OpKind::Constant(constant) => self.constant(constant, results[0]),
            OpKind::Structured(op) => match self.dispatches.get(&results[0]) {
                Some(dispatch) => {
                    self.allocate_results(op, results);
                    self.launch(dispatch);
                }
                None if op.is_empty() => self.allocate_results(op, results),
                None => self.scalars(op, results),
            },
            OpKind::Reshape(source) => {
                self.same_size(results[0], *source);
                self.alias(results[0], *source);
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => self.choose(*condition, *then, *otherwise, results),
            OpKind::While {
                initial,
                condition,
                body,
            } => self.repeat(initial, *condition, *body, results),
            OpKind::Assert(assertion) => self.assert(assertion),
            // Sorting was made structured operations of.
            OpKind::Sort(_) => {}
        }
    }

    fn assert(&mut self, assertion: &RunAssertion) {
        let condition = self.as_scalar(assertion.condition);
        let pieces = assertion.message.iter().map(|piece| match piece {
            MessagePiece::Text(text) => MessageSegment::Text(text.clone()),
            MessagePiece::Value(value) => MessageSegment::Value(self.as_scalar(*value)),
        });
        let parts = pieces.collect();
        let message = self.b.message(MessageData {
            parts,
            backtrace: assertion.origin.clone(),
        });
        self.b.push(StmtKind::Assert { condition, message });
    }

    fn constant(&mut self, constant: &'a TensorConstant, result: TensorValue) {
        if self.is_host[result.index()] {
            let to = self.declare(result);
            let literal = ScalarLiteral::new(constant.ty.element, constant.bits(0));
            let literal = self.b.literal(literal);
            self.b.assign(to, literal);
            return;
        }
        let global = self
            .b
            .global("constant", VariableType::Memory(MemorySpace::Device));
        self.bind(result, global);
        self.constants.push((global, constant));
    }

    /// Fills the globals of constants.
    fn initialise(&mut self) {
        if self.constants.is_empty() {
            return;
        }
        self.b.begin_block();
        for (to, constant) in std::mem::take(&mut self.constants) {
            let ty = constant.ty.element;
            let count = constant.ty.elements().unwrap_or(0);
            let length = self.b.i64(count as i64);
            let bytes = self.b.i64((count * ty.size()) as i64);
            self.b.push(StmtKind::Alloc { to, bytes });
            let host = self
                .b
                .declare("data", VariableType::Memory(MemorySpace::Host), false);
            let values = (0..count as usize).map(|at| ScalarLiteral::new(ty, constant.bits(at)));
            let data = Box::new(StaticData {
                ty,
                values: values.collect(),
                repeat: None,
            });
            self.b.push(StmtKind::Static { to: host, data });
            self.copy(to, host, ty, length);
        }
        let block = self.b.end_block();
        self.b.initialise(block);
    }

    /// Copies a block of elements.
    fn copy(&mut self, to: VarId, from: VarId, ty: ScalarType, count: ExprId) {
        let shape = vec![count];
        let mut side = |memory| CopyOperand {
            memory,
            offset: self.b.i64(0),
            strides: vec![self.b.i64(1)],
        };
        let (to, from) = (side(to), side(from));
        self.b.push(StmtKind::Copy(Box::new(CopyStmt {
            ty,
            shape,
            to,
            from,
        })));
    }

    /// Gives a value what another has.
    fn alias(&mut self, to: TensorValue, from: TensorValue) {
        let var = self.declare(to);
        self.give(to, var, from);
    }

    /// Sets a variable that holds one value to another.
    fn give(&mut self, to: TensorValue, var: VarId, from: TensorValue) {
        if self.is_host[to.index()] {
            let scalar = self.as_scalar(from);
            self.b.assign(var, scalar);
        } else {
            let from = self.as_memory(from);
            self.b.push(StmtKind::Alias { to: var, from });
        }
    }

    /// Scalar arithmetic.
    fn scalars(&mut self, op: &StructuredOp, results: &[TensorValue]) {
        let vars: Vec<VarId> = results.iter().map(|v| self.declare(*v)).collect();
        let mut e = NodeEmitter::new(&mut self.b);
        e.sources = self.sources.clone();
        let roots: Vec<_> = op.yields.iter().map(|y| y.value).collect();
        let roots = e.body.import(&op.body, &roots, |_, _, _| None);
        let values = e.emit(&roots);
        for (var, value) in vars.into_iter().zip(values) {
            e.b.assign(var, value);
        }
    }

    /// Memory for results, with what is scattered into.
    fn allocate_results(&mut self, op: &StructuredOp, results: &[TensorValue]) {
        for (result, written) in results.iter().zip(&op.yields) {
            let to = self.allocate(*result);
            if let YieldDestination::Scatter { base, .. } = written.destination {
                let from = self.as_memory(base);
                let ty = self.function.ty(base).element;
                let count = self.elements(base);
                self.copy(to, from, ty, count);
            }
        }
    }

    fn launch(&mut self, dispatch: &TensorDispatch) {
        let looks_back = dispatch.strategy == ScheduleStrategy::LookBack;
        let progress = looks_back.then(|| self.progress(dispatch));
        let progress = progress.as_ref();
        let data = kernel::lower(
            &mut self.b,
            self.function,
            dispatch,
            &self.sources,
            progress,
        );
        let id = self.b.kernel(data);
        self.b.push(StmtKind::Launch(id));
        if let Some(progress) = progress {
            progress.free(&mut self.b);
        }
    }

    /// Memory for a scan that looks back.
    fn progress(&mut self, dispatch: &TensorDispatch) -> kernel::LookBackStatus {
        let number = self.dispatches.len() + self.behind.len();
        let number = self.b.later_kernel(number);
        let (progress, kernel) = kernel::LookBackStatus::new(&mut self.b, dispatch, number);
        self.behind.push(kernel);
        progress
    }

    fn choose(
        &mut self,
        condition: TensorValue,
        then: TensorBlock,
        otherwise: TensorBlock,
        results: &[TensorValue],
    ) {
        let vars: Vec<VarId> = results.iter().map(|v| self.declare(*v)).collect();
        let condition = self.as_scalar(condition);
        let [then, otherwise] = [then, otherwise].map(|block| {
            self.b.begin_block();
            self.block(block);
            let given = &self.function.block(block).results;
            for ((result, var), from) in results.iter().zip(&vars).zip(given) {
                self.give(*result, *var, *from);
            }
            self.b.end_block()
        });
        self.b.push(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// A loop that asks its condition at the beginning of each round.
    fn repeat(
        &mut self,
        initial: &[TensorValue],
        condition: TensorBlock,
        body: TensorBlock,
        results: &[TensorValue],
    ) {
        let vars: Vec<VarId> = results.iter().map(|v| self.declare(*v)).collect();
        for ((result, var), from) in results.iter().zip(&vars).zip(initial) {
            self.give(*result, *var, *from);
        }
        for block in [condition, body] {
            let parameters = &self.function.block(block).parameters;
            for (parameter, var) in parameters.iter().zip(&vars) {
                self.bind(*parameter, *var);
            }
        }
        let on = self
            .b
            .declare("on", VariableType::Scalar(ScalarType::Bool), false);
        let [yes, no] = [1, 0].map(|bit| self.b.literal(ScalarLiteral::new(ScalarType::Bool, bit)));
        self.b.assign(on, yes);
        self.b.begin_block();
        self.block(condition);
        let goes_on = self.as_scalar(self.function.block(condition).results[0]);
        self.b.begin_block();
        self.block(body);
        self.next_round(body, &vars);
        let then = self.b.end_block();
        self.b.begin_block();
        self.b.assign(on, no);
        let otherwise = self.b.end_block();
        self.b.push(StmtKind::If {
            condition: goes_on,
            then,
            otherwise,
        });
        let block = self.b.end_block();
        let condition = self.b.value(on);
        self.b.push(StmtKind::While {
            condition,
            body: block,
        });
    }

    /// Gives all carried values their next ones at once.
    fn next_round(&mut self, body: TensorBlock, vars: &[VarId]) {
        let data = self.function.block(body);
        let mut next = Vec::new();
        for (parameter, result) in data.parameters.iter().zip(&data.results) {
            let ty = self.variable_type(*parameter);
            let var = self.b.declare("next", ty, false);
            self.give(*parameter, var, *result);
            next.push((ty, var));
        }
        for ((ty, from), to) in next.into_iter().zip(vars) {
            match ty {
                VariableType::Scalar(_) => {
                    let value = self.b.value(from);
                    self.b.assign(*to, value);
                }
                _ => self.b.push(StmtKind::Alias { to: *to, from }),
            }
        }
    }
}
