; The Mandelbrot set as RGBA: a kernel of OpenCL C, as clang -O1 writes it, with names.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @mandelbrot(ptr addrspace(1) %pixels, float %x, float %y, float %height) {
entry:
  %column.wide = tail call spir_func i64 @_Z13get_global_idj(i32 0)
  %column = trunc i64 %column.wide to i32
  %row.wide = tail call spir_func i64 @_Z13get_global_idj(i32 1)
  %row = trunc i64 %row.wide to i32
  %columns.wide = tail call spir_func i64 @_Z15get_global_sizej(i32 0)
  %columns = trunc i64 %columns.wide to i32
  %rows.wide = tail call spir_func i64 @_Z15get_global_sizej(i32 1)
  %rows = trunc i64 %rows.wide to i32
  %rows.f = sitofp i32 %rows to float
  %step = fdiv float %height, %rows.f
  %left = sdiv i32 %columns, -2
  %dx = add i32 %left, %column
  %dx.f = sitofp i32 %dx to float
  %dx.s = fmul float %step, %dx.f
  %a = fadd float %dx.s, %x
  %top = sdiv i32 %rows, -2
  %dy = add i32 %top, %row
  %dy.f = sitofp i32 %dy to float
  %dy.s = fmul float %step, %dy.f
  %b = fadd float %dy.s, %y
  br label %round

round:
  %q = phi float [ 0.0, %entry ], [ %q.next, %inside ]
  %p = phi float [ 0.0, %entry ], [ %p.next, %inside ]
  %n = phi i32 [ 0, %entry ], [ %n.next, %inside ]
  %qq = fmul float %q, %q
  %pp = fmul float %p, %p
  %norm = fadd float %pp, %qq
  %is.near = fcmp olt float %norm, 1.600000e+01
  br i1 %is.near, label %inside, label %done

inside:
  %difference = fsub float %pp, %qq
  %p.next = fadd float %a, %difference
  %twice = fmul float %p, 2.000000e+00
  %product = fmul float %q, %twice
  %q.next = fadd float %b, %product
  %n.next = add nuw nsw i32 %n, 1
  %is.early = icmp ult i32 %n, 95
  br i1 %is.early, label %round, label %done

done:
  %rounds = phi i32 [ 96, %inside ], [ %n, %round ]
  %is.member = icmp eq i32 %rounds, 96
  %scaled = mul nuw nsw i32 %rounds, 255
  %share = udiv i32 %scaled, 96
  %bright = sub nsw i32 255, %share
  %shade = select i1 %is.member, i32 0, i32 %bright
  %blue = shl i32 %shade, 16
  %square = mul i32 %shade, %shade
  %green = and i32 %square, 16776960
  %cube = mul i32 %square, %shade
  %red = lshr i32 %cube, 16
  %bg = or i32 %blue, %green
  %bgr = or i32 %bg, %red
  %rgba = or i32 %bgr, -16777216
  %start = mul nsw i32 %columns, %row
  %at = add nsw i32 %start, %column
  %at.wide = sext i32 %at to i64
  %place = getelementptr inbounds i32, ptr addrspace(1) %pixels, i64 %at.wide
  store i32 %rgba, ptr addrspace(1) %place, align 4
  ret void
}

declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func i64 @_Z15get_global_sizej(i32)
