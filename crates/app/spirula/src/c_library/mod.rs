//! C interfaces of Futhark programs, in the form of Futhark's generated libraries.
//!
//! An interface is a header with a structure and functions for each type, and a source in which each function is a few lines
//! that call the library `spirula_futhark_c`. The source embeds the compiled program. The manifest describes the interface
//! to generators of bindings. Sources: Futhark's manual, "C API Reference", and its `manifest.schema.json`.
//!
//! - `names`: names of C.
//! - `function`: functions, and the types of their parameters.
//! - `array`, `opaque`, `entry`: the functions of each kind of type, and of entry points.
//! - `header`, `source`, `manifest`: the three files.

mod array;
mod entry;
mod function;
mod header;
mod manifest;
mod names;
mod opaque;
mod source;

use function::{ApiFunction, ApiTypes};
use spirula_futhark::export::ProgramExports;
use spirula_program::{ProgramParameter, SizeClass};

/// The files of a C interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CLibraryFiles {
    /// The header.
    pub header: String,
    /// The source.
    pub source: String,
    /// The manifest.
    pub manifest: String,
}

/// The parts that a C interface is made of.
#[derive(Clone, Copy, Debug)]
pub struct CLibraryParts<'a> {
    /// The name of the files, without extension.
    pub name: &'a str,
    /// The entry points and their types.
    pub exports: &'a ProgramExports,
    /// The archive of the program for a processor.
    pub processor: Option<&'a [u8]>,
    /// The archive of the program for graphics devices.
    pub graphics: Option<&'a [u8]>,
    /// The tuning parameters.
    pub parameters: &'a [ProgramParameter],
}

/// Generates the files of a C interface.
pub fn generate_c_library(parts: &CLibraryParts<'_>) -> CLibraryFiles {
    let types = ApiTypes::new(parts.exports);
    let functions = ApiSections {
        arrays: array::make_functions(&types),
        opaques: opaque::make_functions(&types),
        entries: entry::make_functions(&types, parts.exports),
    };
    CLibraryFiles {
        header: header::write_header(&types, &functions),
        source: source::write_source(parts, &functions),
        manifest: manifest::write_manifest(parts, &types),
    }
}

/// The functions of an interface that depend on the program.
struct ApiSections {
    arrays: Vec<ApiFunction>,
    opaques: Vec<ApiFunction>,
    entries: Vec<ApiFunction>,
}

/// The name of a parameter's class. Thresholds with a default have none of their own.
fn class_name(class: &SizeClass) -> &str {
    class.name().unwrap_or("threshold")
}
