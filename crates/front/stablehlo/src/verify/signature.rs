//! Rules of signatures: numbers of operands, results and regions, and attributes.

use super::checked_operation::{CheckedOperation, RuleResult, RuleViolation, report_violation};
use crate::dialect::{
    AttributeConstraint, AttributeDefinition, AttributeSyntax, OpDefinition,
    find_attribute_structure,
};
use crate::mlir::{AttributeKind, DialectBody, MlirAttr, MlirTypeKind};

/// Rules 6 and 7 of the module `verify`.
pub(crate) fn verify_signature(check: &CheckedOperation<'_>, known: &OpDefinition) -> RuleResult {
    let mut parts = known.signature.split_ascii_whitespace();
    let module = check.module;
    let numbers = [
        ("operand", check.operands.len()),
        ("result", check.results.len()),
        ("region", module.regions(check.op).len()),
    ];
    for (what, found) in numbers {
        let wanted = parts.next().unwrap_or("0");
        if !is_count_allowed(found, wanted) {
            let plural = if wanted == "1" { "" } else { "s" };
            let wanted = wanted.replace('+', " or more").replace('?', " or none");
            return report_violation(format!("expected {wanted} {what}{plural}, found {found}"));
        }
    }
    for attribute in known.attributes {
        match module.find_attribute(check.op, attribute.name) {
            Some(attr) => verify_constraint(check, attribute, attr)?,
            None if attribute.is_optional => {}
            None => {
                let name = attribute.name;
                let hint = format_attribute_hint(attribute);
                return report_violation(format!("the attribute `{name}` is missing"))
                    .map_err(|violation: RuleViolation| violation.with_hint(hint));
            }
        }
    }
    Ok(())
}

fn format_attribute_hint(attribute: &AttributeDefinition) -> String {
    let example = match attribute.constraint {
        AttributeConstraint::I64s => "array<i64: 0, 1>",
        AttributeConstraint::Integer(64) => "0 : i64",
        AttributeConstraint::Integer(1) => "true",
        AttributeConstraint::Integer(_) => "0 : i32",
        AttributeConstraint::String => "\"text\"",
        AttributeConstraint::Symbol => "@name",
        AttributeConstraint::Elements => "dense<0> : tensor<2xi32>",
        _ => "…",
    };
    let name = attribute.name;
    format!("write it as `<{{{name} = {example}}}>` in the generic form")
}

/// `*`, `2`, `1+`, `1?`
fn is_count_allowed(found: usize, wanted: &str) -> bool {
    let number = |text: &str| text.parse().unwrap_or(0);
    match (wanted.strip_suffix('+'), wanted.strip_suffix('?')) {
        _ if wanted == "*" => true,
        (Some(least), _) => found >= number(least),
        (_, Some(most)) => found == 0 || found == number(most),
        _ => found == number(wanted),
    }
}

/// Whether an attribute satisfies the constraint of its definition.
fn verify_constraint(
    check: &CheckedOperation<'_>,
    attribute: &AttributeDefinition,
    attr: MlirAttr,
) -> RuleResult {
    let module = check.module;
    let found = module.attributes.kind(attr);
    let integer_of = |width: u32| match found {
        AttributeKind::Integer { ty, .. } => {
            matches!(*module.types.kind(*ty), MlirTypeKind::Integer { width: w, .. } if w == width)
        }
        _ => false,
    };
    let array_of = |width: u32| match found {
        AttributeKind::DenseArray { element, .. } => {
            matches!(*module.types.kind(*element), MlirTypeKind::Integer { width: w, .. } if w == width)
        }
        _ => false,
    };
    let satisfied = match attribute.constraint {
        AttributeConstraint::I64s => array_of(64),
        AttributeConstraint::Bools => array_of(1),
        AttributeConstraint::Integer(width) => integer_of(width),
        AttributeConstraint::String => {
            matches!(found, AttributeKind::String(_) | AttributeKind::Bytes(_))
        }
        AttributeConstraint::Symbol => matches!(found, AttributeKind::SymbolRef(_)),
        AttributeConstraint::Type => matches!(found, AttributeKind::Type(_)),
        AttributeConstraint::Unit => matches!(found, AttributeKind::Unit),
        AttributeConstraint::Float => matches!(found, AttributeKind::Float { .. }),
        AttributeConstraint::Elements => module.as_elements(attr).is_some(),
        AttributeConstraint::Precisions => match found {
            AttributeKind::Array(list) => {
                let mut kinds = list.iter().map(|attr| module.attributes.kind(*attr));
                kinds.all(|kind| is_of_dialect(check, kind, "precision"))
            }
            _ => false,
        },
        AttributeConstraint::Any => true,
        AttributeConstraint::Dialect(named) => is_of_dialect(check, found, named),
    };
    if satisfied {
        return Ok(());
    }
    let shown = module.show_attribute(attr);
    let shown: String = shown.chars().take(60).collect();
    let name = attribute.name;
    report_violation(format!(
        "`{name}` has the value {shown}, which is of another kind"
    ))
}

/// Whether an attribute is the dialects' attribute of this name; the word of an enumeration has to
/// be known.
fn is_of_dialect(check: &CheckedOperation<'_>, found: &AttributeKind, named: &str) -> bool {
    let AttributeKind::Dialect { name, body } = found else {
        return false;
    };
    let name = check.module.symbol_text(*name);
    let is_named = name.split_once('.').is_some_and(|(_, rest)| rest == named);
    match (find_attribute_structure(name), body) {
        (Some(AttributeSyntax::Keyword), DialectBody::Keyword(word)) => {
            let word = check.module.symbol_text(*word);
            is_named && crate::dialect::list_keywords(named).contains(&word)
        }
        (Some(_), DialectBody::Fields(_)) => is_named,
        _ => false,
    }
}
