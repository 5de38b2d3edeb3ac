//! Run-time assertions: shape assertions, and calls that cannot be made.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TranslatedValue, TypedTensor};
use crate::dialect::records::ShapeAssertionAttributes;
use crate::mlir::{MlirOp, MlirTypeKind};
use spirula_program::ScalarLiteral;
use spirula_program::ScalarType;
use spirula_tensor::ir::{
    MessagePiece, RunAssertion, ScalarNode, StructuredOp, TensorShape, TensorValue,
};

/// `custom_call @shape_assertion`: the first operand has to be true. The others replace `{0}`,
/// `{1}` and so on in the message.
pub(super) fn shape_assertion(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    let scalars = operands
        .iter()
        .all(|operand| t.tensor_shape(operand).is_empty());
    let is_truth = operands
        .first()
        .is_some_and(|condition| condition.element == TensorElement::Bool);
    let shown = operands.iter().skip(1);
    let are_integers = shown
        .clone()
        .all(|operand| matches!(operand.element, TensorElement::Int { .. }));
    t.ensure_holds(
        op,
        scalars && is_truth && are_integers,
        "asserts something other than a Boolean with integers to show",
    )?;
    let shown: Vec<TypedTensor> = shown.cloned().collect();
    let condition = operands[0].first_component();
    let holds = t.builder.as_literal(condition);
    if holds.is_none_or(|literal| literal.bits == 0) {
        let attributes: ShapeAssertionAttributes<'_> = t.read_attributes(op)?;
        let text = attributes.error_message.map_or("", |message| message.0);
        let message = build_message(t, text, &shown)?;
        t.builder.add_assertion(RunAssertion {
            condition,
            message,
            origin: String::new(),
        });
    }
    t.bind_items(op, Vec::new())
}

/// The pieces of a message with `{0}` for a value; `{{` is a brace. Braces without the number of a
/// value stay as they are.
fn build_message(
    t: &mut StablehloTranslator<'_>,
    text: &str,
    shown: &[TypedTensor],
) -> TranslateResult<Vec<MessagePiece>> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let number = after.split_once('}');
        let value = number.and_then(|(number, after)| {
            let at: usize = number.parse().ok()?;
            Some((shown.get(at)?, after))
        });
        if let Some((tensor, after)) = value {
            pieces.push(MessagePiece::Text(std::mem::take(&mut plain)));
            pieces.push(MessagePiece::Value(
                shown_number(t, tensor)?.first_component(),
            ));
            rest = after;
        } else {
            plain.push('{');
            rest = after.strip_prefix('{').unwrap_or(after);
        }
    }
    plain.push_str(rest);
    pieces.push(MessagePiece::Text(plain));
    Ok(pieces)
}

/// An integer as an `i64`, so that it is shown without a sign where its type has none.
fn shown_number(
    t: &mut StablehloTranslator<'_>,
    tensor: &TypedTensor,
) -> TranslateResult<TypedTensor> {
    t.map_points(&TensorShape::new(), |t, s, _| {
        let value = t.read_element(s, tensor, &[]).node();
        let is_signed = !tensor.element.is_unsigned();
        let wide =
            ScalarBuilder::new(&mut s.body).resize_integer(ScalarType::I64, is_signed, value);
        Ok(ElementValue::new(TensorElement::I64, wide))
    })
}

/// Emits an assertion that a node of the sizes' body is true. The message consists of texts, each
/// followed by a size.
pub(super) fn emit_assertion(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    condition: ScalarNode,
    shown: &[(&str, ScalarNode)],
) -> TranslateResult<()> {
    let known = t.compute_node(|c| c.body.as_literal(condition));
    if let Some(known) = known {
        return t.ensure_holds(op, known.bits != 0, "has bounds outside of its operand");
    }
    let condition = materialise_node(t, condition);
    let mut message = Vec::new();
    for (text, size) in shown {
        message.push(MessagePiece::Text((*text).to_owned()));
        message.push(MessagePiece::Value(materialise_node(t, *size)));
    }
    t.builder.add_assertion(RunAssertion {
        condition,
        message,
        origin: String::new(),
    });
    Ok(())
}

/// A node of the sizes' body as a tensor of rank 0.
fn materialise_node(t: &mut StablehloTranslator<'_>, node: ScalarNode) -> TensorValue {
    let mut s = StructuredOp::default();
    let copy = t.import_node(&mut s, node);
    s.add_yield(copy);
    t.builder.add_structured(s)[0]
}

/// Targets of custom calls that run a function of the host's Python.
pub(super) fn is_callback(target: &str) -> bool {
    target.contains("python") && target.contains("callback")
}

/// A call of Python within control flow: a run that reaches it fails. Its results are zeros, which
/// nothing reads.
pub(super) fn translate_callback(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    target: &str,
) -> TranslateResult<()> {
    if !t.is_nested() {
        return Err(
            t.unsupported_error(op, format!("custom_call @{target}, a callback to Python,"))
        );
    }
    let never = ScalarLiteral::new(ScalarType::Bool, 0);
    let condition = t.builder.add_splat(never, &[]);
    let text = format!("the run reached a callback to Python, custom_call @{target}");
    t.builder.add_assertion(RunAssertion {
        condition,
        message: vec![MessagePiece::Text(text)],
        origin: String::new(),
    });
    let types: Vec<_> = t.module.results(op).map(|v| t.module.type_of(v)).collect();
    let mut items = Vec::new();
    for (at, ty) in types.into_iter().enumerate() {
        items.push(match t.module.types.kind(ty) {
            MlirTypeKind::Tensor { .. } => {
                let (element, shape) = t.result_type(op, at)?;
                TranslatedValue::Tensor(t.emit_zeros(element, &shape))
            }
            _ => TranslatedValue::Token,
        });
    }
    t.bind_items(op, items)
}
