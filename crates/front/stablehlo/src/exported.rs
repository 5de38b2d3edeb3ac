//! Functions that `jax.export` serialised: a module within a FlatBuffer.
//!
//! Of the FlatBuffer only one field is needed, the bytes of the module. Its table and field are those of JAX's schema,
//! `jax/_src/export/serialization.fbs`; the layout is FlatBuffers' (<https://flatbuffers.dev/internals>): a table
//! begins with the distance to its list of fields, and the list has the offset of each field in the table. The crate
//! `flatbuffers` reads tables without a generated reader only by unsafe functions.

use crate::bytecode;
use std::ops::Range;

/// The field of an exported function that has its module, `mlir_module_serialized`.
const MODULE_FIELD: usize = 13;

/// Bytes of a list of fields before its first field: its size, and the size of the table.
const FIELD_LIST_HEADER: usize = 4;

/// Where the bytecode of the module is in a serialised function; `None` for other bytes.
pub fn find_exported_module(bytes: &[u8]) -> Option<Range<usize>> {
    let table = read_u32(bytes, 0)?;
    let distance = read_u32(bytes, table)?;
    // The list is before or after its table, and the distance is signed.
    let fields = table.wrapping_sub(distance as u32 as i32 as usize);
    let field_at = FIELD_LIST_HEADER + 2 * MODULE_FIELD;
    if usize::from(read_u16(bytes, fields)?) < field_at + 2 {
        return None;
    }
    let field = read_u16(bytes, fields.checked_add(field_at)?)?;
    let at = table
        .checked_add(usize::from(field))
        .filter(|_| field > 0)?;
    let vector = at.checked_add(read_u32(bytes, at)?)?;
    let start = vector.checked_add(4)?;
    let range = start..start.checked_add(read_u32(bytes, vector)?)?;
    let module = bytes.get(range.clone())?;
    bytecode::is_bytecode(module).then_some(range)
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    let found = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*found))
}

fn read_u32(bytes: &[u8], at: usize) -> Option<usize> {
    let found = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*found)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A serialised function with a field of bytes, of which nothing else is there.
    fn make_exported(module: &[u8]) -> Vec<u8> {
        let fields = MODULE_FIELD + 1;
        let list = 4;
        let table = list + FIELD_LIST_HEADER + 2 * fields;
        let mut bytes = (table as u32).to_le_bytes().to_vec();
        bytes.extend((FIELD_LIST_HEADER as u16 + 2 * fields as u16).to_le_bytes());
        bytes.extend(8_u16.to_le_bytes());
        bytes.extend(vec![0; 2 * MODULE_FIELD]);
        bytes.extend(4_u16.to_le_bytes());
        bytes.extend(((table - list) as i32).to_le_bytes());
        bytes.extend(4_u32.to_le_bytes());
        bytes.extend((module.len() as u32).to_le_bytes());
        bytes.extend(module);
        bytes
    }

    #[test]
    fn the_module_of_a_function_is_found() {
        let bytes = make_exported(b"ML\xefRabc");
        let found = find_exported_module(&bytes).map(|range| &bytes[range]);
        assert_eq!(found, Some(&b"ML\xefRabc"[..]));
    }

    #[test]
    fn other_bytes_are_no_function() {
        assert_eq!(find_exported_module(&make_exported(b"else")), None);
        let whole = make_exported(b"ML\xefRabc");
        for end in 0..whole.len() {
            assert_eq!(find_exported_module(&whole[..end]), None, "{end}");
        }
    }

    #[test]
    fn changed_bytes_are_read_or_refused() {
        let whole = make_exported(b"ML\xefRabc");
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[at] = value;
                if let Some(found) = find_exported_module(&changed) {
                    assert!(changed[found].starts_with(b"ML\xefR"), "{at}, {value}");
                }
            }
        }
    }
}
