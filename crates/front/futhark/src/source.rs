//! Files of a program: the main file, what it imports, and the prelude.

use crate::syntax::parse_partial_file;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{SourceName, SourceNameId, SyntaxTree};
use crate::typed::{FileId, ProgramPlace};
use crate::typed_text::is_typed_text;
use rustc_hash::FxHashMap;
use spirula_diagnostics::{ColumnUnit, LineColumn, find_line_column};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::{EntityArena, StringInterner};

/// The files of the prelude, each with its path and text.
const PRELUDE: &[(&str, &str)] = &[
    (
        "/prelude/intrinsics",
        include_str!("../prelude/intrinsics.fut"),
    ),
    (
        "/prelude/functional",
        include_str!("../prelude/functional.fut"),
    ),
    ("/prelude/math", include_str!("../prelude/math.fut")),
    ("/prelude/array", include_str!("../prelude/array.fut")),
    ("/prelude/soacs", include_str!("../prelude/soacs.fut")),
    ("/prelude/ad", include_str!("../prelude/ad.fut")),
    ("/prelude/prelude", include_str!("../prelude/prelude.fut")),
];

/// A file of a program.
#[derive(Debug)]
pub struct ProgramFile {
    /// Its path as it is shown: that of the main file, or relative to it, or `/prelude/…`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its syntax.
    pub tree: SyntaxTree,
}

/// The files of a program.
#[derive(Debug)]
pub struct SourceFiles {
    /// All files. A file stands after those that it imports.
    pub files: EntityArena<FileId, ProgramFile>,
    /// All names of all files.
    pub names: StringInterner<SourceNameId>,
    /// The file that an import of a file leads to.
    pub imports: FxHashMap<(FileId, SourceNameId), FileId>,
    /// The types of the functions that the prelude takes from the compiler.
    pub intrinsics: FileId,
    /// Names in scope everywhere.
    pub prelude: FileId,
    /// The main file.
    pub main: FileId,
}

impl SourceFiles {
    /// Whether the main file is the text of typed source, for which the prelude is not in scope.
    pub fn is_typed_text(&self) -> bool {
        is_typed_text(&self.files[self.main].text)
    }

    /// Line and column of a place for messages, with the file if it is not the main one.
    pub fn describe_place(&self, place: ProgramPlace) -> String {
        let file = &self.files[place.file];
        let start = place.range.start as usize;
        let LineColumn { line, column } =
            find_line_column(file.text.as_bytes(), start, ColumnUnit::Character);
        if place.file == self.main {
            format!("line {line}, column {column}")
        } else {
            format!("{}:{line}:{column}", file.name)
        }
    }
}

/// A file with faults.
#[derive(Clone, Debug)]
pub struct FaultyFile {
    /// Its name.
    pub name: String,
    /// Its text. Empty if it could not be read.
    pub text: String,
    /// Its faults, at least one.
    pub faults: Vec<SourceDiagnostic>,
    /// Whether declarations of it could not be parsed.
    pub lacks_declarations: bool,
}

/// Reads a program. `read` gives the text of a file by its path, or a message.
///
/// # Errors
///
/// The first file that cannot be read or parsed, with all its faults.
pub fn read_program(
    main: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<SourceFiles, FaultyFile> {
    ProgramReader::new(read)
        .read_files(main)
        .map(|(files, _)| files)
}

/// Reads a program as [`read_program`] does, as far as possible. Declarations that cannot be parsed are left out, and so
/// are imports of files that cannot be read. The second part of the result has their faults.
///
/// # Errors
///
/// The main file cannot be read.
pub fn read_partial_program(
    main: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<(SourceFiles, Vec<FaultyFile>), FaultyFile> {
    let mut reader = ProgramReader::new(read);
    reader.tolerated = Some(Vec::new());
    reader.read_files(main)
}

/// The import that asks for a file.
#[derive(Clone, Copy)]
struct ImportRequest<'a> {
    name: &'a str,
    text: &'a str,
    range: TextRange,
}

impl ImportRequest<'_> {
    /// A fault of the file with the import.
    fn fail(self, message: String) -> FaultyFile {
        let place =
            SourceLocation::from_text_range(self.range.start as usize, self.range.end as usize);
        FaultyFile {
            name: self.name.to_owned(),
            text: self.text.to_owned(),
            faults: vec![SourceDiagnostic::error(place, message)],
            lacks_declarations: false,
        }
    }
}

/// State of the reader.
struct ProgramReader<'a> {
    read: &'a mut dyn FnMut(&str) -> Result<String, String>,
    files: EntityArena<FileId, ProgramFile>,
    names: StringInterner<SourceNameId>,
    imports: FxHashMap<(FileId, SourceNameId), FileId>,
    /// The files that are read, by their paths without ending.
    done: FxHashMap<String, FileId>,
    /// The files whose imports are being read.
    open: Vec<String>,
    /// The files with faults so far. None if a fault ends the reading.
    tolerated: Option<Vec<FaultyFile>>,
}

impl<'a> ProgramReader<'a> {
    fn new(read: &'a mut dyn FnMut(&str) -> Result<String, String>) -> Self {
        ProgramReader {
            read,
            files: EntityArena::default(),
            names: StringInterner::default(),
            imports: FxHashMap::default(),
            done: FxHashMap::default(),
            open: Vec::new(),
            tolerated: None,
        }
    }

    /// Reads the prelude, the main file and all that these import.
    fn read_files(mut self, main: &str) -> Result<(SourceFiles, Vec<FaultyFile>), FaultyFile> {
        let intrinsics = self.load("/prelude/intrinsics", None)?;
        let prelude = self.load("/prelude/prelude", None)?;
        let main = self.load(main.strip_suffix(".fut").unwrap_or(main), None)?;
        let files = SourceFiles {
            files: self.files,
            names: self.names,
            imports: self.imports,
            intrinsics,
            prelude,
            main,
        };
        Ok((files, self.tolerated.unwrap_or_default()))
    }

    /// Keeps the faults of a file, if reading goes on after them.
    fn tolerate(&mut self, faulty: FaultyFile) -> Result<(), FaultyFile> {
        match &mut self.tolerated {
            Some(tolerated) => {
                tolerated.push(faulty);
                Ok(())
            }
            None => Err(faulty),
        }
    }

    /// Loads a file and all that it imports. The path has no ending.
    fn load(
        &mut self,
        path: &str,
        request: Option<ImportRequest<'_>>,
    ) -> Result<FileId, FaultyFile> {
        if let Some(&id) = self.done.get(path) {
            return Ok(id);
        }
        let fail = |message: String, name: &str| match request {
            Some(request) => request.fail(message),
            None => FaultyFile {
                name: name.to_owned(),
                text: String::new(),
                faults: vec![SourceDiagnostic::error(SourceLocation::Unknown, message)],
                lacks_declarations: false,
            },
        };
        let name = format!("{path}.fut");
        if self.open.iter().any(|other| other == path) {
            let chain = self.open.join(" imports ");
            return Err(fail(
                format!("the file imports itself: {chain} imports {path}"),
                &name,
            ));
        }
        let text = match PRELUDE.iter().find(|(other, _)| *other == path) {
            Some((_, text)) => (*text).to_owned(),
            None => (self.read)(&name)
                .map_err(|reason| fail(format!("cannot read `{name}`: {reason}"), &name))?,
        };
        let (tree, faults) = parse_partial_file(&text, &mut self.names);
        if !faults.is_empty() {
            self.tolerate(FaultyFile {
                name: name.clone(),
                text: text.clone(),
                faults,
                lacks_declarations: true,
            })?;
        }
        self.open.push(path.to_owned());
        let mut imported = Vec::new();
        for import in &tree.imports {
            match self.load_import(path, &name, &text, *import) {
                Ok(file) => imported.push((import.name, file)),
                Err(faulty) => self.tolerate(faulty)?,
            }
        }
        self.open.pop();
        let id = self.files.push(ProgramFile { name, text, tree });
        for (import, file) in imported {
            self.imports.insert((id, import), file);
        }
        self.done.insert(path.to_owned(), id);
        Ok(id)
    }

    /// Loads what a file imports.
    fn load_import(
        &mut self,
        path: &str,
        name: &str,
        text: &str,
        import: SourceName,
    ) -> Result<FileId, FaultyFile> {
        let target = self.names[import.name].to_owned();
        let request = ImportRequest {
            name,
            text,
            range: import.range,
        };
        self.load(&resolve_path(path, &target), Some(request))
    }
}

/// The path of an imported file, without its ending, relative to what the path of the importing file is relative to.
fn resolve_path(importer: &str, target: &str) -> String {
    if target.starts_with('/') {
        return target.to_owned();
    }
    let folder = importer.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_absolute = importer.starts_with('/');
    let mut parts: Vec<&str> = folder
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if is_absolute {
        format!("/{joined}")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::resolve_path;

    #[test]
    fn imports_are_relative_to_their_file() {
        assert_eq!(resolve_path("main", "lib/a"), "lib/a");
        assert_eq!(resolve_path("x/y/main", "../lib/a"), "x/lib/a");
        assert_eq!(resolve_path("/x/main", "a"), "/x/a");
        assert_eq!(resolve_path("x/main", "../../a"), "../a");
        assert_eq!(resolve_path("x/main", "/prelude/soacs"), "/prelude/soacs");
    }
}
