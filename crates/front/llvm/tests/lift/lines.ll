target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spir64-unknown-unknown"

define internal spir_func i32 @helper(i32 %x) #0 !dbg !0 {
0:
  %1 = add i32 %x, 1, !dbg !1
  ret i32 %1, !dbg !1
}

define spir_kernel void @k(ptr addrspace(1) %p) #0 !kernel_arg_addr_space !2 !kernel_arg_access_qual !3 !kernel_arg_base_type !4 !kernel_arg_type !5 !kernel_arg_type_qual !6 !dbg !7 {
0:
  %1 = load i32, ptr addrspace(1) %p, align 4, !dbg !8
  %2 = add i32 %1, 1, !dbg !9
  %3 = call spir_func i32 @helper(i32 %2), !dbg !10
  br label %4
4:
  store i32 %3, ptr addrspace(1) %p, align 4, !dbg !11
  ret void, !dbg !11
}

attributes #0 = { nounwind }
!llvm.dbg.cu = !{!12}
!llvm.module.flags = !{!13}
!0 = distinct !DISubprogram(name: "helper", scope: !14, file: !14, line: 3, type: !15, scopeLine: 3, spFlags: DISPFlagDefinition, unit: !12)
!1 = !DILocation(line: 3, column: 7, scope: !0)
!2 = !{i32 1}
!3 = !{!"none"}
!4 = !{!"int*"}
!5 = !{!"int*"}
!6 = !{!""}
!7 = distinct !DISubprogram(name: "k", scope: !16, file: !16, line: 10, type: !17, scopeLine: 10, spFlags: DISPFlagDefinition, unit: !12)
!8 = !DILocation(line: 10, column: 4, scope: !7)
!9 = !DILocation(line: 5, column: 1, scope: !18)
!10 = !DILocation(line: 0, column: 0, scope: !7)
!11 = !DILocation(line: 12, column: 0, scope: !7)
!12 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !14, isOptimized: false, runtimeVersion: 0, emissionKind: LineTablesOnly)
!13 = !{i32 2, !"Debug Info Version", i32 3}
!14 = !DIFile(filename: "helper.h", directory: "")
!15 = !DISubroutineType(types: !19)
!16 = !DIFile(filename: "kernel.cl", directory: "/src")
!17 = !DISubroutineType(types: !20)
!18 = !DILexicalBlockFile(scope: !7, file: !14, discriminator: 0)
!19 = !{null}
!20 = !{null}
