define void @f() denormal_fpenv(ieee|flush) {
  ret void
}
