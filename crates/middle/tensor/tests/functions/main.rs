//! Functions of the tensor IR: what becomes of them and what their programs compute.

mod alternatives;
mod common;
mod fusion;
mod loops;
mod pack_constants;
mod random;
mod scans;
mod schedules;
mod sizes;
mod small_reductions;
mod sorts;
