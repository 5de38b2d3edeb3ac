define void @f(ptr %p, <2 x float> %v) {
  %x = atomicrmw elementwise fadd ptr %p, <2 x float> %v monotonic
  ret void
}
