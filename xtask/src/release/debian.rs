//! Packages for Debian: the files of an archive under `/usr`, with the control file in `packaging/debian`.
//!
//! A package is an archive in the format of `ar` with three members. Source: `deb(5)`.

use super::file_tree::{FileTree, TreeEntry, compress_bytes, read_file};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The folder with the control file, in the repository.
const SOURCE: &str = "packaging/debian";

/// A package for one architecture.
pub struct DebianPackage<'a> {
    /// The version of Spirula.
    pub version: &'a str,
    /// Debian's name of the architecture.
    pub architecture: &'a str,
    /// The time of all files, in seconds since 1970.
    pub seconds: u64,
}

impl DebianPackage<'_> {
    /// Makes the package of an archive's files.
    ///
    /// # Errors
    /// When the control file cannot be read.
    pub fn pack_package(&self, root: &Path, files: &FileTree) -> Result<Vec<u8>> {
        let source = root.join(SOURCE);
        let mut tree = place_files(files)?;
        let documents = "usr/share/doc/spirula";
        tree.copy_file(format!("{documents}/copyright"), &source.join("copyright"))?;
        let changes = read_file(&root.join("CHANGELOG.md"))?;
        tree.add_data(
            format!("{documents}/changelog.gz"),
            compress_bytes(&changes)?,
        );
        let control = read_file(&source.join("control"))?;
        let control = String::from_utf8(control).context("the control file is not UTF-8")?;
        let control = control
            .replace("@VERSION@", self.version)
            .replace("@ARCHITECTURE@", self.architecture)
            .replace(
                "@KILOBYTES@",
                &tree.count_bytes().div_ceil(1024).to_string(),
            );
        let mut scripts = FileTree::default();
        scripts.add_data("control", control);
        scripts.add_data("md5sums", list_checksums(&tree)?);
        scripts.add_data("triggers", "activate-noawait ldconfig\n");
        let members = [
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.gz", scripts.pack_archive(None, self.seconds)?),
            ("data.tar.gz", tree.pack_archive(None, self.seconds)?),
        ];
        let mut package = b"!<arch>\n".to_vec();
        for (name, bytes) in members {
            let seconds = self.seconds;
            write!(
                package,
                "{name:<16}{seconds:<12}{:<6}{:<6}{:<8}",
                0, 0, 100_644
            )?;
            writeln!(package, "{:<10}`", bytes.len())?;
            package.extend_from_slice(&bytes);
            if bytes.len() % 2 == 1 {
                package.push(b'\n');
            }
        }
        Ok(package)
    }
}

/// The files where Debian has them: under `/usr`, with compressed manual pages.
fn place_files(files: &FileTree) -> Result<FileTree> {
    let mut tree = FileTree::default();
    for (path, entry) in files.iter() {
        match entry {
            TreeEntry::Data(bytes) if path.starts_with("share/man/") => {
                tree.add_data(format!("usr/{path}.gz"), compress_bytes(bytes)?);
            }
            // Debian has the licences in its own file, and the list of changes compressed.
            TreeEntry::Data(_) if path.ends_with("CHANGELOG.md") || path.contains("/LICENSE-") => {}
            TreeEntry::Data(bytes) if path.starts_with("share/zsh/site-functions/") => {
                let path = path.replace("site-functions", "vendor-completions");
                tree.add_data(format!("usr/{path}"), bytes.clone());
            }
            _ => tree.add_entry(format!("usr/{path}"), entry.clone()),
        }
    }
    Ok(tree)
}

fn list_checksums(tree: &FileTree) -> Result<String> {
    use md5::{Digest, Md5};
    let mut text = String::new();
    for (path, entry) in tree.iter() {
        if let TreeEntry::Data(bytes) | TreeEntry::Program(bytes) = entry {
            for byte in Md5::digest(bytes) {
                write!(text, "{byte:02x}")?;
            }
            writeln!(text, "  {path}")?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::content::DOCUMENTS;
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    /// The members of an archive of `ar`.
    fn read_members(package: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut rest = package.strip_prefix(b"!<arch>\n").expect("is an archive");
        let mut members = Vec::new();
        while !rest.is_empty() {
            let (header, after) = rest.split_at(60);
            let header = std::str::from_utf8(header).expect("is text");
            assert!(header.ends_with("`\n"), "{header}");
            let length: usize = header[48..58].trim().parse().expect("is a number");
            members.push((header[..16].trim().to_owned(), after[..length].to_vec()));
            rest = &after[length + length % 2..];
        }
        members
    }

    #[test]
    fn packages_have_three_members_and_files_under_usr() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = FileTree::default();
        files.add_program("bin/spirula", b"program".to_vec());
        files.add_data("share/man/man1/spirula.1", "page");
        files.add_data(format!("{DOCUMENTS}/LICENSE-MIT"), "text");
        let package = DebianPackage {
            version: "1.2.3",
            architecture: "amd64",
            seconds: 7,
        };
        let packed = package.pack_package(&root, &files).expect("packs");
        let members = read_members(&packed);
        let names: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
        let control = unpack_file(&members[1].1, "control");
        assert!(control.contains("Version: 1.2.3\nArchitecture: amd64\n"));
        for name in ["@VERSION@", "@ARCHITECTURE@", "@KILOBYTES@"] {
            assert!(!control.contains(name), "{control}");
        }
        let sums = unpack_file(&members[1].1, "md5sums");
        let sum = "a9c449d4fa44e9e5a41c574ae55ce4d9  usr/bin/spirula";
        assert!(sums.contains(sum), "{sums}");
        assert!(sums.contains("usr/share/man/man1/spirula.1.gz"), "{sums}");
        assert!(!sums.contains("LICENSE-MIT"), "{sums}");
        assert_eq!(unpack_file(&members[2].1, "usr/bin/spirula"), "program");
    }

    fn unpack_file(archive: &[u8], path: &str) -> String {
        let mut archive = tar::Archive::new(GzDecoder::new(archive));
        for entry in archive.entries().expect("reads") {
            let mut entry = entry.expect("reads");
            if *entry.path_bytes() == *path.as_bytes() {
                let mut text = String::new();
                entry.read_to_string(&mut text).expect("is text");
                return text;
            }
        }
        panic!("there is no {path}");
    }
}
