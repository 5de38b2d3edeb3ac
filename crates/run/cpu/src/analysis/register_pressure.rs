//! Register pressure: how many floats of an invocation are live at once.

use super::reached_functions::ReachedFunctions;
use crate::module::operand_ids::operand_ids;
use crate::module::typed_module::TypedModule;
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::ir::{Func, InstRef};

/// The most bytes of floats that are live at a place of a function. Values that other blocks use do not count.
pub(crate) fn count_live_bytes(
    program: &TypedModule<'_>,
    functions: &ReachedFunctions,
    func: Func,
) -> u64 {
    let cfg = &functions.get(func).cfg;
    let blocks = 0..cfg.len() as u32;
    let counts = blocks.map(|at| count_in_block(program, program.module.body(cfg.block(at))));
    counts.max().unwrap_or(0)
}

/// The most bytes that are live within a block. Each value is live from its definition to its last use.
fn count_in_block<'m>(program: &TypedModule<'_>, insts: impl Iterator<Item = InstRef<'m>>) -> u64 {
    let mut last_uses: FxHashMap<Id, usize> = FxHashMap::default();
    let mut defined: Vec<(usize, Id)> = Vec::new();
    for (at, inst) in insts.enumerate() {
        for operand in operand_ids(inst) {
            if let Some(last) = last_uses.get_mut(&operand) {
                *last = at;
            }
        }
        if let Some(result) = inst.result().filter(|id| float_bytes(program, *id) > 0) {
            last_uses.insert(result, at + 1);
            defined.push((at, result));
        }
    }
    let begins = defined.iter().map(|(at, id)| (*at, *id, true));
    let ends = last_uses.iter().map(|(id, at)| (*at, *id, false));
    let mut events: Vec<(usize, Id, bool)> = begins.chain(ends).collect();
    // Where a value ends, the result of the instruction may have its register.
    events.sort_unstable_by_key(|(at, _, begins)| (*at, *begins));
    let (mut live, mut most) = (0u64, 0);
    for (_, id, begins) in events {
        let bytes = float_bytes(program, id);
        if begins {
            live += bytes;
            most = most.max(live);
        } else {
            live = live.saturating_sub(bytes);
        }
    }
    most
}

/// The bytes of a float or of a vector of floats; 0 for other values.
fn float_bytes(program: &TypedModule<'_>, id: Id) -> u64 {
    let Some(ty) = program.type_of(id) else {
        return 0;
    };
    match program.types.component_scalar(ty) {
        Some(scalar) if scalar.is_float() => {
            u64::from(scalar.bytes()) * program.types.scalar_count(ty) as u64
        }
        _ => 0,
    }
}
