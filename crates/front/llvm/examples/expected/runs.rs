//! RUN lines: which text of a translation a test checks, and with which prefixes.

use spirula_llvm::{AllowedExtensions, DebugInfo, PointerTyping, TranslationOptions};
use spirula_spirv::target::SpirvTarget;
use std::collections::HashMap;

/// The text form of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingForm {
    /// Numbers of words, names without `Op`, numbers for most enumerants: Khronos' translator.
    Internal,
    /// Assembly with numbers for ids: LLVM's backend, and the disassembler with `--raw-id`.
    Raw,
    /// Assembly with names for ids.
    Friendly,
}

/// One check of a translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// The text that is checked.
    pub form: ListingForm,
    /// The translator's options.
    pub flags: Vec<String>,
    /// Prefixes of the expectations.
    pub prefixes: Vec<String>,
}

impl CheckRun {
    /// The options of the line that Spirula has. These are extensions (none if the line names none,
    /// as with both tools), the form of debug information, untyped pointers if their extension is
    /// named, the version, and imported functions.
    pub fn to_options(&self) -> TranslationOptions {
        let mut options = TranslationOptions {
            extensions: AllowedExtensions::Only(Vec::new()),
            ..TranslationOptions::default()
        };
        for flag in &self.flags {
            let flag = flag.trim_start_matches('-');
            let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
            let value = value.trim_matches('"');
            match name {
                "spirv-ext" => {
                    let Ok(extensions) = value.parse::<AllowedExtensions>();
                    if extensions.is_named("SPV_KHR_untyped_pointers") {
                        options.pointers = PointerTyping::Untyped;
                    }
                    options.extensions = extensions;
                }
                "spirv-debug-info-version" if value == "nonsemantic-shader-200" => {
                    options.debug = DebugInfo::NonSemantic200;
                }
                "spirv-debug-info-version" if value.starts_with("nonsemantic") => {
                    options.debug = DebugInfo::NonSemantic;
                }
                "spv-emit-nonsemantic-debug-info" => options.debug = DebugInfo::NonSemantic,
                "spirv-max-version" => options.target = parse_version(value),
                "mtriple" => options.target = parse_triple_version(value),
                "spirv-allow-unknown-intrinsics" | "spv-allow-unknown-intrinsics" => {
                    let prefixes = match value {
                        "" => "llvm.",
                        named => named,
                    };
                    options.imported = prefixes.split(',').map(str::to_owned).collect();
                }
                _ => {}
            }
        }
        // A request for a form of debug information implies its extension.
        if let (
            DebugInfo::NonSemantic | DebugInfo::NonSemantic200,
            AllowedExtensions::Only(names),
        ) = (options.debug, &mut options.extensions)
        {
            names.push("SPV_KHR_non_semantic_info".to_owned());
        }
        options
    }
}

/// The target of a version such as `1.4`.
fn parse_version(text: &str) -> Option<SpirvTarget> {
    format!("spv{text}").parse().ok()
}

/// The target after the family in a triple, as in `spirv64v1.4-unknown-unknown`.
fn parse_triple_version(triple: &str) -> Option<SpirvTarget> {
    let (_, rest) = triple.split_once('v')?;
    // The first `v` belongs to the family's name.
    let (_, rest) = rest.split_once('v')?;
    parse_version(rest.split('-').next()?)
}

/// The content of a file or a pipe.
#[derive(Clone, Debug)]
enum PipeContent {
    Source,
    Binary(Vec<String>),
    Text(ListingForm, Vec<String>),
    Other,
}

/// The checks of translations to SPIR-V that a test requests, in its order.
pub fn find_runs(test: &str) -> Vec<CheckRun> {
    let mut held: HashMap<String, PipeContent> = HashMap::new();
    held.insert("%s".to_owned(), PipeContent::Source);
    let mut found = Vec::new();
    for line in parse_run_commands(test) {
        let mut piped = None;
        for command in line.split('|') {
            piped = trace_command(command, piped, &mut held, &mut found);
        }
    }
    found
}

/// The RUN lines, with continued lines joined and conditions removed.
fn parse_run_commands(test: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in test.lines() {
        let Some((_, command)) = line.split_once("RUN:") else {
            continue;
        };
        let command = command.trim();
        let (part, more) = match command.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (command, false),
        };
        match lines.last_mut() {
            Some(last) if goes_on => {
                last.push(' ');
                last.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
        goes_on = more;
    }
    lines
        .into_iter()
        .filter(|line| !line.contains("%if spirv-backend") && !line.contains("%if spirv-tools"))
        .map(|line| line.replace("%if spirv-dis %{", "").replace("%}", ""))
        .collect()
}

/// Traces one command: the content that it writes to the pipe.
fn trace_command(
    command: &str,
    piped: Option<PipeContent>,
    held: &mut HashMap<String, PipeContent>,
    found: &mut Vec<CheckRun>,
) -> Option<PipeContent> {
    let mixed = command.contains("2>");
    let command = command
        .replace("2>&1", "")
        .replace('<', " < ")
        .replace("->", "-")
        .replace('>', " > ");
    let words: Vec<&str> = command.split_whitespace().collect();
    let (&program, rest) = words.split_first()?;
    let parsed = CommandWords::parse_words(rest);
    if program == "FileCheck" {
        let checked = match &parsed.checked {
            Some(file) => held.get(file.as_str()).cloned(),
            None => piped,
        };
        if let Some(PipeContent::Text(form, flags)) = checked {
            let prefixes = parsed.prefixes;
            found.push(CheckRun {
                form,
                flags,
                prefixes,
            });
        }
        return None;
    }
    let input = match (&parsed.input, piped) {
        (Some(name), _) if name != "-" => held
            .get(name.as_str())
            .cloned()
            .unwrap_or(PipeContent::Other),
        (_, Some(piped)) => piped,
        _ => PipeContent::Other,
    };
    let has = |names: &[&str]| {
        rest.iter()
            .any(|w| names.contains(&w.trim_start_matches('-')))
    };
    let flags = || parsed.flags.clone();
    let result = match (program, input) {
        ("llvm-as", PipeContent::Source) => PipeContent::Source,
        ("llvm-spirv", PipeContent::Source) if has(&["spirv-text"]) => {
            PipeContent::Text(ListingForm::Internal, flags())
        }
        ("llvm-spirv", PipeContent::Source) if !has(&["r", "s"]) => PipeContent::Binary(flags()),
        ("llvm-spirv", PipeContent::Binary(flags)) if has(&["to-text"]) => {
            PipeContent::Text(ListingForm::Internal, flags)
        }
        ("spirv-dis", PipeContent::Binary(flags)) if has(&["raw-id"]) => {
            PipeContent::Text(ListingForm::Raw, flags)
        }
        ("spirv-dis", PipeContent::Binary(flags)) => {
            PipeContent::Text(ListingForm::Friendly, flags)
        }
        ("llc", PipeContent::Source) if rest.iter().any(|w| w.contains("print-after")) => {
            PipeContent::Other
        }
        ("llc", PipeContent::Source) if has(&["filetype=obj"]) => PipeContent::Binary(flags()),
        ("llc", PipeContent::Source) => PipeContent::Text(ListingForm::Raw, flags()),
        _ => PipeContent::Other,
    };
    let result = if mixed { PipeContent::Other } else { result };
    match parsed.output {
        Some(name) if name != "-" => {
            held.insert(name, result);
            None
        }
        _ => Some(result),
    }
}

/// The words of a command, classified.
#[derive(Default)]
struct CommandWords {
    input: Option<String>,
    output: Option<String>,
    checked: Option<String>,
    flags: Vec<String>,
    prefixes: Vec<String>,
}

impl CommandWords {
    fn parse_words(words: &[&str]) -> CommandWords {
        let mut parsed = CommandWords::default();
        let mut words = words.iter().copied();
        let text = |word: Option<&str>| word.map(str::to_owned);
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            match name.trim_start_matches('-') {
                "o" if word.starts_with("-o") => parsed.output = text(words.next()),
                ">" => parsed.output = text(words.next()),
                "<" => {
                    let file = text(words.next());
                    parsed.checked.clone_from(&file);
                    parsed.input = file;
                }
                "input-file" => parsed.checked = text(value.or_else(|| words.next())),
                "check-prefix" | "check-prefixes" => {
                    let names = value.or_else(|| words.next()).unwrap_or_default();
                    parsed.prefixes.extend(names.split(',').map(str::to_owned));
                }
                _ if word.starts_with('-') && word != "-" => parsed.flags.push(word.to_owned()),
                _ => parsed.input = parsed.input.or(text(Some(word))),
            }
        }
        if parsed.prefixes.is_empty() {
            parsed.prefixes.push("CHECK".to_owned());
        }
        parsed
    }
}
