//! Cases: functions, their arguments and expected results.

use crate::number::{OpenClScalar, ulps};
use astro_float_num::BigFloat;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Expected value of a lane.
#[derive(Clone, Debug)]
pub enum ExpectedLane {
    /// These bits.
    Bits(u64),
    /// This number, rounded; any NaN, and either zero.
    Value(f64),
    /// Within a number of units in the last place of this.
    Ulps(BigFloat, f64),
    /// Within a distance of this.
    Near(f64, f64),
    /// Anything.
    Any,
}

impl ExpectedLane {
    /// The fault of a lane, if there is one.
    pub fn fault(&self, scalar: OpenClScalar, bits: u64) -> Option<String> {
        let got = scalar.float(bits);
        let right = match self {
            ExpectedLane::Bits(want) => bits == want & scalar.mask(),
            ExpectedLane::Value(want) => {
                let want = scalar.float(scalar.of(*want));
                got == want || got.is_nan() && want.is_nan()
            }
            ExpectedLane::Ulps(exact, limit) => {
                let error = ulps(scalar, bits, exact);
                if error <= *limit {
                    return None;
                }
                let exact = crate::reference::to_f64(exact);
                return Some(format!(
                    "got {got:e}, exactly {exact:e}, which is {error:.2} ulps off"
                ));
            }
            ExpectedLane::Near(want, tolerance) => (got - want).abs() <= *tolerance,
            ExpectedLane::Any => true,
        };
        match (right, scalar.is_float()) {
            (true, _) => None,
            (false, true) => Some(format!("got {got:e} ({bits:#x}), wanted {self:x?}")),
            (false, false) => Some(format!("got {:#x}, wanted {self:x?}", bits)),
        }
    }
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltinArg {
    /// A value of a number of lanes.
    Value(OpenClScalar, u32),
    /// A constant of the call.
    Const(OpenClScalar, u64),
    /// A pointer to a number of elements in global memory that are read.
    Read(OpenClScalar, u32),
    /// A pointer to a private variable of a number of lanes that is written.
    Out(OpenClScalar, u32),
    /// A pointer to a number of elements in global memory that are written.
    Write(OpenClScalar, u32),
    /// A pointer to an element in global memory that is changed.
    Change(OpenClScalar),
    /// A pointer to a private variable that is changed.
    Guess(OpenClScalar),
}

/// One lane after the other of each argument that is read, for one invocation.
pub type BuiltinInputs = Vec<Vec<u64>>;
/// One lane after the other of each result.
pub type BuiltinOutputs = Vec<Vec<ExpectedLane>>;

/// The results of all invocations.
pub type BuiltinEval = Rc<dyn Fn(&[BuiltinInputs]) -> Vec<BuiltinOutputs>>;

/// One overload.
#[derive(Clone)]
pub struct BuiltinCase {
    pub name: String,
    pub args: Vec<BuiltinArg>,
    pub result: Option<(OpenClScalar, u32)>,
    /// The arguments of each invocation.
    pub inputs: Vec<BuiltinInputs>,
    /// The results of all invocations.
    pub eval: BuiltinEval,
}

/// Invocations of every test: one workgroup.
pub const ITEMS: usize = 16;

/// Widths of vectors.
pub const LANES: [u32; 6] = [1, 2, 3, 4, 8, 16];

/// Semantics of a function that works lane by lane.
pub type LanewiseEval = Rc<dyn Fn(&[u64]) -> Vec<ExpectedLane>>;

/// The overloads of a function that works lane by lane, one for each width. `args` has the type of each argument, and
/// whether it is a scalar at every width. `outs` are the types of the result and of trailing pointers. Arguments are
/// taken from `pool` in turn.
pub fn lanewise(
    name: &str,
    args: &[(OpenClScalar, bool)],
    outs: &[OpenClScalar],
    lanes: &[u32],
    pool: &[Vec<u64>],
    eval: LanewiseEval,
) -> Vec<BuiltinCase> {
    let cached: RefCell<HashMap<Vec<u64>, Vec<ExpectedLane>>> = RefCell::default();
    let eval: LanewiseEval = Rc::new(move |args: &[u64]| {
        if let Some(known) = cached.borrow().get(args) {
            return known.clone();
        }
        let made = eval(args);
        cached.borrow_mut().insert(args.to_vec(), made.clone());
        made
    });
    let mut cases = Vec::new();
    for &width in lanes {
        let mut all: Vec<BuiltinArg> = Vec::new();
        for &(scalar, single) in args {
            all.push(BuiltinArg::Value(scalar, if single { 1 } else { width }));
        }
        all.extend(outs[1..].iter().map(|out| BuiltinArg::Out(*out, width)));
        let inputs = (0..ITEMS).map(|item| {
            let tuple = |lane: usize| &pool[(item * width as usize + lane) % pool.len()];
            let column = |(at, &(_, single)): (usize, &(OpenClScalar, bool))| {
                let count = if single { 1 } else { width as usize };
                (0..count).map(|lane| tuple(lane)[at]).collect()
            };
            args.iter().enumerate().map(column).collect()
        });
        let eval = eval.clone();
        let count = outs.len();
        cases.push(BuiltinCase {
            name: name.to_owned(),
            args: all,
            result: Some((outs[0], width)),
            inputs: inputs.collect(),
            eval: each(move |inputs| {
                let mut results = vec![Vec::new(); count];
                for lane in 0..width as usize {
                    let args: Vec<u64> = inputs
                        .iter()
                        .map(|lanes| *lanes.get(lane).unwrap_or(&lanes[0]))
                        .collect();
                    for (result, expect) in results.iter_mut().zip(eval(&args)) {
                        result.push(expect);
                    }
                }
                results
            }),
        });
    }
    cases
}

/// Semantics of a single invocation.
pub fn each(eval: impl Fn(&BuiltinInputs) -> BuiltinOutputs + 'static) -> BuiltinEval {
    Rc::new(move |all| all.iter().map(&eval).collect())
}

/// Random numbers with a fixed seed: Marsaglia, "Xorshift RNGs", 2003.
pub struct XorshiftRandom(pub u64);

impl XorshiftRandom {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An integer: the ends of the range, and others of every magnitude.
    pub fn int(&mut self, scalar: OpenClScalar) -> u64 {
        let (low, high) = scalar.range();
        let ends = [0, 1, -1, 2, low, low + 1, high, high - 1];
        let value = match self.next() % 24 {
            n @ 0..8 => ends[n as usize],
            _ => {
                let shift = self.next() % u64::from(scalar.bits());
                i128::from((self.next() & scalar.mask()) >> shift)
            }
        };
        let value = if self.next() & 1 == 0 { value } else { -value };
        scalar.wrapped(value)
    }

    /// A finite float within bounds: of every magnitude, and evenly spread.
    pub fn float(&mut self, scalar: OpenClScalar, low: f64, high: f64) -> u64 {
        for _ in 0..1000 {
            let value = match self.next() % 4 {
                0 if low > -1e6 && high < 1e6 => low + self.unit() * (high - low),
                1 => [1.0, 0.5, 2.0, -1.0, -0.5, 3.0, 10.0, 0.1][(self.next() % 8) as usize],
                2 => (self.unit() - 0.5) * 8.0,
                _ => {
                    let magnitude = libm::ldexp(self.unit() + 1.0, (self.next() % 40) as i32 - 20);
                    if self.next() & 1 == 0 {
                        magnitude
                    } else {
                        -magnitude
                    }
                }
            };
            let bits = scalar.of(value);
            let value = scalar.float(bits);
            if value.is_finite() && value >= low && value <= high && value != 0.0 {
                return bits;
            }
        }
        scalar.of(low / 2.0 + high / 2.0)
    }
}
