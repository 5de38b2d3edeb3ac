//! Places of names: definitions, references and highlights.

use super::find_place;
use crate::document::DocumentView;
use crate::file_uri::write_file_uri;
use crate::protocol::{EditorLocation, PositionParams, RequestFault, read_params};
use crate::server::{EditorSession, ServerOptions};
use crate::text_position::LineIndex;
use serde_json::{Value, json};
use spirula_futhark::query::SourceAnalysis;
use spirula_futhark::typed::{FileId, ProgramPlace};
use std::fs;
use std::path::Path;

/// `textDocument/definition`.
pub(super) fn answer_definition(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let params: PositionParams = read_params(params)?;
    let uri = &params.text_document.uri;
    let view = session.documents.view(uri)?;
    let at = view.find_byte(params.position);
    let definition = view.analysis.find_definition(view.file, at);
    let location =
        definition.and_then(|(_, place)| locate_place(&view, uri, place, &session.options));
    Ok(json!(location))
}

/// `textDocument/references`: in the program whose main file is the one at hand, and in the programs of other open files.
pub(super) fn answer_references(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let params: PositionParams = read_params(params)?;
    let uri = &params.text_document.uri;
    let view = session.documents.view(uri)?;
    let at = view.find_byte(params.position);
    let definition = view.analysis.find_definition(view.file, at);
    let Some((_, definition)) = definition else {
        return Ok(json!([]));
    };
    let mut places = view.analysis.list_occurrences(definition);
    if !params.context.include_declaration {
        places.retain(|place| *place != definition);
    }
    let locations = places.into_iter();
    let locations = locations.filter_map(|place| locate_place(&view, uri, place, &session.options));
    let mut locations: Vec<Value> = locations.map(|location| json!(location)).collect();
    let name = view.analysis.file(definition.file).name.clone();
    session.documents.analyse_all();
    for (path, document) in session.documents.list() {
        let Some(analysis) = document.current() else {
            continue;
        };
        let Some(file) = analysis.find_file(&name) else {
            continue;
        };
        let place = ProgramPlace { file, ..definition };
        let own = analysis.list_occurrences(place).into_iter();
        // Other programs add the places in their main files.
        for place in own.filter(|place| place.file == analysis.main_file()) {
            let lines = LineIndex::new(&document.text);
            let location = EditorLocation {
                uri: document.uri.clone(),
                range: lines.find_range(place.range),
            };
            let location = json!(location);
            if !locations.contains(&location) && analysis.file(place.file).name == path {
                locations.push(location);
            }
        }
    }
    Ok(Value::Array(locations))
}

/// `textDocument/documentHighlight`: the places of a name in its file.
pub(super) fn answer_highlights(
    session: &mut EditorSession<'_>,
    params: Value,
) -> Result<Value, RequestFault> {
    let (view, at) = find_place(session, params)?;
    let places = view.analysis.list_references(view.file, at).into_iter();
    let own = places.filter(|place| place.file == view.file);
    let ranges = own.filter_map(|place| view.find_range(place.range));
    Ok(ranges
        .map(|range| json!({"range": range, "kind": 1}))
        .collect())
}

/// A place of a program for the editor. The file at hand has its present text.
pub(super) fn locate_place(
    view: &DocumentView<'_>,
    uri: &str,
    place: ProgramPlace,
    options: &ServerOptions,
) -> Option<EditorLocation> {
    if place.file == view.file {
        return Some(EditorLocation {
            uri: uri.to_owned(),
            range: view.find_range(place.range)?,
        });
    }
    let text = &view.analysis.file(place.file).text;
    Some(EditorLocation {
        uri: find_file_uri(view.analysis, place.file, options)?,
        range: LineIndex::new(text).find_range(place.range),
    })
}

/// The URI of a file of a program. A file of the prelude is written to the folder for it.
fn find_file_uri(
    analysis: &SourceAnalysis,
    file: FileId,
    options: &ServerOptions,
) -> Option<String> {
    let source = analysis.file(file);
    if !analysis.is_prelude(file) {
        return Some(write_file_uri(&source.name));
    }
    let folder = options.prelude_folder.as_ref()?;
    let path = folder.join(Path::new(&source.name).file_name()?);
    let is_same = fs::read_to_string(&path).is_ok_and(|text| text == source.text);
    if !is_same {
        fs::create_dir_all(folder).ok()?;
        fs::write(&path, &source.text).ok()?;
    }
    Some(write_file_uri(path.to_str()?))
}
