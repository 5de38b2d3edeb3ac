//! Exponential and logarithm, 2^x and log₂ x, to about 40 bits in `f64`: the kernels of the `f32` functions.
//!
//! Both reduce the argument with a table of 32 entries and end in a short polynomial (minimax,
//! relative error). The scheme is that of S. Gal and P. T. P. Tang, "Table-lookup algorithms for
//! elementary functions and their error analysis", 1991.

/// 2^(i/32).
const POWERS: [f64; 32] = [
    1.0,
    1.0218971486541166,
    1.0442737824274138,
    1.0671404006768237,
    1.0905077326652577,
    1.1143867425958924,
    1.1387886347566916,
    1.1637248587775775,
    1.189207115002721,
    1.215247359980469,
    1.241857812073484,
    1.2690509571917332,
    1.2968395546510096,
    1.3252366431597413,
    1.3542555469368927,
    1.383909881963832,
    std::f64::consts::SQRT_2,
    1.4451808069770467,
    1.4768261459394993,
    1.5091644275934228,
    1.5422108254079407,
    1.5759808451078865,
    1.6104903319492543,
    1.645755478153965,
    1.681792830507429,
    1.718619298122478,
    1.7562521603732995,
    1.7947090750031072,
    1.8340080864093424,
    1.8741676341103,
    1.9152065613971474,
    1.9571441241754002,
];

/// The bits of 2^(i/32), less `i` in the lowest five bits of the exponent field's neighbourhood,
/// where the shifted integer of [`exp2`] adds it again.
const POWER_BITS: [u64; 32] = {
    let mut bits = [0; 32];
    let mut i = 0;
    while i < 32 {
        bits[i] = POWERS[i].to_bits() - ((i as u64) << 47);
        i += 1;
    }
    bits
};

/// 2^`x` with relative error below 2^-41; beyond ±900, which every `f32` takes for zero and infinity,
/// as there. NaN gives NaN.
#[inline]
pub(crate) fn exp2(x: f64) -> f64 {
    if x.abs() < 900.0 {
        return exp2_kernel(x);
    }
    exp2_edge(x)
}

/// A branch seldom taken costs no time, as clamping every argument would.
#[cold]
fn exp2_edge(x: f64) -> f64 {
    exp2_clamped(x)
}

/// [`exp2`] without that branch.
#[inline(always)]
pub(crate) fn exp2_clamped(x: f64) -> f64 {
    exp2_kernel(x.clamp(-900.0, 900.0))
}

/// [`exp2`] for |x| < 1000.
#[inline(always)]
pub(crate) fn exp2_kernel(x: f64) -> f64 {
    // Adding 1.5 × 2^47 leaves x rounded to 1/32 in the low bits of the significand.
    const SHIFT: f64 = (3u64 << 46) as f64;
    let shifted = x + SHIFT;
    let steps = shifted.to_bits();
    let r = x - (shifted - SHIFT);
    let power = f64::from_bits(POWER_BITS[(steps & 31) as usize].wrapping_add(steps << 47));
    // (2^r − 1)/r on [−1/64, 1/64], relative error 2^-36.
    let low = 0.6931471805499723 + r * 0.24022650696486142;
    let high = 0.05550443482736164 + r * 0.009618129107668016;
    power + (power * r) * (low + (r * r) * high)
}

/// (1/c, log₂ c) for the middle c of each of 32 intervals from [`FIRST`] on; the interval around 1
/// has c = 1, so that the logarithm keeps its relative accuracy there.
const RECIPROCALS: [(f64, f64); 32] = [
    (1.4143646408839778, -0.5001541129167946),
    (1.3837837837837839, -0.4686185394836879),
    (1.3544973544973544, -0.43775757577892727),
    (1.3264248704663213, -0.40754296273191964),
    (1.299492385786802, -0.3779481805436236),
    (1.2736318407960199, -0.34894830882107136),
    (1.248780487804878, -0.320519900494554),
    (1.2248803827751196, -0.2926408679191172),
    (1.2018779342723005, -0.2652903797741618),
    (1.1797235023041475, -0.2384487675555207),
    (1.158371040723982, -0.21209744060856855),
    (1.1377777777777778, -0.18621880878296293),
    (1.1179039301310043, -0.16079621190305599),
    (1.0987124463519313, -0.13581385534571977),
    (1.080168776371308, -0.11125675110174077),
    (1.062240663900415, -0.08711066377003839),
    (1.0448979591836736, -0.06336206099742957),
    (1.0281124497991967, -0.03999806793191893),
    (1.0118577075098814, -0.017006425305689774),
    (1.0, 0.0),
    (0.9624060150375939, 0.05528243550118968),
    (0.9343065693430657, 0.09803208296052676),
    (0.9078014184397163, 0.1395513523987936),
    (0.8827586206896552, 0.1799090900149345),
    (0.8590604026845637, 0.2191685204621616),
    (0.8366013071895425, 0.25738784269265175),
    (0.8152866242038217, 0.2946207488916269),
    (0.7950310559006211, 0.33091687811461706),
    (0.7757575757575758, 0.3663222142458158),
    (0.757396449704142, 0.40087943628218436),
    (0.7398843930635838, 0.4346282276367247),
    (0.7231638418079096, 0.4676055500829974),
];

/// The bits of the number that the first interval of [`RECIPROCALS`] starts at, about 0.7.
const FIRST: u64 = 0x3FE6_6000_0000_0000;

/// log₂ `x` with relative error below 2^-39, for positive normal finite `x`.
#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let offset = bits.wrapping_sub(FIRST);
    let exponent = (offset as i64) >> 52;
    let (reciprocal, logarithm) = RECIPROCALS[(offset >> 47 & 31) as usize];
    let fraction = f64::from_bits(bits.wrapping_sub(offset & 0xFFF0_0000_0000_0000));
    let r = fraction * reciprocal - 1.0;
    // log₂(1 + r)/r on [−0.0235, 0.0235], relative error 2^-40.
    let r2 = r * r;
    let a = 1.4426950408900319 + r * -0.72134752044742;
    let b = 0.4808983119575263 + r * -0.36067371500343964;
    let c = 0.28870891388197906 + r * -0.24061902908911447;
    ((exponent as f64 + logarithm) + r * a) + (r * r2) * (b + r2 * c)
}

/// e^`x` with relative error below 2^-41; beyond ±600, which every `f32` takes for zero and infinity,
/// as about there. NaN gives NaN.
#[inline]
pub(crate) fn exp(x: f64) -> f64 {
    exp2(x * std::f64::consts::LOG2_E)
}

/// ln `x` with relative error below 2^-39, for positive normal finite `x`.
#[inline]
pub(crate) fn log(x: f64) -> f64 {
    log2(x) * std::f64::consts::LN_2
}
