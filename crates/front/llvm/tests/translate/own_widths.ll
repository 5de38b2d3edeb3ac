; options: extensions=SPV_INTEL_arbitrary_precision_integers
; Integers have their own widths where the extension was asked for by its name.
target triple = "spir64-unknown-unknown"

define spir_func i13 @own(i13 %a, i13 %b, ptr addrspace(1) %p) {
  %sum = add i13 %a, %b
  %quotient = sdiv i13 %sum, 5
  %less = icmp slt i13 %quotient, %b
  %wider = sext i13 %quotient to i29
  store i29 %wider, ptr addrspace(1) %p, align 4
  %chosen = select i1 %less, i13 %sum, i13 -1
  ret i13 %chosen
}
