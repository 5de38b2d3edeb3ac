//! Files of measurements, in the format of `futhark bench --json`.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// Measurements by program and data set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BenchRecord {
    programs: BTreeMap<String, ProgramRecord>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ProgramRecord {
    datasets: BTreeMap<String, DatasetRecord>,
}

/// A data set was measured, or failed with a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
enum DatasetRecord {
    Times(DatasetTimes),
    Failed(String),
}

/// Deserialises through any JSON: serde does not accept numbers that are kept as digits where it tries alternatives.
impl TryFrom<Value> for DatasetRecord {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<DatasetRecord, serde_json::Error> {
        match value {
            Value::String(why) => Ok(DatasetRecord::Failed(why)),
            other => serde_json::from_value(other).map(DatasetRecord::Times),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct DatasetTimes {
    /// Microseconds of each run. Whole numbers are written, because other programs read only those.
    #[serde(serialize_with = "write_whole")]
    runtimes: Vec<f64>,
    /// Most allocated bytes, by memory space. They are not measured here.
    #[serde(default)]
    bytes: BTreeMap<String, u64>,
    #[serde(default)]
    stderr: String,
}

fn write_whole<S: Serializer>(times: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(times.iter().map(|time| time.round() as u64))
}

impl BenchRecord {
    /// Reads a file that [`BenchRecord::to_json`] or Futhark wrote.
    ///
    /// # Errors
    /// When the file has another format.
    pub fn parse_json(json: &[u8]) -> Result<BenchRecord, String> {
        serde_json::from_slice(json).map_err(|error| error.to_string())
    }

    /// The record as JSON, in the order of the names.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.unwrap_or_default() + "\n"
    }

    /// Adds measurements, in microseconds.
    pub fn add_measurements(&mut self, program: &str, dataset: &str, runtimes: Vec<f64>) {
        let times = DatasetTimes {
            runtimes,
            ..DatasetTimes::default()
        };
        self.put_dataset(program, dataset, DatasetRecord::Times(times));
    }

    /// Adds a data set that failed.
    pub fn add_failure(&mut self, program: &str, dataset: &str, why: &str) {
        self.put_dataset(program, dataset, DatasetRecord::Failed(why.to_owned()));
    }

    fn put_dataset(&mut self, program: &str, dataset: &str, measured: DatasetRecord) {
        let program = self.programs.entry(program.to_owned()).or_default();
        program.datasets.insert(dataset.to_owned(), measured);
    }

    /// The measurements of a data set, if it did not fail and there are any.
    pub fn measured_times(&self, program: &str, dataset: &str) -> Option<&[f64]> {
        match self.programs.get(program)?.datasets.get(dataset)? {
            DatasetRecord::Times(times) => Some(&times.runtimes).filter(|t| !t.is_empty()),
            DatasetRecord::Failed(_) => None,
        }
        .map(Vec::as_slice)
    }

    /// All measurements: program, data set, microseconds.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &[f64])> {
        self.programs.iter().flat_map(move |(program, of)| {
            let names = of.datasets.keys();
            names.filter_map(move |dataset| {
                let times = self.measured_times(program, dataset)?;
                Some((program.as_str(), dataset.as_str(), times))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_futhark_writes_is_read() {
        let json = br##"{"a.fut":{"datasets":{"#0":{"bytes":{"device":8},"runtimes":[1,2.5],
            "stderr":"","stdout":""},"#1":"it failed"}}}"##;
        let record = BenchRecord::parse_json(json).unwrap();
        assert_eq!(record.measured_times("a.fut", "#0"), Some(&[1.0, 2.5][..]));
        assert_eq!(record.measured_times("a.fut", "#1"), None);
        assert_eq!(record.iter().count(), 1);
        // Whole microseconds are written.
        let written = BenchRecord::parse_json(record.to_json().as_bytes()).unwrap();
        assert_eq!(written.measured_times("a.fut", "#0"), Some(&[1.0, 3.0][..]));
        let again = BenchRecord::parse_json(written.to_json().as_bytes());
        assert_eq!(again, Ok(written));
        assert!(BenchRecord::parse_json(b"[1]").is_err());
    }
}
