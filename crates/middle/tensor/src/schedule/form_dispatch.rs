//! Formation of dispatches: a loop for each axis, and the strategy that suits the operation.

use super::dispatch::nest_loops;
use super::strategies::{TeamShare, choose_strategy, serial_strategy, team_strategy};
use super::{
    DispatchStep, LoopMapping, PASSES, SchedulePlan, ScheduleProfile, ScheduleRequest,
    ScheduleStrategy, TensorDispatch, TensorLoopNest,
};
use crate::ir::{
    AxisKind, DimExtent, IterationAxis, NodeData, NodeGraph, ScalarNode, StructuredOp,
    TensorFunction, TensorOp,
};
use spirula_diagnostics::SourceDiagnostic;

/// Most axes of a space; loops are numbered below 64.
pub(crate) const AXES: usize = 40;

/// Upper bound of all sizes that are known only at run time.
const LARGEST: u64 = 1 << 32;

/// The dispatch of an operation `op` of a function, whose structured operation is `structured`.
///
/// # Errors
/// When there are too many axes.
pub fn form_dispatch(
    name: &str,
    op: &TensorOp,
    function: &TensorFunction,
    structured: &StructuredOp,
    profile: ScheduleProfile,
) -> Result<TensorDispatch, SourceDiagnostic> {
    if structured.axes.len() > AXES {
        let message = format!("index spaces of more than {AXES} axes are not supported");
        return Err(SourceDiagnostic::error(op.place, message));
    }
    let structured = remove_empty_folds(structured);
    let request = ScheduleRequest {
        function,
        op: &structured,
        profile: &profile,
    };
    let Some((strategy, plan)) = choose_strategy(&request) else {
        let message = "no schedule suits an operation";
        return Err(SourceDiagnostic::error(op.place, message));
    };
    Ok(TensorDispatch {
        name: name.to_owned(),
        results: op.results.clone(),
        place: op.place,
        strategy,
        plan,
        nest: TensorLoopNest::from_op(structured, profile),
    })
}

/// A dispatch that runs all points in their order, as a part of a kernel of one invocation. All passes have run. The
/// operation has at most [`AXES`] axes.
pub(crate) fn form_serial_dispatch(
    op: &TensorOp,
    structured: &StructuredOp,
    profile: ScheduleProfile,
) -> TensorDispatch {
    let (strategy, plan) = serial_strategy();
    form_part(op, structured, profile, strategy, plan)
}

/// A dispatch that runs a share of the points by the invocations of one workgroup, as a part of a kernel. All passes have
/// run. The operation has at most [`AXES`] axes.
pub(crate) fn form_team_dispatch(
    op: &TensorOp,
    structured: &StructuredOp,
    profile: ScheduleProfile,
    share: TeamShare,
) -> TensorDispatch {
    let (strategy, plan) = team_strategy(share);
    form_part(op, structured, profile, strategy, plan)
}

fn form_part(
    op: &TensorOp,
    structured: &StructuredOp,
    profile: ScheduleProfile,
    strategy: &'static ScheduleStrategy,
    plan: Box<dyn SchedulePlan>,
) -> TensorDispatch {
    let structured = remove_empty_folds(structured);
    let mut dispatch = TensorDispatch {
        name: String::new(),
        results: op.results.clone(),
        place: op.place,
        strategy,
        plan,
        nest: TensorLoopNest::from_op(structured, profile),
    };
    for pass in PASSES {
        (pass.run)(&mut dispatch);
    }
    dispatch
}

impl TensorLoopNest {
    /// A loop for each axis: parallel ones around sequential ones.
    fn from_op(op: StructuredOp, profile: ScheduleProfile) -> TensorLoopNest {
        let mut nest = TensorLoopNest {
            op,
            profile,
            loops: Vec::new(),
            points: NodeGraph::default(),
            indices: Vec::new(),
            tiles: Vec::new(),
            guards: Vec::new(),
            fold_guards: Vec::new(),
            saved: None,
            steps: Vec::new(),
        };
        let (mut parallel, mut folded) = (Vec::new(), Vec::new());
        for at in 0..nest.op.axes.len() {
            let axis = nest.op.axes[at];
            let number = match axis.extent {
                DimExtent::Static(size) => nest.add_loop(size, LoopMapping::Parallel),
                DimExtent::Value(_) => {
                    let iterations = nest.points.intern_size(axis.extent);
                    nest.add_sized_loop(LARGEST, iterations, LoopMapping::Parallel)
                }
            };
            let index = nest.loop_counter(number);
            nest.indices.push(index);
            match axis.kind {
                AxisKind::Parallel => parallel.push(number),
                AxisKind::Reduction => folded.push(number),
            }
        }
        for number in &folded {
            nest.loops[*number as usize].run = LoopMapping::Sequential;
        }
        let is_scan = nest.op.is_scan();
        let mut steps = Vec::new();
        if !nest.op.reductions.is_empty() {
            steps.push(DispatchStep::Initialise);
            let mut round = vec![DispatchStep::Accumulate];
            if is_scan {
                round.push(DispatchStep::Store);
            }
            steps.extend(nest_loops(&folded, round));
        }
        if steps.is_empty() || !is_scan {
            steps.push(DispatchStep::Store);
        }
        nest.steps = nest_loops(&parallel, steps);
        nest
    }
}

/// An operation without reductions over no points. Their results are their initial values.
fn remove_empty_folds(op: &StructuredOp) -> StructuredOp {
    let is_empty =
        |a: &IterationAxis| a.kind == AxisKind::Reduction && a.extent == DimExtent::Static(0);
    let mut op = op.clone();
    if !op.axes.iter().any(is_empty) {
        return op;
    }
    let initial = op.reductions.iter().flat_map(|r| r.initial.clone());
    let initial: Vec<ScalarNode> = initial.collect();
    let roots = op.collect_roots();
    let from = std::mem::take(&mut op.body);
    let begun = op.body.import_nodes(&from, &initial, |_, _, _| None);
    let copies = op
        .body
        .import_nodes(&from, &roots, |_, _, data| match data {
            NodeData::Reduced(number) => begun.get(*number as usize).copied(),
            _ => None,
        });
    let mut copies = copies.into_iter();
    op.replace_roots(|_| copies.next());
    op.reductions.clear();
    op.axes.retain(|a| a.kind == AxisKind::Parallel);
    op
}
