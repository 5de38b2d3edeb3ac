//! Options of the other programs of SPIRV-Tools.

use super::option::OptionMeaning::{Arguments, Help, Implied, Missing, Version};
use super::option::ToolOptionValue::{Absent, Number, Target, Text};
use super::option::{ToolOption, option_row as row};

/// The options of `spirv-as`.
pub const AS_OPTIONS: &[ToolOption] = &[
    row("-o", Text, Arguments(&["--output", "{}"])),
    // Numbers of ids are kept in any case.
    row("--preserve-numeric-ids", Absent, Implied),
    row("--target-env", Target, Arguments(&["--target-env", "{}"])),
    row("-h", Absent, Help),
    row("--help", Absent, Help),
    row("--version", Absent, Version),
];

/// The options of `spirv-cfg`.
pub const CFG_OPTIONS: &[ToolOption] = &[
    row("-o", Text, Arguments(&["--output", "{}"])),
    row("-h", Absent, Help),
    row("--help", Absent, Help),
    row("--version", Absent, Version),
];

/// The options of `spirv-dis`.
pub const DIS_OPTIONS: &[ToolOption] = &[
    row("-o", Text, Arguments(&["--output", "{}"])),
    row("--color", Absent, Arguments(&["--color"])),
    row("--no-color", Absent, Arguments(&["--color=never"])),
    row("--no-indent", Absent, Arguments(&["--no-indent"])),
    row("--no-header", Absent, Arguments(&["--no-header"])),
    row("--raw-id", Absent, Arguments(&["--raw-id"])),
    row("--nested-indent", Absent, Arguments(&["--nested-indent"])),
    row("--reorder-blocks", Absent, Arguments(&["--reorder-blocks"])),
    row("--offsets", Absent, Arguments(&["--offsets"])),
    row("--comment", Absent, Arguments(&["--comment"])),
    // Unknown instructions are printed as OpUnknown in any case.
    row("--handle-unknown-opcodes", Absent, Implied),
    row("-h", Absent, Help),
    row("--help", Absent, Help),
    row("--version", Absent, Version),
];

/// The options of `spirv-link`.
pub const LINK_OPTIONS: &[ToolOption] = &[
    row("-o", Text, Arguments(&["--output", "{}"])),
    row(
        "--allow-partial-linkage",
        Absent,
        Arguments(&["--allow-partial"]),
    ),
    // Functions whose declarations differ in pointee types alone are linked in any case.
    row("--allow-pointer-mismatch", Absent, Implied),
    row("--create-library", Absent, Arguments(&["--library"])),
    row("--fnvar-architectures", Text, Missing),
    row("--fnvar-capabilities", Absent, Missing),
    row("--fnvar-targets", Text, Missing),
    row("--target-env", Target, Implied),
    // The module has the highest version of the inputs in any case.
    row("--use-highest-version", Absent, Implied),
    row("--verify-ids", Absent, Implied),
    row("-h", Absent, Help),
    row("--help", Absent, Help),
    row("--version", Absent, Version),
];

/// The options of `spirv-reduce`.
pub const REDUCE_OPTIONS: &[ToolOption] = &[
    row("-o", Text, Arguments(&["--output", "{}"])),
    row("--before-hlsl-legalization", Absent, Implied),
    // Every step gives a valid module.
    row("--fail-on-validation-error", Absent, Implied),
    row("--relax-block-layout", Absent, Implied),
    row("--relax-logical-pointer", Absent, Implied),
    row("--relax-struct-store", Absent, Implied),
    row("--scalar-block-layout", Absent, Implied),
    row("--skip-block-layout", Absent, Implied),
    row("--step-limit", Number, Arguments(&["--attempts", "{}"])),
    row("--target-function", Number, Missing),
    row("--temp-file-prefix", Text, Implied),
    row("-h", Absent, Help),
    row("--help", Absent, Help),
    row("--version", Absent, Version),
];

/// The options of `spirv-val`.
pub const VAL_OPTIONS: &[ToolOption] = &[
    row("--allow-localsizeid", Absent, Implied),
    row("--allow-offset-texture-operand", Absent, Implied),
    row("--allow-vulkan-32-bit-bitwise", Absent, Implied),
    row("--before-hlsl-legalization", Absent, Missing),
    row("--buffer-descriptor-layout", Text, Missing),
    row("--image-descriptor-layout", Text, Missing),
    row("--max-access-chain-indexes", Number, Implied),
    row("--max-control-flow-nesting-depth", Number, Implied),
    row("--max-function-args", Number, Implied),
    row("--max-global-variables", Number, Implied),
    row("--max-id-bound", Number, Implied),
    row("--max-local-variables", Number, Implied),
    row("--max-struct-depth", Number, Implied),
    row("--max-struct-members", Number, Implied),
    row("--max-switch-branches", Number, Implied),
    row("--relax-block-layout", Absent, Implied),
    row("--relax-logical-pointer", Absent, Missing),
    row("--relax-struct-store", Absent, Missing),
    row("--sampler-descriptor-layout", Text, Missing),
    row(
        "--scalar-block-layout",
        Absent,
        Arguments(&["--scalar-block-layout"]),
    ),
    row(
        "--skip-block-layout",
        Absent,
        Arguments(&["--scalar-block-layout"]),
    ),
    row("--target-env", Target, Arguments(&["--target-env", "{}"])),
    row("--tensor-descriptor-layout", Text, Missing),
    row(
        "--uniform-buffer-standard-layout",
        Absent,
        Arguments(&["--scalar-block-layout"]),
    ),
    row(
        "--workgroup-scalar-block-layout",
        Absent,
        Arguments(&["--scalar-block-layout"]),
    ),
    row("-h", Absent, Help),
    row("--help", Absent, Help),
    row("--version", Absent, Version),
];
