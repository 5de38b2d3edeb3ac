//! Locations in bytecode.

use super::cursor::{BytecodeCursor, BytecodeResult};
use super::entries::BytecodeReader;
use crate::mlir::{AttributeKind, LocationKind, MlirLoc};

/// The code of `callsite(… at …)`.
const CALL_SITE: u64 = 10;

impl<'a> BytecodeReader<'a> {
    /// The location of a code.
    pub fn location_attribute(
        &mut self,
        code: u64,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirLoc> {
        let kind = match code {
            CALL_SITE => return self.read_call_site(*data),
            11 => {
                let file = self.read_name(data)?;
                let point = (
                    saturate_to_u32(data.read_varint()?),
                    saturate_to_u32(data.read_varint()?),
                );
                LocationKind::File {
                    file,
                    start: point,
                    end: point,
                }
            }
            12 | 13 => {
                let count = data.read_count()?;
                let parts: BytecodeResult<Vec<MlirLoc>> =
                    (0..count).map(|_| self.read_location(data)).collect();
                let metadata = match code {
                    13 => Some(self.read_attribute(data)?),
                    _ => None,
                };
                LocationKind::Fused {
                    parts: parts?.into(),
                    metadata,
                }
            }
            14 => LocationKind::Name {
                name: self.read_name(data)?,
                child: self.read_location(data)?,
            },
            22 => self.file_range(data)?,
            _ => LocationKind::Unknown,
        };
        Ok(self.module.locations.intern(kind))
    }

    /// A place in a function, and the place where the function was called. Callers form chains as deep as the stack of
    /// the program that wrote the module, so they are read in a loop.
    fn read_call_site(&mut self, first: BytecodeCursor<'a>) -> BytecodeResult<MlirLoc> {
        let mut data = first;
        let mut sites = vec![(None, self.read_location(&mut data)?)];
        let outermost = loop {
            let mut ahead = data;
            let number = ahead.read_varint()?;
            let Some(mut caller) = self.find_unread_call_site(number) else {
                break self.read_location(&mut data)?;
            };
            if sites.len() > self.attribute_entries.len() {
                return first.report_error("a location calls itself");
            }
            sites.push((Some(number as usize), self.read_location(&mut caller)?));
            data = caller;
        };
        let mut location = outermost;
        for (number, callee) in sites.into_iter().rev() {
            let caller = location;
            let kind = LocationKind::CallSite { callee, caller };
            location = self.module.locations.intern(kind);
            if let Some(number) = number {
                let attr = AttributeKind::Location(location);
                self.attributes[number] = Some(self.module.attributes.intern(attr));
            }
        }
        Ok(location)
    }

    /// The contents of an attribute that is a call site and has not been read yet.
    fn find_unread_call_site(&self, number: u64) -> Option<BytecodeCursor<'a>> {
        let at = usize::try_from(number).ok()?;
        let entry = self.attribute_entries.get(at)?;
        let is_unread = self.attributes[at].is_none() && entry.custom && entry.dialect == "builtin";
        let mut data = entry.data;
        let is_call_site = is_unread && data.read_varint().ok()? == CALL_SITE;
        is_call_site.then_some(data)
    }

    /// A file with up to four numbers: line and column of the start, and of the end.
    fn file_range(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<LocationKind> {
        let file = self.read_name(data)?;
        let count = data.read_count()?;
        let numbers: BytecodeResult<Vec<u32>> = (0..count)
            .map(|_| data.read_varint().map(saturate_to_u32))
            .collect();
        let numbers = numbers?;
        let at = |position: usize| numbers.get(position).copied();
        let start = (at(0).unwrap_or(0), at(1).unwrap_or(0));
        let end = match (at(2), at(3)) {
            (Some(line), Some(column)) => (line, column),
            (Some(column), None) => (start.0, column),
            _ => start,
        };
        Ok(LocationKind::File { file, start, end })
    }
}

fn saturate_to_u32(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
