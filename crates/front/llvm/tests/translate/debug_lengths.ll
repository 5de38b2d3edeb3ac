; A length that a variable holds.
target triple = "spir64-unknown-unknown"

define spir_func void @f(ptr %p) !dbg !20 {
  %vla = alloca i64, align 8
  %n = alloca i64, align 8
  call void @llvm.dbg.declare(metadata ptr %vla, metadata !21, metadata !DIExpression()), !dbg !30
  call void @llvm.dbg.declare(metadata ptr %n, metadata !23, metadata !DIExpression()), !dbg !30
  call void @llvm.dbg.declare(metadata ptr %p, metadata !31, metadata !DIExpression()), !dbg !30
  ret void, !dbg !30
}

declare void @llvm.dbg.declare(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!5, !6}

!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "a compiler", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/src")
!2 = !{}
!5 = !{i32 2, !"Dwarf Version", i32 4}
!6 = !{i32 2, !"Debug Info Version", i32 3}
!20 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !22, scopeLine: 1, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !2)
!21 = !DILocalVariable(name: "vla", scope: !20, file: !1, line: 3, type: !25)
!22 = !DISubroutineType(types: !{null})
!23 = !DILocalVariable(name: "__vla_expr0", scope: !20, type: !24, flags: DIFlagArtificial)
!24 = !DIBasicType(name: "unsigned long", size: 64, encoding: DW_ATE_unsigned)
!25 = !DICompositeType(tag: DW_TAG_array_type, baseType: !24, elements: !26)
!26 = !{!27}
!27 = !DISubrange(count: !23)
!30 = !DILocation(line: 3, column: 3, scope: !20)
!31 = !DILocalVariable(name: "table", arg: 1, scope: !20, file: !1, line: 1, type: !32)
!32 = !DICompositeType(tag: DW_TAG_array_type, baseType: !33, size: 4800, elements: !34, dataLocation: !DIExpression(DW_OP_deref), rank: i64 2)
!33 = !DIStringType(name: "character", size: 80)
!34 = !{!35, !36}
!35 = !DISubrange(count: 3, lowerBound: 1)
!36 = !DISubrange(lowerBound: -2, upperBound: i64 17, stride: !DIExpression(DW_OP_constu, 10))
