define void @f() {
  frobnicate i32 1
  ret void
}
