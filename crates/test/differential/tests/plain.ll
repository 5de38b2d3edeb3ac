; What the operations of predicated.ll mean, in plain instructions.

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

declare spir_func i64 @_Z13get_global_idj(i32)

define spir_kernel void @kernel(ptr addrspace(1) %input, ptr addrspace(1) %output, i32 %p0, float %p1, i64 %p2, <4 x i32> %p3) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from.offset = mul i64 %id, 64
  %from = getelementptr i8, ptr addrspace(1) %input, i64 %from.offset
  %to.offset = mul i64 %id, 2048
  %to = getelementptr i8, ptr addrspace(1) %output, i64 %to.offset
  %first = load <4 x i32>, ptr addrspace(1) %from, align 4
  %second = getelementptr i8, ptr addrspace(1) %from, i64 16
  %b = load <4 x i32>, ptr addrspace(1) %second, align 4
  %a = xor <4 x i32> %first, %p3
  %third = getelementptr i8, ptr addrspace(1) %from, i64 32
  %bits = load i32, ptr addrspace(1) %third, align 4
  %n = and i32 %bits, 3
  %shifted = lshr <4 x i32> %a, splat (i32 7)
  %odd = and <4 x i32> %shifted, splat (i32 1)
  %m = icmp ne <4 x i32> %odd, zeroinitializer
  %small = and <4 x i32> %b, splat (i32 3)
  %n.1 = insertelement <4 x i32> poison, i32 %n, i64 0
  %n.all = shufflevector <4 x i32> %n.1, <4 x i32> poison, <4 x i32> zeroinitializer
  %within = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %n.all
  %active = and <4 x i1> %within, %m
  %to1 = getelementptr i8, ptr addrspace(1) %to, i64 16
  %to2 = getelementptr i8, ptr addrspace(1) %to, i64 32
  %to3 = getelementptr i8, ptr addrspace(1) %to, i64 48
  %to4 = getelementptr i8, ptr addrspace(1) %to, i64 64
  %to5 = getelementptr i8, ptr addrspace(1) %to, i64 80
  %nonzero = icmp ne <4 x i32> %small, zeroinitializer
  %may = and <4 x i1> %active, %nonzero
  %sum = add <4 x i32> %a, %b
  %by = select <4 x i1> %may, <4 x i32> %small, <4 x i32> splat (i32 1)
  %quotient = udiv <4 x i32> %sum, %by
  %is = icmp slt <4 x i32> %quotient, %b
  %least = select <4 x i1> %is, <4 x i32> %quotient, <4 x i32> %b
  %known = select <4 x i1> %may, <4 x i32> %least, <4 x i32> %b
  store <4 x i32> %known, ptr addrspace(1) %to, align 16
  %less = icmp slt <4 x i32> %a, %b
  %wide = zext <4 x i1> %less to <4 x i32>
  store <4 x i32> %wide, ptr addrspace(1) %to1, align 16
  %a0 = extractelement <4 x i32> %a, i64 0
  %a1 = extractelement <4 x i32> %a, i64 1
  %a2 = extractelement <4 x i32> %a, i64 2
  %a3 = extractelement <4 x i32> %a, i64 3
  %b0 = extractelement <4 x i32> %b, i64 0
  %b1 = extractelement <4 x i32> %b, i64 1
  %b2 = extractelement <4 x i32> %b, i64 2
  %b3 = extractelement <4 x i32> %b, i64 3
  %small0 = extractelement <4 x i32> %small, i64 0
  %small1 = extractelement <4 x i32> %small, i64 1
  %small2 = extractelement <4 x i32> %small, i64 2
  %small3 = extractelement <4 x i32> %small, i64 3
  %on0 = extractelement <4 x i1> %active, i64 0
  %on1 = extractelement <4 x i1> %active, i64 1
  %on2 = extractelement <4 x i1> %active, i64 2
  %on3 = extractelement <4 x i1> %active, i64 3
  %t0.x = add i32 %bits, %a0
  %t0 = select i1 %on0, i32 %t0.x, i32 %bits
  %u0.c = icmp sgt i32 %b0, %p0
  %u0.b = and i1 %u0.c, %on0
  %u0 = select i1 %u0.b, i32 %b0, i32 %p0
  %t1.x = add i32 %t0, %a1
  %t1 = select i1 %on1, i32 %t1.x, i32 %t0
  %u1.c = icmp sgt i32 %b1, %u0
  %u1.b = and i1 %u1.c, %on1
  %u1 = select i1 %u1.b, i32 %b1, i32 %u0
  %t2.x = add i32 %t1, %a2
  %t2 = select i1 %on2, i32 %t2.x, i32 %t1
  %u2.c = icmp sgt i32 %b2, %u1
  %u2.b = and i1 %u2.c, %on2
  %u2 = select i1 %u2.b, i32 %b2, i32 %u1
  %t3.x = add i32 %t2, %a3
  %t3 = select i1 %on3, i32 %t3.x, i32 %t2
  %u3.c = icmp sgt i32 %b3, %u2
  %u3.b = and i1 %u3.c, %on3
  %u3 = select i1 %u3.b, i32 %b3, i32 %u2
  %l3.c = icmp ne i32 %small3, 0
  %l3.b = and i1 %l3.c, %on3
  %l3 = select i1 %l3.b, i32 3, i32 %n
  %l2.c = icmp ne i32 %small2, 0
  %l2.b = and i1 %l2.c, %on2
  %l2 = select i1 %l2.b, i32 2, i32 %l3
  %l1.c = icmp ne i32 %small1, 0
  %l1.b = and i1 %l1.c, %on1
  %l1 = select i1 %l1.b, i32 1, i32 %l2
  %l0.c = icmp ne i32 %small0, 0
  %l0.b = and i1 %l0.c, %on0
  %l0 = select i1 %l0.b, i32 0, i32 %l1
  store i32 %t3, ptr addrspace(1) %to2, align 4
  %to2.1 = getelementptr i8, ptr addrspace(1) %to, i64 36
  store i32 %u3, ptr addrspace(1) %to2.1, align 4
  %to2.2 = getelementptr i8, ptr addrspace(1) %to, i64 40
  store i32 %l0, ptr addrspace(1) %to2.2, align 4
  %stored = select <4 x i1> %active, <4 x i32> %a, <4 x i32> %b
  store <4 x i32> %stored, ptr addrspace(1) %to3, align 16
  %loaded = select <4 x i1> %active, <4 x i32> %first, <4 x i32> %b
  store <4 x i32> %loaded, ptr addrspace(1) %to4, align 16
  store <4 x i32> %a, ptr addrspace(1) %to5, align 16
  ret void
}
