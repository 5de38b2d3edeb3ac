//! A pass of a Fourier transform: transforms of a factor of the length, times roots of unity.
//!
//! With `j = j1 b + j2` and `k = k1 + a k2`, the pass sums over `j1`. Its results have the dimension of `k1`, of length `a`, after
//! that of `j2`, of length `b`, which the passes that follow transform.

use super::convolved_fourier::transform_by_convolution;
use super::error::TranslateResult;
use super::fourier::make_unity_roots;
use super::scalar::{ElementValue, ScalarBuilder};
use super::short_fourier::{is_short_length, transform_numbers};
use super::translator::{StablehloTranslator, TypedTensor};
use super::unity_root::FourierDirection;
use crate::mlir::MlirOp;
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, NodeGraph, ScalarNode, StructuredOp, TensorShape};

/// Maximum length of an unfactored transform whose matrix is a constant.
const MATRIX: u64 = 64;
/// Maximum prime length of a transform that is a product with a matrix; longer ones are
/// convolutions.
const DIRECT: u64 = 128;

/// A pass over a tensor, whose dimensions are those before the transformed one, this, the product of the factors of earlier
/// passes, and those after it.
#[derive(Clone, Debug)]
pub(super) struct FourierPass {
    /// Sizes of the dimensions before.
    pub before: Vec<u64>,
    /// Sizes of the dimensions after.
    pub after: Vec<u64>,
    /// The factor of this pass, `a`.
    pub factor: u64,
    /// The product of the factors of later passes, `b`.
    pub rest: u64,
    /// The product of the factors of earlier passes.
    pub done: u64,
    /// The sign of the exponents.
    pub direction: FourierDirection,
    /// A factor of all results.
    pub scale: f64,
}

impl FourierPass {
    fn make_shape(&self, middle: &[u64]) -> TensorShape {
        let sizes = self.before.iter().chain(middle).chain(&self.after);
        sizes.map(|size| DimExtent::Static(*size)).collect()
    }

    /// The shape of the operand of a pass whose factors are all to come.
    pub fn next_shape(&self) -> TensorShape {
        self.make_shape(&[self.rest, self.done])
    }

    fn result_shape(&self) -> TensorShape {
        self.make_shape(&[self.rest, self.factor, self.done])
    }

    /// A point with other indices in place of `j2` and `k1`.
    fn replace_indices(&self, point: &[ScalarNode], middle: &[ScalarNode]) -> Vec<ScalarNode> {
        let at = self.before.len();
        [&point[..at], middle, &point[at + 2..]].concat()
    }

    /// The results of the pass, whose dimensions in the middle are `b`, `a`, and those of earlier passes.
    pub fn transform_tensor(
        &self,
        t: &mut StablehloTranslator<'_>,
        op: MlirOp,
        tensor: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let twiddle = (self.rest > 1).then(|| self.make_twiddles(t, tensor));
        if is_short_length(self.factor) {
            self.transform_by_butterflies(t, tensor, twiddle.as_ref())
        } else if self.factor <= DIRECT {
            self.transform_by_matrix(t, op, tensor, twiddle.as_ref())
        } else {
            let shape = self.make_shape(&[self.factor, self.rest, self.done]);
            let tensor = t.reshape_tensor(op, tensor, shape)?;
            let axis = self.before.len();
            let sums = transform_by_convolution(t, op, &tensor, axis, self.direction, self.scale)?;
            match &twiddle {
                Some(twiddle) => self.multiply_by_twiddles(t, &sums, twiddle),
                None => t.reshape_tensor(op, &sums, self.result_shape()),
            }
        }
    }

    /// `w_n^(k1 j2)` for `n = a b`.
    fn make_twiddles(&self, t: &mut StablehloTranslator<'_>, tensor: &TypedTensor) -> TypedTensor {
        let (a, b) = (self.factor, self.rest);
        let turns = (0..a).flat_map(move |k| (0..b).map(move |j| k * j % (a * b)));
        make_unity_roots(t, tensor.element, &[a, b], a * b, self.direction, turns)
    }

    /// Transforms whose results have the dimension of `k1` before that of `j2`, times roots of unity.
    fn multiply_by_twiddles(
        &self,
        t: &mut StablehloTranslator<'_>,
        sums: &TypedTensor,
        twiddle: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let at = self.before.len();
        t.map_points(&self.result_shape(), |t, s, point| {
            let turned = [point[at + 1], point[at]];
            let value = t.read_element(s, sums, &self.replace_indices(point, &turned));
            let root = t.read_element(s, twiddle, &turned);
            Ok(ScalarBuilder::new(&mut s.body).multiply_values(&value, &root))
        })
    }

    /// Transforms of a short length. A point is one result of a transform: its index chooses among all of them.
    fn transform_by_butterflies(
        &self,
        t: &mut StablehloTranslator<'_>,
        tensor: &TypedTensor,
        twiddle: Option<&TypedTensor>,
    ) -> TranslateResult<TypedTensor> {
        let at = self.before.len();
        t.map_points(&self.result_shape(), |t, s, point| {
            let (j2, k1) = (point[at], point[at + 1]);
            let mut numbers = Vec::new();
            for j1 in 0..self.factor {
                let first = s.body.intern_i64((j1 * self.rest) as i64);
                let j = ScalarBuilder::new(&mut s.body).add(first, j2);
                let element = t.read_element(s, tensor, &self.replace_indices(point, &[j]));
                numbers.push(element.as_complex());
            }
            let mut c = ScalarBuilder::new(&mut s.body);
            let results = transform_numbers(&mut c, &numbers, self.direction);
            let mut values = Vec::new();
            for (number, nodes) in results.into_iter().enumerate() {
                let mut value = ElementValue {
                    element: tensor.element,
                    nodes: nodes.into(),
                };
                if let Some(twiddle) = twiddle.filter(|_| number > 0) {
                    let number = s.body.intern_i64(number as i64);
                    let root = t.read_element(s, twiddle, &[number, j2]);
                    value = ScalarBuilder::new(&mut s.body).multiply_values(&value, &root);
                }
                values.push(self.scale_value(&mut s.body, value));
            }
            let mut c = ScalarBuilder::new(&mut s.body);
            Ok(choose_value(&mut c, k1, 0, &values))
        })
    }

    fn scale_value(&self, body: &mut NodeGraph, value: ElementValue) -> ElementValue {
        if self.scale == 1.0 {
            return value;
        }
        let mut c = ScalarBuilder::new(body);
        let by = c.constant_like(value.nodes[0], self.scale);
        c.scale_value(&value, by)
    }

    /// Transforms as products with a matrix.
    fn transform_by_matrix(
        &self,
        t: &mut StablehloTranslator<'_>,
        op: MlirOp,
        tensor: &TypedTensor,
        twiddle: Option<&TypedTensor>,
    ) -> TranslateResult<TypedTensor> {
        let (a, at) = (self.factor, self.before.len());
        let matrix = self.make_matrix(t, tensor);
        let mut s = StructuredOp::with_parallel_axes(&self.result_shape());
        let point = s.axis_indices();
        let (j2, k1) = (point[at], point[at + 1]);
        let j1 = s.add_axis(DimExtent::Static(a), AxisKind::Reduction);
        let mut c = ScalarBuilder::new(&mut s.body);
        let (by, modulus) = (
            c.body.intern_i64(self.rest as i64),
            c.body.intern_i64(a as i64),
        );
        let j = c.mul(j1, by);
        let j = c.add(j, j2);
        let turn = c.mul(j1, k1);
        let turn = c.apply_binary(Scalar::SMod, turn, modulus);
        let element = t.read_element(&mut s, tensor, &self.replace_indices(&point, &[j]));
        let position = if a <= MATRIX {
            vec![j1, k1]
        } else {
            vec![turn]
        };
        let root = t.read_element(&mut s, &matrix, &position);
        let mut value = t.sum_of_products(op, &mut s, &element, &root, None, tensor.element)?;
        if let Some(twiddle) = twiddle {
            let root = t.read_element(&mut s, twiddle, &[k1, j2]);
            value = ScalarBuilder::new(&mut s.body).multiply_values(&value, &root);
        }
        let value = self.scale_value(&mut s.body, value);
        Ok(t.finish_structured(s, &value))
    }

    /// `w_a^(j k)` as a matrix, or for long transforms the list of all `w_a^i`.
    fn make_matrix(&self, t: &mut StablehloTranslator<'_>, tensor: &TypedTensor) -> TypedTensor {
        let (a, element) = (self.factor, tensor.element);
        if a > MATRIX {
            return make_unity_roots(t, element, &[a], a, self.direction, 0..a);
        }
        let turns = (0..a).flat_map(move |j| (0..a).map(move |k| j * k % a));
        make_unity_roots(t, element, &[a, a], a, self.direction, turns)
    }
}

/// The value with the number that a node has, where `first` is the number of the first value.
fn choose_value(
    c: &mut ScalarBuilder<'_>,
    number: ScalarNode,
    first: usize,
    values: &[ElementValue],
) -> ElementValue {
    if let [value] = values {
        return value.clone();
    }
    let (low, high) = values.split_at(values.len() / 2);
    let middle = first + low.len();
    let end = c.body.intern_i64(middle as i64);
    let is_low = c.lt(number, end);
    let low = choose_value(c, number, first, low);
    let high = choose_value(c, number, middle, high);
    c.select_value(is_low, &low, &high)
}
