//! Files of tuning parameters by Futhark's autotuner: `prog.fut.tuning` beside `prog.fut`.
//!
//! Each line is `NAME=VALUE`. `default_CLASS=VALUE` applies to all parameters of a class that have no line of their
//! own. Unknown names are accepted, since they may belong to another version of the compiler.

use crate::cli::tuning::TuningParameter;
use crate::test::TestOutcome;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Prefix of the names of classes.
const CLASS: &str = "default_";

/// Older names of classes.
const FORMERLY: &[(&str, &str)] = &[
    ("group_size", "thread_block_size"),
    ("num_groups", "grid_size"),
];

/// Reads the parameters of a source, by their names or those of their classes; none where there is no file.
pub fn read_tuning_parameters(source: &Path) -> Result<Vec<(String, u64)>, TestOutcome> {
    let mut path = source.as_os_str().to_owned();
    path.push(".tuning");
    match fs::read_to_string(&path) {
        Ok(text) => parse_tuning_file(&text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
    .map_err(|why| TestOutcome::failed(format!("{}: {why}", path.to_string_lossy())))
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
