//! Layers: which folders of a crate may import which other folders of it.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The layers of one crate.
struct CrateLayers {
    /// The folder of its sources.
    sources: &'static str,
    /// Each folder, or file beside `lib.rs`, with the ones that it may import. `lib.rs` may import all.
    rows: &'static [(&'static str, &'static [&'static str])],
}

/// The crates whose folders are layers. Each says in the documentation of its `lib.rs` what a layer is.
const LAYERS: &[CrateLayers] = &[CrateLayers {
    sources: "crates/run/cpu/src",
    rows: &[
        ("memory", &[]),
        ("image", &["memory"]),
        ("pipe", &["memory"]),
        // Constants hold the states of samplers, and types of images are described as images are.
        ("module", &["image"]),
        ("matrix", &["module"]),
        // Suspension points name what is done with a pipe, and which product is computed.
        ("analysis", &["module", "matrix", "pipe"]),
        (
            "layout",
            &["memory", "image", "pipe", "module", "analysis"],
        ),
        ("host", &["layout"]),
        (
            "codegen",
            &[
                "memory", "image", "pipe", "matrix", "module", "analysis", "layout", "host",
            ],
        ),
        ("simd", &["module", "layout", "codegen"]),
        (
            "sanitizer",
            &["memory", "module", "analysis", "layout", "codegen"],
        ),
        (
            "exec",
            &[
                "memory",
                "image",
                "pipe",
                "matrix",
                "module",
                "analysis",
                "layout",
                "host",
                "codegen",
                "simd",
                "sanitizer",
            ],
        ),
    ],
}];

/// Checks that no folder imports a folder that is not in its row. Unit tests may import everything.
pub fn check_layers(root: &Path, file: &Path, breaches: &mut Vec<String>) -> Result<()> {
    let name = file.strip_prefix(root).unwrap_or(file);
    for layers in LAYERS {
        let Ok(inner) = name.strip_prefix(layers.sources) else {
            continue;
        };
        let Some(layer) = find_layer(inner) else {
            continue;
        };
        let Some((_, allowed)) = layers.rows.iter().find(|(of, _)| *of == layer) else {
            breaches.push(format!("{}: {layer} is no layer", name.display()));
            continue;
        };
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let product = text.split("#[cfg(test)]\nmod tests").next();
        for import in list_imports(product.unwrap_or_default()) {
            let is_layer = layers.rows.iter().any(|(of, _)| *of == import);
            if is_layer && import != layer && !allowed.contains(&import) {
                let name = name.display();
                breaches.push(format!("{name}: {layer} must not import {import}"));
            }
        }
    }
    Ok(())
}

/// The first part of a path within the sources, without an extension; none for `lib.rs`.
fn find_layer(inner: &Path) -> Option<&str> {
    let first = inner.iter().next()?.to_str()?;
    let layer = first.strip_suffix(".rs").unwrap_or(first);
    (layer != "lib").then_some(layer)
}

/// The names that follow `crate::` outside of comments.
fn list_imports(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
}
