//! The language server: `spirula lsp`, with sessions as an editor has them.

use crate::harness::{CliOutput, ScratchFolder, spirula_with};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const LIBRARY: &str = "-- | Numbers.\n\
    \n\
    -- | Twice a number.\n\
    def double (x: i32) : i32 = x + x\n\
    \n\
    module type counter = {\n  type t\n  -- | One more.\n  val next : t -> t\n}\n\
    module counter : counter with t = i32 = {\n  type t = i32\n  def next (n: t) = n + 1\n}\n";

/// The string is one character, and two units of UTF-16: names after it show how columns are counted.
const PROGRAM: &str = "import \"library\"\n\
    type pair = {left: i32, right: [2]f32}\n\
    def dot [n] (xs: [n]i32) (ys: [n]i32) =\n  let products = map2 (*) xs ys\n  in reduce (+) 0 products\n\
    def main (zs: []i32) =\n  let p : pair = {left = dot zs zs, right = [1, 2]}\n  \
    let s = \"\u{1f600}\" let total = double p.left in counter.next total + i32.u8 s[0]\n";

/// The position of the first occurrence of a text.
fn position(text: &str, part: &str) -> Value {
    let at = text.find(part).expect("the text has the part");
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    json!({"line": line, "character": text[start..at].encode_utf16().count()})
}

/// The range of a name, which is the beginning of the first occurrence of a text.
fn range(text: &str, part: &str, name: &str) -> Value {
    let start = position(text, part);
    let mut end = start.clone();
    let units = start["character"].as_u64().unwrap_or(0) + name.encode_utf16().count() as u64;
    end["character"] = json!(units);
    json!({"start": start, "end": end})
}

/// A session: messages to the server, numbered from 1.
struct EditorScript {
    folder: ScratchFolder,
    bytes: Vec<u8>,
    requests: u64,
}

impl EditorScript {
    /// A session that is initialised.
    fn new() -> Self {
        let mut script = EditorScript {
            folder: ScratchFolder::new(),
            bytes: Vec::new(),
            requests: 0,
        };
        script.folder.file("library.fut", LIBRARY);
        script.ask("initialize", json!({"capabilities": {}}));
        script.tell("initialized", json!({}));
        script
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.folder.text(name))
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.bytes.extend(framed.into_bytes());
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: Value) {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// Opens a file.
    fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        let document = json!({"uri": uri, "languageId": "futhark", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Asks about the first occurrence of a text in `main.fut`, with further parameters.
    fn ask_at(&mut self, method: &str, part: &str, more: Value) {
        self.ask_position(method, position(PROGRAM, part), more);
    }

    /// Asks about a position in `main.fut`, with further parameters.
    fn ask_position(&mut self, method: &str, position: Value, more: Value) {
        let mut params = json!({
            "textDocument": {"uri": self.uri("main.fut")},
            "position": position,
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        self.ask(&format!("textDocument/{method}"), params);
    }

    /// Replaces the first occurrence of a text in a text of `main.fut`. Returns the new text.
    fn replace(&mut self, text: &str, part: &str, new: &str) -> String {
        let change = json!({"range": range(text, part, part), "text": new});
        let document = json!({"uri": self.uri("main.fut"), "version": 2});
        self.tell(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [change]}),
        );
        text.replacen(part, new, 1)
    }

    /// Runs the session to its end. Returns the results of the requests, without those of the first and the last.
    fn finish(mut self) -> Vec<Value> {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        let last = self.requests as usize;
        let output = spirula_with(&["lsp"], &self.bytes).ok();
        let messages = read_messages(&output);
        let responses = messages
            .iter()
            .filter(|message| message.get("id").is_some());
        let mut responses: Vec<Value> = responses.cloned().collect();
        assert_eq!(responses.len(), last, "{responses:?}");
        responses.pop();
        responses.remove(0);
        responses
    }
}

/// The messages of the server.
fn read_messages(output: &CliOutput) -> Vec<Value> {
    assert!(!output.err.contains("panicked"), "{}", output.err);
    let text = output.text();
    let mut rest = text.as_str();
    let mut messages = Vec::new();
    while let Some((header, after)) = rest.split_once("\r\n\r\n") {
        let length = header.strip_prefix("Content-Length: ");
        let length: usize = length.and_then(|n| n.parse().ok()).expect("a length");
        messages.push(serde_json::from_str(&after[..length]).expect("a message is JSON"));
        rest = &after[length..];
    }
    assert_eq!(rest, "");
    messages
}

#[test]
fn types_with_sizes_and_documentation_are_shown() {
    let described = [
        ("products =", "products : [n]i32", ""),
        (
            "dot zs",
            "dot [n] : [n]i32 -> [n]i32 -> i32\n-- here : [n0]i32 -> [n0]i32 -> i32",
            "",
        ),
        ("double", "double : i32 -> i32", "\n\nTwice a number."),
        ("left in", "left : i32", ""),
        ("next", "next : i32 -> i32", ""),
        ("n] (xs", "n : i64", ""),
        ("pair =", "type pair = {left: i32, right: [2]f32}", ""),
    ];
    let mut script = EditorScript::new();
    script.open("main.fut", PROGRAM);
    for (part, ..) in described {
        script.ask_at("hover", part, Value::Null);
    }
    for (response, (part, code, documentation)) in script.finish().iter().zip(described) {
        let text = format!("```futhark\n{code}\n```{documentation}");
        assert_eq!(response["result"]["contents"]["value"], text, "{part}");
    }
}

#[test]
fn definitions_are_found_in_other_files_and_modules() {
    let mut script = EditorScript::new();
    script.open("main.fut", PROGRAM);
    let library = script.uri("library.fut");
    let main = script.uri("main.fut");
    for part in [
        "double",
        "next",
        "library",
        "dot zs",
        "pair =",
        "products\n",
        "i32, right",
    ] {
        script.ask_at("definition", part, Value::Null);
    }
    let responses = script.finish().into_iter();
    let found: Vec<Value> = responses
        .map(|response| response["result"].clone())
        .collect();
    let start = json!({"line": 0, "character": 0});
    let file = json!({"start": start, "end": start});
    let place = |uri: &str, range: Value| json!({"uri": uri, "range": range});
    assert_eq!(
        found,
        [
            place(&library, range(LIBRARY, "double", "double")),
            place(&library, range(LIBRARY, "next (n", "next")),
            place(&library, file),
            place(&main, range(PROGRAM, "dot [n]", "dot")),
            place(&main, range(PROGRAM, "pair =", "pair")),
            place(&main, range(PROGRAM, "products =", "products")),
            Value::Null,
        ]
    );
}

#[test]
fn references_and_renaming() {
    let mut script = EditorScript::new();
    script.open("main.fut", PROGRAM);
    let library = script.uri("library.fut");
    let main = script.uri("main.fut");
    let with_definition = json!({"context": {"includeDeclaration": true}});
    script.ask_at("references", "double", with_definition);
    script.ask_at("documentHighlight", "zs:", Value::Null);
    script.ask_at("rename", "double", json!({"newName": "twice"}));
    script.ask_at("rename", "xs:", json!({"newName": "ys"}));
    script.ask_at("rename", "xs:", json!({"newName": "1"}));
    script.ask_at("prepareRename", "map2", Value::Null);
    let responses = script.finish();
    let defined = range(LIBRARY, "double", "double");
    let used = range(PROGRAM, "double", "double");
    let places = [
        json!({"uri": library, "range": defined}),
        json!({"uri": main, "range": used}),
    ];
    let found = responses[0]["result"].as_array().expect("a list");
    assert!(found.len() == 2, "{found:?}");
    assert!(
        places.iter().all(|place| found.contains(place)),
        "{found:?}"
    );
    let highlights = responses[1]["result"].as_array().expect("a list");
    assert_eq!(highlights.len(), 3);
    let changes = &responses[2]["result"]["changes"];
    assert_eq!(changes[&main], json!([{"range": used, "newText": "twice"}]));
    assert_eq!(
        changes[&library],
        json!([{"range": defined, "newText": "twice"}])
    );
    for response in &responses[3..] {
        assert_eq!(response["error"]["code"], -32803, "{response}");
    }
}

#[test]
fn names_are_completed_while_the_text_is_incomplete() {
    let mut script = EditorScript::new();
    script.open("main.fut", PROGRAM);
    let fields = script.replace(PROGRAM, "counter.next", "p. + counter.next");
    script.ask_position("completion", position(&fields, " + counter"), Value::Null);
    let members = script.replace(&fields, "p. +", "counter. +");
    script.ask_position("completion", position(&members, " + counter"), Value::Null);
    let names = script.replace(&members, "counter. +", "(to");
    script.ask_position("completion", position(&names, "counter.next"), Value::Null);
    script.ask_position("hover", position(&names, "double"), Value::Null);
    let responses = script.finish();
    let labels = |response: &Value| -> Vec<String> {
        let items = response["result"].as_array().expect("a list");
        let labels = items
            .iter()
            .map(|item| item["label"].as_str().expect("a label"));
        labels.map(str::to_owned).collect()
    };
    assert_eq!(labels(&responses[0]), ["left", "right"]);
    assert_eq!(responses[0]["result"][1]["detail"], ": []f32");
    assert_eq!(labels(&responses[1]), ["next", "t"]);
    let names = labels(&responses[2]);
    for name in [
        "total", "p", "zs", "dot", "double", "counter", "map", "pair", "let",
    ] {
        assert!(names.iter().any(|other| other == name), "{name}");
    }
    assert!(!names.iter().any(|other| other == "products"));
    let hover = responses[3]["result"]["contents"]["value"].as_str();
    assert!(
        hover.is_some_and(|text| text.contains("double : i32 -> i32")),
        "{hover:?}"
    );
}

#[test]
fn errors_have_places_and_disappear() {
    let text = "def a = (\"\u{1f600}\", 1 + true)\ndef b = a\n";
    let mut script = EditorScript::new();
    script.open("main.fut", text);
    let mut process = Command::new(env!("CARGO_BIN_EXE_spirula"))
        .args(["lsp", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut input = process.stdin.take().expect("standard input is a pipe");
    let output = process.stdout.take().expect("standard output is a pipe");
    let mut output = BufReader::new(output);
    let mut send = |script: &mut EditorScript| {
        input.write_all(&script.bytes).expect("the server reads");
        input.flush().expect("the server reads");
        script.bytes.clear();
    };
    send(&mut script);
    let faults = wait_for_faults(&mut output);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0]["severity"], 1);
    assert_eq!(faults[0]["range"], range(text, "true", "true"));
    script.replace(text, "true", "2i32");
    send(&mut script);
    assert_eq!(wait_for_faults(&mut output), Vec::<Value>::new());
    script.ask("shutdown", Value::Null);
    script.tell("exit", Value::Null);
    send(&mut script);
    assert_eq!(process.wait().expect("the server ends").code(), Some(0));
}

/// Reads messages up to one with errors and warnings, and returns these.
fn wait_for_faults(output: &mut dyn BufRead) -> Vec<Value> {
    loop {
        let mut header = String::new();
        let mut blank = String::new();
        output.read_line(&mut header).expect("the server writes");
        output.read_line(&mut blank).expect("the server writes");
        let length = header.trim_end().strip_prefix("Content-Length: ");
        let length: usize = length.and_then(|n| n.parse().ok()).expect("a length");
        let mut content = vec![0; length];
        output.read_exact(&mut content).expect("the server writes");
        let message: Value = serde_json::from_slice(&content).expect("a message is JSON");
        if message["method"] == "textDocument/publishDiagnostics" {
            let faults = message["params"]["diagnostics"].as_array();
            return faults.expect("a list").clone();
        }
    }
}

#[test]
fn hints_signatures_and_formatting() {
    let mut script = EditorScript::new();
    script.open("main.fut", PROGRAM);
    let document = json!({"uri": script.uri("main.fut")});
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    script.ask(
        "textDocument/inlayHint",
        json!({"textDocument": document, "range": whole}),
    );
    script.ask_at("signatureHelp", "zs, right", Value::Null);
    script.ask(
        "textDocument/formatting",
        json!({"textDocument": document, "options": {}}),
    );
    let responses = script.finish();
    let hint = |part: &str, name: &str, label: &str| json!({"position": range(PROGRAM, part, name)["end"], "label": label, "kind": 1});
    assert_eq!(
        responses[0]["result"],
        json!([
            hint("products =", "products", ": [n]i32"),
            hint("s = \"", "s", ": [4]u8"),
            hint("total", "total", ": i32"),
        ])
    );
    let help = &responses[1]["result"];
    assert_eq!(help["activeParameter"], 1);
    assert_eq!(
        help["signatures"][0]["parameters"][1]["label"],
        "ys: [n]i32"
    );
    let text = responses[2]["result"][0]["newText"]
        .as_str()
        .expect("an edit");
    assert!(text.contains("let p: pair = {left"), "{text}");
}

#[test]
fn bad_messages_are_refused_and_the_session_goes_on() {
    let far = json!({"line": 4_000_000_000_u32, "character": 4_000_000_000_u32});
    let mut script = EditorScript::new();
    script.bytes.extend(b"Content-Length: 3\r\n\r\n{x}");
    script.ask("textDocument/hover", json!({"textDocument": 5}));
    script.ask("no/such", json!([]));
    script.ask_at("hover", "dot", Value::Null);
    script.ask("initialize", json!({}));
    script.open("main.fut", "def x = 1");
    script.ask_position("hover", far, Value::Null);
    script.ask_at("definition", "import", Value::Null);
    script.tell("textDocument/didChange", json!(7));
    script.ask("shutdown", Value::Null);
    script.ask("textDocument/hover", json!({}));
    script.tell("exit", Value::Null);
    let output = spirula_with(&["lsp"], &script.bytes).ok();
    let messages = read_messages(&output);
    let answers = messages
        .iter()
        .filter(|message| message.get("id").is_some());
    let codes: Vec<Value> = answers
        .map(|message| message["error"]["code"].clone())
        .collect();
    let expected = json!([
        null, -32700, -32602, -32601, -32602, -32600, null, null, null, -32600
    ]);
    assert_eq!(json!(codes), expected);
}

#[test]
fn the_exit_code_tells_how_the_session_ended() {
    let message = r#"{"jsonrpc":"2.0","method":"exit"}"#;
    let exit = format!("Content-Length: {}\r\n\r\n{message}", message.len());
    assert_eq!(spirula_with(&["lsp"], exit.as_bytes()).code, Some(1));
    assert_eq!(spirula_with(&["lsp"], b"").code, Some(1));
    spirula_with(&["lsp"], b"x\r\n\r\n").fails(1, "`x` is no header");
}
