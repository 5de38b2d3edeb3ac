//! Locations: `loc(…)` after operations, and the aliases that they name.
//!
//! The innermost place in a file is kept. For calls that were inlined it is the place in the callee.

use super::cursor::TextCursor;
use crate::TritonResult;
use std::collections::HashMap;

/// Text of each alias, by name.
#[derive(Debug, Default)]
pub(super) struct LocationTable {
    aliases: HashMap<String, String>,
}

/// Longest chain of aliases.
const MAX_CHAIN: usize = 64;

/// Collects the definitions of aliases from the lines of a text.
pub(super) fn collect_locations(text: &str) -> LocationTable {
    let mut table = LocationTable::default();
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(" = loc(")
            && let Some(name) = name.strip_prefix('#')
        {
            table.aliases.insert(name.to_owned(), value.to_owned());
        }
    }
    table
}

impl LocationTable {
    /// The first place in a file that a location names, as `file:line:column`.
    fn resolve(&self, location: &str) -> Option<String> {
        let mut location = location.to_owned();
        for _ in 0..MAX_CHAIN {
            if let Some(place) = find_file_place(&location) {
                return Some(place);
            }
            let name = location.split('#').nth(1)?;
            let end = name.find(|c: char| !c.is_ascii_alphanumeric());
            location = self
                .aliases
                .get(&name[..end.unwrap_or(name.len())])?
                .clone();
        }
        None
    }
}

/// The first `"file":line:column` in a location.
fn find_file_place(location: &str) -> Option<String> {
    let mut parts = location.split('"');
    parts.next()?;
    let file = parts.next()?;
    let rest = parts.next()?.strip_prefix(':')?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':'));
    let numbers = rest[..end.unwrap_or(rest.len())].trim_end_matches(':');
    Some(format!("{file}:{numbers}"))
}

/// Takes a location if one follows, and returns its place in a file.
pub(super) fn read_location(
    cursor: &mut TextCursor<'_>,
    places: &LocationTable,
) -> TritonResult<Option<String>> {
    if !cursor.peek("loc(") {
        return Ok(None);
    }
    cursor.expect("loc(")?;
    let start = cursor.rest();
    let before = cursor.offset();
    let mut depth = 1;
    while depth > 0 {
        cursor.take_while(|c| !matches!(c, '(' | ')' | '"'));
        if cursor.peek("\"") {
            cursor.read_string()?;
        } else if cursor.eat("(") {
            depth += 1;
        } else {
            cursor.expect(")")?;
            depth -= 1;
        }
    }
    let length = cursor.offset() - before - 1;
    Ok(places.resolve(&start[..length]))
}

/// Takes a location if one follows.
pub(super) fn skip_location(cursor: &mut TextCursor<'_>) -> TritonResult<()> {
    read_location(cursor, &LocationTable::default()).map(drop)
}
