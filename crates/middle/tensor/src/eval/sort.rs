//! Sorts.

use super::combiner::CombinerCall;
use super::{EvalError, SharedTensor, TensorEvaluator, set_bits, static_sizes};
use crate::ir::{DenseTensorType, DimExtent, RadixSort, TensorConstant, TensorSort, WordSelection};
use spirula_program::ScalarType;
use std::rc::Rc;

impl TensorEvaluator<'_> {
    pub(super) fn run_sort(&mut self, sort: &TensorSort) -> Result<Vec<SharedTensor>, EvalError> {
        let operands = sort.operands.iter().map(|value| self.get(*value));
        let operands: Vec<SharedTensor> = operands.collect::<Result<_, _>>()?;
        let shape = static_sizes(&operands[0].ty);
        let count = shape[sort.dimension] as usize;
        let inner: usize = shape[sort.dimension + 1..].iter().product::<u64>() as usize;
        let all = shape.iter().product::<u64>() as usize;
        self.spend_work((all as u64).saturating_mul(64))?;
        let mut results: Vec<TensorConstant> = operands.iter().map(|o| (**o).clone()).collect();
        let mut less = CombinerCall::new(&sort.comparator);
        let lines = all.checked_div(count).unwrap_or(0);
        for line in 0..lines {
            let start = line / inner * inner * count + line % inner;
            let order = merge_sort((0..count).collect(), &mut |a, b| {
                let at = [start + a * inner, start + b * inner];
                let arguments = operands
                    .iter()
                    .flat_map(|o| at.map(|at| o.element_bits(at)));
                less.apply_combiner(arguments)[0] != 0
            });
            for (result, operand) in results.iter_mut().zip(&operands) {
                for (to, from) in order.iter().enumerate() {
                    let bits = operand.element_bits(start + from * inner);
                    set_bits(result, start + to * inner, bits);
                }
            }
        }
        Ok(results.into_iter().map(Rc::new).collect())
    }

    /// The numbers that are carried along, in the order of their words.
    pub(super) fn run_radix_sort(&mut self, sort: &RadixSort) -> Result<SharedTensor, EvalError> {
        let words = self.get(sort.words)?;
        let carried = sort.carried.map(|value| self.get(value)).transpose()?;
        let count = static_sizes(&words.ty).last().copied().unwrap_or(0) as usize;
        let all = words.ty.element_count().unwrap_or(0);
        self.spend_work(all.saturating_mul(64))?;
        let mask = u64::from(u32::MAX >> (32 - sort.bits));
        let mut result = (*words).clone();
        for start in (0..all as usize).step_by(count.max(1)) {
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by_key(|at| words.element_bits(start + at) & mask);
            for (to, from) in order.into_iter().enumerate() {
                let carried = carried.as_ref().map(|c| c.element_bits(start + from));
                set_bits(&mut result, start + to, carried.unwrap_or(from as u64));
            }
        }
        Ok(Rc::new(result))
    }
}

impl TensorEvaluator<'_> {
    /// The indices of the least words of each row.
    pub(super) fn run_selection(
        &mut self,
        selection: &WordSelection,
    ) -> Result<SharedTensor, EvalError> {
        let words = self.get(selection.words)?;
        let length = static_sizes(&words.ty).last().copied().unwrap_or(0) as usize;
        let all = words.ty.element_count().unwrap_or(0) as usize;
        self.spend_work((all as u64).saturating_mul(64))?;
        let mut shape = words.ty.shape.clone();
        if let Some(last) = shape.last_mut() {
            *last = DimExtent::Static(selection.count);
        }
        let mut bytes = Vec::new();
        for start in (0..all).step_by(length.max(1)) {
            let mut order: Vec<usize> = (0..length).collect();
            order.sort_by_key(|at| words.element_bits(start + at));
            let least = order.into_iter().take(selection.count as usize);
            least.for_each(|index| bytes.extend((index as i32).to_le_bytes()));
        }
        let element = ScalarType::I32;
        let ty = DenseTensorType { element, shape };
        Ok(Rc::new(TensorConstant { ty, bytes }))
    }
}

/// A stable merge sort by any order.
fn merge_sort(items: Vec<usize>, less: &mut dyn FnMut(usize, usize) -> bool) -> Vec<usize> {
    if items.len() < 2 {
        return items;
    }
    let (left, right) = items.split_at(items.len() / 2);
    let left = merge_sort(left.to_vec(), less);
    let right = merge_sort(right.to_vec(), less);
    let (mut a, mut b) = (left.into_iter().peekable(), right.into_iter().peekable());
    let mut merged = Vec::new();
    while let (Some(first), Some(second)) = (a.peek(), b.peek()) {
        let next = if less(*second, *first) {
            &mut b
        } else {
            &mut a
        };
        merged.extend(next.next());
    }
    merged.extend(a);
    merged.extend(b);
    merged
}

#[cfg(test)]
mod tests {
    use super::merge_sort;

    #[test]
    fn equal_elements_stay_in_order() {
        let mut calls = 0;
        let keys = [3, 1, 3, 0, 1];
        let order = merge_sort((0..5).collect(), &mut |a, b| {
            calls += 1;
            keys[a] < keys[b]
        });
        assert_eq!(order, [3, 1, 4, 0, 2]);
    }
}
