//! Scripts that make the inputs of test cases.
//!
//! ```text
//! EXP   = "let" PAT "=" EXP "in" EXP | NAME ATOM* | "$loaddata" ATOM | "$loadbytes" ATOM | ATOM
//! PAT   = NAME | "_" | "(" [PAT {"," PAT}] ")"
//! ATOM  = NAME | VALUE | STRING | "(" [EXP {"," EXP}] ")" | "{" [NAME "=" EXP {"," ...}] "}"
//! VALUE = a number, a truth value or an array, as files of values have them
//! ```
//!
//! A name with atoms behind it is an entry point of the program. Numbers become the type that is
//! taken where they are handed over. A tuple or record becomes a value without an external form where
//! one is taken that consists of the same parts; fields go by their names.

use crate::test::TestOutcome;
use spirula_program::program::{EntryOpaque, EntryValueType, ProgramEntry, ProgramEntryParameter};
use spirula_program::{CallValue, ProgramValue, ScalarOp, ScalarOperator, ScalarType};

/// Deepest nesting.
const DEPTH: usize = 100;

/// What scripts need of their surroundings.
pub trait ScriptEnvironment {
    /// An entry point.
    fn entry(&self, name: &str) -> Option<ProgramEntry>;

    /// Calls an entry point.
    fn call(&mut self, name: &str, items: &[CallValue]) -> Result<Vec<CallValue>, TestOutcome>;

    /// The contents of a file.
    fn file(&self, name: &str) -> Result<Vec<u8>, TestOutcome>;
}

/// What an expression gives.
#[derive(Clone, Debug, PartialEq)]
enum ScriptValue {
    Item(CallValue),
    Text(String),
    Tuple(Vec<ScriptValue>),
    Record(Vec<(String, ScriptValue)>),
}

/// A pattern of names.
enum ScriptPattern {
    Name(String),
    Tuple(Vec<ScriptPattern>),
}

/// The arguments that a script makes for an entry point.
///
/// # Errors
/// When it is malformed, names what is not there, or what it calls fails.
pub fn arguments(
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
    let made = script.expression()?;
    script.blanks();
    if script.at < text.len() {
        return Err(script.fault("expected the end"));
    }
    handed(made, entry)
}

/// The items that an entry point is called with: one for each part of a tuple, where it takes as many.
fn handed(made: ScriptValue, entry: &ProgramEntry) -> Result<Vec<CallValue>, TestOutcome> {
    let parameters = &entry.parameters;
    let parts = match made {
        ScriptValue::Tuple(parts) if parts.len() == parameters.len() => parts,
        whole if parameters.len() == 1 => vec![whole],
        _ => {
            let (name, count) = (&entry.name, parameters.len());
            let text = format!("the script does not give the {count} arguments that {name} takes");
            return Err(TestOutcome::failed(text));
        }
    };
    let both = parts.into_iter().zip(parameters);
    both.map(|(made, parameter)| fitted(made, parameter))
        .collect()
}

/// What is handed over, as a parameter takes it.
fn fitted(made: ScriptValue, parameter: &ProgramEntryParameter) -> Result<CallValue, TestOutcome> {
    match (made, &parameter.value, &parameter.opaque) {
        (ScriptValue::Item(CallValue::Plain(value)), Some(wanted), _) => {
            Ok(CallValue::Plain(converted(value, wanted)))
        }
        (ScriptValue::Item(item), ..) => Ok(item),
        (made @ (ScriptValue::Tuple(_) | ScriptValue::Record(_)), _, Some(opaque)) => {
            composed(made, opaque)
        }
        _ => {
            let text = format!("the script gives something else than {} is", parameter.name);
            Err(TestOutcome::failed(text))
        }
    }
}

/// A value without an external form of its parts.
fn composed(made: ScriptValue, opaque: &EntryOpaque) -> Result<CallValue, TestOutcome> {
    let mut parts = Vec::new();
    flatten(made, &mut parts);
    let fits = |(part, wanted): (&ProgramValue, &EntryValueType)| {
        let rank = wanted.shape.as_ref().map_or(0, Vec::len);
        part.element == wanted.element && part.shape.len() == rank
    };
    let mut parts: Vec<ProgramValue> = match parts.len() == opaque.parts.len() {
        true => {
            let both = parts.into_iter().zip(&opaque.parts);
            both.map(|(part, wanted)| converted(part, wanted)).collect()
        }
        false => Vec::new(),
    };
    let all_fit = parts.len() == opaque.parts.len() && parts.iter().zip(&opaque.parts).all(fits);
    match all_fit {
        true => Ok(CallValue::Opaque(
            opaque.name.clone(),
            std::mem::take(&mut parts),
        )),
        false => {
            let text = format!("the script gives other parts than {} has", opaque.name);
            Err(TestOutcome::failed(text))
        }
    }
}

/// The plain values of which something consists.
fn flatten(made: ScriptValue, parts: &mut Vec<ProgramValue>) {
    match made {
        ScriptValue::Item(CallValue::Plain(value)) => parts.push(value),
        ScriptValue::Item(CallValue::Opaque(_, inner)) => parts.extend(inner),
        ScriptValue::Text(text) => parts.push(bytes(text.into_bytes())),
        ScriptValue::Tuple(all) => all.into_iter().for_each(|made| flatten(made, parts)),
        ScriptValue::Record(mut fields) => {
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            fields
                .into_iter()
                .for_each(|(_, made)| flatten(made, parts));
        }
    }
}

/// A scalar in the type that is wanted; everything else as it is.
fn converted(value: ProgramValue, wanted: &EntryValueType) -> ProgramValue {
    let (from, to) = (value.element, wanted.element);
    let is_same = from == to && value.unsigned == wanted.unsigned;
    let is_scalar = value.shape.is_empty() && wanted.shape.is_none();
    if is_same || !is_scalar || from == ScalarType::Bool || to == ScalarType::Bool {
        return value;
    }
    let op = match (from.is_float(), to.is_float()) {
        (false, false) if value.unsigned => ScalarOp::ZExt,
        (false, false) => ScalarOp::SExt,
        (false, true) if value.unsigned => ScalarOp::UToF,
        (false, true) => ScalarOp::SToF,
        (true, true) => ScalarOp::FConv,
        (true, false) => return value,
    };
    let bits = value.elements().next().unwrap_or(0);
    let bits = ScalarOperator::from_conversion(op, from, to).eval_operands(&[bits]);
    ProgramValue {
        element: to,
        unsigned: wanted.unsigned,
        shape: Vec::new(),
        bytes: bits.to_le_bytes()[..to.size() as usize].to_vec(),
    }
}

fn bytes(bytes: Vec<u8>) -> ProgramValue {
    ProgramValue {
        element: ScalarType::I8,
        unsigned: true,
        shape: vec![bytes.len() as u64],
        bytes,
    }
}

/// One thing or a tuple of several.
fn tupled(mut all: Vec<ScriptValue>) -> ScriptValue {
    match all.len() {
        1 => all.remove(0),
        _ => ScriptValue::Tuple(all),
    }
}

/// A script as far as it was read, with the names that are bound there.
struct ScriptEvaluator<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    bound: Vec<(String, ScriptValue)>,
    host: &'a mut dyn ScriptEnvironment,
}

impl ScriptEvaluator<'_> {
    fn fault(&self, what: &str) -> TestOutcome {
        let rest: String = self.text[self.at..].chars().take(20).collect();
        TestOutcome::failed(format!("script: {what} at {rest:?}"))
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.blanks();
        let is_next = self.text[self.at..].starts_with(token);
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), TestOutcome> {
        match self.eat(token) {
            true => Ok(()),
            false => Err(self.fault(&format!("expected {token}"))),
        }
    }

    /// The name that comes next.
    fn peek_name(&mut self) -> Option<String> {
        self.blanks();
        let rest = &self.text[self.at..];
        let is_first = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        let first = rest.chars().next().filter(|c| is_first(*c))?;
        let more = &rest[first.len_utf8()..];
        let is_part = |c: char| c.is_alphanumeric() || "_'.".contains(c);
        let end = more.find(|c| !is_part(c)).unwrap_or(more.len());
        let name = &rest[..first.len_utf8() + end];
        // Values look like names, too.
        let is_value = ProgramValue::read_all(name.as_bytes()).is_ok();
        (!is_value).then(|| name.to_owned())
    }

    fn name(&mut self) -> Option<String> {
        let name = self.peek_name()?;
        self.at += name.len();
        Some(name)
    }

    fn expression(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("nesting is too deep"));
        }
        let made = match self.peek_name() {
            Some(name) if name == "let" => self.binding(),
            Some(name) => {
                self.at += name.len();
                self.application(&name)
            }
            None => self.atom(),
        };
        self.depth -= 1;
        made
    }

    fn binding(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.name();
        let pattern = self.pattern()?;
        self.expect("=")?;
        let made = self.expression()?;
        if self.name().as_deref() != Some("in") {
            return Err(self.fault("expected in"));
        }
        let before = self.bound.len();
        self.bind(pattern, made)?;
        let result = self.expression();
        self.bound.truncate(before);
        result
    }

    fn pattern(&mut self) -> Result<ScriptPattern, TestOutcome> {
        if let Some(name) = self.name() {
            return Ok(ScriptPattern::Name(name));
        }
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("nesting is too deep"));
        }
        self.expect("(")?;
        let mut parts = Vec::new();
        while !self.eat(")") {
            parts.push(self.pattern()?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        self.depth -= 1;
        Ok(ScriptPattern::Tuple(parts))
    }

    fn bind(&mut self, pattern: ScriptPattern, made: ScriptValue) -> Result<(), TestOutcome> {
        match (pattern, made) {
            (ScriptPattern::Name(name), made) => {
                self.bound.push((name, made));
                Ok(())
            }
            (ScriptPattern::Tuple(patterns), ScriptValue::Tuple(parts))
                if patterns.len() == parts.len() =>
            {
                let mut both = patterns.into_iter().zip(parts);
                both.try_for_each(|(pattern, part)| self.bind(pattern, part))
            }
            _ => Err(self.fault("a pattern that does not fit before this")),
        }
    }

    /// What a name stands for, or the call of an entry point or of a function for files.
    fn application(&mut self, name: &str) -> Result<ScriptValue, TestOutcome> {
        if let Some((_, made)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Ok(made.clone());
        }
        match name {
            "$loaddata" => {
                let file = self.file()?;
                let values = ProgramValue::read_all(&file).map_err(TestOutcome::failed)?;
                let items = values
                    .into_iter()
                    .map(|v| ScriptValue::Item(CallValue::Plain(v)));
                Ok(tupled(items.collect()))
            }
            "$loadbytes" => Ok(ScriptValue::Item(CallValue::Plain(bytes(self.file()?)))),
            _ if name.starts_with('$') => {
                let text = format!("the function {name} of scripts");
                Err(TestOutcome::unsupported(text))
            }
            _ => self.call(name),
        }
    }

    fn file(&mut self) -> Result<Vec<u8>, TestOutcome> {
        match self.atom()? {
            ScriptValue::Text(name) => self.host.file(&name),
            _ => Err(self.fault("expected the name of a file before this")),
        }
    }

    fn call(&mut self, name: &str) -> Result<ScriptValue, TestOutcome> {
        let entry = self.host.entry(name);
        let entry = entry.ok_or_else(|| {
            TestOutcome::failed(format!("script: the program has no entry point {name}"))
        })?;
        let mut given = Vec::new();
        for _ in &entry.parameters {
            given.push(self.atom()?);
        }
        let both = given.into_iter().zip(&entry.parameters);
        let items: Vec<CallValue> = both
            .map(|(made, parameter)| fitted(made, parameter))
            .collect::<Result<_, _>>()?;
        let results = self.host.call(name, &items)?;
        Ok(tupled(results.into_iter().map(ScriptValue::Item).collect()))
    }

    fn atom(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.blanks();
        if let Some(name) = self.name() {
            let found = self.bound.iter().rev().find(|(bound, _)| *bound == name);
            return match found {
                Some((_, made)) => Ok(made.clone()),
                None => match self.host.entry(&name) {
                    Some(entry) if entry.parameters.is_empty() => self.call(&name),
                    _ => Err(self.fault(&format!("{name} is not bound before this"))),
                },
            };
        }
        match self.text[self.at..].chars().next() {
            Some('(') => self.tuple(),
            Some('{') => self.record(),
            Some('"') => self.string(),
            Some(_) => self.value(),
            None => Err(self.fault("expected a value")),
        }
    }

    fn tuple(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.expect("(")?;
        let mut parts = Vec::new();
        while !self.eat(")") {
            parts.push(self.expression()?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(tupled(parts))
    }

    fn record(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.eat("}") {
            let name = self.name();
            let name = name.ok_or_else(|| self.fault("expected the name of a field"))?;
            self.expect("=")?;
            fields.push((name, self.expression()?));
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(ScriptValue::Record(fields))
    }

    fn string(&mut self) -> Result<ScriptValue, TestOutcome> {
        self.expect("\"")?;
        let rest = &self.text[self.at..];
        let end = rest.find('"');
        let end = end.ok_or_else(|| self.fault("a string without an end"))?;
        let text = rest[..end].to_owned();
        self.at += end + 1;
        Ok(ScriptValue::Text(text))
    }

    /// A number, a truth value or an array: what stands up to the next blank or closing character
    /// outside of brackets.
    fn value(&mut self) -> Result<ScriptValue, TestOutcome> {
        let rest = &self.text[self.at..];
        let mut open = 0i32;
        let end = rest.find(|c: char| {
            let is_end = open == 0 && (c.is_whitespace() || ",})(".contains(c));
            open += i32::from(c == '[') - i32::from(c == ']');
            is_end
        });
        let end = end.unwrap_or(rest.len());
        let values = ProgramValue::read_all(&rest.as_bytes()[..end]);
        let mut values = values.map_err(|e| self.fault(&e.message))?;
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => {
                self.at += end;
                Ok(ScriptValue::Item(CallValue::Plain(value)))
            }
            _ => Err(self.fault("expected a value")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_program::program::{HostRegister, HostSlot};

    struct FakeScriptEnvironment;

    fn entry(name: &str, types: &[ScalarType]) -> ProgramEntry {
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
        fn entry(&self, name: &str) -> Option<ProgramEntry> {
            match name {
                "pair" => Some(entry(name, &[ScalarType::I64, ScalarType::F32])),
                "one" => Some(entry(name, &[])),
                _ => None,
            }
        }

        fn call(&mut self, _: &str, items: &[CallValue]) -> Result<Vec<CallValue>, TestOutcome> {
            let one = ProgramValue::read_all(b"1i64").unwrap().remove(0);
            Ok(match items {
                [] => vec![CallValue::Plain(one)],
                _ => items.iter().rev().cloned().collect(),
            })
        }

        fn file(&self, name: &str) -> Result<Vec<u8>, TestOutcome> {
            Ok(name.as_bytes().to_vec())
        }
    }

    fn made(text: &str, types: &[ScalarType]) -> Result<String, String> {
        let items = arguments(text, &entry("main", types), &mut FakeScriptEnvironment);
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
        assert_eq!(made("let x = 2 in (x, 3)", two).unwrap(), "2i32; 3i32");
        let swapped = &[ScalarType::F32, ScalarType::I64][..];
        assert_eq!(
            made("pair 1 2", swapped).unwrap(),
            "2.0f32; 1i64",
            "numbers take the types of parameters"
        );
        assert_eq!(
            made("let (a, b) = pair one 0.5 in (a, b)", swapped).unwrap(),
            "0.5f32; 1i64"
        );
        assert_eq!(made("$loaddata \"5i64 6i64\"", two).unwrap(), "5i32; 6i32");
        assert_eq!(
            made("$loadbytes \"ab\"", &[ScalarType::I8]).unwrap(),
            "[97u8, 98u8]"
        );
        assert_eq!(made("[1,2]", &[ScalarType::I32]).unwrap(), "[1i32, 2i32]");
        assert_eq!(made("(f32.nan, true)", two).unwrap(), "f32.nan; true");
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
            assert!(made(text, &[ScalarType::I32]).is_err(), "{text}");
        }
        assert!(made(&"(".repeat(10_000), &[ScalarType::I32]).is_err());
        assert!(made("$loadimg \"x\"", &[ScalarType::I32]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(let|in|x|=|\\(|\\)|\\{|\\}|,|1|\"|\\[|\\]|pair|one|é| ){0,20}") {
            let _ = made(&text, &[ScalarType::I32]);
        }
    }
}
