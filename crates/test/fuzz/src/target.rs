//! The table of fuzz targets.

use crate::{exchange, kernel, llvm, mlir, spirv, triton};

/// A reader or interface under test.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// Its name, which is also that of its program in `fuzz/`.
    pub name: &'static str,
    /// The check; takes any bytes and panics if something is wrong.
    pub check: fn(&[u8]),
    /// Inputs in the repository: a folder below `crates`, and the suffix of file names.
    pub own: &'static [(&'static str, &'static str)],
    /// Inputs in the corpora: a folder, and the suffix of file names.
    pub corpus: &'static [(&'static str, &'static str)],
    /// Bytes of memory that an input may take for each of its bytes, in addition to [`FuzzTarget::floor`].
    pub per_byte: usize,
    /// Bytes of memory that any input may take.
    pub floor: usize,
}

const MIB: usize = 1 << 20;

const SPIRV: FuzzTarget = FuzzTarget {
    name: "",
    check: |_| (),
    own: &[("core/spirv/tests", ".spvasm")],
    corpus: &[("spirv/modules", ".spv")],
    per_byte: 2000,
    // Tables indexed by id are as long as the bound, which may be 2^22 in a module of any size.
    floor: 300 * MIB,
};

/// All targets.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget {
        name: "read",
        check: spirv::check_read,
        ..SPIRV
    },
    FuzzTarget {
        name: "assemble",
        check: spirv::check_assemble,
        corpus: &[("spirv/text", ".spvasm")],
        floor: 64 * MIB,
        ..SPIRV
    },
    FuzzTarget {
        name: "edit",
        check: spirv::check_edit,
        own: &[],
        corpus: &[],
        per_byte: 200_000,
        floor: 64 * MIB,
    },
    FuzzTarget {
        name: "verify",
        check: spirv::check_verify,
        ..SPIRV
    },
    FuzzTarget {
        name: "optimise",
        check: spirv::check_optimise,
        ..SPIRV
    },
    FuzzTarget {
        name: "change",
        check: spirv::check_transforms,
        ..SPIRV
    },
    FuzzTarget {
        name: "llvm_text",
        check: llvm::check_read,
        own: &[("front/llvm/tests", ".ll")],
        corpus: &[("llvm-ir/kernels", ".ll")],
        per_byte: 4000,
        floor: 64 * MIB,
    },
    FuzzTarget {
        name: "bitcode",
        check: llvm::check_read,
        own: &[("front/llvm/tests", ".bc")],
        corpus: &[("llvm-ir/kernels", ".bc")],
        per_byte: 20_000,
        floor: 64 * MIB,
    },
    FuzzTarget {
        name: "translate",
        check: llvm::check_translate,
        own: &[("front/llvm/tests", ".ll")],
        corpus: &[("llvm-ir/conformance", ".ll")],
        per_byte: 20_000,
        floor: 64 * MIB,
    },
    FuzzTarget {
        name: "program",
        check: llvm::check_program,
        own: &[],
        corpus: &[],
        per_byte: 200_000,
        floor: 300 * MIB,
    },
    FuzzTarget {
        name: "futhark",
        check: kernel::check_futhark,
        own: &[("app/cli/tests", ".imp")],
        corpus: &[],
        per_byte: 20_000,
        floor: 64 * MIB,
    },
    FuzzTarget {
        name: "kernel_text",
        check: kernel::check_text,
        own: &[
            ("middle/kernel/tests", ".kernel"),
            ("app/cli/tests", ".kernel"),
        ],
        corpus: &[],
        per_byte: 20_000,
        floor: 64 * MIB,
    },
    FuzzTarget {
        name: "mlir_text",
        check: mlir::check_text,
        own: &[("front/stablehlo/tests", ".mlir")],
        corpus: &[("stablehlo/syntax", ".mlir")],
        per_byte: 20_000,
        floor: 64 * MIB,
    },
    FuzzTarget {
        name: "mlir_bytecode",
        check: mlir::check_bytecode,
        own: &[],
        corpus: &[("stablehlo/portable", ".mlirbc")],
        per_byte: 20_000,
        floor: 64 * MIB,
    },
    FuzzTarget {
        name: "exchange",
        check: exchange::check_stream,
        own: &[("run/exchange/tests", ".stream")],
        corpus: &[],
        per_byte: 100,
        // A message may take this much before its bytes arrive.
        floor: 2 * MIB,
    },
    FuzzTarget {
        name: "triton",
        check: triton::check_kernel,
        own: &[("front/triton/tests", ".ttir")],
        corpus: &[],
        per_byte: 20_000,
        floor: 64 * MIB,
    },
];

impl FuzzTarget {
    /// The target with a name.
    pub fn by_name(name: &str) -> Option<&'static FuzzTarget> {
        TARGETS.iter().find(|t| t.name == name)
    }
}
