//! Timeline of a device: the executions and launches of a profile.

use spirula_runtime::MeasuredLaunch;
use std::time::{Duration, Instant};

/// Most executions and most launches that a profile keeps: XLA's own profiles of a device have this limit for events.
const MOST_EVENTS: usize = 1 << 20;

/// Something that took a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEvent {
    /// The name of the program or kernel.
    pub name: String,
    /// The begin by the host's clock.
    pub begin: Instant,
    pub run: Duration,
}

/// The executions and launches of a device while a profile was taken.
#[derive(Debug, Default)]
pub struct DeviceTimeline {
    /// The executions of programs. Those of a device that does not wait for its launches end when all are submitted.
    pub executions: Vec<TimelineEvent>,
    /// The launches of kernels, by the device's clock.
    pub launches: Vec<TimelineEvent>,
    /// Number of events that were dropped, as there were too many.
    pub dropped: u64,
}

impl DeviceTimeline {
    /// Adds an execution that began at a time and has ended.
    pub fn add_execution(&mut self, program: &str, begin: Instant) {
        if self.executions.len() < MOST_EVENTS {
            self.executions.push(TimelineEvent {
                name: program.to_owned(),
                begin,
                run: begin.elapsed(),
            });
        } else {
            self.dropped += 1;
        }
    }

    /// Adds launches that have ended.
    pub fn add_launches(&mut self, launches: Vec<MeasuredLaunch>) {
        let room = MOST_EVENTS - self.launches.len();
        self.dropped += launches.len().saturating_sub(room) as u64;
        let kept = launches.into_iter().take(room);
        self.launches.extend(kept.map(|launch| TimelineEvent {
            name: launch.kernel,
            begin: launch.begin,
            run: launch.run,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_profile_drops_events() {
        let launch = MeasuredLaunch {
            kernel: "add".to_owned(),
            begin: Instant::now(),
            run: Duration::from_micros(1),
        };
        let mut timeline = DeviceTimeline::default();
        timeline.add_launches(vec![launch.clone(); MOST_EVENTS - 1]);
        timeline.add_launches(vec![launch; 3]);
        assert_eq!(
            (timeline.launches.len(), timeline.dropped),
            (MOST_EVENTS, 2)
        );
    }
}
