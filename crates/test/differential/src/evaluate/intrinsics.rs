//! Functions without a body: LLVM's intrinsics, and the position of an invocation.

use super::value::{AbstractScalar, AbstractValue, LeafType};
use super::{
    AbstractByte, EvaluationResult, LlvmEvaluator, float, instructions, integer, stop_unsupported,
};
use spirula_llvm::ir::{LlvmFunc, LlvmOpcode, LlvmType, Predicate};

/// How an intrinsic is evaluated.
#[derive(Clone, Copy)]
enum IntrinsicEval {
    /// Lane by lane: takes the width of the first operand, and the operands.
    Int(fn(u32, &[u128]) -> AbstractScalar),
    /// An operation on two integers, and whether its exact result fits.
    Overflow(LlvmOpcode, bool),
    /// An operation on two integers with the nearest result that fits.
    Saturated(LlvmOpcode, bool),
    /// Lane by lane, on floats.
    Float(fn(u32, &[AbstractScalar]) -> AbstractScalar),
    /// A reduction of all lanes of a vector.
    Reduce(fn(u32, u128, u128) -> AbstractScalar),
    /// A float to the nearest integer; whether the integer is signed.
    ToInt(bool),
    /// A product of fixed-point numbers: whether they are signed, and whether the product saturates.
    Fixed(bool, bool),
    /// The number of lanes before the first non-zero lane.
    First,
}

fn round_scalar(width: u32, v: &[AbstractScalar], how: fn(f64) -> f64) -> AbstractScalar {
    match float::scalar_to_f64(width, v[0]) {
        Some(x) => float::round_to_width(width, how(x)),
        None => AbstractScalar::Any,
    }
}

fn reverse_bits(width: u32, v: u128) -> u128 {
    v.reverse_bits() >> (128 - width)
}

fn shift_funnel(width: u32, high: u128, low: u128, by: u128) -> AbstractScalar {
    let both = high << width | low;
    AbstractScalar::Bits(both >> by & integer::width_mask(width))
}

fn compare_three_way(is_less: bool, is_greater: bool) -> i128 {
    i128::from(is_greater) - i128::from(is_less)
}

#[rustfmt::skip]
const TABLE: &[(&str, IntrinsicEval)] = &[
    ("smax", IntrinsicEval::Int(|w, v| select_by_predicate(w, v, Predicate::Sgt))),
    ("smin", IntrinsicEval::Int(|w, v| select_by_predicate(w, v, Predicate::Slt))),
    ("umax", IntrinsicEval::Int(|w, v| select_by_predicate(w, v, Predicate::Ugt))),
    ("umin", IntrinsicEval::Int(|w, v| select_by_predicate(w, v, Predicate::Ult))),
    ("sadd.sat", IntrinsicEval::Saturated(LlvmOpcode::Add, true)),
    ("uadd.sat", IntrinsicEval::Saturated(LlvmOpcode::Add, false)),
    ("ssub.sat", IntrinsicEval::Saturated(LlvmOpcode::Sub, true)),
    ("usub.sat", IntrinsicEval::Saturated(LlvmOpcode::Sub, false)),
    ("sadd.with.overflow", IntrinsicEval::Overflow(LlvmOpcode::Add, true)),
    ("uadd.with.overflow", IntrinsicEval::Overflow(LlvmOpcode::Add, false)),
    ("ssub.with.overflow", IntrinsicEval::Overflow(LlvmOpcode::Sub, true)),
    ("usub.with.overflow", IntrinsicEval::Overflow(LlvmOpcode::Sub, false)),
    ("smul.with.overflow", IntrinsicEval::Overflow(LlvmOpcode::Mul, true)),
    ("umul.with.overflow", IntrinsicEval::Overflow(LlvmOpcode::Mul, false)),
    ("fshl", IntrinsicEval::Int(|w, v| match v[2] % u128::from(w) {
        0 => AbstractScalar::Bits(v[0]),
        by => shift_funnel(w, v[0], v[1], u128::from(w) - by),
    })),
    ("fshr", IntrinsicEval::Int(|w, v| shift_funnel(w, v[0], v[1], v[2] % u128::from(w)))),
    ("ctpop", IntrinsicEval::Int(|_, v| AbstractScalar::Bits(v[0].count_ones().into()))),
    ("bitreverse", IntrinsicEval::Int(|w, v| AbstractScalar::Bits(reverse_bits(w, v[0])))),
    ("bswap", IntrinsicEval::Int(|w, v| AbstractScalar::Bits(v[0].swap_bytes() >> (128 - w)))),
    ("abs", IntrinsicEval::Int(|w, v| match integer::sign_extend(w, v[0]) {
        x if v[1] != 0 && x == integer::width_range(w, true).0 => AbstractScalar::Any,
        x => integer::truncate_to_width(w, x.wrapping_abs()),
    })),
    ("ctlz", IntrinsicEval::Int(|w, v| match v[0] {
        0 if v[1] != 0 => AbstractScalar::Any,
        x => AbstractScalar::Bits((x.leading_zeros() + w - 128).into()),
    })),
    ("cttz", IntrinsicEval::Int(|w, v| match v[0] {
        0 if v[1] != 0 => AbstractScalar::Any,
        x => AbstractScalar::Bits(x.trailing_zeros().min(w).into()),
    })),
    ("scmp", IntrinsicEval::Int(|w, v| {
        let (a, b) = (integer::sign_extend(w, v[0]), integer::sign_extend(w, v[1]));
        integer::truncate_to_width(128, compare_three_way(a < b, a > b))
    })),
    ("ucmp", IntrinsicEval::Int(|_, v| integer::truncate_to_width(128, compare_three_way(v[0] < v[1], v[0] > v[1])))),
    ("fabs", IntrinsicEval::Float(|w, v| float::with_sign(w, v[0], |bits, sign| bits & !sign))),
    ("sqrt", IntrinsicEval::Float(|w, v| match float::scalar_to_f64(w, v[0]) {
        Some(x) if w == 32 => float::round_to_width(32, (x as f32).sqrt().into()),
        Some(x) => float::round_to_width(w, x.sqrt()),
        None => AbstractScalar::Any,
    })),
    ("floor", IntrinsicEval::Float(|w, v| round_scalar(w, v, f64::floor))),
    ("ceil", IntrinsicEval::Float(|w, v| round_scalar(w, v, f64::ceil))),
    ("trunc", IntrinsicEval::Float(|w, v| round_scalar(w, v, f64::trunc))),
    ("rint", IntrinsicEval::Float(|w, v| round_scalar(w, v, f64::round_ties_even))),
    ("roundeven", IntrinsicEval::Float(|w, v| round_scalar(w, v, f64::round_ties_even))),
    ("round", IntrinsicEval::Float(|w, v| round_scalar(w, v, f64::round))),
    ("copysign", IntrinsicEval::Float(|w, v| match v[1] {
        AbstractScalar::Bits(from) => float::with_sign(w, v[0], |bits, sign| bits & !sign | from & sign),
        _ if v[0] == AbstractScalar::Nan => AbstractScalar::Nan,
        _ => AbstractScalar::Any,
    })),
    ("minnum", IntrinsicEval::Float(|w, v| float::select_extreme(false, false, w, v[0], v[1]))),
    ("maxnum", IntrinsicEval::Float(|w, v| float::select_extreme(true, false, w, v[0], v[1]))),
    ("minimum", IntrinsicEval::Float(|w, v| float::select_extreme(false, true, w, v[0], v[1]))),
    ("maximum", IntrinsicEval::Float(|w, v| float::select_extreme(true, true, w, v[0], v[1]))),
    ("fma", IntrinsicEval::Float(|w, v| float::fused_multiply_add(w, [v[0], v[1], v[2]]))),
    ("is.fpclass", IntrinsicEval::Float(|w, v| match v[1] {
        AbstractScalar::Bits(mask) => float::is_class(w, v[0], mask as u32),
        _ => AbstractScalar::Any,
    })),
    ("clmul", IntrinsicEval::Int(|w, v| {
        let partial = |bit: u32| if v[1] >> bit & 1 != 0 { v[0] << bit } else { 0 };
        AbstractScalar::Bits((0..w).fold(0, |sum, bit| sum ^ partial(bit)))
    })),
    ("smul.fix", IntrinsicEval::Fixed(true, false)),
    ("umul.fix", IntrinsicEval::Fixed(false, false)),
    ("smul.fix.sat", IntrinsicEval::Fixed(true, true)),
    ("umul.fix.sat", IntrinsicEval::Fixed(false, true)),
    ("experimental.cttz.elts", IntrinsicEval::First),
    ("fptosi.sat", IntrinsicEval::ToInt(true)),
    ("fptoui.sat", IntrinsicEval::ToInt(false)),
    ("vector.reduce.add", IntrinsicEval::Reduce(|w, a, b| integer::truncate_to_width(w, (a + b) as i128))),
    ("vector.reduce.mul", IntrinsicEval::Reduce(|w, a, b| integer::truncate_to_width(w, a.wrapping_mul(b) as i128))),
    ("vector.reduce.and", IntrinsicEval::Reduce(|_, a, b| AbstractScalar::Bits(a & b))),
    ("vector.reduce.or", IntrinsicEval::Reduce(|_, a, b| AbstractScalar::Bits(a | b))),
    ("vector.reduce.xor", IntrinsicEval::Reduce(|_, a, b| AbstractScalar::Bits(a ^ b))),
    ("vector.reduce.smax", IntrinsicEval::Reduce(|w, a, b| select_by_predicate(w, &[a, b], Predicate::Sgt))),
    ("vector.reduce.smin", IntrinsicEval::Reduce(|w, a, b| select_by_predicate(w, &[a, b], Predicate::Slt))),
    ("vector.reduce.umax", IntrinsicEval::Reduce(|w, a, b| select_by_predicate(w, &[a, b], Predicate::Ugt))),
    ("vector.reduce.umin", IntrinsicEval::Reduce(|w, a, b| select_by_predicate(w, &[a, b], Predicate::Ult))),
];

/// The first of two values if a comparison holds, else the second.
fn select_by_predicate(width: u32, v: &[u128], predicate: Predicate) -> AbstractScalar {
    let first = integer::eval_compare(predicate, width, v[0], v[1]);
    AbstractScalar::Bits(if first { v[0] } else { v[1] })
}

impl LlvmEvaluator<'_> {
    /// Evaluates a call of a function without a body.
    pub(super) fn call_declared(
        &mut self,
        func: LlvmFunc,
        args: &[AbstractValue],
    ) -> EvaluationResult<AbstractValue> {
        let module = self.module;
        let name = module.function_name(func);
        if name.starts_with("_Z13get_global_id") || name.starts_with("_Z12get_local_id") {
            return Ok(vec![AbstractScalar::Bits(self.item.into())]);
        }
        let Some(name) = name.strip_prefix("llvm.") else {
            return stop_unsupported(name);
        };
        if name.starts_with("lifetime.") || name.starts_with("assume") {
            return Ok(AbstractValue::new());
        }
        if name.starts_with("memset.")
            || name.starts_with("memcpy.")
            || name.starts_with("memmove.")
        {
            return self.set_or_copy_bytes(name, args);
        }
        let function = module.function(func);
        let types = &function.params;
        let Some((result, ..)) = module.types.function_signature(function.ty) else {
            return stop_unsupported(name);
        };
        let matching = TABLE.iter().filter(|(row, _)| {
            name.strip_prefix(row)
                .is_some_and(|rest| rest.starts_with('.'))
        });
        match matching.max_by_key(|(row, _)| row.len()) {
            Some((_, eval)) => self.eval_intrinsic(*eval, args, types[0], result),
            None => stop_unsupported(name),
        }
    }

    fn eval_intrinsic(
        &mut self,
        eval: IntrinsicEval,
        args: &[AbstractValue],
        ty: LlvmType,
        result: LlvmType,
    ) -> EvaluationResult<AbstractValue> {
        let kind = self.scalar_kind(ty)?;
        let width = kind.bit_width();
        let lanes = args[0].len();
        // Flags and masks are shared by all lanes.
        let lane = |n: usize| -> Vec<AbstractScalar> {
            args.iter()
                .map(|a| a[if a.len() == 1 { 0 } else { n }])
                .collect()
        };
        let known = |n: usize| -> Option<Vec<u128>> {
            lane(n)
                .into_iter()
                .map(AbstractScalar::known_bits)
                .collect()
        };
        Ok(match eval {
            IntrinsicEval::Int(make) => {
                let wanted = integer::width_mask(self.scalar_kind(result)?.bit_width());
                let one = |n| match known(n).map(|v| make(width, &v)) {
                    Some(AbstractScalar::Bits(bits)) => AbstractScalar::Bits(bits & wanted),
                    _ => AbstractScalar::Any,
                };
                (0..lanes).map(one).collect()
            }
            IntrinsicEval::Float(make) => (0..lanes).map(|n| make(width, &lane(n))).collect(),
            IntrinsicEval::Overflow(op, is_signed) => {
                let exact = |n| known(n).map(|v| compute_exact(op, is_signed, width, &v));
                let value = |n| {
                    exact(n).map_or(AbstractScalar::Any, |x| {
                        integer::truncate_to_width(width, x.0)
                    })
                };
                let wraps =
                    |n| exact(n).map_or(AbstractScalar::Any, |x| AbstractScalar::from_bool(x.1));
                let values = (0..lanes).map(value);
                values.chain((0..lanes).map(wraps)).collect()
            }
            IntrinsicEval::Saturated(op, is_signed) => {
                let (low, high) = integer::width_range(width, is_signed);
                let one = |n| match known(n) {
                    Some(v) => {
                        let exact = compute_exact(op, is_signed, width, &v).0;
                        integer::truncate_to_width(width, exact.clamp(low, high))
                    }
                    None => AbstractScalar::Any,
                };
                (0..lanes).map(one).collect()
            }
            IntrinsicEval::Reduce(make) => {
                let fold = |a: AbstractScalar, b: &AbstractScalar| match (a, b) {
                    (AbstractScalar::Bits(a), AbstractScalar::Bits(b)) => make(width, a, *b),
                    _ => AbstractScalar::Any,
                };
                vec![args[0][1..].iter().fold(args[0][0], fold)]
            }
            IntrinsicEval::Fixed(is_signed, saturates) => {
                let of = |v: Vec<u128>| fixed_product(width, &v, is_signed, saturates);
                (0..lanes)
                    .map(|n| known(n).map_or(AbstractScalar::Any, of))
                    .collect()
            }
            IntrinsicEval::First => vec![first_set(&args[0])],
            IntrinsicEval::ToInt(is_signed) => match self.scalar_kind(result)? {
                LeafType::Int(to) => convert_to_int(&args[0], width, to, is_signed),
                _ => return stop_unsupported("a conversion to no integer"),
            },
        })
    }

    /// `memset`, `memcpy`, `memmove`
    fn set_or_copy_bytes(
        &mut self,
        name: &str,
        args: &[AbstractValue],
    ) -> EvaluationResult<AbstractValue> {
        let Some(size) = args[2][0].known_bits() else {
            return super::stop_undefined("a copy of any size");
        };
        let size = size as u64;
        if size == 0 {
            return Ok(AbstractValue::new());
        }
        let to = instructions::to_address(args[0][0])?;
        let cells: Vec<AbstractByte> = if name.starts_with("memset") {
            let cell = match args[1][0].known_bits() {
                Some(byte) => AbstractByte::Byte(byte as u8),
                None => AbstractByte::Any,
            };
            vec![cell; size as usize]
        } else {
            let from = instructions::to_address(args[1][0])?;
            match self.memory.cells_at(from, size) {
                Some(cells) => cells.to_vec(),
                None => return super::stop_undefined("a copy from outside of an object"),
            }
        };
        match self.memory.cells_at(to, size) {
            Some(place) => place.copy_from_slice(&cells),
            None => return super::stop_undefined("a copy to outside of an object"),
        }
        Ok(AbstractValue::new())
    }
}

/// The exact result, and whether it does not fit. Products of unsigned 64-bit numbers are truncated if they do not
/// fit into a signed number.
fn compute_exact(op: LlvmOpcode, is_signed: bool, width: u32, v: &[u128]) -> (i128, bool) {
    let of = |bits: u128| {
        if is_signed {
            integer::sign_extend(width, bits)
        } else {
            bits as i128
        }
    };
    let (a, b) = (of(v[0]), of(v[1]));
    let exact = match op {
        LlvmOpcode::Add => Some(a + b),
        LlvmOpcode::Sub => Some(a - b),
        _ => a.checked_mul(b),
    };
    let (low, high) = integer::width_range(width, is_signed);
    match exact {
        Some(x) => (x, x < low || x > high),
        None => (a.wrapping_mul(b), true),
    }
}

/// A product of two fixed-point numbers; the third operand is the number of bits after the point.
fn fixed_product(width: u32, v: &[u128], is_signed: bool, saturates: bool) -> AbstractScalar {
    let (low, high) = integer::width_range(width, is_signed);
    let scale = v[2] as u32;
    // Products of unsigned 64-bit numbers need all bits, but no more than these.
    let exact = if is_signed {
        let [a, b] = [v[0], v[1]].map(|bits| integer::sign_extend(width, bits));
        (a * b) >> scale
    } else {
        ((v[0] * v[1]) >> scale).min(i128::MAX as u128) as i128
    };
    match exact.clamp(low, high) {
        // A result that does not fit is undefined.
        end if end != exact && !saturates => AbstractScalar::Any,
        end => integer::truncate_to_width(width, end),
    }
}

/// The index of the first non-zero lane, or the number of lanes.
fn first_set(lanes: &[AbstractScalar]) -> AbstractScalar {
    let lanes: Option<Vec<u128>> = lanes.iter().map(|s| s.known_bits()).collect();
    lanes.map_or(AbstractScalar::Any, |lanes| {
        let first = lanes.iter().position(|lane| *lane != 0);
        AbstractScalar::Bits(first.unwrap_or(lanes.len()) as u128)
    })
}

/// The nearest integers to floats of width `from`; NaN becomes zero.
fn convert_to_int(value: &[AbstractScalar], from: u32, to: u32, is_signed: bool) -> AbstractValue {
    let (low, high) = integer::width_range(to, is_signed);
    let convert = |scalar: &AbstractScalar| match float::scalar_to_f64(from, *scalar) {
        Some(x) => integer::truncate_to_width(to, (x as i128).clamp(low, high)),
        None => AbstractScalar::Any,
    };
    value.iter().map(convert).collect()
}
