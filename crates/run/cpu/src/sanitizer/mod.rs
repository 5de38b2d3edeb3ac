//! The checking mode: what kernels do wrong, told with both places and both invocations.
//!
//! Code is generated with checks around accesses to memory, divisions, shifts and the back edges of
//! loops ([`crate::codegen`]); what is usual is decided there, everything else by the functions in
//! [`runtime`]. Workgroups run one after the other on one thread.
//!
//! # Memory
//!
//! A pointer is checked against the variable or argument that it comes from ([`provenance`]), and where
//! that is not known, such as behind pointers that were kept in memory, against all memory that the
//! launch may use. Memory that invocations share has a cell for each scalar ([`cell`]): who used it
//! last, in which phase, from where.
//!
//! # Races
//!
//! Two accesses of different invocations to the same place race if one writes, not both are atomic,
//! and nothing orders them. Barriers do, by phases: each barrier and each workgroup begins a new one.
//! Atomics order as release and acquire do, and more generously so: what a workgroup did before it
//! released is ordered before everything that another one does after it acquired at the same place.
//! Writes of the value that is there already are taken to be meant, and unless strictness is asked for
//! so are plain reads of what others change atomically, in memory of the workgroup where they are compared with
//! something, and looking something up in a structure that changes ([`search`]). Volatile accesses count as atomic
//! unless they update what they have read and nothing waits ([`update`]). So what is reported is a race, while not every race is found.
//!
//! # Undefined values
//!
//! An access that reads no byte that was written is reported, unless it only puts the rest of a vector beside a
//! component that is assigned; reading some that were and some that were not is what copies of structures do.

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
pub(crate) mod report;
pub(crate) mod runtime;
pub(crate) mod shadow_cell;
pub(crate) mod shadow_memory;
pub(crate) mod strided_group;
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
