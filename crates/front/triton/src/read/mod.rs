//! Reader of the text of TTIR.
//!
//! Most operations are written alike: a name, operands with words between them, attributes, and types after a colon. One
//! function reads them all ([`operation`]). Operations with regions have a function each ([`structured`]).

mod attribute;
mod cursor;
mod function;
mod location;
mod operation;
mod structured;
mod types;

use crate::TritonResult;
use crate::ir::TileModule;
use cursor::TextCursor;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Deepest nesting of regions, types and attributes.
const MAX_DEPTH: usize = 64;

/// Reads a module.
///
/// # Errors
/// The first fault in the text, with its place.
pub fn read_module(text: &str) -> Result<TileModule, SourceDiagnostic> {
    let mut cursor = TextCursor::new(text);
    let places = location::collect_locations(text);
    let mut module = TileModule::default();
    cursor.skip_aliases()?;
    let is_wrapped = cursor.eat_word("module");
    if is_wrapped {
        if cursor.peek_char() == Some('@') {
            cursor.read_symbol()?;
        }
        if cursor.eat_word("attributes") {
            attribute::read_dictionary(&mut cursor)?;
        }
        cursor.expect("{")?;
    }
    loop {
        cursor.skip_aliases()?;
        if is_wrapped && cursor.eat("}") {
            break;
        }
        if !is_wrapped && cursor.is_at_end() {
            break;
        }
        module
            .functions
            .push(function::read_function(&mut cursor, &places)?);
    }
    location::skip_location(&mut cursor)?;
    cursor.skip_aliases()?;
    if !cursor.is_at_end() {
        return fail(&cursor, "expected the end of the module");
    }
    Ok(module)
}

/// A fault at the cursor.
fn fail<T>(cursor: &TextCursor<'_>, message: impl Into<String>) -> TritonResult<T> {
    Err(cursor.fault(message))
}

/// The place of a range of the text.
fn text_place(start: usize, end: usize) -> SourceLocation {
    SourceLocation::from_text_range(start, end)
}
