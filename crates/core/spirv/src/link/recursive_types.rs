//! Recursive types by value: types that contain pointers to themselves.
//!
//! The pointee of a forward pointer cannot be compared member by member, because its members lead back to it. It is
//! written as text instead, with the reachable types numbered in the order in which they are reached. Two pointers are
//! equal if their texts are.

use super::decorations::TargetAnnotations;
use super::global_values::is_value;
use crate::Id;
use crate::analysis::IdDefinitions;
use crate::ir::{IdWords, SpirvModule};
use rustc_hash::FxHashMap;

/// Most types that are looked at for one pointer; those that reach more are not merged.
const MOST: usize = 4096;

/// A type as text that does not depend on ids. `None` if it reaches too many types, or a type that is never
/// equal by value.
pub(super) fn canonicalise_type(
    module: &SpirvModule,
    ids: &IdWords,
    definitions: &IdDefinitions,
    annotations: &TargetAnnotations,
    pointer: Id,
) -> Option<Box<[u32]>> {
    let mut order = vec![pointer];
    let mut numbers: FxHashMap<Id, u32> = FxHashMap::from_iter([(pointer, 0)]);
    let mut out = Vec::new();
    let mut row_words = Vec::new();
    let mut at = 0;
    while let Some(id) = order.get(at).copied() {
        at += 1;
        let inst = definitions.get(module, id).filter(|i| is_value(i.op()))?;
        let mut words = inst.words().to_vec();
        ids.visit_uses(inst, |at, id| {
            let next = order.len() as u32;
            words[at] = *numbers.entry(id).or_insert_with(|| {
                order.push(id);
                next
            });
        });
        if order.len() > MOST {
            return None;
        }
        let result = words.len() - inst.operands().len() - 1;
        words.remove(result);
        out.extend([u32::from(inst.op().0), words.len() as u32]);
        out.append(&mut words);
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for row in annotations.decorations_of(id) {
            let op = row.write_instruction(module, &mut row_words);
            let head = [u32::from(op.0), row_words.len() as u32];
            rows.push(head.into_iter().chain(row_words.iter().copied()).collect());
        }
        rows.sort_unstable();
        out.push(rows.len() as u32);
        out.extend(rows.iter().flatten());
    }
    Some(out.into())
}
