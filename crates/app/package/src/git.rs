//! Git repositories, through the program `git`.

use crate::PackageError;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Variables by which a surrounding `git` would make another repository the current one.
const FOREIGN_VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

/// A bare clone of a repository. Files are read from its commits, so nothing is checked out.
pub struct GitRepository {
    folder: PathBuf,
    log: fn(&str),
}

/// A file of a commit, by its path in the repository.
pub struct CommittedFile {
    /// Path in the repository.
    pub path: String,
    /// Contents.
    pub contents: Vec<u8>,
}

impl GitRepository {
    /// Clones a repository into a folder that does not exist. `log` gets each command.
    ///
    /// # Errors
    /// `git` is absent or fails.
    pub fn clone_bare(
        address: &str,
        folder: &Path,
        log: fn(&str),
    ) -> Result<GitRepository, PackageError> {
        let arguments = ["clone", "--quiet", "--bare", "--", address];
        let arguments = arguments.iter().map(OsStr::new).chain([folder.as_os_str()]);
        run_git(arguments.collect(), &[], log)?;
        Ok(GitRepository {
            folder: folder.to_owned(),
            log,
        })
    }

    /// Runs a command in the repository.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, PackageError> {
        let folder = [OsStr::new("-C"), self.folder.as_os_str()];
        let arguments = arguments.iter().map(OsStr::new);
        run_git(
            folder.into_iter().chain(arguments).collect(),
            input,
            self.log,
        )
    }

    /// Names of all tags.
    pub fn list_tags(&self) -> Result<Vec<String>, PackageError> {
        let listed = self.run(&["tag"], &[])?;
        let listed = String::from_utf8_lossy(&listed);
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// Hash of the commit that a reference names.
    pub fn resolve_commit(&self, reference: &str) -> Result<String, PackageError> {
        let commit = format!("{reference}^{{commit}}");
        let resolved = self.run(&["rev-parse", "--verify", "--end-of-options", &commit], &[])?;
        Ok(String::from_utf8_lossy(&resolved).trim().to_owned())
    }

    /// Time of a commit in UTC, as `yyyymmddhhmmss`.
    pub fn find_commit_time(&self, commit: &str) -> Result<String, PackageError> {
        let arguments = [
            "show",
            "--no-patch",
            "--date=format-local:%Y%m%d%H%M%S",
            "--format=%cd",
            commit,
        ];
        let time = self.run(&arguments, &[])?;
        Ok(String::from_utf8_lossy(&time).trim().to_owned())
    }

    /// Paths of the files below a folder of a commit. Submodules are left out.
    pub fn list_files(&self, commit: &str, folder: &str) -> Result<Vec<String>, PackageError> {
        let folder = format!("{folder}/");
        let listed = self.run(&["ls-tree", "-r", "-z", commit, "--", &folder], &[])?;
        let listed = String::from_utf8_lossy(&listed);
        let is_file = |line: &&str| line.split(' ').nth(1) == Some("blob");
        let paths = listed.split('\0').filter(is_file);
        Ok(paths
            .filter_map(|line| line.split_once('\t'))
            .map(|(_, path)| path.to_owned())
            .collect())
    }

    /// Reads files of a commit. A link within the repository gives the contents of its target. The contents are `None`
    /// for a file that does not exist or is a link that leaves the repository.
    pub fn read_files(
        &self,
        commit: &str,
        paths: &[String],
    ) -> Result<Vec<Option<CommittedFile>>, PackageError> {
        let names: String = paths
            .iter()
            .map(|path| format!("{commit}:{path}\n"))
            .collect();
        let arguments = ["cat-file", "--batch", "--follow-symlinks"];
        let answers = self.run(&arguments, names.as_bytes())?;
        let mut rest = answers.as_slice();
        let mut files = Vec::new();
        for path in paths {
            let contents = take_answer(&mut rest).map(|contents| CommittedFile {
                path: path.clone(),
                contents: contents.to_owned(),
            });
            files.push(contents);
        }
        Ok(files)
    }
}

/// Takes the next answer of `git cat-file --batch`: a line that ends with a length, and so much contents. A missing file
/// has `NAME missing`, and an unusual link has a line with its kind and a length, and a text.
fn take_answer<'a>(answers: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = answers.iter().position(|&byte| byte == b'\n')?;
    let header = String::from_utf8_lossy(&answers[..end]).into_owned();
    let rest = &answers[end + 1..];
    let length = header.rsplit(' ').next()?.parse::<usize>().ok();
    let length = length.filter(|&length| length < rest.len());
    let (contents, rest) = rest.split_at(length.map_or(0, |length| length + 1));
    *answers = rest;
    let is_blob = header.split(' ').nth(1) == Some("blob");
    contents
        .split_last()
        .map(|(_, contents)| contents)
        .filter(|_| is_blob)
}

/// Runs `git`, and returns its standard output.
fn run_git(arguments: Vec<&OsStr>, input: &[u8], log: fn(&str)) -> Result<Vec<u8>, PackageError> {
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let command = words.join(" ");
    log(&format!("git {command}"));
    let output = match communicate(&arguments, input) {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(PackageError::NoGit),
        Err(error) => return Err(PackageError::from_file(Path::new("git"))(error)),
    };
    let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(PackageError::GitFailed {
            command,
            output: told,
        })
    }
}

/// Runs `git` with an input. It asks for no password, and shows times in UTC.
fn communicate(arguments: &[&OsStr], input: &[u8]) -> io::Result<Output> {
    let mut git = Command::new("git");
    for name in FOREIGN_VARIABLES {
        git.env_remove(name);
    }
    let mut process = git
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("TZ", "UTC0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdin = process.stdin.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // A process that ends early reports the reason by itself.
                let _ = stdin.write_all(input);
            }
        });
        process.wait_with_output()
    })
}
