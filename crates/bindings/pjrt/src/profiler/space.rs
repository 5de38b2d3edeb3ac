//! Profile as XLA's protocol buffer `XSpace` (`tsl/profiler/protobuf/xplane.proto`), which TensorBoard, XProf and
//! `jax.profiler.ProfileData` read.

use super::session::ClockOrigin;
use super::timeline::{DeviceTimeline, TimelineEvent};
use crate::error::PluginResult;
use crate::protobuf::{write_bytes, write_entry, write_field};
use std::collections::HashMap;
use std::time::{Instant, SystemTime};

/// Numbers of fields.
mod field {
    pub const SPACE_PLANES: u64 = 1;
    pub const SPACE_ERRORS: u64 = 2;
    pub const SPACE_WARNINGS: u64 = 3;
    pub const PLANE_NAME: u64 = 2;
    pub const PLANE_LINES: u64 = 3;
    pub const PLANE_EVENT_METADATA: u64 = 4;
    pub const LINE_ID: u64 = 1;
    pub const LINE_NAME: u64 = 2;
    pub const LINE_TIMESTAMP: u64 = 3;
    pub const LINE_EVENTS: u64 = 4;
    pub const EVENT_METADATA_ID: u64 = 1;
    pub const EVENT_OFFSET: u64 = 2;
    pub const EVENT_DURATION: u64 = 3;
    pub const METADATA_ID: u64 = 1;
    pub const METADATA_NAME: u64 = 2;
}

/// Names of the lines of a device, under which tools look for programs and for what they consist of.
const LINE_NAMES: [&str; 2] = ["XLA Modules", "XLA Ops"];

/// The part of a device.
pub struct DevicePlane {
    pub name: String,
    /// Its timeline, or the reason why it has none.
    pub timeline: PluginResult<DeviceTimeline>,
}

/// The bytes of a profile that began at a time.
pub fn write_space(planes: &[DevicePlane], origin: ClockOrigin) -> Vec<u8> {
    let mut space = Vec::new();
    for plane in planes {
        let name = &plane.name;
        match &plane.timeline {
            Ok(timeline) => {
                let bytes = write_plane(name, timeline, origin);
                write_bytes(&mut space, field::SPACE_PLANES, &bytes);
                if timeline.dropped > 0 {
                    let text = format!("{name}: {} events were dropped", timeline.dropped);
                    write_bytes(&mut space, field::SPACE_WARNINGS, text.as_bytes());
                }
            }
            Err(error) => {
                let text = format!("{name}: {}", error.message);
                write_bytes(&mut space, field::SPACE_ERRORS, text.as_bytes());
            }
        }
    }
    space
}

fn write_plane(name: &str, timeline: &DeviceTimeline, origin: ClockOrigin) -> Vec<u8> {
    let mut plane = Vec::new();
    write_bytes(&mut plane, field::PLANE_NAME, name.as_bytes());
    let mut names = EventNames::default();
    let lines = [&timeline.executions, &timeline.launches];
    for (at, events) in lines.into_iter().enumerate() {
        let mut line = Vec::new();
        write_field(&mut line, field::LINE_ID, at as u64 + 1);
        write_bytes(&mut line, field::LINE_NAME, LINE_NAMES[at].as_bytes());
        let epoch = origin.time.duration_since(SystemTime::UNIX_EPOCH);
        let nanoseconds = epoch.unwrap_or_default().as_nanos() as u64;
        write_field(&mut line, field::LINE_TIMESTAMP, nanoseconds);
        for event in events {
            let bytes = write_event(event, names.number_of(&event.name), origin.instant);
            write_bytes(&mut line, field::LINE_EVENTS, &bytes);
        }
        write_bytes(&mut plane, field::PLANE_LINES, &line);
    }
    for (at, name) in names.names.iter().enumerate() {
        let number = at as u64 + 1;
        let mut metadata = Vec::new();
        write_field(&mut metadata, field::METADATA_ID, number);
        write_bytes(&mut metadata, field::METADATA_NAME, name.as_bytes());
        write_entry(&mut plane, field::PLANE_EVENT_METADATA, number, &metadata);
    }
    plane
}

fn write_event(event: &TimelineEvent, name: u64, origin: Instant) -> Vec<u8> {
    let picoseconds = |nanoseconds: u128| nanoseconds as u64 * 1000;
    let begin = event.begin.saturating_duration_since(origin);
    let mut bytes = Vec::new();
    write_field(&mut bytes, field::EVENT_METADATA_ID, name);
    write_field(
        &mut bytes,
        field::EVENT_OFFSET,
        picoseconds(begin.as_nanos()),
    );
    let run = picoseconds(event.run.as_nanos());
    write_field(&mut bytes, field::EVENT_DURATION, run);
    bytes
}

/// Numbers of the names of events, from 1.
#[derive(Default)]
struct EventNames<'t> {
    numbers: HashMap<&'t str, u64>,
    names: Vec<&'t str>,
}

impl<'t> EventNames<'t> {
    fn number_of(&mut self, name: &'t str) -> u64 {
        let next = self.names.len() as u64 + 1;
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }
}
