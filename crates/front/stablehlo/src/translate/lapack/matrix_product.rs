//! Products of matrices by real contractions, which have fast schedules. Parts of complex matrices are multiplied one by one.

use crate::mlir::MlirOp;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_tensor::ir::{AxisKind, DimExtent, StructuredOp, TensorShape};

/// A factor of a product.
#[derive(Clone, Copy)]
pub(super) struct MatrixFactor<'a> {
    tensor: &'a TypedTensor,
    is_transposed: bool,
    is_conjugate: bool,
}

impl<'a> MatrixFactor<'a> {
    pub fn plain(tensor: &'a TypedTensor) -> MatrixFactor<'a> {
        MatrixFactor {
            tensor,
            is_transposed: false,
            is_conjugate: false,
        }
    }

    pub fn transposed(tensor: &'a TypedTensor) -> MatrixFactor<'a> {
        MatrixFactor {
            is_transposed: true,
            ..MatrixFactor::plain(tensor)
        }
    }

    pub fn conjugate(self) -> MatrixFactor<'a> {
        MatrixFactor {
            is_conjugate: true,
            ..self
        }
    }

    /// The sign of a part.
    fn part_sign(self, part: usize) -> f64 {
        if self.is_conjugate && part == 1 {
            -1.0
        } else {
            1.0
        }
    }
}

/// The products of matrices of a batch. The result has `shape`; `inner` is the length of the sums.
pub(super) fn multiply_matrices(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    left: MatrixFactor<'_>,
    right: MatrixFactor<'_>,
    shape: &TensorShape,
    inner: u64,
) -> TranslateResult<TypedTensor> {
    let element = match left.tensor.element {
        real @ TensorElement::Float(_) if right.tensor.element == real => real,
        TensorElement::Float(_) => right.tensor.element,
        complex => complex,
    };
    // The products that each part is a sum of, with their signs.
    let mut sums: Vec<Vec<(f64, TypedTensor)>> = vec![Vec::new(); element.component_count()];
    for first in 0..left.tensor.parts.len() {
        for second in 0..right.tensor.parts.len() {
            let product = multiply_parts(t, op, left, right, [first, second], shape, inner)?;
            let sign = left.part_sign(first) * right.part_sign(second);
            let both = if first + second == 2 { -sign } else { sign };
            sums[(first + second) % 2].push((both, product));
        }
    }
    if let [only] = &sums[..]
        && let [(_, product)] = &only[..]
    {
        return Ok(product.clone());
    }
    t.map_points(shape, |t, s, point| {
        let mut nodes = Vec::new();
        for sum in &sums {
            let mut total = None;
            for (sign, product) in sum {
                let own = t.read_element(s, product, point).node();
                let mut c = ScalarBuilder::new(&mut s.body);
                let own = if *sign < 0.0 { c.neg(own) } else { own };
                total = Some(match total {
                    Some(total) => c.add(total, own),
                    None => own,
                });
            }
            nodes.extend(total);
        }
        Ok(ElementValue {
            element,
            nodes: nodes.into(),
        })
    })
}

/// The product of one part of each factor. `parts` has the number of the part of the left and of the right factor.
fn multiply_parts(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    left: MatrixFactor<'_>,
    right: MatrixFactor<'_>,
    parts: [usize; 2],
    shape: &TensorShape,
    inner: u64,
) -> TranslateResult<TypedTensor> {
    let real = left.tensor.element.component_element();
    let mut s = StructuredOp::with_parallel_axes(shape);
    let point = s.axis_indices();
    let (outer, row, column) = split_matrix_position(&point);
    let k = s.add_axis(DimExtent::Static(inner), AxisKind::Reduction);
    let mut read = |factor: MatrixFactor<'_>, part: usize, row, column| {
        let position = if factor.is_transposed {
            matrix_position(outer, column, row)
        } else {
            matrix_position(outer, row, column)
        };
        let tensor = TypedTensor::new(real, factor.tensor.parts[part]);
        t.read_element(&mut s, &tensor, &position)
    };
    let a = read(left, parts[0], row, k);
    let b = read(right, parts[1], k, column);
    let sum = t.sum_of_products(op, &mut s, &a, &b, None, real)?;
    Ok(t.finish_structured(s, &sum))
}
