//! The report of `spirula opt --html`: a page with each pass, its time, and the difference that it made.

use similar::{ChangeTag, TextDiff};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{PrintOptions, print_assembly};
use std::fmt::Write;
use std::time::Duration;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Most time for the difference of a pass. One that takes longer is rougher.
const PATIENCE: Duration = Duration::from_millis(500);

/// Changed lines after which the rest of a difference is left out.
const MOST_LINES: usize = 20_000;

/// A report that grows by a pass at a time.
#[derive(Debug, Default)]
pub struct PassPageReport {
    /// The module before the next pass.
    before: String,
    /// The rows of the table, and the sections with differences.
    rows: String,
    sections: String,
    count: usize,
}

/// Rules of the page, for light and dark surroundings.
const STYLE: &str = "\
:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.15rem .8rem;text-align:right;border-bottom:1px solid #8884}\
td:nth-child(2),th:nth-child(2){text-align:left}.same{opacity:.55}summary{cursor:pointer;font-weight:600;margin:.6rem 0}\
pre{overflow:auto;font:12px/1.5 ui-monospace,Menlo,Consolas,monospace;border:1px solid #8884;border-radius:6px;padding:.6rem}\
pre span{display:block;white-space:pre}.i{background:#2ba84a2e}.d{background:#d83a3a2e}.g{opacity:.5}";

impl PassPageReport {
    /// A report that begins with a module.
    pub fn new(module: &SpirvModule) -> Self {
        PassPageReport {
            before: print_module(module),
            ..PassPageReport::default()
        }
    }

    /// Adds a pass that ran.
    pub fn add_pass(
        &mut self,
        name: &str,
        time: Duration,
        module: &SpirvModule,
        has_changed: bool,
    ) {
        self.count += 1;
        let (number, milliseconds) = (self.count, time.as_secs_f64() * 1e3);
        let after = if has_changed {
            print_module(module)
        } else {
            String::new()
        };
        let is_same = !has_changed || after == self.before;
        let (class, link) = if is_same {
            (" class=\"same\"", name.to_owned())
        } else {
            ("", format!("<a href=\"#p{number}\">{name}</a>"))
        };
        let count = |text: &str| text.lines().count();
        let lines = count(if is_same { &self.before } else { &after });
        let difference = lines as i64 - count(&self.before) as i64;
        // Writing to a string does not fail.
        let _ = writeln!(
            self.rows,
            "<tr{class}><td>{number}</td><td>{link}</td><td>{milliseconds:.3}</td><td>{lines}</td>\
             <td>{difference:+}</td></tr>"
        );
        if is_same {
            return;
        }
        let _ = writeln!(
            self.sections,
            "<details open id=\"p{number}\"><summary>{number}. {name}</summary>\n<pre>{}</pre></details>",
            format_difference(&self.before, &after)
        );
        self.before = after;
    }

    /// The page.
    pub fn finish(self, title: &str) -> String {
        let title = escape_html(title);
        let PassPageReport { rows, sections, .. } = self;
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Passes over {title}</title>\n\
             <style>{STYLE}</style></head>\n<body><h1>Passes over {title}</h1>\n\
             <table><tr><th>#</th><th>pass</th><th>ms</th><th>lines after</th><th>change</th></tr>\n{rows}</table>\n\
             {sections}</body></html>\n"
        )
    }
}

fn print_module(module: &SpirvModule) -> String {
    let printed = print_assembly(&module.to_words(), &PrintOptions::default());
    printed.unwrap_or_else(|error| format!("; {error}\n"))
}

/// The difference of two texts, a line each.
fn format_difference(before: &str, after: &str) -> String {
    let difference = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let (mut out, mut count) = (String::new(), 0);
    for (number, group) in difference.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 {
            out.push_str("<span class=\"g\">…</span>");
        }
        for change in group
            .iter()
            .flat_map(|operation| difference.iter_changes(operation))
        {
            count += 1;
            if count > MOST_LINES {
                out.push_str("<span class=\"g\">… and more</span>");
                return out;
            }
            let (class, sign) = match change.tag() {
                ChangeTag::Equal => ("", ' '),
                ChangeTag::Insert => ("i", '+'),
                ChangeTag::Delete => ("d", '-'),
            };
            let line = escape_html(change.value().trim_end_matches('\n'));
            let _ = write!(out, "<span class=\"{class}\">{sign} {line}</span>");
        }
    }
    out
}

/// Escapes text of an element.
fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
