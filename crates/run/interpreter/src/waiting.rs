//! Invocations that wait: which of them go on together.

use crate::exchange::{ExchangePoint, SUBGROUP_SIZE};

/// An invocation that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitingInvocation {
    /// Its number in the workgroup.
    pub number: usize,
    /// The number of the point where it waits.
    pub point: u32,
}

/// Invocations that exchange values at a point, and go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ResumedLanes {
    pub point: u32,
    /// Numbers of invocations in their workgroup, in order.
    pub numbers: Vec<usize>,
    /// The first invocation of the group.
    pub first: usize,
    /// Invocations of a full group.
    pub size: usize,
}

/// The invocations that go on, when each of a workgroup has ended or waits. A subgroup that has diverged goes on at its
/// first point; at points of the workgroup all must wait.
///
/// # Errors
/// The number of an invocation that waits for others which never come.
pub(crate) fn choose_resumed(
    points: &[ExchangePoint],
    waiting: &[WaitingInvocation],
    count: usize,
) -> Result<Vec<ResumedLanes>, usize> {
    let mut resumed = Vec::new();
    for group in waiting.chunk_by(|a, b| a.number / SUBGROUP_SIZE == b.number / SUBGROUP_SIZE) {
        let in_subgroups = group
            .iter()
            .filter(|w| points[w.point as usize].is_subgroup);
        if let Some(point) = in_subgroups.map(|w| w.point).min() {
            resumed.push(ResumedLanes {
                point,
                numbers: list_waiting_at(group, point),
                first: group[0].number / SUBGROUP_SIZE * SUBGROUP_SIZE,
                size: SUBGROUP_SIZE,
            });
        }
    }
    if let (true, Some(first)) = (resumed.is_empty(), waiting.first()) {
        if let Some(other) = waiting.iter().find(|w| w.point != first.point) {
            return Err(other.number);
        }
        resumed.push(ResumedLanes {
            point: first.point,
            numbers: list_waiting_at(waiting, first.point),
            first: 0,
            size: count,
        });
    }
    Ok(resumed)
}

fn list_waiting_at(waiting: &[WaitingInvocation], point: u32) -> Vec<usize> {
    let there = waiting.iter().filter(|w| w.point == point);
    there.map(|w| w.number).collect()
}
