//! The book: chapters in HTML, with links that lead somewhere.
//!
//! `cargo xtask book` copies the chapters of `docs/SUMMARY.md` to `target/book-source`, in the folders of the repository, and lets mdBook
//! make `target/book` of them. Links to other files of the repository become links to the forge.

use crate::tools;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The list of chapters.
const SUMMARY: &str = "docs/SUMMARY.md";
/// The forge's pages of files.
const FILES: &str = "https://github.com/spirula/spirula/blob/main";

/// Builds the book, and checks the links of its pages.
///
/// # Errors
/// When mdBook cannot be fetched or fails, or a link leads nowhere.
pub fn build_book(root: &Path) -> Result<()> {
    let target = root.join("target");
    let program = tools::find_or_fetch_mdbook(&target).context("the book needs mdBook")?;
    let source = target.join("book-source");
    let book = target.join("book");
    gather_chapters(root, &source)?;
    let mut build = Command::new(program);
    build.arg("build").arg(&source).arg("--dest-dir").arg(&book);
    ensure!(build.status()?.success(), "mdBook fails");
    let mut dead = Vec::new();
    check_pages(&book, &book, &mut dead)?;
    ensure!(dead.is_empty(), "links lead nowhere:\n{}", dead.join("\n"));
    println!("the book is in {}", book.join("index.html").display());
    Ok(())
}

/// Copies the chapters, with links that stay right.
fn gather_chapters(root: &Path, source: &Path) -> Result<()> {
    if source.exists() {
        fs::remove_dir_all(source)?;
    }
    let summary = fs::read_to_string(root.join(SUMMARY))?;
    let mut chapters = BTreeSet::new();
    rewrite_links(&summary, |target| {
        chapters.insert(join_path(Path::new("docs"), target));
        None
    });
    let listed = rewrite_links(&summary, |target| {
        Some(join_path(Path::new("docs"), target).display().to_string())
    });
    for chapter in &chapters {
        let text = fs::read_to_string(root.join(chapter))?;
        let folder = chapter.parent().unwrap_or(Path::new(""));
        let text = rewrite_links(&text, |target| {
            let (path, _) = target.split_once('#').unwrap_or((target, ""));
            let file = join_path(folder, path);
            let is_picture = path.ends_with(".svg") || path.ends_with(".png");
            if target.contains("://") || path.is_empty() || chapters.contains(&file) || is_picture {
                return None;
            }
            // Paths of items are for rustdoc; their names are enough.
            if target.contains("::") || target.contains('`') {
                return Some(String::new());
            }
            Some(format!("{FILES}/{}", file.display()))
        });
        write_file(&source.join(chapter), text.as_bytes())?;
    }
    for picture in fs::read_dir(root.join("docs/images"))? {
        let picture = picture?.path();
        let name = picture.strip_prefix(root)?;
        write_file(&source.join(name), &fs::read(&picture)?)?;
    }
    write_file(&source.join("SUMMARY.md"), listed.as_bytes())?;
    write_file(
        &source.join("book.toml"),
        &fs::read(root.join("docs/book.toml"))?,
    )
}

fn write_file(path: &Path, contents: &[u8]) -> Result<()> {
    fs::create_dir_all(path.parent().context("files are in folders")?)?;
    Ok(fs::write(path, contents)?)
}

/// A path from a folder, without `..`.
fn join_path(folder: &Path, path: &str) -> PathBuf {
    let mut joined = folder.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => {
                joined.pop();
            }
            Component::Normal(name) => joined.push(name),
            _ => {}
        }
    }
    joined
}

/// The text with other targets of links. `change` returns the new target, or `None` where the old one stays. A link whose new target is
/// empty becomes text.
fn rewrite_links(text: &str, mut change: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let mut rest = line;
        while let Some(at) = rest.find("](").filter(|_| !is_code) {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            let Some(end) = after.find(')') else { break };
            let old = &after[..end];
            match change(old) {
                Some(new) if new.is_empty() => {
                    let begin = before.rfind('[').unwrap_or(0);
                    out += &before[..begin];
                    out += before[begin..].trim_start_matches('[');
                }
                new => out += &format!("{before}]({})", new.as_deref().unwrap_or(old)),
            }
            rest = &after[end + 1..];
        }
        out += rest;
        out.push('\n');
    }
    out
}

/// Collects the links of pages that lead to no file.
fn check_pages(book: &Path, folder: &Path, dead: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            check_pages(book, &path, dead)?;
            continue;
        }
        // These two have links from the root.
        let is_page = path.extension().is_some_and(|ending| ending == "html")
            && !path.ends_with("404.html")
            && !path.ends_with("toc.html");
        if !is_page {
            continue;
        }
        let page = fs::read_to_string(&path)?;
        for link in page.split("href=\"").chain(page.split("src=\"")).skip(1) {
            let link = link.split(['"', '#']).next().unwrap_or_default();
            let is_local = !link.is_empty() && !link.contains("://") && !link.contains('<');
            if is_local && !folder.join(link).exists() {
                let name = path.strip_prefix(book).unwrap_or(&path);
                dead.push(format!("{}: {link}", name.display()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_links_change() {
        let text = "[a](b.md#c) `x` [d](e)\n```\n[no](z)\n```\n![p](q.svg) [r](s::t).";
        let changed = rewrite_links(text, |target| match target {
            "e" => Some("f".to_owned()),
            "s::t" => Some(String::new()),
            _ => None,
        });
        let expected = "[a](b.md#c) `x` [d](f)\n```\n[no](z)\n```\n![p](q.svg) r.\n";
        assert_eq!(changed, expected);
        assert_eq!(
            join_path(Path::new("docs"), "../a/./b.md"),
            Path::new("a/b.md")
        );
    }
}
