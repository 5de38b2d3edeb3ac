//! Counted loops: the number of iterations is known when they begin.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::translator::{StablehloTranslator, TypedTensor};
use spirula_program::{ScalarLiteral, ScalarOp as Scalar};
use spirula_tensor::ir::{DenseTensorType, DimExtent, TensorShape, TensorValue};

impl StablehloTranslator<'_> {
    /// A tensor of zeros.
    pub fn emit_zeros(&mut self, element: TensorElement, shape: &TensorShape) -> TypedTensor {
        let zero = ScalarLiteral::new(element.storage_type(), 0);
        let parts = (0..element.component_count()).map(|_| self.builder.add_splat(zero, shape));
        let parts: Vec<TensorValue> = parts.collect();
        TypedTensor::from_components(element, &parts)
    }

    /// A loop of `count` iterations that replaces tensors. Each iteration gets the tensors and its
    /// number, a tensor of rank 0.
    pub fn iterate_tensors(
        &mut self,
        initial: &[TypedTensor],
        count: DimExtent,
        step: impl FnOnce(&mut Self, &[TypedTensor], TensorValue) -> TranslateResult<Vec<TypedTensor>>,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let mut values = vec![self.builder.add_splat(ScalarLiteral::from_i64(0), &[])];
        values.extend(list_components(initial));
        let types = values.iter().map(|value| self.builder.ty(*value).clone());
        let types: Vec<DenseTensorType> = types.collect();
        let state = self.builder.begin_block(&types);
        let goes_on = self.builder.add_elementwise(&state[..1], |body, v| {
            let count = body.intern_size(count);
            body.apply_op(Scalar::SLt, &[v[0], count])
        });
        let condition = self.builder.end_block(&[goes_on]);
        let state = self.builder.begin_block(&types);
        let before = regroup_components(initial, &state[1..]);
        let after = step(self, &before, state[0])?;
        let next = self.builder.add_elementwise(&state[..1], |body, v| {
            let one = body.intern_i64(1);
            body.apply_op(Scalar::Add, &[v[0], one])
        });
        let mut results = vec![next];
        results.extend(list_components(&after));
        let body = self.builder.end_block(&results);
        let results = self.builder.add_while(&values, condition, body);
        Ok(regroup_components(initial, &results[1..]))
    }

    /// The same for one tensor.
    pub fn iterate_tensor(
        &mut self,
        initial: TypedTensor,
        count: DimExtent,
        step: impl FnOnce(&mut Self, &TypedTensor, TensorValue) -> TranslateResult<TypedTensor>,
    ) -> TranslateResult<TypedTensor> {
        let mut last = self.iterate_tensors(&[initial], count, |t, state, round| {
            Ok(vec![step(t, &state[0], round)?])
        })?;
        Ok(last.remove(0))
    }
}

fn list_components(tensors: &[TypedTensor]) -> impl Iterator<Item = TensorValue> + '_ {
    tensors
        .iter()
        .flat_map(|tensor| tensor.parts.iter().copied())
}

/// Tensors of the same types with other parts.
fn regroup_components(tensors: &[TypedTensor], parts: &[TensorValue]) -> Vec<TypedTensor> {
    let mut parts = parts.iter().copied();
    let replaced = tensors.iter().map(|tensor| {
        let own: Vec<TensorValue> = parts.by_ref().take(tensor.parts.len()).collect();
        TypedTensor::from_components(tensor.element, &own)
    });
    replaced.collect()
}
