//! `textDocument/documentSymbol`: the declarations of a file as a tree.

use crate::document::DocumentView;
use crate::protocol::{DocumentParams, RequestFault, read_params};
use crate::server::EditorSession;
use serde_json::{Value, json};
use spirula_futhark::query::{SymbolKind, SymbolNode};

pub(super) fn answer_symbols(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let params: DocumentParams = read_params(params)?;
    let view = session.documents.view(&params.text_document.uri)?;
    Ok(write_symbols(&view, view.analysis.list_symbols(view.file)))
}

fn write_symbols(view: &DocumentView<'_>, symbols: &[SymbolNode]) -> Value {
    let symbols = symbols.iter().filter_map(|symbol| {
        Some(json!({
            "name": symbol.name,
            "kind": symbol_number(symbol.kind),
            "range": view.find_range(symbol.range)?,
            "selectionRange": view.find_range(symbol.name_range)?,
            "children": write_symbols(view, &symbol.children),
        }))
    });
    symbols.collect()
}

/// The number of the protocol (`SymbolKind`).
fn symbol_number(kind: SymbolKind) -> u32 {
    match kind {
        SymbolKind::Module => 2,
        SymbolKind::Type => 5,
        SymbolKind::Specification => 6,
        SymbolKind::ModuleType => 11,
        SymbolKind::Entry | SymbolKind::Function => 12,
        SymbolKind::Constant => 14,
    }
}
