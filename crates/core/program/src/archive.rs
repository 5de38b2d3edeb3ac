//! Program archives: one file with everything that a program needs to run.
//!
//! An archive is a ZIP file whose members are stored without compression, so that any tool can extract them.
//! `program.json` has the host's part and the entry points. `kernels/N.spv` are the kernels, `kernels/N.laid-out.spv`
//! those with workgroup memory in an explicit layout, and `data/N.bin` constant data. The first member, `mimetype`,
//! identifies the file at a fixed offset, as in other formats that are ZIP files (OCF 3.3, section 4.3). Equal programs
//! have equal archives.

use crate::CompiledProgram;
use serde::{Deserialize, Serialize};
use spirula_spirv::ir::SpirvModule;
use std::fmt;
use std::io::{Cursor, Read, Write};
use zip::result::{ZipError, ZipResult};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Content of the first member.
const TYPE: &str = "application/x-spirula-program";

/// Offset of the name and content of the first member (APPNOTE.TXT, section 4.3.7).
const TYPE_AT: usize = 30;

/// Version of the format; others are refused.
const FORMAT: u32 = 2;

/// The reason why an archive could not be read or written.
#[derive(Debug)]
pub struct ArchiveError(String);

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ArchiveError {}

/// The content of `program.json`.
#[derive(Serialize)]
struct ManifestView<'a> {
    format: u32,
    data: usize,
    program: &'a CompiledProgram,
}

/// The same for reading.
#[derive(Deserialize)]
struct ManifestContent {
    data: usize,
    program: CompiledProgram,
}

/// The part that is read first, because other versions may differ in the rest.
#[derive(Deserialize)]
struct ManifestHeader {
    format: u32,
}

/// Whether these are the first bytes of an archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    let rest = bytes.starts_with(b"PK\x03\x04").then(|| &bytes[4..]);
    let rest = rest.and_then(|rest| rest.get(TYPE_AT - 4..));
    let rest = rest.and_then(|rest| rest.strip_prefix(b"mimetype"));
    rest.is_some_and(|rest| rest.starts_with(TYPE.as_bytes()))
}

/// The archive of a program.
///
/// # Errors
/// When the program is too large for an archive.
pub fn write_archive(program: &CompiledProgram) -> Result<Vec<u8>, ArchiveError> {
    write_members(program).map_err(|error| ArchiveError(error.to_string()))
}

fn write_members(program: &CompiledProgram) -> ZipResult<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut member = |name: &str, bytes: &[u8]| {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(u32::try_from(bytes.len()).is_err());
        zip.start_file(name, options)?;
        zip.write_all(bytes)?;
        ZipResult::Ok(())
    };
    member("mimetype", TYPE.as_bytes())?;
    let written = ManifestView {
        format: FORMAT,
        data: program.data.len(),
        program,
    };
    let json = serde_json::to_vec(&written).map_err(|error| ZipError::Io(error.into()))?;
    member("program.json", &json)?;
    for (number, kernel) in program.kernels.iter().enumerate() {
        for (module, name) in kernel.modules().zip(kernel_names(number)) {
            member(&name, &module.to_bytes())?;
        }
    }
    for (number, data) in program.data.iter().enumerate() {
        member(&data_name(number), data)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Names of the modules of a kernel.
fn kernel_names(number: usize) -> [String; 2] {
    ["", ".laid-out"].map(|kind| format!("kernels/{number}{kind}.spv"))
}

fn data_name(number: usize) -> String {
    format!("data/{number}.bin")
}

/// The program of an archive. It is validated, except for the kernels' modules.
///
/// # Errors
/// When the archive is damaged, has another format, or its program is not valid.
pub fn read_archive(bytes: &[u8]) -> Result<CompiledProgram, ArchiveError> {
    let damaged = |error| {
        ArchiveError(format!(
            "the compiled program is cut off or damaged ({error}): compile it again"
        ))
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    let json = read_member(&mut archive, "program.json")?;
    let fault = |error: serde_json::Error| ArchiveError(format!("program.json: {error}"));
    let header: ManifestHeader = serde_json::from_slice(&json).map_err(fault)?;
    if header.format != FORMAT {
        let found = header.format;
        let text = format!("the program has format {found}, this version reads {FORMAT}");
        return Err(ArchiveError(text));
    }
    let ManifestContent { data, mut program } = serde_json::from_slice(&json).map_err(fault)?;
    for (number, kernel) in program.kernels.iter_mut().enumerate() {
        if kernel.module.is_ok() {
            let [name, other] = kernel_names(number);
            kernel.module = Ok(read_kernel_module(&mut archive, &name)?);
            if kernel.laid_out.is_some() {
                kernel.laid_out = Some(read_kernel_module(&mut archive, &other)?);
            }
        }
    }
    for number in 0..data {
        let bytes = read_member(&mut archive, &data_name(number))?;
        program.data.push(bytes.into());
    }
    match program.check_references() {
        Ok(()) => Ok(program),
        Err(fault) => Err(ArchiveError(format!("program.json: {fault}"))),
    }
}

fn read_kernel_module(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
) -> Result<SpirvModule, ArchiveError> {
    let bytes = read_member(archive, name)?;
    SpirvModule::from_bytes(&bytes).map_err(|fault| ArchiveError(format!("{name}: {fault}")))
}

fn read_member(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
) -> Result<Vec<u8>, ArchiveError> {
    let fault = |error: &dyn fmt::Display| ArchiveError(format!("{name}: {error}"));
    let mut bytes = Vec::new();
    let mut file = archive.by_name(name).map_err(|error| fault(&error))?;
    file.read_to_end(&mut bytes)
        .map_err(|error| fault(&error))?;
    Ok(bytes)
}
