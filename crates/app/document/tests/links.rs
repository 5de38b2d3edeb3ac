//! Pages of a program: all links lead somewhere, and equal programs give equal pages.

use spirula_document::{DocumentationSite, render_site};
use spirula_futhark::compile::check_files;
use spirula_futhark::document::document_program;
use std::collections::{BTreeMap, BTreeSet};

const MAIN: &str = r#"-- | Points of a plane.
--
-- See `distance`@term, `point`@type and `space`@mtype.
--
-- # Section
--
-- Also `scale`@term@"lib/numbers".

-- | A module type.
import "lib/numbers"

-- | Points.
type point 't = {x: t, y: t}

-- | Its parts refer to `point`@type.
module type space = {
  -- | A number.
  type number
  include sized with size = i64
  -- | The length of a `point`@type, as a `number`@type.
  val length : point number -> number
  module inner : { val (<+>) : number -> number -> number }
}

-- | A parametric module.
module make_space (f: real) : space with number = f.t = {
  type number = f.t
  type size = i64
  def length (p: point number) = f.(sqrt (p.x * p.x + p.y * p.y))
  module inner = { def (<+>) (a: number) (b: number) = a f.+ b }
}

module plane = make_space f32
local module hidden = { type secret = i32 }
open { def shown (x: hidden.secret) : hidden.secret = x }

-- | The distance of points, of `missing`@term.
def distance [n] (ps: [n](point f32)) (f: (a: f32) -> f32) q = f (scale (plane.length q + f32.i64 n + ps[0].x))

def inferred (a, b) = a + i64.i32 b
-- | Types that are not written have sizes.
def shorten k xs = take k xs : []f32
-- | Another one.
def pairs [n] (xs: [n]f32) = (zip xs (map (+ 1) xs), filter (> 0) xs)
-- | Another one.
def count (n: i64) = iota (n + 1)
-- | Another one.
def times f = map (f 1i32)
"#;

const NUMBERS: &str =
    "-- | Sizes.\nmodule type sized = { type size }\n\ndef scale (x: f32) = x * 2\n";

fn render() -> DocumentationSite {
    let mut read = |path: &str| match path {
        "main.fut" => Ok(MAIN.to_owned()),
        "lib/numbers.fut" => Ok(NUMBERS.to_owned()),
        other => Err(format!("no file {other}")),
    };
    let checked = check_files("main.fut", &mut read).expect("the program is right");
    let documented = document_program(&checked);
    render_site(
        &documented,
        &["main.fut".to_owned()],
        &checked.program.names,
    )
}

/// The values of an attribute.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let begin = format!(" {name}=\"");
    let values = page.split(begin.as_str()).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn links_lead_to_places_that_exist() {
    let site = render();
    let places: BTreeMap<&str, BTreeSet<&str>> = site
        .pages
        .iter()
        .map(|page| {
            (
                page.path.as_str(),
                attributes(&page.contents, "id").into_iter().collect(),
            )
        })
        .collect();
    let mut count = 0;
    for page in &site.pages {
        for link in attributes(&page.contents, "href") {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let mut parts: Vec<&str> = page.path.split('/').collect();
            if !path.is_empty() {
                parts.pop();
                for part in path.split('/') {
                    if part == ".." {
                        parts.pop();
                    } else {
                        parts.push(part);
                    }
                }
            }
            let target = parts.join("/");
            let found = places.get(target.as_str());
            let ids = found.unwrap_or_else(|| panic!("{link} of {} has no page", page.path));
            assert!(
                anchor.is_empty() || ids.contains(anchor),
                "{link} of {}",
                page.path
            );
            count += 1;
        }
    }
    assert!(count > 500, "there are only {count} links");
}

#[test]
fn signatures_are_as_written() {
    let site = render();
    let main = site
        .pages
        .iter()
        .find(|page| page.path == "main.html")
        .expect("a page");
    let text: String = {
        let mut is_text = true;
        let shown = main.contents.chars().filter(|&c| {
            is_text = if c == '<' { false } else { is_text };
            let is_shown = is_text;
            is_text |= c == '>';
            is_shown
        });
        shown.collect()
    };
    for signature in [
        "val distance [n]: (ps: [n](point f32)) -&gt; (f: (a: f32) -&gt; f32) -&gt; (q: ",
        "val inferred: (i64, i32) -&gt; i64",
        "val shorten [n0]: (k: i64) -&gt; (xs: [n0]f32) -&gt; [k]f32",
        "val pairs [n]: (xs: [n]f32) -&gt; ?[m].([n](f32, f32), [m]f32)",
        "val count: (n: i64) -&gt; [n + 1]i64",
        "type point 't = {x: t, y: t}",
        "module make_space (f: real): space with number = f.t",
        "include sized with size = i64",
        "module plane = make_space f32",
        "module type space = { … }\n",
        "val (&lt;+&gt;): number -&gt; number -&gt; number",
    ] {
        assert!(text.contains(signature), "{signature} is not in {text}");
    }
    assert!(!text.contains("secret ="), "{text}");
}

#[test]
fn references_and_definitions_without_documentation_are_reported() {
    let site = render();
    let messages = site
        .warnings
        .iter()
        .map(|warning| warning.diagnostic.message.as_str());
    let messages: Vec<&str> = messages.collect();
    assert_eq!(
        messages,
        [
            "no term missing is documented",
            "no documentation of space.inner, space.inner.<+>, plane, shown, inferred",
        ]
    );
}

#[test]
fn pages_are_deterministic() {
    let (first, second) = (render(), render());
    for (first, second) in first.pages.iter().zip(&second.pages) {
        assert_eq!(first.path, second.path);
        assert_eq!(first.contents, second.contents);
    }
}
