; Brain floats: their own type in memory, arithmetic in 32 bits.
target triple = "spir64-unknown-unknown"

@g = addrspace(1) global bfloat 0xR3F80

define spir_func bfloat @mixed(bfloat %a, bfloat %b, i32 %i, half %h) {
  %sum = fadd fast bfloat %a, %b
  %minus = fneg bfloat %sum
  %n = sitofp i32 %i to bfloat
  %less = fcmp olt bfloat %minus, %n
  %chosen = select i1 %less, bfloat %sum, bfloat %n
  %root = call bfloat @llvm.sqrt.bf16(bfloat %chosen)
  %wide = fpext bfloat %root to float
  %narrow = fptrunc float %wide to bfloat
  %other = fpext half %h to float
  %bits = bitcast bfloat %narrow to i16
  %back = bitcast i16 %bits to bfloat
  %old = load bfloat, ptr addrspace(1) @g, align 2
  %all = fmul bfloat %back, %old
  ret bfloat %all
}

define spir_func <4 x bfloat> @vectors(<4 x bfloat> %v, ptr addrspace(1) %p) {
  store <4 x bfloat> %v, ptr addrspace(1) %p, align 8
  %w = fsub <4 x bfloat> %v, splat (bfloat 0xR3F80)
  ret <4 x bfloat> %w
}

declare bfloat @llvm.sqrt.bf16(bfloat)

define spir_func bfloat @builtins(bfloat %a, bfloat %b) {
  %c = call spir_func bfloat @_Z4fmaxDF16bDF16b(bfloat %a, bfloat %b)
  ret bfloat %c
}

declare spir_func bfloat @_Z4fmaxDF16bDF16b(bfloat, bfloat)
