define void @f() {
  %x = alloca float, align 3
  ret void
}
