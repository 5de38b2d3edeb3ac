//! The parts of the protocol's data that the server reads and writes, by the names of the protocol.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A position in a text (`Position`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct EditorPosition {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

/// A range of a text (`Range`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EditorRange {
    pub(crate) start: EditorPosition,
    pub(crate) end: EditorPosition,
}

/// A range of a file (`Location`).
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EditorLocation {
    pub(crate) uri: String,
    pub(crate) range: EditorRange,
}

/// A file (`TextDocumentIdentifier`).
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DocumentName {
    pub(crate) uri: String,
}

/// A file that is opened (`TextDocumentItem`).
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct OpenedDocument {
    pub(crate) uri: String,
    pub(crate) text: String,
}

/// Parameters of `textDocument/didOpen`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenParams {
    pub(crate) text_document: OpenedDocument,
}

/// A change of a text. Without a range it is the whole new text.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TextChange {
    pub(crate) range: Option<EditorRange>,
    pub(crate) text: String,
}

/// Parameters of `textDocument/didChange`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeParams {
    pub(crate) text_document: DocumentName,
    pub(crate) content_changes: Vec<TextChange>,
}

/// Parameters of requests about a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentParams {
    pub(crate) text_document: DocumentName,
}

/// Parameters of requests about a position. The other fields are those of single requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PositionParams {
    pub(crate) text_document: DocumentName,
    pub(crate) position: EditorPosition,
    #[serde(default)]
    pub(crate) context: ReferenceContext,
    #[serde(default)]
    pub(crate) new_name: String,
}

/// The options of `textDocument/references`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ReferenceContext {
    pub(crate) include_declaration: bool,
}

/// Parameters of `textDocument/inlayHint`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RangeParams {
    pub(crate) text_document: DocumentName,
    pub(crate) range: EditorRange,
}

/// A text that replaces a range (`TextEdit`).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EditorEdit {
    pub(crate) range: EditorRange,
    pub(crate) new_text: String,
}

/// Why a request has no result.
#[derive(Clone, Debug)]
pub(crate) struct RequestFault {
    /// The number of the protocol (`ErrorCodes`).
    code: i32,
    message: String,
}

impl RequestFault {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL_ERROR: i32 = -32603;
    pub(crate) const NOT_INITIALIZED: i32 = -32002;
    pub(crate) const REQUEST_FAILED: i32 = -32803;

    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        RequestFault {
            code,
            message: message.into(),
        }
    }

    /// The response to a request. A message without a readable id has null for it.
    pub(crate) fn write_response(&self, id: &Value) -> Value {
        let error = json!({"code": self.code, "message": self.message});
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    }
}

/// Reads the parameters of a message.
///
/// # Errors
///
/// A part is missing or of another type.
pub(crate) fn read_params<T: for<'d> Deserialize<'d>>(params: Value) -> Result<T, RequestFault> {
    serde_json::from_value(params)
        .map_err(|fault| RequestFault::new(RequestFault::INVALID_PARAMS, fault.to_string()))
}

/// The abilities of the server (`ServerCapabilities`), with its name.
pub(crate) fn describe_server() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": true, "change": 2, "save": true},
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "documentSymbolProvider": true,
            "completionProvider": {"triggerCharacters": ["."]},
            "signatureHelpProvider": {"triggerCharacters": [" "]},
            "renameProvider": {"prepareProvider": true},
            "documentFormattingProvider": true,
            "inlayHintProvider": true,
        },
        "serverInfo": {"name": "spirula", "version": env!("CARGO_PKG_VERSION")},
    })
}
