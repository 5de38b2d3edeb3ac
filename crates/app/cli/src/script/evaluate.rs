//! Evaluator of scripts: expressions over the entry points of a program.
//!
//! ```text
//! EXP   = "let" PAT "=" EXP ("in" EXP | EXP) | NAME "[" EXP {"," EXP} "]" | ATOM ATOM*
//! PAT   = NAME | "_" | "(" [PAT {"," PAT}] ")"
//! ATOM  = BASE {"." (NAME | NUMBER)}
//! BASE  = NAME | "$" NAME | VALUE | STRING | "(" [EXP {"," EXP}] ")" | "{" [NAME "=" EXP {"," ...}] "}"
//! VALUE = a number, a truth value or an array, as files of values have them
//! ```
//!
//! A name that atoms follow is an entry point of the program, or with a dollar a function of the environment. An entry point
//! with fewer arguments than parameters is a function. A tuple stands for several arguments. Numbers are converted to
//! the type of the parameter. A tuple or record becomes an opaque value where the parameter is opaque and has the same
//! parts. Fields are ordered by their names. Source: manual page `futhark-literate`, "FutharkScript".

use super::ScriptFault;
use super::environment::{ScriptEnvironment, apply_function};
use super::value::{
    ScriptValue, bytes_of, make_byte_array, pick_element, pick_field, spread_over_parameters,
    wrap_in_tuple,
};
use spirula_program::program::ProgramEntry;
use spirula_program::{CallValue, ProgramValue};

/// Deepest nesting.
const DEPTH: usize = 100;

/// A pattern of names.
enum ScriptPattern {
    Name(String),
    Tuple(Vec<ScriptPattern>),
}

/// Evaluates a script to the arguments of an entry point.
///
/// # Errors
/// When the script is malformed, uses an unknown name, or calls an entry point that fails.
pub fn evaluate_arguments<H: ScriptEnvironment>(
    text: &str,
    entry: &ProgramEntry,
    host: &mut H,
) -> Result<Vec<CallValue>, H::Fault> {
    let made = evaluate_expression(text, host)?;
    Ok(spread_over_parameters(made, entry)?)
}

/// Evaluates a script to a value.
///
/// # Errors
/// As [`evaluate_arguments`].
pub fn evaluate_expression<H: ScriptEnvironment>(
    text: &str,
    host: &mut H,
) -> Result<ScriptValue, H::Fault> {
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
    Ok(made)
}

/// Evaluator of a script: its position, and the bound names.
struct ScriptEvaluator<'a, H> {
    text: &'a str,
    at: usize,
    depth: usize,
    bound: Vec<(String, ScriptValue)>,
    host: &'a mut H,
}

impl<H: ScriptEnvironment> ScriptEvaluator<'_, H> {
    fn make_fault(&self, what: &str) -> H::Fault {
        let rest: String = self.text[self.at..].chars().take(20).collect();
        ScriptFault::failed(format!("script: {what} at {rest:?}")).into()
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

    fn expect_token(&mut self, token: &str) -> Result<(), H::Fault> {
        if self.eat_token(token) {
            Ok(())
        } else {
            Err(self.make_fault(&format!("expected {token}")))
        }
    }

    /// The next name. Some values, such as `true` and `f32.nan`, look like names.
    fn peek_name(&mut self) -> Option<String> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let is_first = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        let first = rest.chars().next().filter(|c| is_first(*c))?;
        let more = &rest[first.len_utf8()..];
        let is_part = |c: char| c.is_alphanumeric() || "_'".contains(c);
        let find_end = |accepts: &dyn Fn(char) -> bool| {
            let end = more.find(|c| !accepts(c)).unwrap_or(more.len());
            &rest[..first.len_utf8() + end]
        };
        let path = find_end(&|c| is_part(c) || c == '.');
        let is_value = ProgramValue::read_all(path.as_bytes()).is_ok();
        let is_array = path == "empty" && more[path.len() - first.len_utf8()..].starts_with('(');
        (!is_value && !is_array).then(|| find_end(&is_part).to_owned())
    }

    fn parse_name(&mut self) -> Option<String> {
        let name = self.peek_name()?;
        self.at += name.len();
        Some(name)
    }

    fn parse_expression(&mut self) -> Result<ScriptValue, H::Fault> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.make_fault("nesting is too deep"));
        }
        let made = match self.peek_name() {
            Some(name) if name == "let" => self.parse_binding(),
            _ => self.parse_application(),
        };
        self.depth -= 1;
        made
    }

    fn parse_binding(&mut self) -> Result<ScriptValue, H::Fault> {
        self.parse_name();
        let pattern = self.parse_pattern()?;
        self.expect_token("=")?;
        let made = self.parse_expression()?;
        match self.peek_name().as_deref() {
            Some("in") => self.at += "in".len(),
            Some("let") => {}
            _ => return Err(self.make_fault("expected in")),
        }
        let before = self.bound.len();
        self.bind_pattern(pattern, made)?;
        let result = self.parse_expression();
        self.bound.truncate(before);
        result
    }

    fn parse_pattern(&mut self) -> Result<ScriptPattern, H::Fault> {
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

    fn bind_pattern(&mut self, pattern: ScriptPattern, made: ScriptValue) -> Result<(), H::Fault> {
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

    /// Evaluates an atom with the atoms that follow it, which are its arguments.
    fn parse_application(&mut self) -> Result<ScriptValue, H::Fault> {
        let builtin = self.peek_name().filter(|name| name.starts_with('$'));
        if let Some(name) = builtin {
            self.at += name.len();
            let given = self.parse_arguments()?;
            return self.call_builtin(&name, given);
        }
        let name = self.peek_name();
        let function = self.parse_atom()?;
        self.skip_blanks();
        if name.is_some() && self.text[self.at..].starts_with('[') && self.is_adjacent() {
            return self.parse_index(function);
        }
        let given = self.parse_arguments()?;
        match function {
            ScriptValue::Function(..) if !given.is_empty() => {
                apply_function(&function, given, self.host)
            }
            value if given.is_empty() => Ok(value),
            value => Err(self.make_fault(&format!("{value} is not a function before this"))),
        }
    }

    /// Whether no blank stands in front of the position.
    fn is_adjacent(&self) -> bool {
        !self.text[..self.at].ends_with(char::is_whitespace)
    }

    fn parse_arguments(&mut self) -> Result<Vec<ScriptValue>, H::Fault> {
        let mut given = Vec::new();
        while self.is_atom_next() {
            given.push(self.parse_atom()?);
        }
        Ok(given)
    }

    /// Whether an atom begins here.
    fn is_atom_next(&mut self) -> bool {
        if let Some(name) = self.peek_name() {
            return !["let", "in"].contains(&name.as_str());
        }
        let next = self.text[self.at..].chars().next();
        next.is_some_and(|c| c.is_alphanumeric() || "([{\"-".contains(c))
    }

    fn call_builtin(
        &mut self,
        name: &str,
        given: Vec<ScriptValue>,
    ) -> Result<ScriptValue, H::Fault> {
        match name {
            "$loaddata" => {
                let file = self.read_file_argument(&given)?;
                let values = ProgramValue::read_all(&file);
                let values = values.map_err(|e| H::Fault::from(ScriptFault::failed(e)))?;
                let items = values
                    .into_iter()
                    .map(|v| ScriptValue::Item(CallValue::Plain(v)));
                Ok(wrap_in_tuple(items.collect()))
            }
            "$loadbytes" => Ok(ScriptValue::Item(CallValue::Plain(make_byte_array(
                self.read_file_argument(&given)?,
            )))),
            _ => self.host.call_builtin(name, &given),
        }
    }

    fn read_file_argument(&mut self, given: &[ScriptValue]) -> Result<Vec<u8>, H::Fault> {
        match given.first().and_then(bytes_of) {
            Some(name) if given.len() == 1 => self.host.read_file(&String::from_utf8_lossy(name)),
            _ => Err(self.make_fault("expected the name of a file before this")),
        }
    }

    /// Evaluates an element of an array.
    fn parse_index(&mut self, array: ScriptValue) -> Result<ScriptValue, H::Fault> {
        self.expect_token("[")?;
        let mut indices = Vec::new();
        while !self.eat_token("]") {
            indices.push(self.parse_expression()?);
            if !self.eat_token(",") {
                self.expect_token("]")?;
                break;
            }
        }
        let picked = pick_element(&array, &indices);
        picked.ok_or_else(|| self.make_fault("an index that does not fit before this"))
    }

    /// Evaluates an atom with the fields that are taken of it.
    fn parse_atom(&mut self) -> Result<ScriptValue, H::Fault> {
        let mut made = self.parse_base()?;
        while self.text[self.at..].starts_with('.') {
            self.at += 1;
            let rest = &self.text[self.at..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "_'".contains(c)));
            let name = &rest[..end.unwrap_or(rest.len())];
            let field = pick_field(&made, name);
            made = field.ok_or_else(|| self.make_fault("a field that the value does not have"))?;
            self.at += name.len();
        }
        Ok(made)
    }

    fn parse_base(&mut self) -> Result<ScriptValue, H::Fault> {
        self.skip_blanks();
        if let Some(name) = self.parse_name() {
            return self.find_name(&name);
        }
        match self.text[self.at..].chars().next() {
            Some('(') => self.parse_tuple(),
            Some('{') => self.parse_record(),
            Some('"') => self.parse_string(),
            Some(_) => self.parse_value(),
            None => Err(self.make_fault("expected a value")),
        }
    }

    /// The value of a name: a bound value, or an entry point, which is called if it has no parameters.
    fn find_name(&mut self, name: &str) -> Result<ScriptValue, H::Fault> {
        if let Some((_, made)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Ok(made.clone());
        }
        if name.starts_with('$') {
            return self.call_builtin(name, Vec::new());
        }
        match self.host.find_entry(name) {
            None => {
                let text = format!("script: the program has no entry point {name}");
                Err(ScriptFault::failed(text).into())
            }
            Some(entry) => {
                let function = ScriptValue::Function(name.to_owned(), Vec::new());
                if entry.parameters.is_empty() {
                    apply_function(&function, Vec::new(), self.host)
                } else {
                    Ok(function)
                }
            }
        }
    }

    fn parse_tuple(&mut self) -> Result<ScriptValue, H::Fault> {
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

    fn parse_record(&mut self) -> Result<ScriptValue, H::Fault> {
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

    fn parse_string(&mut self) -> Result<ScriptValue, H::Fault> {
        self.expect_token("\"")?;
        let rest = &self.text[self.at..];
        let end = rest.find('"');
        let end = end.ok_or_else(|| self.make_fault("a string without an end"))?;
        let text = rest[..end].to_owned();
        self.at += end + 1;
        Ok(ScriptValue::Text(text))
    }

    /// Parses a number, a Boolean or an array. It ends before the next blank or closing character outside of brackets.
    fn parse_value(&mut self) -> Result<ScriptValue, H::Fault> {
        let rest = &self.text[self.at..];
        let mut open = 0i32;
        let end = rest.find(|c: char| {
            let is_end = open == 0 && (c.is_whitespace() || ",})(]".contains(c));
            open += i32::from(c == '[') - i32::from(c == ']');
            is_end
        });
        let end = if rest.starts_with("empty(") {
            rest.find(')').map(|end| end + 1)
        } else {
            end
        };
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
        type Fault = ScriptFault;

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
        ) -> Result<Vec<CallValue>, ScriptFault> {
            let one = ProgramValue::read_all(b"1i64").unwrap().remove(0);
            Ok(match items {
                [] => vec![CallValue::Plain(one)],
                _ => items.iter().rev().cloned().collect(),
            })
        }

        fn read_file(&self, name: &str) -> Result<Vec<u8>, ScriptFault> {
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
            evaluate_to_text("pair (one, 0.5)", swapped).unwrap(),
            "0.5f32; 1i64",
            "a tuple stands for several arguments"
        );
        assert_eq!(
            evaluate_to_text(
                "let (a, b) = pair 1 2 let r = {x=(a, b)} in (r.x.0, r.x.1)",
                swapped
            )
            .unwrap(),
            "2.0f32; 1i64"
        );
        assert_eq!(
            evaluate_to_text(
                "let a = [[1,2],[3,4]] let f = pair 1 in (a[1,0], a[0,1])",
                two
            )
            .unwrap(),
            "3i32; 2i32"
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
            "(1, 2).2",
            "let a = [1] in a[1]",
            "let a = [1] in a[0, 0]",
            "$loaddata",
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
