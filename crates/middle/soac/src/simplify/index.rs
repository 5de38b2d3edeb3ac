//! Indices and arrays without combinators: slices of slices and of arrays that are known, copies of copies.

use super::{FunctionSimplifier, StatementRewrite};
use crate::ir::{
    SliceSelector, SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariableId,
};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use std::rc::Rc;

/// Whether a selector selects a dimension of some size whole.
fn is_whole(selector: SliceSelector, size: SoacOperand) -> bool {
    match selector {
        SliceSelector::Point(_) => false,
        SliceSelector::Stride {
            start,
            count,
            stride,
        } => start.to_int64() == Some(0) && count == size && stride.to_int64() == Some(1),
    }
}

/// The selector of a whole dimension.
fn select_whole(size: SoacOperand) -> SliceSelector {
    SliceSelector::Stride {
        start: SoacOperand::from_int64(0),
        count: size,
        stride: SoacOperand::from_int64(1),
    }
}

impl FunctionSimplifier<'_> {
    pub(super) fn rewrite_slice(
        &mut self,
        array: SoacOperand,
        selectors: &[SliceSelector],
        result: SoacVariableId,
    ) -> Option<StatementRewrite> {
        let array_type = self.type_of(array);
        let sizes = array_type.shape();
        let selected = selectors.iter().zip(sizes).rev();
        let whole = selected.take_while(|(selector, size)| is_whole(**selector, **size));
        let needed = selectors.len() - whole.count();
        if needed == 0 {
            return Some(StatementRewrite::Operands(vec![array]));
        }
        if needed < selectors.len() {
            let selectors = selectors[..needed].to_vec();
            return Some(StatementRewrite::Operation(SoacOperation::Slice(
                array, selectors,
            )));
        }
        let definition = Rc::clone(self.definition(array)?);
        let shares_elements = matches!(
            definition.operation,
            SoacOperation::Slice(..) | SoacOperation::Rearrange(..)
        );
        if !shares_elements && self.consumed.contains(result) {
            return None;
        }
        let operation = self.slice_definition(&definition, sizes, selectors)?;
        Some(StatementRewrite::Certified(
            operation,
            definition.certificates.clone(),
        ))
    }

    /// The slice of an array that is the result of a statement.
    fn slice_definition(
        &mut self,
        definition: &SoacStatement,
        sizes: &[SoacOperand],
        selectors: &[SliceSelector],
    ) -> Option<SoacOperation> {
        match &definition.operation {
            SoacOperation::Slice(source, outer) => {
                let selectors = self.compose_selectors(outer, selectors);
                Some(SoacOperation::Slice(*source, selectors))
            }
            SoacOperation::Manifest(source) if !self.is_consumed(*source) => {
                Some(SoacOperation::Slice(*source, selectors.to_vec()))
            }
            SoacOperation::Iota(_, first, step) => self.slice_iota(*first, *step, selectors[0]),
            SoacOperation::Replicate(outer, value) if !self.is_consumed(*value) => {
                slice_replicate(outer, *value, selectors)
            }
            SoacOperation::Literal(elements) => {
                let SliceSelector::Point(point) = selectors[0] else {
                    return None;
                };
                let position = usize::try_from(point.to_int64()?).ok()?;
                let element = *elements.get(position)?;
                let rest = selectors[1..].to_vec();
                (!self.is_consumed(element)).then_some(SoacOperation::Slice(element, rest))
            }
            SoacOperation::Update(_, changed, value) => {
                let is_point =
                    |selector: &SliceSelector| matches!(selector, SliceSelector::Point(_));
                let is_same = changed == selectors
                    && changed.len() == sizes.len()
                    && changed.iter().all(is_point);
                is_same.then(|| SoacOperation::Slice(*value, Vec::new()))
            }
            SoacOperation::Rearrange(source, permutation) => {
                slice_rearranged(*source, permutation, sizes, selectors)
            }
            _ => None,
        }
    }

    /// Selectors that have the effect of some selectors and of others after them.
    fn compose_selectors(
        &mut self,
        outer: &[SliceSelector],
        inner: &[SliceSelector],
    ) -> Vec<SliceSelector> {
        let mut rest = inner.iter().copied();
        let mut composed = Vec::with_capacity(outer.len() + inner.len());
        for &selector in outer {
            let SliceSelector::Stride {
                start,
                count,
                stride,
            } = selector
            else {
                composed.push(selector);
                continue;
            };
            composed.push(match rest.next() {
                None => SliceSelector::Stride {
                    start,
                    count,
                    stride,
                },
                Some(SliceSelector::Point(point)) => {
                    SliceSelector::Point(self.add_scaled(start, point, stride))
                }
                Some(SliceSelector::Stride {
                    start: first,
                    count,
                    stride: step,
                }) => SliceSelector::Stride {
                    start: self.add_scaled(start, first, stride),
                    count,
                    stride: self.add_int64(ScalarOp::Mul, step, stride),
                },
            });
        }
        composed.extend(rest);
        composed
    }

    /// `start + position * stride`
    fn add_scaled(
        &mut self,
        start: SoacOperand,
        position: SoacOperand,
        stride: SoacOperand,
    ) -> SoacOperand {
        let distance = self.add_int64(ScalarOp::Mul, position, stride);
        self.add_int64(ScalarOp::Add, start, distance)
    }

    /// The element of an iota, or some elements as another iota.
    fn slice_iota(
        &mut self,
        first: SoacOperand,
        step: SoacOperand,
        selector: SliceSelector,
    ) -> Option<SoacOperation> {
        let element = self.type_of(first).element();
        let (start, stride) = match selector {
            SliceSelector::Point(point) => (point, None),
            SliceSelector::Stride { start, stride, .. } => (start, Some(stride)),
        };
        let start = self.narrow(start, element);
        let multiply = ScalarOperator::with_type(ScalarOp::Mul, element);
        let add = ScalarOperator::with_type(ScalarOp::Add, element);
        let distance = self.add_scalar(multiply, vec![start, step]);
        let start = self.add_scalar(add, vec![first, distance]);
        let SliceSelector::Stride { count, .. } = selector else {
            return Some(SoacOperation::Slice(start, Vec::new()));
        };
        let stride = self.narrow(stride?, element);
        let step = self.add_scalar(multiply, vec![stride, step]);
        Some(SoacOperation::Iota(count, start, step))
    }

    /// An `i64` as an operand of another integer type.
    fn narrow(&mut self, operand: SoacOperand, element: ScalarType) -> SoacOperand {
        if element == ScalarType::I64 {
            return operand;
        }
        let operator = ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I64, element);
        self.add_scalar(operator, vec![operand])
    }

    pub(super) fn rewrite_replicate(
        &mut self,
        sizes: &[SoacOperand],
        value: SoacOperand,
    ) -> Option<StatementRewrite> {
        let definition = Rc::clone(self.definition(value)?);
        match &definition.operation {
            SoacOperation::Replicate(inner, value) if !self.is_consumed(*value) => {
                let sizes = [sizes, inner].concat();
                Some(StatementRewrite::Certified(
                    SoacOperation::Replicate(sizes, *value),
                    definition.certificates.clone(),
                ))
            }
            _ => None,
        }
    }

    pub(super) fn rewrite_concat(&mut self, arrays: &[SoacOperand]) -> Option<StatementRewrite> {
        if let [array] = arrays {
            return Some(StatementRewrite::Operation(SoacOperation::Manifest(*array)));
        }
        let (position, definition) = arrays.iter().enumerate().find_map(|(position, &array)| {
            let definition = self.definition(array)?;
            let SoacOperation::Concat(parts) = &definition.operation else {
                return None;
            };
            let is_kept = parts.iter().any(|&part| self.is_consumed(part));
            (!is_kept).then_some((position, definition))
        })?;
        let SoacOperation::Concat(parts) = &definition.operation else {
            return None;
        };
        let mut flat = arrays.to_vec();
        flat.splice(position..=position, parts.iter().copied());
        Some(StatementRewrite::Certified(
            SoacOperation::Concat(flat),
            definition.certificates.clone(),
        ))
    }

    pub(super) fn rewrite_reshape(
        &mut self,
        array: SoacOperand,
        sizes: &[SoacOperand],
    ) -> Option<StatementRewrite> {
        if self.type_of(array).shape() == sizes {
            return Some(StatementRewrite::Operands(vec![array]));
        }
        let definition = self.definition(array)?;
        let operation = match &definition.operation {
            SoacOperation::Reshape(source, _) => SoacOperation::Reshape(*source, sizes.to_vec()),
            SoacOperation::Replicate(_, value)
                if matches!(self.type_of(*value), SoacType::Scalar(_)) =>
            {
                SoacOperation::Replicate(sizes.to_vec(), *value)
            }
            _ => return None,
        };
        Some(StatementRewrite::Certified(
            operation,
            definition.certificates.clone(),
        ))
    }

    pub(super) fn rewrite_rearrange(
        &mut self,
        array: SoacOperand,
        permutation: &[usize],
    ) -> Option<StatementRewrite> {
        if permutation.is_sorted() {
            return Some(StatementRewrite::Operands(vec![array]));
        }
        let definition = self.definition(array)?;
        let operation = match &definition.operation {
            SoacOperation::Rearrange(source, inner) => {
                let composed = permutation.iter().map(|&dimension| inner[dimension]);
                SoacOperation::Rearrange(*source, composed.collect())
            }
            SoacOperation::Replicate(sizes, value)
                if matches!(self.type_of(*value), SoacType::Scalar(_)) =>
            {
                let sizes = permutation.iter().map(|&dimension| sizes[dimension]);
                SoacOperation::Replicate(sizes.collect(), *value)
            }
            _ => return None,
        };
        Some(StatementRewrite::Certified(
            operation,
            definition.certificates.clone(),
        ))
    }

    /// A copy is not needed where neither array is changed in place, nor of a new array that nothing else uses.
    pub(super) fn rewrite_manifest(
        &mut self,
        array: SoacOperand,
        result: SoacVariableId,
    ) -> Option<StatementRewrite> {
        let SoacOperand::Variable(id) = array else {
            return Some(StatementRewrite::Operands(vec![array]));
        };
        if self.consumed.contains(id) {
            return None;
        }
        if !self.consumed.contains(result) {
            return Some(StatementRewrite::Operands(vec![array]));
        }
        let is_own = self.fresh.contains(id)
            && self.uses[id.index()] == 1
            && self.depths.get(&id) == Some(&(self.frames.len() - 1));
        if !is_own {
            return None;
        }
        self.consumed.insert(id);
        Some(StatementRewrite::Operands(vec![array]))
    }
}

/// The slice of an array whose elements are equal.
fn slice_replicate(
    outer: &[SoacOperand],
    value: SoacOperand,
    selectors: &[SliceSelector],
) -> Option<SoacOperation> {
    let mut sizes = Vec::with_capacity(outer.len());
    for (index, &size) in outer.iter().enumerate() {
        match selectors.get(index) {
            Some(SliceSelector::Point(_)) => {}
            Some(SliceSelector::Stride { count, .. }) => sizes.push(*count),
            None => sizes.push(size),
        }
    }
    let rest = selectors.get(outer.len()..).unwrap_or_default();
    if sizes.is_empty() {
        return Some(SoacOperation::Slice(value, rest.to_vec()));
    }
    rest.is_empty()
        .then_some(SoacOperation::Replicate(sizes, value))
}

/// The slice of an array whose dimensions are in another order, if the selected dimensions come in the order of the array.
fn slice_rearranged(
    source: SoacOperand,
    permutation: &[usize],
    sizes: &[SoacOperand],
    selectors: &[SliceSelector],
) -> Option<SoacOperation> {
    let mut permuted = vec![None; permutation.len()];
    let mut kept = Vec::new();
    for (index, &dimension) in permutation.iter().enumerate() {
        let selector = selectors.get(index).copied();
        let selector = selector.unwrap_or_else(|| select_whole(sizes[index]));
        if let SliceSelector::Stride { .. } = selector {
            kept.push(dimension);
        }
        permuted[dimension] = Some(selector);
    }
    let permuted = permuted.into_iter().collect::<Option<Vec<_>>>()?;
    kept.is_sorted()
        .then_some(SoacOperation::Slice(source, permuted))
}
