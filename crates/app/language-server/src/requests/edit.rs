//! Changes of texts: renaming and formatting.

use super::find_place;
use super::navigation::locate_place;
use crate::protocol::{
    DocumentParams, EditorEdit, EditorPosition, EditorRange, PositionParams, RequestFault,
    read_params,
};
use crate::server::EditorSession;
use crate::text_position::LineIndex;
use serde_json::{Value, json};
use spirula_futhark::format::format_source;
use spirula_futhark::query::RenameFault;
use std::collections::BTreeMap;

/// `textDocument/prepareRename`: the range of a name that can be changed.
pub(super) fn answer_renamable(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let (view, at) = find_place(session, params)?;
    let range = view.analysis.find_renamable(view.file, at);
    Ok(json!(view.find_range(range.map_err(refuse_rename)?)))
}

/// `textDocument/rename`.
pub(super) fn answer_rename(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let params: PositionParams = read_params(params)?;
    let uri = &params.text_document.uri;
    let view = session.documents.view(uri)?;
    if view.analysis.file(view.file).text != view.text {
        let message = "the file has a fault of syntax";
        return Err(RequestFault::new(RequestFault::REQUEST_FAILED, message));
    }
    let at = view.find_byte(params.position);
    let edits = view.analysis.rename(view.file, at, &params.new_name);
    let mut changes: BTreeMap<String, Vec<EditorEdit>> = BTreeMap::new();
    for edit in edits.map_err(refuse_rename)? {
        if let Some(location) = locate_place(&view, uri, edit.place, &session.options) {
            let edit = EditorEdit {
                range: location.range,
                new_text: edit.text,
            };
            changes.entry(location.uri).or_default().push(edit);
        }
    }
    Ok(json!({"changes": changes}))
}

fn refuse_rename(fault: RenameFault) -> RequestFault {
    RequestFault::new(RequestFault::REQUEST_FAILED, fault.to_string())
}

/// `textDocument/formatting`. A text with faults of syntax has no edits: they are shown already.
pub(super) fn answer_formatting(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let params: DocumentParams = read_params(params)?;
    let text = session.documents.find_text(&params.text_document.uri)?;
    let Ok(formatted) = format_source(text) else {
        return Ok(Value::Null);
    };
    if formatted == text {
        return Ok(json!([]));
    }
    let range = EditorRange {
        start: EditorPosition::default(),
        end: LineIndex::new(text).find_position(text.len()),
    };
    Ok(json!([EditorEdit {
        range,
        new_text: formatted,
    }]))
}
