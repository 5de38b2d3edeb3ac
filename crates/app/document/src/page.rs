//! The page of a file: its comment, a list of its definitions, and their documentation.

use crate::html::{
    escape_text, frame_page, link_between, page_of, push_escaped, push_link, title_of,
};
use crate::markdown::render_comment;
use crate::site::PageContext;
use spirula_futhark::document::{DocumentedItem, SignaturePart};
use std::fmt::Write;

/// Level of the title of a page.
const TITLE_LEVEL: u8 = 1;
/// Level of the headings of parts of a page.
const PART_LEVEL: u8 = 2;

/// Renders the page of a file.
pub fn render_page(context: &mut PageContext<'_>) -> String {
    let file = context.file;
    let mut out = String::new();
    if let Some(comment) = &file.documentation {
        out.push_str(&render_comment(comment, TITLE_LEVEL, context));
    }
    push_imports(&mut out, context);
    push_synopsis(&mut out, &file.items);
    if !file.items.is_empty() {
        out.push_str("<h2 id=\"definitions\">Definitions</h2>\n");
        push_items(&mut out, &file.items, context);
    }
    frame_page(&context.page.clone(), title_of(&file.name), &out)
}

/// Appends links to the files that a file imports.
fn push_imports(out: &mut String, context: &PageContext<'_>) {
    let imports = context.file.imports.iter();
    let links = imports
        .filter(|import| context.has_page(import))
        .map(|import| {
            let mut link = String::new();
            let url = link_between(&context.page, &page_of(import), "");
            push_link(&mut link, &url, title_of(import));
            link
        });
    let links: Vec<String> = links.collect();
    if !links.is_empty() {
        // Writing to a string does not fail.
        let _ = writeln!(out, "<p class=\"imports\">Imports {}</p>", links.join(", "));
    }
}

/// Appends the names of all definitions as links to them.
fn push_synopsis(out: &mut String, items: &[DocumentedItem]) {
    let named: Vec<_> = items.iter().filter(|item| item.kind.has_name()).collect();
    if named.len() < 2 {
        return;
    }
    out.push_str("<ul class=\"synopsis\">\n");
    for item in named {
        let kind = item.kind.describe();
        let (url, name) = (format!("#{}", item.anchor), &item.name);
        let _ = write!(out, "<li><span class=\"kind\">{kind}</span> ");
        push_link(out, &url, name);
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

fn push_items<'s>(out: &mut String, items: &'s [DocumentedItem], context: &mut PageContext<'s>) {
    let outer = std::mem::replace(&mut context.siblings, items);
    for item in items {
        push_item(out, item, context);
    }
    context.siblings = outer;
}

/// Appends a definition with its documentation and members.
fn push_item<'s>(out: &mut String, item: &'s DocumentedItem, context: &mut PageContext<'s>) {
    if item.kind.has_name() {
        let anchor = escape_text(&item.anchor);
        let _ = writeln!(out, "<section class=\"item\" id=\"{anchor}\">");
    } else {
        out.push_str("<section class=\"item\">\n");
    }
    out.push_str("<div class=\"signature\"><code>");
    for part in &item.signature {
        push_part(out, part, item, context);
    }
    out.push_str("</code></div>\n");
    if let Some(comment) = &item.documentation {
        let text = render_comment(comment, PART_LEVEL, context);
        let _ = writeln!(out, "<div class=\"text\">\n{text}</div>");
    }
    if !item.members.is_empty() {
        out.push_str("<div class=\"members\">\n");
        push_items(out, &item.members, context);
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
}

fn push_part(
    out: &mut String,
    part: &SignaturePart,
    item: &DocumentedItem,
    context: &PageContext<'_>,
) {
    match part {
        SignaturePart::Text(text) => push_escaped(out, text),
        SignaturePart::Keyword(word) => {
            let _ = write!(out, "<span class=\"keyword\">{word}</span>");
        }
        SignaturePart::Name(name) => {
            out.push_str("<span class=\"name\">");
            push_link(out, &format!("#{}", item.anchor), name);
            out.push_str("</span>");
        }
        SignaturePart::Link(text, target) if context.has_page(&target.file) => {
            let page = page_of(&target.file);
            push_link(
                out,
                &link_between(&context.page, &page, &target.anchor),
                text,
            );
        }
        SignaturePart::Link(text, _) => push_escaped(out, text),
    }
}
