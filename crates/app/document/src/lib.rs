//! HTML pages for the documentation of Futhark source.
//!
//! [`render_site`] makes the pages of a program: a list of its files, a page for each of them, and an index of all names.
//! Pages refer to each other by relative links, and need no script. Equal programs give equal pages.
//!
//! - `page`: the page of a file.
//! - `overview`: the list of files, and the index of names.
//! - `markdown`: the text of comments, with its references to definitions.
//! - `html`: escapes, links between pages, and the frame of a page.
//!
//! Source: manual page `futhark-doc`.

mod html;
mod markdown;
mod overview;
mod page;
mod site;

pub use site::{DocumentationSite, SitePage, SiteWarning, render_site};
