//! Jobs: sources of shaders, with what the compilers have to know about them.

use crate::error::ShaderError;
use crate::program::{ShaderProgram, run_compiler};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// A language of shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderLanguage {
    /// GLSL of Vulkan.
    Glsl,
    /// HLSL.
    Hlsl,
}

impl ShaderLanguage {
    /// The name of the language.
    pub fn name(self) -> &'static str {
        match self {
            ShaderLanguage::Glsl => "GLSL",
            ShaderLanguage::Hlsl => "HLSL",
        }
    }
}

/// A source to compile.
#[derive(Clone, Debug)]
pub struct ShaderJob<'s> {
    /// The language.
    pub language: ShaderLanguage,
    /// The source.
    pub source: &'s str,
}

/// Text of GLSL that stands in shaders of one stage, and the stage.
const STAGE_MARKS: &[(&str, &str)] = &[
    ("shader_stage(vertex)", "vert"),
    ("shader_stage(fragment)", "frag"),
    ("shader_stage(compute)", "comp"),
    ("local_size_", "comp"),
    ("gl_GlobalInvocationID", "comp"),
    ("gl_Position", "vert"),
    ("gl_VertexIndex", "vert"),
    ("gl_FragCoord", "frag"),
    ("gl_FragDepth", "frag"),
    ("EmitVertex", "geom"),
    ("gl_TessCoord", "tese"),
    ("gl_TessLevelOuter", "tesc"),
];

impl ShaderJob<'_> {
    /// Compiles the source to the bytes of a SPIR-V module.
    ///
    /// # Errors
    /// When there is no compiler of the language, or the source has errors.
    pub fn compile(&self) -> Result<Vec<u8>, ShaderError> {
        let program = ShaderProgram::find(self.language)?;
        let output = run_compiler(&program, self)?;
        match output {
            Ok(module) => Ok(module),
            Err(log) => Err(ShaderError::Source {
                faults: parse_faults(&log, self.source),
            }),
        }
    }

    /// The stage of a GLSL source. A shader without marks of another stage is one of fragments where it has outputs, and
    /// else one that computes.
    pub(crate) fn find_stage(&self) -> &'static str {
        let mark = STAGE_MARKS
            .iter()
            .find(|(mark, _)| self.source.contains(mark));
        match mark {
            Some((_, stage)) => stage,
            None if self.source.contains("out vec4") => "frag",
            None => "comp",
        }
    }

    /// The entry point of an HLSL source: the function after the size of workgroups.
    pub(crate) fn find_entry_point(&self) -> &str {
        let after = self.source.split_once("numthreads").map(|(_, rest)| rest);
        let declared = after
            .and_then(|rest| rest.split_once(']'))
            .map(|(_, rest)| rest);
        let name = declared
            .and_then(|rest| rest.split_once('('))
            .and_then(|(head, _)| head.split_whitespace().last());
        name.filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
            .unwrap_or("main")
    }
}

/// The errors in the output of a compiler: `ERROR: 0:LINE: text` of glslang, and `NAME:LINE:COLUMN: error: text` of DXC.
fn parse_faults(log: &str, source: &str) -> Vec<SourceDiagnostic> {
    let fault = |line: &str| {
        let (number, text) = match line.split_once(": error: ") {
            Some((place, text)) => (place.split(':').nth_back(1)?, text),
            None => {
                let rest = line.trim_start().strip_prefix("ERROR: ")?;
                let (_, rest) = rest.split_once(':')?;
                rest.split_once(": ")?
            }
        };
        let number: usize = number.trim().parse().ok()?;
        Some(SourceDiagnostic::error(
            locate_line(source, number),
            text.trim(),
        ))
    };
    let faults: Vec<_> = log.lines().filter_map(fault).collect();
    if faults.is_empty() {
        let first = log
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && *line != "stdin");
        let text = first.unwrap_or("the compiler failed without a message");
        return vec![SourceDiagnostic::error(SourceLocation::Unknown, text)];
    }
    faults
}

/// The place of a line, which is counted from 1.
fn locate_line(source: &str, number: usize) -> SourceLocation {
    let mut start = 0;
    for (at, line) in source.split_inclusive('\n').enumerate() {
        if at + 1 == number {
            let text = line.trim_end();
            let blank = text.len() - text.trim_start().len();
            return SourceLocation::from_text_range(start + blank, start + text.len());
        }
        start += line.len();
    }
    SourceLocation::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(language: ShaderLanguage, source: &str) -> ShaderJob<'_> {
        ShaderJob { language, source }
    }

    #[test]
    fn stages_and_entry_points() {
        let glsl = |source| job(ShaderLanguage::Glsl, source).find_stage();
        assert_eq!(glsl("layout(local_size_x = 8) in;"), "comp");
        assert_eq!(glsl("void main() { gl_Position = vec4(0); }"), "vert");
        assert_eq!(glsl("layout(location = 0) out vec4 color;"), "frag");
        let source = "[numthreads(8, 1, 1)]\nvoid scale(uint3 id : SV_DispatchThreadID) {}";
        assert_eq!(
            job(ShaderLanguage::Hlsl, source).find_entry_point(),
            "scale"
        );
        assert_eq!(
            job(ShaderLanguage::Hlsl, "void f() {}").find_entry_point(),
            "main"
        );
    }

    #[test]
    fn faults_have_lines() {
        let source = "#version 450\nvoid main() {\n  x = 1;\n}\n";
        for log in [
            "stdin\nERROR: 0:3: 'x' : undeclared identifier \nERROR: 1 compilation errors.",
            "hlsl.hlsl:3:3: error: use of undeclared identifier 'x'\n  x = 1;\n",
        ] {
            let faults = parse_faults(log, source);
            assert!(faults[0].message.contains("undeclared"), "{}", faults[0]);
            assert_eq!(faults[0].place, SourceLocation::from_text_range(29, 35));
        }
        assert_eq!(parse_faults("", source).len(), 1);
    }
}
