//! Trees of files in memory, and archives of them that have the same bytes each time.

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use tar::{Builder, EntryType, Header};

/// A file of a tree.
#[derive(Clone, Debug)]
pub enum TreeEntry {
    /// A file that is read.
    Data(Vec<u8>),
    /// A program.
    Program(Vec<u8>),
    /// A symbolic link to a path relative to it.
    Link(String),
}

/// Files by their paths, which have `/` between their parts.
#[derive(Clone, Debug, Default)]
pub struct FileTree {
    entries: BTreeMap<String, TreeEntry>,
}

impl FileTree {
    /// Adds a file of data.
    pub fn add_data(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.entries
            .insert(path.into(), TreeEntry::Data(bytes.into()));
    }

    /// Adds a program.
    pub fn add_program(&mut self, path: impl Into<String>, bytes: Vec<u8>) {
        self.entries.insert(path.into(), TreeEntry::Program(bytes));
    }

    /// Adds a symbolic link.
    pub fn add_link(&mut self, path: impl Into<String>, target: &str) {
        self.entries
            .insert(path.into(), TreeEntry::Link(target.to_owned()));
    }

    /// Adds an entry as it is.
    pub fn add_entry(&mut self, path: String, entry: TreeEntry) {
        self.entries.insert(path, entry);
    }

    /// Adds a copy of a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn copy_file(&mut self, path: impl Into<String>, from: &Path) -> Result<()> {
        self.add_data(path, read_file(from)?);
        Ok(())
    }

    /// Adds copies of the files of a folder, whose names must be text. Folders in it are left out.
    ///
    /// # Errors
    /// When the folder or a file cannot be read.
    pub fn copy_folder(&mut self, path: &str, from: &Path) -> Result<()> {
        let entries = fs::read_dir(from).with_context(|| from.display().to_string())?;
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                let name = entry.file_name();
                let name = name.to_str().context("a file's name is not UTF-8")?;
                self.copy_file(format!("{path}/{name}"), &entry.path())?;
            }
        }
        Ok(())
    }

    /// The entries in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TreeEntry)> {
        self.entries
            .iter()
            .map(|(path, entry)| (path.as_str(), entry))
    }

    /// The bytes of all files.
    pub fn count_bytes(&self) -> usize {
        let lengths = self.entries.values().map(|entry| match entry {
            TreeEntry::Data(bytes) | TreeEntry::Program(bytes) => bytes.len(),
            TreeEntry::Link(_) => 0,
        });
        lengths.sum()
    }

    /// Packs the tree as `.tar.gz`, with a folder before each path if there is one, and one time for all files. Owners are root,
    /// and folders have entries of their own.
    ///
    /// # Errors
    /// When a path is too long for the format.
    pub fn pack_archive(&self, folder: Option<&str>, seconds: u64) -> Result<Vec<u8>> {
        let compressed = GzBuilder::new().write(Vec::new(), Compression::default());
        let mut archive = Builder::new(compressed);
        let mut folders = std::collections::BTreeSet::new();
        for (path, entry) in &self.entries {
            let path = match folder {
                Some(folder) => format!("{folder}/{path}"),
                None => path.clone(),
            };
            for (end, _) in path.match_indices('/') {
                if folders.insert(path[..end].to_owned()) {
                    let mut header = start_header(EntryType::Directory, 0o755, 0, seconds);
                    archive.append_data(&mut header, &path[..=end], [].as_slice())?;
                }
            }
            match entry {
                TreeEntry::Data(bytes) => append_file(&mut archive, &path, bytes, 0o644, seconds)?,
                TreeEntry::Program(bytes) => {
                    append_file(&mut archive, &path, bytes, 0o755, seconds)?;
                }
                TreeEntry::Link(target) => {
                    let mut header = start_header(EntryType::Symlink, 0o777, 0, seconds);
                    archive.append_link(&mut header, &path, target)?;
                }
            }
        }
        Ok(archive.into_inner()?.finish()?)
    }
}

fn append_file(
    archive: &mut Builder<impl Write>,
    path: &str,
    bytes: &[u8],
    mode: u32,
    seconds: u64,
) -> Result<()> {
    let mut header = start_header(EntryType::Regular, mode, bytes.len() as u64, seconds);
    archive
        .append_data(&mut header, path, bytes)
        .with_context(|| path.to_owned())
}

fn start_header(kind: EntryType, mode: u32, length: u64, seconds: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(length);
    header.set_mtime(seconds);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Compresses bytes as `gzip -n` does, without a name and a time.
///
/// # Errors
/// When the compressor fails.
pub fn compress_bytes(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::default());
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

/// Reads a file, and names it in an error.
///
/// # Errors
/// When it cannot be read.
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;

    fn make_tree() -> FileTree {
        let mut tree = FileTree::default();
        tree.add_program("bin/tool", b"#!/bin/sh\n".to_vec());
        tree.add_data("share/doc/long.txt", vec![b'x'; 3000]);
        tree.add_link("lib/alias", "../bin/tool");
        tree
    }

    #[test]
    fn archives_have_the_same_bytes_and_one_folder() {
        let first = make_tree()
            .pack_archive(Some("tool-1.0"), 7)
            .expect("packs");
        let second = make_tree()
            .pack_archive(Some("tool-1.0"), 7)
            .expect("packs");
        assert_eq!(first, second);
        let mut archive = tar::Archive::new(GzDecoder::new(&*first));
        let mut listed = Vec::new();
        for entry in archive.entries().expect("reads") {
            let entry = entry.expect("reads");
            let header = entry.header();
            assert_eq!(header.mtime().expect("has a time"), 7);
            assert_eq!(header.uid().expect("has an owner"), 0);
            let path = entry.path().expect("has a path");
            let mode = header.mode().expect("has a mode");
            listed.push(format!("{mode:o} {}", path.display()));
        }
        assert_eq!(
            listed,
            [
                "755 tool-1.0/",
                "755 tool-1.0/bin/",
                "755 tool-1.0/bin/tool",
                "755 tool-1.0/lib/",
                "777 tool-1.0/lib/alias",
                "755 tool-1.0/share/",
                "755 tool-1.0/share/doc/",
                "644 tool-1.0/share/doc/long.txt",
            ]
        );
    }
}
