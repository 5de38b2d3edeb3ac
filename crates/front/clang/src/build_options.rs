//! Build options: those of `clBuildProgram`, `clCompileProgram` and `clLinkProgram` (OpenCL specification, section 5.8.6).

use crate::error::ClangError;

/// Options of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Options of Clang.
    pub clang: Vec<String>,
    /// Whether linking makes a library.
    pub creates_library: bool,
    /// Whether workgroups divide the size of each launch by the option that says so.
    pub has_uniform_groups: bool,
    /// Whether sources are of OpenCL C 1, in which workgroups always divide the size of a launch.
    pub is_first_version: bool,
    /// Whether the optimisers of the devices run.
    pub is_optimised: bool,
}

/// Options that take their value from the next word, or from the rest of theirs.
const WITH_VALUE: &[&str] = &["-D", "-I"];

/// Options that Clang takes as they are.
const FOR_CLANG: &[&str] = &[
    "-w",
    "-Werror",
    "-g",
    "-cl-single-precision-constant",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    UNIFORM_GROUPS,
    "-cl-strict-aliasing",
];

/// Options that mean nothing here: Clang always makes the information that they ask for, or they state a fact about binaries.
const WITHOUT_EFFECT: &[&str] = &[
    "-cl-kernel-arg-info",
    "-enable-link-options",
    "-cl-no-subgroup-ifp",
    "-x",
    "spir",
    "-cl-intel-greater-than-4GB-buffer-required",
];

/// The option by which workgroups divide the size of each launch.
const UNIFORM_GROUPS: &str = "-cl-uniform-work-group-size";

/// The language versions in which they always do.
const FIRST_VERSIONS: &str = "-cl-std=CL1.";

/// The language version of sources that ask for none (OpenCL specification, section 5.8.6.5).
const DEFAULT_STANDARD: &str = "-cl-std=CL1.2";

/// Reads the options of a build. Words are separated by blanks; quotes and backslashes protect these.
///
/// # Errors
/// When an option is unknown or lacks its value.
pub fn parse_build_options(text: &str) -> Result<BuildOptions, ClangError> {
    let mut options = BuildOptions {
        is_optimised: true,
        ..BuildOptions::default()
    };
    let mut standard = DEFAULT_STANDARD.to_owned();
    let mut level = "-O2";
    let mut words = split_words(text).into_iter();
    while let Some(word) = words.next() {
        let unknown = || ClangError::Option {
            option: word.clone(),
        };
        let prefix = WITH_VALUE.iter().find(|prefix| word.starts_with(**prefix));
        if let Some(prefix) = prefix {
            let value = if word.len() == prefix.len() {
                words.next().ok_or_else(unknown)?
            } else {
                word[prefix.len()..].to_owned()
            };
            options.clang.push(format!("{prefix}{value}"));
        } else if word.starts_with("-cl-std=") {
            standard = word;
        } else if word == "-cl-opt-disable" || word == "-O0" {
            options.is_optimised = false;
            level = "-O0";
        } else if word == "-create-library" {
            options.creates_library = true;
        } else if FOR_CLANG.contains(&word.as_str()) {
            options.has_uniform_groups |= word == UNIFORM_GROUPS;
            options.clang.push(word);
        } else if !WITHOUT_EFFECT.contains(&word.as_str()) && !is_vendor_option(&word) {
            return Err(unknown());
        }
    }
    options.is_first_version = standard.starts_with(FIRST_VERSIONS);
    options.clang.push(standard);
    options.clang.push(level.to_owned());
    Ok(options)
}

/// Options of other vendors' drivers, which programs give to all of them.
fn is_vendor_option(word: &str) -> bool {
    let prefixes = [
        "-cl-nv-",
        "-cl-intel-",
        "-cl-amd-",
        "-spir-std=",
        "-O",
        "-cl-ext=",
    ];
    prefixes.iter().any(|prefix| word.starts_with(prefix))
}

/// The words of a text.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut is_word, mut quote) = (false, None);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => {
                let next = characters.peek().copied();
                let protected =
                    next.filter(|n| n.is_whitespace() || matches!(n, '"' | '\'' | '\\'));
                if protected.is_some() {
                    characters.next();
                }
                word.push(protected.unwrap_or('\\'));
                is_word = true;
            }
            ('"' | '\'', None) => (quote, is_word) = (Some(character), true),
            (c, Some(end)) if c == end => quote = None,
            (c, None) if c.is_whitespace() => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            (c, _) => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_sorted_by_reader() {
        let parsed = parse_build_options(
            "-D N=3 -DTEXT=\"a b\" -I inc -cl-std=CL2.0 -create-library -Werror",
        );
        let parsed = parsed.expect("they are known");
        let clang = [
            "-DN=3",
            "-DTEXT=a b",
            "-Iinc",
            "-Werror",
            "-cl-std=CL2.0",
            "-O2",
        ];
        assert_eq!(parsed.clang, clang);
        assert!(parsed.creates_library);
        let parsed = parse_build_options("-cl-opt-disable").expect("it is known");
        assert_eq!(parsed.clang, ["-cl-std=CL1.2", "-O0"]);
        assert!(!parsed.is_optimised);
    }

    #[test]
    fn groups_are_uniform_by_version_or_option() {
        for (text, first, uniform) in [
            ("", true, false),
            ("-cl-std=CL1.1", true, false),
            ("-cl-std=CL1.2 -cl-uniform-work-group-size", true, true),
            ("-cl-std=CL2.0", false, false),
            ("-cl-uniform-work-group-size -cl-std=CL3.0", false, true),
            ("-cl-std=CLC++2021", false, false),
        ] {
            let parsed = parse_build_options(text).expect("they are known");
            let found = [parsed.is_first_version, parsed.has_uniform_groups];
            assert_eq!(found, [first, uniform], "{text}");
        }
    }

    #[test]
    fn unknown_options_are_named() {
        for text in ["-cl-no-such-option", "-D", "file.cl"] {
            let error = parse_build_options(text)
                .expect_err("it is unknown")
                .to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
