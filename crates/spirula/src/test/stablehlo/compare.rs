//! Comparing tensors with what is expected of them.

use super::super::Outcome;
use super::tensor::Tensor;
use spirula_runtime::data::{Class, Number};

/// When two elements count as equal. NaN equals NaN, an infinity itself; integers are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Floats differ by no more than this.
    Within(f64),
    /// No more floats of their format lie between them than this.
    Steps(u64),
}

/// Compares two tensors; at most the share `mismatch` of the elements may differ. `title` is what
/// the first is called.
pub fn compare(
    title: &str,
    got: &Tensor,
    want: &Tensor,
    rule: Rule,
    mismatch: f64,
) -> Result<(), Outcome> {
    if got.dtype != want.dtype || got.shape != want.shape {
        let (got, want) = (got.title(), want.title());
        return Err(Outcome::failed(format!("{title}: {got}, expected {want}")));
    }
    let (mut different, mut first, mut largest) = (0_usize, None, 0.0_f64);
    let mut count = 0;
    for part in 0..got.parts.len() {
        let (found, wanted) = (got.numbers(part), want.numbers(part));
        if found.len() != wanted.len() {
            return Err(Outcome::failed(format!("{title} has another size")));
        }
        count += found.len();
        for (at, (g, w)) in found.zip(wanted).enumerate() {
            if is_equal(g, w, rule, got) {
                continue;
            }
            different += 1;
            first.get_or_insert((part, at, g, w));
            let by = (g.to_f64() - w.to_f64()).abs();
            largest = if by.is_nan() { by } else { largest.max(by) };
        }
    }
    let Some((part, at, g, w)) = first.filter(|_| different as f64 > mismatch * count as f64)
    else {
        return Ok(());
    };
    let part = match (got.parts.len(), part) {
        (1, _) => "",
        (_, 0) => " (real part)",
        _ => " (imaginary part)",
    };
    let (g, w) = (text(g), text(w));
    Err(Outcome::failed(format!(
        "{title}: {different} of {count} elements differ; first at {at}{part}: got {g}, want {w}; \
         largest difference {largest:.3e}"
    )))
}

fn is_equal(got: Number, want: Number, rule: Rule, tensor: &Tensor) -> bool {
    let (g, w) = match (got, want) {
        (Number::Float(g), Number::Float(w)) => (g, w),
        _ => return got == want,
    };
    if g == w || (g.is_nan() && w.is_nan()) {
        return true;
    }
    if !g.is_finite() || !w.is_finite() {
        return false;
    }
    match rule {
        Rule::Within(most) => (g - w).abs() <= most,
        Rule::Steps(most) => {
            let steps = place(g, tensor).abs_diff(place(w, tensor));
            steps <= u128::from(most)
        }
    }
}

/// Where a float stands in the order of those of its format; both zeros stand at 0.
fn place(x: f64, tensor: &Tensor) -> i128 {
    let mut bytes = Vec::new();
    tensor.dtype.encode(Number::Float(x.abs()), &mut bytes);
    bytes.resize(16, 0);
    let magnitude = bytes.first_chunk().map_or(0, |b| i128::from_le_bytes(*b));
    if x < 0.0 { -magnitude } else { magnitude }
}

fn text(number: Number) -> String {
    match number {
        Number::Int(n) => n.to_string(),
        Number::Float(x) => format!("{x:?}"),
    }
}

/// Largest absolute value of the finite elements.
pub fn largest(tensor: &Tensor) -> f64 {
    let parts = 0..tensor.parts.len();
    let all = parts.flat_map(|part| tensor.numbers(part));
    let sizes = all.map(|n| n.to_f64().abs()).filter(|x| x.is_finite());
    sizes.fold(0.0, f64::max)
}

/// Mean of the elements, and that of their absolute values; none of complex numbers.
pub fn means(tensor: &Tensor) -> Option<(f64, f64)> {
    if tensor.parts.len() != 1 || tensor.dtype.class() == Class::Bool {
        return None;
    }
    let numbers = || tensor.numbers(0).map(Number::to_f64);
    let count = numbers().len() as f64;
    Some((
        numbers().sum::<f64>() / count,
        numbers().map(f64::abs).sum::<f64>() / count,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tensor::DType;
    use super::*;

    fn tensor(name: &str, numbers: &[f64]) -> Tensor {
        let dtype = DType::by_name(name).unwrap();
        let mut bytes = Vec::new();
        for x in numbers {
            match dtype.is_float() {
                true => dtype.encode(Number::Float(*x), &mut bytes),
                false => dtype.encode(Number::Int(*x as i128), &mut bytes),
            }
        }
        let parts = bytes.chunks(bytes.len() / dtype.parts());
        Tensor {
            dtype,
            shape: vec![numbers.len() / dtype.parts()],
            parts: parts.map(<[u8]>::to_vec).collect(),
        }
    }

    fn agree(name: &str, got: &[f64], want: &[f64], rule: Rule, mismatch: f64) -> bool {
        compare("x", &tensor(name, got), &tensor(name, want), rule, mismatch).is_ok()
    }

    #[test]
    fn differences_within_and_beyond() {
        let within = |got: &[f64], want: &[f64]| agree("f32", got, want, Rule::Within(0.5), 0.0);
        assert!(within(&[1.0, 2.0], &[1.5, 1.5]));
        assert!(!within(&[1.0, 2.0], &[1.75, 2.0]));
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert!(within(&[inf, nan], &[inf, nan]));
        assert!(!within(&[inf], &[1.0]));
        assert!(!within(&[inf], &[-inf]));
        assert!(!within(&[1.0], &[nan]));
        assert!(agree(
            "f32",
            &[1.0, 9.0],
            &[1.0, 2.0],
            Rule::Within(0.5),
            0.5
        ));
        assert!(!agree("i32", &[1.0], &[2.0], Rule::Within(9.0), 0.0));
        assert!(!agree(
            "c64",
            &[1.0, 1.0],
            &[1.0, 2.0],
            Rule::Within(0.5),
            0.0
        ));
        assert!(agree(
            "c64",
            &[1.0, 1.0],
            &[1.0, 2.0],
            Rule::Within(0.5),
            0.5
        ));
    }

    #[test]
    fn steps_between_floats() {
        let next =
            |x: f32, steps: i32| f64::from(f32::from_bits((x.to_bits() as i32 + steps) as u32));
        let steps = |got: f64, want: f64| agree("f32", &[got], &[want], Rule::Steps(3), 0.0);
        assert!(steps(next(1.0, 3), 1.0));
        assert!(steps(next(1.0, -3), 1.0));
        assert!(!steps(next(1.0, 4), 1.0));
        assert!(steps(-0.0, 0.0));
        assert!(steps(
            f64::from(-f32::from_bits(1)),
            f64::from(f32::from_bits(2))
        ));
        assert!(!steps(
            f64::from(-f32::from_bits(2)),
            f64::from(f32::from_bits(2))
        ));
        assert!(agree("bf16", &[1.0], &[1.0234375], Rule::Steps(3), 0.0));
    }

    #[test]
    fn differences_are_told() {
        let (got, want) = (
            tensor("c64", &[1.0, 2.0, 3.0, 4.0]),
            tensor("c64", &[1.0, 2.0, 3.5, 4.0]),
        );
        let told = compare("result 0", &got, &want, Rule::Within(0.0), 0.0).unwrap_err();
        let text = "result 0: 1 of 4 elements differ; first at 0 (imaginary part): got 3.0, want \
                    3.5; largest difference 5.000e-1";
        assert_eq!(told, Outcome::failed(text));
        assert_eq!(means(&tensor("i32", &[1.0, -3.0])), Some((-1.0, 2.0)));
        assert_eq!(largest(&tensor("f32", &[1.0, -3.0, f64::INFINITY])), 3.0);
    }
}
