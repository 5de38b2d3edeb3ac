//! The commands of the book run, and print what the book shows.
//!
//! A chapter's blocks of `sh` run one after the other in one folder that has the examples. A block of `text` after such a block is its
//! output. A command with the comment `# exit code N` ends with that code, and any other with 0.
//!
//! A comment before a block says more about it:
//!
//! - `<!-- file: NAME -->`: the block is the contents of a file in the folder.
//! - `<!-- excerpt of: PATH -->`: the block is a part of a file of the repository.
//! - `<!-- needs: PROGRAM ... -->`: the commands run where these programs and headers of C are installed.
//! - `<!-- writes: PATH -->`: the commands write a file of this name, and it is that of the repository. `BLESS=1` renews that one.
//! - `<!-- not run: REASON -->`: the commands do not run here.

use crate::harness::{ScratchFolder, own};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A block of code with the comment before it.
struct CodeBlock {
    line: usize,
    language: String,
    content: String,
    remark: BlockRemark,
    /// The block of `text` that follows.
    output: Option<String>,
}

/// The remark of a comment about the block after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum BlockRemark {
    #[default]
    None,
    File(String),
    Excerpt(String),
    Needs(Vec<String>),
    Writes(String),
    NotRun,
}

#[test]
fn commands_of_documents_print_what_they_show() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut documents = vec![root.join("README.md")];
    list_documents(&root.join("docs"), &mut documents);
    let faults: Vec<String> = std::thread::scope(|scope| {
        let checks: Vec<_> = documents
            .iter()
            .map(|document| scope.spawn(|| check_document(&root, document)))
            .collect();
        let results = checks
            .into_iter()
            .map(|check| check.join().expect("no panic"));
        results.filter_map(Result::err).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Adds the documents of a folder and of those in it.
fn list_documents(folder: &Path, documents: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            list_documents(&path, documents);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            documents.push(path);
        }
    }
}

/// A folder with the examples, and with a function that JAX exported.
fn make_folder(root: &Path) -> ScratchFolder {
    let scratch = ScratchFolder::new();
    for example in std::fs::read_dir(root.join("examples")).expect("examples") {
        let path = example.expect("an example").path();
        if path.is_file() {
            let name = path.file_name().expect("a name").to_string_lossy();
            let contents = std::fs::read(&path).expect("an example");
            scratch.file(&format!("examples/{name}"), contents);
        }
    }
    let exported = std::fs::read(own("dense.jax_export")).expect("a file");
    scratch.file("dense.bin", exported);
    #[cfg(unix)]
    if let Some(clang) = find_clang() {
        std::fs::create_dir(scratch.path("bin")).expect("a folder");
        std::os::unix::fs::symlink(clang, scratch.path("bin/clang")).expect("a link");
    }
    scratch
}

/// The installed Clang, which may have its version in its name.
fn find_clang() -> Option<PathBuf> {
    let versions = (15..=30).rev().map(|version| format!("clang-{version}"));
    std::iter::once("clang".to_owned())
        .chain(versions)
        .find_map(|name| find_program(&name))
}

/// The path of an installed program.
fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Runs the commands of a document, up to the first that fails.
fn check_document(root: &Path, document: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(document).expect("a document");
    let blocks = read_code_blocks(&text);
    let scratch = make_folder(root);
    let document = document.strip_prefix(root).expect("it is in the root");
    let document = document.display();
    for block in &blocks {
        let place = format!("{document}, line {}", block.line);
        match &block.remark {
            BlockRemark::File(name) => {
                scratch.file(name, format!("{}\n", block.content));
            }
            BlockRemark::Excerpt(path) => {
                let whole = std::fs::read_to_string(root.join(path)).expect("a file");
                if !whole.contains(&block.content) {
                    return Err(format!("{place} is not in {path}"));
                }
            }
            BlockRemark::Needs(programs) if block.language == "sh" => {
                match programs.iter().find(|name| !is_installed(name)) {
                    Some(missing) => tell_missing(&place, missing),
                    None => run_block(&place, block, &scratch)?,
                }
            }
            BlockRemark::Writes(path) if block.language == "sh" => {
                run_block(&place, block, &scratch)?;
                compare_file(&place, &root.join(path), &scratch)?;
            }
            BlockRemark::None if block.language == "sh" => {
                run_block(&place, block, &scratch)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reports that commands do not run. Tests that pass do not capture this.
fn tell_missing(place: &str, program: &str) {
    let line = format!("NOT TESTED: {place}: there is no {program}\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("standard error");
}

/// Compares a file of the repository with the file of its name in the folder.
fn compare_file(place: &str, file: &Path, scratch: &ScratchFolder) -> Result<(), String> {
    let name = file.file_name().expect("a name").to_string_lossy();
    let written = std::fs::read(scratch.path(&name)).expect("the file was written");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, &written).expect("a file");
    }
    match std::fs::read(file) {
        Ok(known) if known == written => Ok(()),
        _ => Err(format!(
            "{place}: {} is not current; BLESS=1 renews it",
            file.display()
        )),
    }
}

/// Whether a program is installed, or a header of C.
fn is_installed(name: &str) -> bool {
    match name {
        "clang" => find_clang().is_some(),
        header if header.ends_with(".h") => {
            let mut check = Command::new("cc");
            check.args(["-x", "c", "-fsyntax-only", "-include", header, "/dev/null"]);
            check.output().is_ok_and(|output| output.status.success())
        }
        name => find_program(name).is_some(),
    }
}

fn run_block(place: &str, block: &CodeBlock, scratch: &ScratchFolder) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_BIN_EXE_spirula")).parent();
    let folder = folder.expect("programs are in a folder");
    let path = std::env::var("PATH").expect("a path");
    let script = format!("exec 2>&1\n{}", expect_exit_codes(&block.content));
    let mut run = Command::new("sh");
    run.args(["-e", "-c", &script]);
    let own = scratch.text("bin");
    run.env("PATH", format!("{}:{own}:{path}", folder.display()));
    let run = run.env("SPIRULA_CACHE_DIR", "");
    let told = run.current_dir(scratch.path("")).output();
    let told = told.expect("a shell");
    let output = String::from_utf8_lossy(&told.stdout);
    if !told.status.success() {
        return Err(format!("{place}: {}\n{output}", told.status));
    }
    match &block.output {
        Some(shown) if output.trim_end() != shown.trim_end() => Err(format!(
            "{place} prints\n{output}\nThe document shows\n{shown}"
        )),
        _ => Ok(()),
    }
}

/// The commands with a check of each exit code that a comment states.
fn expect_exit_codes(commands: &str) -> String {
    let whole_lines = commands.replace("\\\n", " ");
    let mut script = String::new();
    for line in whole_lines.lines() {
        match line.split_once("# exit code ") {
            Some((command, code)) => {
                script += &format!("set +e\n{command}\ncode=$?\nset -e\ntest $code = {code}\n");
            }
            None => script += &format!("{line}\n"),
        }
    }
    script
}

/// The blocks of code of a document, with the outputs that follow commands.
fn read_code_blocks(text: &str) -> Vec<CodeBlock> {
    let mut blocks: Vec<CodeBlock> = Vec::new();
    let mut remark = BlockRemark::None;
    // Whether only empty lines stand between the last block and here.
    let mut follows = false;
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(said) = line.strip_prefix("<!-- ") {
            remark = parse_remark(said.trim_end_matches("-->").trim());
            continue;
        }
        let Some(language) = line.strip_prefix("```") else {
            if !line.is_empty() {
                follows = false;
                remark = BlockRemark::None;
            }
            continue;
        };
        let content = lines.by_ref().map(|(_, line)| line);
        let content: Vec<&str> = content.take_while(|line| *line != "```").collect();
        let content = content.join("\n");
        match blocks.last_mut() {
            Some(block)
                if follows
                    && language == "text"
                    && block.language == "sh"
                    && remark == BlockRemark::None =>
            {
                block.output = Some(content);
                follows = false;
            }
            _ => {
                blocks.push(CodeBlock {
                    line: at + 1,
                    language: language.to_owned(),
                    content,
                    remark: std::mem::take(&mut remark),
                    output: None,
                });
                follows = true;
            }
        }
    }
    blocks
}

fn parse_remark(text: &str) -> BlockRemark {
    match text.split_once(": ") {
        Some(("file", name)) => BlockRemark::File(name.to_owned()),
        Some(("excerpt of", path)) => BlockRemark::Excerpt(path.to_owned()),
        Some(("needs", programs)) => {
            let programs = programs.split_whitespace().map(str::to_owned);
            BlockRemark::Needs(programs.collect())
        }
        Some(("writes", path)) => BlockRemark::Writes(path.to_owned()),
        Some(("not run", _)) => BlockRemark::NotRun,
        _ => BlockRemark::None,
    }
}
