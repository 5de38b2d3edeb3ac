//! Files of arrays: `.npy`, `.npz` of NumPy, and `.safetensors`.
//!
//! The members of a `.npz` file are `.npy` files. Complex numbers become a last dimension of their two parts, and floats
//! of 8 bits their bits, as programs take them.

use crate::cli::{CommandFailure, files};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, SafeTensors};
use spirula_runtime::data::{ElementArray, ElementType, read_npy};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Largest array in a `.npz` file, in bytes. A small compressed file may have very large contents.
const MOST_MEMBER: u64 = 1 << 32;

/// The extension of members of a `.npz` file.
const NPY: &str = ".npy";

/// The extension of NumPy's files of several arrays.
const NPZ: &str = "npz";

/// Extensions of files of several arrays.
const SEVERAL_ARRAYS: [&str; 2] = [NPZ, "safetensors"];

/// An array of a file, as the command line names it: `FILE.npy`, or `FILE.npz[NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayPath {
    /// The file.
    pub path: PathBuf,
    /// The name of the array among several.
    pub member: Option<String>,
}

impl ArrayPath {
    /// Parses the path of a file, and in brackets after it the name of an array.
    pub fn parse(text: &str) -> ArrayPath {
        let split = text.strip_suffix(']').and_then(|inner| {
            let ends = SEVERAL_ARRAYS.iter().filter_map(|extension| {
                let at = inner.find(&format!(".{extension}["))?;
                Some(at + extension.len() + 1)
            });
            let at = ends.min()?;
            Some((&inner[..at], &inner[at + 1..]))
        });
        let (path, member) = split.map_or((text, None), |(path, name)| (path, Some(name)));
        ArrayPath {
            path: path.into(),
            member: member.map(str::to_owned),
        }
    }

    /// Whether it means all arrays of a file of several.
    pub fn is_whole_file(&self) -> bool {
        self.member.is_none() && self.has_several()
    }

    /// Whether the file is one of several arrays. Any other extension means `.npy`.
    fn has_several(&self) -> bool {
        let mut extensions = SEVERAL_ARRAYS.iter();
        extensions.any(|extension| files::has_extension(&self.path, extension))
    }
}

/// The files of several arrays that were opened, so that each is read once.
#[derive(Default)]
pub struct ArrayFiles {
    opened: HashMap<PathBuf, ArrayFile>,
}

impl ArrayFiles {
    /// Reads an array. Of a file of several arrays, one must be named.
    ///
    /// # Errors
    /// When the file cannot be read, or has no such array.
    pub fn read_array(&mut self, path: &ArrayPath) -> Result<ElementArray, CommandFailure> {
        if !path.has_several() {
            return read_npy_file(&path.path);
        }
        let file = self.open(&path.path)?;
        match &path.member {
            Some(name) => file.read_member(name),
            None => file.read_only_member(),
        }
    }

    /// The names of the arrays of a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn list_members(&mut self, path: &Path) -> Result<Vec<String>, CommandFailure> {
        self.open(path)?.list_members()
    }

    fn open(&mut self, path: &Path) -> Result<&mut ArrayFile, CommandFailure> {
        match self.opened.entry(path.to_owned()) {
            Entry::Occupied(opened) => Ok(opened.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(ArrayFile::open(path)?)),
        }
    }
}

/// Reads the array of a `.npy` file.
///
/// # Errors
/// When the file cannot be read, or is malformed.
pub fn read_npy_file(path: &Path) -> Result<ElementArray, CommandFailure> {
    let input = files::read_input_file(path)?;
    read_npy(&input.bytes).map_err(|e| CommandFailure::from_message(format!("{}: {e}", input.name)))
}

/// A file of arrays with their names.
struct ArrayFile {
    /// Its path in messages.
    title: String,
    contents: ArrayFileContents,
}

enum ArrayFileContents {
    Npz(ZipArchive<Cursor<Vec<u8>>>),
    SafeTensors {
        bytes: Vec<u8>,
        /// Where the elements begin.
        start: usize,
        metadata: Metadata,
    },
}

impl ArrayFile {
    /// Opens a file of several arrays. The extension `.npz` tells its format; any other means `.safetensors`.
    ///
    /// # Errors
    /// When it cannot be read.
    fn open(path: &Path) -> Result<ArrayFile, CommandFailure> {
        let input = files::read_input_file(path)?;
        let title = input.name;
        let failed = |error: String| CommandFailure::from_message(format!("{title}: {error}"));
        let contents = if files::has_extension(path, NPZ) {
            let archive = ZipArchive::new(Cursor::new(input.bytes));
            ArrayFileContents::Npz(archive.map_err(|e| failed(e.to_string()))?)
        } else {
            let read = SafeTensors::read_metadata(&input.bytes);
            let (header, metadata) = read.map_err(|e| failed(e.to_string()))?;
            ArrayFileContents::SafeTensors {
                start: header + size_of::<u64>(),
                bytes: input.bytes,
                metadata,
            }
        };
        Ok(ArrayFile { title, contents })
    }

    /// The names of the arrays, in the order of the file.
    ///
    /// # Errors
    /// When a name is no text.
    fn list_members(&self) -> Result<Vec<String>, CommandFailure> {
        match &self.contents {
            ArrayFileContents::Npz(archive) => {
                let names = archive.file_names().map(|name| {
                    let name = name.map_err(|e| self.fail(&e.to_string()))?;
                    Ok(name.strip_suffix(NPY).unwrap_or(&name).to_owned())
                });
                names.collect()
            }
            ArrayFileContents::SafeTensors { metadata, .. } => Ok(metadata.offset_keys()),
        }
    }

    fn fail(&self, fault: &str) -> CommandFailure {
        CommandFailure::from_message(format!("{}: {fault}", self.title))
    }

    /// Reads an array.
    ///
    /// # Errors
    /// When there is none of this name, or it is malformed.
    fn read_member(&mut self, name: &str) -> Result<ElementArray, CommandFailure> {
        let read = match &mut self.contents {
            ArrayFileContents::Npz(archive) => read_zip_member(archive, name),
            ArrayFileContents::SafeTensors {
                bytes,
                start,
                metadata,
            } => read_tensor(&bytes[*start..], metadata, name),
        };
        read.map_err(|fault| self.fail(&fault))
    }

    /// Reads the array of a file that has only one.
    ///
    /// # Errors
    /// When it has several, or the array is malformed.
    fn read_only_member(&mut self) -> Result<ElementArray, CommandFailure> {
        let title = &self.title;
        let names = self.list_members()?;
        match names.as_slice() {
            [only] => self.read_member(only),
            _ => {
                let text = format!(
                    "{title} has {} arrays: choose one, {title}[NAME]",
                    names.len()
                );
                let hint = format!("it has: {}", names.join(", "));
                Err(CommandFailure::with_hint(text, hint))
            }
        }
    }
}

fn read_zip_member(
    archive: &mut ZipArchive<Cursor<Vec<u8>>>,
    name: &str,
) -> Result<ElementArray, String> {
    let with_extension = format!("{name}{NPY}");
    let at = archive.index_for_name(&with_extension);
    let at = at.or_else(|| archive.index_for_name(name));
    let at = at.ok_or_else(|| format!("it has no array {name}"))?;
    let told = |error: String| format!("array {name}: {error}");
    let member = archive.by_index(at).map_err(|e| told(e.to_string()))?;
    let mut bytes = Vec::new();
    let read = member.take(MOST_MEMBER).read_to_end(&mut bytes);
    if read.map_err(|e| told(e.to_string()))? as u64 == MOST_MEMBER {
        return Err(told(format!("it is larger than {MOST_MEMBER} bytes")));
    }
    read_npy(&bytes).map_err(|e| told(e.to_string()))
}

/// Types of `.safetensors` with those of arrays, and how many elements of an array make one.
const TENSOR_TYPES: &[(Dtype, ElementType, usize)] = &[
    (Dtype::BOOL, ElementType::Bool, 1),
    (Dtype::U8, ElementType::U8, 1),
    (Dtype::I8, ElementType::I8, 1),
    (Dtype::F8_E5M2, ElementType::U8, 1),
    (Dtype::F8_E4M3, ElementType::U8, 1),
    (Dtype::F8_E8M0, ElementType::U8, 1),
    (Dtype::F8_E4M3FNUZ, ElementType::U8, 1),
    (Dtype::F8_E5M2FNUZ, ElementType::U8, 1),
    (Dtype::I16, ElementType::I16, 1),
    (Dtype::U16, ElementType::U16, 1),
    (Dtype::F16, ElementType::F16, 1),
    (Dtype::BF16, ElementType::BF16, 1),
    (Dtype::I32, ElementType::I32, 1),
    (Dtype::U32, ElementType::U32, 1),
    (Dtype::F32, ElementType::F32, 1),
    (Dtype::C64, ElementType::F32, 2),
    (Dtype::F64, ElementType::F64, 1),
    (Dtype::I64, ElementType::I64, 1),
    (Dtype::U64, ElementType::U64, 1),
];

fn read_tensor(data: &[u8], metadata: &Metadata, name: &str) -> Result<ElementArray, String> {
    let info = metadata.info(name);
    let info = info.ok_or_else(|| format!("it has no array {name}"))?;
    let row = TENSOR_TYPES.iter().find(|row| row.0 == info.dtype);
    let (_, element, parts) =
        row.ok_or_else(|| format!("array {name}: its type is {:?}", info.dtype))?;
    let mut shape = info.shape.clone();
    if *parts > 1 {
        shape.push(*parts);
    }
    let (start, end) = info.data_offsets;
    let bytes = data.get(start..end).unwrap_or_default().to_vec();
    ElementArray::new(*element, shape, bytes).map_err(|e| format!("array {name}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (String, Option<String>) {
        let parsed = ArrayPath::parse(text);
        (parsed.path.display().to_string(), parsed.member)
    }

    #[test]
    fn members_are_named_in_brackets() {
        let named = |path: &str, member: &str| (path.to_owned(), Some(member.to_owned()));
        assert_eq!(split("a.npz[w]"), named("a.npz", "w"));
        assert_eq!(
            split("a.safetensors[p['w']]"),
            named("a.safetensors", "p['w']")
        );
        assert_eq!(split("a.npz"), ("a.npz".to_owned(), None));
        assert_eq!(split("a[1].npy"), ("a[1].npy".to_owned(), None));
        assert_eq!(split("a.npy[x]"), ("a.npy[x]".to_owned(), None));
    }
}
