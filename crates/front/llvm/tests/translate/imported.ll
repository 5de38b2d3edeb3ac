; options: import=llvm.custom.
; What is not known is declared where the options say so.
target triple = "spir64-unknown-unknown"

declare i32 @llvm.custom.thing(i32)
; Of vector computing, whose extension says that its intrinsics stay as they are.
declare i32 @llvm.genx.thing(i32)
; A function of that name that takes too little is somebody's own.
declare spir_func void @_Z3minv()

define spir_func i32 @f(i32 %a) {
  %b = call i32 @llvm.custom.thing(i32 %a)
  %c = call i32 @llvm.genx.thing(i32 %b)
  call spir_func void @_Z3minv()
  ret i32 %c
}
