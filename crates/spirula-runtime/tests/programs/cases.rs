//! Test blocks of Futhark programs: comments from `-- ==` on with entry points, inputs and what is
//! expected of them.

use spirula_program::Value;

/// A case with its values in the source.
#[derive(Debug)]
pub struct Case {
    /// Entry point.
    pub entry: String,
    /// What it is called with.
    pub input: Vec<Value>,
    /// What it gives; `None` for an error.
    pub output: Option<Vec<Value>>,
}

/// The cases of a program whose input and expectation stand in its source.
pub fn cases(source: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim_end() != "-- ==" {
            continue;
        }
        let mut block = String::new();
        while let Some(line) = lines.peek().and_then(|l| l.strip_prefix("--")) {
            if line.trim() == "==" {
                break;
            }
            block += line;
            block.push('\n');
            lines.next();
        }
        block_cases(&block, &mut cases);
    }
    cases
}

fn block_cases(block: &str, cases: &mut Vec<Case>) {
    let mut entries = vec!["main".to_owned()];
    let mut rest = block;
    while !rest.is_empty() {
        let word = rest.trim_start();
        if let Some(names) = word.strip_prefix("entry:") {
            let end = names.find('\n').unwrap_or(names.len());
            entries = names[..end].split_whitespace().map(str::to_owned).collect();
            rest = &names[end..];
        } else if let Some(after) = word.strip_prefix("input") {
            rest = after;
            if let Some((input, after)) = braces(after) {
                rest = after;
                let output = expectation(&mut rest);
                let input = Value::read_all(input.as_bytes());
                if let (Ok(input), Some(output)) = (input, output) {
                    for entry in &entries {
                        cases.push(Case {
                            entry: entry.clone(),
                            input: input.clone(),
                            output: output.clone(),
                        });
                    }
                }
            }
        } else {
            let end = word.find(char::is_whitespace).unwrap_or(word.len());
            rest = &word[end..];
        }
    }
}

/// `{ text }` at the beginning; the text and what follows.
fn braces(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start().strip_prefix('{')?;
    let end = inner.find('}')?;
    Some((&inner[..end], &inner[end + 1..]))
}

/// The expectation after an input, if it stands here: values, or an error.
fn expectation(rest: &mut &str) -> Option<Option<Vec<Value>>> {
    let text = rest.trim_start();
    if let Some(after) = text.strip_prefix("error:") {
        *rest = &after[after.find('\n').unwrap_or(after.len())..];
        return Some(None);
    }
    let (output, after) = braces(text.strip_prefix("output")?)?;
    *rest = after;
    Some(Some(Value::read_all(output.as_bytes()).ok()?))
}

/// Whether a result is what is expected: shapes and types equal, integers exactly, other numbers
/// within 0.002 of the largest expected.
pub fn agree(expected: &Value, found: &Value) -> bool {
    let same = expected.shape == found.shape && expected.type_name() == found.type_name();
    if !same || !expected.element.is_float() {
        return same && expected.bytes == found.bytes;
    }
    let real = |value: &Value| -> Vec<f64> {
        let widen = spirula_program::Operator::convert(
            spirula_program::Op::FConv,
            value.element,
            spirula_program::Scalar::F64,
        );
        value
            .elements()
            .map(|bits| f64::from_bits(widen.eval(&[bits])))
            .collect()
    };
    let (expected, found) = (real(expected), real(found));
    let finite = expected.iter().filter(|x| x.is_finite());
    let tolerance = finite.fold(0.002f64, |most, x| most.max(0.002 * x.abs()));
    expected
        .iter()
        .zip(&found)
        .all(|(e, f)| e == f || (e.is_nan() && f.is_nan()) || (e - f).abs() <= tolerance)
}
