; A value of very many matrices would be composed of as many parts.
target triple = "spirv-unknown-vulkan-compute"
%s = type { [100000000 x [3 x <2 x float>]] }
!spirv.Layouts = !{!0}
!0 = !{%s undef, !1, !2}
!1 = !{!6}
!2 = !{!3, !4, !5, !7}
!3 = !{i32 4}
!4 = !{i32 7, i32 16}
!5 = !{i32 6, i32 32}
!6 = !{i32 2}
!7 = !{i32 35, i32 0}
@v = external addrspace(11) global %s, !spirv.Decorations !8
!8 = !{!9, !10}
!9 = !{i32 34, i32 0}
!10 = !{i32 33, i32 0}
define void @main() #0 {
  %p = getelementptr %s, ptr addrspace(11) @v, i32 0, i32 0
  %x = load [100000000 x [3 x <2 x float>]], ptr addrspace(11) %p
  %y = extractvalue [100000000 x [3 x <2 x float>]] %x, 5
  store [3 x <2 x float>] %y, ptr addrspace(11) @v
  ret void
}
attributes #0 = { "hlsl.shader"="compute" "hlsl.numthreads"="1,1,1" }
