//! Types in the text: hover, signatures and hints.

use super::find_place;
use crate::protocol::{EditorRange, RangeParams, RequestFault, read_params};
use crate::server::EditorSession;
use serde_json::{Value, json};
use spirula_futhark::syntax::token::TextRange;

/// `textDocument/hover`: the type and the documentation of a name.
pub(super) fn answer_hover(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let (view, at) = find_place(session, params)?;
    let Some(hover) = view.analysis.describe_name(view.file, at) else {
        return Ok(Value::Null);
    };
    let mut text = format!("```futhark\n{}\n```", hover.code);
    if let Some(documentation) = &hover.documentation {
        text.push_str(&format!("\n\n{documentation}"));
    }
    let range: Option<EditorRange> = view.find_range(hover.range);
    let contents = json!({"kind": "markdown", "value": text});
    Ok(match range {
        Some(range) => json!({"contents": contents, "range": range}),
        None => json!({"contents": contents}),
    })
}

/// `textDocument/signatureHelp`: the function that is applied, and the argument that is written.
pub(super) fn answer_signature(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let (view, at) = find_place(session, params)?;
    let Some(help) = view.analysis.find_signature(view.file, at) else {
        return Ok(Value::Null);
    };
    let signature = json!({
        "label": help.label,
        "documentation": help.documentation,
        "parameters": help.parameters.iter().map(|name| json!({"label": name})).collect::<Value>(),
    });
    Ok(json!({
        "signatures": [signature],
        "activeSignature": 0,
        "activeParameter": help.active,
    }))
}

/// `textDocument/inlayHint`: the types of variables that `let` binds.
pub(super) fn answer_hints(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let params: RangeParams = read_params(params)?;
    let view = session.documents.view(&params.text_document.uri)?;
    let range = TextRange {
        start: view.find_byte(params.range.start),
        end: view.find_byte(params.range.end),
    };
    let hints = view.analysis.list_hints(view.file, range);
    let hints = hints.into_iter().filter_map(|hint| {
        let range = TextRange {
            start: hint.at,
            end: hint.at,
        };
        let position = view.find_range(range)?.start;
        Some(json!({"position": position, "label": hint.text, "kind": 1}))
    });
    Ok(hints.collect())
}
