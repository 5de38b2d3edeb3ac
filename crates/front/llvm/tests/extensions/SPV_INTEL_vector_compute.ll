target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i32 "VCArgumentIOKind"="1" %a) "VCFunction" "VCSIMTCall"="5" {
  ret i32 %a
}
