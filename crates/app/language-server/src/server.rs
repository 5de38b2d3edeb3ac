//! A session: its state, and the order of its messages.

use crate::document::DocumentStore;
use crate::protocol::{
    ChangeParams, DocumentParams, OpenParams, RequestFault, describe_server, read_params,
};
use crate::publish::collect_faults;
use crate::requests::REQUESTS;
use crate::transport::{MessageResult, read_message, write_message};
use serde_json::{Value, json};
use spirula_futhark::compile::with_large_stack;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

/// Facts of the environment of a server.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// A folder in which the server may write the files of the prelude, so that the editor can show them.
    pub prelude_folder: Option<PathBuf>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerEnd {
    /// By `exit` after `shutdown`.
    Regular,
    /// By `exit` without `shutdown`, or by the end of the input.
    Sudden,
}

/// Serves an editor until it ends the session.
///
/// # Errors
///
/// A stream fails, or a message has no length.
pub fn serve_editor(
    mut input: impl BufRead + Send + 'static,
    output: &mut (dyn Write + Send),
    options: ServerOptions,
) -> io::Result<ServerEnd> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        loop {
            let message = read_message(&mut input).transpose();
            let is_last = !matches!(message, Some(Ok(_)));
            if message.is_some_and(|message| sender.send(message).is_err()) || is_last {
                return;
            }
        }
    });
    with_large_stack(move || EditorSession::new(output, options).answer_all(receiver))
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionPhase {
    Uninitialised,
    Open,
    ShutDown,
}

/// State of a session.
pub(crate) struct EditorSession<'o> {
    output: &'o mut (dyn Write + Send),
    pub(crate) options: ServerOptions,
    pub(crate) documents: DocumentStore,
    phase: SessionPhase,
    /// Whether a text changed since errors were published.
    is_changed: bool,
    /// The errors that the editor shows, by the URIs of their files.
    published: BTreeMap<String, Vec<Value>>,
}

impl<'o> EditorSession<'o> {
    fn new(output: &'o mut (dyn Write + Send), options: ServerOptions) -> Self {
        EditorSession {
            output,
            options,
            documents: DocumentStore::default(),
            phase: SessionPhase::Uninitialised,
            is_changed: false,
            published: BTreeMap::new(),
        }
    }

    /// Answers messages. Errors are published where no message waits.
    fn answer_all(
        mut self,
        messages: Receiver<io::Result<MessageResult>>,
    ) -> io::Result<ServerEnd> {
        loop {
            let message = match messages.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.publish_faults()?;
                    messages.recv().ok()
                }
                other => other.ok(),
            };
            let Some(message) = message else {
                return Ok(ServerEnd::Sudden);
            };
            if let Some(end) = self.answer(message?)? {
                return Ok(end);
            }
        }
    }

    /// Answers a message. Returns how the session ended, if it did.
    fn answer(&mut self, message: MessageResult) -> io::Result<Option<ServerEnd>> {
        let message = match message {
            Ok(message) => message,
            Err(text) => {
                let fault = RequestFault::new(RequestFault::PARSE_ERROR, text);
                self.send(&fault.write_response(&Value::Null))?;
                return Ok(None);
            }
        };
        let id = message.get("id").cloned();
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            // The server asks nothing, so that a response answers nothing.
            if message.get("result").is_none() && message.get("error").is_none() {
                let fault =
                    RequestFault::new(RequestFault::INVALID_REQUEST, "the message has no method");
                self.send(&fault.write_response(&id.unwrap_or_default()))?;
            }
            return Ok(None);
        };
        let params = message.get("params").cloned().unwrap_or_default();
        let Some(id) = id else {
            return self.receive_notification(method, params);
        };
        let response = match self.answer_request(method, params) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(fault) => fault.write_response(&id),
        };
        self.send(&response)?;
        Ok(None)
    }

    fn answer_request(&mut self, method: &str, params: Value) -> Result<Value, RequestFault> {
        match (self.phase, method) {
            (SessionPhase::Uninitialised, "initialize") => {
                self.phase = SessionPhase::Open;
                return Ok(describe_server());
            }
            (SessionPhase::Uninitialised, _) => {
                let message = "the session is not initialised";
                return Err(RequestFault::new(RequestFault::NOT_INITIALIZED, message));
            }
            (SessionPhase::ShutDown, _) | (SessionPhase::Open, "initialize") => {
                let message = format!("`{method}` is not allowed at this point of the session");
                return Err(RequestFault::new(RequestFault::INVALID_REQUEST, message));
            }
            (SessionPhase::Open, "shutdown") => {
                self.phase = SessionPhase::ShutDown;
                return Ok(Value::Null);
            }
            (SessionPhase::Open, _) => {}
        }
        let Some((_, handler)) = REQUESTS.iter().find(|(name, _)| *name == method) else {
            let message = format!("the server does not know `{method}`");
            return Err(RequestFault::new(RequestFault::METHOD_NOT_FOUND, message));
        };
        // A bug in one request must not end the session.
        catch_unwind(AssertUnwindSafe(|| handler(self, params))).unwrap_or_else(|_| {
            let message = format!("bug: `{method}` failed");
            Err(RequestFault::new(RequestFault::INTERNAL_ERROR, message))
        })
    }

    fn receive_notification(
        &mut self,
        method: &str,
        params: Value,
    ) -> io::Result<Option<ServerEnd>> {
        if method == "exit" {
            return Ok(Some(match self.phase {
                SessionPhase::ShutDown => ServerEnd::Regular,
                _ => ServerEnd::Sudden,
            }));
        }
        if self.phase != SessionPhase::Open {
            return Ok(None);
        }
        // Notifications have no response: the editor learns of a malformed one by a message in its log.
        if let Err(fault) = self.follow_notification(method, params) {
            let error = fault.write_response(&Value::Null);
            let message = format!("{method}: {}", error["error"]["message"]);
            let params = json!({"type": 1, "message": message});
            self.notify("window/logMessage", params)?;
        }
        Ok(None)
    }

    fn follow_notification(&mut self, method: &str, params: Value) -> Result<(), RequestFault> {
        match method {
            "textDocument/didOpen" => {
                let OpenParams { text_document } = read_params(params)?;
                self.documents.open(text_document.uri, text_document.text)?;
            }
            "textDocument/didChange" => {
                let params: ChangeParams = read_params(params)?;
                let uri = &params.text_document.uri;
                self.documents.change(uri, params.content_changes)?;
            }
            "textDocument/didClose" => {
                let DocumentParams { text_document } = read_params(params)?;
                self.documents.close(&text_document.uri)?;
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.documents.forget_all();
            }
            _ => return Ok(()),
        }
        self.is_changed = true;
        Ok(())
    }

    /// Sends the errors that changed since they were sent.
    fn publish_faults(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        let found = catch_unwind(AssertUnwindSafe(|| {
            self.documents.analyse_all();
            collect_faults(&self.documents)
        }));
        let Ok(found) = found else {
            return Ok(());
        };
        let before = std::mem::replace(&mut self.published, found.clone());
        for uri in before.keys().filter(|uri| !found.contains_key(*uri)) {
            let params = json!({"uri": uri, "diagnostics": []});
            self.notify("textDocument/publishDiagnostics", params)?;
        }
        for (uri, faults) in &found {
            if before.get(uri) != Some(faults) {
                let params = json!({"uri": uri, "diagnostics": faults});
                self.notify("textDocument/publishDiagnostics", params)?;
            }
        }
        Ok(())
    }

    fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        write_message(self.output, message)
    }
}
