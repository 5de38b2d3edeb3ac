; Forms of LLVM 20 to 23.
source_filename = "newer.ll"
target triple = "spirv64-unknown-unknown"

@table = addrspace(1) constant { [3 x ptr addrspace(1)] } zeroinitializer
@inside = addrspace(1) constant ptr addrspace(1) getelementptr inbounds inrange(-16, 8) ({ [3 x ptr addrspace(1)] }, ptr addrspace(1) @table, i32 0, i32 0, i32 2)
@address = addrspace(1) global i64 ptrtoaddr (ptr addrspace(1) @table to i64)
@signed = constant ptr ptrauth (ptr @callee, i32 2, i64 1234, ptr null)
@raw = addrspace(1) global b32 7
@specials = addrspace(1) global [6 x float] [float +inf, float -inf, float +qnan, float -nan(0x3), float +snan(0x1), float 0x1.8p3]
@doubles = addrspace(1) global [4 x double] [double -qnan, double -0x1.8p-3, double f0x3FF0000000000000, double +snan(0xF)]
@halves = addrspace(1) global [2 x half] [half -inf, half +0x1p+2]

define void @callee() denormal_fpenv(preservesign) {
  ret void
}

define range(i32 0, 10) i32 @integers(i32 range(i32 -4, 3) %x, ptr captures(address_is_null, ret: address, provenance) %p, ptr initializes((0, 4), (8, 12)) dead_on_return(8) %q) nooutline denormal_fpenv(ieee|dynamic, float: preservesign) memory(argmem: read, errnomem: write) {
  %narrow = trunc nuw nsw i32 %x to i8
  %same = icmp samesign ult i32 %x, 7
  %both = or disjoint i32 %x, 8
  %wide = zext nneg i8 %narrow to i32
  %next = getelementptr nusw nuw i32, ptr %p, i64 3
  %a = atomicrmw uinc_wrap ptr %p, i32 3 seq_cst, align 4
  %b = atomicrmw udec_wrap ptr %p, i32 3 seq_cst, align 4
  %c = atomicrmw usub_cond ptr %p, i32 3 monotonic, align 4
  %d = atomicrmw usub_sat ptr %p, i32 3 acq_rel, align 4
  %e = ptrtoaddr ptr %p to i64
  ret i32 %wide
}

define float @floats(ptr %p, i32 %x, float %f) denormal_fpenv(float: dynamic) {
  %a = atomicrmw fmaximum ptr %p, float %f seq_cst, align 4
  %b = atomicrmw fminimum ptr %p, float %f seq_cst, align 4
  %c = atomicrmw fmaximumnum ptr %p, float %f seq_cst, align 4
  %d = atomicrmw fminimumnum ptr %p, float %f seq_cst, align 4
  %u = uitofp nneg nnan ninf i32 %x to float
  %s = sitofp fast i32 %x to float
  %h = fptrunc nnan float %f to half
  %v = add <4 x i32> zeroinitializer, splat (i32 7)
  ret float %u
}

define void @bytes(ptr %p, b8 %x, b64 %y) {
  store b8 %x, ptr %p
  %v = load b32, ptr %p
  %w = bitcast b32 %v to <2 x b16>
  %q = bitcast b64 %y to ptr
  %z = bitcast ptr %q to b64
  store b64 %z, ptr %q
  ret void
}
