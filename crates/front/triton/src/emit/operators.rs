//! Tables of the scalar operations of TTIR.

/// How an operation on scalars is computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum ScalarRule {
    /// An instruction on two integers.
    Integer(&'static str),
    /// An instruction on two floating-point numbers.
    Float(&'static str),
    /// The operand for which a comparison of integers holds.
    Choose(&'static str),
    /// The function of OpenCL of that name, in the format of the operands.
    Function(&'static str),
    /// The greater or lesser number by a function, or a NaN if one operand is.
    Propagating(&'static str),
    /// A conversion between integers.
    Resize(&'static str),
    /// A conversion between floating-point formats.
    Reformat,
    /// A conversion from an integer.
    FromInteger(&'static str),
    /// A conversion to an integer.
    ToInteger(&'static str),
    /// Any other.
    Special,
}

use ScalarRule::{
    Choose, Float, FromInteger, Function, Integer, Propagating, Reformat, Resize, Special,
    ToInteger,
};

/// Operations, how they are computed, and what they cost in additions.
#[rustfmt::skip]
pub(super) static SCALAR_RULES: &[(&str, ScalarRule, u32)] = &[
    ("arith.addf", Float("fadd"), 1),
    ("arith.addi", Integer("add"), 1),
    ("arith.andi", Integer("and"), 1),
    ("arith.bitcast", Special, 1),
    ("arith.cmpf", Special, 1),
    ("arith.cmpi", Special, 1),
    ("arith.constant", Special, 0),
    ("arith.divf", Float("fdiv"), 4),
    ("arith.divsi", Integer("sdiv"), 6),
    ("arith.divui", Integer("udiv"), 6),
    ("arith.extf", Reformat, 2),
    ("arith.extsi", Resize("sext"), 1),
    ("arith.extui", Resize("zext"), 1),
    ("arith.fptosi", ToInteger("fptosi"), 2),
    ("arith.fptoui", ToInteger("fptoui"), 2),
    ("arith.index_cast", Resize("sext"), 1),
    ("arith.maximumf", Propagating("fmax"), 3),
    ("arith.maxnumf", Function("fmax"), 2),
    ("arith.maxsi", Choose("sgt"), 2),
    ("arith.maxui", Choose("ugt"), 2),
    ("arith.minimumf", Propagating("fmin"), 3),
    ("arith.minnumf", Function("fmin"), 2),
    ("arith.minsi", Choose("slt"), 2),
    ("arith.minui", Choose("ult"), 2),
    ("arith.mulf", Float("fmul"), 1),
    ("arith.muli", Integer("mul"), 1),
    ("arith.mulsi_extended", Special, 4),
    ("arith.mului_extended", Special, 4),
    ("arith.negf", Special, 1),
    ("arith.ori", Integer("or"), 1),
    ("arith.remf", Float("frem"), 20),
    ("arith.remsi", Integer("srem"), 6),
    ("arith.remui", Integer("urem"), 6),
    ("arith.select", Special, 1),
    ("arith.shli", Integer("shl"), 1),
    ("arith.shrsi", Integer("ashr"), 1),
    ("arith.shrui", Integer("lshr"), 1),
    ("arith.sitofp", FromInteger("sitofp"), 2),
    ("arith.subf", Float("fsub"), 1),
    ("arith.subi", Integer("sub"), 1),
    ("arith.truncf", Reformat, 2),
    ("arith.trunci", Resize("trunc"), 1),
    ("arith.uitofp", FromInteger("uitofp"), 2),
    ("arith.xori", Integer("xor"), 1),
    ("math.absf", Function("fabs"), 1),
    ("math.absi", Special, 2),
    ("math.ceil", Function("ceil"), 2),
    ("math.cos", Function("cos"), 20),
    ("math.erf", Function("erf"), 20),
    ("math.exp", Function("exp"), 15),
    ("math.exp2", Function("exp2"), 15),
    ("math.floor", Function("floor"), 2),
    ("math.fma", Function("fma"), 2),
    ("math.log", Function("log"), 15),
    ("math.log2", Function("log2"), 15),
    ("math.rsqrt", Function("rsqrt"), 8),
    ("math.sin", Function("sin"), 20),
    ("math.sqrt", Function("sqrt"), 5),
    ("math.tanh", Function("tanh"), 20),
    ("tt.addptr", Special, 1),
    ("tt.approx_divf", Float("fdiv"), 4),
    ("tt.bitcast", Special, 1),
    ("tt.clampf", Special, 4),
    ("tt.extern_elementwise", Special, 20),
    ("tt.fp_to_fp", Reformat, 4),
    ("tt.int_to_ptr", Special, 1),
    ("tt.mulhiui", Special, 3),
    ("tt.precise_divf", Float("fdiv"), 4),
    ("tt.precise_sqrt", Function("sqrt"), 5),
    ("tt.ptr_to_int", Special, 1),
    ("ub.poison", Special, 0),
];

/// The row of an operation.
pub(super) fn find_rule(name: &str) -> Option<&'static (&'static str, ScalarRule, u32)> {
    let position = SCALAR_RULES.binary_search_by(|row| row.0.cmp(name));
    Some(&SCALAR_RULES[position.ok()?])
}

#[cfg(test)]
mod tests {
    use super::SCALAR_RULES;

    #[test]
    fn rules_are_sorted() {
        assert!(SCALAR_RULES.is_sorted_by_key(|row| row.0));
    }
}
