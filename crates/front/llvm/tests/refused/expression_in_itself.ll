define void @f(i32 %x) {
  call void @llvm.dbg.value(metadata i32 %x, metadata !0, metadata !1)
  ret void
}

declare void @llvm.dbg.value(metadata, metadata, metadata)

!0 = !{}
!1 = !DIExpression(!1)
