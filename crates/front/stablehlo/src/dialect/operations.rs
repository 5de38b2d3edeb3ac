//! What is known of operations: one row each; operations that differ in nothing but their names
//! share one.

use super::attributes::Kind;
use super::table::TABLES;
use crate::mlir::text::{Draft, Parser, Result};
use crate::verify::check::{Check, Classes, Outcome};
use crate::verify::rules::Rule;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What is known of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// Dialect and names.
    pub names: (&'static str, &'static [&'static str]),
    /// Attributes that belong to it: `name:kind name:kind …`, `?` behind those that may be
    /// missing.
    pub attributes: &'static str,
    /// How it is written if not generically.
    pub form: Form,
    /// Whether its regions see no values from outside.
    pub isolated: bool,
    /// Numbers of operands, results and regions, what is missing being 0: `2`, `1+` (one or
    /// more), `1?` (one or none), `*` (any).
    pub signature: &'static str,
    /// What the verifier checks beyond that.
    pub rule: Rule,
}

/// How an operation is written if not generically.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// Only in the generic form.
    Generic,
    /// As a format says (see the module `mlir::text::format`).
    Format(&'static str, Types),
    /// As a function reads it, from behind the name up to the location.
    Custom(for<'a, 'b> fn(&'b mut Parser<'a>, &'b mut Draft<'a>) -> Result<()>),
}

/// What types behind an operation mean that are neither `(…) -> …` nor `…, … -> …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    /// There is no such form.
    Functional,
    /// One type: that of all operands and of the result.
    Same,
    /// The types of the operands, which are those of the results.
    Pairwise,
    /// The types of the operands, or one for all; there are no results.
    Operands,
    /// The types of the condition and of the result.
    Select,
    /// The type of the result, which has the operands as its parts.
    Complex,
    /// The type of the tuple that has the operands as its members.
    Tuple,
}

impl Operation {
    /// The kind of an attribute that belongs to the operation.
    pub fn attribute(&self, name: &str) -> Option<Kind> {
        let mut all = self.attributes.split_ascii_whitespace();
        let kind = all.find_map(|row| row.strip_prefix(name)?.strip_prefix(':'))?;
        Some(match kind.trim_end_matches('?') {
            "i64s" => Kind::I64s,
            "bools" => Kind::Bools,
            "i64" => Kind::Integer(64),
            "i32" => Kind::Integer(32),
            _ => Kind::Any,
        })
    }

    /// The names of the row, for messages.
    pub fn shown(&self) -> String {
        format!("{}.{}", self.names.0, self.names.1.join("/"))
    }
}

pub(super) const fn row(
    dialect: &'static str,
    names: &'static [&'static str],
    attributes: &'static str,
    form: Form,
) -> Operation {
    Operation {
        names: (dialect, names),
        attributes,
        form,
        isolated: false,
        signature: "* * *",
        rule: Rule::None,
    }
}

/// Numbers of operands, results and regions, and a rule that is a function.
pub(super) const fn checked(
    signature: &'static str,
    rule: fn(&Check<'_>) -> Outcome,
    operation: Operation,
) -> Operation {
    Operation {
        signature,
        rule: Rule::Function(rule),
        ..operation
    }
}

/// Numbers of operands, results and regions without a further rule.
pub(super) const fn counted(signature: &'static str, operation: Operation) -> Operation {
    Operation {
        signature,
        ..operation
    }
}

/// Operations of StableHLO on elements of these classes.
pub(super) const fn elementwise(
    signature: &'static str,
    names: &'static [&'static str],
    classes: Classes,
) -> Operation {
    Operation {
        signature,
        rule: Rule::Elementwise(classes),
        ..row("stablehlo", names, "", same("%*"))
    }
}

pub(super) const fn isolated(operation: Operation) -> Operation {
    Operation {
        isolated: true,
        ..operation
    }
}

pub(super) const fn functional(format: &'static str) -> Form {
    Form::Format(format, Types::Functional)
}

pub(super) const fn same(format: &'static str) -> Form {
    Form::Format(format, Types::Same)
}

/// Short names: operations whose dialect the custom form leaves out.
const SHORT: &[(&str, &str)] = &[
    ("module", "builtin.module"),
    ("func", "func.func"),
    ("call", "func.call"),
    ("return", "func.return"),
];

static BY_NAME: LazyLock<FxHashMap<String, &'static Operation>> = LazyLock::new(|| {
    let names = |operation: &'static Operation| {
        let (dialect, names) = operation.names;
        let name = move |name: &&str| (format!("{dialect}.{name}"), operation);
        names.iter().map(name)
    };
    TABLES.iter().copied().flatten().flat_map(names).collect()
});

/// What is known of an operation.
pub(crate) fn operation(name: &str) -> Option<&'static Operation> {
    BY_NAME.get(name).copied()
}

/// The name of an operation with its dialect; operations of `mhlo` that StableHLO shares are
/// StableHLO's.
pub(crate) fn full_operation_name(name: &str) -> Cow<'_, str> {
    if let Some(rest) = name.strip_prefix("mhlo.") {
        let shared = format!("stablehlo.{rest}");
        if BY_NAME.contains_key(&shared) {
            return shared.into();
        }
    }
    let mut short = SHORT.iter();
    match short.find(|(short, _)| *short == name) {
        Some((_, full)) => (*full).into(),
        None => name.into(),
    }
}
