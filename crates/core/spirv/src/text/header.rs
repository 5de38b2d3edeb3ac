//! Header comments: the header of a module as comment lines at the beginning of a text.

use crate::binary::SpirvHeader;
use crate::grammar::SpirvVersion;
use std::fmt::Write as _;

/// Names of the generators that Khronos has registered (`spir-v.xml`, section "generators"), by
/// number.
const GENERATORS: [&str; 52] = [
    "Khronos",
    "LunarG",
    "Valve",
    "Codeplay",
    "NVIDIA",
    "ARM",
    "Khronos LLVM/SPIR-V Translator",
    "Khronos SPIR-V Tools Assembler",
    "Khronos Glslang Reference Front End",
    "Qualcomm",
    "AMD",
    "Intel",
    "Imagination",
    "Google Shaderc over Glslang",
    "Google spiregg",
    "Google rspirv",
    "X-LEGEND Mesa3D GLSL-IR/SPIR-V Translator",
    "Khronos SPIR-V Tools Linker",
    "Wine VKD3D Shader Compiler",
    "Tellusim Clay Shader Compiler",
    "W3C WebGPU Group WHLSL Shader Translator",
    "Google Clspv",
    "LLVM MLIR SPIR-V Serializer",
    "Google Tint Compiler",
    "Google ANGLE Shader Compiler",
    "Netease Games Messiah Shader Compiler",
    "Xenia Xenia Emulator Microcode Translator",
    "Embark Studios Rust GPU Compiler Backend",
    "gfx-rs community Naga",
    "Mikkosoft Productions MSP Shader Compiler",
    "SpvGenTwo community SpvGenTwo SPIR-V IR Tools",
    "Google Skia SkSL",
    "TornadoVM Beehive SPIRV Toolkit",
    "DragonJoker ShaderWriter",
    "Rayan Hatout SPIRVSmith",
    "Saarland University Shady",
    "Taichi Graphics Taichi",
    "heroseh Hero C Compiler",
    "Meta SparkSL",
    "SirLynix Nazara ShaderLang Compiler",
    "Khronos Slang Compiler",
    "Zig Software Foundation Zig Compiler",
    "Rendong Liang spq",
    "LLVM LLVM SPIR-V Backend",
    "Robert Konrad Kongruent",
    "Kitsunebi Games Nuvk SPIR-V Emitter and DLSL compiler",
    "Nintendo",
    "ARM",
    "Goopax",
    "Icyllis Milica Arc3D Shader Compiler",
    "Isochron Pred",
    "apilatosba Apila Jai Compiler",
];

/// The second number that Arm registered; its name is that of the first.
const SECOND_ARM: u32 = 47;

/// Writes the comment. A generator whose name would be read back as another is written as a number.
pub fn print_header(header: &SpirvHeader, out: &mut String) {
    let (tool, build) = (header.generator >> 16, header.generator & 0xffff);
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "; SPIR-V\n; Version: {}\n; Generator: ",
        header.version
    );
    let _ = match GENERATORS.get(tool as usize) {
        Some(name) if tool != SECOND_ARM => write!(out, "{name}"),
        _ => write!(out, "Unknown({tool})"),
    };
    let (bound, schema) = (header.bound, header.schema);
    let _ = write!(out, "; {build}\n; Bound: {bound}\n; Schema: {schema}\n");
}

/// The contents of a header comment; missing or unreadable parts are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderComment {
    pub version: Option<SpirvVersion>,
    pub generator: Option<u32>,
    pub bound: Option<u32>,
    pub schema: Option<u32>,
}

impl HeaderComment {
    /// Reads the comment lines at the head of a text: the version anywhere, the rest from the line `; SPIR-V`
    /// on.
    pub fn from_text(text: &str) -> HeaderComment {
        let mut found = HeaderComment::default();
        let lines = text.lines().map_while(|line| {
            let line = line.trim();
            line.is_empty().then_some("").or(line.strip_prefix(';'))
        });
        let mut begun = false;
        for line in lines.map(str::trim) {
            begun |= line == "SPIR-V";
            if let Some((key, value)) = line.split_once(':')
                && (begun || key == "Version")
            {
                found.apply_entry(key, value.trim());
            }
        }
        found
    }

    fn apply_entry(&mut self, key: &str, value: &str) {
        match key {
            "Version" => self.version = parse_version(value),
            "Generator" => self.generator = parse_generator(value),
            "Bound" => self.bound = value.parse().ok(),
            "Schema" => self.schema = value.parse().ok(),
            _ => {}
        }
    }
}

fn parse_version(text: &str) -> Option<SpirvVersion> {
    let (major, minor) = text.split_once('.')?;
    match (major.parse(), minor.parse()) {
        (Ok(1), Ok(minor)) => Some(SpirvVersion::new(1, minor)),
        _ => None,
    }
}

fn parse_generator(text: &str) -> Option<u32> {
    let (name, build) = text.rsplit_once("; ")?;
    let unknown = name
        .strip_prefix("Unknown(")
        .and_then(|n| n.strip_suffix(')'));
    let tool = match unknown {
        Some(number) => number.parse::<u16>().ok()?,
        None => GENERATORS.iter().position(|g| *g == name)? as u16,
    };
    Some(u32::from(tool) << 16 | u32::from(build.parse::<u16>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_reads_back() {
        for tool in 0..60 {
            let header = SpirvHeader {
                version: SpirvVersion::new(1, 4),
                generator: tool << 16 | 11,
                bound: 99,
                schema: 2,
            };
            let mut text = String::new();
            print_header(&header, &mut text);
            let read = HeaderComment::from_text(&text);
            assert_eq!(read.generator, Some(header.generator), "{text}");
            assert_eq!(read.version, Some(header.version));
            assert_eq!((read.bound, read.schema), (Some(99), Some(2)));
        }
    }

    #[test]
    fn only_the_head_of_a_text_is_read() {
        let text = "OpNop\n; SPIR-V\n; Bound: 5\n";
        assert_eq!(HeaderComment::from_text(text), HeaderComment::default());
        assert_eq!(HeaderComment::from_text("; Bound: 5\n").bound, None);
        assert_eq!(
            HeaderComment::from_text("\n; SPIR-V\n; Bound: x\n").bound,
            None
        );
    }
}
