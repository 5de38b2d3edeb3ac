//! Functions without a body: LLVM's intrinsics, and where an invocation is.

use super::value::{Kind, Scalar, Value};
use super::{Cell, EvaluationResult, Evaluator, float, integer, step, unsupported};
use spirula_llvm::ir::{LlvmFunc, LlvmType, Opcode, Predicate};

/// How an intrinsic is evaluated.
#[derive(Clone, Copy)]
enum Way {
    /// Lane by lane: the width of the first operand, and the operands.
    Int(fn(u32, &[u128]) -> Scalar),
    /// Two integers, to the exact result of which it is known whether it fits.
    Overflow(Opcode, bool),
    /// The same, with the nearest result that fits.
    Saturated(Opcode, bool),
    /// Lane by lane.
    Float(fn(u32, &[Scalar]) -> Scalar),
    /// All lanes of a vector to one.
    Reduce(fn(u32, u128, u128) -> Scalar),
    /// A float to the nearest integer; whether that has a sign.
    ToInt(bool),
    /// A product of numbers with a fixed point: whether they have signs, and whether it stops at the ends.
    Fixed(bool, bool),
    /// How many lanes come before the first that is not zero.
    First,
}

fn round(width: u32, v: &[Scalar], how: fn(f64) -> f64) -> Scalar {
    match float::value(width, v[0]) {
        Some(x) => float::rounded(width, how(x)),
        None => Scalar::Any,
    }
}

fn reverse(width: u32, v: u128) -> u128 {
    v.reverse_bits() >> (128 - width)
}

fn funnel(width: u32, high: u128, low: u128, by: u128) -> Scalar {
    let both = high << width | low;
    Scalar::Bits(both >> by & integer::mask(width))
}

fn order(is_less: bool, is_greater: bool) -> i128 {
    i128::from(is_greater) - i128::from(is_less)
}

#[rustfmt::skip]
const TABLE: &[(&str, Way)] = &[
    ("smax", Way::Int(|w, v| pick(w, v, Predicate::Sgt))),
    ("smin", Way::Int(|w, v| pick(w, v, Predicate::Slt))),
    ("umax", Way::Int(|w, v| pick(w, v, Predicate::Ugt))),
    ("umin", Way::Int(|w, v| pick(w, v, Predicate::Ult))),
    ("sadd.sat", Way::Saturated(Opcode::Add, true)),
    ("uadd.sat", Way::Saturated(Opcode::Add, false)),
    ("ssub.sat", Way::Saturated(Opcode::Sub, true)),
    ("usub.sat", Way::Saturated(Opcode::Sub, false)),
    ("sadd.with.overflow", Way::Overflow(Opcode::Add, true)),
    ("uadd.with.overflow", Way::Overflow(Opcode::Add, false)),
    ("ssub.with.overflow", Way::Overflow(Opcode::Sub, true)),
    ("usub.with.overflow", Way::Overflow(Opcode::Sub, false)),
    ("smul.with.overflow", Way::Overflow(Opcode::Mul, true)),
    ("umul.with.overflow", Way::Overflow(Opcode::Mul, false)),
    ("fshl", Way::Int(|w, v| match v[2] % u128::from(w) {
        0 => Scalar::Bits(v[0]),
        by => funnel(w, v[0], v[1], u128::from(w) - by),
    })),
    ("fshr", Way::Int(|w, v| funnel(w, v[0], v[1], v[2] % u128::from(w)))),
    ("ctpop", Way::Int(|_, v| Scalar::Bits(v[0].count_ones().into()))),
    ("bitreverse", Way::Int(|w, v| Scalar::Bits(reverse(w, v[0])))),
    ("bswap", Way::Int(|w, v| Scalar::Bits(v[0].swap_bytes() >> (128 - w)))),
    ("abs", Way::Int(|w, v| match integer::signed(w, v[0]) {
        x if v[1] != 0 && x == integer::range(w, true).0 => Scalar::Any,
        x => integer::cut(w, x.wrapping_abs()),
    })),
    ("ctlz", Way::Int(|w, v| match v[0] {
        0 if v[1] != 0 => Scalar::Any,
        x => Scalar::Bits((x.leading_zeros() + w - 128).into()),
    })),
    ("cttz", Way::Int(|w, v| match v[0] {
        0 if v[1] != 0 => Scalar::Any,
        x => Scalar::Bits(x.trailing_zeros().min(w).into()),
    })),
    ("scmp", Way::Int(|w, v| {
        let (a, b) = (integer::signed(w, v[0]), integer::signed(w, v[1]));
        integer::cut(128, order(a < b, a > b))
    })),
    ("ucmp", Way::Int(|_, v| integer::cut(128, order(v[0] < v[1], v[0] > v[1])))),
    ("fabs", Way::Float(|w, v| float::with_sign(w, v[0], |bits, sign| bits & !sign))),
    ("sqrt", Way::Float(|w, v| match float::value(w, v[0]) {
        Some(x) if w == 32 => float::rounded(32, (x as f32).sqrt().into()),
        Some(x) => float::rounded(w, x.sqrt()),
        None => Scalar::Any,
    })),
    ("floor", Way::Float(|w, v| round(w, v, f64::floor))),
    ("ceil", Way::Float(|w, v| round(w, v, f64::ceil))),
    ("trunc", Way::Float(|w, v| round(w, v, f64::trunc))),
    ("rint", Way::Float(|w, v| round(w, v, f64::round_ties_even))),
    ("roundeven", Way::Float(|w, v| round(w, v, f64::round_ties_even))),
    ("round", Way::Float(|w, v| round(w, v, f64::round))),
    ("copysign", Way::Float(|w, v| match v[1] {
        Scalar::Bits(from) => float::with_sign(w, v[0], |bits, sign| bits & !sign | from & sign),
        _ if v[0] == Scalar::Nan => Scalar::Nan,
        _ => Scalar::Any,
    })),
    ("minnum", Way::Float(|w, v| float::extreme(false, false, w, v[0], v[1]))),
    ("maxnum", Way::Float(|w, v| float::extreme(true, false, w, v[0], v[1]))),
    ("minimum", Way::Float(|w, v| float::extreme(false, true, w, v[0], v[1]))),
    ("maximum", Way::Float(|w, v| float::extreme(true, true, w, v[0], v[1]))),
    ("fma", Way::Float(|w, v| float::fused(w, [v[0], v[1], v[2]]))),
    ("is.fpclass", Way::Float(|w, v| match v[1] {
        Scalar::Bits(mask) => float::is_class(w, v[0], mask as u32),
        _ => Scalar::Any,
    })),
    ("clmul", Way::Int(|w, v| {
        let partial = |bit: u32| if v[1] >> bit & 1 != 0 { v[0] << bit } else { 0 };
        Scalar::Bits((0..w).fold(0, |sum, bit| sum ^ partial(bit)))
    })),
    ("smul.fix", Way::Fixed(true, false)),
    ("umul.fix", Way::Fixed(false, false)),
    ("smul.fix.sat", Way::Fixed(true, true)),
    ("umul.fix.sat", Way::Fixed(false, true)),
    ("experimental.cttz.elts", Way::First),
    ("fptosi.sat", Way::ToInt(true)),
    ("fptoui.sat", Way::ToInt(false)),
    ("vector.reduce.add", Way::Reduce(|w, a, b| integer::cut(w, (a + b) as i128))),
    ("vector.reduce.mul", Way::Reduce(|w, a, b| integer::cut(w, a.wrapping_mul(b) as i128))),
    ("vector.reduce.and", Way::Reduce(|_, a, b| Scalar::Bits(a & b))),
    ("vector.reduce.or", Way::Reduce(|_, a, b| Scalar::Bits(a | b))),
    ("vector.reduce.xor", Way::Reduce(|_, a, b| Scalar::Bits(a ^ b))),
    ("vector.reduce.smax", Way::Reduce(|w, a, b| pick(w, &[a, b], Predicate::Sgt))),
    ("vector.reduce.smin", Way::Reduce(|w, a, b| pick(w, &[a, b], Predicate::Slt))),
    ("vector.reduce.umax", Way::Reduce(|w, a, b| pick(w, &[a, b], Predicate::Ugt))),
    ("vector.reduce.umin", Way::Reduce(|w, a, b| pick(w, &[a, b], Predicate::Ult))),
];

/// The first of two where a comparison holds, else the second.
fn pick(width: u32, v: &[u128], predicate: Predicate) -> Scalar {
    let first = integer::compare(predicate, width, v[0], v[1]);
    Scalar::Bits(if first { v[0] } else { v[1] })
}

impl Evaluator<'_> {
    /// A call of a function without a body.
    pub(super) fn declared(&mut self, func: LlvmFunc, args: &[Value]) -> EvaluationResult<Value> {
        let module = self.module;
        let name = module.function_name(func);
        if name.starts_with("_Z13get_global_id") || name.starts_with("_Z12get_local_id") {
            return Ok(vec![Scalar::Bits(self.item.into())]);
        }
        let Some(name) = name.strip_prefix("llvm.") else {
            return unsupported(name);
        };
        if name.starts_with("lifetime.") || name.starts_with("assume") {
            return Ok(Value::new());
        }
        if name.starts_with("memset.")
            || name.starts_with("memcpy.")
            || name.starts_with("memmove.")
        {
            return self.bytes(name, args);
        }
        let function = module.function(func);
        let types = &function.params;
        let Some((result, ..)) = module.types.signature(function.ty) else {
            return unsupported(name);
        };
        let matching = TABLE.iter().filter(|(row, _)| {
            name.strip_prefix(row)
                .is_some_and(|rest| rest.starts_with('.'))
        });
        match matching.max_by_key(|(row, _)| row.len()) {
            Some((_, way)) => self.by_way(*way, args, types[0], result),
            None => unsupported(name),
        }
    }

    fn by_way(
        &mut self,
        way: Way,
        args: &[Value],
        ty: LlvmType,
        result: LlvmType,
    ) -> EvaluationResult<Value> {
        let kind = self.kind(ty)?;
        let width = kind.bits();
        let lanes = args[0].len();
        // Flags and masks are one for all lanes.
        let lane = |n: usize| -> Vec<Scalar> {
            args.iter()
                .map(|a| a[if a.len() == 1 { 0 } else { n }])
                .collect()
        };
        let known =
            |n: usize| -> Option<Vec<u128>> { lane(n).into_iter().map(Scalar::bits).collect() };
        Ok(match way {
            Way::Int(make) => {
                let wanted = integer::mask(self.kind(result)?.bits());
                let one = |n| match known(n).map(|v| make(width, &v)) {
                    Some(Scalar::Bits(bits)) => Scalar::Bits(bits & wanted),
                    _ => Scalar::Any,
                };
                (0..lanes).map(one).collect()
            }
            Way::Float(make) => (0..lanes).map(|n| make(width, &lane(n))).collect(),
            Way::Overflow(op, is_signed) => {
                let exact = |n| known(n).map(|v| exactly(op, is_signed, width, &v));
                let value = |n| exact(n).map_or(Scalar::Any, |x| integer::cut(width, x.0));
                let wraps = |n| exact(n).map_or(Scalar::Any, |x| Scalar::truth(x.1));
                let values = (0..lanes).map(value);
                values.chain((0..lanes).map(wraps)).collect()
            }
            Way::Saturated(op, is_signed) => {
                let (low, high) = integer::range(width, is_signed);
                let one = |n| match known(n) {
                    Some(v) => {
                        let exact = exactly(op, is_signed, width, &v).0;
                        integer::cut(width, exact.clamp(low, high))
                    }
                    None => Scalar::Any,
                };
                (0..lanes).map(one).collect()
            }
            Way::Reduce(make) => {
                let fold = |a: Scalar, b: &Scalar| match (a, b) {
                    (Scalar::Bits(a), Scalar::Bits(b)) => make(width, a, *b),
                    _ => Scalar::Any,
                };
                vec![args[0][1..].iter().fold(args[0][0], fold)]
            }
            Way::Fixed(is_signed, saturates) => {
                let of = |v: Vec<u128>| fixed_product(width, &v, is_signed, saturates);
                (0..lanes)
                    .map(|n| known(n).map_or(Scalar::Any, of))
                    .collect()
            }
            Way::First => vec![first_set(&args[0])],
            Way::ToInt(is_signed) => {
                let wanted = match self.kind(result)? {
                    Kind::Int(width) => width,
                    _ => return unsupported("a conversion to no integer"),
                };
                let (low, high) = integer::range(wanted, is_signed);
                let one = |n: usize| match float::value(width, args[0][n]) {
                    // NaN becomes zero.
                    Some(x) => integer::cut(wanted, (x as i128).clamp(low, high)),
                    None => Scalar::Any,
                };
                (0..lanes).map(one).collect()
            }
        })
    }

    /// `memset`, `memcpy`, `memmove`
    fn bytes(&mut self, name: &str, args: &[Value]) -> EvaluationResult<Value> {
        let Some(size) = args[2][0].bits() else {
            return super::undefined("a copy of any size");
        };
        let size = size as u64;
        if size == 0 {
            return Ok(Value::new());
        }
        let to = step::place(args[0][0])?;
        let cells: Vec<Cell> = match name.starts_with("memset") {
            true => {
                let cell = match args[1][0].bits() {
                    Some(byte) => Cell::Byte(byte as u8),
                    None => Cell::Any,
                };
                vec![cell; size as usize]
            }
            false => {
                let from = step::place(args[1][0])?;
                match self.memory.at(from, size) {
                    Some(cells) => cells.to_vec(),
                    None => return super::undefined("a copy from outside of an object"),
                }
            }
        };
        match self.memory.at(to, size) {
            Some(place) => place.copy_from_slice(&cells),
            None => return super::undefined("a copy to outside of an object"),
        }
        Ok(Value::new())
    }
}

/// The exact result, and whether it does not fit. Products of unsigned numbers of 64 bits are cut
/// where they fit in no sign.
fn exactly(op: Opcode, is_signed: bool, width: u32, v: &[u128]) -> (i128, bool) {
    let of = |bits: u128| match is_signed {
        true => integer::signed(width, bits),
        false => bits as i128,
    };
    let (a, b) = (of(v[0]), of(v[1]));
    let exact = match op {
        Opcode::Add => Some(a + b),
        Opcode::Sub => Some(a - b),
        _ => a.checked_mul(b),
    };
    let (low, high) = integer::range(width, is_signed);
    match exact {
        Some(x) => (x, x < low || x > high),
        None => (a.wrapping_mul(b), true),
    }
}

/// A product of two numbers with a fixed point, the third says how many bits are behind it.
fn fixed_product(width: u32, v: &[u128], is_signed: bool, saturates: bool) -> Scalar {
    let (low, high) = integer::range(width, is_signed);
    let scale = v[2] as u32;
    // Products of unsigned numbers of 64 bits need all bits, but are no more than those.
    let exact = match is_signed {
        true => {
            let [a, b] = [v[0], v[1]].map(|bits| integer::signed(width, bits));
            (a * b) >> scale
        }
        false => ((v[0] * v[1]) >> scale).min(i128::MAX as u128) as i128,
    };
    match exact.clamp(low, high) {
        // What does not fit is undefined.
        end if end != exact && !saturates => Scalar::Any,
        end => integer::cut(width, end),
    }
}

/// The first lane that is not zero, or else the number of lanes.
fn first_set(lanes: &[Scalar]) -> Scalar {
    let lanes: Option<Vec<u128>> = lanes.iter().map(|s| s.bits()).collect();
    lanes.map_or(Scalar::Any, |lanes| {
        let first = lanes.iter().position(|lane| *lane != 0);
        Scalar::Bits(first.unwrap_or(lanes.len()) as u128)
    })
}
