; options: kernels=kernel
; A module for a host: pointers get address spaces by what they lead to.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = private constant [2 x float] [float 1.0, float 2.0]
@tile = internal global [4 x float] zeroinitializer, section ".workgroup"

declare i64 @_Z13get_global_idj(i32)
declare void @_ZN4core9panicking5panic17h0123456789abcdefE(ptr, i64) noreturn
declare i32 @personality(...)

; Called with pointers to different memory alone.
define internal float @joined(ptr %p) {
  %a = load float, ptr %p, align 4
  ret float %a
}

; Called with pointers to the device's memory alone.
define internal void @same(ptr %p, float %x) {
  store float %x, ptr %p, align 4
  ret void
}

define void @kernel(ptr %in, ptr %out, i64 %n) personality ptr @personality {
start:
  %own = alloca [2 x float], align 4
  %kept = alloca ptr, align 8
  %i = call i64 @_Z13get_global_idj(i32 0)
  %inside = icmp ult i64 %i, %n
  br i1 %inside, label %ok, label %panic

ok:
  store float 3.0, ptr %own, align 4
  %a = call float @joined(ptr %own)
  %from = getelementptr inbounds float, ptr %in, i64 %i
  %b = call float @joined(ptr %from)
  %c = load float, ptr getelementptr inbounds (i8, ptr @table, i64 4), align 4
  store float %c, ptr @tile, align 4
  %to = getelementptr inbounds float, ptr %out, i64 %i
  store ptr %to, ptr %kept, align 8
  %s = fadd float %a, %b
  call void @same(ptr %to, float %s)
  %again = load ptr, ptr %kept, align 8
  store float %s, ptr %again, align 4
  ret void

panic:
  call void @_ZN4core9panicking5panic17h0123456789abcdefE(ptr @table, i64 2)
  unreachable
}
