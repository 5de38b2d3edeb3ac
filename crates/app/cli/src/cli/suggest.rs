//! Suggestions for words that name no command.

use spirula_diagnostics::find_nearest;

/// Words that other tools use, and the commands that do the same.
const SYNONYMS: &[(&str, &str)] = &[
    ("assemble", "as"),
    ("benchmark", "bench"),
    ("build", "compile"),
    ("disasm", "dis"),
    ("disassemble", "dis"),
    ("exec", "run"),
    ("execute", "run"),
    ("format", "fmt"),
    ("graph", "cfg"),
    ("inspect", "info"),
    ("optimise", "opt"),
    ("optimize", "opt"),
    ("reflect", "info"),
    ("shrink", "reduce"),
    ("translate", "compile"),
    ("validate", "val"),
    ("verify", "val"),
];

/// The command that an unknown word probably means.
pub fn suggest_command<'a>(word: &str, commands: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == word);
    match synonym {
        Some((_, command)) => Some(command),
        None => find_nearest(word, commands),
    }
}
