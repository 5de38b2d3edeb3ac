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

use crate::test::Outcome;
use spirula_program::program::{Entry, EntryOpaque, EntryParameter, EntryValue};
use spirula_program::{Item, Op, Operator, Scalar, Value};

/// Deepest nesting.
const DEPTH: usize = 100;

/// What scripts need of their surroundings.
pub trait Host {
    /// An entry point.
    fn entry(&self, name: &str) -> Option<Entry>;

    /// Calls an entry point.
    fn call(&mut self, name: &str, items: &[Item]) -> Result<Vec<Item>, Outcome>;

    /// The contents of a file.
    fn file(&self, name: &str) -> Result<Vec<u8>, Outcome>;
}

/// What an expression gives.
#[derive(Clone, Debug, PartialEq)]
enum Made {
    Item(Item),
    Text(String),
    Tuple(Vec<Made>),
    Record(Vec<(String, Made)>),
}

/// A pattern of names.
enum Pattern {
    Name(String),
    Tuple(Vec<Pattern>),
}

/// The arguments that a script makes for an entry point.
///
/// # Errors
/// When it is malformed, names what is not there, or what it calls fails.
pub fn arguments(text: &str, entry: &Entry, host: &mut dyn Host) -> Result<Vec<Item>, Outcome> {
    let mut script = Script {
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
fn handed(made: Made, entry: &Entry) -> Result<Vec<Item>, Outcome> {
    let parameters = &entry.parameters;
    let parts = match made {
        Made::Tuple(parts) if parts.len() == parameters.len() => parts,
        whole if parameters.len() == 1 => vec![whole],
        _ => {
            let (name, count) = (&entry.name, parameters.len());
            let text = format!("the script does not give the {count} arguments that {name} takes");
            return Err(Outcome::failed(text));
        }
    };
    let both = parts.into_iter().zip(parameters);
    both.map(|(made, parameter)| fitted(made, parameter))
        .collect()
}

/// What is handed over, as a parameter takes it.
fn fitted(made: Made, parameter: &EntryParameter) -> Result<Item, Outcome> {
    match (made, &parameter.value, &parameter.opaque) {
        (Made::Item(Item::Plain(value)), Some(wanted), _) => {
            Ok(Item::Plain(converted(value, wanted)))
        }
        (Made::Item(item), ..) => Ok(item),
        (made @ (Made::Tuple(_) | Made::Record(_)), _, Some(opaque)) => composed(made, opaque),
        _ => {
            let text = format!("the script gives something else than {} is", parameter.name);
            Err(Outcome::failed(text))
        }
    }
}

/// A value without an external form of its parts.
fn composed(made: Made, opaque: &EntryOpaque) -> Result<Item, Outcome> {
    let mut parts = Vec::new();
    flatten(made, &mut parts);
    let fits = |(part, wanted): (&Value, &EntryValue)| {
        let rank = wanted.shape.as_ref().map_or(0, Vec::len);
        part.element == wanted.element && part.shape.len() == rank
    };
    let mut parts: Vec<Value> = match parts.len() == opaque.parts.len() {
        true => {
            let both = parts.into_iter().zip(&opaque.parts);
            both.map(|(part, wanted)| converted(part, wanted)).collect()
        }
        false => Vec::new(),
    };
    let all_fit = parts.len() == opaque.parts.len() && parts.iter().zip(&opaque.parts).all(fits);
    match all_fit {
        true => Ok(Item::Opaque(
            opaque.name.clone(),
            std::mem::take(&mut parts),
        )),
        false => {
            let text = format!("the script gives other parts than {} has", opaque.name);
            Err(Outcome::failed(text))
        }
    }
}

/// The plain values of which something consists.
fn flatten(made: Made, parts: &mut Vec<Value>) {
    match made {
        Made::Item(Item::Plain(value)) => parts.push(value),
        Made::Item(Item::Opaque(_, inner)) => parts.extend(inner),
        Made::Text(text) => parts.push(bytes(text.into_bytes())),
        Made::Tuple(all) => all.into_iter().for_each(|made| flatten(made, parts)),
        Made::Record(mut fields) => {
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            fields
                .into_iter()
                .for_each(|(_, made)| flatten(made, parts));
        }
    }
}

/// A scalar in the type that is wanted; everything else as it is.
fn converted(value: Value, wanted: &EntryValue) -> Value {
    let (from, to) = (value.element, wanted.element);
    let is_same = from == to && value.unsigned == wanted.unsigned;
    let is_scalar = value.shape.is_empty() && wanted.shape.is_none();
    if is_same || !is_scalar || from == Scalar::Bool || to == Scalar::Bool {
        return value;
    }
    let op = match (from.is_float(), to.is_float()) {
        (false, false) if value.unsigned => Op::ZExt,
        (false, false) => Op::SExt,
        (false, true) if value.unsigned => Op::UToF,
        (false, true) => Op::SToF,
        (true, true) => Op::FConv,
        (true, false) => return value,
    };
    let bits = value.elements().next().unwrap_or(0);
    let bits = Operator::convert(op, from, to).eval(&[bits]);
    Value {
        element: to,
        unsigned: wanted.unsigned,
        shape: Vec::new(),
        bytes: bits.to_le_bytes()[..to.size() as usize].to_vec(),
    }
}

fn bytes(bytes: Vec<u8>) -> Value {
    Value {
        element: Scalar::I8,
        unsigned: true,
        shape: vec![bytes.len() as u64],
        bytes,
    }
}

/// One thing or a tuple of several.
fn tupled(mut all: Vec<Made>) -> Made {
    match all.len() {
        1 => all.remove(0),
        _ => Made::Tuple(all),
    }
}

/// A script as far as it was read, with the names that are bound there.
struct Script<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    bound: Vec<(String, Made)>,
    host: &'a mut dyn Host,
}

impl Script<'_> {
    fn fault(&self, what: &str) -> Outcome {
        let rest: String = self.text[self.at..].chars().take(20).collect();
        Outcome::failed(format!("script: {what} at {rest:?}"))
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

    fn expect(&mut self, token: &str) -> Result<(), Outcome> {
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
        let is_value = Value::read_all(name.as_bytes()).is_ok();
        (!is_value).then(|| name.to_owned())
    }

    fn name(&mut self) -> Option<String> {
        let name = self.peek_name()?;
        self.at += name.len();
        Some(name)
    }

    fn expression(&mut self) -> Result<Made, Outcome> {
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

    fn binding(&mut self) -> Result<Made, Outcome> {
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

    fn pattern(&mut self) -> Result<Pattern, Outcome> {
        if let Some(name) = self.name() {
            return Ok(Pattern::Name(name));
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
        Ok(Pattern::Tuple(parts))
    }

    fn bind(&mut self, pattern: Pattern, made: Made) -> Result<(), Outcome> {
        match (pattern, made) {
            (Pattern::Name(name), made) => {
                self.bound.push((name, made));
                Ok(())
            }
            (Pattern::Tuple(patterns), Made::Tuple(parts)) if patterns.len() == parts.len() => {
                let mut both = patterns.into_iter().zip(parts);
                both.try_for_each(|(pattern, part)| self.bind(pattern, part))
            }
            _ => Err(self.fault("a pattern that does not fit before this")),
        }
    }

    /// What a name stands for, or the call of an entry point or of a function for files.
    fn application(&mut self, name: &str) -> Result<Made, Outcome> {
        if let Some((_, made)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Ok(made.clone());
        }
        match name {
            "$loaddata" => {
                let file = self.file()?;
                let values = Value::read_all(&file).map_err(Outcome::failed)?;
                let items = values.into_iter().map(|v| Made::Item(Item::Plain(v)));
                Ok(tupled(items.collect()))
            }
            "$loadbytes" => Ok(Made::Item(Item::Plain(bytes(self.file()?)))),
            _ if name.starts_with('$') => {
                let text = format!("the function {name} of scripts");
                Err(Outcome::unsupported(text))
            }
            _ => self.call(name),
        }
    }

    fn file(&mut self) -> Result<Vec<u8>, Outcome> {
        match self.atom()? {
            Made::Text(name) => self.host.file(&name),
            _ => Err(self.fault("expected the name of a file before this")),
        }
    }

    fn call(&mut self, name: &str) -> Result<Made, Outcome> {
        let entry = self.host.entry(name);
        let entry = entry.ok_or_else(|| {
            Outcome::failed(format!("script: the program has no entry point {name}"))
        })?;
        let mut given = Vec::new();
        for _ in &entry.parameters {
            given.push(self.atom()?);
        }
        let both = given.into_iter().zip(&entry.parameters);
        let items: Vec<Item> = both
            .map(|(made, parameter)| fitted(made, parameter))
            .collect::<Result<_, _>>()?;
        let results = self.host.call(name, &items)?;
        Ok(tupled(results.into_iter().map(Made::Item).collect()))
    }

    fn atom(&mut self) -> Result<Made, Outcome> {
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

    fn tuple(&mut self) -> Result<Made, Outcome> {
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

    fn record(&mut self) -> Result<Made, Outcome> {
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
        Ok(Made::Record(fields))
    }

    fn string(&mut self) -> Result<Made, Outcome> {
        self.expect("\"")?;
        let rest = &self.text[self.at..];
        let end = rest.find('"');
        let end = end.ok_or_else(|| self.fault("a string without an end"))?;
        let text = rest[..end].to_owned();
        self.at += end + 1;
        Ok(Made::Text(text))
    }

    /// A number, a truth value or an array: what stands up to the next blank or closing character
    /// outside of brackets.
    fn value(&mut self) -> Result<Made, Outcome> {
        let rest = &self.text[self.at..];
        let mut open = 0i32;
        let end = rest.find(|c: char| {
            let is_end = open == 0 && (c.is_whitespace() || ",})(".contains(c));
            open += i32::from(c == '[') - i32::from(c == ']');
            is_end
        });
        let end = end.unwrap_or(rest.len());
        let values = Value::read_all(&rest.as_bytes()[..end]);
        let mut values = values.map_err(|e| self.fault(&e.message))?;
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => {
                self.at += end;
                Ok(Made::Item(Item::Plain(value)))
            }
            _ => Err(self.fault("expected a value")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_program::program::{Reg, Slot};

    struct Fake;

    fn entry(name: &str, types: &[Scalar]) -> Entry {
        let parameters = types.iter().map(|ty| EntryParameter {
            name: "x".to_owned(),
            value: Some(EntryValue {
                element: *ty,
                unsigned: false,
                slot: Slot::Scalar(Reg(0)),
                shape: None,
            }),
            opaque: None,
            tensor: None,
        });
        Entry {
            name: name.to_owned(),
            function: 0,
            parameters: parameters.collect(),
            results: Vec::new(),
        }
    }

    impl Host for Fake {
        fn entry(&self, name: &str) -> Option<Entry> {
            match name {
                "pair" => Some(entry(name, &[Scalar::I64, Scalar::F32])),
                "one" => Some(entry(name, &[])),
                _ => None,
            }
        }

        fn call(&mut self, _: &str, items: &[Item]) -> Result<Vec<Item>, Outcome> {
            let one = Value::read_all(b"1i64").unwrap().remove(0);
            Ok(match items {
                [] => vec![Item::Plain(one)],
                _ => items.iter().rev().cloned().collect(),
            })
        }

        fn file(&self, name: &str) -> Result<Vec<u8>, Outcome> {
            Ok(name.as_bytes().to_vec())
        }
    }

    fn made(text: &str, types: &[Scalar]) -> Result<String, String> {
        let items = arguments(text, &entry("main", types), &mut Fake);
        let items = items.map_err(|e| e.to_string())?;
        let shown = items.iter().map(|item| match item {
            Item::Plain(value) => value.to_string(),
            Item::Opaque(name, parts) => format!("{name} of {}", parts.len()),
        });
        Ok(shown.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn expressions_of_each_sort() {
        let two = &[Scalar::I32, Scalar::I32][..];
        assert_eq!(made("let x = 2 in (x, 3)", two).unwrap(), "2i32; 3i32");
        let swapped = &[Scalar::F32, Scalar::I64][..];
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
            made("$loadbytes \"ab\"", &[Scalar::I8]).unwrap(),
            "[97u8, 98u8]"
        );
        assert_eq!(made("[1,2]", &[Scalar::I32]).unwrap(), "[1i32, 2i32]");
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
            assert!(made(text, &[Scalar::I32]).is_err(), "{text}");
        }
        assert!(made(&"(".repeat(10_000), &[Scalar::I32]).is_err());
        assert!(made("$loadimg \"x\"", &[Scalar::I32]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(let|in|x|=|\\(|\\)|\\{|\\}|,|1|\"|\\[|\\]|pair|one|é| ){0,20}") {
            let _ = made(&text, &[Scalar::I32]);
        }
    }
}
