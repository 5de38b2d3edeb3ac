//! The rule of documents: links between them lead somewhere, and the book lists each of its chapters.
//!
//! Anchors are made as GitHub and mdBook make them: lower case, spaces as `-`, without other punctuation.

use super::sentences;
use anyhow::Result;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The list of the book's chapters.
const SUMMARY: &str = "docs/SUMMARY.md";
/// Folders with documents, besides the root. Other folders have none that link.
const FOLDERS: &[&str] = &["docs", "crates"];
/// Folders that are not searched.
const SKIPPED: &[&str] = &["target", "node_modules", "corpus"];

/// A link from one document to another file of the repository.
struct DocumentLink {
    line: usize,
    path: String,
    anchor: Option<String>,
}

/// Reports links that lead nowhere, and documents that are no chapters.
pub fn check_documents(root: &Path, breaches: &mut Vec<String>) -> Result<()> {
    let mut documents = list_markdown(root, false)?;
    for folder in FOLDERS {
        documents.extend(list_markdown(&root.join(folder), true)?);
    }
    for document in &documents {
        let text = fs::read_to_string(document)?;
        let name = document.strip_prefix(root).unwrap_or(document).display();
        sentences::check_sentences(&name.to_string(), &text, breaches);
        for link in find_links(&text) {
            if let Some(fault) = find_link_fault(document, &text, &link)? {
                breaches.push(format!("{name}:{}: {fault}", link.line));
            }
        }
    }
    check_chapters(root, &documents, breaches)
}

fn check_chapters(root: &Path, documents: &[PathBuf], breaches: &mut Vec<String>) -> Result<()> {
    let summary = fs::read_to_string(root.join(SUMMARY))?;
    let listed: BTreeSet<PathBuf> = find_links(&summary)
        .into_iter()
        .map(|link| root.join("docs").join(link.path))
        .collect();
    let chapters = documents
        .iter()
        .filter(|d| d.starts_with(root.join("docs")));
    for chapter in chapters.filter(|d| **d != root.join(SUMMARY)) {
        if !listed.contains(chapter) {
            let name = chapter.strip_prefix(root).unwrap_or(chapter).display();
            breaches.push(format!("{name}: {SUMMARY} does not list it"));
        }
    }
    Ok(())
}

fn list_markdown(folder: &Path, with_folders: bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let is_skipped = name.is_none_or(|name| SKIPPED.contains(&name) || name.starts_with('.'));
        if path.is_dir() && with_folders && !is_skipped {
            found.extend(list_markdown(&path, true)?);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The links of a document to files, outside of blocks of code.
fn find_links(text: &str) -> Vec<DocumentLink> {
    let mut links = Vec::new();
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        for part in line.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or("");
            // Paths of items are for rustdoc, which checks them.
            let is_elsewhere = ["://", "mailto:", "::", "`"]
                .iter()
                .any(|mark| target.contains(mark));
            if is_elsewhere {
                continue;
            }
            let (path, anchor) = match target.split_once('#') {
                Some((path, anchor)) => (path, Some(anchor.to_owned())),
                None => (target, None),
            };
            links.push(DocumentLink {
                line: at + 1,
                path: path.to_owned(),
                anchor,
            });
        }
    }
    links
}

fn find_link_fault(document: &Path, text: &str, link: &DocumentLink) -> Result<Option<String>> {
    let folder = document.parent().unwrap_or(Path::new(""));
    let path = folder.join(&link.path);
    if !link.path.is_empty() && !path.exists() {
        return Ok(Some(format!("{} does not exist", link.path)));
    }
    let Some(anchor) = &link.anchor else {
        return Ok(None);
    };
    let is_document = link.path.is_empty() || link.path.ends_with(".md");
    let target = match link.path.as_str() {
        "" => text.to_owned(),
        _ if is_document => fs::read_to_string(&path)?,
        _ => return Ok(None),
    };
    let has_anchor = target
        .lines()
        .filter(|line| line.starts_with('#'))
        .any(|heading| make_anchor(heading) == *anchor);
    Ok((!has_anchor).then(|| format!("no heading of {} is #{anchor}", link.path)))
}

/// The anchor of a heading.
fn make_anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_anchors_are_found() {
        let text = "See [a](b.md#c-d), [x](https://x.y).\n```\n[no](z)\n```\n[e](#f) [g](h.rs)";
        let links = find_links(text);
        let found: Vec<_> = links
            .iter()
            .map(|l| (l.line, l.path.as_str(), l.anchor.as_deref()))
            .collect();
        let expected = [
            (1, "b.md", Some("c-d")),
            (5, "", Some("f")),
            (5, "h.rs", None),
        ];
        assert_eq!(found, expected);
        assert_eq!(
            make_anchor("## The `opt` command, by name"),
            "the-opt-command-by-name"
        );
    }
}
