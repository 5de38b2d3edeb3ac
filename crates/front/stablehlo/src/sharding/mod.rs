//! Shardings: how Shardy's attributes lay tensors out over the devices of a mesh.
//!
//! Attributes of the dialect `sdy` are kept as text, whatever form a module was read from. This module reads the text:
//! [`DeviceMesh`] has the axes of devices, [`TensorSharding`] the axes that split each dimension of a tensor.
//! [`EntryShardings`] has those of the arguments and results of an entry point. Results without one get the sharding that
//! follows from the arguments (`propagation`). `replica_groups` has the devices that take part in a collective.

mod entry;
mod layout;
mod mesh;
mod propagation;
mod replica_groups;
mod text;
mod xla_text;

pub use entry::EntryShardings;
pub use layout::{ShardSlice, TensorSharding};
pub use mesh::{AxisReference, DeviceMesh, MeshAxis};
pub(crate) use replica_groups::group_devices;
pub use replica_groups::read_replica_groups;
pub use text::{
    DeviceExtremes, read_extremes, read_manual_axes, read_sharding, read_sharding_list,
};
