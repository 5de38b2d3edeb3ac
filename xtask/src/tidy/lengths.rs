//! The rule of lengths: a file that is written by hand has one subject, and a limited number of lines.

use super::source::SourceFile;

/// Most lines of a file.
const MOST_LINES: usize = 800;

/// Reports each file that is too long.
pub fn check_file_lengths(files: &[SourceFile], breaches: &mut Vec<String>) {
    for file in files {
        let lines = file.text.lines().count();
        if lines > MOST_LINES {
            let name = &file.name;
            breaches.push(format!(
                "{name}: {lines} lines; split it by subject above {MOST_LINES}"
            ));
        }
    }
}
