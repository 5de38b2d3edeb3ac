//! Directives of literate programs.

/// A directive with its parameters.
#[derive(Debug, PartialEq)]
pub struct LiterateDirective {
    /// How the result is shown.
    pub kind: DirectiveKind,
    /// Whether the directive is shown without its parameters.
    pub is_brief: bool,
    /// Whether only the result is shown.
    pub is_covert: bool,
    /// The expression, on one line.
    pub expression: String,
    /// The lines after the semicolon.
    parameters: Vec<String>,
}

/// How the result of a directive is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveKind {
    /// As text.
    Text,
    /// As a picture.
    Picture,
    /// As a film.
    Video,
    /// As lines in a plane.
    Plot,
    /// By a script of gnuplot.
    Gnuplot,
    /// As a sound.
    Sound,
}

/// A kind of directives: its word, and the names of its parameters.
struct DirectiveForm {
    word: &'static str,
    kind: DirectiveKind,
    parameters: &'static [&'static str],
}

/// All directives with a word.
const FORMS: &[DirectiveForm] = &[
    DirectiveForm {
        word: "img",
        kind: DirectiveKind::Picture,
        parameters: &["file"],
    },
    DirectiveForm {
        word: "video",
        kind: DirectiveKind::Video,
        parameters: &["fps", "loop", "repeat", "autoplay", "format", "file"],
    },
    DirectiveForm {
        word: "plot2d",
        kind: DirectiveKind::Plot,
        parameters: &["size"],
    },
    DirectiveForm {
        word: "gnuplot",
        kind: DirectiveKind::Gnuplot,
        parameters: &[],
    },
    DirectiveForm {
        word: "audio",
        kind: DirectiveKind::Sound,
        parameters: &["sampling_frequency", "codec"],
    },
];

impl LiterateDirective {
    /// Parses the lines of a directive, without the marks of the comments.
    ///
    /// # Errors
    /// The directive or a parameter is unknown.
    pub fn parse(text: &str) -> Result<LiterateDirective, String> {
        let mut rest = text.strip_prefix('>').unwrap_or(text).trim_start();
        let (mut is_brief, mut is_covert) = (false, false);
        let mut form = None;
        while let Some(named) = rest.strip_prefix(':') {
            let end = named.find(char::is_whitespace).unwrap_or(named.len());
            let (word, after) = named.split_at(end);
            rest = after.trim_start();
            match word {
                "brief" => is_brief = true,
                "covert" => is_covert = true,
                _ => {
                    let known = FORMS.iter().find(|form| form.word == word);
                    form = Some(known.ok_or_else(|| format!("there is no directive :{word}"))?);
                    break;
                }
            }
        }
        let (expression, parameters) = split_parameters(rest);
        let directive = LiterateDirective {
            kind: form.map_or(DirectiveKind::Text, |form| form.kind),
            is_brief,
            is_covert,
            expression: expression
                .lines()
                .map(str::trim)
                .collect::<Vec<_>>()
                .join(" "),
            parameters: parameters
                .lines()
                .map(|line| line.trim().to_owned())
                .collect(),
        };
        directive.check_parameters(form)?;
        Ok(directive)
    }

    fn check_parameters(&self, form: Option<&DirectiveForm>) -> Result<(), String> {
        if self.kind == DirectiveKind::Gnuplot {
            return Ok(());
        }
        for line in self.parameters.iter().filter(|line| !line.is_empty()) {
            let name = line.split(':').next().unwrap_or_default().trim();
            if !form.is_some_and(|form| form.parameters.contains(&name)) {
                return Err(format!("the directive has no parameter {name}"));
            }
        }
        match self.find_parameter("file") {
            Some(file) if file.contains(['/', '\\', ' ']) || file.starts_with('.') => {
                Err(format!("{file} is not the name of a file without a folder"))
            }
            _ => Ok(()),
        }
    }

    /// The text of a parameter.
    pub fn find_parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self
            .parameters
            .iter()
            .filter_map(|line| line.split_once(':'));
        let (_, text) = pairs.find(|(own, _)| own.trim() == name)?;
        Some(text.trim())
    }

    /// The number of a parameter.
    ///
    /// # Errors
    /// It is no number.
    pub fn find_number(&self, name: &str, default: u32) -> Result<u32, String> {
        match self.find_parameter(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| format!("{name}: {text} is not a number")),
        }
    }

    /// The two numbers of a parameter, `(width,height)`.
    ///
    /// # Errors
    /// It is no pair.
    pub fn find_pair(&self, name: &str, default: (u32, u32)) -> Result<(u32, u32), String> {
        let Some(text) = self.find_parameter(name) else {
            return Ok(default);
        };
        let inner = text
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let pair = inner.and_then(|inner| inner.split_once(','));
        let pair = pair.and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
        pair.ok_or_else(|| format!("{name}: {text} is not a pair of numbers"))
    }

    /// The lines after the semicolon.
    pub fn parameter_lines(&self) -> String {
        self.parameters.join("\n") + "\n"
    }

    /// The directive without parameters, as it is shown.
    pub fn brief_text(&self) -> String {
        let form = FORMS.iter().find(|form| form.kind == self.kind);
        match form {
            Some(form) => format!("> :{} {}", form.word, self.expression),
            None => format!("> {}", self.expression),
        }
    }
}

/// Splits a directive at the semicolon that ends its expression. Semicolons of strings do not count.
fn split_parameters(text: &str) -> (&str, &str) {
    let mut is_string = false;
    let end = text.find(|c: char| {
        is_string ^= c == '"';
        c == ';' && !is_string
    });
    match end {
        Some(end) => (&text[..end], text[end + 1..].trim_start()),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_have_expressions_and_parameters() {
        let text = "> :brief :video (f,\n  \";\") ;\nfps: 3\nformat: gif";
        let directive = LiterateDirective::parse(text).expect("a directive");
        assert_eq!(directive.kind, DirectiveKind::Video);
        assert!(directive.is_brief && !directive.is_covert);
        assert_eq!(directive.expression.trim(), "(f, \";\")");
        assert_eq!(directive.find_number("fps", 30), Ok(3));
        assert_eq!(directive.find_parameter("format"), Some("gif"));
        assert_eq!(directive.brief_text().trim_end(), "> :video (f, \";\")");
        let plot = LiterateDirective::parse("> :plot2d xs;\nsize: (10, 20)").expect("a directive");
        assert_eq!(plot.find_pair("size", (1, 1)), Ok((10, 20)));
    }

    #[test]
    fn malformed_directives_are_refused() {
        for text in [
            "> :picture x",
            "> x; y: 1",
            "> :img x;\nfile: ../x.png",
            "> :img x;\nfile: .x",
            "> :img x;\nsize: 1",
        ] {
            assert!(LiterateDirective::parse(text).is_err(), "{text}");
        }
    }
}
