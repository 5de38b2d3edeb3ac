//! Formation of dispatches: a loop for each axis.

use super::{
    DispatchStep, LoopMapping, ScheduleProfile, ScheduleStrategy, TensorDispatch, nest_loops,
};
use crate::ir::{
    AxisKind, DimExtent, IterationAxis, NodeData, NodeGraph, ScalarNode, StructuredOp,
    TensorFunction, TensorOp, YieldDestination,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarType};

/// The dispatch of a structured operation.
///
/// # Errors
/// When there are too many axes.
pub fn form_dispatch(
    name: &str,
    op: &TensorOp,
    (function, structured): (&TensorFunction, &StructuredOp),
    profile: ScheduleProfile,
) -> Result<TensorDispatch, SourceDiagnostic> {
    if structured.axes.len() > AXES {
        let message = format!("index spaces of more than {AXES} axes are not supported");
        return Err(SourceDiagnostic::error(op.place, message));
    }
    let structured = &without_empty_folds(structured);
    let mut dispatch = TensorDispatch {
        name: name.to_owned(),
        op: structured.clone(),
        results: op.results.clone(),
        place: op.place,
        profile,
        strategy: choose_strategy(function, structured, &profile),
        loops: Vec::new(),
        points: NodeGraph::default(),
        indices: Vec::new(),
        tiles: Vec::new(),
        is_direct: false,
        kept: None,
        dense: None,
        cluster: profile.subgroup,
        matrix: None,
        grid: None,
        step_loop: None,
        guards: Vec::new(),
        fold_guards: Vec::new(),
        staged: Vec::new(),
        ahead: None,
        steps: Vec::new(),
    };
    if dispatch.strategy == ScheduleStrategy::Dense {
        dispatch.dense = super::dense::plan_large_fragments(function, structured, &profile);
    }
    let (mut parallel, mut folded) = (Vec::new(), Vec::new());
    for axis in &structured.axes {
        let number = match axis.extent {
            DimExtent::Static(size) => dispatch.add_loop(size, LoopMapping::Parallel),
            DimExtent::Value(_) => {
                let rounds = dispatch.points.intern_size(axis.extent);
                dispatch.add_sized_loop(LARGEST, rounds, LoopMapping::Parallel)
            }
        };
        let index = dispatch.loop_counter(number);
        dispatch.indices.push(index);
        match axis.kind {
            AxisKind::Parallel => parallel.push(number),
            AxisKind::Reduction => folded.push(number),
        }
    }
    for number in &folded {
        dispatch.loops[*number as usize].run = LoopMapping::Sequential;
    }
    let mut steps = Vec::new();
    if !structured.reductions.is_empty() {
        steps.push(DispatchStep::Initialise);
        let mut round = vec![DispatchStep::Accumulate];
        if structured.is_scan() {
            round.push(DispatchStep::Store);
        }
        steps.extend(nest_loops(&folded, round));
    }
    if steps.is_empty() || !structured.is_scan() {
        steps.push(DispatchStep::Store);
    }
    dispatch.steps = nest_loops(&parallel, steps);
    Ok(dispatch)
}

/// Most axes of a space; loops are numbered below 64.
const AXES: usize = 40;

/// Folds over nothing give what they begin with.
fn without_empty_folds(op: &StructuredOp) -> StructuredOp {
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

/// A size that no size known only when run exceeds.
const LARGEST: u64 = 1 << 32;

fn choose_strategy(
    function: &TensorFunction,
    op: &StructuredOp,
    profile: &ScheduleProfile,
) -> ScheduleStrategy {
    if op.yields.iter().any(|y| !is_concurrent(&y.destination)) {
        return ScheduleStrategy::Serial;
    }
    let product = |kind: AxisKind| {
        let axes = op.axes.iter().filter(|a| a.kind == kind);
        axes.fold(1u64, |n, a| {
            n.saturating_mul(a.extent.as_static().unwrap_or(1))
        })
    };
    let (results, length) = (product(AxisKind::Parallel), product(AxisKind::Reduction));
    if op
        .yields
        .iter()
        .any(|y| matches!(y.destination, YieldDestination::Each(_)))
    {
        let is_short = super::subgroups::is_worth_subgroup(op, profile, [results, length]);
        return match is_short && op.dynamic_sizes().next().is_none() {
            true => ScheduleStrategy::SubgroupRows,
            false => ScheduleStrategy::Rows,
        };
    }
    if super::looks_back(op, profile) {
        return ScheduleStrategy::LookBack;
    }
    if super::is_together(op, profile) {
        return ScheduleStrategy::Scan;
    }
    if op.is_scan() || op.dynamic_sizes().next().is_some() {
        return ScheduleStrategy::Flat;
    }
    if super::CrossLaneAxes::from_op(op, profile).is_some() {
        return ScheduleStrategy::Across;
    }
    if super::tile::match_contraction(op).is_some() {
        let dense = super::dense::plan_large_fragments(function, op, profile);
        return match super::matrices::is_matrix_product(op, profile) {
            true => ScheduleStrategy::Matrices,
            false if dense.is_some_and(|plan| plan.is_in_memory(function, op)) => {
                ScheduleStrategy::Dense
            }
            false => ScheduleStrategy::Tiled,
        };
    }
    if super::turn::find_transposed_reads(op, profile).is_some() {
        return ScheduleStrategy::Turned;
    }
    let is_long = length >= compute_fewest_points(op, profile, [results, length]);
    let is_together = is_long && results <= profile.folds && !is_across(op, results, profile);
    match is_together {
        true if super::subgroups::is_worth_subgroup(op, profile, [results, length]) => {
            ScheduleStrategy::Subgroups
        }
        true => ScheduleStrategy::Cooperative,
        false => ScheduleStrategy::Flat,
    }
}

/// Points of a row that an invocation reads as well alone.
const SHORT: u64 = 16;

/// Fewest points of a fold of so many results and points that is worth a workgroup, a subgroup or some of its invocations: one that is read along by subgroups would otherwise be read
/// from as many places at once as there are invocations.
fn compute_fewest_points(op: &StructuredOp, profile: &ScheduleProfile, sizes: [u64; 2]) -> u64 {
    let mut axes = op.axes.iter();
    let last = axes.rposition(|axis| axis.kind == AxisKind::Reduction);
    let is_along = last.is_some_and(|axis| super::across::reads_along(&op.body, axis));
    let is_read_along = is_along && !super::lanes::is_adjacent(op);
    match profile.subgroup > 1 && is_read_along {
        true if super::subgroups::is_worth_subgroup(op, profile, sizes) => {
            SHORT.min(profile.subgroup)
        }
        true => profile.long / 4,
        false => profile.long,
    }
}

/// Whether results are folded of what lies next to each other, such as sums of columns, and are
/// enough to keep the device busy without folding together. Sums of less than 32 bits are not: one
/// after the other they lose more than in parts.
fn is_across(op: &StructuredOp, results: u64, profile: &ScheduleProfile) -> bool {
    let mut values = op.reductions.iter().flat_map(|r| &r.values);
    let is_wide = values.all(|value| op.body.ty(*value).size() >= 4);
    is_wide && results >= profile.busy_invocations() && super::lanes::is_adjacent(op)
}

/// Whether several invocations may write at once: at their own points, values that replace, or
/// values for which there are atomic operations.
fn is_concurrent(destination: &YieldDestination) -> bool {
    match destination {
        YieldDestination::Point
        | YieldDestination::Each(_)
        | YieldDestination::Prefix { .. }
        | YieldDestination::Scatter { combiner: None, .. } => true,
        YieldDestination::Scatter {
            combiner: Some(combiner),
            ..
        } => combiner.as_operator().is_some_and(|op| {
            let ty = combiner.body.ty(combiner.results[0]);
            match_atomic_op(op, ty).is_some()
        }),
    }
}

/// The atomic operation for an operator.
pub(crate) fn match_atomic_op(
    op: ScalarOp,
    ty: ScalarType,
) -> Option<spirula_kernel::ir::AtomicOp> {
    use spirula_kernel::ir::AtomicOp;
    let atomic = match (op, ty) {
        (ScalarOp::FAdd, ScalarType::F32) => AtomicOp::FAdd,
        (_, ScalarType::I32) => match op {
            ScalarOp::Add => AtomicOp::Add,
            ScalarOp::SMax => AtomicOp::SMax,
            ScalarOp::SMin => AtomicOp::SMin,
            ScalarOp::UMax => AtomicOp::UMax,
            ScalarOp::UMin => AtomicOp::UMin,
            ScalarOp::And => AtomicOp::And,
            ScalarOp::Or => AtomicOp::Or,
            ScalarOp::Xor => AtomicOp::Xor,
            _ => return None,
        },
        _ => return None,
    };
    Some(atomic)
}
