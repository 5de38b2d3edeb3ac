//! Comparison of tensors with expected ones.

use super::super::TestOutcome;
use super::tensor::TestTensor;
use spirula_runtime::data::ElementNumber;
use spirula_stablehlo::translate::TensorElement;

/// Tolerance of elements. Integers must be equal. NaN equals NaN, and an infinity equals itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ElementTolerance {
    /// Largest difference of floats.
    Within(f64),
    /// Largest number of representable floats between the two.
    Steps(u64),
}

/// Compares two tensors. At most the share `mismatch` of the elements may differ. `title` is the name of the first.
pub fn compare_tensors(
    title: &str,
    got: &TestTensor,
    want: &TestTensor,
    rule: ElementTolerance,
    mismatch: f64,
) -> Result<(), TestOutcome> {
    let is_same = got.element == want.element && got.shape == want.shape;
    if !is_same || got.bytes.len() != want.bytes.len() {
        let (got, want) = (got.format_type(), want.format_type());
        return Err(TestOutcome::failed(format!(
            "{title}: {got}, expected {want}"
        )));
    }
    let (mut different, mut first, mut largest) = (0_usize, None, 0.0_f64);
    for (at, (g, w)) in got.numbers().zip(want.numbers()).enumerate() {
        if is_equal(g, w, rule, got.element) {
            continue;
        }
        different += 1;
        first.get_or_insert((at, g, w));
        let by = (g.to_f64() - w.to_f64()).abs();
        largest = if by.is_nan() { by } else { largest.max(by) };
    }
    let count = got.numbers().len();
    let Some((at, g, w)) = first.filter(|_| different as f64 > mismatch * count as f64) else {
        return Ok(());
    };
    let (g, w) = (format_number(g), format_number(w));
    Err(TestOutcome::failed(format!(
        "{title}: {different} of {count} numbers differ; first at {at}: got {g}, want {w}; largest \
         difference {largest:.3e}"
    )))
}

fn is_equal(
    got: ElementNumber,
    want: ElementNumber,
    rule: ElementTolerance,
    element: TensorElement,
) -> bool {
    let (g, w) = match (got, want) {
        (ElementNumber::Float(g), ElementNumber::Float(w)) => (g, w),
        _ => return got == want,
    };
    if g == w || (g.is_nan() && w.is_nan()) {
        return true;
    }
    let are_finite = g.is_finite() && w.is_finite();
    are_finite
        && match rule {
            ElementTolerance::Within(most) => (g - w).abs() <= most,
            ElementTolerance::Steps(most) => {
                let steps =
                    float_order_position(g, element).abs_diff(float_order_position(w, element));
                steps <= most.into()
            }
        }
}

/// Position of a float in the order of the floats of its format. Both zeros are at 0.
fn float_order_position(x: f64, element: TensorElement) -> i128 {
    let TensorElement::Float(float) = element.component_element() else {
        return 0;
    };
    let magnitude = i128::from(float.format().encode_value(x.abs()));
    if x < 0.0 { -magnitude } else { magnitude }
}

fn format_number(number: ElementNumber) -> String {
    match number {
        ElementNumber::Int(n) => n.to_string(),
        ElementNumber::Float(x) => format!("{x:?}"),
    }
}

/// Largest absolute value of the finite numbers.
pub fn largest_finite_magnitude(tensor: &TestTensor) -> f64 {
    let sizes = tensor.numbers().map(|n| n.to_f64().abs());
    sizes.filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// Mean of the elements and mean of their absolute values; `None` for complex numbers.
pub fn mean_and_magnitude(tensor: &TestTensor) -> Option<(f64, f64)> {
    if tensor.element.component_count() != 1 || tensor.element == TensorElement::Bool {
        return None;
    }
    let numbers = || tensor.numbers().map(ElementNumber::to_f64);
    let count = numbers().len() as f64;
    Some((
        numbers().sum::<f64>() / count,
        numbers().map(f64::abs).sum::<f64>() / count,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tensor::{element_named, encode_component};
    use super::*;

    fn make_tensor(name: &str, numbers: &[f64]) -> TestTensor {
        let element = element_named(name).unwrap();
        let mut bytes = Vec::new();
        for x in numbers {
            match element.component_element() {
                TensorElement::Float(_) => {
                    encode_component(element, ElementNumber::Float(*x), &mut bytes)
                }
                _ => encode_component(element, ElementNumber::Int(*x as i128), &mut bytes),
            }
        }
        TestTensor {
            element,
            shape: vec![numbers.len() / element.component_count()],
            bytes,
        }
    }

    fn tensors_agree(
        name: &str,
        got: &[f64],
        want: &[f64],
        rule: ElementTolerance,
        mismatch: f64,
    ) -> bool {
        let (got, want) = (make_tensor(name, got), make_tensor(name, want));
        compare_tensors("x", &got, &want, rule, mismatch).is_ok()
    }

    #[test]
    fn differences_within_and_beyond() {
        let near = ElementTolerance::Within(0.5);
        let within = |got: &[f64], want: &[f64]| tensors_agree("f32", got, want, near, 0.0);
        assert!(within(&[1.0, 2.0], &[1.5, 1.5]));
        assert!(!within(&[1.0, 2.0], &[1.75, 2.0]));
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert!(within(&[inf, nan], &[inf, nan]));
        assert!(!within(&[inf], &[1.0]));
        assert!(!within(&[inf], &[-inf]));
        assert!(!within(&[1.0], &[nan]));
        assert!(tensors_agree("f32", &[1.0, 9.0], &[1.0, 2.0], near, 0.5));
        assert!(!tensors_agree(
            "i32",
            &[1.0],
            &[2.0],
            ElementTolerance::Within(9.0),
            0.0
        ));
        assert!(!tensors_agree("c64", &[1.0, 1.0], &[1.0, 2.0], near, 0.0));
        assert!(tensors_agree("c64", &[1.0, 1.0], &[1.0, 2.0], near, 0.5));
    }

    #[test]
    fn steps_between_floats() {
        let at = |bits: u32| f64::from(f32::from_bits(bits));
        let one = 1.0_f32.to_bits();
        let steps = |got: f64, want: f64| {
            tensors_agree("f32", &[got], &[want], ElementTolerance::Steps(3), 0.0)
        };
        assert!(steps(at(one + 3), 1.0));
        assert!(steps(at(one - 3), 1.0));
        assert!(!steps(at(one + 4), 1.0));
        assert!(steps(-0.0, 0.0));
        assert!(steps(-at(1), at(2)));
        assert!(!steps(-at(2), at(2)));
        assert!(tensors_agree(
            "bf16",
            &[1.0],
            &[1.0234375],
            ElementTolerance::Steps(3),
            0.0
        ));
        assert!(!tensors_agree(
            "bf16",
            &[1.0],
            &[1.03125],
            ElementTolerance::Steps(3),
            0.0
        ));
    }

    #[test]
    fn differences_are_told() {
        let (got, want) = (
            make_tensor("c64", &[1.0, 2.0, 3.0, 4.0]),
            make_tensor("c64", &[1.0, 2.0, 3.5, 4.0]),
        );
        let told = compare_tensors("result 0", &got, &want, ElementTolerance::Within(0.0), 0.0)
            .unwrap_err();
        let text = "result 0: 1 of 4 numbers differ; first at 2: got 3.0, want 3.5; largest \
                    difference 5.000e-1";
        assert_eq!(told, TestOutcome::failed(text));
        assert_eq!(
            mean_and_magnitude(&make_tensor("i32", &[1.0, -3.0])),
            Some((-1.0, 2.0))
        );
        assert_eq!(
            largest_finite_magnitude(&make_tensor("f32", &[1.0, -3.0, f64::INFINITY])),
            3.0
        );
    }
}
