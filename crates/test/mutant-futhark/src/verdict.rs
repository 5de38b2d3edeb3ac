//! Verdicts of the two checkers.

use anyhow::{Context, Result};
use spirula_futhark::compile::check_source;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The verdict of a checker on a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// The program is right.
    Accepted,
    /// The program is wrong, with the message.
    Refused(String),
    /// The checker ended by a fault of its own, or not in time.
    Failed(String),
}

impl CheckVerdict {
    /// The message, if there is one.
    pub fn message(&self) -> &str {
        match self {
            CheckVerdict::Accepted => "accepted",
            CheckVerdict::Refused(message) | CheckVerdict::Failed(message) => message,
        }
    }
}

/// A program with the texts of the files that it imports, by their paths.
#[derive(Clone, Debug)]
pub struct ProgramFiles {
    /// The path of the main file.
    pub main: String,
    /// The texts of all other files.
    pub imported: Arc<HashMap<String, String>>,
}

/// The verdict of the project's checker on a text as the main file.
pub fn run_own_checker(files: &ProgramFiles, text: &str, limit: Duration) -> CheckVerdict {
    let (sender, receiver) = channel();
    let (files, text) = (files.clone(), text.to_owned());
    // A checker that hangs keeps its thread; the others go on.
    std::thread::spawn(move || {
        let mut read = |path: &str| {
            if path == files.main {
                return Ok(text.clone());
            }
            let imported = files.imported.get(path).cloned();
            imported.ok_or_else(|| "there is no such file".to_owned())
        };
        let checked = catch_unwind(AssertUnwindSafe(|| check_source(&files.main, &mut read)));
        let verdict = match checked {
            Ok(Ok(_)) => CheckVerdict::Accepted,
            Ok(Err(faults)) => {
                let messages = faults.iter().map(|fault| fault.message.as_str());
                CheckVerdict::Refused(messages.collect::<Vec<_>>().join("\n"))
            }
            Err(_) => CheckVerdict::Failed("the checker panics".to_owned()),
        };
        // The receiver is gone if the time was over.
        let _ = sender.send(verdict);
    });
    match receiver.recv_timeout(limit) {
        Ok(verdict) => verdict,
        Err(RecvTimeoutError::Timeout) => CheckVerdict::Failed("the checker hangs".to_owned()),
        Err(RecvTimeoutError::Disconnected) => CheckVerdict::Failed("the checker ends".to_owned()),
    }
}

/// Futhark's checker, in a folder of its own for the files.
#[derive(Clone, Debug)]
pub struct ReferenceChecker {
    /// The program.
    pub command: PathBuf,
    /// The folder.
    pub folder: PathBuf,
    /// The time after which it has failed.
    pub limit: Duration,
}

impl ReferenceChecker {
    /// The verdict on a text as the main file.
    ///
    /// # Errors
    /// If files cannot be written, or if the program cannot be run.
    pub fn run(&self, files: &ProgramFiles, text: &str) -> Result<CheckVerdict> {
        for (path, text) in &*files.imported {
            self.write_file(path, text)?;
        }
        self.write_file(&files.main, text)?;
        let messages = self.folder.join("messages.txt");
        let child = Command::new(&self.command)
            .arg("check")
            .arg(&files.main)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&messages)?)
            .spawn()
            .with_context(|| format!("cannot run {}", self.command.display()))?;
        let status = wait_until(child, Instant::now() + self.limit)?;
        let message = String::from_utf8_lossy(&std::fs::read(&messages)?).into_owned();
        Ok(match status {
            Some(true) => CheckVerdict::Accepted,
            Some(false) if message.contains("Internal compiler error") => {
                CheckVerdict::Failed(message)
            }
            Some(false) => CheckVerdict::Refused(message),
            None => CheckVerdict::Failed("the checker hangs".to_owned()),
        })
    }

    fn write_file(&self, path: &str, text: &str) -> Result<()> {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Whether a process succeeds. None if it was ended as its time was over.
fn wait_until(mut child: Child, end: Instant) -> Result<Option<bool>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
