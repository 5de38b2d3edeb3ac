//! Execution: compiled kernels, launches, threads and the scheduler of a workgroup.

pub(crate) mod arguments;
pub(crate) mod async_copy;
pub(crate) mod build_kernel;
pub(crate) mod checked_launch;
pub(crate) mod compile;
pub(crate) mod cooperative_product;
pub(crate) mod cpu_mode;
pub(crate) mod enqueued_launches;
pub(crate) mod exchange;
pub(crate) mod guard;
pub(crate) mod jit_error;
pub(crate) mod jit_kernel;
pub(crate) mod launch;
mod launch_crew;
pub(crate) mod launch_grid;
mod launch_team;
mod launch_work;
pub(crate) mod launch_worker;
pub(crate) mod non_temporal;
pub(crate) mod privatised_memory;
pub(crate) mod run;
pub(crate) mod slot_numbers;
pub(crate) mod workgroup_scheduler;
pub(crate) mod workgroup_tickets;
