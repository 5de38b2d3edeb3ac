//! Harness that runs the command.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Result of the command.
pub struct CliOutput {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: String,
}

impl CliOutput {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Expects success.
    #[track_caller]
    pub fn ok(self) -> CliOutput {
        assert_eq!(self.code, Some(0), "{}{}", self.text(), self.err);
        self
    }

    /// Expects an exit code and a text on standard error.
    #[track_caller]
    pub fn fails(self, code: i32, words: &str) -> CliOutput {
        assert_eq!(self.code, Some(code), "{}{}", self.text(), self.err);
        assert!(
            self.err.contains(words),
            "{words:?} is not in:\n{}",
            self.err
        );
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }
}

impl From<Output> for CliOutput {
    fn from(output: Output) -> Self {
        CliOutput {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs the command.
pub fn spirula(args: &[&str]) -> CliOutput {
    spirula_with(args, b"")
}

/// Runs the command with bytes on standard input.
pub fn spirula_with(args: &[&str], input: &[u8]) -> CliOutput {
    let mut process = Command::new(env!("CARGO_BIN_EXE_spirula"))
        .args(args)
        .env("SPIRULA_CACHE_DIR", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = process.stdin.take().expect("standard input is a pipe");
    // A command may not read its input.
    let _ = stdin.write_all(input);
    drop(stdin);
    process.wait_with_output().expect("the command ends").into()
}

/// A file beside the tests.
pub fn own(name: &str) -> String {
    path_text(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/cli")
            .join(name),
    )
}

/// A path as an argument.
pub fn path_text(path: &Path) -> String {
    path.to_str().expect("paths of tests are text").to_owned()
}

/// A folder for one test, removed at its end.
pub struct ScratchFolder(tempfile::TempDir);

impl ScratchFolder {
    /// Creates a folder.
    pub fn new() -> Self {
        ScratchFolder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A path in it as an argument.
    pub fn text(&self, name: &str) -> String {
        path_text(&self.path(name))
    }

    /// Creates a file in the folder, and returns its path as an argument.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("files are in folders")).expect("a folder");
        std::fs::write(&path, contents).expect("a file");
        path_text(&path)
    }

    /// Names of its files.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        let name = |e: std::io::Result<std::fs::DirEntry>| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        };
        let mut names: Vec<_> = entries.map(name).collect();
        names.sort();
        names
    }
}

/// The bytes of a module of the tests.
pub fn module(name: &str) -> Vec<u8> {
    spirula(&["as", &own(name), "-o", "-"]).ok().out
}
