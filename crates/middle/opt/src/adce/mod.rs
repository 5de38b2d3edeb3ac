//! What aggressive dead-code elimination is made of: which instructions matter by themselves
//! (`roots`), what that makes matter ([`marks`]), how control flow makes branches matter
//! ([`control`]), and taking the rest away ([`sweep`]).

pub mod control;
pub mod marks;
pub mod roots;
pub mod sweep;
