//! Loops and branches that all shards run together.

use super::value::ShardedValue;
use crate::mlir::{MlirBlock, MlirOp};
use crate::translate::control::{flatten_components, with_parts};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::translator::{StablehloTranslator, TranslatedValue, TypedTensor};
use spirula_program::{ScalarLiteral, ScalarOp as Scalar};
use spirula_tensor::ir::TensorValue;
use std::rc::Rc;

/// All parts of values of shards, in order.
fn flatten_shards(items: &[ShardedValue]) -> Vec<TensorValue> {
    let of = |item: &ShardedValue| match item {
        ShardedValue::Shared(value) => flatten_components(std::slice::from_ref(value)),
        ShardedValue::Each(values) => flatten_components(values),
    };
    items.iter().flat_map(of).collect()
}

/// Values of the same structure with other parts.
fn with_shard_parts(items: &[ShardedValue], parts: &[TensorValue]) -> Vec<ShardedValue> {
    let mut parts = parts.iter().copied();
    let replaced = items.iter().map(|item| match item {
        ShardedValue::Shared(value) => {
            let mut values = with_parts(std::slice::from_ref(value), &mut parts);
            ShardedValue::Shared(values.remove(0))
        }
        ShardedValue::Each(values) => ShardedValue::Each(with_parts(values, &mut parts)),
    });
    replaced.collect()
}

impl StablehloTranslator<'_> {
    /// Values in the structure that is wanted: one for each shard where the flag is not set.
    fn as_structured(
        &self,
        op: MlirOp,
        items: Vec<ShardedValue>,
        is_shared: &[bool],
    ) -> TranslateResult<Vec<ShardedValue>> {
        let fits = items.len() == is_shared.len();
        self.ensure_holds(op, fits, "has a region of another type")?;
        let pairs = items.into_iter().zip(is_shared);
        Ok(pairs
            .map(|(item, is_shared)| match item {
                ShardedValue::Shared(_) if *is_shared => item,
                _ => ShardedValue::Each(self.expand_value(&item)),
            })
            .collect())
    }

    /// The condition of each shard, a truth value that is false where the shard does not take part.
    fn shard_conditions(
        &mut self,
        op: MlirOp,
        results: &[ShardedValue],
    ) -> TranslateResult<Vec<TensorValue>> {
        self.ensure_holds(op, results.len() == 1, "has a wrong condition")?;
        let tensors = self.expand_tensors(op, &results[0])?;
        let conditions: Vec<TensorValue> =
            tensors.iter().map(TypedTensor::first_component).collect();
        Ok(self.mask_conditions(conditions))
    }

    /// Conditions that are false where the shard does not take part.
    fn mask_conditions(&mut self, conditions: Vec<TensorValue>) -> Vec<TensorValue> {
        let Some(active) = self.shards.active.clone() else {
            return conditions;
        };
        let pairs = conditions.into_iter().zip(active.iter());
        pairs
            .map(|(condition, active)| self.join_truths(Scalar::LogAnd, &[condition, *active]))
            .collect()
    }

    /// Truth values joined by an operator.
    fn join_truths(&mut self, operator: Scalar, truths: &[TensorValue]) -> TensorValue {
        self.builder.add_elementwise(truths, |body, v| {
            let (first, rest) = (v[0], &v[1..]);
            rest.iter()
                .fold(first, |all, one| body.apply_op(operator, &[all, *one]))
        })
    }

    /// The values of one of two alternatives for each shard.
    fn select_shards(
        &mut self,
        op: MlirOp,
        conditions: &[TensorValue],
        then: &[ShardedValue],
        otherwise: &[ShardedValue],
    ) -> TranslateResult<Vec<ShardedValue>> {
        self.ensure_holds(
            op,
            then.len() == otherwise.len(),
            "has a region of another type",
        )?;
        let mut selected = Vec::new();
        for (then, otherwise) in then.iter().zip(otherwise) {
            let [then, otherwise] = [self.expand_value(then), self.expand_value(otherwise)];
            let mut values = Vec::new();
            for (shard, condition) in conditions.iter().enumerate() {
                let (a, b) = (&then[shard..=shard], &otherwise[shard..=shard]);
                let pairs = flatten_components(a).into_iter().zip(flatten_components(b));
                let parts: Vec<TensorValue> = pairs
                    .map(|(a, b)| self.select_tensor(*condition, a, b))
                    .collect();
                values.extend(with_parts(a, &mut parts.into_iter()));
            }
            selected.push(ShardedValue::Each(values));
        }
        Ok(selected)
    }

    fn select_tensor(
        &mut self,
        condition: TensorValue,
        then: TensorValue,
        otherwise: TensorValue,
    ) -> TensorValue {
        if then == otherwise {
            return then;
        }
        let condition_type = self.builder.ty(condition).element;
        let mut s =
            spirula_tensor::ir::StructuredOp::with_parallel_axes(&self.builder.ty(then).shape);
        let point = s.axis_indices();
        let element = self.builder.ty(then).element;
        let condition = s.body.intern_element(condition, condition_type, &[]);
        let then = s.body.intern_element(then, element, &point);
        let otherwise = s.body.intern_element(otherwise, element, &point);
        let value = s.body.apply_op(Scalar::Cond, &[condition, then, otherwise]);
        s.add_yield(value);
        self.builder.add_structured(s)[0]
    }

    /// Opens a block of the loop with these values, and binds the arguments of a region to them.
    fn open_loop_block(
        &mut self,
        op: MlirOp,
        region: usize,
        like: &[ShardedValue],
        parts: &[TensorValue],
    ) -> TranslateResult<MlirBlock> {
        let block = self.region_block(op, region)?;
        let items = with_shard_parts(like, parts);
        self.bind_arguments_in_step(op, block, items)?;
        Ok(block)
    }
}

/// `while` whose iterations communicate.
pub(super) fn while_in_step(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.sharded_operands(op)?;
    let mut is_shared: Vec<bool> = operands
        .iter()
        .map(|operand| matches!(operand, ShardedValue::Shared(_)))
        .collect();
    let [condition, body] = [t.region_block(op, 0)?, t.region_block(op, 1)?];
    let is_joint = loop {
        let is_joint = t.find_uniform_results(condition, &is_shared) == [true];
        let after = t.find_uniform_results(body, &is_shared);
        t.ensure_holds(
            op,
            after.len() == is_shared.len(),
            "has a region of another type",
        )?;
        let pairs = is_shared.iter().zip(&after);
        let next: Vec<bool> = pairs.map(|(before, after)| *before && *after).collect();
        if next == is_shared {
            break is_joint;
        }
        is_shared = next;
    };
    if is_joint && t.shards.active.is_none() {
        let initial = t.as_structured(op, operands, &is_shared)?;
        return joint_loop(t, op, &initial, &is_shared);
    }
    let initial = t.as_structured(op, operands, &vec![false; is_shared.len()])?;
    separate_loop(t, op, &initial)
}

/// A loop whose condition is equal on all shards.
fn joint_loop(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    initial: &[ShardedValue],
    is_shared: &[bool],
) -> TranslateResult<()> {
    let values = flatten_shards(initial);
    let types: Vec<_> = values
        .iter()
        .map(|value| t.builder.ty(*value).clone())
        .collect();
    let parameters = t.builder.begin_block(&types);
    let block = t.open_loop_block(op, 0, initial, &parameters)?;
    let results = t.nested_in_step(block)?;
    let [ShardedValue::Shared(TranslatedValue::Tensor(goes_on))] = results.as_slice() else {
        return Err(t.invalid_error(op, "the condition of a loop is no tensor"));
    };
    let condition = t.builder.end_block(&[goes_on.first_component()]);
    let parameters = t.builder.begin_block(&types);
    let block = t.open_loop_block(op, 1, initial, &parameters)?;
    let results = t.nested_in_step(block)?;
    let results = t.as_structured(op, results, is_shared)?;
    let body = t.builder.end_block(&flatten_shards(&results));
    let results = t.builder.add_while(&values, condition, body);
    t.bind_sharded_results(op, with_shard_parts(initial, &results))
}

/// A loop in which each shard has a condition of its own. The conditions are carried with the values.
fn separate_loop(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    initial: &[ShardedValue],
) -> TranslateResult<()> {
    let count = t.shards.count();
    let outer = t.shards.active.clone();
    let block = t.open_loop_block(op, 0, initial, &flatten_shards(initial))?;
    let first = t.translate_in_step(block)?;
    let mut values = t.shard_conditions(op, &first)?;
    values.extend(flatten_shards(initial));
    let types: Vec<_> = values
        .iter()
        .map(|value| t.builder.ty(*value).clone())
        .collect();
    let parameters = t.builder.begin_block(&types);
    let any = t.join_truths(Scalar::LogOr, &parameters[..count]);
    let condition = t.builder.end_block(&[any]);
    let parameters = t.builder.begin_block(&types);
    let (goes_on, parts) = parameters.split_at(count);
    t.shards.active = Some(Rc::from(goes_on));
    let before = with_shard_parts(initial, parts);
    let block = t.open_loop_block(op, 1, initial, parts)?;
    let after = t.nested_in_step(block)?;
    let selected = t.select_shards(op, goes_on, &after, &before)?;
    let block = t.open_loop_block(op, 0, initial, &flatten_shards(&selected))?;
    let next = t.nested_in_step(block)?;
    let mut results = t.shard_conditions(op, &next)?;
    results.extend(flatten_shards(&selected));
    t.shards.active = outer;
    let body = t.builder.end_block(&results);
    let results = t.builder.add_while(&values, condition, body);
    t.bind_sharded_results(op, with_shard_parts(initial, &results[count..]))
}

/// `if` and `case` whose branches communicate.
pub(super) fn branch_in_step(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.sharded_operands(op)?;
    t.ensure_holds(op, operands.len() == 1, "has a wrong condition")?;
    let count = t.module.regions(op).len();
    let mut blocks = Vec::new();
    for region in 0..count {
        blocks.push(t.region_block(op, region)?);
    }
    t.ensure_holds(op, count > 0, "has no branches")?;
    match &operands[0] {
        ShardedValue::Shared(TranslatedValue::Tensor(index)) => {
            let conditions = branch_conditions(t, index, count);
            joint_branch(t, op, &blocks, &conditions)
        }
        index => {
            let tensors = t.expand_tensors(op, index)?;
            separate_branch(t, op, &blocks, &tensors)
        }
    }
}

/// Whether each branch but the last is taken: by a truth value, or by its number.
fn branch_conditions(
    t: &mut StablehloTranslator<'_>,
    index: &TypedTensor,
    count: usize,
) -> Vec<TensorValue> {
    if index.element == TensorElement::Bool {
        return vec![index.first_component(); count - 1];
    }
    let conditions = (0..count - 1).map(|at| {
        t.builder
            .add_elementwise(&[index.first_component()], |body, v| {
                let number = ScalarLiteral::new(body.ty(v[0]), at as u64);
                let number = body.intern_literal(number);
                body.apply_op(Scalar::Eq, &[v[0], number])
            })
    });
    conditions.collect()
}

/// All shards take the same branch.
fn joint_branch(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    blocks: &[MlirBlock],
    conditions: &[TensorValue],
) -> TranslateResult<()> {
    let results = t.module.results(op).len();
    let mut is_shared = vec![true; results];
    for block in blocks {
        let of_branch = t.find_uniform_results(*block, &[]);
        t.ensure_holds(
            op,
            of_branch.len() == results,
            "has a branch of another type",
        )?;
        let pairs = is_shared.iter_mut().zip(of_branch);
        pairs.for_each(|(all, one)| *all &= one);
    }
    let mut opened = Vec::new();
    for (block, condition) in blocks.iter().zip(conditions) {
        let _ = t.builder.begin_block(&[]);
        let items = t.nested_in_step(*block)?;
        let items = t.as_structured(op, items, &is_shared)?;
        opened.push((*condition, t.builder.end_block(&flatten_shards(&items))));
        let _ = t.builder.begin_block(&[]);
    }
    let items = t.nested_in_step(blocks[blocks.len() - 1])?;
    let like = t.as_structured(op, items, &is_shared)?;
    let mut parts = flatten_shards(&like);
    while let Some((condition, then)) = opened.pop() {
        let otherwise = t.builder.end_block(&parts);
        parts = t.builder.add_if(condition, then, otherwise);
    }
    t.bind_sharded_results(op, with_shard_parts(&like, &parts))
}

/// Shards take different branches: all branches are computed, and each shard selects.
fn separate_branch(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    blocks: &[MlirBlock],
    indices: &[TypedTensor],
) -> TranslateResult<()> {
    let outer = t.shards.active.clone();
    // The conditions of all shards for a branch, and whether none of the branches so far was taken.
    let per_shard: Vec<Vec<TensorValue>> = indices
        .iter()
        .map(|index| branch_conditions(t, index, blocks.len()))
        .collect();
    let mut results = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let conditions: Vec<TensorValue> = if at + 1 < blocks.len() {
            per_shard.iter().map(|own| own[at]).collect()
        } else {
            let others = per_shard.iter();
            others.map(|own| t.negate_truths(own)).collect()
        };
        let active = t.mask_conditions(conditions.clone());
        t.shards.active = Some(active.into());
        results.push((conditions, t.translate_in_step(*block)?));
        t.shards.active.clone_from(&outer);
    }
    let Some((_, mut selected)) = results.pop() else {
        return Ok(());
    };
    while let Some((conditions, then)) = results.pop() {
        selected = t.select_shards(op, &conditions, &then, &selected)?;
    }
    t.bind_sharded_results(op, selected)
}

impl StablehloTranslator<'_> {
    /// Whether none of some truth values holds.
    fn negate_truths(&mut self, truths: &[TensorValue]) -> TensorValue {
        if truths.is_empty() {
            return self.builder.add_splat(
                ScalarLiteral::new(spirula_program::ScalarType::Bool, 1),
                &[],
            );
        }
        let any = self.join_truths(Scalar::LogOr, truths);
        self.builder
            .add_elementwise(&[any], |body, v| body.apply_op(Scalar::Not, &[v[0]]))
    }
}
