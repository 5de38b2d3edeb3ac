//! Words per sentence in the documents and in the comments of items, to see whether they can be read.

use crate::tidy::source::{self, SourceFile};
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// Most words that a sentence of a document has on the average.
const TARGET: f64 = 16.0;
/// Most words of a sentence that is not listed.
const MOST_WORDS: usize = 25;
/// Documents whose sentences are not listed: a generated one, and figures that stay as they were written.
const UNLISTED: &[&str] = &["llvm-reference.md", "performance-history.md"];

/// Options of the task that counts words.
#[derive(clap::Args)]
pub struct WordOptions {
    /// List the long sentences of documentation comments instead
    #[arg(long)]
    comments: bool,
}

/// A sentence of a document.
struct ProseSentence {
    /// Line in which its paragraph begins, from 1.
    line: usize,
    words: usize,
    text: String,
}

/// Prints words per sentence, or the long sentences of comments.
pub fn print_words(root: &Path, options: &WordOptions) -> Result<()> {
    if options.comments {
        print_long_comments(root)
    } else {
        print_word_counts(root)
    }
}

/// Prints a row for each document of the repository, and then each sentence that is too long.
fn print_word_counts(root: &Path) -> Result<()> {
    println!("| document | words | sentences | words a sentence | longest |");
    println!("| --- | --- | --- | --- | --- |");
    let mut long = Vec::new();
    for path in list_documents(root)? {
        let sentences = split_sentences(&fs::read_to_string(&path)?);
        let words: usize = sentences.iter().map(|sentence| sentence.words).sum();
        let longest = sentences.iter().map(|sentence| sentence.words).max();
        let longest = longest.unwrap_or(0);
        let mean = words as f64 / sentences.len().max(1) as f64;
        let mark = if mean > TARGET { " *" } else { "" };
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        let count = sentences.len();
        println!("| {name} | {words} | {count} | {mean:.1}{mark} | {longest} |");
        if !UNLISTED.iter().any(|unlisted| path.ends_with(unlisted)) {
            list_long_sentences(&name.to_string(), &sentences, &mut long);
        }
    }
    print_long_sentences(&long);
    Ok(())
}

/// Prints the sentences of documentation comments that are too long.
fn print_long_comments(root: &Path) -> Result<()> {
    let mut long = Vec::new();
    for file in source::read_source_files(root)? {
        if !file.name.contains("/generated/") {
            let sentences = split_sentences(&keep_documentation(&file));
            list_long_sentences(&file.name, &sentences, &mut long);
        }
    }
    print_long_sentences(&long);
    Ok(())
}

fn list_long_sentences(name: &str, sentences: &[ProseSentence], long: &mut Vec<String>) {
    for ProseSentence { line, words, text } in sentences {
        if *words > MOST_WORDS {
            long.push(format!("{name}:{line}: {words} words: {text}"));
        }
    }
}

fn print_long_sentences(long: &[String]) {
    println!(
        "\nSentences of more than {MOST_WORDS} words: {}",
        long.len()
    );
    for sentence in long {
        println!("{sentence}");
    }
}

/// The documents at the root, in `docs` and in its folders, in the order of their names.
fn list_documents(root: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = list_markdown(root)?;
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        paths.extend(list_markdown(&folder)?);
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}

/// The Markdown files of a folder itself.
fn list_markdown(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// The text of the documentation comments of a file, with all other lines empty.
fn keep_documentation(file: &SourceFile) -> String {
    let text_of = |line: &str| {
        let line = line.trim_start();
        let text = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        text.unwrap_or_default().to_owned() + "\n"
    };
    file.text.lines().map(text_of).collect()
}

/// The sentences of a document's prose: no headings, tables or code.
fn split_sentences(document: &str) -> Vec<ProseSentence> {
    let mut sentences = Vec::new();
    for (line, paragraph) in split_paragraphs(document) {
        let mut sentence = Vec::new();
        let mut tokens = paragraph.split_whitespace().peekable();
        while let Some(token) = tokens.next() {
            sentence.push(token);
            if tokens.peek().is_none_or(|next| is_end(token, next)) {
                let is_word = |token: &&&str| token.contains(|c: char| c.is_alphanumeric());
                let words = sentence.iter().filter(is_word).count();
                if words > 0 {
                    let text = sentence.join(" ");
                    sentences.push(ProseSentence { line, words, text });
                    sentence.clear();
                }
            }
        }
    }
    sentences
}

/// Whether a sentence ends with a token. The next one begins with a capital, a number, code or bold print.
fn is_end(token: &str, next: &str) -> bool {
    let token = token.trim_end_matches([')', '*', '"', '`']);
    let next = next.trim_start_matches(['(', '"', '[']);
    token.ends_with(['.', '!', '?']) && next.starts_with(|c: char| !c.is_lowercase())
}

/// Paragraphs and items of lists as one line each, with the number of the line in which they begin.
fn split_paragraphs(document: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let mut is_code = false;
    let mut is_continued = false;
    for (at, line) in document.lines().enumerate() {
        let text = line.trim();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        let is_prose = !is_code
            && !is_fence
            && !text.is_empty()
            && !text.starts_with(['#', '|'])
            && !text.starts_with("<!--");
        is_continued &= is_prose && !text.starts_with("- ");
        if is_prose && !is_continued {
            paragraphs.push((at + 1, String::new()));
        }
        if let Some((_, last)) = paragraphs.last_mut().filter(|_| is_prose) {
            last.push(' ');
            last.push_str(text);
        }
        is_continued = is_prose;
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::{SourceFile, keep_documentation, split_sentences};

    #[test]
    fn prose_is_counted() {
        let document = "# Title here\n\nOne two three. Four `a.b` five\nsix. `c` is code.\n\n| a | b |\n```\ncode here\n```\n- item one\n- item (two)\n";
        let sentences = split_sentences(document);
        let counts: Vec<_> = sentences.iter().map(|s| (s.line, s.words)).collect();
        assert_eq!(counts, [(3, 3), (3, 4), (3, 3), (10, 2), (11, 2)]);
        assert_eq!(sentences[1].text, "Four `a.b` five six.");
    }

    #[test]
    fn comments_of_items_are_prose() {
        let file = SourceFile {
            name: "a.rs".to_owned(),
            text: "//! One two\n//! three.\n\nfn a() {} // code\n    /// Four five.\n".to_owned(),
        };
        let sentences = split_sentences(&keep_documentation(&file));
        let counts: Vec<_> = sentences.iter().map(|s| (s.line, s.words)).collect();
        assert_eq!(counts, [(1, 3), (5, 2)]);
    }
}
