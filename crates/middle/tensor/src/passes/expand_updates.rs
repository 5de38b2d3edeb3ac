//! Updates of windows, as maps or in place.
//!
//! A scatter that replaces a window of a tensor copies the tensor first, or happens in the tensor's memory. Which of
//! both is decided when the program runs ([`crate::lower`]). Here it is decided what is likely. A tensor that a loop
//! carries is updated in place if it is dead afterwards. So is one that a loop, a branch or another such scatter made.
//! Any other scatter of a window becomes a map over the whole tensor, which fuses with what is computed before and
//! after it.

use super::use_def::TensorUses;
use crate::ir::{
    AffineSum, AxisKind, DimExtent, LastUses, NodeData, NodeGraph, OpKind, ScalarNode,
    StructuredOp, StructuredYield, TensorBlock, TensorFunction, TensorShape, YieldDestination,
    find_last_uses, mark_point_dependent,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// Makes maps of updates that do not happen in place.
pub(super) fn expand_updates(function: &mut TensorFunction) {
    let last = find_last_uses(function);
    let uses = TensorUses::from_function(function);
    let mut is_carried = vec![false; function.value_count()];
    for block in function.block_ids() {
        for op in &function.block(block).ops {
            if let OpKind::While { body, .. } = op.kind {
                let parameters = &function.block(body).parameters;
                parameters.iter().for_each(|v| is_carried[v.index()] = true);
            }
        }
    }
    for block in function.block_ids() {
        for at in 0..function.block(block).ops.len() {
            let OpKind::Structured(op) = &function.block(block).ops[at].kind else {
                continue;
            };
            let is_scatter =
                |y: &StructuredYield| matches!(y.destination, YieldDestination::Scatter { .. });
            if !op.yields.iter().all(is_scatter) {
                continue;
            }
            let stays = stays_in_place(function, &uses, &last, &is_carried, (block, at));
            let Some(map) = (!stays).then(|| expand_update(function, op)).flatten() else {
                continue;
            };
            function.block_mut(block).ops[at].kind = OpKind::Structured(Box::new(map));
        }
    }
}

/// Whether a scatter is likely to happen in place.
fn stays_in_place(
    function: &TensorFunction,
    uses: &TensorUses,
    last: &LastUses,
    is_carried: &[bool],
    position: (TensorBlock, usize),
) -> bool {
    let (block, at) = position;
    let OpKind::Structured(op) = &function.block(block).ops[at].kind else {
        return false;
    };
    let dead = last.get(&position);
    let mut results = op.yields.iter().enumerate();
    results.all(|(number, result)| {
        let YieldDestination::Scatter { base, .. } = result.destination else {
            return false;
        };
        let is_dead = dead.is_some_and(|dead| dead.contains(&base));
        let is_own = match uses.defining_kind(function, base) {
            None => is_carried[base.index()],
            Some((OpKind::While { .. } | OpKind::If { .. }, _)) => true,
            Some((OpKind::Structured(before), number)) => matches!(
                before.yields[number].destination,
                YieldDestination::Scatter { .. }
            ),
            Some(_) => false,
        };
        is_own && is_dead && op.can_update_in_place(number)
    })
}

/// A window of a tensor: for each dimension, the axis that runs along it and the first position.
struct UpdateWindow {
    base_shape: TensorShape,
    axes: Vec<Option<usize>>,
    starts: Vec<ScalarNode>,
}

/// The map over the whole tensor that has the result of a scatter of a window.
fn expand_update(function: &TensorFunction, op: &StructuredOp) -> Option<StructuredOp> {
    let mut source = op.body.clone();
    let window = match_window(function, op, &mut source)?;
    let mut map = StructuredOp::with_parallel_axes(&window.base_shape);
    let point = map.axis_indices();
    let starts = map
        .body
        .import_nodes(&source, &window.starts, |_, _, _| None);
    let mut inside = map
        .body
        .intern_literal(ScalarLiteral::new(ScalarType::Bool, 1));
    let zero = map.body.intern_i64(0);
    let mut indices = vec![zero; op.axes.len()];
    for (dimension, axis) in window.axes.iter().enumerate() {
        let body = &mut map.body;
        let index = subtract(body, point[dimension], starts[dimension]);
        let extent = match axis {
            Some(axis) => op.axes[*axis].extent,
            None => DimExtent::Static(1),
        };
        if let Some(axis) = axis {
            indices[*axis] = index;
        }
        if extent == window.base_shape[dimension] && starts[dimension] == zero {
            continue;
        }
        let size = body.intern_size(extent);
        let within = [
            body.apply_op(ScalarOp::SLe, &[zero, index]),
            body.apply_op(ScalarOp::SLt, &[index, size]),
        ];
        for condition in within {
            inside = body.apply_op(ScalarOp::LogAnd, &[inside, condition]);
        }
    }
    for result in &op.yields {
        let YieldDestination::Scatter { base, .. } = result.destination else {
            return None;
        };
        let body = &mut map.body;
        let value = body.import_nodes(&op.body, &[result.value], |_, _, data| match data {
            NodeData::Index(axis) => indices.get(*axis as usize).copied(),
            _ => None,
        });
        let old = body.intern_element(base, function.ty(base).element, &point);
        let value = body.apply_op(ScalarOp::Cond, &[inside, value[0], old]);
        map.add_yield(value);
    }
    Some(map)
}

/// The window that all results of a scatter replace, if each point has an element of its own in it.
fn match_window(
    function: &TensorFunction,
    op: &StructuredOp,
    body: &mut NodeGraph,
) -> Option<UpdateWindow> {
    let is_map = op.reductions.is_empty() && op.axes.iter().all(|a| a.kind == AxisKind::Parallel);
    let mut shared = None;
    for result in &op.yields {
        let YieldDestination::Scatter {
            base,
            indices,
            combiner: None,
            distinct: true,
        } = &result.destination
        else {
            return None;
        };
        let own = (&function.ty(*base).shape, indices);
        if *shared.get_or_insert(own) != own {
            return None;
        }
    }
    let (base_shape, indices) = shared.filter(|_| is_map)?;
    let mut window = UpdateWindow {
        base_shape: base_shape.clone(),
        axes: Vec::new(),
        starts: Vec::new(),
    };
    for index in indices {
        let (axis, start) = split_index(op, body, *index)?;
        if axis.is_some() && window.axes.contains(&axis) {
            return None;
        }
        window.axes.push(axis);
        window.starts.push(start);
    }
    let is_matched =
        |at: usize| op.axes[at].extent == DimExtent::Static(1) || window.axes.contains(&Some(at));
    let is_complete = (0..op.axes.len()).all(is_matched);
    is_complete.then_some(window)
}

/// The axis whose index a position has as a term, and the rest of the position, which no point changes.
fn split_index(
    op: &StructuredOp,
    body: &mut NodeGraph,
    position: ScalarNode,
) -> Option<(Option<usize>, ScalarNode)> {
    let sum = AffineSum::from_node(body, position);
    let mut rest = AffineSum::from_constant(sum.constant);
    let mut axis = None;
    for (term, factor) in &sum.terms {
        match body.as_index(*term) {
            Some(number) if axis.is_none() && *factor == 1 => axis = Some(number as usize),
            Some(_) => return None,
            None => rest.add_term(*term, *factor),
        }
    }
    let start = rest.into_node(body);
    let is_axis = axis.is_none_or(|at| at < op.axes.len());
    (is_axis && !mark_point_dependent(body)[start.index()]).then_some((axis, start))
}

fn subtract(body: &mut NodeGraph, a: ScalarNode, b: ScalarNode) -> ScalarNode {
    let mut sum = AffineSum::from_node(body, a);
    let other = AffineSum::from_node(body, b);
    sum.add_scaled(&other, -1);
    sum.into_node(body)
}
