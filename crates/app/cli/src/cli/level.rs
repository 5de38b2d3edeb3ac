//! Levels of optimisation, as `-O LEVEL` gives them.

use super::CommandFailure;
use spirula_opt::PassPipeline;
use std::ffi::OsString;

/// The levels, without `O`.
pub const LEVELS: [&str; 5] = ["0", "1", "2", "3", "s"];

/// The level that `-O` alone means.
pub const DEFAULT_LEVEL: &str = "2";

/// The passes of a level.
///
/// # Errors
/// When there is no such level.
pub fn build_level_pipeline(level: &str) -> Result<PassPipeline, CommandFailure> {
    let pipeline = format!("O{level}").parse();
    pipeline.map_err(|e: spirula_opt::PipelineError| CommandFailure::Usage(e.to_string()))
}

/// Writes the level to each `-O` that stands alone, as compilers take it.
pub fn complete_level_arguments(arguments: &[OsString]) -> Vec<OsString> {
    let is_level = |next: Option<&OsString>| {
        let next = next.and_then(|next| next.to_str());
        next.is_some_and(|next| LEVELS.contains(&next))
    };
    let end = arguments.iter().position(|argument| argument == "--");
    let completed = arguments.iter().enumerate().map(|(at, argument)| {
        let is_option = end.is_none_or(|end| at < end);
        if is_option && argument == "-O" && !is_level(arguments.get(at + 1)) {
            OsString::from(format!("-O{DEFAULT_LEVEL}"))
        } else {
            argument.clone()
        }
    });
    completed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_levels_are_completed() {
        let complete = |words: &str| {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            let completed = complete_level_arguments(&words);
            completed.join(std::ffi::OsStr::new(" "))
        };
        assert_eq!(complete("opt -O x"), "opt -O2 x");
        assert_eq!(complete("opt -O 3 x"), "opt -O 3 x");
        assert_eq!(complete("opt -Os x -O"), "opt -Os x -O2");
        assert_eq!(complete("opt -- -O"), "opt -- -O");
    }
}
