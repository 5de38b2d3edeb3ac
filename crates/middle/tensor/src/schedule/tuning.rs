//! Tuning: settings of single dispatches, by the signatures of what these compute.

use super::{ScheduleProfile, TensorDispatch};
use crate::ir::{StructuredOp, TensorFunction};
use crate::text::{format_axes, format_body};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Settings of dispatches, by their signatures.
///
/// The text form has a line for each, `SIGNATURE NAME=VALUE,…`. Empty lines and lines that begin with `#` are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DispatchTuning {
    found: BTreeMap<String, Vec<(String, u64)>>,
}

impl DispatchTuning {
    /// Sets the settings of a signature. Names that no profile knows are ignored when the settings are used.
    pub fn insert_settings(&mut self, signature: &str, settings: Vec<(String, u64)>) {
        self.found.insert(signature.to_owned(), settings);
    }

    /// Whether there are no settings.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The profile of an operation: `base` with the settings of the operation's signature.
    pub(crate) fn profile_for(
        &self,
        function: &TensorFunction,
        op: &StructuredOp,
        base: ScheduleProfile,
    ) -> ScheduleProfile {
        let mut profile = base;
        if !self.found.is_empty() {
            let settings = self.found.get(&compute_signature(function, op));
            for (name, value) in settings.into_iter().flatten() {
                profile.set_setting(name, *value);
            }
        }
        profile
    }
}

impl fmt::Display for DispatchTuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (signature, settings) in &self.found {
            let settings = settings.iter();
            let settings: Vec<String> = settings.map(|(name, n)| format!("{name}={n}")).collect();
            writeln!(f, "{signature} {}", settings.join(","))?;
        }
        Ok(())
    }
}

impl FromStr for DispatchTuning {
    type Err = String;

    fn from_str(text: &str) -> Result<DispatchTuning, String> {
        let mut tuning = DispatchTuning::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fault = |what: &str| format!("line {}: {what}", number + 1);
            let (signature, settings) = line
                .split_once(' ')
                .ok_or_else(|| fault("expected a signature and settings"))?;
            let mut found = Vec::new();
            for setting in settings.split(',').filter(|s| !s.trim().is_empty()) {
                let (name, value) = setting
                    .trim()
                    .split_once('=')
                    .ok_or_else(|| fault(&format!("expected NAME=VALUE, found {setting:?}")))?;
                let value = value.parse().ok();
                let mut profile = ScheduleProfile::GPU;
                let value = value.filter(|n| profile.set_setting(name, *n));
                let value = value.ok_or_else(|| fault(&format!("no schedule has {setting:?}")))?;
                found.push((name.to_owned(), value));
            }
            tuning.insert_settings(signature, found);
        }
        Ok(tuning)
    }
}

/// The signature of an operation: sizes of its axes, and a hash of its text (FNV-1a). Tensors are numbered there in the
/// order of reads. Equal operations have equal signatures in all programs.
pub fn compute_signature(function: &TensorFunction, op: &StructuredOp) -> String {
    let mut text = renumber_values(&format_axes(op), op);
    for line in format_body(op) {
        text.push('\n');
        text.push_str(&renumber_values(&line, op));
    }
    for operand in op.collect_operands() {
        text.push_str(&format!("\n{}", function.ty(operand).element));
    }
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let sizes = op.axes.iter().map(|axis| match axis.extent.as_static() {
        Some(size) => size.to_string(),
        None => "?".to_owned(),
    });
    let sizes: Vec<String> = sizes.collect();
    format!("{}-{hash:016x}", sizes.join("x"))
}

/// A text in which values are numbered by their place among the operands.
fn renumber_values(text: &str, op: &StructuredOp) -> String {
    let operands = op.collect_operands();
    let mut renamed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at + 1);
        renamed.push_str(before);
        let digits = from.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = from.split_at(digits);
        let is_it = |value: &crate::ir::TensorValue| number.parse() == Ok(value.index());
        match operands.iter().position(is_it) {
            Some(place) => renamed.push_str(&place.to_string()),
            None => renamed.push_str(number),
        }
        rest = after;
    }
    renamed.push_str(rest);
    renamed
}

impl TensorDispatch {
    /// Strategy and settings of the schedule: `flat(flat=256,vector=16)`.
    pub fn format_attributes(&self) -> String {
        let settings = self.nest.profile.settings_of(self.strategy);
        let settings: Vec<String> = settings.map(|(s, n)| format!("{}={n}", s.name)).collect();
        format!("{}({})", self.strategy.name, settings.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuning_reads_back() {
        let text = "4x4-0123 flat=64,vector=1\nz-1 group=4\n";
        let tuning: DispatchTuning = format!("# x\n\n{text}").parse().unwrap();
        assert_eq!(tuning.to_string(), text);
        for (text, told) in [
            ("a", "line 1: expected a signature and settings"),
            ("\na flat", "line 2: expected NAME=VALUE, found \"flat\""),
            ("a flat=3", "line 1: no schedule has \"flat=3\""),
            ("a flta=4", "line 1: no schedule has \"flta=4\""),
        ] {
            assert_eq!(text.parse::<DispatchTuning>().unwrap_err(), told);
        }
    }
}
