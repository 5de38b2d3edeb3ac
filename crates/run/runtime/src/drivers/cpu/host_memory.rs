//! Host memory: the memory of buffers on the CPU device.

use crate::ImportedMemory;
use bytemuck::{Pod, Zeroable};
use spirula_cpu::GuardedPages;

/// 128 aligned bytes, one or two cache lines, so that no vector access is misaligned.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(128))]
pub struct AlignedLine([u8; 128]);

/// The memory of a resource. Memory of the device is aligned to 128.
pub enum HostMemory {
    /// Pages between guards.
    Guarded(GuardedPages),
    /// Lines without guards, where the system has none.
    Plain {
        /// The lines, the last of which may be used in part.
        lines: Box<[AlignedLine]>,
        /// Bytes.
        size: usize,
    },
    /// Memory of the caller, which is not freed.
    Imported(ImportedMemory),
}

impl HostMemory {
    /// Allocates zeroed bytes; `None` where the memory does not suffice.
    pub fn with_zeros(size: u64) -> Option<HostMemory> {
        let size = usize::try_from(size).ok()?;
        let pages = (size > 0).then(|| GuardedPages::new_zeroed(size)).flatten();
        if let Some(pages) = pages {
            return Some(HostMemory::Guarded(pages));
        }
        let lines = size.div_ceil(size_of::<AlignedLine>());
        isize::try_from(lines.checked_mul(size_of::<AlignedLine>())?).ok()?;
        let lines = bytemuck::allocation::try_zeroed_slice_box(lines).ok()?;
        Some(HostMemory::Plain { lines, size })
    }

    /// Number of bytes.
    pub fn size(&self) -> u64 {
        match self {
            HostMemory::Guarded(pages) => pages.size() as u64,
            HostMemory::Plain { size, .. } => *size as u64,
            HostMemory::Imported(memory) => memory.size(),
        }
    }

    /// Number of bytes that the device has allocated for it.
    pub fn allocated_bytes(&self) -> u64 {
        match self {
            HostMemory::Guarded(_) | HostMemory::Plain { .. } => self.size(),
            HostMemory::Imported(_) => 0,
        }
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            HostMemory::Guarded(pages) => pages.bytes_mut(),
            HostMemory::Plain { lines, size } => &mut bytemuck::cast_slice_mut(lines)[..*size],
            HostMemory::Imported(memory) => memory.bytes_mut(),
        }
    }
}

/// Bytes of memory that this process can still get, as far as the system says.
///
/// Linux promises more memory than it has and kills a process that uses it, so the limit has to be known beforehand. On other
/// systems an allocation that exceeds the memory fails.
pub fn query_available_memory() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok();
    let line = told.as_deref().and_then(|text| {
        let mut lines = text.lines();
        lines.find_map(|l| l.strip_prefix("MemAvailable:"))
    });
    let kilobytes = line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kilobytes.map_or(isize::MAX as u64, |k| k.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_memory_are_refused() {
        assert!(HostMemory::with_zeros(u64::MAX).is_none());
        assert!(HostMemory::with_zeros(1 << 62).is_none());
        let mut memory = HostMemory::with_zeros(129).unwrap();
        assert_eq!(memory.bytes_mut().len(), 129);
        assert_eq!(memory.bytes_mut().as_ptr() as usize % 128, 0);
        assert!(HostMemory::with_zeros(0).unwrap().bytes_mut().is_empty());
    }

    #[test]
    #[allow(unsafe_code)]
    fn memory_of_the_caller_is_not_counted() {
        let mut bytes = [1, 2, 3];
        // SAFETY: the bytes outlive the memory, and are not used meanwhile.
        let imported =
            unsafe { ImportedMemory::new(std::ptr::NonNull::from(&mut bytes).cast(), 3) };
        let memory = HostMemory::Imported(imported);
        assert_eq!((memory.size(), memory.allocated_bytes()), (3, 0));
        assert_eq!(HostMemory::with_zeros(3).unwrap().allocated_bytes(), 3);
    }
}
