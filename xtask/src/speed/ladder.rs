//! Ladder of similar modules of growing size.

use anyhow::{Context, bail};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Kernels in each module; one is about a kilobyte of bitcode.
const RUNGS: &[usize] = &[125, 500, 2000, 10000];

/// Makes the modules and returns their files, the smallest first.
pub fn make_ladder_modules(folder: &Path, llvm_as: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for &kernels in RUNGS {
        let text = folder.join(format!("ladder-{kernels}.ll"));
        let bitcode = text.with_extension("bc");
        write_ladder_module(&text, kernels).with_context(|| text.display().to_string())?;
        let status = Command::new(llvm_as)
            .arg(&text)
            .arg("-o")
            .arg(&bitcode)
            .status();
        if !status.is_ok_and(|status| status.success()) {
            bail!("{} is missing or fails", llvm_as.display());
        }
        files.push(bitcode);
    }
    Ok(files)
}

fn write_ladder_module(path: &Path, kernels: usize) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "target triple = \"spir64-unknown-unknown\"")?;
    writeln!(out, "declare spir_func i64 @_Z13get_global_idj(i32)")?;
    writeln!(
        out,
        "declare spir_func float @_Z3madfff(float, float, float)"
    )?;
    for number in 0..kernels {
        write_kernel(&mut out, number)?;
    }
    out.flush()
}

/// Writes a kernel with a loop, memory of two address spaces, arithmetic and calls. Its constants and shape depend on
/// its number.
fn write_kernel(out: &mut impl Write, number: usize) -> std::io::Result<()> {
    let steps = 6 + number % 9;
    writeln!(
        out,
        "define spir_kernel void @kernel_{number}(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {{
entry:
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %buffer = alloca [16 x float], align 4
  %from = getelementptr inbounds float, ptr addrspace(1) %in, i64 %id
  %first = load float, ptr addrspace(1) %from, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum0 = phi float [ %first, %entry ], [ %sum{steps}, %loop ]"
    )?;
    for step in 0..steps {
        let (after, factor) = (step + 1, number * 31 + step * 7 + 1);
        writeln!(
            out,
            "  %x{step} = add nsw i32 %i, {factor}
  %y{step} = and i32 %x{step}, 15
  %z{step} = zext i32 %y{step} to i64
  %p{step} = getelementptr inbounds [16 x float], ptr %buffer, i64 0, i64 %z{step}
  store float %sum{step}, ptr %p{step}, align 4
  %q{step} = load float, ptr %p{step}, align 4
  %sum{after} = call spir_func float @_Z3madfff(float %q{step}, float %first, float {factor}.0)"
        )?;
    }
    writeln!(
        out,
        "  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %id
  store float %sum{steps}, ptr addrspace(1) %to, align 4
  ret void
}}"
    )
}
