//! Pieces of HTML: escapes, links between pages, and the frame of a page.

use std::fmt::Write;

/// Name of the style sheet.
pub const STYLE_PAGE: &str = "style.css";
/// Name of the list of files.
pub const FILES_PAGE: &str = "index.html";
/// Name of the index of names.
pub const NAMES_PAGE: &str = "names.html";

/// Appends a text with the characters escaped that mean something in HTML.
pub fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

/// A text with the characters escaped that mean something in HTML.
pub fn escape_text(text: &str) -> String {
    let mut out = String::new();
    push_escaped(&mut out, text);
    out
}

/// Appends a link.
pub fn push_link(out: &mut String, url: &str, text: &str) {
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "<a href=\"{}\">{}</a>",
        escape_text(url),
        escape_text(text)
    );
}

/// The name of a file as it is shown: without its ending.
pub fn title_of(file: &str) -> &str {
    let file = file.strip_suffix(".fut").unwrap_or(file);
    file.trim_start_matches('/')
}

/// The page of a file. Pages stand in folders as their files do; a file above the root stands in the folder `up`.
pub fn page_of(file: &str) -> String {
    let parts = title_of(file).split('/');
    let parts = parts.map(|part| if part == ".." { "up" } else { part });
    parts.collect::<Vec<_>>().join("/") + ".html"
}

/// The relative link from one page to another.
pub fn link_between(from: &str, to: &str, anchor: &str) -> String {
    if from == to && !anchor.is_empty() {
        return format!("#{anchor}");
    }
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let folders = from.len().min(to.len()) - 1;
    let shared = (0..folders).take_while(|&i| from[i] == to[i]).count();
    let mut url = "../".repeat(from.len() - 1 - shared);
    let names = to[shared..].iter().map(|part| encode_part(part));
    url.push_str(&names.collect::<Vec<_>>().join("/"));
    if !anchor.is_empty() {
        url.push('#');
        url.push_str(anchor);
    }
    url
}

/// Encodes a part of a path for a link.
fn encode_part(part: &str) -> String {
    let mut out = String::new();
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Puts the contents of a page into its frame.
pub fn frame_page(page: &str, title: &str, contents: &str) -> String {
    let style = link_between(page, STYLE_PAGE, "");
    let files = link_between(page, FILES_PAGE, "");
    let names = link_between(page, NAMES_PAGE, "");
    let title = escape_text(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"stylesheet\" href=\"{style}\">\n</head>\n<body>\n\
         <header><nav><a href=\"{files}\">Files</a> <a href=\"{names}\">Names</a></nav></header>\n\
         <main>\n<h1>{title}</h1>\n{contents}</main>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative() {
        assert_eq!(link_between("a.html", "a.html", "term:f"), "#term:f");
        assert_eq!(link_between("a.html", "a.html", ""), "a.html");
        assert_eq!(
            link_between("x/y/a.html", "x/z/b.html", "t"),
            "../z/b.html#t"
        );
        assert_eq!(link_between("x/a.html", "style.css", ""), "../style.css");
        assert_eq!(link_between("a.html", "x/b c.html", ""), "x/b%20c.html");
    }

    #[test]
    fn files_above_the_root_have_pages_below_it() {
        assert_eq!(page_of("../lib/a.fut"), "up/lib/a.html");
        assert_eq!(page_of("/prelude/soacs.fut"), "prelude/soacs.html");
    }
}
