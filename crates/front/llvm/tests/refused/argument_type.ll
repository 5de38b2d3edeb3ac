define void @f(i32 %x) {
  call void @g(i64 %x)
  ret void
}
declare void @g(i64)
