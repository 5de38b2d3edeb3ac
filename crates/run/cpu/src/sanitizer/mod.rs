//! Sanitizer: reports the faults of kernels, each with its sites and invocations.
//!
//! Code is generated with checks around accesses to memory, divisions, shifts and the back edges of loops
//! ([`instrument`]). The emitted code decides the usual cases, the functions in [`runtime`] all others. Workgroups
//! run one after the other on one thread.
//!
//! # Memory
//!
//! A pointer is checked against the variable or argument that it comes from ([`crate::analysis::provenance`]). Where
//! this is not known, as for pointers that were loaded from memory, it is checked against all memory that the launch
//! may use. Memory that invocations share has a shadow cell for each scalar ([`shadow_cell`]): the last access with
//! its invocation, phase and site.
//!
//! # Races
//!
//! Two accesses of different invocations to the same scalar race if one writes, not both are atomic, and nothing
//! orders them. Barriers order by phases: each barrier and each workgroup begins a new one. Atomics order as release
//! and acquire do, and more generously: all accesses of a workgroup before its release are ordered before all
//! accesses of another workgroup after it acquires at the same address.
//!
//! Some conflicts count as intended:
//!
//! - Writes of the value that is already there.
//! - Unless strictness is asked for, plain reads in workgroup memory of values that others change atomically, where
//!   the result is compared.
//! - Unless strictness is asked for, searches in a structure that changes ([`load_purpose`]).
//! - Volatile accesses, which count as atomic, unless they update the value that they have read and nothing waits
//!   ([`volatile_updates`]).
//!
//! Therefore each reported conflict is a race, while not every race is found.
//!
//! # Undefined values
//!
//! An access that reads no written byte is reported, unless it only fills the rest of a vector beside a component
//! that is assigned. Reading some written bytes and some others is normal for copies of structures.

pub(crate) mod access_info;
pub(crate) mod access_record;
pub(crate) mod argument_shadow;
pub(crate) mod checked_copy;
pub(crate) mod component_uses;
pub(crate) mod covered_loads;
pub(crate) mod definedness;
pub(crate) mod happens_before;
pub(crate) mod instruction_sites;
pub(crate) mod instrument;
pub(crate) mod kernel_sanitizer;
pub(crate) mod load_purpose;
pub(crate) mod runtime;
pub(crate) mod shadow_cell;
pub(crate) mod shadow_memory;
pub(crate) mod strided_group;
pub(crate) mod synchronisation;
pub(crate) mod volatile_updates;
pub(crate) mod workgroup_state;

use instruction_sites::SiteTable;

/// Facts about a kernel that its checked launches need.
pub(crate) struct SanitizerInfo {
    /// A number that no other kernel has.
    pub number: u64,
    /// The kernel's name.
    pub kernel: String,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// The instructions that reports name.
    pub sites: SiteTable,
    /// Logarithm of the bytes that a cell of workgroup memory stands for.
    pub group_granule: u32,
    /// Logarithm of the bytes of a cell, for each argument and binding.
    pub granules: Vec<u32>,
    /// Logarithm of the bytes of a cell of memory of which only the address is known.
    pub unknown_granule: u32,
    /// Whether each argument is workgroup memory.
    pub is_local: Vec<bool>,
    /// Addresses and sizes of constants in memory.
    pub constants: Vec<(u64, u64)>,
    /// Most bytes of one access.
    pub largest: u64,
}
