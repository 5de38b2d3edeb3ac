//! Ids: dense `u32` newtypes, which are positions of entities in their arenas.

use spirula_entity::define_ids;

define_ids! {
    /// A tensor of a function.
    pub struct TensorValue: "%";
    /// A list of operations of a function.
    pub struct TensorBlock: "^";
    /// A scalar in the body of a structured operation.
    pub struct ScalarNode: "n";
}
