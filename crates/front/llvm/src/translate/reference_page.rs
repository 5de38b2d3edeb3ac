//! Reference page: all supported constructs, generated from the tables.

use super::builtins::builtin_names;
use super::intrinsics::intrinsic_names;
use super::loop_hints::hint_names;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::grammar::{EnumerantInfo, ExtInstSet, Kind, ResultForm, all_instructions};
use std::fmt::Write;

/// Types that only SPIR-V has and whose names differ in LLVM.
const SPELT: &[&str] = &["SignedImage"];

/// Every supported built-in function, intrinsic, opaque type, loop hint and extension, as Markdown.
pub fn print_reference() -> String {
    let mut page = String::from(
        "# Supported LLVM IR\n\n\
         A test of `spirula-llvm` generates this page from the tables of the translation.\n\n\
         ## Built-in functions of OpenCL C\n\n",
    );
    let (rows, families) = builtin_names();
    let extended = ExtInstSet::by_name("OpenCL.std").map_or(&[][..], |set| set.instructions);
    let mut names: Vec<&str> = rows.collect();
    // Functions with a sign prefix are looked up under the name without it.
    let signed = |name: &&str| name.starts_with("s_") || name.starts_with("u_");
    let common = |name: &&str| ["fclamp", "fmax_common", "fmin_common"].contains(name);
    let extended = extended.iter().map(|row| row.name);
    names.extend(extended.filter(|name| !signed(name) && !common(name)));
    names.sort_unstable();
    names.dedup();
    write_list(&mut page, names.into_iter());
    page.push_str("\nFamilies of functions, by the prefix of their names:\n\n");
    write_list(&mut page, families);
    page.push_str(
        "\nThe functions `__spirv_NAME`, `__spirv_ocl_NAME` and `__spirv_BuiltInNAME` denote the instruction, \
         extended instruction or built-in variable of that name.\n\n## Intrinsics\n\n",
    );
    let mut names: Vec<&str> = intrinsic_names().collect();
    names.sort_unstable();
    write_list(&mut page, names.into_iter());
    page.push_str("\n## Target extension types\n\nThe names in `target(\"spirv.NAME\", …)`; the parameters are the operands of the instruction:\n\n");
    let mut names: Vec<&str> = all_instructions()
        .iter()
        .filter(|row| row.result == ResultForm::Untyped)
        .filter_map(|row| row.name.strip_prefix("OpType"))
        .filter(|name| !is_plain(name))
        .chain(SPELT.iter().copied())
        .collect();
    names.sort_unstable();
    write_list(&mut page, names.into_iter());
    page.push_str("\n## Loop hints\n\nThe hints of `!llvm.loop` that become loop controls of `OpLoopMerge`:\n\n");
    write_list(&mut page, hint_names().iter().map(String::as_str));
    page.push_str(
        "\n## Extensions\n\nA kernel module declares each of these extensions if it uses one of its instructions or \
         capabilities (the first few are listed), unless `--spirv-ext` forbids the extension:\n\n",
    );
    for name in collect_extensions() {
        // Writing to a string cannot fail.
        _ = writeln!(page, "- `{name}`: {}", describe_triggers(name));
    }
    page
}

/// Extensions that are used only if they were requested by name.
const OPT_IN_EXTENSIONS: &[&str] = &[
    "SPV_EXT_optnone",
    "SPV_INTEL_fp_max_error",
    "SPV_INTEL_masked_gather_scatter",
    "SPV_INTEL_memory_access_aliasing",
    "SPV_KHR_float_controls2",
];

/// Names of triggers of an extension that are listed.
const MAX_TRIGGERS: usize = 6;

/// The constructs that cause an extension to be declared: instructions, otherwise capabilities.
fn describe_triggers(extension: &str) -> String {
    let capabilities: Vec<&EnumerantInfo> = Kind::Capability
        .info()
        .enumerants
        .iter()
        .filter(|row| row.extensions.contains(&extension))
        .collect();
    let needs = |needed: &[Capability]| {
        !needed.is_empty()
            && needed
                .iter()
                .all(|c| capabilities.iter().any(|row| row.value == c.0))
    };
    let mut names: Vec<&str> = all_instructions()
        .iter()
        .filter(|row| row.extensions.contains(&extension) || needs(row.capabilities))
        .map(|row| row.name)
        .collect();
    names.extend(capabilities.iter().map(|row| row.name));
    names.dedup();
    let more = names.len().saturating_sub(MAX_TRIGGERS);
    names.truncate(MAX_TRIGGERS);
    let mut text = names.join(", ");
    if more > 0 {
        _ = write!(text, " and {more} more");
    }
    if OPT_IN_EXTENSIONS.contains(&extension) {
        text.push_str("; only if it is requested by name");
    }
    text
}

/// The extensions of capabilities and instructions that need no shader.
fn collect_extensions() -> Vec<&'static str> {
    let shader = |capabilities: &[Capability]| capabilities.contains(&Capability::Shader);
    let capabilities = Kind::Capability.info().enumerants.iter();
    let capabilities = capabilities.filter(|row| !shader(row.capabilities));
    let instructions = all_instructions()
        .iter()
        .filter(|row| !shader(row.capabilities));
    let mut names: Vec<&str> = capabilities
        .flat_map(|row| row.extensions)
        .chain(instructions.flat_map(|row| row.extensions))
        .copied()
        .filter(|name| name.starts_with("SPV_"))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether LLVM has a type of its own for one of SPIR-V.
fn is_plain(name: &str) -> bool {
    [
        "Void",
        "Bool",
        "Int",
        "Float",
        "Vector",
        "Array",
        "Struct",
        "Opaque",
        "Pointer",
        "Function",
        "ForwardPointer",
    ]
    .contains(&name)
}

fn write_list<'a>(page: &mut String, names: impl Iterator<Item = &'a str>) {
    for name in names {
        // Writing to a string cannot fail.
        _ = writeln!(page, "- `{name}`");
    }
}
