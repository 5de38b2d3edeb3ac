//! `fft`: discrete Fourier transforms, each length factored (Cooley and Tukey,
//! "An algorithm for the machine calculation of complex Fourier series", 1965).
//!
//! For `n = a b`, with `j = j1 b + j2` and `k = k1 + a k2`, a transform of length `a` over `j1`
//! times `w_n^(j2 k1)` is followed by one of length `b` over `j2`. Each is a product with a constant
//! matrix. The first one leaves `k1` after `j2`, so that `k2` gets its place before `k1` without a
//! permutation (T. G. Stockham, "High-speed convolution and correlation", 1966).

use super::element::TensorElement;
use super::error::TranslateResult;
use super::real_fourier::{transform_half, transform_real};
use super::scalar::ScalarBuilder;
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::FftType;
use crate::dialect::records::FftAttributes;
use crate::mlir::MlirOp;
use spirula_program::ScalarOp as Scalar;
use spirula_program::ScalarType as Ty;
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, StructuredOp, TensorConstant, TensorShape,
};

/// Maximum of the factors that are tried.
const RADIX: u64 = 8;
/// Maximum length of an unfactored transform whose matrix is a constant.
const MATRIX: u64 = 64;
/// Maximum prime length of a transform that is a product with a matrix; longer ones are
/// convolutions.
const DIRECT: u64 = 128;
/// Maximum length of a transform.
const LONGEST: u64 = 1 << 24;

/// `fft`
pub(super) fn translate_fft(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let FftAttributes {
        fft_type,
        fft_length,
    } = t.read_attributes(op)?;
    let lengths = fft_length.values;
    let (result, _) = t.result_type(op, 0)?;
    let rank = t.tensor_shape(&operand).len();
    let is_known = (1..=rank).contains(&lengths.len())
        && lengths.iter().all(|n| (0..=LONGEST as i64).contains(n));
    t.ensure_holds(op, is_known, "has wrong lengths")?;
    let float = match (
        operand.element.component_element(),
        result.component_element(),
    ) {
        (TensorElement::Float(float), TensorElement::Float(other)) if float == other => float,
        _ => return Err(t.unsupported_error(op, format!("fft of {}", operand.element))),
    };
    let first = rank - lengths.len();
    let last = rank - 1;
    let length = *lengths.last().unwrap_or(&1) as u64;
    let complex = TensorElement::Complex(float);
    let others: Vec<usize> = (first..last).rev().collect();
    let is_even = length > 0 && length.is_multiple_of(2);
    let result = match fft_type {
        FftType::InverseReal => {
            let mut tensor = operand;
            for axis in others {
                tensor = transform_dimension(t, op, &tensor, axis, FourierDirection::Inverse)?;
            }
            if is_even {
                let result = transform_half(t, op, &tensor, length)?;
                return t.bind_result(op, result);
            }
            tensor = mirror_conjugate_half(t, op, &tensor, length)?;
            let whole = transform_dimension(t, op, &tensor, last, FourierDirection::Inverse)?;
            TypedTensor::new(TensorElement::Float(float), whole.first_component())
        }
        _ => {
            let direction = match fft_type {
                FftType::Inverse => FourierDirection::Inverse,
                _ => FourierDirection::Forward,
            };
            let is_real = fft_type == FftType::Real;
            let mut tensor = if is_real && is_even {
                transform_real(t, op, &operand, complex, length)?
            } else {
                let tensor = t.convert_tensor(op, &operand, complex)?;
                transform_dimension(t, op, &tensor, last, direction)?
            };
            if is_real && !is_even {
                let mut shape = t.tensor_shape(&tensor);
                shape[last] = DimExtent::Static(if length == 0 { 0 } else { length / 2 + 1 });
                tensor = t.gather_elements(&tensor, &shape, |_, point| point.to_vec())?;
            }
            for axis in others {
                tensor = transform_dimension(t, op, &tensor, axis, direction)?;
            }
            tensor
        }
    };
    t.bind_result(op, result)
}

/// A tensor of conjugate symmetry and odd length, from its first half.
fn mirror_conjugate_half(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    length: u64,
) -> TranslateResult<TypedTensor> {
    let mut shape = t.tensor_shape(tensor);
    let last = shape.len() - 1;
    let half = if length == 0 { 0 } else { length / 2 + 1 };
    t.ensure_holds(
        op,
        shape[last] == DimExtent::Static(half),
        "has an operand of another length",
    )?;
    shape[last] = DimExtent::Static(length);
    t.map_points(&shape, |t, s, point| {
        let mut c = ScalarBuilder::new(&mut s.body);
        let (half, whole) = (
            c.body.intern_i64(half as i64),
            c.body.intern_i64(length as i64),
        );
        let is_given = c.lt(point[last], half);
        let other = c.sub(whole, point[last]);
        let mut position = point.to_vec();
        position[last] = c.select(is_given, point[last], other);
        let mut val = t.read_element(s, tensor, &position);
        let mut c = ScalarBuilder::new(&mut s.body);
        let negative = c.neg(val.nodes[1]);
        val.nodes[1] = c.select(is_given, val.nodes[1], negative);
        // The element that is its own mirror image is real.
        let (zero, nothing) = (
            c.body.intern_i64(0),
            c.integer_constant(tensor.element.storage_type(), 0),
        );
        let is_first = c.eq(point[last], zero);
        val.nodes[1] = c.select(is_first, nothing, val.nodes[1]);
        Ok(val)
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FourierDirection {
    Forward,
    Inverse,
}

/// A transform along a dimension.
pub(super) fn transform_dimension(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    axis: usize,
    direction: FourierDirection,
) -> TranslateResult<TypedTensor> {
    let shape = t.tensor_shape(tensor);
    let sizes = t.static_sizes(op, tensor)?;
    let n = sizes[axis];
    if n <= 1 || sizes.contains(&0) {
        return Ok(tensor.clone());
    }
    let outer: u64 = sizes[..axis].iter().product();
    let inner: u64 = sizes[axis + 1..].iter().product();
    let flat = [outer, n, inner]
        .map(DimExtent::Static)
        .into_iter()
        .collect();
    let flat = t.reshape_tensor(op, tensor, flat)?;
    let scale = match direction {
        FourierDirection::Forward => 1.0,
        FourierDirection::Inverse => 1.0 / n as f64,
    };
    let done = transform_stage(t, op, &flat, [outer, n, inner], direction, scale)?;
    t.reshape_tensor(op, &done, shape)
}

/// A transform along the middle one of three dimensions, times a factor.
fn transform_stage(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    [outer, n, inner]: [u64; 3],
    direction: FourierDirection,
    scale: f64,
) -> TranslateResult<TypedTensor> {
    let a = choose_factor(n);
    let b = n / a;
    let twiddle = (b > 1).then(|| make_twiddles(t, tensor.element, [a, b], direction));
    let lengths = [outer, a, b, inner];
    let scale_here = if b > 1 { 1.0 } else { scale };
    let done = if a > DIRECT {
        let shape = [outer, a, b * inner];
        let whole = t.reshape_tensor(op, tensor, static_shape(shape))?;
        let sums = transform_by_convolution(t, op, &whole, shape, direction, scale_here)?;
        match &twiddle {
            Some(twiddle) => multiply_by_twiddles(t, op, &sums, twiddle, lengths)?,
            None => sums,
        }
    } else {
        transform_by_matrix(
            t,
            op,
            tensor,
            twiddle.as_ref(),
            lengths,
            direction,
            scale_here,
        )?
    };
    let rest = [outer, b, a * inner];
    let mut done = t.reshape_tensor(op, &done, static_shape(rest))?;
    if b > 1 {
        done = transform_stage(t, op, &done, rest, direction, scale)?;
    }
    t.reshape_tensor(op, &done, static_shape([outer, n, inner]))
}

fn static_shape<const RANK: usize>(sizes: [u64; RANK]) -> TensorShape {
    sizes.map(DimExtent::Static).into_iter().collect()
}

/// Transforms of length `a` times roots of unity, with the dimension of length `b` before theirs.
fn multiply_by_twiddles(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    sums: &TypedTensor,
    twiddle: &TypedTensor,
    [outer, a, b, inner]: [u64; 4],
) -> TranslateResult<TypedTensor> {
    let sums = t.reshape_tensor(op, sums, static_shape([outer, a, b, inner]))?;
    t.map_points(&static_shape([outer, b, a, inner]), |t, s, point| {
        let value = t.read_element(s, &sums, &[point[0], point[2], point[1], point[3]]);
        let root = t.read_element(s, twiddle, &point[1..3]);
        Ok(ScalarBuilder::new(&mut s.body).multiply_values(&value, &root))
    })
}

/// Transforms of length `a` as products with a matrix, times roots of unity. The results have the dimension of length `b`
/// before theirs.
fn transform_by_matrix(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    twiddle: Option<&TypedTensor>,
    [outer, a, b, inner]: [u64; 4],
    direction: FourierDirection,
    scale: f64,
) -> TranslateResult<TypedTensor> {
    let matrix = make_transform_matrix(t, tensor.element, a, direction);
    let mut s = StructuredOp::with_parallel_axes(&[outer, b, a, inner].map(DimExtent::Static));
    let point = s.axis_indices();
    let [o, j2, k1, i] = [0, 1, 2, 3].map(|at| point[at]);
    let j1 = s.add_axis(DimExtent::Static(a), AxisKind::Reduction);
    let mut c = ScalarBuilder::new(&mut s.body);
    let (by, modulus) = (c.body.intern_i64(b as i64), c.body.intern_i64(a as i64));
    let j = c.mul(j1, by);
    let j = c.add(j, j2);
    let turn = c.mul(j1, k1);
    let turn = c.apply_binary(Scalar::SMod, turn, modulus);
    let element = t.read_element(&mut s, tensor, &[o, j, i]);
    let position = if a <= MATRIX {
        vec![j1, k1]
    } else {
        vec![turn]
    };
    let root = t.read_element(&mut s, &matrix, &position);
    let mut value = t.sum_of_products(op, &mut s, &element, &root, None, tensor.element)?;
    if let Some(twiddle) = twiddle {
        let root = t.read_element(&mut s, twiddle, &[j2, k1]);
        value = ScalarBuilder::new(&mut s.body).multiply_values(&value, &root);
    }
    if scale != 1.0 {
        let mut c = ScalarBuilder::new(&mut s.body);
        for node in &mut value.nodes {
            *node = c.mul_constant(*node, scale);
        }
    }
    Ok(t.finish_structured(s, &value))
}

/// Transforms of any length `n` along the middle dimension by a convolution (L. I. Bluestein, "A linear
/// filtering approach to the computation of discrete Fourier transform", 1970): as
/// j k = (j² + k² − (k − j)²) / 2, elements times a chirp are convolved with its conjugate.
fn transform_by_convolution(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    [outer, n, inner]: [u64; 3],
    direction: FourierDirection,
    scale: f64,
) -> TranslateResult<TypedTensor> {
    let length = convolution_length(2 * n - 1);
    let turns = (0..n).map(move |j| j * j % (2 * n));
    let chirp = make_unity_roots(t, tensor.element, &[n], 2 * n, direction, turns);
    let spectrum = chirp_spectrum(n, length, direction, scale);
    let spectrum = complex_constant(t, tensor.element, &[length], &spectrum);
    let shape: TensorShape = [outer, length, inner]
        .map(DimExtent::Static)
        .into_iter()
        .collect();
    let modulated = t.map_points(&shape, |t, s, point| {
        let mut c = ScalarBuilder::new(&mut s.body);
        let (zero, size) = (c.body.intern_i64(0), c.body.intern_i64(n as i64));
        let is_given = c.lt(point[1], size);
        let at = c.select(is_given, point[1], zero);
        let value = t.read_element(s, tensor, &[point[0], at, point[2]]);
        let root = t.read_element(s, &chirp, &[at]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let value = c.multiply_values(&value, &root);
        let nothing = c.make_constant_value(tensor.element, 0.0);
        Ok(c.select_value(is_given, &value, &nothing))
    })?;
    let lengths = [outer, length, inner];
    let found = transform_stage(t, op, &modulated, lengths, FourierDirection::Forward, 1.0)?;
    let product = t.map_points(&shape, |t, s, point| {
        let value = t.read_element(s, &found, point);
        let by = t.read_element(s, &spectrum, &point[1..2]);
        Ok(ScalarBuilder::new(&mut s.body).multiply_values(&value, &by))
    })?;
    let convolved = transform_stage(t, op, &product, lengths, FourierDirection::Inverse, 1.0)?;
    let shape: TensorShape = [outer, n, inner]
        .map(DimExtent::Static)
        .into_iter()
        .collect();
    t.map_points(&shape, |t, s, point| {
        let value = t.read_element(s, &convolved, point);
        let root = t.read_element(s, &chirp, &point[1..2]);
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
    let sign = match direction {
        FourierDirection::Forward => 1.0,
        FourierDirection::Inverse => -1.0,
    };
    let mut chirp = vec![[0.0; 2]; length as usize];
    let scale = scale / length as f64;
    for j in 0..n {
        let turns = (j * j % (2 * n)) as f64 / (2 * n) as f64;
        let root = [
            cos_of_turns(turns) * scale,
            sign * sin_of_turns(turns) * scale,
        ];
        chirp[j as usize] = root;
        chirp[((length - j) % length) as usize] = root;
    }
    let roots = (0..length).map(|turn| turn as f64 / length as f64);
    let roots: Vec<[f64; 2]> = roots
        .map(|turns| [cos_of_turns(turns), -sin_of_turns(turns)])
        .collect();
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

/// The factor that is transformed first: the largest up to [`RADIX`], or the least.
fn choose_factor(n: u64) -> u64 {
    let small = (2..=RADIX).rev().find(|a| n.is_multiple_of(*a));
    let large = || {
        (RADIX + 1..)
            .take_while(|a| a * a <= n)
            .find(|a| n.is_multiple_of(*a))
    };
    small.or_else(large).unwrap_or(n)
}

/// Roots of unity `w^turn` for `w = e^(∓2πi/n)`, as a constant.
pub(super) fn make_unity_roots(
    t: &mut StablehloTranslator<'_>,
    element: TensorElement,
    shape: &[u64],
    n: u64,
    direction: FourierDirection,
    turns: impl Iterator<Item = u64>,
) -> TypedTensor {
    let sign = match direction {
        FourierDirection::Forward => -1.0,
        FourierDirection::Inverse => 1.0,
    };
    let values = turns.map(|turn| {
        let turns = turn as f64 / n as f64;
        [cos_of_turns(turns), sign * sin_of_turns(turns)]
    });
    let values: Vec<[f64; 2]> = values.collect();
    complex_constant(t, element, shape, &values)
}

/// Complex numbers as a constant.
fn complex_constant(
    t: &mut StablehloTranslator<'_>,
    element: TensorElement,
    shape: &[u64],
    values: &[[f64; 2]],
) -> TypedTensor {
    let is_double = element.storage_type() == Ty::F64;
    let parts = [0, 1].map(|part| {
        let bytes = values.iter().flat_map(|value| {
            if is_double {
                value[part].to_le_bytes().to_vec()
            } else {
                (value[part] as f32).to_le_bytes().to_vec()
            }
        });
        let bytes = bytes.collect();
        t.builder.add_constant(TensorConstant {
            ty: DenseTensorType::new(element.storage_type(), shape),
            bytes,
        })
    });
    TypedTensor::from_components(element, &parts)
}

/// Sine of a number of turns from 0 to 1; exact at eighths.
fn sin_of_turns(turns: f64) -> f64 {
    match turns {
        _ if turns > 0.5 => -sin_of_turns(1.0 - turns),
        _ if turns > 0.25 => sin_of_turns(0.5 - turns),
        _ if turns > 0.125 => libm::cos((0.25 - turns) * std::f64::consts::TAU),
        _ => libm::sin(turns * std::f64::consts::TAU),
    }
}

fn cos_of_turns(turns: f64) -> f64 {
    let quarter = turns + 0.25;
    sin_of_turns(if quarter > 1.0 {
        quarter - 1.0
    } else {
        quarter
    })
}

/// `w_a^(j k)` as a matrix, or for long transforms the list of all `w_a^i`.
fn make_transform_matrix(
    t: &mut StablehloTranslator<'_>,
    element: TensorElement,
    a: u64,
    direction: FourierDirection,
) -> TypedTensor {
    if a > MATRIX {
        return make_unity_roots(t, element, &[a], a, direction, 0..a);
    }
    let turns = (0..a).flat_map(move |j| (0..a).map(move |k| j * k % a));
    make_unity_roots(t, element, &[a, a], a, direction, turns)
}

/// `w_n^(j2 k1)` for `n = a b`.
fn make_twiddles(
    t: &mut StablehloTranslator<'_>,
    element: TensorElement,
    [a, b]: [u64; 2],
    direction: FourierDirection,
) -> TypedTensor {
    let n = a * b;
    let turns = (0..b).flat_map(move |j| (0..a).map(move |k| k * j % n));
    make_unity_roots(t, element, &[b, a], n, direction, turns)
}
