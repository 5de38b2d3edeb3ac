//! Registry of grammar additions, which is consulted only for what the tables lack.
//!
//! Rows are created once and live as long as the process, like those of the tables. A holder of a row need not know
//! where it comes from.

use super::effects::InstructionEffects;
use super::generated::kinds::Kind;
use super::types::{EnumerantInfo, ExtInstSet, InstructionInfo, Op};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// An instruction that was added.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddedInstruction {
    pub row: &'static InstructionInfo,
    pub effects: InstructionEffects,
}

/// A set that was added, with the effects of its instructions in the order of its rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddedSet {
    pub set: &'static ExtInstSet,
    pub effects: &'static [InstructionEffects],
}

/// Everything that was added.
#[derive(Debug, Default)]
pub(super) struct GrammarRegistry {
    pub instructions: FxHashMap<u16, AddedInstruction>,
    /// Opcodes by name, without `Op`.
    pub names: FxHashMap<&'static str, Op>,
    pub values: FxHashMap<(Kind, u32), &'static EnumerantInfo>,
    pub value_names: FxHashMap<(Kind, &'static str), &'static EnumerantInfo>,
    pub sets: FxHashMap<&'static str, AddedSet>,
}

/// Whether there are any additions, which is all that most processes ever ask.
static ANY: AtomicBool = AtomicBool::new(false);
static REGISTRY: RwLock<Option<GrammarRegistry>> = RwLock::new(None);

#[cold]
fn query_registry<T>(question: impl FnOnce(&GrammarRegistry) -> Option<T>) -> Option<T> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    // Additions are registered as a whole or not at all, so that a lock poisoned by a panic guards consistent
    // data.
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    registry.as_ref().and_then(question)
}

/// Changes the registry; other threads see all of a change or nothing.
pub(super) fn change_registry<E>(
    change: impl FnOnce(&mut GrammarRegistry) -> Result<(), E>,
) -> Result<(), E> {
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    change(registry.get_or_insert_default())?;
    ANY.store(true, Ordering::Release);
    Ok(())
}

pub(super) fn find_instruction(op: Op) -> Option<&'static InstructionInfo> {
    query_registry(|r| r.instructions.get(&op.0).map(|i| i.row))
}

pub(super) fn find_effects(op: Op) -> Option<InstructionEffects> {
    query_registry(|r| r.instructions.get(&op.0).map(|i| i.effects))
}

pub(super) fn opcode_by_name(name: &str) -> Option<Op> {
    query_registry(|r| r.names.get(name).copied())
}

pub(super) fn find_enumerant(kind: Kind, value: u32) -> Option<&'static EnumerantInfo> {
    query_registry(|r| r.values.get(&(kind, value)).copied())
}

pub(super) fn value_by_name(kind: Kind, name: &str) -> Option<&'static EnumerantInfo> {
    query_registry(|r| r.value_names.get(&(kind, name)).copied())
}

pub(super) fn set_by_name(name: &str) -> Option<&'static ExtInstSet> {
    query_registry(|r| r.sets.get(name).map(|s| s.set))
}

pub(super) fn effects_of_extended(set: &str, number: u32) -> Option<InstructionEffects> {
    query_registry(|r| {
        let added = r.sets.get(set)?;
        let rows = added.set.instructions;
        let at = rows.binary_search_by_key(&number, |i| i.number).ok()?;
        added.effects.get(at).copied()
    })
}
