//! Numbers of operands, results and regions, and the attributes of an operation.

use super::check::{CheckedOperation, RuleResult, report_violation};
use crate::dialect::{AttributeSyntax, OpDefinition, find_attribute_structure};
use crate::mlir::{AttributeKind, DialectBody, MlirTypeKind};

/// Rules 6 and 7 of the module `verify`.
pub(crate) fn verify_counts(check: &CheckedOperation<'_>, known: &OpDefinition) -> RuleResult {
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
            return report_violation(format!(
                "{found} {what}s stand where {wanted} {what}{plural} should"
            ));
        }
    }
    for row in known.attributes.split_ascii_whitespace() {
        let Some((name, kind)) = row.split_once(':') else {
            continue;
        };
        match module.find_attribute(check.op, name) {
            Some(attr) => attribute_kind(check, name, kind.trim_end_matches('?'), attr)?,
            None if kind.ends_with('?') => {}
            None => {
                return report_violation(format!("the attribute `{name}` is missing")).map_err(
                    |f: super::check::RuleViolation| f.with_hint(format_attribute_hint(name, kind)),
                );
            }
        }
    }
    Ok(())
}

fn format_attribute_hint(name: &str, kind: &str) -> String {
    let example = match kind {
        "i64s" => "array<i64: 0, 1>",
        "i64" => "0 : i64",
        "i32" => "0 : i32",
        "bool" => "true",
        "string" => "\"text\"",
        "symbol" => "@name",
        "elements" => "dense<0> : tensor<2xi32>",
        _ => "…",
    };
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

fn attribute_kind(
    check: &CheckedOperation<'_>,
    name: &str,
    kind: &str,
    attr: crate::mlir::MlirAttr,
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
    let right = match kind {
        "i64s" => array_of(64),
        "bools" => array_of(1),
        "i64" => integer_of(64),
        "i32" => integer_of(32),
        "bool" => integer_of(1),
        "string" => matches!(found, AttributeKind::String(_) | AttributeKind::Bytes(_)),
        "symbol" => matches!(found, AttributeKind::SymbolRef(_)),
        "type" => matches!(found, AttributeKind::Type(_)),
        "unit" => matches!(found, AttributeKind::Unit),
        "float" => matches!(found, AttributeKind::Float { .. }),
        "elements" => module.as_elements(attr).is_some(),
        "precisions" => match found {
            AttributeKind::Array(list) => {
                list.iter().all(|&attr| module.as_keyword(attr).is_some())
            }
            _ => false,
        },
        "any" => true,
        named => is_of_dialect(check, found, named),
    };
    match right {
        true => Ok(()),
        false => {
            let shown = module.show_attribute(attr);
            let shown: String = shown.chars().take(60).collect();
            report_violation(format!(
                "`{name}` has the value {shown}, which is of another kind"
            ))
        }
    }
}

/// Whether an attribute is that of the dialects with this name, with a word that it knows.
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
