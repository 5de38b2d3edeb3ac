//! Tests of properties: entry points that must return true for all arguments.
//!
//! The attribute `#[prop(gen(f), shrink(g), size(N))]` of a property names the entry point that makes candidates of a
//! size and a seed, the one that makes a candidate smaller, and the largest size. Without a generator, candidates are
//! random values.

use super::random::make_random_array;
use crate::test::TestOutcome;
use crate::values::items::parts_of;
use crate::values::program::to_element_type;
use spirula_futhark::interface::ProgramInterface;
use spirula_program::program::{EntryValueType, ProgramEntry, ProgramEntryParameter};
use spirula_program::{
    CallValue, CompiledProgram, ProgramError, ProgramSession, ProgramValue, ScalarType,
};
use spirula_runtime::{DeviceError, DeviceMachine};

/// Number of candidates.
const CANDIDATES: u64 = 100;

/// Largest size of candidates where the attribute has none.
const LARGEST: i64 = 50;

/// Number of attempts to make a counterexample smaller, one after the other without success.
const ATTEMPTS: u64 = 100;

/// Number of bytes of a counterexample that are shown.
const SHOWN: usize = 200;

/// A property with the entry points that its attribute names.
#[derive(Debug)]
struct PropertySpec<'a> {
    entry: &'a ProgramEntry,
    parameter: &'a ProgramEntryParameter,
    generator: Option<&'a ProgramEntry>,
    shrinker: Option<&'a ProgramEntry>,
    size: i64,
}

type PropertyResult<T> = Result<T, TestOutcome>;

/// Tests a property.
///
/// # Errors
/// When the property or an entry point of its attribute has another type than it needs, one of them fails, or there is a
/// counterexample.
pub fn test_property(
    name: &str,
    program: &CompiledProgram,
    interface: &ProgramInterface,
    session: &mut ProgramSession<'_, DeviceMachine<'_>>,
) -> PropertyResult<()> {
    let spec = PropertySpec::find(name, program, interface)?;
    let mut search = CounterexampleSearch { spec, session };
    for number in 0..CANDIDATES {
        let size = search.spec.size.saturating_mul(number as i64 + 1) / CANDIDATES as i64;
        let candidate = search.make_candidate(size, number)?;
        if !search.holds(&candidate)? {
            let smallest = search.shrink_counterexample(candidate)?;
            let text = format!(
                "the property {name} does not hold for {}",
                describe_item(&smallest)
            );
            return Err(TestOutcome::failed(text));
        }
    }
    Ok(())
}

impl<'a> PropertySpec<'a> {
    fn find(
        name: &str,
        program: &'a CompiledProgram,
        interface: &ProgramInterface,
    ) -> PropertyResult<PropertySpec<'a>> {
        let attributes = interface.find_entry(name).map(|entry| &entry.attributes);
        let attributes = attributes
            .ok_or_else(|| TestOutcome::failed(format!("the property {name} is no entry point")))?;
        let found: Vec<&str> = attributes
            .iter()
            .filter_map(|text| strip_call(text, "prop"))
            .collect();
        let [arguments] = found[..] else {
            let count = found.len();
            return Err(TestOutcome::failed(format!(
                "the property {name} has {count} attributes #[prop], not one"
            )));
        };
        let argument = |wanted: &str| {
            let mut all = arguments.split(", ");
            all.find_map(|text| strip_call(text, wanted))
        };
        let require = |name: &str| {
            let mut entries = program.entries.iter();
            let entry = entries.find(|entry| entry.name == name);
            entry.ok_or_else(|| TestOutcome::failed(format!("{name} is no entry point")))
        };
        let entry = require(name)?;
        let [parameter] = &entry.parameters[..] else {
            return Err(TestOutcome::failed(format!(
                "the property {name} has {} parameters, not one",
                entry.parameters.len()
            )));
        };
        let candidate = &interface
            .find_entry(name)
            .map(|e| e.parameters[0].type_name.clone());
        let candidate = candidate.as_deref().unwrap_or_default();
        let expect = |name: &str, wanted: [&str; 3]| {
            check_signature(name, wanted, interface).map_err(TestOutcome::failed)
        };
        if let Some(generator) = argument("gen") {
            expect(generator, ["i64", "u64", candidate])?;
        }
        if let Some(shrinker) = argument("shrink") {
            expect(shrinker, [candidate, "u64", candidate])?;
        }
        let size = argument("size").map(str::parse::<i64>);
        Ok(PropertySpec {
            entry,
            parameter,
            generator: argument("gen").map(require).transpose()?,
            shrinker: argument("shrink").map(require).transpose()?,
            size: size.and_then(Result::ok).unwrap_or(LARGEST),
        })
    }
}

/// Checks that an entry point has two parameters and a result of these types.
fn check_signature(
    name: &str,
    wanted: [&str; 3],
    interface: &ProgramInterface,
) -> Result<(), String> {
    let entry = interface.find_entry(name);
    let entry = entry.ok_or_else(|| format!("{name} is no entry point"))?;
    let values = entry.parameters.iter().chain([&entry.result]);
    let found: Vec<&str> = values.map(|value| value.type_name.as_str()).collect();
    if found == wanted {
        Ok(())
    } else {
        let (found, wanted) = (found.join(" -> "), wanted.join(" -> "));
        Err(format!("{name} has the type {found}, expected is {wanted}"))
    }
}

/// The arguments of a call in an attribute; empty for a name without arguments.
fn strip_call<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(name)?;
    match rest.strip_prefix('(') {
        Some(arguments) => arguments.strip_suffix(')'),
        None => rest.is_empty().then_some(""),
    }
}

/// A search for a counterexample.
struct CounterexampleSearch<'a, 's, 'p, 'd> {
    spec: PropertySpec<'a>,
    session: &'s mut ProgramSession<'p, DeviceMachine<'d>>,
}

impl CounterexampleSearch<'_, '_, '_, '_> {
    /// A candidate of a size.
    fn make_candidate(&mut self, size: i64, seed: u64) -> PropertyResult<CallValue> {
        let Some(generator) = self.spec.generator else {
            return make_random_item(self.spec.parameter, size.max(0) as usize, seed);
        };
        let arguments = [
            make_integer(size as u64, false),
            make_integer(mix_bits(seed), true),
        ];
        self.call(generator, &arguments)
    }

    /// Whether the property holds for a candidate.
    fn holds(&mut self, candidate: &CallValue) -> PropertyResult<bool> {
        let entry = self.spec.entry;
        match self.call(entry, std::slice::from_ref(candidate))? {
            CallValue::Plain(value)
                if value.element == ScalarType::Bool && value.shape.is_empty() =>
            {
                Ok(value.bytes == [1])
            }
            _ => Err(TestOutcome::failed(format!(
                "the property {} does not return a bool",
                entry.name
            ))),
        }
    }

    /// Makes a counterexample smaller as long as the shrinker finds a smaller one.
    fn shrink_counterexample(&mut self, first: CallValue) -> PropertyResult<CallValue> {
        let Some(shrinker) = self.spec.shrinker else {
            return Ok(first);
        };
        let (mut smallest, mut since, mut number) = (first, 0, 0u64);
        while since < ATTEMPTS && number < ATTEMPTS * ATTEMPTS {
            number += 1;
            let arguments = [smallest.clone(), make_integer(mix_bits(number), true)];
            let smaller = self.call(shrinker, &arguments)?;
            if smaller != smallest && !self.holds(&smaller)? {
                (smallest, since) = (smaller, 0);
            } else {
                since += 1;
            }
        }
        Ok(smallest)
    }

    /// Calls an entry point with one result. A tuple is taken together again.
    fn call(&mut self, entry: &ProgramEntry, items: &[CallValue]) -> PropertyResult<CallValue> {
        let results = self.session.call_items(&entry.name, items);
        let mut results = results.map_err(|error: ProgramError<DeviceError>| {
            TestOutcome::failed(format!("{}: {error}", entry.name))
        })?;
        if results.len() == 1 {
            return Ok(results.remove(0));
        }
        let parts = results.into_iter().flat_map(|item| match item {
            CallValue::Plain(value) => vec![value],
            CallValue::Opaque(_, parts) => parts,
        });
        let opaque = self.spec.parameter.opaque.as_ref();
        let name = opaque.map(|opaque| opaque.name.clone());
        Ok(CallValue::Opaque(name.unwrap_or_default(), parts.collect()))
    }
}

/// A random argument whose arrays have a size in each dimension.
fn make_random_item(
    parameter: &ProgramEntryParameter,
    size: usize,
    seed: u64,
) -> PropertyResult<CallValue> {
    let make = |value: &EntryValueType, number: u64| {
        let shape = vec![size; value.shape.as_ref().map_or(0, Vec::len)];
        let element = to_element_type(value.element, value.unsigned);
        let element = element.ok_or_else(|| TestOutcome::failed("a value without a type"))?;
        make_random_array(&shape, element, mix_bits(seed) ^ number).map_err(TestOutcome::failed)
    };
    match (&parameter.value, &parameter.opaque) {
        (Some(value), _) => Ok(CallValue::Plain(make(value, 0)?)),
        (None, Some(opaque)) => {
            let parts = opaque.parts.iter().zip(0..);
            let parts = parts.map(|(part, number)| make(part, number));
            Ok(CallValue::Opaque(
                opaque.name.clone(),
                parts.collect::<Result<_, _>>()?,
            ))
        }
        (None, None) => Ok(CallValue::Opaque(String::new(), Vec::new())),
    }
}

fn make_integer(bits: u64, unsigned: bool) -> CallValue {
    CallValue::Plain(ProgramValue {
        element: ScalarType::I64,
        unsigned,
        shape: Vec::new(),
        bytes: bits.to_le_bytes().to_vec(),
    })
}

/// Mixes the bits of a number (the finaliser of G. Steele, D. Lea, C. Flood's SplitMix, 2014).
fn mix_bits(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A value in one line, not longer than [`SHOWN`].
fn describe_item(item: &CallValue) -> String {
    let parts = parts_of(item).iter();
    let parts: Vec<String> = parts.map(ProgramValue::to_string).collect();
    let text = parts.join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::strip_call;

    #[test]
    fn arguments_of_attributes() {
        assert_eq!(strip_call("prop", "prop"), Some(""));
        assert_eq!(
            strip_call("prop(gen(f), size(3))", "prop"),
            Some("gen(f), size(3)")
        );
        assert_eq!(strip_call("property", "prop"), None);
        assert_eq!(strip_call("size(3)", "size"), Some("3"));
    }
}
