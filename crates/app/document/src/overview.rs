//! The list of files, and the index of names.

use crate::html::{
    FILES_PAGE, NAMES_PAGE, escape_text, frame_page, link_between, page_of, push_link, title_of,
};
use crate::markdown::{first_paragraph, render_comment};
use crate::site::{PageContext, PageGroup};
use spirula_futhark::document::{DocumentedFile, DocumentedItem};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Renders the list of files: the main ones, those that they import, and the prelude. `describe` gives a context for the
/// comment of a file.
pub fn render_file_list<'s>(
    files: &[(&'s DocumentedFile, PageGroup)],
    describe: impl Fn(&'s DocumentedFile) -> PageContext<'s>,
) -> String {
    let mut out = String::new();
    for group in PageGroup::ALL {
        let mut listed: Vec<_> = files.iter().filter(|(_, own)| own == group).collect();
        listed.sort_by_key(|(file, _)| title_of(&file.name));
        if listed.is_empty() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(out, "<h2>{}</h2>\n<dl>", group.heading());
        for (file, _) in listed {
            out.push_str("<dt>");
            push_link(
                &mut out,
                &link_between(FILES_PAGE, &page_of(&file.name), ""),
                title_of(&file.name),
            );
            out.push_str("</dt>\n");
            if let Some(comment) = &file.documentation {
                let mut context = describe(file);
                context.page = FILES_PAGE.to_owned();
                let text = render_comment(&first_paragraph(comment), 2, &mut context);
                let _ = writeln!(out, "<dd>{}</dd>", text.trim_end());
            }
        }
        out.push_str("</dl>\n");
    }
    frame_page(FILES_PAGE, "Files", &out)
}

/// A row of the index of names.
struct IndexRow<'f> {
    /// The name without the modules around it.
    name: &'f str,
    item: &'f DocumentedItem,
    file: &'f DocumentedFile,
}

/// Renders the index of names: all documented definitions by their first letters.
pub fn render_name_index(files: &[(&DocumentedFile, PageGroup)]) -> String {
    let mut rows = Vec::new();
    for (file, _) in files {
        collect_rows(file, &file.items, &mut rows);
    }
    let mut groups: BTreeMap<(bool, String), Vec<IndexRow<'_>>> = BTreeMap::new();
    for row in rows {
        let initial = row.name.chars().next().filter(|c| c.is_alphabetic());
        let heading = match initial {
            Some(initial) => initial.to_uppercase().to_string(),
            None => "Symbols".to_owned(),
        };
        groups
            .entry((initial.is_none(), heading))
            .or_default()
            .push(row);
    }
    let mut out = String::from("<ul class=\"initials\">\n");
    for (_, heading) in groups.keys() {
        out.push_str("<li>");
        push_link(&mut out, &format!("#{}", initial_anchor(heading)), heading);
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
    for ((_, heading), mut rows) in groups {
        rows.sort_by_key(|row| {
            (
                row.name.to_lowercase(),
                row.name,
                title_of(&row.file.name),
                &row.item.anchor,
            )
        });
        push_group(&mut out, &heading, &rows);
    }
    frame_page(NAMES_PAGE, "Names", &out)
}

fn initial_anchor(heading: &str) -> String {
    let codes: Vec<String> = heading.chars().map(|c| u32::from(c).to_string()).collect();
    format!("initial-{}", codes.join("-"))
}

fn collect_rows<'f>(
    file: &'f DocumentedFile,
    items: &'f [DocumentedItem],
    rows: &mut Vec<IndexRow<'f>>,
) {
    for item in items {
        if item.kind.has_name() {
            // The dots of an operator are none between names.
            let end = item
                .name
                .find(|c: char| !c.is_alphanumeric() && !"_.'".contains(c));
            let path = &item.name[..end.unwrap_or(item.name.len())];
            let name = match path.rfind('.') {
                Some(dot) => &item.name[dot + 1..],
                None => &item.name,
            };
            rows.push(IndexRow { name, item, file });
        }
        collect_rows(file, &item.members, rows);
    }
}

fn push_group(out: &mut String, heading: &str, rows: &[IndexRow<'_>]) {
    let anchor = initial_anchor(heading);
    let heading = escape_text(heading);
    let _ = writeln!(
        out,
        "<h2 id=\"{anchor}\">{heading}</h2>\n<ul class=\"names\">"
    );
    for row in rows {
        let page = page_of(&row.file.name);
        out.push_str("<li>");
        push_link(
            out,
            &link_between(NAMES_PAGE, &page, &row.item.anchor),
            &row.item.name,
        );
        let _ = write!(
            out,
            " <span class=\"kind\">{}</span> ",
            row.item.kind.describe()
        );
        push_link(
            out,
            &link_between(NAMES_PAGE, &page, ""),
            title_of(&row.file.name),
        );
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}
