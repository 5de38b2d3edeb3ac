//! `spirula literate`: writes a literate program as Markdown with its results.

use crate::cli::args::LiterateArgs;
use crate::cli::failure::report_line;
use crate::cli::{CommandFailure, CommandResult, files};
use crate::literate::{DirectiveOutput, LiterateBlock, OutputFile, run_directive, split_blocks};
use crate::script::{ScriptProgram, ScriptRunner};
use spirula_runtime::{ComputeDevice, DeviceOptions};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs `spirula literate`.
pub fn run_literate(args: &LiterateArgs) -> CommandResult {
    let input = files::read_input_file(&args.path)?;
    let Ok(text) = String::from_utf8(input.bytes) else {
        let text = format!("{} is not UTF-8", input.name);
        return Err(CommandFailure::from_message(text));
    };
    let blocks = split_blocks(&text);
    let scripts = blocks.iter().filter_map(|block| match block {
        LiterateBlock::Directive(Ok(directive), _) => Some(directive.expression.as_str()),
        _ => None,
    });
    let scripts: Vec<&str> = scripts.collect();
    let program = ScriptProgram::compile(&args.path, &text, &scripts, &args.device)?;
    let mut device = ComputeDevice::open(&args.device, &DeviceOptions::default())
        .map_err(|e| CommandFailure::from_message(e.to_string()))?;
    let target = args
        .output
        .clone()
        .unwrap_or_else(|| args.path.with_extension("md"));
    let mut writer = LiterateWriter {
        runner: program.start(&mut device)?,
        folder: folder_beside(&target),
        written: BTreeSet::new(),
        has_failed: false,
        stops: args.stop_on_error,
    };
    let parts: Vec<String> = blocks
        .iter()
        .map(|block| writer.write_block(block))
        .collect::<Result<_, _>>()?;
    writer.remove_unused_files()?;
    files::write_text(&target, &parts.join("\n"))?;
    if writer.has_failed {
        Err(CommandFailure::Reported)
    } else {
        Ok(())
    }
}

/// The folder for the files of a document: `prog-img` for `prog.md`.
fn folder_beside(target: &Path) -> PathBuf {
    let stem = target.file_stem().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!("{stem}-img"))
}

/// A document while it is written.
struct LiterateWriter<'p> {
    runner: ScriptRunner<'p>,
    /// The folder for files.
    folder: PathBuf,
    /// The names of the files that were written.
    written: BTreeSet<String>,
    has_failed: bool,
    /// Whether the first failure ends the command.
    stops: bool,
}

impl LiterateWriter<'_> {
    /// The Markdown of a block. Files are written.
    fn write_block(&mut self, block: &LiterateBlock) -> Result<String, CommandFailure> {
        let (directive, text) = match block {
            LiterateBlock::Text(text) => return Ok(text.clone() + "\n"),
            LiterateBlock::Code(code) if code.is_empty() => return Ok(String::new()),
            LiterateBlock::Code(code) => return Ok(format!("```futhark\n{code}\n```\n")),
            LiterateBlock::Directive(directive, text) => (directive, text),
        };
        let prompt = match directive {
            Ok(directive) if directive.is_covert => String::new(),
            Ok(directive) if directive.is_brief => {
                format!("```\n{}\n```\n\n", directive.brief_text())
            }
            _ => format!("```\n{text}\n```\n\n"),
        };
        let output = match directive {
            Ok(directive) => run_directive(directive, &mut self.runner),
            Err(message) => Err(message.clone()),
        };
        let result = match output {
            Ok(DirectiveOutput::Text(shown)) => format!("```\n{shown}\n```\n"),
            Ok(DirectiveOutput::File(file)) => self.write_file(&file)?,
            Err(message) => {
                let line = text.lines().next().unwrap_or_default();
                let failure = format!("{line} failed: {message}");
                if self.stops {
                    return Err(CommandFailure::from_message(failure));
                }
                report_line("error", &failure, None);
                self.has_failed = true;
                format!("**FAILED**\n```\n{message}\n```\n")
            }
        };
        Ok(prompt + &result)
    }

    /// Writes a file, and returns the Markdown that shows it.
    fn write_file(&mut self, file: &OutputFile) -> Result<String, CommandFailure> {
        let number = self.written.len() + 1;
        let default = format!("{number}-{}", file.default_name);
        let name = file.stated_name.clone().unwrap_or(default);
        fs::create_dir_all(&self.folder).map_err(|error| {
            let folder = self.folder.display();
            CommandFailure::from_message(format!("cannot create {folder}: {error}"))
        })?;
        let path = self.folder.join(&name);
        fs::write(&path, &file.contents).map_err(|error| {
            CommandFailure::from_message(format!("cannot write {}: {error}", path.display()))
        })?;
        let folder = self
            .folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let shown = format!("![]({folder}/{name}){}\n", file.attributes);
        self.written.insert(name);
        Ok(shown)
    }

    /// Removes the files of an earlier document.
    fn remove_unused_files(&self) -> Result<(), CommandFailure> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !self.written.contains(&name) && entry.path().is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}
