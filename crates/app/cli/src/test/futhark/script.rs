//! Scripts that compute the inputs of test cases.
//!
//! ```text
//! EXP   = "let" PAT "=" EXP "in" EXP | NAME ATOM* | "$loaddata" ATOM | "$loadbytes" ATOM | ATOM
//! PAT   = NAME | "_" | "(" [PAT {"," PAT}] ")"
//! ATOM  = NAME | VALUE | STRING | "(" [EXP {"," EXP}] ")" | "{" [NAME "=" EXP {"," ...}] "}"
//! VALUE = a number, a truth value or an array, as files of values have them
//! ```
//!
//! A name that atoms follow is an entry point of the program. Numbers are converted to the type of the parameter. A
//! tuple or record becomes an opaque value where the parameter is opaque and has the same parts. Fields are ordered by
//! their names.

use super::script_value::{
    ScriptValue, fit_to_parameter, make_byte_array, spread_over_parameters, wrap_in_tuple,
};
use crate::test::TestOutcome;
use spirula_program::program::ProgramEntry;
use spirula_program::{CallValue, ProgramValue};

/// Deepest nesting.
const DEPTH: usize = 100;

/// Environment of scripts.
pub trait ScriptEnvironment {
    /// An entry point.
    fn find_entry(&self, name: &str) -> Option<ProgramEntry>;

    /// Calls an entry point.
    fn call_entry(
        &mut self,
        name: &str,
        items: &[CallValue],
    ) -> Result<Vec<CallValue>, TestOutcome>;

    /// Reads a file.
    fn read_file(&self, name: &str) -> Result<Vec<u8>, TestOutcome>;
}

/// A pattern of names.
enum ScriptPattern {
    Name(String),
    Tuple(Vec<ScriptPattern>),
}

/// Evaluates a script to the arguments of an entry point.
///
/// # Errors
/// When the script is malformed, uses an unknown name, or calls an entry point that fails.
pub fn evaluate_arguments(
    text: &str,
    entry: &ProgramEntry,
    host: &mut dyn ScriptEnvironment,
) -> Result<Vec<CallValue>, TestOutcome> {
    let mut script = ScriptEvaluator {
        text,
        at: 0,
        depth: 0,
        bound: Vec::new(),
        host,
    };
    let made = script.parse_expression()?;
    script.skip_blanks();
    if script.at < text.len() {
        return Err(script.make_fault("expected the end"));
    }
    spread_over_parameters(made, entry)
}

/// Evaluator of a script: its position, and the bound names.
struct ScriptEvaluator<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    bound: Vec<(String, ScriptValue)>,
    host: &'a mut dyn ScriptEnvironment,
}

impl ScriptEvaluator<'_> {
    fn make_fault(&self, what: &str) -> TestOutcome {
        let rest: String = self.text[self.at..].chars().take(20).collect();
        TestOutcome::failed(format!("script: {what} at {rest:?}"))
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat_token(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let is_next = self.text[self.at..].starts_with(token);
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn expect_token(&mut self, token: &str) -> Result<(), TestOutcome> {
        if self.eat_token(token) {
            Ok(())
        } else {
            Err(self.make_fault(&format!("expected {token}")))
        }
    }

    /// The next name.
    fn peek_name(&mut self) -> Option<String> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let is_first = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        let first = rest.chars().next().filter(|c| is_first(*c))?;
        let more = &rest[first.len_utf8()..];
        let is_part = |c: char| c.is_alphanumeric() || "_'.".contains(c);
        let end = more.find(|c| !is_part(c)).unwrap_or(more.len());
        let name = &rest[..first.len_utf8() + end];
        // Some values, such as `true`, look like names.
        let is_value = ProgramValue::read_all(name.as_bytes()).is_ok();
        (!is_value).then(|| name.to_owned())
    }

    fn parse_name(&mut self) -> Option<String> {
        let name = self.peek_name()?;
        self.at += name.len();
        Some(name)
    }

    fn parse_expression(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.make_fault("nesting is too deep"));
        }
        let made = match self.peek_name() {
            Some(name) if name == "let" => self.parse_binding(),
            Some(name) => {
                self.at += name.len();
                self.parse_application(&name)
            }
            None => self.parse_atom(),
        };
        self.depth -= 1;
        made
    }

    fn parse_binding(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.parse_name();
        let pattern = self.parse_pattern()?;
        self.expect_token("=")?;
        let made = self.parse_expression()?;
        if self.parse_name().as_deref() != Some("in") {
            return Err(self.make_fault("expected in"));
        }
        let before = self.bound.len();
        self.bind_pattern(pattern, made)?;
        let result = self.parse_expression();
        self.bound.truncate(before);
        result
    }

    fn parse_pattern(&mut self) -> Result<ScriptPattern, TestOutcome> {
        if let Some(name) = self.parse_name() {
            return Ok(ScriptPattern::Name(name));
        }
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.make_fault("nesting is too deep"));
        }
        self.expect_token("(")?;
        let mut parts = Vec::new();
        while !self.eat_token(")") {
            parts.push(self.parse_pattern()?);
            if !self.eat_token(",") {
                self.expect_token(")")?;
                break;
            }
        }
        self.depth -= 1;
        Ok(ScriptPattern::Tuple(parts))
    }

    fn bind_pattern(
        &mut self,
        pattern: ScriptPattern,
        made: ScriptValue,
    ) -> Result<(), TestOutcome> {
        match (pattern, made) {
            (ScriptPattern::Name(name), made) => {
                self.bound.push((name, made));
                Ok(())
            }
            (ScriptPattern::Tuple(patterns), ScriptValue::Tuple(parts))
                if patterns.len() == parts.len() =>
            {
                let mut both = patterns.into_iter().zip(parts);
                both.try_for_each(|(pattern, part)| self.bind_pattern(pattern, part))
            }
            _ => Err(self.make_fault("a pattern that does not fit before this")),
        }
    }

    /// Evaluates a name: a bound value, a call of an entry point, or a function that reads a file.
    fn parse_application(&mut self, name: &str) -> Result<ScriptValue, TestOutcome> {
        if let Some((_, made)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Ok(made.clone());
        }
        match name {
            "$loaddata" => {
                let file = self.parse_file_argument()?;
                let values = ProgramValue::read_all(&file).map_err(TestOutcome::failed)?;
                let items = values
                    .into_iter()
                    .map(|v| ScriptValue::Item(CallValue::Plain(v)));
                Ok(wrap_in_tuple(items.collect()))
            }
            "$loadbytes" => Ok(ScriptValue::Item(CallValue::Plain(make_byte_array(
                self.parse_file_argument()?,
            )))),
            _ if name.starts_with('$') => {
                let text = format!("the function {name} of scripts");
                Err(TestOutcome::unsupported(text))
            }
            _ => self.parse_call(name),
        }
    }

    fn parse_file_argument(&mut self) -> Result<Vec<u8>, TestOutcome> {
        match self.parse_atom()? {
            ScriptValue::Text(name) => self.host.read_file(&name),
            _ => Err(self.make_fault("expected the name of a file before this")),
        }
    }

    fn parse_call(&mut self, name: &str) -> Result<ScriptValue, TestOutcome> {
        let entry = self.host.find_entry(name);
        let entry = entry.ok_or_else(|| {
            TestOutcome::failed(format!("script: the program has no entry point {name}"))
        })?;
        let mut given = Vec::new();
        for _ in &entry.parameters {
            given.push(self.parse_atom()?);
        }
        let both = given.into_iter().zip(&entry.parameters);
        let items: Vec<CallValue> = both
            .map(|(made, parameter)| fit_to_parameter(made, parameter))
            .collect::<Result<_, _>>()?;
        let results = self.host.call_entry(name, &items)?;
        Ok(wrap_in_tuple(
            results.into_iter().map(ScriptValue::Item).collect(),
        ))
    }

    fn parse_atom(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.skip_blanks();
        if let Some(name) = self.parse_name() {
            let found = self.bound.iter().rev().find(|(bound, _)| *bound == name);
            return match found {
                Some((_, made)) => Ok(made.clone()),
                None => match self.host.find_entry(&name) {
                    Some(entry) if entry.parameters.is_empty() => self.parse_call(&name),
                    _ => Err(self.make_fault(&format!("{name} is not bound before this"))),
                },
            };
        }
        match self.text[self.at..].chars().next() {
            Some('(') => self.parse_tuple(),
            Some('{') => self.parse_record(),
            Some('"') => self.parse_string(),
            Some(_) => self.parse_value(),
            None => Err(self.make_fault("expected a value")),
        }
    }

    fn parse_tuple(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.expect_token("(")?;
        let mut parts = Vec::new();
        while !self.eat_token(")") {
            parts.push(self.parse_expression()?);
            if !self.eat_token(",") {
                self.expect_token(")")?;
                break;
            }
        }
        Ok(wrap_in_tuple(parts))
    }

    fn parse_record(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.expect_token("{")?;
        let mut fields = Vec::new();
        while !self.eat_token("}") {
            let name = self.parse_name();
            let name = name.ok_or_else(|| self.make_fault("expected the name of a field"))?;
            self.expect_token("=")?;
            fields.push((name, self.parse_expression()?));
            if !self.eat_token(",") {
                self.expect_token("}")?;
                break;
            }
        }
        Ok(ScriptValue::Record(fields))
    }

    fn parse_string(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.expect_token("\"")?;
        let rest = &self.text[self.at..];
        let end = rest.find('"');
        let end = end.ok_or_else(|| self.make_fault("a string without an end"))?;
        let text = rest[..end].to_owned();
        self.at += end + 1;
        Ok(ScriptValue::Text(text))
    }

    /// Parses a number, a Boolean or an array. It ends before the next blank or closing character outside of brackets.
    fn parse_value(&mut self) -> Result<ScriptValue, TestOutcome> {
        let rest = &self.text[self.at..];
        let mut open = 0i32;
        let end = rest.find(|c: char| {
            let is_end = open == 0 && (c.is_whitespace() || ",})(".contains(c));
            open += i32::from(c == '[') - i32::from(c == ']');
            is_end
        });
        let end = end.unwrap_or(rest.len());
        let values = ProgramValue::read_all(&rest.as_bytes()[..end]);
        let mut values = values.map_err(|e| self.make_fault(&e.message))?;
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => {
                self.at += end;
                Ok(ScriptValue::Item(CallValue::Plain(value)))
            }
            _ => Err(self.make_fault("expected a value")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_program::ScalarType;
    use spirula_program::program::{EntryValueType, HostRegister, HostSlot, ProgramEntryParameter};

    struct FakeScriptEnvironment;

    fn make_program_entry(name: &str, types: &[ScalarType]) -> ProgramEntry {
        let parameters = types.iter().map(|ty| ProgramEntryParameter {
            name: "x".to_owned(),
            value: Some(EntryValueType {
                element: *ty,
                unsigned: false,
                slot: HostSlot::Scalar(HostRegister(0)),
                shape: None,
            }),
            opaque: None,
            tensor: None,
        });
        ProgramEntry {
            name: name.to_owned(),
            function: 0,
            parameters: parameters.collect(),
            results: Vec::new(),
        }
    }

    impl ScriptEnvironment for FakeScriptEnvironment {
        fn find_entry(&self, name: &str) -> Option<ProgramEntry> {
            match name {
                "pair" => Some(make_program_entry(
                    name,
                    &[ScalarType::I64, ScalarType::F32],
                )),
                "one" => Some(make_program_entry(name, &[])),
                _ => None,
            }
        }

        fn call_entry(
            &mut self,
            _: &str,
            items: &[CallValue],
        ) -> Result<Vec<CallValue>, TestOutcome> {
            let one = ProgramValue::read_all(b"1i64").unwrap().remove(0);
            Ok(match items {
                [] => vec![CallValue::Plain(one)],
                _ => items.iter().rev().cloned().collect(),
            })
        }

        fn read_file(&self, name: &str) -> Result<Vec<u8>, TestOutcome> {
            Ok(name.as_bytes().to_vec())
        }
    }

    fn evaluate_to_text(text: &str, types: &[ScalarType]) -> Result<String, String> {
        let items = evaluate_arguments(
            text,
            &make_program_entry("main", types),
            &mut FakeScriptEnvironment,
        );
        let items = items.map_err(|e| e.to_string())?;
        let shown = items.iter().map(|item| match item {
            CallValue::Plain(value) => value.to_string(),
            CallValue::Opaque(name, parts) => format!("{name} of {}", parts.len()),
        });
        Ok(shown.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn expressions_of_each_sort() {
        let two = &[ScalarType::I32, ScalarType::I32][..];
        assert_eq!(
            evaluate_to_text("let x = 2 in (x, 3)", two).unwrap(),
            "2i32; 3i32"
        );
        let swapped = &[ScalarType::F32, ScalarType::I64][..];
        assert_eq!(
            evaluate_to_text("pair 1 2", swapped).unwrap(),
            "2.0f32; 1i64",
            "numbers take the types of parameters"
        );
        assert_eq!(
            evaluate_to_text("let (a, b) = pair one 0.5 in (a, b)", swapped).unwrap(),
            "0.5f32; 1i64"
        );
        assert_eq!(
            evaluate_to_text("$loaddata \"5i64 6i64\"", two).unwrap(),
            "5i32; 6i32"
        );
        assert_eq!(
            evaluate_to_text("$loadbytes \"ab\"", &[ScalarType::I8]).unwrap(),
            "[97u8, 98u8]"
        );
        assert_eq!(
            evaluate_to_text("[1,2]", &[ScalarType::I32]).unwrap(),
            "[1i32, 2i32]"
        );
        assert_eq!(
            evaluate_to_text("(f32.nan, true)", two).unwrap(),
            "f32.nan; true"
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        for text in [
            "",
            "(",
            "{x 1}",
            "nothing 1",
            "let x = 1",
            "\"a",
            "[1",
            "1 2",
            "pair 1",
        ] {
            assert!(
                evaluate_to_text(text, &[ScalarType::I32]).is_err(),
                "{text}"
            );
        }
        assert!(evaluate_to_text(&"(".repeat(10_000), &[ScalarType::I32]).is_err());
        assert!(evaluate_to_text("$loadimg \"x\"", &[ScalarType::I32]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(let|in|x|=|\\(|\\)|\\{|\\}|,|1|\"|\\[|\\]|pair|one|é| ){0,20}") {
            let _ = evaluate_to_text(&text, &[ScalarType::I32]);
        }
    }
}
