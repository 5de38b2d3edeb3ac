//! Generated contents: constants, ramps, and random numbers that are the same on every platform.
//!
//! Random element `i` depends on the seed and `i` alone: it is output `seed * 2^32 + i + 1` of
//! SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).

use super::array::measure_shape;
use super::{ArrayTypeDisplay, DataError, ElementNumber, ElementType};

/// Rules for the elements of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum BufferFill {
    /// All bits 0.
    Zeros,
    /// The same number in every element.
    Value(ElementNumber),
    /// `start + step * i`, computed exactly for integers and in double for floats.
    Ramp {
        /// Element 0.
        start: ElementNumber,
        /// Difference between neighbours.
        step: ElementNumber,
    },
    /// These, then zeros.
    List(Vec<ElementNumber>),
    /// These bytes, then zeros.
    Bytes(Vec<u8>),
    /// These bytes, again and again.
    Repeat(Vec<u8>),
    /// Every bit random: integers are the top bits of the generator's output.
    Bits {
        /// Seed of the generator.
        seed: u64,
    },
    /// Random integers, also as floats.
    Integers {
        /// Smallest.
        low: i64,
        /// One more than the largest.
        high: i64,
        /// Seed of the generator.
        seed: u64,
        /// Processing of the numbers.
        order: RandomOrder,
    },
    /// Random floats, evenly spread.
    Reals {
        /// Smallest.
        low: f64,
        /// Bound above.
        high: f64,
        /// Seed of the generator.
        seed: u64,
        /// For a square matrix with this number of rows: the number that is added to its diagonal.
        diagonal: Option<(u64, f64)>,
    },
}

/// Processing of random integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomOrder {
    /// Nothing.
    AsDrawn,
    /// They are sorted, smallest first.
    Sorted,
    /// Each element is the sum of the numbers drawn for those before it.
    Summed,
}

/// Output `i` of the generator with a seed.
pub fn random_bits(seed: u64, i: u64) -> u64 {
    let x = (seed << 32).wrapping_add(i).wrapping_add(1);
    let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn random_int(low: i64, high: i64, seed: u64, i: u64) -> i128 {
    let span = i128::from(high) - i128::from(low);
    i128::from(low) + ((i128::from(random_bits(seed, i) >> 32) * span) >> 32)
}

/// Generates `count` elements.
///
/// # Errors
/// When there is no memory for them, or the rule gives more elements than there are.
pub fn generate_elements(
    element: ElementType,
    count: usize,
    fill: &BufferFill,
) -> Result<Vec<u8>, DataError> {
    let (_, size) = measure_shape(element, &[count]).ok_or_else(|| too_large(element, count))?;
    let mut out = Vec::new();
    out.try_reserve_exact(size)
        .map_err(|_| too_large(element, count))?;
    match fill {
        BufferFill::Zeros => {}
        BufferFill::Value(v) => append_each(element, count, &mut out, |_| *v),
        BufferFill::Ramp { start, step } => append_each(element, count, &mut out, |i| {
            evaluate_ramp(*start, *step, i)
        }),
        BufferFill::List(list) => {
            check_length(list.len(), element, count)?;
            append_each(element, list.len(), &mut out, |i| list[i as usize]);
        }
        BufferFill::Bytes(bytes) => {
            check_length(bytes.len().div_ceil(element.size()), element, count)?;
            out.extend_from_slice(bytes);
        }
        BufferFill::Repeat(bytes) => out.extend(bytes.iter().cycle().take(size)),
        BufferFill::Bits { seed } => {
            let shift = 64 - element.size() as u32 * 8;
            for i in 0..count as u64 {
                let bits = random_bits(*seed, i) >> shift;
                let bits = if element == ElementType::Bool {
                    bits & 1
                } else {
                    bits
                };
                out.extend_from_slice(&bits.to_le_bytes()[..element.size()]);
            }
        }
        BufferFill::Integers {
            low,
            high,
            seed,
            order,
        } => append_integers(element, count, &mut out, *order, |i| {
            random_int(*low, *high, *seed, i)
        }),
        BufferFill::Reals {
            low,
            high,
            seed,
            diagonal,
        } => {
            let steep = element == ElementType::F64;
            append_each(element, count, &mut out, |i| {
                let z = random_bits(*seed, i);
                let u = if steep {
                    (z >> 11) as f64 * 2.0_f64.powi(-53)
                } else {
                    (z >> 40) as f64 * 2.0_f64.powi(-24)
                };
                let x = low + (high - low) * u;
                match diagonal {
                    Some((rows, a)) if on_diagonal(i, *rows) => ElementNumber::Float(x + a),
                    _ => ElementNumber::Float(x),
                }
            });
        }
    }
    out.resize(size, 0);
    Ok(out)
}

fn append_each(
    element: ElementType,
    count: usize,
    out: &mut Vec<u8>,
    f: impl Fn(u64) -> ElementNumber,
) {
    for i in 0..count as u64 {
        element.encode_number(f(i), out);
    }
}

fn evaluate_ramp(start: ElementNumber, step: ElementNumber, i: u64) -> ElementNumber {
    match (start, step) {
        (ElementNumber::Int(a), ElementNumber::Int(b)) => {
            ElementNumber::Int(a.wrapping_add(b.wrapping_mul(i128::from(i))))
        }
        _ => ElementNumber::Float(start.to_f64() + step.to_f64() * i as f64),
    }
}

fn append_integers(
    element: ElementType,
    count: usize,
    out: &mut Vec<u8>,
    order: RandomOrder,
    draw: impl Fn(u64) -> i128,
) {
    match order {
        RandomOrder::AsDrawn => append_each(element, count, out, |i| ElementNumber::Int(draw(i))),
        RandomOrder::Sorted => {
            let mut all: Vec<i128> = (0..count as u64).map(draw).collect();
            all.sort_unstable();
            append_each(element, count, out, |i| ElementNumber::Int(all[i as usize]));
        }
        RandomOrder::Summed => {
            let mut sum = 0_i128;
            for i in 0..count as u64 {
                element.encode_number(ElementNumber::Int(sum), out);
                sum = sum.wrapping_add(draw(i));
            }
        }
    }
}

fn on_diagonal(i: u64, rows: u64) -> bool {
    rows > 0 && i / rows == i % rows && i / rows < rows
}

fn check_length(given: usize, element: ElementType, count: usize) -> Result<(), DataError> {
    if given > count {
        let shape = ArrayTypeDisplay(&[count], element).to_string();
        return Err(DataError::Surplus { shape, given });
    }
    Ok(())
}

fn too_large(element: ElementType, count: usize) -> DataError {
    DataError::Memory(ArrayTypeDisplay(&[count], element).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_real_fill(low: f64, high: f64) -> BufferFill {
        BufferFill::Reals {
            low,
            high,
            seed: 1,
            diagonal: None,
        }
    }

    #[test]
    fn published_outputs() {
        assert_eq!(random_bits(1, 0), 0x4609_3cf9_861e_c2e4);
        assert_eq!(random_bits(1, 1), 0xe7ff_814e_1d99_a40b);
        let bytes = generate_elements(ElementType::F32, 3, &build_real_fill(-1.0, 1.0)).unwrap();
        assert_eq!(
            bytes,
            [
                0x10, 0xdb, 0xe7, 0xbe, 0x02, 0xff, 0x4f, 0x3f, 0x98, 0x6d, 0x4f, 0x3e
            ]
        );
        let drawn: Vec<_> = (0..3).map(|i| random_int(-10, 10, 1, i)).collect();
        assert_eq!(drawn, [-5, 8, 2]);
    }

    #[test]
    fn integers_wrap_and_lists_end_in_zeros() {
        let ramp = BufferFill::Ramp {
            start: ElementNumber::Int(254),
            step: ElementNumber::Int(1),
        };
        assert_eq!(
            generate_elements(ElementType::U8, 4, &ramp).unwrap(),
            [254, 255, 0, 1]
        );
        let list = BufferFill::List(vec![ElementNumber::Int(-1)]);
        assert_eq!(
            generate_elements(ElementType::I16, 2, &list).unwrap(),
            [255, 255, 0, 0]
        );
        assert!(generate_elements(ElementType::I16, 0, &list).is_err());
    }

    #[test]
    fn diagonals_are_raised() {
        let fill = BufferFill::Reals {
            low: 0.0,
            high: 0.0,
            seed: 1,
            diagonal: Some((2, 5.0)),
        };
        let bytes = generate_elements(ElementType::F64, 6, &fill).unwrap();
        let values: Vec<_> = bytes
            .chunks(8)
            .map(|c| ElementType::F64.decode_number(c).to_f64())
            .collect();
        assert_eq!(values, [5.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
    }

    #[test]
    fn sizes_beyond_memory_are_an_error() {
        let error =
            generate_elements(ElementType::F64, usize::MAX / 8, &BufferFill::Zeros).unwrap_err();
        assert!(matches!(error, DataError::Memory(_)));
    }
}
