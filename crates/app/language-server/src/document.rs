//! Open files, and the analyses of the programs whose main files they are.

use crate::file_uri::read_file_uri;
use crate::protocol::{EditorPosition, EditorRange, RequestFault, TextChange};
use crate::text_position::LineIndex;
use spirula_futhark::query::{EditMap, SourceAnalysis, analyse_source};
use spirula_futhark::syntax::token::TextRange;
use spirula_futhark::typed::FileId;
use std::collections::BTreeMap;
use std::fs;

/// An open file.
pub(crate) struct OpenDocument {
    /// Its URI, as the editor writes it.
    pub(crate) uri: String,
    /// Its text in the editor.
    pub(crate) text: String,
    /// The analysis of its present text. None after a change.
    current: Option<SourceAnalysis>,
    /// The last analysis without faults of syntax, if the present text has some.
    last_good: Option<SourceAnalysis>,
}

/// The open files by their paths.
#[derive(Default)]
pub(crate) struct DocumentStore {
    documents: BTreeMap<String, OpenDocument>,
}

/// The analysis of an open file, whose text may have changed since.
pub(crate) struct DocumentView<'s> {
    /// The analysis.
    pub(crate) analysis: &'s SourceAnalysis,
    /// The file in it.
    pub(crate) file: FileId,
    /// Lines of the present text.
    pub(crate) lines: LineIndex<'s>,
    /// The present text.
    pub(crate) text: &'s str,
    map: EditMap,
}

/// The path of a file of the protocol.
///
/// # Errors
///
/// The URI is not that of a file.
pub(crate) fn find_path(uri: &str) -> Result<String, RequestFault> {
    read_file_uri(uri).ok_or_else(|| {
        let message = format!("`{uri}` is not the URI of a file");
        RequestFault::new(RequestFault::INVALID_PARAMS, message)
    })
}

impl DocumentStore {
    /// Opens a file.
    pub(crate) fn open(&mut self, uri: String, text: String) -> Result<(), RequestFault> {
        let path = find_path(&uri)?;
        let document = OpenDocument {
            uri,
            text,
            current: None,
            last_good: None,
        };
        self.documents.insert(path.clone(), document);
        self.forget_users(&path);
        Ok(())
    }

    /// Closes a file.
    pub(crate) fn close(&mut self, uri: &str) -> Result<(), RequestFault> {
        let path = find_path(uri)?;
        self.documents.remove(&path);
        self.forget_users(&path);
        Ok(())
    }

    /// Changes the text of an open file.
    pub(crate) fn change(
        &mut self,
        uri: &str,
        changes: Vec<TextChange>,
    ) -> Result<(), RequestFault> {
        let path = find_path(uri)?;
        if self.find_mut(&path)?.last_good.is_none() {
            // The text before the first change is often the last one that can be parsed for a while.
            self.analyse(&path);
        }
        let document = self.find_mut(&path)?;
        for change in changes {
            match change.range {
                None => document.text = change.text,
                Some(range) => {
                    let lines = LineIndex::new(&document.text);
                    let start = lines.find_byte(range.start);
                    let end = lines.find_byte(range.end).max(start);
                    document.text.replace_range(start..end, &change.text);
                }
            }
        }
        self.forget_users(&path);
        Ok(())
    }

    /// Forgets the analyses of all programs: files on disk may have changed.
    pub(crate) fn forget_all(&mut self) {
        for document in self.documents.values_mut() {
            document.forget();
        }
    }

    /// Forgets the analyses of programs with a file, and of those with faults, which may be about files that were missing.
    fn forget_users(&mut self, path: &str) {
        for (own_path, document) in &mut self.documents {
            let is_user = document.current.as_ref().is_some_and(|analysis| {
                analysis.has_syntax_faults() || analysis.find_file(path).is_some()
            });
            if own_path == path || is_user {
                document.forget();
            }
        }
    }

    /// Analyses the open files whose analyses were forgotten.
    pub(crate) fn analyse_all(&mut self) {
        let paths: Vec<String> = self.documents.keys().cloned().collect();
        for path in paths {
            self.analyse(&path);
        }
    }

    /// Analyses an open file, unless it was analysed since its last change.
    fn analyse(&mut self, path: &str) {
        let is_known = |document: &OpenDocument| document.current.is_some();
        if self.documents.get(path).is_none_or(is_known) {
            return;
        }
        let documents = &self.documents;
        let mut read = |file: &str| match documents.get(file) {
            Some(document) => Ok(document.text.clone()),
            None => fs::read_to_string(file).map_err(|fault| fault.to_string()),
        };
        let Ok(analysis) = analyse_source(path, &mut read) else {
            return;
        };
        if let Some(document) = self.documents.get_mut(path) {
            if !analysis.lacks_declarations() {
                document.last_good = None;
            }
            document.current = Some(analysis);
        }
    }

    /// The open files with their analyses.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&str, &OpenDocument)> {
        let documents = self.documents.iter();
        documents.map(|(path, document)| (path.as_str(), document))
    }

    fn find_mut(&mut self, path: &str) -> Result<&mut OpenDocument, RequestFault> {
        self.documents.get_mut(path).ok_or_else(|| {
            let message = format!("`{path}` is not open");
            RequestFault::new(RequestFault::INVALID_PARAMS, message)
        })
    }

    /// The text of an open file.
    pub(crate) fn find_text(&mut self, uri: &str) -> Result<&str, RequestFault> {
        let path = find_path(uri)?;
        Ok(&self.find_mut(&path)?.text)
    }

    /// The view of an open file.
    ///
    /// # Errors
    ///
    /// The file is not open.
    pub(crate) fn view(&mut self, uri: &str) -> Result<DocumentView<'_>, RequestFault> {
        let path = find_path(uri)?;
        self.find_mut(&path)?;
        self.analyse(&path);
        let document = self.find_mut(&path)?;
        let analysis = match (&document.current, &document.last_good) {
            (Some(current), Some(good)) if current.lacks_declarations() => Some(good),
            (current, good) => current.as_ref().or(good.as_ref()),
        };
        let Some(analysis) = analysis else {
            let message = "bug: an open file has no analysis";
            return Err(RequestFault::new(RequestFault::INTERNAL_ERROR, message));
        };
        let file = analysis.main_file();
        Ok(DocumentView {
            analysis,
            file,
            lines: LineIndex::new(&document.text),
            text: &document.text,
            map: EditMap::between(&analysis.file(file).text, &document.text),
        })
    }
}

impl OpenDocument {
    /// The analysis of the present text.
    pub(crate) fn current(&self) -> Option<&SourceAnalysis> {
        self.current.as_ref()
    }

    fn forget(&mut self) {
        if let Some(analysis) = self.current.take()
            && !analysis.lacks_declarations()
        {
            self.last_good = Some(analysis);
        }
    }
}

impl DocumentView<'_> {
    /// The byte of the analysed text at a position.
    pub(crate) fn find_byte(&self, position: EditorPosition) -> u32 {
        self.map.map_back(self.lines.find_byte(position)) as u32
    }

    /// The range of the present text for one of the analysed text. None if it was edited.
    pub(crate) fn find_range(&self, range: TextRange) -> Option<EditorRange> {
        let start = self.map.map_forward(range.start as usize)?;
        let end = self.map.map_forward(range.end as usize)?;
        (start <= end).then(|| EditorRange {
            start: self.lines.find_position(start),
            end: self.lines.find_position(end),
        })
    }
}
