//! Opaque type names: names of OpenCL's and SPIR-V's opaque types in all spellings of older
//! modules.

use crate::ir::LlvmType;

/// The access of an image whose name does not state it.
const UNKNOWN_ACCESS: u32 = u32::MAX;

/// Index of the access among the integer parameters of an image type: dimension, depth, arrayed,
/// multisampled, sampled, format, access.
const ACCESS: usize = 6;

/// An opaque type: the parameters of `target("NAME", TYPE, INTS…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpaqueTypeName {
    /// Name, such as `spirv.Image`.
    pub(super) name: String,
    /// Type parameter, if there is one.
    pub(super) ty: Option<LlvmType>,
    /// Integer parameters.
    pub(super) ints: Vec<u32>,
}

impl OpaqueTypeName {
    fn from_plain_name(name: &str) -> OpaqueTypeName {
        OpaqueTypeName {
            name: format!("spirv.{name}"),
            ty: None,
            ints: Vec::new(),
        }
    }

    /// Whether it is an image of unknown access.
    pub(super) fn is_open(&self) -> bool {
        self.ints.get(ACCESS) == Some(&UNKNOWN_ACCESS)
    }

    /// The same with an access, if it is an image of unknown access.
    pub(super) fn with_access(mut self, access: u32) -> OpaqueTypeName {
        if self.is_open() {
            self.ints[ACCESS] = access;
        }
        self
    }
}

/// OpenCL's names except those of images, without `_t` and underscores.
const OPENCL: &[(&str, &str, &[u32])] = &[
    ("sampler", "Sampler", &[]),
    ("event", "Event", &[]),
    ("clkevent", "DeviceEvent", &[]),
    ("queue", "Queue", &[]),
    ("reserveid", "ReserveId", &[]),
    ("pipe", "Pipe", &[0]),
    ("pipero", "Pipe", &[0]),
    ("pipewo", "Pipe", &[1]),
];

/// Dimensions of images.
const DIMENSIONS: &[(&str, u32)] = &[("image1d", 0), ("image2d", 1), ("image3d", 2)];

/// Access qualifiers, as suffixes of names and in metadata.
const QUALIFIERS: &[(&str, u32)] = &[
    ("ro", 0),
    ("wo", 1),
    ("rw", 2),
    ("read_only", 0),
    ("write_only", 1),
    ("read_write", 2),
];

/// The access of a qualifier.
pub(super) fn parse_access(qualifier: &str) -> Option<u32> {
    let qualifier = qualifier.trim_start_matches("__");
    QUALIFIERS.iter().find(|q| q.0 == qualifier).map(|q| q.1)
}

/// The opaque type of a name. The spellings are `opencl.image2d_ro_t` and
/// `spirv.Image._void_1_0_0_0_0_0_0` for structures, `ocl_image2d_ro` and
/// `__spirv_Image__void_1_0_0_0_0_0_0` in mangled names, and `image2d_t` in OpenCL C.
pub(super) fn parse_opaque_type(name: &str) -> Option<OpaqueTypeName> {
    if let Some(name) = name
        .strip_prefix("spirv.")
        .or_else(|| name.strip_prefix("__spirv_"))
    {
        return parse_friendly(name);
    }
    let name = name
        .strip_prefix("opencl.")
        .or_else(|| name.strip_prefix("ocl_"))
        .unwrap_or(name);
    let name = name.strip_suffix("_t").unwrap_or(name);
    if name.starts_with("image") {
        return parse_image(name);
    }
    let name = name.replace('_', "");
    let row = OPENCL.iter().find(|row| row.0 == name)?;
    Some(OpaqueTypeName {
        ints: row.2.to_vec(),
        ..OpaqueTypeName::from_plain_name(row.1)
    })
}

fn parse_image(name: &str) -> Option<OpaqueTypeName> {
    let mut parts = name.split('_');
    let base = parts.next()?;
    let dimension = DIMENSIONS.iter().find(|row| row.0 == base)?.1;
    let mut ints = vec![dimension, 0, 0, 0, 0, 0, UNKNOWN_ACCESS];
    for part in parts {
        match part {
            "buffer" => ints[0] = 5,
            "depth" => ints[1] = 1,
            "array" => ints[2] = 1,
            "msaa" => ints[3] = 1,
            _ => ints[ACCESS] = parse_access(part)?,
        }
    }
    Some(OpaqueTypeName {
        ty: Some(LlvmType::VOID),
        ints,
        ..OpaqueTypeName::from_plain_name("Image")
    })
}

/// Element types by their names within those of SPIR-V's opaque types.
const ELEMENTS: &[(&str, LlvmType)] = &[
    ("void", LlvmType::VOID),
    ("char", LlvmType::I8),
    ("uchar", LlvmType::I8),
    ("short", LlvmType::I16),
    ("ushort", LlvmType::I16),
    ("int", LlvmType::I32),
    ("uint", LlvmType::I32),
    ("long", LlvmType::I64),
    ("ulong", LlvmType::I64),
    ("half", LlvmType::HALF),
    ("float", LlvmType::FLOAT),
    ("double", LlvmType::DOUBLE),
];

/// Opaque types without parameters.
const PLAIN: &[&str] = &[
    "Sampler",
    "Event",
    "DeviceEvent",
    "Queue",
    "ReserveId",
    "PipeStorage",
];

/// `Image._void_1_0_0_0_0_0_0` or `Image__void_1_0_0_0_0_0_0`, `Pipe._0`, `Event`.
fn parse_friendly(name: &str) -> Option<OpaqueTypeName> {
    let (name, parameters) = match name.find("._").or_else(|| name.find("__")) {
        Some(at) => (&name[..at], &name[at + 2..]),
        None => (name, ""),
    };
    let known = match parameters {
        "" => PLAIN.contains(&name),
        _ => matches!(name, "Image" | "SampledImage" | "Pipe"),
    };
    if !known {
        return None;
    }
    let mut handle = OpaqueTypeName::from_plain_name(name);
    for part in parameters.split('_').filter(|part| !part.is_empty()) {
        match part.parse() {
            Ok(number) => handle.ints.push(number),
            Err(_) => handle.ty = Some(ELEMENTS.iter().find(|row| row.0 == part)?.1),
        }
    }
    Some(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show_opaque_type(name: &str) -> String {
        match parse_opaque_type(name) {
            Some(handle) => format!("{} {:?}", handle.name, handle.ints),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn all_spellings_are_one_type() {
        for name in [
            "opencl.image2d_array_wo_t",
            "ocl_image2d_array_wo",
            "spirv.Image._void_1_0_1_0_0_0_1",
            "__spirv_Image__void_1_0_1_0_0_0_1",
        ] {
            assert_eq!(
                show_opaque_type(name),
                "spirv.Image [1, 0, 1, 0, 0, 0, 1]",
                "{name}"
            );
        }
        assert_eq!(show_opaque_type("clk_event_t"), "spirv.DeviceEvent []");
        assert_eq!(show_opaque_type("ocl_clkevent"), "spirv.DeviceEvent []");
        assert_eq!(show_opaque_type("opencl.pipe_wo_t"), "spirv.Pipe [1]");
    }

    #[test]
    fn an_access_may_be_unknown() {
        let open = parse_opaque_type("ocl_image1d_buffer").expect("an image");
        assert!(open.is_open());
        assert_eq!(open.with_access(2).ints, [5, 0, 0, 0, 0, 0, 2]);
    }

    #[test]
    fn other_names_are_not_opaque_types() {
        for name in [
            "memory_order",
            "spirv.ConstantPipeStorage",
            "image4d_t",
            "ndrange_t",
            "",
        ] {
            assert_eq!(show_opaque_type(name), "none", "{name}");
        }
    }
}
