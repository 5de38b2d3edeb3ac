//! Lowering of the segmented form to the imperative form: host code with launches of kernels.
//!
//! A parallel operation becomes one or more kernels. Arrays that are made inside of a kernel are parts of a block that the host
//! allocates, one part for each invocation.

mod accumulator;
mod array;
mod atomic;
mod call;
mod cell;
mod column_fold;
mod combinator;
mod deferred;
mod destination;
mod element;
mod element_access;
mod epilogue;
mod fold;
mod fused;
mod group_fold;
mod group_histogram;
mod group_map;
mod group_tile;
mod histogram;
mod lane_fold;
mod map;
mod memory_need;
mod offload;
mod row_grid;
mod row_histogram;
mod row_layout;
mod scatter;
mod space;
mod statement;
mod stream;
mod threshold;
mod tile;
mod tile_plan;
mod view;
mod worker_histogram;
mod workgroup;

use crate::device_scalars::DeviceScalars;
use crate::direct_results::DirectResults;
use crate::epilogues::FoldEpilogues;
use crate::in_place::InPlaceResults;
use crate::ir::SegmentFunction;
use crate::profile::SegmentProfile;
use crate::row_access::RowArrays;
use crate::streamed_scans::StreamedScans;
use crate::translate::translate_function;
use crate::virtual_arrays::VirtualArrays;
use accumulator::LoweredAccumulator;
use call::{declare_callees, variable_kind};
use deferred::DeferredScalar;
use element::VirtualArray;
use group_map::GroupScope;
use row_layout::ReplacedValues;
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    ArrayDimension, CallStmt, EntryDecl, EntryDeclParameter, EntryDeclValue, EntryKind, FuncId,
    KernelProgram, PlainValue, StmtKind, VarId, VariableType,
};
use spirula_program::ScalarType;
use spirula_soac::ir::{
    SoacEntry, SoacEntryValue, SoacFunction, SoacOperand, SoacType, SoacVariableId,
};
use std::rc::Rc;
use stream::StreamedScan;
use view::{ArrayView, ScalarRef};

/// A scalar or an array of the program that is made.
#[derive(Clone, Debug)]
enum LoweredValue {
    /// A scalar.
    Scalar(ScalarRef),
    /// An array.
    Array(ArrayView),
    /// A certificate, of which nothing remains: statements keep their order.
    Certificate,
    /// An array that takes no memory.
    Virtual(VirtualArray),
    /// A result of a streamed scan, by its number.
    Streamed(Rc<StreamedScan>, usize),
    /// A scalar that only kernels use.
    Deferred(Rc<DeferredScalar>),
    /// An accumulator.
    Accumulator(Rc<LoweredAccumulator>),
}

/// The kernel that is being made.
#[derive(Debug)]
struct KernelScope {
    /// Variables from this one on are the kernel's own.
    first_var: usize,
    /// The number of the invocation, of all that run.
    invocation: ScalarRef,
    /// The number of invocations.
    width: ScalarRef,
    /// The scalars and blocks of the host that it uses, each once, in order.
    captures: Vec<(VarId, bool)>,
    /// The blocks that the host allocates for it, with the size of an invocation's part in elements.
    scratch: Vec<(VarId, ScalarType, Vec<ScalarRef>)>,
    /// Whether workgroups have one invocation each, so that other processors run the next ones.
    is_alone: bool,
    /// The deferred scalars that it has computed, with the values that they have on the host.
    computed: ReplacedValues,
    /// The workgroup, in code that all of its invocations run alike.
    group: Option<GroupScope>,
}

/// State of the lowering of a function.
struct FunctionLowering<'f> {
    function: &'f SoacFunction,
    /// The functions that the host may call.
    callees: Rc<[FuncId]>,
    builder: ProgramBuilder,
    /// The values of the variables.
    values: Vec<Option<LoweredValue>>,
    /// The kernel that is being made, if it is not host code.
    kernel: Option<KernelScope>,
    profile: SegmentProfile,
    in_place: InPlaceResults,
    virtual_arrays: VirtualArrays,
    streamed_scans: StreamedScans,
    /// Reductions whose results a map takes, on a device whose workgroups compute both.
    epilogues: FoldEpilogues,
    /// Arrays of the host that kernels read by rows, on a device that gives them a layout for it.
    row_arrays: RowArrays,
    /// Arrays of kernels that can be made where they are needed.
    direct_results: DirectResults,
    /// Scalars that only kernels use, on a device that the host need not wait for.
    device_scalars: DeviceScalars,
    /// Those that the kernels of the operation use that is being lowered.
    deferred: Vec<SoacVariableId>,
    /// Where such arrays are to be made.
    destinations: FxHashMap<SoacVariableId, ArrayView>,
    /// The number of thresholds that the code of the host reads.
    thresholds: usize,
}

/// An observer of stages. It receives the name of each stage, and a function that prints its result.
pub type SegmentStageObserver<'a> = dyn FnMut(&str, &dyn Fn() -> String) + 'a;

/// Names and effects of the stages that [`compile_entries`] shows, in their order.
pub const STAGES: [(&str, &str); 2] = [
    (
        "soac",
        "Makes array combinators of Futhark source and fuses them",
    ),
    (
        "segment",
        "Distributes nests of combinators over index spaces",
    ),
];

/// Compiles functions that are entry points to one program, for a kind of device. `watch` observes the stages of each
/// ([`STAGES`]).
///
/// # Errors
///
/// A bug of the form that was given, with the variable that it is about.
pub fn compile_entries(
    entries: Vec<(SoacFunction, SoacEntry)>,
    profile: SegmentProfile,
    watch: &mut SegmentStageObserver<'_>,
) -> Result<KernelProgram, String> {
    let [(soac, _), (segment, _)] = STAGES;
    let mut builder = ProgramBuilder::new();
    let mut initialisers = Vec::new();
    for (function, entry) in entries {
        watch(soac, &|| function.to_string());
        let function = translate_function(function, profile);
        watch(segment, &|| function.to_string());
        let callees: Rc<[_]> = declare_callees(&mut builder, &function, &entry.name).into();
        for ((_, callee), &id) in function.callees.iter().zip(&*callees) {
            let mut lowering = FunctionLowering::new(callee, &callees, builder, profile);
            lowering.lower_callee(callee, id)?;
            builder = lowering.builder;
        }
        let mut lowering = FunctionLowering::new(&function, &callees, builder, profile);
        if entry.is_initialiser {
            initialisers.push(lowering.lower_initialiser(&function, &entry)?);
        } else {
            lowering.lower_function(&function, &entry)?;
        }
        builder = lowering.builder;
    }
    if !initialisers.is_empty() {
        call_initialisers(&mut builder, &initialisers);
    }
    Ok(builder.finish_program())
}

/// Has functions run when the program begins.
fn call_initialisers(builder: &mut ProgramBuilder, functions: &[FuncId]) {
    builder.begin_block();
    for &function in functions {
        builder.push_statement(StmtKind::Call(Box::new(CallStmt {
            function,
            inputs: Vec::new(),
            outputs: Vec::new(),
        })));
    }
    let body = builder.end_block();
    builder.set_initialiser(body);
}

impl<'f> FunctionLowering<'f> {
    fn new(
        function: &'f SegmentFunction,
        callees: &Rc<[FuncId]>,
        builder: ProgramBuilder,
        profile: SegmentProfile,
    ) -> Self {
        let (mut row_arrays, mut device_scalars, mut epilogues) = Default::default();
        if profile.runs_in_lockstep() {
            row_arrays = RowArrays::find_in_function(function);
            device_scalars = DeviceScalars::find_in_function(function);
            epilogues = FoldEpilogues::find_in_function(function);
        }
        let in_place = InPlaceResults::analyse_function(function);
        FunctionLowering {
            function: &function.signature,
            callees: Rc::clone(callees),
            builder,
            values: vec![None; function.signature.variables.len()],
            kernel: None,
            profile,
            virtual_arrays: VirtualArrays::find_in_host(&function.body),
            streamed_scans: StreamedScans::find_in_host(&function.signature, &function.body),
            epilogues,
            row_arrays,
            direct_results: DirectResults::find_in_function(function, &in_place),
            in_place,
            device_scalars,
            deferred: Vec::new(),
            destinations: FxHashMap::default(),
            thresholds: 0,
        }
    }

    fn lower_function(
        &mut self,
        segments: &SegmentFunction,
        entry: &SoacEntry,
    ) -> Result<(), String> {
        let function = self.builder.declare_function(&entry.name);
        self.builder.begin_function(function);
        let inputs = self.add_inputs(function);
        let results = &segments.body.results;
        let mut outputs = Vec::new();
        for &result in results {
            let kind = variable_kind(&self.function.type_of(result));
            outputs.push(self.builder.add_output(function, "out", kind));
        }
        let mut sizes = Vec::new();
        for &result in results {
            let shape = self.function.type_of(result).shape().to_vec();
            let int64 = VariableType::Scalar(ScalarType::I64);
            let vars = shape
                .iter()
                .map(|_| self.builder.add_output(function, "size", int64))
                .collect::<Vec<_>>();
            sizes.push(vars);
        }
        self.builder.begin_block();
        self.bind_inputs(&inputs)?;
        self.lower_host_statements(&segments.body.statements)?;
        for ((&result, &output), sizes) in results.iter().zip(&outputs).zip(&sizes) {
            self.write_result(result, output, sizes)?;
        }
        let body = self.builder.end_block();
        self.builder.define_function(function, body);
        let declaration =
            self.declare_entry(entry, function, &inputs, results, &outputs, &sizes)?;
        self.builder.add_entry(declaration);
        Ok(())
    }

    /// Lowers a function without parameters whose results are dropped.
    fn lower_initialiser(
        &mut self,
        segments: &SegmentFunction,
        entry: &SoacEntry,
    ) -> Result<FuncId, String> {
        let function = self.builder.declare_function(&entry.name);
        self.builder.begin_function(function);
        self.builder.begin_block();
        self.lower_host_statements(&segments.body.statements)?;
        let body = self.builder.end_block();
        self.builder.define_function(function, body);
        Ok(function)
    }

    /// Binds the parameters of the function: scalars first, as sizes are among them.
    fn bind_inputs(&mut self, inputs: &[(SoacVariableId, VarId)]) -> Result<(), String> {
        for &(parameter, var) in inputs {
            if let SoacType::Scalar(_) = self.function.variables[parameter].variable_type {
                self.set(parameter, LoweredValue::Scalar(ScalarRef::Var(var)));
            }
        }
        for &(parameter, var) in inputs {
            if let SoacType::Array(element, shape) =
                self.function.variables[parameter].variable_type.clone()
            {
                let shape = self.scalars(&shape)?;
                let view = self.dense_view(var, element, shape);
                self.set(parameter, LoweredValue::Array(view));
            }
        }
        Ok(())
    }

    /// Gives an output its value.
    fn write_result(
        &mut self,
        result: SoacOperand,
        output: VarId,
        sizes: &[VarId],
    ) -> Result<(), String> {
        match self.value(result)? {
            LoweredValue::Scalar(scalar) => {
                let value = self.read(scalar);
                self.builder.push_assignment(output, value);
            }
            LoweredValue::Array(view) => {
                let view = self.make_dense(view)?;
                self.builder.push_statement(StmtKind::Alias {
                    to: output,
                    from: view.memory,
                });
                for (&size, &length) in sizes.iter().zip(&view.shape) {
                    let length = self.read(length);
                    self.builder.push_assignment(size, length);
                }
            }
            LoweredValue::Certificate | LoweredValue::Accumulator(_) => {}
            LoweredValue::Virtual(_) | LoweredValue::Streamed(..) | LoweredValue::Deferred(_) => {
                return Err("a result has no value".into());
            }
        }
        Ok(())
    }

    /// The declaration of the entry point.
    fn declare_entry(
        &self,
        entry: &SoacEntry,
        function: FuncId,
        inputs: &[(SoacVariableId, VarId)],
        values: &[SoacOperand],
        outputs: &[VarId],
        sizes: &[Vec<VarId>],
    ) -> Result<EntryDecl, String> {
        let mut data = inputs.iter().filter(|(id, _)| !self.is_size(*id, inputs));
        let mut parameters = Vec::new();
        for parameter in &entry.parameters {
            let mut parts = Vec::new();
            for &unsigned in &parameter.unsigned {
                let (id, var) = data
                    .next()
                    .ok_or("a parameter of the entry point has no variable")?;
                let variable_type = &self.function.variables[*id].variable_type;
                let find = |size: &SoacOperand| match size {
                    SoacOperand::Variable(size) => inputs
                        .iter()
                        .find(|(id, _)| id == size)
                        .map(|(_, var)| *var),
                    SoacOperand::Constant(_) => None,
                };
                let shape = variable_type
                    .shape()
                    .iter()
                    .map(find)
                    .collect::<Option<Vec<_>>>();
                let shape = shape.ok_or("a size of a parameter is no parameter")?;
                parts.push(plain_value(*var, variable_type, unsigned, &shape));
            }
            parameters.push(EntryDeclParameter {
                name: parameter.name.clone(),
                value: entry_value(parameter, parts),
            });
        }
        let mut rest = values.iter().zip(outputs).zip(sizes);
        let mut results = Vec::new();
        for result in &entry.results {
            let mut parts = Vec::new();
            for &unsigned in &result.unsigned {
                let ((operand, var), sizes) = rest
                    .next()
                    .ok_or("a result of the entry point has no value")?;
                parts.push(plain_value(
                    *var,
                    &self.function.type_of(*operand),
                    unsigned,
                    sizes,
                ));
            }
            results.push(entry_value(result, parts));
        }
        Ok(EntryDecl {
            name: entry.name.clone(),
            function,
            parameters,
            results,
        })
    }

    /// Whether a parameter is the size of another.
    fn is_size(&self, id: SoacVariableId, inputs: &[(SoacVariableId, VarId)]) -> bool {
        inputs.iter().any(|(other, _)| {
            let shape = self.function.variables[*other].variable_type.shape();
            shape.contains(&SoacOperand::Variable(id))
        })
    }

    /// The value of an operand.
    fn value(&self, operand: SoacOperand) -> Result<LoweredValue, String> {
        match operand {
            SoacOperand::Constant(literal) => {
                Ok(LoweredValue::Scalar(ScalarRef::Constant(literal)))
            }
            SoacOperand::Variable(id) => self.values[id.index()]
                .clone()
                .ok_or_else(|| format!("{id:?} is used before it is bound")),
        }
    }

    /// The value of an operand that is a scalar.
    fn scalar(&self, operand: SoacOperand) -> Result<ScalarRef, String> {
        match self.value(operand)? {
            LoweredValue::Scalar(scalar) => Ok(scalar),
            _ => Err(format!("{operand:?} is no scalar")),
        }
    }

    /// The values of operands that are scalars.
    fn scalars(&self, operands: &[SoacOperand]) -> Result<Vec<ScalarRef>, String> {
        operands
            .iter()
            .map(|&operand| self.scalar(operand))
            .collect()
    }

    /// The value of an operand that is an array.
    fn array(&self, operand: SoacOperand) -> Result<ArrayView, String> {
        match self.value(operand)? {
            LoweredValue::Array(view) => Ok(view),
            _ => Err(format!("{operand:?} is no array")),
        }
    }

    /// Gives a variable its value.
    fn set(&mut self, id: SoacVariableId, value: LoweredValue) {
        self.values[id.index()] = Some(value);
    }
}

/// A scalar or array of an entry point.
fn plain_value(
    var: VarId,
    variable_type: &SoacType,
    unsigned: bool,
    sizes: &[VarId],
) -> PlainValue {
    let shape = match variable_type {
        SoacType::Array(..) => Some(
            sizes
                .iter()
                .map(|&size| ArrayDimension::Var(size))
                .collect(),
        ),
        _ => None,
    };
    PlainValue {
        var,
        element: variable_type.element(),
        unsigned,
        shape,
    }
}

/// A parameter or result of an entry point.
fn entry_value(value: &SoacEntryValue, mut parts: Vec<PlainValue>) -> EntryDeclValue {
    let kind = match (&value.opaque, parts.len()) {
        (None, 1) => EntryKind::Plain(parts.remove(0)),
        (opaque, _) => EntryKind::Opaque(opaque.clone().unwrap_or_default(), parts),
    };
    EntryDeclValue {
        unique: false,
        kind,
    }
}
