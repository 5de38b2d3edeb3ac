//! Reports of calls, in the form that `futhark profile` reads.

use serde_json::{Map, Value, json};
use std::time::Duration;

/// The calls of a context that were recorded.
#[derive(Debug, Default)]
pub(crate) struct CallProfile {
    is_enabled: bool,
    pub is_paused: bool,
    calls: Vec<(String, Duration)>,
}

impl CallProfile {
    /// Without calls. `is_enabled` says whether calls are recorded at all.
    pub fn new(is_enabled: bool) -> CallProfile {
        CallProfile {
            is_enabled,
            ..CallProfile::default()
        }
    }

    /// Records a call of an entry point.
    pub fn record_call(&mut self, entry: &str, time: Duration) {
        if self.is_enabled && !self.is_paused {
            self.calls.push((entry.to_owned(), time));
        }
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        let events = self.calls.iter().map(|(entry, time)| {
            json!({
                "name": entry,
                "duration": time.as_secs_f64() * 1e6,
                "provenance": "unknown",
                "details": Value::Object(Map::new()),
            })
        });
        let events: Vec<Value> = events.collect();
        json!({ "memory": Value::Object(Map::new()), "events": events }).to_string()
    }
}
