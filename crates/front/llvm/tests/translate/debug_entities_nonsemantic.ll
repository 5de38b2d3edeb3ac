; options: debug=nonsemantic
; The same, with what compiled an entry point and which build it is of.
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p) !dbg !20 {
  ret void, !dbg !28
}

define spir_func void @made(i32 %x) !dbg !40 {
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!5, !6}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_17, file: !1, producer: "a compiler", isOptimized: false, flags: "-g -O0", runtimeVersion: 0, splitDebugFilename: "rest.dwo", emissionKind: FullDebug, globals: !2, imports: !7, macros: !12, dwoId: 12345678901)
!1 = !DIFile(filename: "a.cpp", directory: "/src")
!2 = !{}
!5 = !{i32 2, !"Dwarf Version", i32 4}
!6 = !{i32 2, !"Debug Info Version", i32 3}
!7 = !{!8, !9, !11}
!8 = !DIImportedEntity(tag: DW_TAG_imported_module, scope: !0, entity: !10, file: !1, line: 3)
!9 = !DIImportedEntity(tag: DW_TAG_imported_declaration, name: "other", scope: !10, entity: !22, file: !1, line: 4)
!10 = !DINamespace(name: "space", scope: null)
!11 = !DIImportedEntity(tag: DW_TAG_imported_declaration, scope: !0, entity: !20, file: !1, line: 5)
!12 = !{!13, !14}
!13 = !DIMacro(type: DW_MACINFO_define, line: 1, name: "SIZE", value: "5")
!14 = !DIMacroFile(line: 2, file: !15, nodes: !16)
!15 = !DIFile(filename: "a.h", directory: "/src")
!16 = !{!17, !18, !19}
!17 = !DIMacro(type: DW_MACINFO_define, line: 1, name: "EMPTY")
!18 = !DIMacro(type: DW_MACINFO_undef, line: 2, name: "SIZE")
!19 = !DIMacro(type: DW_MACINFO_undef, line: 3, name: "UNKNOWN")
!20 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 10, type: !21, scopeLine: 10, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !2)
!21 = !DISubroutineType(types: !24)
!22 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "pair<int, 3>", scope: !10, file: !1, line: 12, size: 64, flags: DIFlagTypePassByValue, elements: !25, templateParams: !30, identifier: "_ZTS4pairIiLi3EE")
!23 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!24 = !{null, !27, !22}
!25 = !{!26}
!26 = !DIDerivedType(tag: DW_TAG_member, name: "first", scope: !22, file: !1, line: 13, baseType: !23, size: 32)
!27 = !DIDerivedType(tag: DW_TAG_ptr_to_member_type, baseType: !23, size: 64, extraData: !29)
!28 = !DILocation(line: 11, column: 1, scope: !20)
!29 = distinct !DICompositeType(tag: DW_TAG_class_type, name: "plain", file: !1, line: 20, size: 32, elements: !2)
!30 = !{!31, !32, !33, !34}
!31 = !DITemplateTypeParameter(name: "T", type: !23)
!32 = !DITemplateValueParameter(name: "N", type: !23, value: i32 3)
!33 = !DITemplateValueParameter(tag: DW_TAG_GNU_template_template_param, name: "C", value: !"list")
!34 = !DITemplateValueParameter(tag: DW_TAG_GNU_template_parameter_pack, name: "Rest", value: !35)
!35 = !{!36, !37}
!36 = !DITemplateTypeParameter(type: !23)
!37 = !DITemplateValueParameter(type: !38, value: i1 true)
!38 = !DIBasicType(name: "bool", size: 8, encoding: DW_ATE_boolean)
!40 = distinct !DISubprogram(name: "made<int>", linkageName: "_Z4madeIiEvi", scope: !1, file: !1, line: 30, type: !41, scopeLine: 30, spFlags: DISPFlagDefinition, unit: !0, templateParams: !43, retainedNodes: !2)
!41 = !DISubroutineType(types: !42)
!42 = !{null, !23}
!43 = !{!31}
