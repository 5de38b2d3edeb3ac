//! The commands of the book run, and print what the book shows.
//!
//! A chapter's blocks of `sh` run one after the other in one folder that has the examples. A block of `text` after such a block is its
//! output. A command with the comment `# exit code N` ends with that code, and any other with 0.

use crate::harness::ScratchFolder;
use std::path::Path;
use std::process::Command;

/// The chapters whose commands run with nothing but the command itself.
const TESTED_CHAPTERS: &[&str] = &["debugging.md"];

/// A block of commands with the output that the chapter shows.
struct ShellBlock {
    line: usize,
    commands: String,
    output: Option<String>,
}

#[test]
fn commands_of_chapters_print_what_the_book_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for chapter in TESTED_CHAPTERS {
        let text = std::fs::read_to_string(root.join("docs").join(chapter)).unwrap();
        let blocks = read_shell_blocks(&text);
        assert!(!blocks.is_empty(), "{chapter} has no commands");
        let scratch = ScratchFolder::new();
        for name in ["mandelbrot.ll", "mandelbrot.cl"] {
            let example = std::fs::read(root.join("examples").join(name)).unwrap();
            scratch.file(&format!("examples/{name}"), example);
        }
        for block in blocks {
            run_block(chapter, &block, &scratch);
        }
    }
}

fn run_block(chapter: &str, block: &ShellBlock, scratch: &ScratchFolder) {
    let folder = Path::new(env!("CARGO_BIN_EXE_spirula")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let script = format!("exec 2>&1\n{}", expect_exit_codes(&block.commands));
    let mut run = Command::new("sh");
    run.args(["-e", "-c", &script]);
    let run = run.env("PATH", path).env("SPIRULA_CACHE_DIR", "");
    let told = run.current_dir(scratch.path("")).output().unwrap();
    let output = String::from_utf8_lossy(&told.stdout);
    let place = format!("docs/{chapter}, line {}", block.line);
    assert!(told.status.success(), "{place}: {}\n{output}", told.status);
    if let Some(shown) = &block.output {
        assert_eq!(output.trim_end(), shown.trim_end(), "{place}");
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

fn read_shell_blocks(text: &str) -> Vec<ShellBlock> {
    let mut blocks: Vec<ShellBlock> = Vec::new();
    let mut lines = text.lines().enumerate();
    // Whether only empty lines stand between the last block of commands and here.
    let mut follows = false;
    while let Some((at, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            follows &= line.is_empty();
            continue;
        };
        let content = lines.by_ref().map(|(_, line)| line);
        let content: Vec<&str> = content.take_while(|line| *line != "```").collect();
        let content = content.join("\n");
        match (language, blocks.last_mut()) {
            ("text", Some(block)) if follows => block.output = Some(content),
            ("sh", _) => blocks.push(ShellBlock {
                line: at + 1,
                commands: content,
                output: None,
            }),
            _ => {}
        }
        follows = language == "sh";
    }
    blocks
}
