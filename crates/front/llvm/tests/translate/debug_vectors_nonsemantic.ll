; options: debug=nonsemantic
; Vectors of eight components, which are arrays, and of a type that has another name.
target triple = "spir64-unknown-unknown"

define spir_func void @f(ptr %p, ptr %q) !dbg !20 {
  call void @llvm.dbg.declare(metadata ptr %p, metadata !21, metadata !DIExpression()), !dbg !30
  call void @llvm.dbg.declare(metadata ptr %q, metadata !31, metadata !DIExpression()), !dbg !30
  ret void, !dbg !30
}

declare void @llvm.dbg.declare(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!5, !6}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "a compiler", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.cl", directory: "/src")
!2 = !{}
!5 = !{i32 2, !"Dwarf Version", i32 4}
!6 = !{i32 2, !"Debug Info Version", i32 3}
!20 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !22, scopeLine: 1, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !2)
!21 = !DILocalVariable(name: "eight", arg: 1, scope: !20, file: !1, line: 3, type: !25)
!22 = !DISubroutineType(types: !{null})
!24 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!25 = !DICompositeType(tag: DW_TAG_array_type, baseType: !24, size: 512, flags: DIFlagVector, elements: !26)
!26 = !{!27}
!27 = !DISubrange(count: 8)
!30 = !DILocation(line: 3, column: 3, scope: !20)
!31 = !DILocalVariable(name: "named", arg: 2, scope: !20, file: !1, line: 1, type: !32)
!32 = !DICompositeType(tag: DW_TAG_array_type, baseType: !33, size: 128, flags: DIFlagVector, elements: !34)
!33 = !DIDerivedType(tag: DW_TAG_typedef, name: "real", file: !1, line: 1, baseType: !24)
!34 = !{!35}
!35 = !DISubrange(count: 2)
