//! Input and output files.
//!
//! A file is written when its whole contents are known. Large contents go to a temporary file beside it, which is then
//! renamed, so no half-written file has the final name. Small contents overwrite an existing file in place.

use super::CommandFailure;
use super::failure::report_line;
use super::input_file::InputFile;
use super::verbosity::report_work;
use flate2::read::MultiGzDecoder;
use spirula_spirv::ir::SpirvModule;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Largest input that is read, in bytes.
const MAX_INPUT: u64 = 1 << 32;

/// Most memory that is reserved for a file before it is read, in bytes. It grows while the file is read.
const MAX_RESERVED: u64 = 1 << 28;

/// Largest decompressed contents, in bytes. A small compressed file may have very large contents.
const MAX_UNPACKED: u64 = 1 << 30;

/// First bytes of a file that gzip compressed.
const GZIP: &[u8] = b"\x1f\x8b";

/// Reads a file, or standard input for `-`. A file that gzip compressed is decompressed.
pub fn read_input_file(path: &Path) -> Result<InputFile, CommandFailure> {
    let (name, bytes) = if is_standard(path) {
        if io::stdin().is_terminal() {
            let text = "the input is read from the terminal; its end is Ctrl-D";
            report_line("note", text, None);
        }
        ("<stdin>".to_owned(), read_all(io::stdin().lock()))
    } else {
        (path.display().to_string(), read_file(path))
    };
    match bytes.and_then(decompress_gzip) {
        Ok(bytes) if bytes.len() as u64 == MAX_INPUT => Err(CommandFailure::from_message(format!(
            "{name} is larger than {MAX_INPUT} bytes"
        ))),
        Ok(bytes) => {
            report_work(|| format!("read {name}: {} bytes", bytes.len()));
            Ok(InputFile { name, bytes })
        }
        Err(error) => Err(CommandFailure::from_message(format!(
            "cannot read {name}: {error}"
        ))),
    }
}

/// Decompresses bytes that gzip compressed, and returns all others unchanged.
pub fn decompress_gzip(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if bytes.starts_with(GZIP) {
        let mut unpacked = Vec::new();
        let decoder = MultiGzDecoder::new(&bytes[..]);
        decoder.take(MAX_UNPACKED).read_to_end(&mut unpacked)?;
        if unpacked.len() as u64 == MAX_UNPACKED {
            Err(io::Error::other("its contents are larger than 1 GiB"))
        } else {
            Ok(unpacked)
        }
    } else {
        Ok(bytes)
    }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // Only the size of a regular file is meaningful.
    let size = file.metadata().map_or(0, |m| m.len().min(MAX_RESERVED));
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take(MAX_INPUT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_all(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_INPUT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a path means standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a path has an extension.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|end| end == extension)
}

/// Writes text to a file, or to standard output for `-`.
pub fn write_text(path: &Path, text: &str) -> Result<(), CommandFailure> {
    write_bytes(path, text.as_bytes())
}

/// Writes a line to standard output.
pub fn print_line(line: &str) -> Result<(), CommandFailure> {
    write_text(Path::new("-"), &format!("{line}\n"))
}

/// Writes a displayable value as [`write_text`] does, without an intermediate string.
pub fn write_displayed(path: &Path, text: &dyn Display) -> Result<(), CommandFailure> {
    write_by(path, |out| write!(out, "{text}"))
}

/// Writes a binary to a file, or to standard output for `-` unless that is a terminal.
pub fn write_binary(path: &Path, bytes: &[u8]) -> Result<(), CommandFailure> {
    check_binary(path)?;
    write_bytes(path, bytes)
}

/// Writes a module as [`write_binary`] does.
pub fn write_module(path: &Path, module: &SpirvModule) -> Result<(), CommandFailure> {
    check_binary(path)?;
    write_by(path, |out| module.write_to(out))
}

fn check_binary(path: &Path) -> Result<(), CommandFailure> {
    if is_standard(path) && io::stdout().is_terminal() {
        let text = "a binary is not written to a terminal: give a file with -o";
        return Err(CommandFailure::Usage(text.to_owned()));
    }
    Ok(())
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), CommandFailure> {
    write_by(path, |out| out.write_all(bytes))
}

/// A function that writes the contents of a file.
trait ContentWriter: FnOnce(&mut dyn Write) -> io::Result<()> {}

impl<F: FnOnce(&mut dyn Write) -> io::Result<()>> ContentWriter for F {}

fn write_by(path: &Path, contents: impl ContentWriter) -> Result<(), CommandFailure> {
    if is_standard(path) {
        let mut out = io::stdout().lock();
        contents(&mut out)?;
        out.flush()?;
        return Ok(());
    }
    replace_file(path, contents).map_err(|e| cannot_write(path, &e))?;
    report_work(|| format!("wrote {}", path.display()));
    Ok(())
}

fn cannot_write(path: &Path, error: &io::Error) -> CommandFailure {
    CommandFailure::from_message(format!("cannot write {}: {error}", path.display()))
}

/// Whether a path is a device or a pipe. Such files are written to and not replaced.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

fn replace_file(path: &Path, contents: impl ContentWriter) -> io::Result<()> {
    if is_special(path) {
        return contents(&mut OpenOptions::new().write(true).open(path)?);
    }
    let mut staged = StagedOutput {
        path,
        held: Vec::new(),
        beside: None,
    };
    contents(&mut staged)?;
    staged.commit_output()
}

/// Most bytes that are written over an existing file in place. A single call writes so few bytes, and no signal
/// interrupts it. It is also faster than replacing the file.
const MAX_IN_PLACE: usize = 64 << 10;

/// Contents of a file that is not written yet. They are held in memory, or in a temporary file where they are large.
struct StagedOutput<'p> {
    path: &'p Path,
    held: Vec<u8>,
    beside: Option<(TemporaryFile, PathBuf)>,
}

impl StagedOutput<'_> {
    /// Moves the contents to a temporary file beside the target.
    fn spill_to_file(&mut self) -> io::Result<()> {
        // A symbolic link stays, and its target is replaced.
        let path = fs::canonicalize(self.path).unwrap_or_else(|_| self.path.to_owned());
        let mut temporary = TemporaryFile::create_beside(&path)?;
        temporary.file.write_all(&self.held)?;
        self.held = Vec::new();
        self.beside = Some((temporary, path));
        Ok(())
    }

    /// Writes the contents to the target.
    fn commit_output(mut self) -> io::Result<()> {
        if self.beside.is_none() && self.overwrite_target()? {
            return Ok(());
        }
        if self.beside.is_none() {
            self.spill_to_file()?;
        }
        match self.beside {
            Some((temporary, path)) => temporary.rename_to(&path),
            None => Ok(()),
        }
    }

    /// Overwrites the target in place. The result is false where there is no writable file.
    fn overwrite_target(&self) -> io::Result<bool> {
        let Ok(mut file) = OpenOptions::new().write(true).open(self.path) else {
            return Ok(false);
        };
        file.write_all(&self.held)?;
        file.set_len(self.held.len() as u64)?;
        Ok(true)
    }
}

impl Write for StagedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.beside.is_none() && self.held.len() + bytes.len() > MAX_IN_PLACE {
            self.spill_to_file()?;
        }
        match &mut self.beside {
            Some((temporary, _)) => temporary.file.write(bytes),
            None => self.held.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A temporary file beside its target. It is removed unless it is renamed.
struct TemporaryFile {
    path: PathBuf,
    file: File,
    is_renamed: bool,
}

impl TemporaryFile {
    fn create_beside(path: &Path) -> io::Result<TemporaryFile> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        for attempt in 0..100 {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
            let beside = path.with_file_name(hidden);
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&beside)
            {
                Ok(file) => {
                    return Ok(TemporaryFile {
                        path: beside,
                        file,
                        is_renamed: false,
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn rename_to(mut self, to: &Path) -> io::Result<()> {
        self.file.flush()?;
        fs::rename(&self.path, to)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Fails where a file could not be written later. An existing file is not changed.
pub fn check_writable(path: &Path) -> Result<(), CommandFailure> {
    if fs::metadata(path).is_ok_and(|m| m.is_dir()) {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(cannot_write(path, &error));
    }
    let is_there = OpenOptions::new().write(true).open(path).is_ok();
    if is_there || is_special(path) {
        return Ok(());
    }
    TemporaryFile::create_beside(path)
        .map(drop)
        .map_err(|e| cannot_write(path, &e))
}
