//! Functions of other libraries that kernels call by symbols, such as those of CUDA's `libdevice`.

/// The function of OpenCL that a symbol of `libdevice` means: its name without the prefix `__nv_` and the suffix of the type.
pub(super) fn find_external(symbol: &str) -> Option<&'static str> {
    let name = symbol.strip_prefix("__nv_")?;
    let find = |name: &str| {
        FUNCTIONS
            .binary_search_by(|row| row.0.cmp(name))
            .ok()
            .map(|position| FUNCTIONS[position].1)
    };
    find(name).or_else(|| find(name.strip_suffix('f')?))
}

/// Names in `libdevice` and in OpenCL.
#[rustfmt::skip]
static FUNCTIONS: &[(&str, &str)] = &[
    ("acos", "acos"), ("acosh", "acosh"), ("asin", "asin"), ("asinh", "asinh"), ("atan", "atan"),
    ("atan2", "atan2"), ("atanh", "atanh"), ("cbrt", "cbrt"), ("ceil", "ceil"), ("copysign", "copysign"),
    ("cos", "cos"), ("cosh", "cosh"), ("cospi", "cospi"), ("erf", "erf"), ("erfc", "erfc"),
    ("exp", "exp"), ("exp10", "exp10"), ("exp2", "exp2"), ("expm1", "expm1"), ("fabs", "fabs"),
    ("fast_cos", "cos"), ("fast_divide", "native_divide"), ("fast_exp", "exp"), ("fast_exp10", "exp10"), ("fast_log", "log"),
    ("fast_log10", "log10"), ("fast_log2", "log2"), ("fast_pow", "pow"), ("fast_sin", "sin"), ("fast_tan", "tan"),
    ("fast_tanh", "tanh"), ("fdim", "fdim"), ("floor", "floor"), ("fma", "fma"), ("fmax", "fmax"),
    ("fmin", "fmin"), ("fmod", "fmod"), ("hypot", "hypot"), ("lgamma", "lgamma"), ("log", "log"),
    ("log10", "log10"), ("log1p", "log1p"), ("log2", "log2"), ("logb", "logb"), ("nearbyint", "rint"),
    ("nextafter", "nextafter"), ("pow", "pow"), ("remainder", "remainder"), ("rint", "rint"), ("round", "round"),
    ("rsqrt", "rsqrt"), ("sin", "sin"), ("sinh", "sinh"), ("sinpi", "sinpi"), ("sqrt", "sqrt"),
    ("tan", "tan"), ("tanh", "tanh"), ("tgamma", "tgamma"), ("trunc", "trunc"),
];

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, find_external};

    #[test]
    fn symbols_are_found() {
        assert!(FUNCTIONS.is_sorted_by_key(|row| row.0));
        assert_eq!(find_external("__nv_asinf"), Some("asin"));
        assert_eq!(find_external("__nv_erf"), Some("erf"));
        assert_eq!(find_external("__ocml_sin_f32"), None);
    }
}
