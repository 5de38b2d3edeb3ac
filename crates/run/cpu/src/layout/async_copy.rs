//! Asynchronous copy: the request of an `OpGroupAsyncCopy` as the scheduler and the sanitizer read it.

/// Elements to copy. On one side they lie `stride` elements apart.
#[derive(Clone, Copy)]
pub(crate) struct AsyncCopyRequest {
    /// Address of the first element that is written.
    pub to: u64,
    /// Address of the first element that is read.
    pub from: u64,
    /// Number of elements.
    pub count: u64,
    /// Bytes of an element.
    pub size: u64,
    /// Elements from one strided element to the next.
    pub stride: u64,
    /// Whether the source is strided; the target is otherwise.
    pub strided_source: bool,
}
