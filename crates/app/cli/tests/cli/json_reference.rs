//! The page of JSON outputs: the fields of real outputs with their types, and a meaning for each.
//!
//! A field without a meaning, and a meaning without a field, fail the test that writes the reference.

use crate::harness::{ScratchFolder, own, spirula};
use crate::reference::{begin_page, escape_cell};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// An output of the command in JSON.
struct JsonOutput {
    /// The call, as a heading.
    call: &'static str,
    about: &'static str,
    /// Samples that have all fields, from calls in an empty folder.
    samples: fn(&ScratchFolder) -> Vec<Value>,
    /// Objects whose keys are names.
    named: &'static [NamedKeys],
    meanings: &'static [FieldMeaning],
}

/// An object whose keys are names of the user, and not fields.
struct NamedKeys {
    /// The path of the object.
    path: &'static str,
    /// A word that stands for each key.
    word: &'static str,
}

/// The meaning of a field.
struct FieldMeaning {
    path: &'static str,
    meaning: &'static str,
}

/// A row of a table of meanings.
const fn explain(path: &'static str, meaning: &'static str) -> FieldMeaning {
    FieldMeaning { path, meaning }
}

/// The fields of findings in texts and modules.
const FINDINGS: &[FieldMeaning] = &[
    explain("[].file", "name of the input"),
    explain("[].severity", "`error`, `warning` or `note`"),
    explain("[].message", "the finding"),
    explain("[].start", "the first character of the place in a text"),
    explain("[].start.byte", "bytes before it"),
    explain("[].start.line", "its line, from 1"),
    explain("[].start.column", "its column in characters, from 1"),
    explain("[].end", "the end of the place, as `start`"),
    explain("[].end.byte", ""),
    explain("[].end.line", ""),
    explain("[].end.column", ""),
    explain("[].byte", "the place in a binary"),
    explain("[].label", "a text for the place"),
    explain(
        "[].notes[]",
        "further facts, such as the rule that is broken",
    ),
    explain("[].hint", "an advice"),
];

/// All outputs.
const OUTPUTS: &[JsonOutput] = &[
    JsonOutput {
        call: "spirula val --json, spirula check --json",
        about: "A list of findings, which is empty for a valid input. The exit code is 1 if one is an error.",
        samples: sample_findings,
        named: &[],
        meanings: FINDINGS,
    },
    JsonOutput {
        call: "spirula info --json",
        about: "A description of a module, or of a program.",
        samples: sample_descriptions,
        named: &[],
        meanings: &[
            explain("input", "name of the input"),
            explain("format", "its format"),
            explain("version", "modules: the version of SPIR-V"),
            explain("memory_model", "modules: the memory model"),
            explain("addressing_model", "modules: the addressing model"),
            explain("capabilities[]", "modules: the declared capabilities"),
            explain("extensions[]", "modules: the declared extensions"),
            explain("entry_points[].name", "name of the entry point"),
            explain("entry_points[].model", "modules: the execution model"),
            explain(
                "entry_points[].workgroup_size",
                "modules: the size of workgroups where it is fixed",
            ),
            explain(
                "entry_points[].workgroup_size[]",
                "its invocations in x, y and z",
            ),
            explain(
                "entry_points[].execution_modes[].mode",
                "modules: an execution mode",
            ),
            explain(
                "entry_points[].execution_modes[].operands[]",
                "its operands",
            ),
            explain(
                "entry_points[].arguments[].name",
                "name of an argument, in order",
            ),
            explain("entry_points[].arguments[].type", "its type"),
            explain(
                "entry_points[].results[].type",
                "programs: the type of a result",
            ),
            explain(
                "entry_points[].bindings[].set",
                "modules: the descriptor set of a resource",
            ),
            explain("entry_points[].bindings[].binding", "its binding"),
            explain("entry_points[].bindings[].name", "its name"),
            explain(
                "entry_points[].bindings[].kind",
                "`storage buffer`, `uniform buffer` or `object`",
            ),
            explain("entry_points[].bindings[].type", "its type"),
            explain(
                "entry_points[].bindings[].count",
                "the length of an array of resources",
            ),
            explain(
                "entry_points[].bindings[].read_only",
                "whether it is not written",
            ),
            explain(
                "entry_points[].push_constant_bytes",
                "modules: bytes of push constants",
            ),
            explain(
                "entry_points[].push_constants[].name",
                "name of a push constant",
            ),
            explain("entry_points[].push_constants[].type", "its type"),
            explain("entry_points[].push_constants[].offset", "bytes before it"),
            explain("entry_points[].push_constants[].size", "its bytes"),
            explain(
                "entry_points[].inputs[].name",
                "modules: name of an input variable",
            ),
            explain("entry_points[].inputs[].type", "its type"),
            explain(
                "entry_points[].inputs[].built_in",
                "the built-in that it is",
            ),
            explain("entry_points[].inputs[].location", "its location"),
            explain("entry_points[].inputs[].component", "its first component"),
            explain(
                "entry_points[].outputs[].name",
                "modules: output variables, as `inputs`",
            ),
            explain("entry_points[].outputs[].type", ""),
            explain("entry_points[].outputs[].built_in", ""),
            explain("entry_points[].outputs[].location", ""),
            explain("entry_points[].outputs[].component", ""),
            explain(
                "specialisation_constants[].id",
                "modules: the number of a specialisation constant",
            ),
            explain("specialisation_constants[].name", "its name"),
            explain("specialisation_constants[].type", "its type"),
            explain(
                "specialisation_constants[].default_bits",
                "its value as bits",
            ),
            explain("kernels[].number", "programs: the number of a kernel"),
            explain(
                "kernels[].refusal",
                "the reason why it has no module, or `null`",
            ),
            explain("kernels[].words", "words of its module"),
            explain("kernels[].buffers", "number of buffers that it takes"),
            explain("kernels[].scalars", "number of scalars that it takes"),
            explain("kernels[].can_fail", "whether it can report a failure"),
            explain(
                "tuning_parameters[].name",
                "programs: name of a tuning parameter",
            ),
            explain("tuning_parameters[].class", "its class"),
        ],
    },
    JsonOutput {
        call: "spirula dis --json",
        about: "The instructions of a module.",
        samples: sample_disassembly,
        named: &[],
        meanings: &[
            explain("version", "the version of SPIR-V"),
            explain("generator", "the header's number of the generator"),
            explain("bound", "the bound of ids"),
            explain("schema", "the header's last word"),
            explain("instructions[].offset", "bytes before the instruction"),
            explain("instructions[].opcode", "its number"),
            explain("instructions[].name", "its name"),
            explain("instructions[].words[]", "its words"),
            explain("instructions[].text", "its assembly"),
            explain("instructions[].result", "the id that it defines"),
        ],
    },
    JsonOutput {
        call: "spirula devices --json",
        about: "A list of devices. Values that a driver does not state are `null`.",
        samples: sample_devices,
        named: &[],
        meanings: &[
            explain("[].id", "the name for `--device`"),
            explain("[].name", "the name of the hardware"),
            explain("[].kind", "the kind of the device"),
            explain("[].driver", "the driver and its version"),
            explain(
                "[].newest_spirv",
                "the newest version of SPIR-V that it takes",
            ),
            explain("[].compute_units", "number of compute units"),
            explain("[].memory_bytes", "bytes of memory"),
            explain("[].subgroup_size", "the usual size of subgroups"),
            explain("[].subgroup_sizes[]", "all sizes of subgroups"),
            explain(
                "[].has_shuffles",
                "whether invocations of a subgroup exchange values",
            ),
            explain(
                "[].has_forward_progress",
                "whether workgroups may wait for each other",
            ),
            explain(
                "[].has_dense_matrices",
                "whether matrices in workgroup memory are fast",
            ),
            explain("[].matrices", "the shapes of cooperative matrices"),
            explain("[].limits.buffer_bytes", "most bytes of a buffer"),
            explain(
                "[].limits.workgroup_size[]",
                "most invocations of a workgroup in x, y and z",
            ),
            explain(
                "[].limits.workgroup_invocations",
                "most invocations of a workgroup",
            ),
            explain(
                "[].limits.workgroup_memory_bytes",
                "most bytes of workgroup memory",
            ),
            explain("[].limits.workgroups[]", "most workgroups in x, y and z"),
            explain(
                "[].limits.push_constant_bytes",
                "most bytes of push constants",
            ),
        ],
    },
    JsonOutput {
        call: "spirula test --json FILE",
        about: "The outcome of each test.",
        samples: sample_tests,
        named: &[],
        meanings: &[
            explain("device", "the device"),
            explain("passed", "number of tests that passed"),
            explain("failed", "number of tests that failed"),
            explain(
                "unsupported",
                "number of tests that need something that is missing",
            ),
            explain("read", "number of modules that were only read"),
            explain("tests[].id", "name of the test"),
            explain("tests[].path", "its folder or file"),
            explain(
                "tests[].outcome",
                "`passed`, `failed`, `unsupported` or `read`",
            ),
            explain("tests[].reason", "the reason of the outcome"),
            explain("tests[].seconds", "the time that it took"),
        ],
    },
    JsonOutput {
        call: "spirula bench --json FILE",
        about: "The measurements of each program, in the form of `futhark bench`. A data set that failed has a text in place of the object.",
        samples: sample_measurements,
        named: &[
            NamedKeys {
                path: "",
                word: "PROGRAM",
            },
            NamedKeys {
                path: "PROGRAM.datasets",
                word: "DATASET",
            },
        ],
        meanings: &[
            explain(
                "PROGRAM.datasets.DATASET.runtimes[]",
                "microseconds of each run",
            ),
            explain(
                "PROGRAM.datasets.DATASET.bytes",
                "empty, as memory is not measured",
            ),
            explain("PROGRAM.datasets.DATASET.stderr", "empty"),
        ],
    },
    JsonOutput {
        call: "spirula run --device cpu+san --report FILE",
        about: "The reports of the sanitizer.",
        samples: sample_reports,
        named: &[],
        meanings: &[
            explain("[].kind", "the kind of the fault"),
            explain("[].message", "the fault"),
            explain("[].kernel", "name of the entry point"),
            explain("[].site.instruction", "name of the instruction"),
            explain("[].site.function", "its function"),
            explain("[].site.block", "the id of its block"),
            explain("[].site.index", "its number in the block"),
            explain(
                "[].site.source.file",
                "the source's file, where the module states places",
            ),
            explain("[].site.source.line", "its line"),
            explain("[].site.source.column", "its column"),
            explain(
                "[].invocation.group[]",
                "the workgroup of the invocation in x, y and z",
            ),
            explain("[].invocation.local[]", "the invocation in its workgroup"),
            explain("[].other", "the other access of a race"),
            explain("[].other.site.instruction", "its place, as `site`"),
            explain("[].other.site.function", ""),
            explain("[].other.site.block", ""),
            explain("[].other.site.index", ""),
            explain("[].other.site.source.file", ""),
            explain("[].other.site.source.line", ""),
            explain("[].other.site.source.column", ""),
            explain(
                "[].other.invocation.group[]",
                "its invocation, as `invocation`",
            ),
            explain("[].other.invocation.local[]", ""),
            explain("[].times", "how often the fault occurred"),
        ],
    },
];

/// The page.
pub fn write_page() -> String {
    let about = "The outputs of the command for other programs. The tables are compared with outputs for samples, whose types they state. A value that an input lacks is `null`. A path names a field of an object after a point, and \
        `[]` stands for each element of a list. New fields may be added. [The command](../command.md#output-for-other-programs) has an example.";
    let mut page = begin_page("JSON", about);
    for output in OUTPUTS {
        write_output(&mut page, output);
    }
    page
}

fn write_output(page: &mut String, output: &JsonOutput) {
    let folder = ScratchFolder::new();
    let mut fields = FieldTable::default();
    for sample in (output.samples)(&folder) {
        fields.add_value(&sample, String::new(), output.named);
    }
    let meanings: BTreeMap<&str, &str> = output
        .meanings
        .iter()
        .map(|field| (field.path, field.meaning))
        .collect();
    let explained: BTreeSet<&str> = meanings.keys().copied().collect();
    let found: BTreeSet<&str> = fields.list_leaves().collect();
    let call = output.call;
    let lacking: Vec<_> = found
        .difference(&explained)
        .filter(|path| !fields.is_part_of_any(path, &explained))
        .collect();
    assert!(lacking.is_empty(), "{call}: no meaning of {lacking:?}");
    let absent: Vec<_> = explained
        .iter()
        .filter(|path| !fields.types.contains_key(**path))
        .collect();
    assert!(absent.is_empty(), "{call}: no sample has {absent:?}");
    write!(page, "\n## {call}\n\n{}\n\n", output.about).expect("a string");
    *page += "| Field | Type | Meaning |\n| --- | --- | --- |\n";
    for field in output.meanings {
        let types = fields.describe_types(field.path);
        let meaning = escape_cell(field.meaning);
        writeln!(page, "| `{}` | {types} | {meaning} |", field.path).expect("a string");
    }
}

/// The fields of samples with their types.
#[derive(Default)]
struct FieldTable {
    types: BTreeMap<String, BTreeSet<&'static str>>,
    /// How often each field occurs, and each object.
    counts: BTreeMap<String, usize>,
}

impl FieldTable {
    fn add_value(&mut self, value: &Value, path: String, named: &[NamedKeys]) {
        *self.counts.entry(path.clone()).or_default() += 1;
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(items) => {
                for item in items {
                    self.add_value(item, format!("{path}[]"), named);
                }
                "list"
            }
            Value::Object(entries) => {
                let word = named.iter().find(|keys| keys.path == path);
                for (key, item) in entries {
                    let key = word.map_or(key.as_str(), |keys| keys.word);
                    let point = if path.is_empty() { "" } else { "." };
                    self.add_value(item, format!("{path}{point}{key}"), named);
                }
                "object"
            }
        };
        self.types.entry(path).or_default().insert(kind);
    }

    /// The paths that no other path continues.
    fn list_leaves(&self) -> impl Iterator<Item = &str> {
        let paths = self.types.keys().map(String::as_str);
        paths.filter(|path| {
            let mut others = self.types.keys();
            !path.is_empty() && !others.any(|other| is_part_of(other, path))
        })
    }

    /// Whether a path is a part of another one that has a meaning, or has parts with one.
    fn is_part_of_any(&self, path: &str, explained: &BTreeSet<&str>) -> bool {
        explained.iter().any(|other| is_part_of(path, other))
    }

    /// The types of a field, and whether an object may lack it.
    fn describe_types(&self, path: &str) -> String {
        let types: Vec<_> = self.types[path].iter().copied().collect();
        let mut text = types.join(" or ");
        let owner = path.rsplit_once('.').map_or("", |(owner, _)| owner);
        let field = path.trim_end_matches("[]");
        let is_field = field != owner && !owner.is_empty();
        if is_field && self.counts[field] < self.counts[owner] {
            text += ", may be absent";
        }
        text
    }
}

/// Whether a path continues another one.
fn is_part_of(path: &str, start: &str) -> bool {
    let rest = path.strip_prefix(start);
    rest.is_some_and(|rest| rest.starts_with('.') || rest.starts_with('['))
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the output is JSON")
}

fn read_sample(path: &str) -> Value {
    parse(&std::fs::read_to_string(path).expect("the file was written"))
}

fn sample_findings(folder: &ScratchFolder) -> Vec<Value> {
    let text = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n%1 = OpTypeInt 31 0\n";
    let invalid = folder.file("invalid.spvasm", text);
    let misspelt = folder.file("misspelt.spvasm", "OpCapabilty Shader\n");
    let text = "def main (xs: *[]i32) = let ys = xs with [0] = 1 in (xs, ys)\n";
    let source = folder.file("bad.fut", text);
    let calls = [["val", &invalid], ["val", &misspelt], ["check", &source]];
    let run = |[command, input]: [&str; 2]| parse(&spirula(&[command, "--json", input]).text());
    calls.into_iter().map(run).collect()
}

fn sample_descriptions(folder: &ScratchFolder) -> Vec<Value> {
    let source = "entry sum (xs: []f32): f32 = f32.sum xs\n";
    let source = folder.file("sum.fut", source);
    let inputs = [
        own("shader.spvasm"),
        own("race.spvasm"),
        own("scale.mlir"),
        own("double.imp"),
        source,
    ];
    let run = |input: &String| parse(&spirula(&["info", "--json", input]).ok().text());
    inputs.iter().map(run).collect()
}

fn sample_disassembly(folder: &ScratchFolder) -> Vec<Value> {
    let module = folder.file("module.spv", "");
    spirula(&["as", &own("race.spvasm"), "-o", &module]).ok();
    vec![parse(&spirula(&["dis", "--json", &module]).ok().text())]
}

fn sample_devices(_folder: &ScratchFolder) -> Vec<Value> {
    vec![parse(&spirula(&["devices", "--json", "cpu"]).ok().text())]
}

fn write_futhark_tests(folder: &ScratchFolder) -> String {
    let text = "-- ==\n-- entry: main\n-- input { 20 } output { 21 }\n-- input { 20 } output { 22 }\nentry main (x: i32) = x + 1\n";
    folder.file("next.fut", text)
}

fn sample_tests(folder: &ScratchFolder) -> Vec<Value> {
    let tests = write_futhark_tests(folder);
    let report = folder.file("report.json", "");
    spirula(&["test", &tests, "--json", &report]).fails(1, "got 21, want 22");
    vec![read_sample(&report)]
}

fn sample_measurements(folder: &ScratchFolder) -> Vec<Value> {
    let tests = write_futhark_tests(folder);
    let report = folder.file("report.json", "");
    spirula(&["bench", &tests, "--runs", "2", "--json", &report]).ok();
    vec![read_sample(&report)]
}

fn sample_reports(folder: &ScratchFolder) -> Vec<Value> {
    let report = folder.file("report.json", "");
    let module = own("race.spvasm");
    let arguments = ["run", &module, "--global", "8", "--arg", "4xu32=iota"];
    let options = ["--device", "cpu+san", "--report", &report];
    spirula(&[&arguments[..], &options].concat()).fails(1, "race.cl");
    vec![read_sample(&report)]
}
