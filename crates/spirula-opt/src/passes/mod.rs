//! One file for each pass.

pub mod adce;
pub mod compact_ids;
pub mod dead_members;
pub mod dedup;
pub mod gvn;
pub mod if_convert;
pub mod inline;
pub mod licm;
pub mod mem2reg;
pub mod merge_return;
pub mod simplify;
pub mod simplify_cfg;
pub mod sroa;
pub mod strip_debug;
pub mod trim_capabilities;
