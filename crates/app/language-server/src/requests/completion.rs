//! `textDocument/completion`: names in scope, members of modules, fields of records, and keywords.

use crate::protocol::{PositionParams, RequestFault, read_params};
use crate::server::EditorSession;
use serde_json::{Value, json};
use spirula_futhark::query::{CompletionKind, CompletionName, NamePath};
use spirula_futhark::syntax::token::ReservedWord;

/// The number of the protocol for keywords (`CompletionItemKind`).
const KEYWORD: u32 = 14;

pub(super) fn answer_completion(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let params: PositionParams = read_params(params)?;
    let view = session.documents.view(&params.text_document.uri)?;
    let path = NamePath::read_before(view.text, view.lines.find_byte(params.position));
    let at = view.find_byte(params.position);
    let names = view.analysis.complete_name(view.file, at, &path.holders);
    let mut items: Vec<Value> = names.into_iter().map(write_item).collect();
    if path.holders.is_empty() {
        let words = ReservedWord::ALL.iter();
        items.extend(words.map(|word| json!({"label": word.spelling(), "kind": KEYWORD})));
    }
    Ok(Value::Array(items))
}

fn write_item(name: CompletionName) -> Value {
    let mut item = json!({
        "label": name.name,
        "kind": item_number(name.kind),
        "sortText": format!("{}{}", u8::from(name.kind > CompletionKind::Field), name.name),
    });
    if !name.detail.is_empty() {
        item["detail"] = json!(name.detail);
    }
    if let Some(documentation) = name.documentation {
        item["documentation"] = json!({"kind": "markdown", "value": documentation});
    }
    item
}

/// The number of the protocol (`CompletionItemKind`).
fn item_number(kind: CompletionKind) -> u32 {
    match kind {
        CompletionKind::Function => 3,
        CompletionKind::Field => 5,
        CompletionKind::Variable => 6,
        CompletionKind::ModuleType => 8,
        CompletionKind::Module => 9,
        CompletionKind::Constant => 21,
        CompletionKind::Type => 22,
    }
}
