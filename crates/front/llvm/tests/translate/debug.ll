; Debug information: units, types, functions, blocks, variables, places; by records and by calls.
target triple = "spir64-unknown-unknown"

%pair = type { i32, ptr }

@counter = internal addrspace(1) global i32 0, align 4, !dbg !30

define spir_func i32 @inner(i32 %x) !dbg !8 {
  %v = alloca %pair, align 8
    #dbg_value(i32 %x, !11, !DIExpression(), !13)
    #dbg_declare(ptr %v, !14, !DIExpression(), !13)
  %y = add i32 %x, 1, !dbg !13
  %z = mul i32 %y, 3, !dbg !15
  ret i32 %z, !dbg !16
}

define spir_kernel void @outer(ptr addrspace(1) %p) !dbg !9 {
  call void @llvm.dbg.value(metadata ptr addrspace(1) %p, metadata !25, metadata !DIExpression(DW_OP_plus_uconst, 4)), !dbg !26
  %a = load i32, ptr addrspace(1) %p, align 4, !dbg !26
  %b = mul i32 %a, 3, !dbg !27
  store i32 %b, ptr addrspace(1) %p, align 4
  ret void, !dbg !26
}

declare void @llvm.dbg.value(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1, !2}
!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !3, producer: "p", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug, globals: !32)
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !DIFile(filename: "a.cl", directory: "/d")
!4 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!5 = !DISubroutineType(types: !6)
!6 = !{!4, !4}
!7 = !DISubroutineType(types: !33)
!8 = distinct !DISubprogram(name: "inner", linkageName: "inner", scope: !3, file: !3, line: 3, type: !5, scopeLine: 4, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!9 = distinct !DISubprogram(name: "outer", scope: !3, file: !3, line: 10, type: !7, scopeLine: 10, spFlags: DISPFlagDefinition, unit: !0)
!10 = distinct !DILexicalBlock(scope: !8, file: !3, line: 5, column: 2)
!11 = !DILocalVariable(name: "x", arg: 1, scope: !8, file: !3, line: 3, type: !12)
!12 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !34)
!13 = !DILocation(line: 4, column: 7, scope: !8)
!14 = !DILocalVariable(name: "v", scope: !10, file: !3, line: 5, type: !17)
!15 = !DILocation(line: 5, column: 3, scope: !10)
!16 = !DILocation(line: 6, column: 3, scope: !8)
!17 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "pair", file: !3, line: 1, size: 128, elements: !18)
!18 = !{!19, !20}
!19 = !DIDerivedType(tag: DW_TAG_member, name: "first", scope: !17, file: !3, line: 1, baseType: !4, size: 32)
!20 = !DIDerivedType(tag: DW_TAG_member, name: "next", scope: !17, file: !3, line: 1, baseType: !21, size: 64, offset: 64)
!21 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !17, size: 64)
!22 = !DICompositeType(tag: DW_TAG_array_type, baseType: !4, size: 128, elements: !23)
!23 = !{!24}
!24 = !DISubrange(count: 4)
!25 = !DILocalVariable(name: "p", arg: 1, scope: !9, file: !3, line: 10, type: !35)
!26 = !DILocation(line: 11, column: 1, scope: !9)
!27 = !DILocation(line: 5, column: 3, scope: !10, inlinedAt: !28)
!28 = distinct !DILocation(line: 12, column: 2, scope: !9)
!30 = !DIGlobalVariableExpression(var: !31, expr: !DIExpression())
!31 = distinct !DIGlobalVariable(name: "counter", scope: !0, file: !3, line: 2, type: !4, isLocal: true, isDefinition: true)
!32 = !{!30}
!33 = !{null, !35}
!34 = !DIDerivedType(tag: DW_TAG_typedef, name: "number", file: !3, line: 1, baseType: !4)
!35 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !22, size: 64, dwarfAddressSpace: 1)
