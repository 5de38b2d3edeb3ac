//! Forms of output files: the extension of a file is that of its form, and no file is written twice.

use super::{CommandFailure, CommandResult, files};
use std::path::Path;

/// Extensions that state a form, with its name. Files of any other extension may have any form.
const FORMS: &[(&str, &str)] = &[
    ("bc", "LLVM bitcode"),
    ("bmp", "a picture"),
    ("c", "C source"),
    ("cl", "OpenCL C"),
    ("comp", "GLSL"),
    ("dot", "a graph for Graphviz"),
    ("gif", "a picture"),
    ("glsl", "GLSL"),
    ("hlsl", "HLSL"),
    ("html", "a page"),
    ("jpeg", "a picture"),
    ("jpg", "a picture"),
    ("json", "JSON"),
    ("kernel", "kernel text"),
    ("ll", "LLVM assembly"),
    ("metal", "Metal"),
    ("mlir", "MLIR"),
    ("npy", "an array"),
    ("npz", "arrays"),
    ("o", "an object"),
    ("pdf", "a document"),
    ("png", "a picture"),
    ("ptx", "PTX"),
    ("so", "a library"),
    ("spb", "a compiled program"),
    ("spv", "a SPIR-V binary"),
    ("spvasm", "SPIR-V assembly"),
    ("svg", "a picture"),
    ("tensor", "dispatches"),
    ("tif", "a picture"),
    ("tiff", "a picture"),
    ("webp", "a picture"),
    ("wgsl", "WGSL"),
];

/// Refuses an output whose extension states a form that is not written.
///
/// # Errors
/// When the extension is not among `ends`, but is that of a known form.
pub fn check_output_form(output: &Path, ends: &[&str]) -> CommandResult {
    let extension = output.extension().and_then(|end| end.to_str());
    let Some(extension) = extension.filter(|_| !files::is_standard(output)) else {
        return Ok(());
    };
    let extension = extension.to_ascii_lowercase();
    let known = FORMS.iter().find(|(end, _)| *end == extension);
    match known {
        Some((_, form)) if !ends.contains(&extension.as_str()) => {
            let path = output.display();
            let ends: Vec<_> = ends.iter().map(|end| format!(".{end}")).collect();
            let ends = ends.join(", ");
            let text = format!("{path} says that it is {form}, which is not written here");
            let hint = format!("the name may end in {ends}, or in anything that is no known form");
            Err(CommandFailure::with_hint(text, hint))
        }
        _ => Ok(()),
    }
}

/// Refuses outputs of which two are the same file.
///
/// # Errors
/// When a path stands twice.
pub fn check_distinct_outputs<'p>(outputs: impl IntoIterator<Item = &'p Path>) -> CommandResult {
    let mut seen: Vec<&Path> = Vec::new();
    for output in outputs {
        if seen.contains(&output) && !files::is_standard(output) {
            let path = output.display();
            let text = format!("{path} would be written twice, and only the last output kept");
            return Err(CommandFailure::with_hint(
                text,
                "give each output a file of its own",
            ));
        }
        seen.push(output);
    }
    Ok(())
}
