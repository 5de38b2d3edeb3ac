//! Contents of arrays on the command line.

use spirula_runtime::data::{BufferFill, ElementClass, ElementNumber, ElementType, RandomOrder};
use std::path::PathBuf;

/// Contents of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayContents {
    /// Contents by a rule.
    Fill(BufferFill),
    /// These numbers. A single number is for every element.
    Numbers(Vec<ElementNumber>),
    /// Random numbers between bounds, or random bits without bounds. The seed may be left open.
    Random {
        /// Smallest, and bound above.
        range: Option<(ElementNumber, ElementNumber)>,
        /// Seed.
        seed: Option<u64>,
    },
    /// Contents of a `.npy` file of the same type and number of elements, or bytes of any other file.
    File(PathBuf),
}

/// Parses the contents of an array.
pub(super) fn parse_contents(element: ElementType, text: &str) -> Result<ArrayContents, String> {
    if let Some(path) = text.strip_prefix('@') {
        return Ok(ArrayContents::File(path.into()));
    }
    let text = text.trim();
    let (name, parts) = match text.strip_suffix(')').and_then(|t| t.split_once('(')) {
        Some((name, inside)) => (name, inside.split(',').map(str::trim).collect()),
        None => (text, Vec::new()),
    };
    let number = |text: &str| element.parse_number(text).map_err(|e| e.to_string());
    let whole = |n| match element.class() {
        ElementClass::Float => ElementNumber::Float(n as f64),
        _ => ElementNumber::Int(n),
    };
    match (name, parts.as_slice()) {
        ("zeros", []) => Ok(ArrayContents::Fill(BufferFill::Zeros)),
        ("fill", [value]) => Ok(ArrayContents::Fill(BufferFill::Value(number(value)?))),
        ("iota", []) => Ok(ArrayContents::Fill(BufferFill::Ramp {
            start: whole(0),
            step: whole(1),
        })),
        ("iota", [start, step]) => Ok(ArrayContents::Fill(BufferFill::Ramp {
            start: number(start)?,
            step: number(step)?,
        })),
        ("random", parts) => parse_random_contents(element, parts),
        ("zeros" | "fill" | "iota", _) => Err(format!("{text:?} has the wrong number of values")),
        _ => parse_number_list(element, text),
    }
}

fn parse_random_contents(element: ElementType, parts: &[&str]) -> Result<ArrayContents, String> {
    let (bounds, seed) = match parts.split_last() {
        Some((last, before)) if last.starts_with("seed=") => {
            let seed = last["seed=".len()..].parse();
            let seed = seed.map_err(|_| format!("{last:?} is not a seed: give seed=N"))?;
            (before, Some(seed))
        }
        _ => (parts, None),
    };
    let number = |text: &str| element.parse_number(text).map_err(|e| e.to_string());
    let range = match bounds {
        [] => None,
        [low, high] => Some((number(low)?, number(high)?)),
        _ => return Err("random takes two bounds, or none".to_owned()),
    };
    Ok(ArrayContents::Random { range, seed })
}

/// Parses numbers that are separated by spaces, commas and brackets.
fn parse_number_list(element: ElementType, text: &str) -> Result<ArrayContents, String> {
    let words = text.split(|c: char| c.is_whitespace() || ",[]".contains(c));
    let words = words.filter(|w| !w.is_empty());
    let numbers = words.map(|w| element.parse_number(w).map_err(|e| e.to_string()));
    let numbers: Vec<_> = numbers.collect::<Result<_, _>>()?;
    if numbers.is_empty() {
        Err("there are no contents after '='".to_owned())
    } else {
        Ok(ArrayContents::Numbers(numbers))
    }
}

impl ArrayContents {
    /// The rule for an array, with a default for the seed; `None` for files.
    ///
    /// # Errors
    /// When the number of values is neither one nor that of the elements.
    pub fn to_buffer_fill(
        &self,
        element: ElementType,
        count: usize,
        seed: u64,
    ) -> Result<Option<BufferFill>, String> {
        Ok(Some(match self {
            ArrayContents::Fill(fill) => fill.clone(),
            ArrayContents::Numbers(numbers) => match numbers.as_slice() {
                [one] => BufferFill::Value(*one),
                all if all.len() == count => BufferFill::List(all.to_vec()),
                all => {
                    return Err(format!(
                        "{} values are given for {count} elements",
                        all.len()
                    ));
                }
            },
            ArrayContents::Random { range, seed: own } => {
                let seed = own.unwrap_or(seed);
                match (element.class(), range) {
                    (ElementClass::Float, range) => {
                        let (low, high) =
                            range.map_or((0.0, 1.0), |(a, b)| (a.to_f64(), b.to_f64()));
                        BufferFill::Reals {
                            low,
                            high,
                            seed,
                            diagonal: None,
                        }
                    }
                    (_, None) => BufferFill::Bits { seed },
                    (_, Some((low, high))) => {
                        let bound = |n: &ElementNumber| {
                            i64::try_from(n.to_int()).map_err(|_| {
                                "random takes bounds of 64 bits with a sign".to_owned()
                            })
                        };
                        BufferFill::Integers {
                            low: bound(low)?,
                            high: bound(high)?,
                            seed,
                            order: RandomOrder::AsDrawn,
                        }
                    }
                }
            }
            ArrayContents::File(_) => return Ok(None),
        }))
    }
}
