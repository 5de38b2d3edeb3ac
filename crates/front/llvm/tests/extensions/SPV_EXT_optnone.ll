; options: extensions=SPV_EXT_optnone
target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i32 %a) noinline optnone {
  ret i32 %a
}
