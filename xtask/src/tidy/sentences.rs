//! The rule of sentences: the thing is the subject, so no sentence of a comment or a document begins with a word such as "What".

use super::source::SourceFile;

/// Words that make a clause the subject.
const WORDS: &[&str] = &["What", "Whoever"];
/// Marks of comments, lists and headings, which stand before sentences.
const MARKS: &[char] = &['/', '!', '-', '#', '*', ' ', '\t'];

/// Reports such sentences in the comments of sources.
pub fn check_comments(files: &[SourceFile], breaches: &mut Vec<String>) {
    for file in files {
        let comments = file.text.lines().enumerate();
        let comments = comments.filter(|(_, line)| line.trim_start().starts_with("//"));
        check_lines(&file.name, comments, breaches);
    }
}

/// Reports such sentences in a document. Questions are left alone.
pub fn check_sentences(name: &str, text: &str, breaches: &mut Vec<String>) {
    check_lines(name, text.lines().enumerate(), breaches);
}

fn check_lines<'a>(
    name: &str,
    lines: impl Iterator<Item = (usize, &'a str)>,
    breaches: &mut Vec<String>,
) {
    for (at, line) in lines {
        if let Some(word) = find_clause(line) {
            let line = at + 1;
            breaches.push(format!("{name}:{line}: a sentence begins with \"{word}\""));
        }
    }
}

/// The first word of a sentence of a line, if it is one of [`WORDS`]. Lines that are begun by an earlier sentence are its
/// continuation: only a capital tells, and `What` in the middle of a sentence has none.
fn find_clause(line: &str) -> Option<&'static str> {
    if line.trim_end().ends_with('?') {
        return None;
    }
    let line = line.trim_start_matches(MARKS);
    let mut sentences = std::iter::once(line).chain(line.split(". ").skip(1));
    sentences.find_map(|sentence| {
        let first = sentence.split(' ').next();
        WORDS.iter().copied().find(|word| first == Some(*word))
    })
}

#[cfg(test)]
mod tests {
    use super::find_clause;

    #[test]
    fn clauses_are_found_at_the_beginning_of_sentences() {
        for line in [
            "/// What is known.",
            "- What is left: sorts",
            "One. What made it",
            "    // Whoever asks",
        ] {
            assert!(find_clause(line).is_some(), "{line}");
        }
        for line in [
            "/// The facts.",
            "and what is known",
            "// What is it?",
            "| What it is |",
            "Whatever it is",
        ] {
            assert!(find_clause(line).is_none(), "{line}");
        }
    }
}
