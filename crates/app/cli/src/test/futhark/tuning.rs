//! Files of tuning parameters by Futhark's autotuner: `prog.fut.tuning` beside `prog.fut`.
//!
//! Each line is `NAME=VALUE`. `default_CLASS=VALUE` applies to all parameters of a class that have no line of their
//! own. Unknown names are accepted, since they may belong to another version of the compiler.

use crate::cli::tuning::TuningParameter;
use crate::test::TestOutcome;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Prefix of the names of classes.
const CLASS: &str = "default_";

/// Older names of classes.
const FORMERLY: &[(&str, &str)] = &[
    ("group_size", "thread_block_size"),
    ("num_groups", "grid_size"),
];

/// The file of the parameters of a source.
pub fn tuning_file(source: &Path) -> PathBuf {
    let mut path = source.as_os_str().to_owned();
    path.push(".tuning");
    path.into()
}

/// The text of a file of parameters with some of them replaced: by values, or by nothing. Other lines stay.
pub fn replace_parameters(text: &str, tuned: &[(String, Option<u64>)]) -> String {
    let is_replaced = |line: &&str| {
        let name = line.rsplit_once('=').map_or("", |(name, _)| name.trim());
        tuned.iter().any(|(other, _)| other == name)
    };
    let kept = text.lines().filter(|line| !is_replaced(line));
    let new = tuned.iter();
    let new = new.filter_map(|(name, value)| Some(format!("{name}={}", (*value)?)));
    kept.map(str::to_owned)
        .chain(new)
        .map(|line| line + "\n")
        .collect()
}

/// Reads the parameters of a source, by their names or those of their classes; none where there is no file.
pub fn read_tuning_parameters(source: &Path) -> Result<Vec<(String, u64)>, TestOutcome> {
    let path = tuning_file(source);
    match fs::read_to_string(&path) {
        Ok(text) => parse_tuning_file(&text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
    .map_err(|why| TestOutcome::failed(format!("{}: {why}", path.display())))
}

fn parse_tuning_file(text: &str) -> Result<Vec<(String, u64)>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let parameter = |line: &str| {
        let TuningParameter { name, value } = line.parse()?;
        Ok((parameter_class(&name).unwrap_or(&name).to_owned(), value))
    };
    lines.map(parameter).collect()
}

/// The class of a name.
fn parameter_class(name: &str) -> Option<&str> {
    let class = name.strip_prefix(CLASS)?;
    let renamed = FORMERLY.iter().find(|(former, _)| *former == class);
    Some(renamed.map_or(class, |(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuned_parameters_replace_lines() {
        let text = "main.outer_width_0=7\nmain.suff_outer_par_0=9\nmain.outer_width_1=3\n";
        let tuned = [
            ("main.outer_width_0".to_owned(), None),
            ("main.outer_width_1".to_owned(), Some(4)),
        ];
        let wanted = "main.suff_outer_par_0=9\nmain.outer_width_1=4\n";
        assert_eq!(replace_parameters(text, &tuned), wanted);
    }

    #[test]
    fn lines_are_parameters_and_classes() {
        let text = "main.suff_outer_par_0=8388608\n\ndefault_tile_size=8\ndefault_group_size=64\n";
        let wanted = [
            ("main.suff_outer_par_0", 8_388_608),
            ("tile_size", 8),
            ("thread_block_size", 64),
        ];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(parse_tuning_file(text).unwrap(), wanted);
        assert!(parse_tuning_file("main.x=").is_err());
    }
}
