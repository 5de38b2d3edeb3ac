//! The parts of aggressive dead-code elimination: instructions that are live by themselves (`roots`), those that
//! they make live ([`marks`]), branches that become live by control dependence ([`control`]), and deletion of the
//! rest ([`sweep`]).

pub mod control;
pub mod marks;
pub mod roots;
pub mod sweep;
