//! The rule of commits: a subject is `area: verb object`, of at most 72 characters.

use std::path::Path;
use std::process::Command;

/// The last commit before the rule.
const LAST_BEFORE_RULE: &str = "f26b07bc5f9778282c0b2ec424511a2d08bd99b9";

/// Most characters of a subject.
const MOST_CHARACTERS: usize = 72;

/// Checks the subjects of all commits since the rule. Without that part of the history nothing is checked.
pub fn check_commit_subjects(root: &Path, breaches: &mut Vec<String>) {
    let range = format!("{LAST_BEFORE_RULE}..HEAD");
    let log = Command::new("git")
        .args(["log", "--no-merges", "--format=%h %s", &range])
        .current_dir(root)
        .output();
    let Some(log) = log.ok().filter(|log| log.status.success()) else {
        return;
    };
    for line in String::from_utf8_lossy(&log.stdout).lines() {
        let (commit, subject) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(fault) = find_fault(subject) {
            breaches.push(format!("commit {commit}: {fault}: {subject}"));
        }
    }
}

/// The first fault of a subject.
fn find_fault(subject: &str) -> Option<&'static str> {
    let is_area = |area: &str| {
        !area.is_empty()
            && area
                .chars()
                .all(|c| c.is_ascii_lowercase() || "-/, ".contains(c))
    };
    let Some((area, action)) = subject.split_once(": ").filter(|(area, _)| is_area(area)) else {
        return Some("the subject is not `area: verb object`");
    };
    if area.len() > 40
        || !action.starts_with(|c: char| c.is_ascii_lowercase())
        || !action.contains(' ')
    {
        return Some("the subject is not `area: verb object`");
    }
    if subject.chars().count() > MOST_CHARACTERS {
        return Some("the subject has more than 72 characters");
    }
    subject
        .ends_with('.')
        .then_some("the subject ends with a full stop")
}

#[cfg(test)]
mod tests {
    use super::find_fault;

    #[test]
    fn subjects_have_an_area_and_a_verb() {
        assert_eq!(
            find_fault("runtime/vulkan: fix replay of the wrong batch"),
            None
        );
        assert_eq!(find_fault("cpu, runtime: share the queue"), None);
        for subject in [
            "Fix it",
            "cpu: Fix it",
            "cpu: fix",
            "cpu fix it",
            ": fix it",
            "cpu: fix it.",
        ] {
            assert!(find_fault(subject).is_some(), "{subject}");
        }
        assert!(find_fault(&format!("cpu: fix {}", "x".repeat(72))).is_some());
    }
}
