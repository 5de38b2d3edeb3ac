//! Batch normalisation.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::records::BatchNormAttributes;
use crate::mlir::{MlirFloat, MlirOp};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{ScalarCombiner, ScalarNode, StructuredOp, TensorReduction, TensorShape};

/// Operands and attributes that the operations share.
struct BatchNorm {
    operands: Vec<TypedTensor>,
    shape: TensorShape,
    feature: usize,
    float: MlirFloat,
    epsilon: f64,
}

impl BatchNorm {
    fn new(t: &StablehloTranslator<'_>, op: MlirOp, operands: usize) -> TranslateResult<BatchNorm> {
        let found = t.tensor_operands(op)?;
        t.ensure_holds(op, found.len() == operands, "has too few or many operands")?;
        let shape = t.tensor_shape(&found[0]);
        let attributes: BatchNormAttributes = t.read_attributes(op)?;
        let feature = t.check_dimension(op, attributes.feature_index, shape.len())?;
        let element = found[0].element;
        let TensorElement::Float(float) = element else {
            return Err(t.unsupported_error(op, format!("normalisation of {element}")));
        };
        for operand in &found {
            let own = t.tensor_shape(operand);
            let fits = own == shape || own[..] == shape[feature..=feature];
            t.ensure_holds(
                op,
                fits && operand.element == element,
                "has operands of different types",
            )?;
        }
        Ok(BatchNorm {
            operands: found,
            shape,
            feature,
            float,
            epsilon: attributes.epsilon,
        })
    }

    /// An element of an operand, or of the feature that a point belongs to.
    fn read_element(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        tensor: &TypedTensor,
        point: &[ScalarNode],
    ) -> ScalarNode {
        let position = match t.tensor_shape(tensor).len() {
            1 if self.shape.len() != 1 => &point[self.feature..=self.feature],
            _ => point,
        };
        let val = t.read_element(s, tensor, position);
        ScalarBuilder::new(&mut s.body).decode_wide(self.float, val.node())
    }

    /// `sqrt(variance + epsilon)`
    fn standard_deviation(&self, c: &mut ScalarBuilder<'_>, variance: ScalarNode) -> ScalarNode {
        let sum = c.add_constant(variance, self.epsilon);
        c.apply_unary(Scalar::Sqrt, sum)
    }

    /// A tensor with the shape of the operand.
    fn map_points(
        &self,
        t: &mut StablehloTranslator<'_>,
        compute: impl FnOnce(&StablehloTranslator<'_>, &mut StructuredOp, &[ScalarNode]) -> ScalarNode,
    ) -> TranslateResult<TypedTensor> {
        t.map_points(&self.shape, |t, s, point| {
            let value = compute(t, s, point);
            let stored = ScalarBuilder::new(&mut s.body).encode_float(self.float, value);
            Ok(ElementValue::new(TensorElement::Float(self.float), stored))
        })
    }

    /// For each feature, a function of a sum over all other dimensions, accumulated in at least
    /// `f32`.
    fn sum_features(
        &self,
        t: &mut StablehloTranslator<'_>,
        compute: impl FnOnce(&StablehloTranslator<'_>, &mut StructuredOp, &[ScalarNode]) -> ScalarNode,
        finish: impl FnOnce(&mut ScalarBuilder<'_>, ScalarNode) -> ScalarNode,
    ) -> TypedTensor {
        let mut s = StructuredOp::default();
        let others: Vec<usize> = (0..self.shape.len())
            .filter(|at| *at != self.feature)
            .collect();
        let position = s.reduced_position(&self.shape, &others);
        let value = compute(t, &mut s, &position);
        let ty = s.body.ty(value);
        let zero = ScalarBuilder::new(&mut s.body).make_constant(ty, 0.0);
        let sum = s.add_reduction(TensorReduction {
            initial: vec![zero],
            values: vec![value],
            combiner: ScalarCombiner::from_op(Scalar::FAdd, ty),
        });
        let result = finish(&mut ScalarBuilder::new(&mut s.body), sum[0]);
        let float = if ty == Ty::F64 {
            MlirFloat::F64
        } else {
            MlirFloat::F32
        };
        t.finish_structured(s, &ElementValue::new(TensorElement::Float(float), result))
    }

    /// A tensor of sums in the operand's type.
    fn convert_sums(
        &self,
        t: &mut StablehloTranslator<'_>,
        sums: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let shape = t.tensor_shape(sums);
        t.map_points(&shape, |t, s, point| {
            let value = t.read_element(s, sums, point).node();
            let stored = ScalarBuilder::new(&mut s.body).encode_float(self.float, value);
            Ok(ElementValue::new(TensorElement::Float(self.float), stored))
        })
    }

    /// Elements that are summed up for each feature.
    fn count_summands(&self, t: &StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<f64> {
        let sizes = t.static_sizes(op, &self.operands[0])?;
        let others = sizes
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != self.feature);
        Ok(others.map(|(_, size)| *size as f64).product())
    }
}

/// The element of a tensor of sums for the feature of a point.
fn sum_at(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    sums: &TypedTensor,
    feature: ScalarNode,
) -> ScalarNode {
    t.read_element(s, sums, &[feature]).node()
}

/// `batch_norm_inference`: `(x - mean) / sqrt(variance + epsilon) scale + offset`.
pub(super) fn translate_inference(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let norm = BatchNorm::new(t, op, 5)?;
    let result = norm.map_points(t, |t, s, point| {
        let [x, scale, offset, mean, variance] =
            [0, 1, 2, 3, 4].map(|at| norm.read_element(t, s, &norm.operands[at], point));
        normalise_element(&norm, s, [x, scale, offset, mean, variance])
    })?;
    t.bind_result(op, result)
}

fn normalise_element(
    norm: &BatchNorm,
    s: &mut StructuredOp,
    values: [ScalarNode; 5],
) -> ScalarNode {
    let [x, scale, offset, mean, variance] = values;
    let mut c = ScalarBuilder::new(&mut s.body);
    let centred = c.sub(x, mean);
    let deviation = norm.standard_deviation(&mut c, variance);
    let normal = c.div(centred, deviation);
    let scaled = c.mul(normal, scale);
    c.add(scaled, offset)
}

/// `batch_norm_training`: mean and variance are those of the operand.
pub(super) fn translate_training(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let norm = BatchNorm::new(t, op, 3)?;
    let by = 1.0 / norm.count_summands(t, op)?;
    let operand = &norm.operands[0];
    let mean = norm.sum_features(
        t,
        |t, s, point| norm.read_element(t, s, operand, point),
        |c, sum| c.mul_constant(sum, by),
    );
    let variance = norm.sum_features(
        t,
        |t, s, point| {
            let x = norm.read_element(t, s, operand, point);
            let mean = sum_at(t, s, &mean, point[norm.feature]);
            let mut c = ScalarBuilder::new(&mut s.body);
            let centred = c.sub(x, mean);
            c.square(centred)
        },
        |c, sum| c.mul_constant(sum, by),
    );
    let result = norm.map_points(t, |t, s, point| {
        let [x, scale, offset] =
            [0, 1, 2].map(|at| norm.read_element(t, s, &norm.operands[at], point));
        let feature = point[norm.feature];
        let mean = sum_at(t, s, &mean, feature);
        let variance = sum_at(t, s, &variance, feature);
        normalise_element(&norm, s, [x, scale, offset, mean, variance])
    })?;
    let (mean, variance) = (
        norm.convert_sums(t, &mean)?,
        norm.convert_sums(t, &variance)?,
    );
    t.bind_results(op, vec![result, mean, variance])
}

/// `batch_norm_grad`: gradients of operand, scale and offset.
pub(super) fn translate_gradient(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let norm = BatchNorm::new(t, op, 5)?;
    let count = norm.count_summands(t, op)?;
    let [x, scale, mean, variance, grad] = [0, 1, 2, 3, 4].map(|at| norm.operands[at].clone());
    let offset = norm.sum_features(
        t,
        |t, s, point| norm.read_element(t, s, &grad, point),
        |_, sum| sum,
    );
    // The sum of gradients times the operand's distance from the mean.
    let moment = norm.sum_features(
        t,
        |t, s, point| {
            let [x, mean, grad] = [&x, &mean, &grad].map(|v| norm.read_element(t, s, v, point));
            let mut c = ScalarBuilder::new(&mut s.body);
            let centred = c.sub(x, mean);
            c.mul(grad, centred)
        },
        |_, sum| sum,
    );
    let result = norm.map_points(t, |t, s, point| {
        let [x, scale, mean, variance, grad] =
            [&x, &scale, &mean, &variance, &grad].map(|v| norm.read_element(t, s, v, point));
        let feature = point[norm.feature];
        let total = sum_at(t, s, &offset, feature);
        let moment = sum_at(t, s, &moment, feature);
        let mut c = ScalarBuilder::new(&mut s.body);
        let deviation = norm.standard_deviation(&mut c, variance);
        let square = c.add_constant(variance, norm.epsilon);
        let centred = c.sub(x, mean);
        let bend = c.mul(centred, moment);
        let bend = c.div(bend, square);
        let all = c.mul_constant(grad, count);
        let all = c.sub(all, total);
        let all = c.sub(all, bend);
        let factor = c.div(scale, deviation);
        let factor = c.mul_constant(factor, 1.0 / count);
        c.mul(factor, all)
    })?;
    let shape = t.tensor_shape(&moment);
    let grad_scale = t.map_points(&shape, |t, s, point| {
        let moment = t.read_element(s, &moment, point).node();
        let stored = t.read_element(s, &variance, point).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let variance = c.decode_wide(norm.float, stored);
        let deviation = norm.standard_deviation(&mut c, variance);
        let value = c.div(moment, deviation);
        let stored = c.encode_float(norm.float, value);
        Ok(ElementValue::new(TensorElement::Float(norm.float), stored))
    })?;
    let grad_offset = norm.convert_sums(t, &offset)?;
    t.bind_results(op, vec![result, grad_scale, grad_offset])
}
