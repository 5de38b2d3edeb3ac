//! All pages of a program.

use crate::html::{FILES_PAGE, NAMES_PAGE, STYLE_PAGE, page_of, title_of};
use crate::overview::{render_file_list, render_name_index};
use crate::page::render_page;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::StringInterner;
use spirula_futhark::document::{DocumentedFile, DocumentedItem};
use spirula_futhark::syntax::token::TextRange;
use spirula_futhark::syntax::tree::SourceNameId;
use std::collections::BTreeMap;

/// The folder of the prelude.
const PRELUDE: &str = "/prelude/";
/// A file that documents nothing for readers.
const UNDOCUMENTED_FILE: &str = "/prelude/intrinsics.fut";
/// The comment at the head of a file that has no page.
const IGNORED: &str = "ignore";
/// Most names of undocumented definitions in a warning.
const MOST_NAMES: usize = 8;

/// A page or style sheet.
pub struct SitePage {
    /// Its path, with slashes.
    pub path: String,
    /// Its contents.
    pub contents: String,
}

/// The pages of a program.
pub struct DocumentationSite {
    /// All pages, and the style sheet.
    pub pages: Vec<SitePage>,
    /// References that lead nowhere, and definitions without documentation.
    pub warnings: Vec<SiteWarning>,
}

/// A warning about a file.
pub struct SiteWarning {
    /// Name of the file.
    pub file: String,
    /// Text of the file.
    pub text: String,
    /// The warning.
    pub diagnostic: SourceDiagnostic,
}

impl SiteWarning {
    /// A warning at the first line of a range.
    pub(crate) fn at(file: &DocumentedFile, range: TextRange, message: String) -> SiteWarning {
        let (start, end) = (range.start as usize, range.end as usize);
        let text = file.text.get(start..end).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let place = SourceLocation::from_text_range(start, start + line.len());
        SiteWarning {
            file: file.name.clone(),
            text: file.text.clone(),
            diagnostic: SourceDiagnostic::warning(place, message),
        }
    }
}

/// The groups of files in the list of files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PageGroup {
    /// Files that the user named.
    Main,
    /// Files that these import.
    Imported,
    /// Files of the prelude.
    Prelude,
}

impl PageGroup {
    /// All groups in the order of the list.
    pub const ALL: &[PageGroup] = &[PageGroup::Main, PageGroup::Imported, PageGroup::Prelude];

    /// The heading of the group.
    pub fn heading(self) -> &'static str {
        match self {
            PageGroup::Main => "Main files",
            PageGroup::Imported => "Imported files",
            PageGroup::Prelude => "Prelude",
        }
    }
}

/// State while the page of a file is rendered.
pub struct PageContext<'s> {
    /// The file.
    pub file: &'s DocumentedFile,
    /// Path of the page.
    pub page: String,
    /// All names of the program.
    pub names: &'s StringInterner<SourceNameId>,
    /// The definitions beside the one whose comment is rendered.
    pub siblings: &'s [DocumentedItem],
    /// The files that have pages, by their names.
    files: &'s BTreeMap<&'s str, &'s DocumentedFile>,
    warnings: Vec<SiteWarning>,
}

impl<'s> PageContext<'s> {
    /// Whether a file has a page.
    pub fn has_page(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// The file that a reference names: one that the file imports, by its path or the end of it.
    pub fn find_file(&self, reference: &str) -> Option<&'s DocumentedFile> {
        let wanted = title_of(reference)
            .trim_start_matches("./")
            .trim_start_matches("../");
        let is_wanted = |file: &&&DocumentedFile| {
            let title = title_of(&file.name);
            title
                .strip_suffix(wanted)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let imported = self.file.imports.iter();
        let imported = imported.filter_map(|name| self.files.get(name.as_str()));
        let mut all = imported.chain(self.files.values());
        all.find(is_wanted).copied()
    }

    /// Adds a warning.
    pub fn warn(&mut self, warning: SiteWarning) {
        self.warnings.push(warning);
    }
}

/// Renders the pages of a program. `main` are the names of the files that the user named.
#[must_use]
pub fn render_site(
    documented: &[DocumentedFile],
    main: &[String],
    names: &StringInterner<SourceNameId>,
) -> DocumentationSite {
    let shown = documented.iter().filter(|file| has_page(file));
    let shown: Vec<_> = shown.map(|file| (file, find_group(file, main))).collect();
    let files: BTreeMap<&str, &DocumentedFile> = shown
        .iter()
        .map(|(file, _)| (file.name.as_str(), *file))
        .collect();
    let begin = |file| PageContext {
        file,
        page: page_of(&file.name),
        names,
        siblings: &[],
        files: &files,
        warnings: Vec::new(),
    };
    let mut pages = Vec::new();
    let mut warnings = Vec::new();
    let mut add = |path: &str, contents| {
        pages.push(SitePage {
            path: path.to_owned(),
            contents,
        });
    };
    add(STYLE_PAGE, include_str!("style.css").to_owned());
    add(FILES_PAGE, render_file_list(&shown, begin));
    add(NAMES_PAGE, render_name_index(&shown));
    for (file, group) in &shown {
        let mut context = begin(file);
        let contents = render_page(&mut context);
        add(&context.page, contents);
        if *group == PageGroup::Main {
            warnings.append(&mut context.warnings);
            warnings.extend(warn_of_undocumented(file));
        }
    }
    DocumentationSite { pages, warnings }
}

fn has_page(file: &DocumentedFile) -> bool {
    let comment = file
        .documentation
        .as_ref()
        .map(|comment| comment.text.trim());
    file.name != UNDOCUMENTED_FILE && comment != Some(IGNORED)
}

fn find_group(file: &DocumentedFile, main: &[String]) -> PageGroup {
    if main.contains(&file.name) {
        PageGroup::Main
    } else if file.name.starts_with(PRELUDE) {
        PageGroup::Prelude
    } else {
        PageGroup::Imported
    }
}

/// A warning that names the definitions of a file that have no documentation.
fn warn_of_undocumented(file: &DocumentedFile) -> Option<SiteWarning> {
    let mut missing = Vec::new();
    collect_undocumented(&file.items, &mut missing);
    let first = missing.first()?;
    let names: Vec<&str> = missing
        .iter()
        .take(MOST_NAMES)
        .map(|item| item.name.as_str())
        .collect();
    let mut message = format!("no documentation of {}", names.join(", "));
    if missing.len() > MOST_NAMES {
        message += &format!(" and {} others", missing.len() - MOST_NAMES);
    }
    Some(SiteWarning::at(file, first.range, message))
}

fn collect_undocumented<'f>(items: &'f [DocumentedItem], missing: &mut Vec<&'f DocumentedItem>) {
    for item in items {
        if item.kind.has_name() && item.documentation.is_none() {
            missing.push(item);
        }
        collect_undocumented(&item.members, missing);
    }
}
