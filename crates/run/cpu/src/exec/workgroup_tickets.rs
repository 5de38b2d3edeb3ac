//! Workgroup tickets: hands the numbers of workgroups to threads in order.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most workgroups that a thread takes at a time.
const MOST_TICKETS: u64 = 64;

/// The numbers of workgroups, issued in order.
///
/// Threads that take alternate workgroups read and write each other's neighbourhood. That costs a kernel which waits
/// for memory a quarter of its time. Therefore a thread takes several in a row, fewer towards the end. Where workgroups
/// may wait for each other, a thread takes one at a time. None then waits for a thread that has others to run first.
///
/// The numbers have cache lines of their own, because all threads read what lies beside them for each workgroup.
#[repr(align(128))]
pub(crate) struct WorkgroupTickets {
    next: AtomicU64,
    total: u64,
    threads: u64,
    most: u64,
}

impl WorkgroupTickets {
    /// Numbers for `total` workgroups and a number of threads.
    pub fn new(total: u64, threads: usize, may_wait: bool) -> WorkgroupTickets {
        WorkgroupTickets {
            next: AtomicU64::new(0),
            total,
            threads: threads as u64,
            most: if may_wait { 1 } else { MOST_TICKETS },
        }
    }

    /// The next ones; none at the end.
    pub fn take_range(&self) -> Option<Range<u64>> {
        let count = |left: u64| (left / (4 * self.threads.max(1))).clamp(1, self.most);
        let (order, next) = (Ordering::Relaxed, &self.next);
        let first = next.fetch_update(order, order, |first| {
            let left = self.total.checked_sub(first).filter(|left| *left > 0)?;
            Some(first + count(left))
        });
        let first = first.ok()?;
        Some(first..first + count(self.total - first))
    }

    /// Whether all numbers have been issued.
    pub fn is_empty(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.total
    }

    /// Hands out no more.
    pub fn stop_issuing(&self) {
        self.next.store(self.total, Ordering::Relaxed);
    }
}
