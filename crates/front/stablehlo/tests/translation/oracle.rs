//! Functions that tests of the translation share: counting, and comparing tensors.

use spirula_diagnostics::{SourceFile, render_diagnostic};
use spirula_program::ScalarLiteral;
use spirula_stablehlo::translate::{TensorElement, TranslateError};
use spirula_tensor::ir::TensorConstant;
use std::collections::BTreeMap;

/// Outcome of the programs of a folder.
#[derive(Default)]
pub struct OracleTally {
    pub right: usize,
    pub unsupported: BTreeMap<String, Vec<String>>,
    pub wrong: Vec<String>,
    pub too_long: Vec<String>,
}

impl OracleTally {
    pub fn failed(&mut self, name: &str, error: TranslateError, bytes: &[u8]) {
        match error {
            TranslateError::Unsupported { what, .. } => {
                self.unsupported
                    .entry(what)
                    .or_default()
                    .push(name.to_owned());
            }
            TranslateError::Invalid(diagnostic) => {
                let source = SourceFile { name, bytes };
                self.wrong
                    .push(render_diagnostic(&diagnostic, source, false));
            }
        }
    }

    pub fn show(&self, folder: &str) {
        let unsupported: usize = self.unsupported.values().map(Vec::len).sum();
        let (right, wrong, long) = (self.right, self.wrong.len(), self.too_long.len());
        eprintln!("{folder}: {right} right, {wrong} wrong, {unsupported} unsupported, {long} long");
        let mut causes: Vec<_> = self.unsupported.iter().collect();
        causes.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        for (what, names) in causes {
            eprintln!("  {:4} unsupported {what} ({})", names.len(), names[0]);
        }
        for wrong in &self.wrong {
            eprintln!("  wrong: {}", wrong.trim_end());
        }
        for long in &self.too_long {
            eprintln!("  long: {long}");
        }
    }
}

/// Tolerance of the comparison of floats.
#[derive(Clone, Copy)]
pub enum OracleTolerance {
    /// Not further apart than this.
    Within(f64),
    /// Not more numbers of the type apart than this.
    Ulps(u64),
}

/// The first element, counted over both parts of complex numbers, that is not as expected.
pub fn first_difference(
    element: TensorElement,
    found: &TensorConstant,
    expected: &TensorConstant,
    rule: OracleTolerance,
) -> Option<String> {
    if found.ty != expected.ty {
        return Some(format!("{} instead of {}", found.ty, expected.ty));
    }
    let count = found.ty.element_count().unwrap_or(0) as usize;
    let at = (0..count).find(|at| {
        !are_alike(
            element,
            found.element_bits(*at),
            expected.element_bits(*at),
            rule,
        )
    })?;
    let shown = |tensor: &TensorConstant| {
        ScalarLiteral::new(tensor.ty.element, tensor.element_bits(at)).to_string()
    };
    let (found, expected) = (shown(found), shown(expected));
    Some(format!(
        "element {at} ({element}): {found} instead of {expected}"
    ))
}

/// Whether two elements, given by their stored bits, count as equal.
pub fn are_alike(element: TensorElement, found: u64, expected: u64, rule: OracleTolerance) -> bool {
    let TensorElement::Float(float) = element.component_element() else {
        return found == expected;
    };
    let format = float.format();
    let (a, b) = (format.decode_bits(found), format.decode_bits(expected));
    if a == b || a.is_nan() || b.is_nan() || a.is_infinite() || b.is_infinite() {
        return a == b || a.is_nan() && b.is_nan();
    }
    match rule {
        OracleTolerance::Within(most) => (a - b).abs() <= most,
        OracleTolerance::Ulps(most) => {
            let order = |bits: u64| {
                let sign = 1u64 << (format.width - 1);
                let size = (bits & (sign - 1)) as i128;
                if bits & sign == 0 { size } else { -size }
            };
            (order(found) - order(expected)).unsigned_abs() <= most.into()
        }
    }
}
