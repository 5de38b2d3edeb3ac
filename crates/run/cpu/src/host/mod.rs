//! Host functions that generated code calls for `printf` and for device-side enqueue.

pub(crate) mod launch_queue;
pub(crate) mod printf;
