//! Arguments and results of entry points as plain values. Values without an external form, such as records, are given by
//! their parts.

use spirula_program::program::{EntryOpaque, EntryValueType, ProgramEntry, ProgramEntryParameter};
use spirula_program::{CallValue, ProgramValue, ScalarType};

/// The types of the plain values that a parameter or result consists of.
pub fn value_types(
    value: Option<&EntryValueType>,
    opaque: Option<&EntryOpaque>,
) -> Vec<Option<(ScalarType, bool)>> {
    let parts = opaque.into_iter().flat_map(|opaque| &opaque.parts);
    let values = value.into_iter().chain(parts);
    values.map(|v| Some((v.element, v.unsigned))).collect()
}

/// Groups plain values into the arguments of an entry point. Parameters without an external form take their parts, where
/// there are as many values as parts of all parameters.
pub fn group_into_items(values: Vec<ProgramValue>, entry: &ProgramEntry) -> Vec<CallValue> {
    let part_count = |parameter: &ProgramEntryParameter| match (&parameter.value, &parameter.opaque)
    {
        (None, Some(opaque)) => opaque.parts.len(),
        _ => 1,
    };
    let wanted: usize = entry.parameters.iter().map(part_count).sum();
    if wanted != values.len() {
        return values.into_iter().map(CallValue::Plain).collect();
    }
    let mut values = values.into_iter();
    let items =
        entry
            .parameters
            .iter()
            .map(|parameter| match (&parameter.value, &parameter.opaque) {
                (None, Some(opaque)) => {
                    let parts = values.by_ref().take(opaque.parts.len()).collect();
                    Some(CallValue::Opaque(opaque.name.clone(), parts))
                }
                _ => values.next().map(CallValue::Plain),
            });
    items.flatten().collect()
}

/// The plain values that a value consists of.
pub fn parts_of(item: &CallValue) -> &[ProgramValue] {
    match item {
        CallValue::Plain(value) => std::slice::from_ref(value),
        CallValue::Opaque(_, parts) => parts,
    }
}
