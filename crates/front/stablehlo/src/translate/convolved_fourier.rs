//! Fourier transforms of any length as convolutions, whose length has short factors.

use super::error::TranslateResult;
use super::fourier::{complex_constant, make_unity_roots, transform_scaled};
use super::scalar::ScalarBuilder;
use super::translator::{StablehloTranslator, TypedTensor};
use super::unity_root::FourierDirection;
use crate::mlir::MlirOp;
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::DimExtent;

/// Transforms of any length `n` along a dimension by a convolution (L. I. Bluestein, "A linear
/// filtering approach to the computation of discrete Fourier transform", 1970): as
/// j k = (j² + k² − (k − j)²) / 2, elements times a chirp are convolved with its conjugate.
pub(super) fn transform_by_convolution(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    axis: usize,
    direction: FourierDirection,
    scale: f64,
) -> TranslateResult<TypedTensor> {
    let n = t.static_sizes(op, tensor)?[axis];
    let length = convolution_length(2 * n - 1);
    let turns = (0..n).map(move |j| j * j % (2 * n));
    let chirp = make_unity_roots(t, tensor.element, &[n], 2 * n, direction, turns);
    let spectrum = chirp_spectrum(n, length, direction, scale);
    let spectrum = complex_constant(t, tensor.element, &[length], &spectrum);
    let result_shape = t.tensor_shape(tensor);
    let mut shape = result_shape.clone();
    shape[axis] = DimExtent::Static(length);
    let modulated = t.map_points(&shape, |t, s, point| {
        let mut c = ScalarBuilder::new(&mut s.body);
        let (size, last) = (c.body.intern_i64(n as i64), c.body.intern_i64(n as i64 - 1));
        let is_given = c.lt(point[axis], size);
        let at = c.apply_binary(Scalar::SMin, point[axis], last);
        let mut position = point.to_vec();
        position[axis] = at;
        let value = t.read_element(s, tensor, &position);
        let root = t.read_element(s, &chirp, &[at]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let value = c.multiply_values(&value, &root);
        let nothing = c.make_constant_value(tensor.element, 0.0);
        Ok(c.select_value(is_given, &value, &nothing))
    })?;
    let found = transform_scaled(t, op, &modulated, axis, FourierDirection::Forward, 1.0)?;
    let product = t.map_points(&shape, |t, s, point| {
        let value = t.read_element(s, &found, point);
        let by = t.read_element(s, &spectrum, &[point[axis]]);
        Ok(ScalarBuilder::new(&mut s.body).multiply_values(&value, &by))
    })?;
    let convolved = transform_scaled(t, op, &product, axis, FourierDirection::Inverse, 1.0)?;
    t.map_points(&result_shape, |t, s, point| {
        let value = t.read_element(s, &convolved, point);
        let root = t.read_element(s, &chirp, &[point[axis]]);
        Ok(ScalarBuilder::new(&mut s.body).multiply_values(&value, &root))
    })
}

/// The least length, not below a number, that is a power of two times 1, 3, 5 or 9.
fn convolution_length(least: u64) -> u64 {
    let lengths = [1, 3, 5, 9].map(|odd: u64| least.div_ceil(odd).next_power_of_two() * odd);
    lengths.into_iter().min().unwrap_or(least)
}

/// The transform of a chirp's conjugate, by which a convolution multiplies.
fn chirp_spectrum(n: u64, length: u64, direction: FourierDirection, scale: f64) -> Vec<[f64; 2]> {
    let mut chirp = vec![[0.0; 2]; length as usize];
    let scale = scale / length as f64;
    for j in 0..n {
        let [re, im] = direction.unity_root(j * j, 2 * n);
        let root = [re * scale, -im * scale];
        chirp[j as usize] = root;
        chirp[((length - j) % length) as usize] = root;
    }
    let roots = (0..length).map(|power| FourierDirection::Forward.unity_root(power, length));
    let roots: Vec<[f64; 2]> = roots.collect();
    transform_constants(&chirp, 1, &roots)
}

/// The forward transform of every `step`-th value; there are as many as roots of unity.
fn transform_constants(values: &[[f64; 2]], step: usize, roots: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let count = values.len().div_ceil(step);
    let Some(radix) = [2, 3, 5]
        .into_iter()
        .find(|radix| count.is_multiple_of(*radix))
    else {
        return values.iter().step_by(step).copied().collect();
    };
    let parts: Vec<Vec<[f64; 2]>> = (0..radix)
        .map(|part| transform_constants(&values[part * step..], step * radix, roots))
        .collect();
    let point = |k: usize| {
        let mut sum = [0.0; 2];
        for (part, values) in parts.iter().enumerate() {
            let [a, b] = values[k % (count / radix)];
            let [x, y] = roots[part * k % count * step];
            sum[0] += a * x - b * y;
            sum[1] += a * y + b * x;
        }
        sum
    };
    (0..count).map(point).collect()
}
