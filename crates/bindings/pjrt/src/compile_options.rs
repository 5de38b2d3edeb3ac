//! Options of a compilation: the fields of XLA's protocol buffer that the plugin heeds.

use crate::error::{PluginError, PluginResult};
use crate::protobuf::{
    FieldValue, read_fields, read_number, write_bytes, write_field, write_number,
};
use serde::{Deserialize, Serialize};

/// Options of a compilation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramOptions {
    /// Number of copies of the program.
    pub replicas: i64,
    /// Number of devices that a copy is split over.
    pub partitions: i64,
    /// The device of each copy and part, where the caller assigns them.
    pub devices: Vec<i64>,
    /// Whether the program runs on the device that each execution names.
    pub is_portable: bool,
    /// Whether the client asks for a program for several devices to be partitioned.
    #[serde(default)]
    pub is_partitioned: bool,
    /// Whether its devices have queues of their own, here or in other processes, so that each runs the program by itself.
    #[serde(default)]
    pub spans_queues: bool,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        ProgramOptions {
            replicas: 1,
            partitions: 1,
            devices: Vec::new(),
            is_portable: false,
            is_partitioned: false,
            spans_queues: false,
        }
    }
}

/// Numbers of fields: of the options, of their build options, and of an assignment of devices.
mod field {
    pub const BUILD_OPTIONS: u64 = 3;
    pub const IS_PORTABLE: u64 = 4;
    pub const OVERRIDES: u64 = 7;
    pub const OVERRIDE_NAME: u64 = 1;
    pub const REPLICAS: u64 = 4;
    pub const PARTITIONS: u64 = 5;
    pub const ASSIGNMENT: u64 = 9;
    pub const COMPUTATION: u64 = 3;
    pub const REPLICA_DEVICES: u64 = 1;
}

impl ProgramOptions {
    /// Reads the protocol buffer.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn read(bytes: &[u8]) -> PluginResult<ProgramOptions> {
        let mut options = ProgramOptions::default();
        for (number, value) in read_fields(bytes)? {
            match (number, value) {
                (field::BUILD_OPTIONS, FieldValue::Bytes(build)) => {
                    options.read_build_options(build)?;
                }
                (field::IS_PORTABLE, FieldValue::Number(truth)) => options.is_portable = truth != 0,
                (field::OVERRIDES, FieldValue::Bytes(entry)) => check_override(entry)?,
                _ => {}
            }
        }
        Ok(options)
    }

    fn read_build_options(&mut self, bytes: &[u8]) -> PluginResult<()> {
        for (number, value) in read_fields(bytes)? {
            match (number, value) {
                (field::REPLICAS, FieldValue::Number(count)) => self.replicas = count as i64,
                (field::PARTITIONS, FieldValue::Number(count)) => self.partitions = count as i64,
                (field::ASSIGNMENT, FieldValue::Bytes(assignment)) => {
                    self.devices = read_assignment(assignment)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The assignment of devices as a protocol buffer.
    pub fn write_assignment(&self, devices: &[i64]) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, count) in [(1, self.replicas), (2, self.partitions)] {
            write_field(&mut out, number, count as u64);
        }
        let replicas = usize::try_from(self.replicas).unwrap_or(1).max(1);
        for part in devices.chunks(replicas) {
            let mut ids = Vec::new();
            part.iter()
                .for_each(|id| write_number(&mut ids, *id as u64));
            let mut computation = Vec::new();
            write_bytes(&mut computation, field::REPLICA_DEVICES, &ids);
            write_bytes(&mut out, field::COMPUTATION, &computation);
        }
        out
    }
}

/// Options of compilations that have no effect here.
const IGNORED: &[&str] = &[
    "exec_time_optimization_effort",
    "memory_fitting_effort",
    "memory_fitting_level",
    "optimization_level",
];

/// Beginning of the options of XLA's own compilers, which have no effect here.
const IGNORED_PREFIX: &str = "xla_";

/// Refuses an option that users set by a name that nobody knows.
fn check_override(entry: &[u8]) -> PluginResult<()> {
    for (number, value) in read_fields(entry)? {
        let (field::OVERRIDE_NAME, FieldValue::Bytes(name)) = (number, value) else {
            continue;
        };
        let name = String::from_utf8_lossy(name);
        if !name.starts_with(IGNORED_PREFIX) && !IGNORED.contains(&&*name) {
            // Users of JAX know this message of XLA.
            let message = format!("No such compile option: '{name}'");
            return Err(PluginError::invalid(message));
        }
    }
    Ok(())
}

/// The devices of an assignment, those of a part one after the other.
fn read_assignment(bytes: &[u8]) -> PluginResult<Vec<i64>> {
    let mut devices = Vec::new();
    for (number, value) in read_fields(bytes)? {
        let (field::COMPUTATION, FieldValue::Bytes(computation)) = (number, value) else {
            continue;
        };
        for (number, value) in read_fields(computation)? {
            match (number, value) {
                (field::REPLICA_DEVICES, FieldValue::Number(id)) => devices.push(id as i64),
                (field::REPLICA_DEVICES, FieldValue::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        devices.push(read_number(&mut packed)? as i64);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let one = ProgramOptions::read(&[0x1a, 4, 0x20, 1, 0x28, 1]).unwrap();
        assert_eq!(one, ProgramOptions::default());
        let wanted = ProgramOptions {
            replicas: 2,
            partitions: 2,
            devices: vec![300, 1, 2, 3],
            is_portable: false,
            is_partitioned: false,
            spans_queues: false,
        };
        let mut build = vec![0x20, 2, 0x28, 2];
        let assignment = wanted.write_assignment(&wanted.devices);
        write_bytes(&mut build, field::ASSIGNMENT, &assignment);
        let mut bytes = Vec::new();
        write_bytes(&mut bytes, field::BUILD_OPTIONS, &build);
        assert_eq!(ProgramOptions::read(&bytes).unwrap(), wanted);
    }

    #[test]
    fn unknown_options_are_refused() {
        let read = |name: &str| {
            let (mut entry, mut bytes) = (Vec::new(), Vec::new());
            write_bytes(&mut entry, field::OVERRIDE_NAME, name.as_bytes());
            write_bytes(&mut bytes, field::OVERRIDES, &entry);
            ProgramOptions::read(&bytes)
        };
        assert!(read("xla_cpu_enable_fast_math").is_ok() && read("optimization_level").is_ok());
        let refused = read("no_such_option").unwrap_err();
        assert_eq!(refused.message, "No such compile option: 'no_such_option'");
    }

    /// Every beginning of a message is read or refused.
    #[test]
    fn malformed_options_are_refused() {
        for bytes in [
            &[0x1a, 4, 0x20][..],
            &[0xff; 11],
            &[0x0b],
            &[0x1a, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            assert!(ProgramOptions::read(bytes).is_err(), "{bytes:?}");
        }
    }
}
