//! A generator of random kernels in LLVM IR.
//!
//! A program is a kernel over [`ITEMS`] invocations. Each invocation reads its part of a buffer, computes, and
//! writes its results to its part of another; invocations do not communicate. Programs are well-typed, loops end,
//! and addresses stay within their objects. Some operations may be undefined (a shift by too much, the conversion
//! of too large a number); the evaluator knows that their results may be anything.
//!
//! | file | what |
//! | --- | --- |
//! | `types` | types |
//! | `operands` | values that are there, constants |
//! | `scalars` | arithmetic, comparisons, conversions |
//! | `composites` | vectors and aggregates |
//! | `intrinsics` | LLVM's intrinsics, by table |
//! | `memory` | objects, addresses, accesses, atomics |
//! | `control` | branches, switches, loops, calls |
//! | `graph` | control flow of any shape |

mod composites;
mod control;
mod graph;
mod intrinsics;
mod memory;
mod operands;
mod scalars;
mod types;

use memory::GeneratedPointer;
use spirula_testing::ChoiceSequence;
use std::collections::BTreeSet;
use types::GeneratedType;

/// Invocations of a launch, one workgroup.
pub const ITEMS: u64 = 4;
/// Bytes that an invocation reads.
pub const INPUT: u64 = 64;
/// Bytes that an invocation writes.
pub const OUTPUT: u64 = 2048;
/// Name of the kernel.
pub const KERNEL: &str = "kernel";
/// Arguments after the buffers: an `i32`, a `float`, an `i64`, a `<4 x i32>`.
pub const ARGUMENTS: [&[u8]; 4] = [
    &[0x2a, 0, 0, 0x80],
    &[0, 0, 0x20, 0x40],
    &[0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01],
    &[
        1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0, 0, 0, 0, 0x80,
    ],
];

const SLOT: u64 = 128;
const HEAD: &str = "target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024\"\ntarget triple = \"spir64-unknown-unknown\"\n\n";

/// Generates a kernel from decisions, as LLVM assembly.
pub fn generate_kernel(choices: &mut ChoiceSequence<'_>) -> String {
    let mut generator = LlvmGenerator {
        c: choices,
        globals: String::new(),
        functions: String::new(),
        declared: BTreeSet::new(),
        callable: Vec::new(),
        body: GeneratedBody::default(),
        shared: Vec::new(),
        hints: String::new(),
        next: 0,
    };
    generator.shared_objects();
    for _ in 0..generator.c.choose_below(3) {
        generator.emit_helper();
    }
    generator.write_kernel();
    let declared: String = generator.declared.into_iter().collect();
    format!(
        "{HEAD}{}\n{declared}\n{}\n{}",
        generator.globals, generator.functions, generator.hints
    )
}

struct LlvmGenerator<'c, 'b> {
    c: &'c mut ChoiceSequence<'b>,
    globals: String,
    functions: String,
    declared: BTreeSet<String>,
    callable: Vec<control::CallableFunction>,
    body: GeneratedBody,
    /// Global objects.
    shared: Vec<GeneratedPointer>,
    /// Hints for loops, as metadata.
    hints: String,
    next: u32,
}

/// The function that is being generated.
#[derive(Default)]
struct GeneratedBody {
    text: String,
    /// Values that dominate the next instruction.
    values: Vec<(GeneratedType, String)>,
    /// Addresses that dominate the next instruction.
    pointers: Vec<GeneratedPointer>,
    /// The open block.
    block: String,
    /// Allocations, which are placed at the beginning.
    allocas: String,
    is_kernel: bool,
}

impl LlvmGenerator<'_, '_> {
    fn one_in(&mut self, n: usize) -> bool {
        self.c.choose_below(n) == n - 1
    }

    fn fresh_name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn write_line(&mut self, text: &str) {
        self.body.text.push_str("  ");
        self.body.text.push_str(text);
        self.body.text.push('\n');
    }

    /// Emits an instruction whose result later instructions may use.
    fn emit_value(&mut self, ty: &GeneratedType, text: &str) -> String {
        let name = self.emit_hidden_value(text);
        self.body.values.push((ty.clone(), name.clone()));
        name
    }

    /// Emits an instruction whose result nothing else uses.
    fn emit_hidden_value(&mut self, text: &str) -> String {
        let name = self.fresh_name("%v");
        self.write_line(&format!("{name} = {text}"));
        name
    }

    fn open_block(&mut self, block: &str) {
        self.body.text.push_str(block);
        self.body.text.push_str(":\n");
        block.clone_into(&mut self.body.block);
    }

    fn write_kernel(&mut self) {
        self.body = GeneratedBody {
            is_kernel: true,
            ..GeneratedBody::default()
        };
        let scalars = [
            (GeneratedType::Int(32), "%n"),
            (GeneratedType::Float(32), "%x"),
            (GeneratedType::Int(64), "%m"),
            (
                GeneratedType::Vector(Box::new(GeneratedType::Int(32)), 4),
                "%q",
            ),
        ];
        for (ty, name) in scalars {
            self.body.values.push((ty, name.to_owned()));
        }
        self.open_block("entry");
        self.declared
            .insert("declare spir_func i64 @_Z13get_global_idj(i32)\n".to_owned());
        self.write_line("%gid = call spir_func i64 @_Z13get_global_idj(i32 0)");
        self.write_line(&format!("%begin = mul i64 %gid, {INPUT}"));
        self.write_line(&format!("%place = mul i64 %gid, {OUTPUT}"));
        self.write_line("%own = getelementptr inbounds i8, ptr addrspace(1) %out, i64 %place");
        self.write_line(&format!(
            "%scratch = getelementptr inbounds i8, ptr addrspace(1) %own, i64 {}",
            OUTPUT / 2
        ));
        for at in 0..4 + self.c.choose_below(4) as u64 {
            let ty = self.choose_value_type();
            if ty.is_whole() && u64::from(ty.lanes() * ty.bits() / 8) + 8 * at <= INPUT {
                self.read_input(&ty, 8 * at);
            }
        }
        self.local_objects();
        self.emit_regions(3);
        self.write_results();
        self.write_line("ret void");
        let GeneratedBody { text, allocas, .. } = std::mem::take(&mut self.body);
        let text = text.replacen("entry:\n", &format!("entry:\n{allocas}"), 1);
        self.functions.push_str(&format!(
            "define spir_kernel void @{KERNEL}(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n, float %x, i64 %m, <4 x i32> %q) {{\n{text}}}\n"
        ));
    }

    fn read_input(&mut self, ty: &GeneratedType, at: u64) {
        let bytes = GeneratedType::Int(ty.bits());
        let bytes = ty.with_scalar(bytes);
        let offset = self.emit_hidden_value(&format!("add i64 %begin, {at}"));
        let from = self.emit_hidden_value(&format!(
            "getelementptr i8, ptr addrspace(1) %in, i64 {offset}"
        ));
        let align = (ty.bits() / 8).min(8);
        let value = self.emit_value(
            &bytes,
            &format!("load {bytes}, ptr addrspace(1) {from}, align {align}"),
        );
        if ty.is_float() {
            self.emit_value(ty, &format!("sitofp {bytes} {value} to {ty}"));
        }
    }

    /// Stores the last values, each into its own slot.
    fn write_results(&mut self) {
        let values: Vec<(GeneratedType, String)> = self.body.values.iter().rev().cloned().collect();
        let values = values.into_iter().filter(|(ty, _)| ty.is_whole());
        for (n, (ty, value)) in values.take((OUTPUT / 2 / SLOT) as usize).enumerate() {
            let to = self.emit_hidden_value(&format!(
                "getelementptr inbounds i8, ptr addrspace(1) %own, i64 {}",
                n as u64 * SLOT
            ));
            let align = ty.bits() / 8;
            self.write_line(&format!(
                "store {ty} {value}, ptr addrspace(1) {to}, align {align}"
            ));
        }
    }
}
