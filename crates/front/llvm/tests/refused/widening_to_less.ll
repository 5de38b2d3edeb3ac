define i32 @f(i32 %x) {
  %y = zext i64 1 to i32
  ret i32 %y
}
