//! Calls of the plugin's table, as a framework makes them.

#![allow(unsafe_code)] // The table is an interface of C.
#![allow(unsafe_op_in_unsafe_fn)] // Each call keeps the contract of the table.

mod caller;
mod host_functions;
mod hostile;
mod programs;
mod sharded;
mod threads;
