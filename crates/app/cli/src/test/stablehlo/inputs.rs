//! Random inputs by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).

use super::tensor::{TestTensor, component_byte_size, encode_component};
use spirula_runtime::data::ElementNumber;
use spirula_stablehlo::translate::TensorElement;

/// Specification of a random argument.
pub struct RandomTensorSpec {
    /// Type of its elements.
    pub element: TensorElement,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// Smallest value.
    pub low: ElementNumber,
    /// Exclusive upper bound.
    pub high: ElementNumber,
}

/// Size limit of an argument, in bytes.
const LARGEST: usize = 1 << 33;

/// Makes argument number `number` of a program with this seed; `None` where it exceeds the memory, or its range is
/// empty.
pub fn make_random_tensor(
    argument: &RandomTensorSpec,
    seed: u64,
    number: usize,
) -> Option<TestTensor> {
    let RandomTensorSpec { element, shape, .. } = argument;
    let mut sizes = shape.iter();
    let count = sizes.try_fold(1_usize, |count, size| count.checked_mul(*size))?;
    let count = count.checked_mul(element.component_count())?;
    let bytes = count.checked_mul(component_byte_size(*element))?;
    if bytes > LARGEST {
        return None;
    }
    let mut stream = SplitMixStream(seed ^ ((number as u64 + 1) << 40));
    let mut bytes = Vec::with_capacity(bytes);
    for _ in 0..count {
        encode_component(*element, number_of(argument, stream.next())?, &mut bytes);
    }
    Some(TestTensor {
        element: *element,
        shape: shape.clone(),
        bytes,
    })
}

/// The outputs of the generator.
struct SplitMixStream(u64);

impl SplitMixStream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.0;
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// An element, or a part of a complex element, from an output of the generator.
fn number_of(argument: &RandomTensorSpec, z: u64) -> Option<ElementNumber> {
    let coarse = (z >> 40) as f64 / f64::from(1 << 24);
    Some(match argument.element.component_element() {
        TensorElement::Float(float) => {
            let fine = (z >> 11) as f64 / (1_u64 << 53) as f64;
            let is_wide = float.width() == 64;
            let u = if is_wide { fine } else { coarse };
            let (low, high) = (argument.low.to_f64(), argument.high.to_f64());
            ElementNumber::Float(low + (high - low) * u)
        }
        TensorElement::Bool => ElementNumber::Int((coarse >= 0.5).into()),
        _ => {
            let (low, high) = (argument.low.to_int(), argument.high.to_int());
            let range = high.checked_sub(low).filter(|range| *range > 0)?;
            ElementNumber::Int(low + i128::from(z >> 11) % range)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_the_generator() {
        // The first three of the stream with state 1234567, as published.
        let mut stream = SplitMixStream(1_234_567);
        let first = [(); 3].map(|()| stream.next());
        let known = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, known);
    }

    #[test]
    fn what_cannot_be_made() {
        let argument = |shape, high| RandomTensorSpec {
            element: TensorElement::I32,
            shape,
            low: ElementNumber::Int(0),
            high: ElementNumber::Int(high),
        };
        assert!(make_random_tensor(&argument(vec![2], 1), 0, 0).is_some());
        assert!(make_random_tensor(&argument(vec![2], 0), 0, 0).is_none());
        assert!(make_random_tensor(&argument(vec![usize::MAX, 2], 1), 0, 0).is_none());
    }
}
