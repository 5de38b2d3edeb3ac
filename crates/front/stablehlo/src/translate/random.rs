//! `rng_bit_generator`: the counter-based generators of J. Salmon et al., "Parallel random numbers:
//! as easy as 1, 2, 3" (2011): Threefry of two and Philox of four words of 32 bits.
//!
//! StableHLO leaves open which counter yields which element; here the order is XLA's. The state is
//! a key of 64 bits and a counter of 64 or 128.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::RngAlgorithm;
use crate::dialect::records::RngBitGeneratorAttributes;
use crate::mlir::MlirOp;
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{ScalarNode, StructuredOp, TensorShape};

/// A key or a counter, the low word first.
type RandomWords = [ScalarNode; 2];

const THREEFRY_PARITY: u64 = 0x1BD1_1BDA;
const THREEFRY_ROTATIONS: [[u64; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
const PHILOX_FACTORS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const PHILOX_WEYL: [u64; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// `rng_bit_generator`
pub(super) fn rng_bit_generator(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let state = t.tensor_operand(op, 0)?;
    let (state_element, state_shape) = t.result_type(op, 0)?;
    let (element, shape) = t.result_type(op, 1)?;
    let words = t.static_sizes(op, &state)?;
    let RngBitGeneratorAttributes { rng_algorithm } = t.read_attributes(op)?;
    let is_threefry = rng_algorithm == RngAlgorithm::ThreeFry;
    let fits = state.element.storage_type() == Ty::I64
        && (words == [2] || (words == [3] && !is_threefry))
        && state_element == state.element
        && t.tensor_shape(&state) == state_shape;
    t.ensure_holds(op, fits, "has a wrong state")?;
    let TensorElement::Int { width, .. } = element else {
        return Err(t.unsupported_error(op, format!("random bits of {element}")));
    };
    let sizes: Option<Vec<u64>> = shape.iter().map(|dim| dim.as_static()).collect();
    let sizes = sizes.ok_or_else(|| t.dynamic_dimension_error(op))?;
    let bits = if is_threefry {
        threefry_elements(t, op, &state, &sizes, &shape, width)
    } else {
        philox_elements(t, op, &state, &sizes, &shape, width)
    };
    let bits = bits?;
    let count: u64 = sizes.iter().product();
    let steps = match (is_threefry, width) {
        (true, 64) => count,
        (true, 32) => {
            let split = split_dimension(&sizes);
            let halves = sizes.iter().enumerate();
            let half =
                |(at, size): (usize, &u64)| if at == split { size.div_ceil(2) } else { *size };
            halves.map(half).product()
        }
        (true, _) => count.div_ceil(2),
        (false, 64) => count.div_ceil(2),
        (false, _) => count.div_ceil(4),
    };
    let next = advance_state(t, &state, &state_shape, words[0], steps)?;
    t.bind_results(op, vec![next, bits])
}

/// The state with its counter advanced past the values that were used.
fn advance_state(
    t: &mut StablehloTranslator<'_>,
    state: &TypedTensor,
    shape: &TensorShape,
    words: u64,
    steps: u64,
) -> TranslateResult<TypedTensor> {
    t.map_points(shape, |t, s, point| {
        let own = t.read_element(s, state, point);
        let one = s.body.intern_i64(1);
        let low = t.read_element(s, state, &[one]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let sum = c.apply_with_constant(Scalar::Add, own.node(), steps);
        let is_low = c.eq(point[0], one);
        let mut value = c.select(is_low, sum, own.node());
        if words == 3 {
            let total = c.apply_with_constant(Scalar::Add, low, steps);
            let carries = c.apply_binary(Scalar::ULt, total, low);
            let carry = c.body.apply_conversion(Scalar::FromBool, Ty::I64, carries);
            let high = c.add(own.node(), carry);
            let two = c.body.intern_i64(2);
            let is_high = c.eq(point[0], two);
            value = c.select(is_high, high, value);
        }
        Ok(ElementValue::new(state.element, value))
    })
}

fn read_state_word(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    state: &TypedTensor,
    at: i64,
) -> ScalarNode {
    let at = s.body.intern_i64(at);
    t.read_element(s, state, &[at]).node()
}

fn split_words(c: &mut ScalarBuilder<'_>, value: ScalarNode) -> RandomWords {
    let high = c.apply_with_constant(Scalar::LShr, value, 32);
    [
        c.resize_integer(Ty::I32, false, value),
        c.resize_integer(Ty::I32, false, high),
    ]
}

fn join_words(c: &mut ScalarBuilder<'_>, [low, high]: RandomWords) -> ScalarNode {
    let (low, high) = (
        c.resize_integer(Ty::I64, false, low),
        c.resize_integer(Ty::I64, false, high),
    );
    let high = c.apply_with_constant(Scalar::Shl, high, 32);
    c.apply_binary(Scalar::Or, high, low)
}

/// The number of a point in row-major order.
fn flatten_index(c: &mut ScalarBuilder<'_>, point: &[ScalarNode], sizes: &[u64]) -> ScalarNode {
    let mut sum = c.body.intern_i64(0);
    for (index, size) in point.iter().zip(sizes) {
        let size = c.body.intern_i64(*size as i64);
        sum = c.mul(sum, size);
        sum = c.add(sum, *index);
    }
    sum
}

/// The dimension along which both words of a block are stored: the first even one, or the largest.
fn split_dimension(sizes: &[u64]) -> usize {
    let even = sizes.iter().position(|size| size.is_multiple_of(2));
    let largest = || {
        let all = sizes.iter().enumerate();
        let best = all.rev().max_by_key(|(_, size)| **size);
        best.map_or(0, |(at, _)| at)
    };
    even.unwrap_or_else(largest)
}

/// An element of the result's type from 32 bits.
fn element_from_bits(
    c: &mut ScalarBuilder<'_>,
    element: TensorElement,
    bits: ScalarNode,
) -> ElementValue {
    let resized = c.resize_integer(element.storage_type(), false, bits);
    ElementValue::new(element, c.wrap_integer(element, resized))
}

fn threefry_elements(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    state: &TypedTensor,
    sizes: &[u64],
    shape: &TensorShape,
    width: u32,
) -> TranslateResult<TypedTensor> {
    let (element, _) = t.result_type(op, 1)?;
    let split = split_dimension(sizes);
    t.map_points(shape, |t, s, point| {
        let (key, start) = (
            read_state_word(t, s, state, 0),
            read_state_word(t, s, state, 1),
        );
        let mut c = ScalarBuilder::new(&mut s.body);
        let mut position = point.to_vec();
        let mut counts = sizes.to_vec();
        let mut side = c.body.intern_i64(0);
        if let (true, Some(index)) = (width < 64, position.get_mut(split)) {
            let two = c.body.intern_i64(2);
            side = c.apply_binary(Scalar::SMod, *index, two);
            *index = c.apply_binary(Scalar::SDiv, *index, two);
            counts[split] = counts[split].div_ceil(2);
        }
        let number = flatten_index(&mut c, &position, &counts);
        let counter = c.add(start, number);
        let (key, counter) = (split_words(&mut c, key), split_words(&mut c, counter));
        let words = apply_threefry(&mut c, key, counter);
        if width == 64 {
            return Ok(ElementValue::new(element, join_words(&mut c, words)));
        }
        let zero = c.body.intern_i64(0);
        let is_first = c.eq(side, zero);
        let bits = c.select(is_first, words[0], words[1]);
        Ok(element_from_bits(&mut c, element, bits))
    })
}

/// Twenty rounds.
fn apply_threefry(
    c: &mut ScalarBuilder<'_>,
    key: RandomWords,
    counter: RandomWords,
) -> RandomWords {
    let third = c.apply_binary(Scalar::Xor, key[0], key[1]);
    let third = c.apply_with_constant(Scalar::Xor, third, THREEFRY_PARITY);
    let keys = [key[0], key[1], third];
    let [mut a, mut b] = [c.add(counter[0], keys[0]), c.add(counter[1], keys[1])];
    for group in 0..5 {
        for rotation in THREEFRY_ROTATIONS[group % 2] {
            a = c.add(a, b);
            let (up, down) = (
                c.apply_with_constant(Scalar::Shl, b, rotation),
                c.apply_with_constant(Scalar::LShr, b, 32 - rotation),
            );
            b = c.apply_binary(Scalar::Or, up, down);
            b = c.apply_binary(Scalar::Xor, b, a);
        }
        a = c.add(a, keys[(group + 1) % 3]);
        b = c.add(b, keys[(group + 2) % 3]);
        b = c.apply_with_constant(Scalar::Add, b, group as u64 + 1);
    }
    [a, b]
}

fn philox_elements(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    state: &TypedTensor,
    sizes: &[u64],
    shape: &TensorShape,
    width: u32,
) -> TranslateResult<TypedTensor> {
    let (element, _) = t.result_type(op, 1)?;
    let words = t.static_sizes(op, state)?[0];
    t.map_points(shape, |t, s, point| {
        let (key, low) = (
            read_state_word(t, s, state, 0),
            read_state_word(t, s, state, 1),
        );
        let high = if words == 3 {
            read_state_word(t, s, state, 2)
        } else {
            key
        };
        let mut c = ScalarBuilder::new(&mut s.body);
        let number = flatten_index(&mut c, point, sizes);
        let per_block = c.body.intern_i64(if width == 64 { 2 } else { 4 });
        let block = c.apply_binary(Scalar::SDiv, number, per_block);
        let within = c.apply_binary(Scalar::SMod, number, per_block);
        let counter = c.add(low, block);
        let carries = c.apply_binary(Scalar::ULt, counter, low);
        let carry = c.body.apply_conversion(Scalar::FromBool, Ty::I64, carries);
        let high = c.add(high, carry);
        let (low, high) = (split_words(&mut c, counter), split_words(&mut c, high));
        let key = split_words(&mut c, key);
        let block = apply_philox(&mut c, key, [low[0], low[1], high[0], high[1]]);
        let pick = |c: &mut ScalarBuilder<'_>, values: &[ScalarNode]| {
            let mut chosen = values[0];
            for (at, value) in values.iter().enumerate().skip(1) {
                let number = c.body.intern_i64(at as i64);
                let is_it = c.eq(within, number);
                chosen = c.select(is_it, *value, chosen);
            }
            chosen
        };
        if width == 64 {
            let pairs = [
                join_words(&mut c, [block[0], block[1]]),
                join_words(&mut c, [block[2], block[3]]),
            ];
            return Ok(ElementValue::new(element, pick(&mut c, &pairs)));
        }
        let bits = pick(&mut c, &block);
        Ok(element_from_bits(&mut c, element, bits))
    })
}

/// Ten rounds.
fn apply_philox(
    c: &mut ScalarBuilder<'_>,
    mut key: RandomWords,
    mut counter: [ScalarNode; 4],
) -> [ScalarNode; 4] {
    for _ in 0..10 {
        let high = |c: &mut ScalarBuilder<'_>, at: usize| {
            let factor = c.integer_constant(Ty::I32, PHILOX_FACTORS[at]);
            c.apply_binary(Scalar::UMulHi, counter[2 * at], factor)
        };
        let (first, second) = (high(c, 0), high(c, 1));
        let (low_first, low_second) = (
            c.apply_with_constant(Scalar::Mul, counter[0], PHILOX_FACTORS[0]),
            c.apply_with_constant(Scalar::Mul, counter[2], PHILOX_FACTORS[1]),
        );
        let a = c.apply_binary(Scalar::Xor, second, counter[1]);
        let a = c.apply_binary(Scalar::Xor, a, key[0]);
        let b = c.apply_binary(Scalar::Xor, first, counter[3]);
        let b = c.apply_binary(Scalar::Xor, b, key[1]);
        counter = [a, low_second, b, low_first];
        key = [
            c.apply_with_constant(Scalar::Add, key[0], PHILOX_WEYL[0]),
            c.apply_with_constant(Scalar::Add, key[1], PHILOX_WEYL[1]),
        ];
    }
    counter
}
