//! Definitions of operations: the type of a row. Operations that differ only in their names share a
//! row.

use super::opcode::MlirOpcode;
use super::properties::AttributeDefinition;
use super::table::TABLES;
use crate::mlir::text::{MlirParseResult, MlirParser, OperationState};
use crate::mlir::{MlirModule, MlirOp};
use crate::verify::checked_operation::{CheckedOperation, ElementClasses, RuleResult};
use crate::verify::rules::VerifierRule;
use std::borrow::Cow;

/// Definition of operations: one row of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpDefinition {
    /// Operations of the row.
    pub opcodes: &'static [MlirOpcode],
    /// Attributes that belong to it.
    pub attributes: &'static [AttributeDefinition],
    /// Custom assembly form.
    pub form: AssemblyFormat,
    /// Whether its regions are isolated from above.
    pub isolated: bool,
    /// Numbers of operands, results and regions; a missing one is 0: `2`, `1+` (one or more), `1?`
    /// (one or none), `*` (any).
    pub signature: &'static str,
    /// Rule that the verifier checks beyond these numbers and the attributes.
    pub rule: VerifierRule,
}

/// Assembly form of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AssemblyFormat {
    /// Only in the generic form.
    Generic,
    /// A format describes it (see the module `mlir::text::format`).
    Format(&'static str, TrailingTypes),
    /// A function reads it, from after the name up to the location.
    Custom(
        for<'a, 'b> fn(&'b mut MlirParser<'a>, &'b mut OperationState<'a>) -> MlirParseResult<()>,
    ),
}

/// Meaning of trailing types that are neither `(…) -> …` nor `…, … -> …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrailingTypes {
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

/// All rows of the tables.
pub(crate) fn list_definitions() -> impl Iterator<Item = &'static OpDefinition> {
    TABLES.iter().flat_map(|table| table.iter())
}

impl OpDefinition {
    /// The definition of an attribute that belongs to the operation.
    pub fn find_attribute(&self, name: &str) -> Option<&'static AttributeDefinition> {
        let mut all = self.attributes.iter();
        all.find(|attribute| attribute.name == name)
    }

    /// The names of the row, for messages.
    pub fn format_names(&self) -> String {
        let more = self.opcodes.iter().skip(1);
        let more = more.map(|opcode| format!("/{}", opcode.mnemonic()));
        self.opcodes[0].name().to_owned() + &more.collect::<String>()
    }
}

pub(super) const fn define_operation(
    opcodes: &'static [MlirOpcode],
    attributes: &'static [AttributeDefinition],
    form: AssemblyFormat,
) -> OpDefinition {
    OpDefinition {
        opcodes,
        attributes,
        form,
        isolated: false,
        signature: "* * *",
        rule: VerifierRule::None,
    }
}

/// Adds numbers of operands, results and regions, and a rule that is a function.
pub(super) const fn with_rule(
    signature: &'static str,
    rule: fn(&CheckedOperation<'_>) -> RuleResult,
    operation: OpDefinition,
) -> OpDefinition {
    OpDefinition {
        signature,
        rule: VerifierRule::Function(rule),
        ..operation
    }
}

/// Adds numbers of operands, results and regions without a further rule.
pub(super) const fn with_signature(
    signature: &'static str,
    operation: OpDefinition,
) -> OpDefinition {
    OpDefinition {
        signature,
        ..operation
    }
}

/// Operations of StableHLO on elements of these classes.
pub(super) const fn define_elementwise(
    signature: &'static str,
    opcodes: &'static [MlirOpcode],
    classes: ElementClasses,
) -> OpDefinition {
    OpDefinition {
        signature,
        rule: VerifierRule::Elementwise(classes),
        ..define_operation(opcodes, &[], same_type_format("%*"))
    }
}

pub(super) const fn with_isolation(operation: OpDefinition) -> OpDefinition {
    OpDefinition {
        isolated: true,
        ..operation
    }
}

pub(super) const fn functional_format(format: &'static str) -> AssemblyFormat {
    AssemblyFormat::Format(format, TrailingTypes::Functional)
}

pub(super) const fn same_type_format(format: &'static str) -> AssemblyFormat {
    AssemblyFormat::Format(format, TrailingTypes::Same)
}

/// Short names: operations whose dialect the custom form leaves out.
const SHORT: &[(&str, &str)] = &[
    ("module", "builtin.module"),
    ("func", "func.func"),
    ("call", "func.call"),
    ("return", "func.return"),
];

/// The row of each operation. That each has exactly one is checked at compile time.
static DEFINITIONS: [&OpDefinition; MlirOpcode::COUNT] = index_definitions();

const fn index_definitions() -> [&'static OpDefinition; MlirOpcode::COUNT] {
    let mut definitions = [None; MlirOpcode::COUNT];
    let mut table = 0;
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            let definition = &TABLES[table][row];
            let mut at = 0;
            while at < definition.opcodes.len() {
                let entry = &mut definitions[definition.opcodes[at] as usize];
                assert!(entry.is_none(), "an operation has two rows");
                *entry = Some(definition);
                at += 1;
            }
            row += 1;
        }
        table += 1;
    }
    let mut complete = [&TABLES[0][0]; MlirOpcode::COUNT];
    let mut at = 0;
    while at < MlirOpcode::COUNT {
        complete[at] = definitions[at].expect("an operation has no row");
        at += 1;
    }
    complete
}

impl MlirModule {
    /// The row of an operation, if one of the dialects knows it.
    pub(crate) fn op_definition(&self, op: MlirOp) -> Option<&'static OpDefinition> {
        self.opcode(op).map(MlirOpcode::definition)
    }
}

impl MlirOpcode {
    /// The row of the operation.
    pub(crate) fn definition(self) -> &'static OpDefinition {
        DEFINITIONS[self as usize]
    }
}

/// The name of an operation with its dialect; operations of `mhlo` that StableHLO shares are
/// StableHLO's.
pub(crate) fn full_operation_name(name: &str) -> Cow<'_, str> {
    if let Some(rest) = name.strip_prefix("mhlo.") {
        let shared = format!("stablehlo.{rest}");
        if MlirOpcode::find(&shared).is_some() {
            return shared.into();
        }
    }
    let mut short = SHORT.iter();
    match short.find(|(short, _)| *short == name) {
        Some((_, full)) => (*full).into(),
        None => name.into(),
    }
}
