define void @f(i32 %x) {
  %y = fadd i32 %x, %x
  ret void
}
