//! Expectation checker: compares texts with expectations by three measures.

use super::patterns::{Expectation, ExpectationKind, PatternBindings};
use super::runs::ListingForm;
use spirula_spirv::binary::InstructionStream;
use std::collections::HashSet;
use std::ops::Range;

/// Checks that the module has every instruction that an expected line names. Returns the first
/// expectation that fails.
pub fn find_missing_instruction<'e>(
    all: &'e [Expectation],
    words: &[u32],
    form: ListingForm,
) -> Option<&'e Expectation> {
    let insts = InstructionStream::new(words).flatten();
    let names: HashSet<&str> = insts
        .filter_map(|i| i.op.info())
        .map(|row| row.name)
        .collect();
    let mut positive = all.iter().filter(|e| e.is_positive());
    positive.find(|e| e.instruction_names(form).any(|name| !names.contains(name)))
}

/// Checks that every expected line occurs somewhere, for any ids and in any order. Returns the
/// first expectation that fails.
pub fn find_missing_line<'e>(all: &'e [Expectation], text: &str) -> Option<&'e Expectation> {
    let mut kinds = PatternBindings::new();
    for expectation in all {
        expectation.declare_bound_names(&mut kinds);
    }
    let lines: Vec<&str> = text.lines().collect();
    all.iter().filter(|e| e.is_positive()).find(|e| {
        let wanted = match e.kind {
            ExpectationKind::Count(count) => count,
            _ => 1,
        };
        let Some(regex) = e.build_loose_pattern(&kinds) else {
            return true;
        };
        lines
            .iter()
            .filter(|line| regex.is_match(line))
            .take(wanted)
            .count()
            < wanted
    })
}

/// Checks the expectations in their order and with their names, as FileCheck does. Returns the
/// first expectation that fails.
pub fn find_violated_expectation<'e>(
    all: &'e [Expectation],
    text: &str,
) -> Option<&'e Expectation> {
    let mut bound = PatternBindings::new();
    let mut at = 0;
    let mut begin = 0;
    let labels = all
        .iter()
        .enumerate()
        .filter(|(_, e)| e.kind == ExpectationKind::Label);
    for (number, label) in labels {
        let Some((start, end)) = label.find_match(&text[at..], &mut bound) else {
            return Some(label);
        };
        let (start, end) = (at + start, at + end);
        if let Some(fault) = match_section(&all[begin..number], text, at..start, &mut bound) {
            return Some(fault);
        }
        (begin, at) = (number + 1, end);
    }
    match_section(&all[begin..], text, at..text.len(), &mut bound)
}

/// Checks the expectations between two labels.
fn match_section<'e>(
    all: &'e [Expectation],
    text: &str,
    range: Range<usize>,
    bound: &mut PatternBindings,
) -> Option<&'e Expectation> {
    let (mut at, end) = (range.start, range.end);
    let mut nots: Vec<&Expectation> = Vec::new();
    let mut dags: Vec<Range<usize>> = Vec::new();
    for expectation in all
        .iter()
        .filter(|e| !e.text.is_empty() || e.kind == ExpectationKind::Empty)
    {
        if expectation.kind == ExpectationKind::Not {
            close_dag_group(&mut dags, &mut at);
            nots.push(expectation);
            continue;
        }
        if expectation.kind == ExpectationKind::Dag {
            let Some(place) = find_free_match(expectation, text, at..end, &dags, bound) else {
                return Some(expectation);
            };
            dags.push(place);
            continue;
        }
        close_dag_group(&mut dags, &mut at);
        if expectation.kind == ExpectationKind::Empty {
            match text[at..end].find('\n') {
                Some(line) if text[at + line + 1..].starts_with('\n') => at += line + 1,
                _ => return Some(expectation),
            }
            continue;
        }
        let count = match expectation.kind {
            ExpectationKind::Count(count) => count,
            _ => 1,
        };
        for _ in 0..count {
            let Some((start, stop)) = expectation.find_match(&text[at..end], bound) else {
                return Some(expectation);
            };
            let between = &text[at..at + start];
            let breaks = between.bytes().filter(|b| *b == b'\n').count();
            let placed = match expectation.kind {
                ExpectationKind::Next => breaks == 1,
                ExpectationKind::Same => breaks == 0,
                _ => true,
            };
            let not = nots
                .iter()
                .find(|n| n.find_match(between, &mut bound.clone()).is_some());
            if !placed || not.is_some() {
                return Some(not.copied().unwrap_or(expectation));
            }
            nots.clear();
            at += stop;
        }
    }
    close_dag_group(&mut dags, &mut at);
    let found = nots
        .iter()
        .find(|n| n.find_match(&text[at..end], &mut bound.clone()).is_some());
    found.copied()
}

/// Ends a group of unordered expectations.
fn close_dag_group(dags: &mut Vec<Range<usize>>, at: &mut usize) {
    *at = dags.drain(..).map(|d| d.end).fold(*at, usize::max);
}

/// The first match that no other expectation of the group uses.
fn find_free_match(
    expectation: &Expectation,
    text: &str,
    range: Range<usize>,
    taken: &[Range<usize>],
    bound: &mut PatternBindings,
) -> Option<Range<usize>> {
    let mut from = range.start;
    loop {
        let mut names = bound.clone();
        let (start, end) = expectation.find_match(&text[from..range.end], &mut names)?;
        let place = from + start..from + end;
        match taken
            .iter()
            .find(|t| place.start < t.end && t.start < place.end)
        {
            Some(other) => from = other.end,
            None => {
                *bound = names;
                return Some(place);
            }
        }
    }
}
