//! `rng_bit_generator`: the counter-based generators of J. Salmon et al., "Parallel random numbers:
//! as easy as 1, 2, 3" (2011): Threefry of two and Philox of four words of 32 bits.
//!
//! Which counter gives which element is left open by StableHLO; here it is as XLA has it. The state
//! is a key of 64 bits and a counter of 64 or 128.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
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
    let state = t.operand(op, 0)?;
    let (state_element, state_shape) = t.result_type(op, 0)?;
    let (element, shape) = t.result_type(op, 1)?;
    let words = t.sizes(op, &state)?;
    let algorithm = t.module.keyword(op, "rng_algorithm").unwrap_or("DEFAULT");
    let is_threefry = algorithm == "THREE_FRY";
    let fits = state.element.storage() == Ty::I64
        && (words == [2] || (words == [3] && !is_threefry))
        && state_element == state.element
        && t.shape(&state) == state_shape;
    t.ensure(op, fits, "has a wrong state")?;
    let TensorElement::Int { width, .. } = element else {
        return Err(t.unsupported(op, format!("random bits of {element}")));
    };
    let sizes: Option<Vec<u64>> = shape.iter().map(|dim| dim.known()).collect();
    let sizes = sizes.ok_or_else(|| t.dynamic(op))?;
    let bits = match is_threefry {
        true => threefry_elements(t, op, (&state, &sizes), &shape, width),
        false => philox_elements(t, op, (&state, &sizes), &shape, width),
    };
    let bits = bits?;
    let count: u64 = sizes.iter().product();
    let steps = match (is_threefry, width) {
        (true, 64) => count,
        (true, 32) => {
            let split = split_dimension(&sizes);
            let halves = sizes.iter().enumerate();
            let half = |(at, size): (usize, &u64)| match at == split {
                true => size.div_ceil(2),
                false => *size,
            };
            halves.map(half).product()
        }
        (true, _) => count.div_ceil(2),
        (false, 64) => count.div_ceil(2),
        (false, _) => count.div_ceil(4),
    };
    let next = advanced(t, &state, &state_shape, words[0], steps)?;
    t.give(op, vec![next, bits])
}

/// The state with its counter behind what was used.
fn advanced(
    t: &mut StablehloTranslator<'_>,
    state: &TypedTensor,
    shape: &TensorShape,
    words: u64,
    steps: u64,
) -> TranslateResult<TypedTensor> {
    t.map(shape, |t, s, point| {
        let own = t.read(s, state, point);
        let one = s.body.i64(1);
        let low = t.read(s, state, &[one]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let sum = c.with(Scalar::Add, own.node(), steps);
        let is_low = c.eq(point[0], one);
        let mut value = c.cond(is_low, sum, own.node());
        if words == 3 {
            let total = c.with(Scalar::Add, low, steps);
            let carries = c.op2(Scalar::ULt, total, low);
            let carry = c.body.convert(Scalar::FromBool, Ty::I64, carries);
            let high = c.add(own.node(), carry);
            let two = c.body.i64(2);
            let is_high = c.eq(point[0], two);
            value = c.cond(is_high, high, value);
        }
        Ok(ElementValue::new(state.element, value))
    })
}

fn word(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    state: &TypedTensor,
    at: i64,
) -> ScalarNode {
    let at = s.body.i64(at);
    t.read(s, state, &[at]).node()
}

fn halves(c: &mut ScalarBuilder<'_>, value: ScalarNode) -> RandomWords {
    let high = c.with(Scalar::LShr, value, 32);
    [
        c.resize(Ty::I32, false, value),
        c.resize(Ty::I32, false, high),
    ]
}

fn joined(c: &mut ScalarBuilder<'_>, [low, high]: RandomWords) -> ScalarNode {
    let (low, high) = (
        c.resize(Ty::I64, false, low),
        c.resize(Ty::I64, false, high),
    );
    let high = c.with(Scalar::Shl, high, 32);
    c.op2(Scalar::Or, high, low)
}

/// The number of a point in row-major order.
fn flat(c: &mut ScalarBuilder<'_>, point: &[ScalarNode], sizes: &[u64]) -> ScalarNode {
    let mut sum = c.body.i64(0);
    for (index, size) in point.iter().zip(sizes) {
        let size = c.body.i64(*size as i64);
        sum = c.mul(sum, size);
        sum = c.add(sum, *index);
    }
    sum
}

/// The dimension along which both words of a block lie: the first even one, or the largest.
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
fn narrow(c: &mut ScalarBuilder<'_>, element: TensorElement, bits: ScalarNode) -> ElementValue {
    let resized = c.resize(element.storage(), false, bits);
    ElementValue::new(element, c.wrap(element, resized))
}

fn threefry_elements(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    (state, sizes): (&TypedTensor, &[u64]),
    shape: &TensorShape,
    width: u32,
) -> TranslateResult<TypedTensor> {
    let (element, _) = t.result_type(op, 1)?;
    let split = split_dimension(sizes);
    t.map(shape, |t, s, point| {
        let (key, start) = (word(t, s, state, 0), word(t, s, state, 1));
        let mut c = ScalarBuilder::new(&mut s.body);
        let mut position = point.to_vec();
        let mut counts = sizes.to_vec();
        let mut side = c.body.i64(0);
        if let (true, Some(index)) = (width < 64, position.get_mut(split)) {
            let two = c.body.i64(2);
            side = c.op2(Scalar::SMod, *index, two);
            *index = c.op2(Scalar::SDiv, *index, two);
            counts[split] = counts[split].div_ceil(2);
        }
        let number = flat(&mut c, &position, &counts);
        let counter = c.add(start, number);
        let (key, counter) = (halves(&mut c, key), halves(&mut c, counter));
        let words = threefry(&mut c, key, counter);
        if width == 64 {
            return Ok(ElementValue::new(element, joined(&mut c, words)));
        }
        let zero = c.body.i64(0);
        let is_first = c.eq(side, zero);
        let bits = c.cond(is_first, words[0], words[1]);
        Ok(narrow(&mut c, element, bits))
    })
}

/// Twenty rounds.
fn threefry(c: &mut ScalarBuilder<'_>, key: RandomWords, counter: RandomWords) -> RandomWords {
    let third = c.op2(Scalar::Xor, key[0], key[1]);
    let third = c.with(Scalar::Xor, third, THREEFRY_PARITY);
    let keys = [key[0], key[1], third];
    let [mut a, mut b] = [c.add(counter[0], keys[0]), c.add(counter[1], keys[1])];
    for group in 0..5 {
        for rotation in THREEFRY_ROTATIONS[group % 2] {
            a = c.add(a, b);
            let (up, down) = (
                c.with(Scalar::Shl, b, rotation),
                c.with(Scalar::LShr, b, 32 - rotation),
            );
            b = c.op2(Scalar::Or, up, down);
            b = c.op2(Scalar::Xor, b, a);
        }
        a = c.add(a, keys[(group + 1) % 3]);
        b = c.add(b, keys[(group + 2) % 3]);
        b = c.with(Scalar::Add, b, group as u64 + 1);
    }
    [a, b]
}

fn philox_elements(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    (state, sizes): (&TypedTensor, &[u64]),
    shape: &TensorShape,
    width: u32,
) -> TranslateResult<TypedTensor> {
    let (element, _) = t.result_type(op, 1)?;
    let words = t.sizes(op, state)?[0];
    t.map(shape, |t, s, point| {
        let (key, low) = (word(t, s, state, 0), word(t, s, state, 1));
        let high = if words == 3 {
            word(t, s, state, 2)
        } else {
            key
        };
        let mut c = ScalarBuilder::new(&mut s.body);
        let number = flat(&mut c, point, sizes);
        let per_block = c.body.i64(if width == 64 { 2 } else { 4 });
        let block = c.op2(Scalar::SDiv, number, per_block);
        let within = c.op2(Scalar::SMod, number, per_block);
        let counter = c.add(low, block);
        let carries = c.op2(Scalar::ULt, counter, low);
        let carry = c.body.convert(Scalar::FromBool, Ty::I64, carries);
        let high = c.add(high, carry);
        let (low, high) = (halves(&mut c, counter), halves(&mut c, high));
        let key = halves(&mut c, key);
        let block = philox(&mut c, key, [low[0], low[1], high[0], high[1]]);
        let pick = |c: &mut ScalarBuilder<'_>, values: &[ScalarNode]| {
            let mut chosen = values[0];
            for (at, value) in values.iter().enumerate().skip(1) {
                let number = c.body.i64(at as i64);
                let is_it = c.eq(within, number);
                chosen = c.cond(is_it, *value, chosen);
            }
            chosen
        };
        if width == 64 {
            let pairs = [
                joined(&mut c, [block[0], block[1]]),
                joined(&mut c, [block[2], block[3]]),
            ];
            return Ok(ElementValue::new(element, pick(&mut c, &pairs)));
        }
        let bits = pick(&mut c, &block);
        Ok(narrow(&mut c, element, bits))
    })
}

/// Ten rounds.
fn philox(
    c: &mut ScalarBuilder<'_>,
    mut key: RandomWords,
    mut counter: [ScalarNode; 4],
) -> [ScalarNode; 4] {
    for _ in 0..10 {
        let high = |c: &mut ScalarBuilder<'_>, at: usize| {
            let factor = c.bits(Ty::I32, PHILOX_FACTORS[at]);
            c.op2(Scalar::UMulHi, counter[2 * at], factor)
        };
        let (first, second) = (high(c, 0), high(c, 1));
        let (low_first, low_second) = (
            c.with(Scalar::Mul, counter[0], PHILOX_FACTORS[0]),
            c.with(Scalar::Mul, counter[2], PHILOX_FACTORS[1]),
        );
        let a = c.op2(Scalar::Xor, second, counter[1]);
        let a = c.op2(Scalar::Xor, a, key[0]);
        let b = c.op2(Scalar::Xor, first, counter[3]);
        let b = c.op2(Scalar::Xor, b, key[1]);
        counter = [a, low_second, b, low_first];
        key = [
            c.with(Scalar::Add, key[0], PHILOX_WEYL[0]),
            c.with(Scalar::Add, key[1], PHILOX_WEYL[1]),
        ];
    }
    counter
}
