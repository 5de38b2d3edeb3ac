//! Arrays of a file as arguments of the parameters that have their names.
//!
//! A program of JAX names its parameters by paths, such as `params['dense']['kernel']`. An array is for the parameter
//! with its name; otherwise for the one whose path is the same or ends with it: `dense.kernel`, `params/dense/kernel`.
//! Arrays that NumPy numbered, `arr_0` and so on, are for the parameters that are left, in their order.

use crate::cli::CommandFailure;
use crate::values::{ArgSpec, ArgTarget, ArrayFiles, ArrayPath, ValueSpec};
use spirula_program::program::ProgramEntry;
use std::collections::HashMap;

/// The beginning of names that `numpy.savez` gives to arrays without one.
const NUMBERED: &str = "arr_";

/// Parts of names that are listed in a message.
const MOST_LISTED: usize = 8;

/// Replaces each argument that is a whole file of several arrays by one argument for each array.
///
/// # Errors
/// When a file cannot be read, or has an array that is for no parameter or for several.
pub fn expand_array_files(
    given: &[ArgSpec],
    entry: &ProgramEntry,
    files: &mut ArrayFiles,
) -> Result<Vec<ArgSpec>, CommandFailure> {
    let names: Vec<&str> = entry.parameters.iter().map(|p| p.name.as_str()).collect();
    let paths = ParameterPaths::new(&names);
    let mut expanded = Vec::new();
    for arg in given {
        match &arg.value {
            ValueSpec::File(path) if arg.place.is_none() && path.is_whole_file() => {
                let members = files.list_members(&path.path)?;
                add_members(path, members, &paths, &mut expanded)?;
            }
            _ => expanded.push(arg.clone()),
        }
    }
    Ok(expanded)
}

/// Appends an argument for each array of a file.
fn add_members(
    path: &ArrayPath,
    members: Vec<String>,
    paths: &ParameterPaths<'_>,
    expanded: &mut Vec<ArgSpec>,
) -> Result<(), CommandFailure> {
    let mut unknown = Vec::new();
    for member in members {
        let place = match paths.find(&member) {
            Ok(name) => Some(ArgTarget::Name(name.to_owned())),
            Err([]) if is_numbered(&member) => None,
            Err([]) => {
                unknown.push(member);
                continue;
            }
            Err(several) => {
                let found = list_names(several.iter().map(|at| paths.names[*at]));
                let file = path.path.display();
                let text = format!("{file}: the array {member} may be for several parameters");
                return Err(CommandFailure::with_hint(
                    text,
                    format!("these are {found}"),
                ));
            }
        };
        let value = ValueSpec::File(ArrayPath {
            path: path.path.clone(),
            member: Some(member),
        });
        expanded.push(ArgSpec { place, value });
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let (file, count) = (path.path.display(), unknown.len());
    let listed = list_names(unknown.iter().map(String::as_str));
    let text = format!("{file} has {count} arrays that are for no parameter: {listed}");
    let parameters = list_names(paths.names.iter().copied());
    let hint = format!("the parameters are {parameters}; NAME:@{file}[ARRAY] gives one array");
    Err(CommandFailure::with_hint(text, hint))
}

fn is_numbered(member: &str) -> bool {
    let number = member.strip_prefix(NUMBERED);
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn list_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = names.len();
    let listed: Vec<&str> = names.take(MOST_LISTED).collect();
    if count > MOST_LISTED {
        format!("{}, and {} more", listed.join(", "), count - MOST_LISTED)
    } else {
        listed.join(", ")
    }
}

/// The parameters of an entry point by the ends of their paths.
struct ParameterPaths<'a> {
    names: &'a [&'a str],
    by_name: HashMap<&'a str, usize>,
    /// The parameters whose paths end with some components, joined by points.
    by_end: HashMap<String, Vec<usize>>,
}

impl<'a> ParameterPaths<'a> {
    fn new(names: &'a [&'a str]) -> ParameterPaths<'a> {
        let mut by_end: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            let components = split_path(name);
            for start in 0..components.len() {
                let end = components[start..].join(".");
                by_end.entry(end).or_default().push(at);
            }
        }
        let by_name = names.iter().enumerate().map(|(at, name)| (*name, at));
        ParameterPaths {
            names,
            by_name: by_name.collect(),
            by_end,
        }
    }

    /// The parameter that an array is for, or all that it may be for.
    fn find(&self, member: &str) -> Result<&'a str, &[usize]> {
        if let Some(at) = self.by_name.get(member) {
            return Ok(self.names[*at]);
        }
        let found = self.by_end.get(&split_path(member).join("."));
        let found = found.map_or(&[][..], Vec::as_slice);
        match found {
            [only] => Ok(self.names[*only]),
            _ => {
                let count = split_path(member).len();
                let is_whole = |at: &&usize| split_path(self.names[**at]).len() == count;
                let mut whole = found.iter().filter(is_whole);
                match (whole.next(), whole.next()) {
                    (Some(only), None) => Ok(self.names[*only]),
                    _ => Err(found),
                }
            }
        }
    }
}

/// The components of a path: `params['w'][0]`, `params.w.0` and `params/w/0` have the same.
fn split_path(name: &str) -> Vec<&str> {
    let parts = name.split(['[', ']', '\'', '"', '.', '/']);
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_find_their_parameters() {
        let names = [
            "params['a']['w']",
            "params['b']['w']",
            "x",
            "state.x",
            "arr_1",
        ];
        let paths = ParameterPaths::new(&names);
        let find = |member: &str| paths.find(member).map_err(<[usize]>::to_vec);
        assert_eq!(find("params['a']['w']"), Ok(names[0]));
        assert_eq!(find("params.b.w"), Ok(names[1]));
        assert_eq!(find("params/b/w"), Ok(names[1]));
        assert_eq!(find("a.w"), Ok(names[0]));
        assert_eq!(find("w"), Err(vec![0, 1]));
        assert_eq!(find("x"), Ok("x"));
        assert_eq!(find("state/x"), Ok("state.x"));
        assert_eq!(find("y"), Err(Vec::new()));
        assert_eq!(find("arr_1"), Ok("arr_1"));
        assert!(is_numbered("arr_0") && !is_numbered("arr_x"));
    }
}
