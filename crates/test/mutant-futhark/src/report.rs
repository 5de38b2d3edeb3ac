//! The report: agreements by kind of change, and differences by message.

use crate::verdict::CheckVerdict;
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Number of seeds that are named for a message.
const NAMED: usize = 12;

/// Number of characters of a message.
const MESSAGE: usize = 140;

/// The verdicts on a mutant.
#[derive(Clone, Debug)]
pub struct VerdictPair {
    /// The kind of change.
    pub kind: &'static str,
    /// The verdict of the project's checker.
    pub ours: CheckVerdict,
    /// The verdict of Futhark's checker.
    pub theirs: CheckVerdict,
}

impl VerdictPair {
    /// Whether the verdicts are equal.
    pub fn is_agreement(&self) -> bool {
        matches!(
            (&self.ours, &self.theirs),
            (CheckVerdict::Accepted, CheckVerdict::Accepted)
                | (CheckVerdict::Refused(_), CheckVerdict::Refused(_))
        )
    }

    /// The difference in words.
    pub fn describe(&self) -> &'static str {
        match (&self.ours, &self.theirs) {
            (CheckVerdict::Failed(_), _) => "our checker fails",
            (_, CheckVerdict::Failed(_)) => "the other checker fails",
            (CheckVerdict::Accepted, CheckVerdict::Refused(_)) => "wrongly accepted",
            (CheckVerdict::Refused(_), CheckVerdict::Accepted) => "wrongly refused",
            _ => "agreement",
        }
    }

    /// The message of the checker that is not content, without names and numbers.
    fn generalise_message(&self) -> String {
        let message = match (&self.ours, &self.theirs) {
            (CheckVerdict::Accepted, theirs) => theirs.message(),
            (ours, _) => ours.message(),
        };
        let lines = message.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("Error at "));
        let mut general = String::new();
        let mut is_quoted = false;
        for character in lines.take(2).collect::<Vec<_>>().join(" ").chars() {
            if matches!(character, '`' | '"') {
                is_quoted = !is_quoted;
                general.push(character);
            } else if !is_quoted && !character.is_ascii_digit() {
                general.push(character);
            }
        }
        general.chars().take(MESSAGE).collect()
    }
}

/// Numbers of mutants.
#[derive(Clone, Copy, Debug, Default)]
struct KindCount {
    all: usize,
    refused: usize,
    accepted: usize,
    differences: usize,
}

/// The verdicts of a run.
#[derive(Debug, Default)]
pub struct MutantTally {
    kinds: BTreeMap<&'static str, KindCount>,
    /// The seeds of differences by their messages.
    differences: BTreeMap<String, Vec<u64>>,
}

impl MutantTally {
    /// Adds the verdicts on the mutant of a seed.
    pub fn record_pair(&mut self, seed: u64, pair: Result<VerdictPair>) {
        let pair = match pair {
            Ok(pair) => pair,
            Err(error) => {
                let message = format!("not compared: {error:#}");
                self.differences.entry(message).or_default().push(seed);
                return;
            }
        };
        let count = self.kinds.entry(pair.kind).or_default();
        count.all += 1;
        if pair.is_agreement() {
            match pair.ours {
                CheckVerdict::Accepted => count.accepted += 1,
                _ => count.refused += 1,
            }
        } else {
            count.differences += 1;
            let message = format!("{}: {}", pair.describe(), pair.generalise_message());
            self.differences.entry(message).or_default().push(seed);
        }
    }

    /// The number of mutants without an agreement.
    pub fn count_differences(&self) -> usize {
        self.differences.values().map(Vec::len).sum()
    }

    /// The report.
    pub fn format_report(&self) -> String {
        let mut text = format!(
            "{:24}{:>8}{:>10}{:>10}{:>12}\n",
            "change", "mutants", "accepted", "refused", "differences"
        );
        let mut sum = KindCount::default();
        for (kind, count) in &self.kinds {
            write_row(&mut text, kind, *count);
            sum.all += count.all;
            sum.accepted += count.accepted;
            sum.refused += count.refused;
            sum.differences += count.differences;
        }
        write_row(&mut text, "all", sum);
        let agreements = sum.accepted + sum.refused;
        let share = 100.0 * agreements as f64 / sum.all.max(1) as f64;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "equal verdicts: {agreements} of {} ({share:.2} %)",
            sum.all
        );
        let mut differences: Vec<_> = self.differences.iter().collect();
        differences.sort_by_key(|(_, seeds)| std::cmp::Reverse(seeds.len()));
        for (message, seeds) in differences {
            let mut seeds = seeds.clone();
            seeds.sort_unstable();
            let named: Vec<String> = seeds.iter().take(NAMED).map(u64::to_string).collect();
            let _ = writeln!(text, "{:5}  {message}  ({})", seeds.len(), named.join(", "));
        }
        text
    }
}

fn write_row(text: &mut String, kind: &str, count: KindCount) {
    let KindCount {
        all,
        accepted,
        refused,
        differences,
    } = count;
    let _ = writeln!(
        text,
        "{kind:24}{all:>8}{accepted:>10}{refused:>10}{differences:>12}"
    );
}
