//! Protocol buffers: the wire format of the few messages of XLA that the plugin reads and writes.

use crate::error::{PluginError, PluginResult};

/// The value of a field.
pub enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, by their numbers.
///
/// # Errors
/// When the message is malformed.
pub fn read_fields(mut bytes: &[u8]) -> PluginResult<Vec<(u64, FieldValue<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = read_number(&mut bytes)?;
        let value = match tag & 7 {
            0 => FieldValue::Number(read_number(&mut bytes)?),
            1 => FieldValue::Bytes(take_bytes(&mut bytes, 8)?),
            2 => {
                let length = read_number(&mut bytes)?;
                FieldValue::Bytes(take_bytes(&mut bytes, length)?)
            }
            5 => FieldValue::Bytes(take_bytes(&mut bytes, 4)?),
            _ => return Err(malformed_error()),
        };
        fields.push((tag >> 3, value));
    }
    Ok(fields)
}

fn take_bytes<'a>(bytes: &mut &'a [u8], length: u64) -> PluginResult<&'a [u8]> {
    let length = usize::try_from(length).map_err(|_| malformed_error())?;
    let (taken, rest) = bytes.split_at_checked(length).ok_or_else(malformed_error)?;
    *bytes = rest;
    Ok(taken)
}

/// Reads a number of 7 bits a byte.
///
/// # Errors
/// When the bytes end before.
pub fn read_number(bytes: &mut &[u8]) -> PluginResult<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take_bytes(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(malformed_error())
}

fn malformed_error() -> PluginError {
    PluginError::invalid("a protocol buffer is malformed")
}

/// Writes a number of 7 bits a byte.
pub fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes a field of bytes: a text, or a message.
pub fn write_bytes(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    write_number(out, number << 3 | 2);
    write_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes a field that is a number.
pub fn write_field(out: &mut Vec<u8>, number: u64, value: u64) {
    write_number(out, number << 3);
    write_number(out, value);
}

/// Writes an entry of a map from numbers to messages.
pub fn write_entry(out: &mut Vec<u8>, number: u64, key: u64, message: &[u8]) {
    let mut entry = Vec::new();
    write_field(&mut entry, 1, key);
    write_bytes(&mut entry, 2, message);
    write_bytes(out, number, &entry);
}
