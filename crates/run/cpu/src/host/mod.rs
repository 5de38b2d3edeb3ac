//! Functions of the host that generated code calls, beside those for images, matrices and pipes.

pub(crate) mod launch_queue;
pub(crate) mod printf;
