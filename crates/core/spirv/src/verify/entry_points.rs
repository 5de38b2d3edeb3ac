//! Rule 17: entry points, their interfaces, and the instructions that their execution models allow.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::execution_modes::{self, DeclaredModes};
use super::rules::VerifyRule;
use crate::Id;
use crate::analysis::{EntryReach, SpirvCallGraph, function_name};
use crate::grammar::enumerants::{
    BuiltIn, Capability, Decoration, ExecutionMode as Mode, ExecutionModel as Model, StorageClass,
};
use crate::grammar::{InstructionClass, Op, SpirvVersion, literal_string, literal_string_words};
use crate::ir::{InstRef, ModuleSection};
use rustc_hash::FxHashSet;
use spirula_diagnostics::SourceDiagnostic;

/// Checks everything about entry points.
pub(super) fn verify_entry_points(cx: &VerifyContext<'_>, faults: &mut Vec<SourceDiagnostic>) {
    let modes = DeclaredModes::from_module(cx);
    let points: Vec<InstRef<'_>> = cx
        .module
        .section_insts(ModuleSection::EntryPoints)
        .filter(|p| p.op() == Op::EntryPoint)
        .collect();
    let mut names = FxHashSet::default();
    for point in &points {
        let mut add = |check: VerifyResult| {
            if let Err(fault) = check {
                faults.push(fault.into_diagnostic(*point));
            }
        };
        let name = literal_string(&point.operands()[2..]);
        add(ensure(
            VerifyRule::EntryPoints,
            names.insert((point.operand_word(0), name)),
            || "another entry point has the same name and execution model".to_owned(),
        ));
        add(verify_entry_function(cx, *point));
        add(execution_modes::verify_mode_combination(cx, *point, &modes));
        add(verify_interface(cx, *point));
    }
    let mut models_of: Vec<_> = points
        .iter()
        .map(|p| (p.operand_word(1), p.operand_word(0)))
        .collect();
    models_of.sort_unstable();
    let mut seen = FxHashSet::default();
    for (function, mode, inst) in &modes.rows {
        let from = models_of.partition_point(|m| m.0 < *function);
        let models = models_of[from..].iter().take_while(|m| m.0 == *function);
        let models: Vec<Model> = models.map(|m| Model(m.1)).collect();
        let mut check = execution_modes::verify_mode_models(cx, *inst, *mode, &models);
        if check.is_ok() && !execution_modes::can_repeat_mode(*mode) {
            check = ensure(
                VerifyRule::EntryPoints,
                seen.insert((*function, mode.0)),
                || format!("the mode {mode} occurs twice"),
            );
        }
        if let Err(fault) = check {
            faults.push(fault.into_diagnostic(*inst));
        }
    }
    if faults.is_empty() {
        let graph = SpirvCallGraph::from_module(cx.module);
        let reach = EntryReach::from_call_graph(cx.module, &graph, &cx.ids);
        verify_entry_uses(cx, &points, &reach, &modes, faults);
        if let (Err(fault), Some(first)) = (
            verify_entry_calls(cx, &points, &reach, &graph),
            points.first(),
        ) {
            faults.push(fault.into_diagnostic(*first));
        }
    }
}

fn verify_entry_function(cx: &VerifyContext<'_>, point: InstRef<'_>) -> VerifyResult {
    let id = point.operand_word(1);
    let Some(def) = cx.defining_inst(id).filter(|f| f.op() == Op::Function) else {
        return Err(make_fault(
            VerifyRule::EntryPoints,
            format!("%{id} is no function"),
        ));
    };
    ensure(
        VerifyRule::EntryPoints,
        cx.defining_op(def.words()[0]) == Op::TypeVoid,
        || "its function returns a value".to_owned(),
    )?;
    let params = cx
        .defining_inst(def.operand_word(1))
        .map_or(0, |t| t.operands().len().saturating_sub(1));
    ensure(
        VerifyRule::EntryPoints,
        params == 0 || Model(point.operand_word(0)) == Model::Kernel,
        || "its function has parameters, which only kernels have".to_owned(),
    )?;
    ensure(
        VerifyRule::EntryPoints,
        cx.decoration(id, Decoration::LinkageAttributes).is_none(),
        || "its function has LinkageAttributes".to_owned(),
    )
}

/// The words of an entry point's interface, after the name.
fn interface_ids(point: InstRef<'_>) -> &[u32] {
    let words = &point.operands()[2..];
    &words[literal_string_words(words)..]
}

fn verify_interface(cx: &VerifyContext<'_>, point: InstRef<'_>) -> VerifyResult {
    let ids = interface_ids(point);
    let mut seen = FxHashSet::default();
    let all = cx.version >= SpirvVersion::new(1, 4);
    let (mut inputs, mut outputs) = (0, 0);
    let (mut shared, mut blocks, mut aliased) = (0, 0, 0);
    for id in ids {
        let op = cx.defining_op(*id);
        ensure(
            VerifyRule::EntryPoints,
            matches!(op, Op::Variable | Op::UntypedVariableKHR),
            || format!("%{id} of its interface is no variable, but {op}"),
        )?;
        let shape = cx.value_shape(*id);
        let class = shape.class;
        ensure(
            VerifyRule::EntryPoints,
            all && class != StorageClass::Function
                || matches!(class, StorageClass::Input | StorageClass::Output),
            || format!("%{id} of its interface is of the class {class}"),
        )?;
        ensure(VerifyRule::EntryPoints, !all || seen.insert(*id), || {
            format!("%{id} occurs in its interface twice")
        })?;
        let members = cx.struct_members(shape.part).len() as u32;
        let is_block = (0..members).any(|n| {
            cx.member_decoration(shape.part, n, Decoration::BuiltIn)
                .is_some()
        });
        if class == StorageClass::Workgroup {
            shared += 1;
            let data = super::variables::data_type(cx, *id);
            let is_block = cx.has_decoration(data, Decoration::Block);
            blocks += u32::from(is_block);
            aliased += u32::from(is_block && cx.has_decoration(*id, Decoration::Aliased));
        }
        inputs += u32::from(is_block && class == StorageClass::Input);
        outputs += u32::from(is_block && class == StorageClass::Output);
        let built_in = is_block || cx.has_decoration(*id, Decoration::BuiltIn);
        ensure(
            VerifyRule::BuiltIns,
            !cx.is_vulkan()
                || !built_in
                || !(cx.has_decoration(*id, Decoration::Location)
                    || cx.has_decoration(*id, Decoration::Component)),
            || format!("%{id} is built-in and has a location"),
        )?;
    }
    workgroup_blocks(cx, shared, blocks, aliased)?;
    one_of_a_kind(cx, ids)?;
    ensure(VerifyRule::EntryPoints, inputs <= 1 && outputs <= 1, || {
        "its interface has several structures of built-in variables".to_owned()
    })
}

/// Checks the variables of workgroup memory of an interface: how many there are, how many of them are blocks,
/// and how many of those are aliased.
fn workgroup_blocks(
    cx: &VerifyContext<'_>,
    shared: u32,
    blocks: u32,
    aliased: u32,
) -> VerifyResult {
    let untyped = cx.has_capability(Capability::UntypedPointersKHR);
    ensure(
        VerifyRule::EntryPoints,
        blocks < 2 || blocks == aliased || untyped,
        || "several blocks of workgroup memory in its interface are not all Aliased".to_owned(),
    )?;
    ensure(
        VerifyRule::EntryPoints,
        blocks == 0 || blocks == shared || untyped,
        || "its interface has variables of workgroup memory that are blocks, and others".to_owned(),
    )?;
    let taken = cx.has_capability(Capability::WorkgroupMemoryExplicitLayoutKHR);
    ensure(VerifyRule::Capabilities, blocks == 0 || taken, || {
        "blocks of workgroup memory need the capability WorkgroupMemoryExplicitLayoutKHR".to_owned()
    })
}

/// An interface has one payload of tasks, and in Vulkan one input and one output of each built-in kind.
fn one_of_a_kind(cx: &VerifyContext<'_>, ids: &[u32]) -> VerifyResult {
    let class = |id: u32| cx.value_shape(id).class;
    let payloads = ids
        .iter()
        .filter(|id| class(**id) == StorageClass::TaskPayloadWorkgroupEXT);
    ensure(VerifyRule::EntryPoints, payloads.count() <= 1, || {
        "its interface has several payloads of tasks".to_owned()
    })?;
    if !cx.is_vulkan() {
        return Ok(());
    }
    let mut seen = FxHashSet::default();
    for id in ids {
        if let Some([built_in, ..]) = cx.decoration(*id, Decoration::BuiltIn)
            && matches!(class(*id), StorageClass::Input | StorageClass::Output)
        {
            ensure(
                VerifyRule::BuiltIns,
                seen.insert((class(*id), *built_in)),
                || {
                    format!(
                        "its interface has several variables of the class {} for {}",
                        class(*id),
                        BuiltIn(*built_in)
                    )
                },
            )?;
        }
    }
    Ok(())
}

/// A function of an entry point is not called (specification, section 2.16.1), and in Vulkan no function that
/// it reaches calls itself.
fn verify_entry_calls(
    cx: &VerifyContext<'_>,
    points: &[InstRef<'_>],
    reach: &EntryReach,
    graph: &SpirvCallGraph,
) -> VerifyResult {
    let functions: FxHashSet<u32> = points.iter().map(|point| point.operand_word(1)).collect();
    for func in cx.module.functions() {
        let own = cx.module.function_id(*func);
        for callee in graph.callees(*func) {
            let id = cx.module.function_id(*callee);
            ensure(
                VerifyRule::Functions,
                !functions.contains(&id.word()),
                || format!("{own} calls {id}, the function of an entry point"),
            )?;
        }
    }
    let mut reached = (0..points.len()).flat_map(|n| reach.reachable_functions(n));
    let recursive = reached.find(|func| cx.is_vulkan() && graph.is_recursive(**func));
    ensure(VerifyRule::Environment, recursive.is_none(), || {
        let id = recursive.map(|func| cx.module.function_id(*func));
        let name = id.map_or(String::new(), |id| function_name(cx.module, id));
        format!("{name} may call itself, which functions do not in Vulkan")
    })
}

/// Instructions that only some execution models run.
const LIMITED: &[(&[Op], &[Model])] = &[
    (
        &[
            Op::Kill,
            Op::TerminateInvocation,
            Op::DemoteToHelperInvocation,
            Op::IsHelperInvocationEXT,
        ],
        &[Model::Fragment],
    ),
    (
        &[
            Op::EmitVertex,
            Op::EndPrimitive,
            Op::EmitStreamVertex,
            Op::EndStreamPrimitive,
        ],
        &[Model::Geometry],
    ),
    (
        &[
            Op::BeginInvocationInterlockEXT,
            Op::EndInvocationInterlockEXT,
        ],
        &[Model::Fragment],
    ),
    (&[Op::EmitMeshTasksEXT], &[Model::TaskEXT]),
    (&[Op::SetMeshOutputsEXT], &[Model::MeshEXT]),
    (
        &[Op::IgnoreIntersectionKHR, Op::TerminateRayKHR],
        &[Model::AnyHitKHR],
    ),
    (&[Op::ReportIntersectionKHR], &[Model::IntersectionKHR]),
    (
        &[Op::TraceRayKHR],
        &[
            Model::RayGenerationKHR,
            Model::ClosestHitKHR,
            Model::MissKHR,
        ],
    ),
];

/// Rules about what entry points reach.
fn verify_entry_uses(
    cx: &VerifyContext<'_>,
    points: &[InstRef<'_>],
    reach: &EntryReach,
    modes: &DeclaredModes<'_>,
    faults: &mut Vec<SourceDiagnostic>,
) {
    for (n, point) in points.iter().enumerate() {
        let model = Model(point.operand_word(0));
        let listed = interface_ids(*point);
        let listed_set: FxHashSet<u32> = listed.iter().copied().collect();
        for variable in reach.used_variables(n) {
            if let Err(fault) = verify_used_variable(cx, *variable, model, &listed_set) {
                faults.push(fault.into_diagnostic(*point));
            }
        }
        let mut pushes = reach
            .used_variables(n)
            .iter()
            .filter(|v| cx.value_shape(v.word()).class == StorageClass::PushConstant);
        if let Err(fault) =
            verify_depth_mode(cx, reach.used_variables(n), point.operand_word(1), modes)
        {
            faults.push(fault.into_diagnostic(*point));
        }
        if cx.is_vulkan() && pushes.nth(1).is_some() {
            let found = make_fault(
                VerifyRule::Environment,
                "it uses more than one block of push constants",
            );
            faults.push(found.into_diagnostic(*point));
        }
        if let Err(fault) = super::locations::verify_locations(cx, model, listed) {
            faults.push(fault.into_diagnostic(*point));
        }
        if !cx.is_shader {
            continue;
        }
        for func in reach.reachable_functions(n) {
            for block in &cx.module.function(*func).blocks {
                for inst in cx.module.body(*block) {
                    if let Err(fault) =
                        verify_reached_inst(cx, inst, model, point.operand_word(1), modes)
                    {
                        faults.push(fault.into_diagnostic(inst));
                    }
                }
            }
        }
    }
}

/// An entry point that writes the depth declares it.
fn verify_depth_mode(
    cx: &VerifyContext<'_>,
    variables: &[Id],
    function: u32,
    modes: &DeclaredModes<'_>,
) -> VerifyResult {
    let writes = variables
        .iter()
        .any(|v| cx.decoration(v.word(), Decoration::BuiltIn) == Some(&[BuiltIn::FragDepth.0][..]));
    ensure(
        VerifyRule::EntryPoints,
        !cx.is_vulkan() || !writes || modes.has_mode(function, Mode::DepthReplacing),
        || "it writes FragDepth, but has no mode DepthReplacing".to_owned(),
    )
}

fn verify_used_variable(
    cx: &VerifyContext<'_>,
    variable: Id,
    model: Model,
    listed: &FxHashSet<u32>,
) -> VerifyResult {
    let class = cx.value_shape(variable.word()).class;
    let is_io = matches!(class, StorageClass::Input | StorageClass::Output);
    ensure(
        VerifyRule::EntryPoints,
        !(is_io || cx.version >= SpirvVersion::new(1, 4)) || listed.contains(&variable.word()),
        || format!("it uses {variable}, which its interface does not list"),
    )?;
    if !cx.is_vulkan() {
        return Ok(());
    }
    let taken = match class {
        StorageClass::Output => !matches!(
            model,
            Model::GLCompute
                | Model::RayGenerationKHR
                | Model::IntersectionKHR
                | Model::AnyHitKHR
                | Model::ClosestHitKHR
                | Model::MissKHR
                | Model::CallableKHR
        ),
        StorageClass::Workgroup => matches!(
            model,
            Model::GLCompute | Model::TaskNV | Model::MeshNV | Model::TaskEXT | Model::MeshEXT
        ),
        _ => true,
    };
    ensure(VerifyRule::Environment, taken, || {
        format!("it uses {variable}; {model} has no variables of the class {class}")
    })?;
    super::builtins::verify_built_in_use(cx, variable, model)
}

fn verify_reached_inst(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    model: Model,
    function: u32,
    modes: &DeclaredModes<'_>,
) -> VerifyResult {
    let op = inst.op();
    let row = LIMITED.iter().find(|(ops, _)| ops.contains(&op));
    if let Some((_, models)) = row {
        ensure(VerifyRule::EntryPoints, models.contains(&model), || {
            format!("an entry point of {model} reaches it, which does not run it")
        })?;
    }
    if op == Op::ControlBarrier {
        ensure(
            VerifyRule::EntryPoints,
            super::scopes::barrier_models(cx, model),
            || format!("an entry point of {model} reaches it, which needs SPIR-V 1.3"),
        )?;
    }
    let class = op.info().map(|info| info.class);
    let is_derivative = class == Some(InstructionClass::Derivative);
    if (is_derivative || super::images::is_implicit(op)) && model != Model::Fragment {
        let groups = [
            Mode::DerivativeGroupQuadsKHR,
            Mode::DerivativeGroupLinearKHR,
        ];
        let taken = matches!(
            model,
            Model::GLCompute | Model::TaskNV | Model::MeshNV | Model::TaskEXT | Model::MeshEXT
        ) && (is_derivative
            || groups.into_iter().any(|m| modes.has_mode(function, m))
            || cx.has_extension("SPV_NV_compute_shader_derivatives"));
        let message = || format!("an entry point of {model} reaches it, which has no derivatives");
        ensure(VerifyRule::EntryPoints, taken, message)?;
    }
    Ok(())
}
