//! Text of comments: Markdown with references to definitions.
//!
//! A reference is a name in backticks with its name space, such as `` `map`@term ``, and perhaps a file:
//! `` `map`@term@"soacs" ``. Source: manual page `futhark-doc`.

use crate::html::{escape_text, link_between, page_of};
use crate::site::{PageContext, SiteWarning};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use spirula_futhark::document::{DocumentationComment, DocumentedItem, ReferenceSpace};

/// Renders a comment. `level` is added to the levels of its headings.
pub fn render_comment(
    comment: &DocumentationComment,
    level: u8,
    context: &mut PageContext<'_>,
) -> String {
    let text = link_references(comment, context);
    let events = Parser::new_ext(&text, Options::ENABLE_TABLES);
    let events = events.map(|event| adapt_event(event, level));
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

/// The first paragraph of a comment, as a comment.
pub fn first_paragraph(comment: &DocumentationComment) -> DocumentationComment {
    let lines = comment.text.trim_start().lines();
    let lines: Vec<&str> = lines.take_while(|line| !line.trim().is_empty()).collect();
    DocumentationComment {
        text: lines.join("\n"),
        range: comment.range,
    }
}

/// Moves headings below those of the page, shows HTML as text, and drops links that would run something.
fn adapt_event(event: Event<'_>, level: u8) -> Event<'_> {
    match event {
        Event::Start(Tag::Heading {
            level: own,
            id,
            classes,
            attrs,
        }) => Event::Start(Tag::Heading {
            level: lower_heading(own, level),
            id,
            classes,
            attrs,
        }),
        Event::End(TagEnd::Heading(own)) => Event::End(TagEnd::Heading(lower_heading(own, level))),
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(Tag::Link {
            link_type,
            dest_url: keep_harmless(dest_url),
            title,
            id,
        }),
        event => event,
    }
}

fn lower_heading(own: HeadingLevel, level: u8) -> HeadingLevel {
    HeadingLevel::try_from(usize::from(own as u8 + level)).unwrap_or(HeadingLevel::H6)
}

/// A link to a page, and not to a script.
fn keep_harmless(url: CowStr<'_>) -> CowStr<'_> {
    let scheme = url.split(['/', '#', '?']).next().unwrap_or_default();
    let is_harmless = match scheme.split_once(':') {
        Some((scheme, _)) => ["http", "https", "mailto"].contains(&scheme),
        None => true,
    };
    if is_harmless {
        url
    } else {
        CowStr::Borrowed("#")
    }
}

/// A reference in a comment.
struct CommentReference<'t> {
    name: &'t str,
    space: &'t str,
    file: Option<&'t str>,
    /// The text after it.
    rest: &'t str,
}

/// Replaces references by links. Those that lead nowhere stay as they are, with a warning.
fn link_references(comment: &DocumentationComment, context: &mut PageContext<'_>) -> String {
    let mut out = String::new();
    let mut rest = comment.text.as_str();
    while let Some(start) = rest.find('`') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        match read_reference(rest) {
            Some(reference) => {
                out.push_str(&link_reference(&reference, comment, context));
                rest = reference.rest;
            }
            None => {
                let code = rest.bytes().take_while(|&byte| byte == b'`').count();
                out.push_str(&rest[..code]);
                rest = &rest[code..];
            }
        }
    }
    out + rest
}

/// Reads a reference at the beginning of a text.
fn read_reference(text: &str) -> Option<CommentReference<'_>> {
    let (name, rest) = text.strip_prefix('`')?.split_once('`')?;
    let rest = rest.strip_prefix('@')?;
    let end = rest.find(|c: char| !c.is_ascii_alphabetic());
    let (space, rest) = rest.split_at(end.unwrap_or(rest.len()));
    if name.is_empty() || name.contains(char::is_whitespace) || space.is_empty() {
        return None;
    }
    let file = rest
        .strip_prefix("@\"")
        .and_then(|file| file.split_once('"'));
    Some(CommentReference {
        name,
        space,
        file: file.map(|(file, _)| file),
        rest: file.map_or(rest, |(_, rest)| rest),
    })
}

/// The place of a definition beside the one with the comment, such as another member of a module type.
fn find_sibling<'s>(
    reference: &CommentReference<'_>,
    space: ReferenceSpace,
    context: &PageContext<'s>,
) -> Option<&'s str> {
    let is_referred = |item: &&DocumentedItem| {
        let path = item.name.strip_suffix(reference.name);
        let is_named = path.is_some_and(|path| path.is_empty() || path.ends_with('.'));
        is_named && item.anchor.starts_with(&format!("{}:", space.word()))
    };
    let mut siblings = context.siblings.iter().filter(|_| reference.file.is_none());
    siblings.find(is_referred).map(|item| item.anchor.as_str())
}

/// A reference as Markdown.
fn link_reference(
    reference: &CommentReference<'_>,
    comment: &DocumentationComment,
    context: &mut PageContext<'_>,
) -> String {
    let name = reference.name;
    let Some(space) = ReferenceSpace::from_word(reference.space) else {
        let message = format!("the name space {} is unknown", reference.space);
        context.warn(SiteWarning::at(context.file, comment.range, message));
        return format!("`{name}`");
    };
    if let Some(anchor) = find_sibling(reference, space, context) {
        return format!("[`{name}`](<#{anchor}>)");
    }
    let file = match reference.file {
        Some(file) => context.find_file(file),
        None => Some(context.file),
    };
    let names = context.names;
    let target = file.and_then(|file| file.scope.find_target(space, name, names));
    match target.filter(|target| context.has_page(&target.file)) {
        Some(target) => {
            let page = page_of(&target.file);
            let url = link_between(&context.page, &page, &target.anchor);
            format!("[`{name}`](<{}>)", escape_text(&url))
        }
        None => {
            let message = format!("no {} {name} is documented", reference.space);
            context.warn(SiteWarning::at(context.file, comment.range, message));
            format!("`{name}`")
        }
    }
}
