//! Version records: the versions of installed programs, kept on disk. To ask Clang for its version takes as long as to read
//! the cached output of a small kernel and to run it.

use crate::cache::write_file;
use sha2::{Digest, Sha256};
use spirula_text::hex::write_hex;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

/// The line of `--version` that has the version of a program. It is read from the folder if the program has not changed since
/// it was written there.
pub fn find_version_line(program: &Path, folder: Option<&Path>) -> Option<String> {
    let record = compute_stamp(program).map(|stamp| format!("version-{stamp}"));
    let kept = folder.zip(record.as_ref());
    let record = |(folder, name): (&Path, &String)| std::fs::read_to_string(folder.join(name)).ok();
    if let Some(text) = kept.and_then(record)
        && let Some(line) = find_line(&text)
    {
        return Some(line.to_owned());
    }
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = find_line(&text)?;
    if let Some((folder, name)) = kept {
        // A record that cannot be written costs time only.
        let _ = write_file(folder, name, line.as_bytes());
    }
    Some(line.to_owned())
}

fn find_line(text: &str) -> Option<&str> {
    text.lines().find(|line| line.contains("clang version "))
}

/// A name that changes when the program is replaced: by its place, size and time of change.
fn compute_stamp(program: &Path) -> Option<String> {
    let place: PathBuf = find_file(program)?;
    let facts = std::fs::metadata(&place).ok()?;
    let changed = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let text = format!("{} {} {}", place.display(), facts.len(), changed.as_nanos());
    Some(write_hex(&Sha256::digest(text)))
}

/// The file of a program, which may be a name that the system looks for.
fn find_file(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.canonicalize().ok();
    }
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find_map(|place| place.canonicalize().ok())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn write_program(path: &Path, version: &str) {
        let text = format!("#!/bin/sh\necho 'vendor clang version {version}'\n");
        std::fs::write(path, text).expect("it can be written");
        let all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, all).expect("it is a file");
    }

    #[test]
    fn versions_are_asked_for_once_for_each_program() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let program = folder.path().join("clang");
        write_program(&program, "17.0.1");
        let kept = folder.path().join("kept");
        let find = || find_version_line(&program, Some(&kept));
        assert_eq!(find().as_deref(), Some("vendor clang version 17.0.1"));
        let files = std::fs::read_dir(&kept).expect("it was made");
        let record = files.last().expect("it has a record").expect("it is read");
        let damage = |text: &str| std::fs::write(record.path(), text).expect("it can be written");
        damage("a record of clang version 17");
        assert_eq!(find().as_deref(), Some("a record of clang version 17"));
        damage("vendor cl");
        assert_eq!(find().as_deref(), Some("vendor clang version 17.0.1"));
        write_program(&program, "18.10.1");
        assert_eq!(find().as_deref(), Some("vendor clang version 18.10.1"));
        assert_eq!(find_version_line(&folder.path().join("no"), None), None);
    }
}
