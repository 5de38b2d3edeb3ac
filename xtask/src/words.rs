//! Words per sentence in the documents, to see whether they can be read.

use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// Most words that a sentence of a document has on the average.
const TARGET: f64 = 16.0;

/// Counts of a document.
struct WordCount {
    words: usize,
    sentences: usize,
    /// Words of the longest sentence.
    longest: usize,
}

/// Prints a row for each document of the repository.
pub fn print_word_counts(root: &Path) -> Result<()> {
    println!("| document | words | sentences | words a sentence | longest |");
    println!("| --- | --- | --- | --- | --- |");
    for path in list_documents(root)? {
        let count = count_words(&fs::read_to_string(&path)?);
        let mean = count.words as f64 / count.sentences.max(1) as f64;
        let mark = if mean > TARGET { " *" } else { "" };
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        let WordCount {
            words,
            sentences,
            longest,
        } = count;
        println!("| {name} | {words} | {sentences} | {mean:.1}{mark} | {longest} |");
    }
    Ok(())
}

/// The documents at the root and in `docs`, in the order of their names.
fn list_documents(root: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for folder in [root.to_owned(), root.join("docs")] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}

/// Counts the words of a document's prose: no headings, tables or code.
fn count_words(document: &str) -> WordCount {
    let mut count = WordCount {
        words: 0,
        sentences: 0,
        longest: 0,
    };
    for paragraph in split_paragraphs(document) {
        let mut words = 0;
        let mut tokens = paragraph.split_whitespace().peekable();
        while let Some(token) = tokens.next() {
            if token.contains(|c: char| c.is_alphanumeric()) {
                words += 1;
            }
            if tokens.peek().is_none_or(|next| is_end(token, next)) && words > 0 {
                count.words += words;
                count.sentences += 1;
                count.longest = count.longest.max(words);
                words = 0;
            }
        }
    }
    count
}

/// Whether a sentence ends with a token.
fn is_end(token: &str, next: &str) -> bool {
    let token = token.trim_end_matches([')', '*', '"', '`']);
    let begins_sentence = next
        .trim_start_matches(['(', '*', '"', '`', '['])
        .starts_with(|c: char| !c.is_lowercase());
    token.ends_with(['.', '!', '?']) && begins_sentence
}

/// Paragraphs and items of lists as one line each.
fn split_paragraphs(document: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut is_code = false;
    for line in document.lines() {
        let text = line.trim();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        let is_prose = !is_code && !is_fence && !text.is_empty() && !text.starts_with(['#', '|']);
        if !is_prose || text.starts_with("- ") {
            paragraphs.push(String::new());
        }
        if let Some(last) = paragraphs.last_mut().filter(|_| is_prose) {
            last.push(' ');
            last.push_str(text);
        }
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::count_words;

    #[test]
    fn prose_is_counted() {
        let document = "# Title here\n\nOne two three. Four `a.b` five\nsix.\n\n| a | b |\n```\ncode here\n```\n- item one\n- item (two)\n";
        let count = count_words(document);
        assert_eq!((count.words, count.sentences, count.longest), (11, 4, 4));
    }
}
