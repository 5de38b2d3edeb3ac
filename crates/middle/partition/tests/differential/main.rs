//! Differential tests: a partitioned program, run for all devices by its wrapping as a manual computation, gives what the
//! program gives that was not partitioned. Both are evaluated by the definition of the tensor IR.

mod compare;
mod manual;
mod models;
mod programs;
mod rules;
