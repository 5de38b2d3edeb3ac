//! Table of OpenCL's atomic functions: one row per name.

use crate::translate::call_rules::{AtomicKind, BuiltinMemoryOrder, OpenClBuiltinRule};
use spirula_spirv::grammar::Op;

use OpenClBuiltinRule::Atomic;

/// The atomic functions of OpenCL 1 and 2.
pub(super) const ATOMIC_ROWS: &[(&str, OpenClBuiltinRule)] = &[
    // Atomics of OpenCL 1.
    (
        "atomic_add",
        Atomic(AtomicKind::ADD, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_sub",
        Atomic(AtomicKind::SUB, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_xchg",
        Atomic(AtomicKind::EXCHANGE, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_inc",
        Atomic(
            AtomicKind::Step(Op::AtomicIIncrement),
            BuiltinMemoryOrder::Relaxed,
        ),
    ),
    (
        "atomic_dec",
        Atomic(
            AtomicKind::Step(Op::AtomicIDecrement),
            BuiltinMemoryOrder::Relaxed,
        ),
    ),
    (
        "atomic_cmpxchg",
        Atomic(AtomicKind::CompareValue, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_min",
        Atomic(AtomicKind::MIN, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_max",
        Atomic(AtomicKind::MAX, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_and",
        Atomic(AtomicKind::AND, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_or",
        Atomic(AtomicKind::OR, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_xor",
        Atomic(AtomicKind::XOR, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_add",
        Atomic(AtomicKind::ADD, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_sub",
        Atomic(AtomicKind::SUB, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_xchg",
        Atomic(AtomicKind::EXCHANGE, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_inc",
        Atomic(
            AtomicKind::Step(Op::AtomicIIncrement),
            BuiltinMemoryOrder::Relaxed,
        ),
    ),
    (
        "atom_dec",
        Atomic(
            AtomicKind::Step(Op::AtomicIDecrement),
            BuiltinMemoryOrder::Relaxed,
        ),
    ),
    (
        "atom_cmpxchg",
        Atomic(AtomicKind::CompareValue, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_min",
        Atomic(AtomicKind::MIN, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_max",
        Atomic(AtomicKind::MAX, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_and",
        Atomic(AtomicKind::AND, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_or",
        Atomic(AtomicKind::OR, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atom_xor",
        Atomic(AtomicKind::XOR, BuiltinMemoryOrder::Relaxed),
    ),
    // Atomics of OpenCL 2.
    (
        "atomic_init",
        Atomic(AtomicKind::Init, BuiltinMemoryOrder::Relaxed),
    ),
    (
        "atomic_store",
        Atomic(AtomicKind::Store, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_store_explicit",
        Atomic(AtomicKind::Store, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_load",
        Atomic(AtomicKind::Load, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_load_explicit",
        Atomic(AtomicKind::Load, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_exchange",
        Atomic(AtomicKind::EXCHANGE, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_exchange_explicit",
        Atomic(AtomicKind::EXCHANGE, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_compare_exchange_strong",
        Atomic(AtomicKind::CompareObject, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_compare_exchange_strong_explicit",
        Atomic(AtomicKind::CompareObject, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_compare_exchange_weak",
        Atomic(AtomicKind::CompareObject, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_compare_exchange_weak_explicit",
        Atomic(AtomicKind::CompareObject, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_fetch_add",
        Atomic(AtomicKind::ADD, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_fetch_add_explicit",
        Atomic(AtomicKind::ADD, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_fetch_sub",
        Atomic(AtomicKind::SUB, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_fetch_sub_explicit",
        Atomic(AtomicKind::SUB, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_fetch_or",
        Atomic(AtomicKind::OR, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_fetch_or_explicit",
        Atomic(AtomicKind::OR, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_fetch_xor",
        Atomic(AtomicKind::XOR, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_fetch_xor_explicit",
        Atomic(AtomicKind::XOR, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_fetch_and",
        Atomic(AtomicKind::AND, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_fetch_and_explicit",
        Atomic(AtomicKind::AND, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_fetch_min",
        Atomic(AtomicKind::MIN, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_fetch_min_explicit",
        Atomic(AtomicKind::MIN, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_fetch_max",
        Atomic(AtomicKind::MAX, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_fetch_max_explicit",
        Atomic(AtomicKind::MAX, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_flag_test_and_set",
        Atomic(AtomicKind::FlagSet, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_flag_test_and_set_explicit",
        Atomic(AtomicKind::FlagSet, BuiltinMemoryOrder::Explicit),
    ),
    (
        "atomic_flag_clear",
        Atomic(AtomicKind::FlagClear, BuiltinMemoryOrder::Strong),
    ),
    (
        "atomic_flag_clear_explicit",
        Atomic(AtomicKind::FlagClear, BuiltinMemoryOrder::Explicit),
    ),
];
