//! Parsers of the custom forms of Shardy's operations.

use super::TrailingTypes;
use crate::mlir::text::{MlirParseResult, MlirParser, OperationState};
use crate::mlir::{AttributeKind, DialectBody};

/// `@name = <["x"=2]> {…}`
pub(crate) fn parse_mesh<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    let name = parser.symbol_name()?;
    parser.add_property(draft, "sym_name", AttributeKind::String(name));
    parser.cursor.expect_punctuation("=")?;
    parse_raw_body(parser, draft, "mesh", "sdy.mesh")?;
    if parser.cursor.peek_byte() == b'{' {
        draft.attributes = parser.parse_dictionary()?;
    }
    Ok(())
}

/// `%x <@mesh, [{"x"}, {}]> {…} : type`
pub(crate) fn sharding_constraint<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "%")?;
    parse_raw_body(parser, draft, "sharding", "sdy.sharding")?;
    parser.parse_formatted_operation(draft, "", TrailingTypes::Same)
}

/// `(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[…] manual_axes={"x"} (%a: type) {…} : …`
pub(crate) fn manual_computation<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "(%*)")?;
    for (word, name, mnemonic) in [
        ("in_shardings", "sdy.sharding_per_value", ""),
        ("out_shardings", "sdy.sharding_per_value", ""),
        ("manual_axes", "sdy", "manual_axes"),
    ] {
        parser.cursor.expect_word(word)?;
        parser.cursor.expect_punctuation("=")?;
        if !matches!(parser.cursor.peek_byte(), b'[' | b'{') {
            return parser.cursor.report_expected("a list");
        }
        let body = parser.balanced_text()?;
        let body = parser.module.intern_text(&format!("<{mnemonic}{body}>"));
        let body = DialectBody::Text(body);
        let name = parser.module.intern_text(name);
        parser.add_property(draft, word, AttributeKind::Dialect { name, body });
    }
    parser.cursor.expect_punctuation("(")?;
    let arguments = parser.parse_list(")", |parser| parser.parse_argument())?;
    draft
        .regions
        .push(parser.parse_region(Some(&arguments), true)?);
    parser.parse_formatted_operation(draft, "", TrailingTypes::Functional)
}

/// `%x group_id=0 {…} : type`
pub(crate) fn sharding_group<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "% group_id =")?;
    let group = parser.cursor.read_signed_number()?;
    let attr = parser.integer_attribute(group, 64);
    let name = parser.module.intern_text("group_id");
    draft.add_property(name, attr);
    parser.parse_formatted_operation(draft, "", TrailingTypes::Operands)
}

/// The body of a dialect's attribute, whose text is kept unchanged.
fn parse_raw_body<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
    property: &str,
    attribute: &str,
) -> MlirParseResult<()> {
    if parser.cursor.peek_byte() != b'<' {
        return parser.cursor.report_expected("`<`");
    }
    let body = parser.balanced_body()?;
    let body = DialectBody::Text(parser.module.intern_text(body));
    let name = parser.module.intern_text(attribute);
    parser.add_property(draft, property, AttributeKind::Dialect { name, body });
    Ok(())
}
