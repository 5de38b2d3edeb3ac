//! Dense ids: `u32` newtypes that index arenas, and the data structures that are keyed by them.
//!
//! - [`define_ids!`] defines types of ids whose `Option` is as small as the id itself.
//! - [`EntityArena`] stores entities under their ids.
//! - [`SecondaryMap`] and [`EntitySet`] attach values and flags to ids. Both grow on demand.
//! - [`ValueInterner`] and [`StringInterner`] store equal values once and give them one id.
//! - [`UnionFind`] keeps disjoint sets of numbers.
//!
//! The names are those of `cranelift-entity`. The crate knows no representation and no format.

mod arena;
mod id;
mod interner;
mod map;
mod set;
mod strings;
mod union_find;

pub use arena::EntityArena;
pub use id::{DenseId, EntityIndex};
pub use interner::ValueInterner;
pub use map::SecondaryMap;
pub use set::EntitySet;
pub use strings::StringInterner;
pub use union_find::UnionFind;
