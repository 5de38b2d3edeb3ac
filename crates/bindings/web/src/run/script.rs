//! Scripts of runs: the entry point, sizes of a launch, and a line for each argument.
//!
//! ```text
//! entry saxpy
//! groups 4
//! size 64
//! x: f32[256] = iota
//! y: f32[256] = 0
//! a: f32 = 2.5
//! scratch: local 1024
//! push: u32 = 256
//! push: address = x
//! ```

use super::run_array::RunArray;

/// A fault of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunScriptFault {
    pub message: String,
    /// The line, from 1.
    pub line: Option<usize>,
}

impl RunScriptFault {
    /// A fault of the script as a whole.
    pub(crate) fn from_message(message: impl Into<String>) -> RunScriptFault {
        RunScriptFault {
            message: message.into(),
            line: None,
        }
    }
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RunScriptValue {
    /// A scalar or an array.
    Array(RunArray),
    /// Workgroup memory of this many bytes.
    Local(u64),
}

/// A push constant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PushedValue {
    /// A scalar or an array.
    Array(RunArray),
    /// The address of an array with a name.
    Address { buffer: String, line: usize },
}

/// A line with an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunScriptArgument {
    /// The name or number of the parameter.
    pub name: String,
    pub value: RunScriptValue,
    pub line: usize,
}

/// A script.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunScript {
    pub entry: Option<String>,
    pub groups: Option<[u32; 3]>,
    pub size: Option<[u32; 3]>,
    pub arguments: Vec<RunScriptArgument>,
    /// Push constants, in order.
    pub push: Vec<PushedValue>,
}

impl PushedValue {
    fn from_text(text: &str, line: usize) -> Result<PushedValue, String> {
        if let Some(rest) = text.strip_prefix("address") {
            let buffer = rest.trim().strip_prefix('=').unwrap_or_default().trim();
            if buffer.is_empty() {
                return Err("address needs the name of an array, as in address = x".to_owned());
            }
            return Ok(PushedValue::Address {
                buffer: buffer.to_owned(),
                line,
            });
        }
        Ok(PushedValue::Array(RunArray::from_text(text)?))
    }
}

impl RunScript {
    /// Parses a script.
    ///
    /// # Errors
    /// The first fault, with its line.
    pub(crate) fn from_text(text: &str) -> Result<RunScript, RunScriptFault> {
        let mut script = RunScript::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            script
                .parse_line(line, at + 1)
                .map_err(|message| RunScriptFault {
                    message,
                    line: Some(at + 1),
                })?;
        }
        Ok(script)
    }

    fn parse_line(&mut self, line: &str, number: usize) -> Result<(), String> {
        if let Some((name, rest)) = line.split_once(':') {
            let (name, rest) = (name.trim(), rest.trim());
            if let Some(bytes) = rest.strip_prefix("local ") {
                let bytes = bytes.trim().parse();
                let bytes = bytes.map_err(|_| "local needs a number of bytes".to_owned())?;
                self.arguments.push(RunScriptArgument {
                    name: name.to_owned(),
                    value: RunScriptValue::Local(bytes),
                    line: number,
                });
                return Ok(());
            }
            if name == "push" {
                self.push.push(PushedValue::from_text(rest, number)?);
            } else {
                let value = RunArray::from_text(rest)?;
                self.arguments.push(RunScriptArgument {
                    name: name.to_owned(),
                    value: RunScriptValue::Array(value),
                    line: number,
                });
            }
            return Ok(());
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "entry" => self.entry = Some(rest.trim().to_owned()),
            "groups" => self.groups = Some(parse_sizes(rest)?),
            "size" => self.size = Some(parse_sizes(rest)?),
            _ => {
                let message = format!(
                    "{word} begins no line of a script; lines are entry, groups, size, or NAME: TYPE = CONTENTS"
                );
                return Err(message);
            }
        }
        Ok(())
    }

    /// The argument for a parameter, by one of its names.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn find_argument(
        &self,
        names: &[&str],
    ) -> Result<&RunScriptArgument, RunScriptFault> {
        let mut arguments = self.arguments.iter();
        let found = arguments.find(|argument| names.contains(&argument.name.as_str()));
        found.ok_or_else(|| {
            let name = names.first().copied().unwrap_or_default();
            RunScriptFault::from_message(format!("no line gives the argument {name}"))
        })
    }

    /// Checks that each argument belongs to a parameter.
    ///
    /// # Errors
    /// The first that does not.
    pub(crate) fn check_names(&self, known: &[String]) -> Result<(), RunScriptFault> {
        let mut arguments = self.arguments.iter();
        match arguments.find(|argument| !known.contains(&argument.name)) {
            None => Ok(()),
            Some(argument) => Err(RunScriptFault {
                message: format!("there is no argument {}", argument.name),
                line: Some(argument.line),
            }),
        }
    }
}

/// One to three sizes.
fn parse_sizes(text: &str) -> Result<[u32; 3], String> {
    let numbers: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
    match numbers.as_deref() {
        Ok([x]) => Ok([*x, 1, 1]),
        Ok([x, y]) => Ok([*x, *y, 1]),
        Ok([x, y, z]) => Ok([*x, *y, *z]),
        _ => Err("one to three sizes are needed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed() {
        let text = "entry main # the first\n\ngroups 2 3\nx: f32[2] = 1 2\ns: local 64\npush: u32 = 7\npush: address = x";
        let script = RunScript::from_text(text).unwrap();
        assert_eq!(script.entry.as_deref(), Some("main"));
        assert_eq!(script.groups, Some([2, 3, 1]));
        assert_eq!(script.arguments.len(), 2);
        let PushedValue::Array(number) = &script.push[0] else {
            panic!("the first push constant is a number");
        };
        assert_eq!(number.bytes, [7, 0, 0, 0]);
        let address = PushedValue::Address {
            buffer: "x".to_owned(),
            line: 7,
        };
        assert_eq!(script.push[1], address);
        assert!(RunScript::from_text("push: address").is_err());
        assert_eq!(
            script.find_argument(&["s"]).unwrap().value,
            RunScriptValue::Local(64)
        );
        let fault = RunScript::from_text("\nx: f99 = 1").unwrap_err();
        assert_eq!(fault.line, Some(2));
        assert!(script.check_names(&["x".to_owned()]).is_err());
    }
}
