//! Manual computations: programs of one device that all devices of a mesh run, `sdy.manual_computation`.
//!
//! All devices share one memory, so that a body is translated once for each shard, in lock step: operation by operation, for
//! all shards. A collective then combines tensors of the shards by ordinary operations, since all of them are there at that
//! point. The other design, one operation on tensors with a dimension for the shards, needs a rule of its own for every
//! operation; lock step needs rules for collectives and for control flow only. Its cost is a program that grows with the
//! number of shards, so that values which are equal on all shards are translated once ([`ShardedValue::Shared`]).
//!
//! - `value`: values of shards, and the shard that is being translated.
//! - `computation`: entry and exit: tensors are cut into shards and put together. Computations nest; each makes axes of the
//!   mesh manual, and has a shard for each point along the axes that are manual so far.
//! - `step`: operations of a block in lock step.
//! - `collective`: collectives over groups of shards.
//! - `control`: loops and branches that contain collectives. The shards run one loop together. Where their conditions
//!   differ, it goes on while one of them does, and the values of the others stay as they are. Without collectives
//!   inside, each shard has its own loop or branch.
//! - `uniform`: the analysis that finds values which are equal on all shards.

mod collective;
mod computation;
mod control;
mod step;
mod uniform;
mod value;

pub(super) use computation::translate_manual_computation;
pub(super) use uniform::ShardEffects;
pub(super) use value::{ShardState, ShardedValue};
