//! A generator of random kernels in LLVM IR.
//!
//! A program is a kernel over [`ITEMS`] invocations. Each invocation reads its part of a buffer, computes, and
//! writes its results to its part of another; invocations do not communicate. Programs are well-typed, loops end,
//! and addresses stay within their objects. Some operations may be undefined (a shift by too much, the conversion
//! of too large a number); the evaluator knows that their results may be anything.
//!
//! | file | what |
//! | --- | --- |
//! | `interface` | buffers and arguments of kernels |
//! | `generator` | the state, emission of lines |
//! | `types`, `choose_type` | types |
//! | `operands` | values that are there, constants |
//! | `scalars` | arithmetic, comparisons, conversions |
//! | `composites` | vectors and aggregates |
//! | `intrinsics` | LLVM's intrinsics, by table |
//! | `memory` | objects, addresses, accesses, atomics |
//! | `control` | branches, switches, loops, calls |
//! | `graph` | control flow of any shape |

mod choose_type;
mod composites;
mod control;
mod generator;
mod graph;
mod interface;
mod intrinsics;
mod memory;
mod operands;
mod scalars;
mod types;

pub use interface::{ARGUMENTS, INPUT, ITEMS, KERNEL, OUTPUT};

use generator::{GeneratedBody, LlvmGenerator};
use spirula_testing::ChoiceSequence;
use std::collections::BTreeSet;
use types::GeneratedType;

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

impl LlvmGenerator<'_, '_> {
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
