//! A language server for Futhark source: the Language Server Protocol over a pair of streams.
//!
//! The protocol is version 3.17 (<https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/>).
//! Facts about a program come from [`spirula_futhark::query`].
//!
//! - `transport`: messages as bytes.
//! - `protocol`: the parts of the protocol's data that the server reads and writes.
//! - `text_position`: lines and UTF-16 columns.
//! - `file_uri`: paths and URIs.
//! - `document`: the open files with their analyses.
//! - `publish`: errors and warnings for the editor.
//! - `requests`: a function for each request.
//! - `server`: the state of a session, and the order of its messages.

mod document;
mod file_uri;
mod protocol;
mod publish;
mod requests;
mod server;
mod text_position;
mod transport;

pub use server::{ServerEnd, ServerOptions, serve_editor};
