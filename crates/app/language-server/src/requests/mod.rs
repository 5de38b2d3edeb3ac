//! Requests of editors: a row of [`REQUESTS`] and a function for each.

mod completion;
mod edit;
mod hover;
mod navigation;
mod symbol;

use crate::document::DocumentView;
use crate::protocol::{PositionParams, RequestFault, read_params};
use crate::server::EditorSession;
use serde_json::Value;

/// A function that answers a request.
type RequestHandler = fn(&mut EditorSession<'_>, Value) -> Result<Value, RequestFault>;

/// All requests that the server answers in an open session, by their methods.
pub(crate) const REQUESTS: &[(&str, RequestHandler)] = &[
    ("textDocument/hover", hover::answer_hover),
    ("textDocument/signatureHelp", hover::answer_signature),
    ("textDocument/inlayHint", hover::answer_hints),
    ("textDocument/definition", navigation::answer_definition),
    ("textDocument/references", navigation::answer_references),
    (
        "textDocument/documentHighlight",
        navigation::answer_highlights,
    ),
    ("textDocument/documentSymbol", symbol::answer_symbols),
    ("textDocument/completion", completion::answer_completion),
    ("textDocument/prepareRename", edit::answer_renamable),
    ("textDocument/rename", edit::answer_rename),
    ("textDocument/formatting", edit::answer_formatting),
];

/// The file that a request is about, and the place in its analysed text.
fn find_place<'s>(
    session: &'s mut EditorSession<'_>,
    params: Value,
) -> Result<(DocumentView<'s>, u32), RequestFault> {
    let params: PositionParams = read_params(params)?;
    let view = session.documents.view(&params.text_document.uri)?;
    let at = view.find_byte(params.position);
    Ok((view, at))
}
