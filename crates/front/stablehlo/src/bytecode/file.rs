//! Reader of bytecode files: sections and their tables.

use super::cursor::{BytecodeCursor, BytecodeResult};
use super::entries::{BytecodeEntry, BytecodeReader};
use crate::mlir::{MlirModule, MlirSymbol, ResourceBlob};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// The magic bytes at the start of bytecode.
pub(super) const MAGIC: &[u8] = b"ML\xEFR";

/// Newest version of the format that can be read.
const NEWEST: u64 = 6;

/// Numbers of sections.
mod section {
    pub const STRINGS: usize = 0;
    pub const DIALECTS: usize = 1;
    pub const ENTRIES: usize = 2;
    pub const ENTRY_SIZES: usize = 3;
    pub const IR: usize = 4;
    pub const RESOURCES: usize = 5;
    pub const RESOURCE_SIZES: usize = 6;
    pub const PROPERTIES: usize = 8;
    pub const COUNT: usize = 9;
}

/// The name of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpName {
    /// With its dialect.
    pub name: MlirSymbol,
    /// Whether its writer knew it, so that its properties have the form of their definition.
    pub registered: bool,
}

/// Reads a module from bytecode: MLIR's own, of StableHLO or of the versioned dialect.
///
/// # Errors
/// The first fault, with its place.
pub fn parse_bytecode(bytes: &[u8]) -> Result<MlirModule, SourceDiagnostic> {
    if u32::try_from(bytes.len()).is_err() {
        let message = "the input is larger than 4 GiB";
        return Err(SourceDiagnostic::error(SourceLocation::Unknown, message));
    }
    read_file(bytes).map_err(|error| *error)
}

fn read_file(bytes: &[u8]) -> BytecodeResult<MlirModule> {
    let mut cursor = BytecodeCursor::new(bytes, 0);
    if cursor.take_bytes(MAGIC.len())? != MAGIC {
        return BytecodeCursor::new(bytes, 0).report_error("this is not MLIR bytecode");
    }
    let version = cursor.read_varint()?;
    if version > NEWEST {
        return cursor.report_error(format!("version {version} of the bytecode is not known"));
    }
    cursor.read_terminated_bytes()?;
    let mut sections = [None; section::COUNT];
    while !cursor.is_empty() {
        let place = cursor;
        let (id, data) = cursor.read_section()?;
        match sections.get_mut(usize::from(id)) {
            Some(slot @ None) => *slot = Some(data),
            Some(Some(_)) => return place.report_error(format!("section {id} occurs twice")),
            None => return place.report_error(format!("section {id} is not known")),
        }
    }
    let needed = |id: usize| match sections[id] {
        Some(data) => Ok(data),
        None => cursor.report_error(format!("section {id} is missing")),
    };
    let mut reader = BytecodeReader::new(version);
    reader.strings = read_string_table(needed(section::STRINGS)?)?;
    reader.read_dialects(needed(section::DIALECTS)?)?;
    if let (Some(data), Some(sizes)) = (
        sections[section::RESOURCES],
        sections[section::RESOURCE_SIZES],
    ) {
        reader.read_resources(data, sizes)?;
    }
    if let Some(data) = sections[section::PROPERTIES] {
        reader.properties = read_property_table(data)?;
    }
    reader.index_entries(needed(section::ENTRIES)?, needed(section::ENTRY_SIZES)?)?;
    reader.read_operations(needed(section::IR)?)?;
    Ok(reader.module)
}

/// Zero-terminated strings after their lengths, which are in reverse order.
fn read_string_table(mut data: BytecodeCursor<'_>) -> BytecodeResult<Vec<&[u8]>> {
    let count = data.read_count()?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push(data.read_count()?);
    }
    let mut all = Vec::with_capacity(count);
    for &length in lengths.iter().rev() {
        let bytes = data.take_bytes(length)?;
        all.push(bytes.strip_suffix(&[0]).unwrap_or(bytes));
    }
    Ok(all)
}

/// Properties, each after its size.
fn read_property_table(mut data: BytecodeCursor<'_>) -> BytecodeResult<Vec<BytecodeCursor<'_>>> {
    let count = data.read_count()?;
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let size = data.read_count()?;
        all.push(data.take_subcursor(size)?);
    }
    Ok(all)
}

impl<'a> BytecodeReader<'a> {
    fn read_dialects(&mut self, mut data: BytecodeCursor<'a>) -> BytecodeResult<()> {
        let count = data.read_count()?;
        for _ in 0..count {
            let (name, has_version) = match self.version {
                0 => (data.read_varint()?, false),
                _ => data.read_flagged_varint()?,
            };
            let name = self.resolve_string(&data, name)?;
            self.dialect_names.push(name);
            if has_version {
                data.read_section()?;
            }
        }
        if self.version >= 4 {
            data.read_varint()?;
        }
        while !data.is_empty() {
            let dialect = self.read_dialect(&mut data)?;
            let count = data.read_count()?;
            for _ in 0..count {
                let (name, registered) = match self.version {
                    0..5 => (data.read_varint()?, true),
                    _ => data.read_flagged_varint()?,
                };
                let name = self.resolve_string(&data, name)?;
                let full = format!("{dialect}.{name}");
                let name = self.module.intern_text(&full);
                self.op_names.push(OpName { name, registered });
            }
        }
        Ok(())
    }

    /// The dialect that a number refers to.
    pub fn read_dialect(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<&'a str> {
        let number = data.read_varint()?;
        let found = usize::try_from(number).ok();
        match found.and_then(|at| self.dialect_names.get(at)) {
            Some(&dialect) => Ok(dialect),
            None => data.report_error(format!("there is no dialect {number}")),
        }
    }

    /// A string of the table that has to be UTF-8.
    pub fn resolve_string(
        &self,
        data: &BytecodeCursor<'a>,
        number: u64,
    ) -> BytecodeResult<&'a str> {
        match std::str::from_utf8(self.raw_string(data, number)?) {
            Ok(text) => Ok(text),
            Err(_) => data.report_error("a name is not UTF-8"),
        }
    }

    pub fn raw_string(&self, data: &BytecodeCursor<'a>, number: u64) -> BytecodeResult<&'a [u8]> {
        let found = usize::try_from(number).ok();
        match found.and_then(|at| self.strings.get(at)) {
            Some(bytes) => Ok(bytes),
            None => data.report_error(format!("there is no string {number}")),
        }
    }

    /// Blobs of dialects; those of external tools are skipped.
    fn read_resources(
        &mut self,
        mut data: BytecodeCursor<'a>,
        mut sizes: BytecodeCursor<'a>,
    ) -> BytecodeResult<()> {
        let external = sizes.read_count()?;
        let mut group = 0;
        while !sizes.is_empty() {
            let is_external = group < external;
            group += 1;
            let dialect = if is_external {
                sizes.read_varint()?;
                ""
            } else {
                self.read_dialect(&mut sizes)?
            };
            let count = sizes.read_count()?;
            for _ in 0..count {
                let key = sizes.read_varint()?;
                let key = self.resolve_string(&sizes, key)?;
                let size = sizes.read_varint()?;
                let kind = sizes.read_byte()?;
                let size = data.check_count(size)?;
                let value = data.take_subcursor(size)?;
                if !is_external {
                    self.read_resource(dialect, key, kind, value)?;
                }
            }
        }
        Ok(())
    }

    fn read_resource(
        &mut self,
        dialect: &str,
        key: &str,
        kind: u8,
        mut value: BytecodeCursor<'a>,
    ) -> BytecodeResult<()> {
        let dialect = self.module.intern_text(dialect);
        let key = self.module.intern_text(key);
        self.resource_keys.push(key);
        // An empty entry declares the name alone.
        if value.is_empty() || kind != 0 {
            return Ok(());
        }
        let alignment = value.read_varint()?;
        let size = value.read_varint()?;
        value.skip_padding(alignment)?;
        let size = value.check_count(size)?;
        self.module.resources.push(ResourceBlob {
            dialect,
            key,
            alignment: u32::try_from(alignment).unwrap_or(u32::MAX),
            data: value.take_bytes(size)?.into(),
        });
        Ok(())
    }

    /// Positions of attributes and types.
    fn index_entries(
        &mut self,
        mut data: BytecodeCursor<'a>,
        mut sizes: BytecodeCursor<'a>,
    ) -> BytecodeResult<()> {
        let counts = [sizes.read_varint()?, sizes.read_varint()?];
        for (kind, count) in counts.into_iter().enumerate() {
            let count = sizes.check_count(count)?;
            let mut all = Vec::with_capacity(count);
            while all.len() < count {
                let dialect = self.read_dialect(&mut sizes)?;
                let group = sizes.read_count()?;
                for _ in 0..group.min(count - all.len()) {
                    let (size, custom) = sizes.read_flagged_varint()?;
                    let size = data.check_count(size)?;
                    all.push(BytecodeEntry {
                        dialect,
                        custom,
                        data: data.take_subcursor(size)?,
                    });
                }
            }
            match kind {
                0 => self.attribute_entries = all,
                _ => self.type_entries = all,
            }
        }
        self.attributes = vec![None; self.attribute_entries.len()];
        self.types = vec![None; self.type_entries.len()];
        Ok(())
    }
}
