; Integers of more than 64 bits: every operation in limbs.

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

declare spir_func i64 @_Z13get_global_idj(i32)
declare i128 @llvm.ctpop.i128(i128)
declare i128 @llvm.umin.i128(i128, i128)
declare i128 @llvm.smax.i128(i128, i128)
declare i128 @llvm.ctlz.i128(i128, i1)
declare i128 @llvm.cttz.i128(i128, i1)
declare i100 @llvm.ctpop.i100(i100)
declare i100 @llvm.umin.i100(i100, i100)
declare i100 @llvm.smax.i100(i100, i100)
declare i100 @llvm.ctlz.i100(i100, i1)
declare i100 @llvm.cttz.i100(i100, i1)
declare i65 @llvm.ctpop.i65(i65)
declare i65 @llvm.umin.i65(i65, i65)
declare i65 @llvm.smax.i65(i65, i65)
declare i65 @llvm.ctlz.i65(i65, i1)
declare i65 @llvm.cttz.i65(i65, i1)

define spir_kernel void @kernel(ptr addrspace(1) %input, ptr addrspace(1) %output, i32 %p0, float %p1, i64 %p2, <4 x i32> %p3) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from.offset = mul i64 %id, 64
  %from = getelementptr i8, ptr addrspace(1) %input, i64 %from.offset
  %to.offset = mul i64 %id, 2048
  %to = getelementptr i8, ptr addrspace(1) %output, i64 %to.offset
  %a = load i128, ptr addrspace(1) %from, align 16
  %next = getelementptr i8, ptr addrspace(1) %from, i64 16
  %b = load i128, ptr addrspace(1) %next, align 16
  %w1 = or i128 %b, 1
  %w2 = add i128 %a, %b
  %w3 = getelementptr i8, ptr addrspace(1) %to, i64 0
  store i128 %w2, ptr addrspace(1) %w3, align 16
  %w4 = sub i128 %a, %b
  %w5 = getelementptr i8, ptr addrspace(1) %to, i64 16
  store i128 %w4, ptr addrspace(1) %w5, align 16
  %w6 = mul i128 %a, %b
  %w7 = getelementptr i8, ptr addrspace(1) %to, i64 32
  store i128 %w6, ptr addrspace(1) %w7, align 16
  %w8 = and i128 %a, %b
  %w9 = getelementptr i8, ptr addrspace(1) %to, i64 48
  store i128 %w8, ptr addrspace(1) %w9, align 16
  %w10 = or i128 %a, %b
  %w11 = getelementptr i8, ptr addrspace(1) %to, i64 64
  store i128 %w10, ptr addrspace(1) %w11, align 16
  %w12 = xor i128 %a, %b
  %w13 = getelementptr i8, ptr addrspace(1) %to, i64 80
  store i128 %w12, ptr addrspace(1) %w13, align 16
  %w14 = udiv i128 %a, %w1
  %w15 = getelementptr i8, ptr addrspace(1) %to, i64 96
  store i128 %w14, ptr addrspace(1) %w15, align 16
  %w16 = sdiv i128 %a, %w1
  %w17 = getelementptr i8, ptr addrspace(1) %to, i64 112
  store i128 %w16, ptr addrspace(1) %w17, align 16
  %w18 = urem i128 %a, %w1
  %w19 = getelementptr i8, ptr addrspace(1) %to, i64 128
  store i128 %w18, ptr addrspace(1) %w19, align 16
  %w20 = srem i128 %a, %w1
  %w21 = getelementptr i8, ptr addrspace(1) %to, i64 144
  store i128 %w20, ptr addrspace(1) %w21, align 16
  %w22 = and i128 %w1, 1023
  %w23 = or i128 %w22, 1
  %w24 = udiv i128 %a, %w23
  %w25 = getelementptr i8, ptr addrspace(1) %to, i64 160
  store i128 %w24, ptr addrspace(1) %w25, align 16
  %w26 = srem i128 %a, %w23
  %w27 = getelementptr i8, ptr addrspace(1) %to, i64 176
  store i128 %w26, ptr addrspace(1) %w27, align 16
  %w28 = and i128 %b, 63
  %w29 = shl i128 %a, %w28
  %w30 = getelementptr i8, ptr addrspace(1) %to, i64 192
  store i128 %w29, ptr addrspace(1) %w30, align 16
  %w31 = lshr i128 %a, %w28
  %w32 = getelementptr i8, ptr addrspace(1) %to, i64 208
  store i128 %w31, ptr addrspace(1) %w32, align 16
  %w33 = ashr i128 %a, %w28
  %w34 = getelementptr i8, ptr addrspace(1) %to, i64 224
  store i128 %w33, ptr addrspace(1) %w34, align 16
  %w35 = shl i128 %a, 64
  %w36 = getelementptr i8, ptr addrspace(1) %to, i64 240
  store i128 %w35, ptr addrspace(1) %w36, align 16
  %w37 = lshr i128 %a, 64
  %w38 = getelementptr i8, ptr addrspace(1) %to, i64 256
  store i128 %w37, ptr addrspace(1) %w38, align 16
  %w39 = ashr i128 %a, 64
  %w40 = getelementptr i8, ptr addrspace(1) %to, i64 272
  store i128 %w39, ptr addrspace(1) %w40, align 16
  %w41 = icmp ult i128 %a, %b
  %w42 = select i1 %w41, i128 %a, i128 %b
  %w43 = getelementptr i8, ptr addrspace(1) %to, i64 288
  store i128 %w42, ptr addrspace(1) %w43, align 16
  %w44 = icmp slt i128 %a, %b
  %w45 = select i1 %w44, i128 %a, i128 %b
  %w46 = getelementptr i8, ptr addrspace(1) %to, i64 304
  store i128 %w45, ptr addrspace(1) %w46, align 16
  %w47 = icmp sge i128 %a, %b
  %w48 = select i1 %w47, i128 %a, i128 %b
  %w49 = getelementptr i8, ptr addrspace(1) %to, i64 320
  store i128 %w48, ptr addrspace(1) %w49, align 16
  %w50 = icmp eq i128 %a, %b
  %w51 = select i1 %w50, i128 %a, i128 %b
  %w52 = getelementptr i8, ptr addrspace(1) %to, i64 336
  store i128 %w51, ptr addrspace(1) %w52, align 16
  %w53 = call i128 @llvm.ctpop.i128(i128 %a)
  %w54 = getelementptr i8, ptr addrspace(1) %to, i64 352
  store i128 %w53, ptr addrspace(1) %w54, align 16
  %w55 = call i128 @llvm.umin.i128(i128 %a, i128 %b)
  %w56 = getelementptr i8, ptr addrspace(1) %to, i64 368
  store i128 %w55, ptr addrspace(1) %w56, align 16
  %w57 = call i128 @llvm.smax.i128(i128 %a, i128 %b)
  %w58 = getelementptr i8, ptr addrspace(1) %to, i64 384
  store i128 %w57, ptr addrspace(1) %w58, align 16
  %w59 = call i128 @llvm.ctlz.i128(i128 %a, i1 false)
  %w60 = getelementptr i8, ptr addrspace(1) %to, i64 400
  store i128 %w59, ptr addrspace(1) %w60, align 16
  %w61 = call i128 @llvm.cttz.i128(i128 %a, i1 false)
  %w62 = getelementptr i8, ptr addrspace(1) %to, i64 416
  store i128 %w61, ptr addrspace(1) %w62, align 16
  %w63 = trunc i128 %a to i32
  %w64 = sext i32 %w63 to i128
  %w65 = getelementptr i8, ptr addrspace(1) %to, i64 432
  store i128 %w64, ptr addrspace(1) %w65, align 16
  %w66 = uitofp i128 %a to double
  %w67 = bitcast double %w66 to i64
  %w68 = zext i64 %w67 to i128
  %w69 = getelementptr i8, ptr addrspace(1) %to, i64 448
  store i128 %w68, ptr addrspace(1) %w69, align 16
  %w70 = trunc i128 %a to i100
  %w71 = trunc i128 %b to i100
  %w72 = or i100 %w71, 1
  %w73 = add i100 %w70, %w71
  %w74 = zext i100 %w73 to i128
  %w75 = getelementptr i8, ptr addrspace(1) %to, i64 464
  store i128 %w74, ptr addrspace(1) %w75, align 16
  %w76 = sub i100 %w70, %w71
  %w77 = zext i100 %w76 to i128
  %w78 = getelementptr i8, ptr addrspace(1) %to, i64 480
  store i128 %w77, ptr addrspace(1) %w78, align 16
  %w79 = mul i100 %w70, %w71
  %w80 = zext i100 %w79 to i128
  %w81 = getelementptr i8, ptr addrspace(1) %to, i64 496
  store i128 %w80, ptr addrspace(1) %w81, align 16
  %w82 = and i100 %w70, %w71
  %w83 = zext i100 %w82 to i128
  %w84 = getelementptr i8, ptr addrspace(1) %to, i64 512
  store i128 %w83, ptr addrspace(1) %w84, align 16
  %w85 = or i100 %w70, %w71
  %w86 = zext i100 %w85 to i128
  %w87 = getelementptr i8, ptr addrspace(1) %to, i64 528
  store i128 %w86, ptr addrspace(1) %w87, align 16
  %w88 = xor i100 %w70, %w71
  %w89 = zext i100 %w88 to i128
  %w90 = getelementptr i8, ptr addrspace(1) %to, i64 544
  store i128 %w89, ptr addrspace(1) %w90, align 16
  %w91 = udiv i100 %w70, %w72
  %w92 = zext i100 %w91 to i128
  %w93 = getelementptr i8, ptr addrspace(1) %to, i64 560
  store i128 %w92, ptr addrspace(1) %w93, align 16
  %w94 = sdiv i100 %w70, %w72
  %w95 = zext i100 %w94 to i128
  %w96 = getelementptr i8, ptr addrspace(1) %to, i64 576
  store i128 %w95, ptr addrspace(1) %w96, align 16
  %w97 = urem i100 %w70, %w72
  %w98 = zext i100 %w97 to i128
  %w99 = getelementptr i8, ptr addrspace(1) %to, i64 592
  store i128 %w98, ptr addrspace(1) %w99, align 16
  %w100 = srem i100 %w70, %w72
  %w101 = zext i100 %w100 to i128
  %w102 = getelementptr i8, ptr addrspace(1) %to, i64 608
  store i128 %w101, ptr addrspace(1) %w102, align 16
  %w103 = and i100 %w72, 1023
  %w104 = or i100 %w103, 1
  %w105 = udiv i100 %w70, %w104
  %w106 = zext i100 %w105 to i128
  %w107 = getelementptr i8, ptr addrspace(1) %to, i64 624
  store i128 %w106, ptr addrspace(1) %w107, align 16
  %w108 = srem i100 %w70, %w104
  %w109 = zext i100 %w108 to i128
  %w110 = getelementptr i8, ptr addrspace(1) %to, i64 640
  store i128 %w109, ptr addrspace(1) %w110, align 16
  %w111 = and i100 %w71, 63
  %w112 = shl i100 %w70, %w111
  %w113 = zext i100 %w112 to i128
  %w114 = getelementptr i8, ptr addrspace(1) %to, i64 656
  store i128 %w113, ptr addrspace(1) %w114, align 16
  %w115 = lshr i100 %w70, %w111
  %w116 = zext i100 %w115 to i128
  %w117 = getelementptr i8, ptr addrspace(1) %to, i64 672
  store i128 %w116, ptr addrspace(1) %w117, align 16
  %w118 = ashr i100 %w70, %w111
  %w119 = zext i100 %w118 to i128
  %w120 = getelementptr i8, ptr addrspace(1) %to, i64 688
  store i128 %w119, ptr addrspace(1) %w120, align 16
  %w121 = shl i100 %w70, 64
  %w122 = zext i100 %w121 to i128
  %w123 = getelementptr i8, ptr addrspace(1) %to, i64 704
  store i128 %w122, ptr addrspace(1) %w123, align 16
  %w124 = lshr i100 %w70, 64
  %w125 = zext i100 %w124 to i128
  %w126 = getelementptr i8, ptr addrspace(1) %to, i64 720
  store i128 %w125, ptr addrspace(1) %w126, align 16
  %w127 = ashr i100 %w70, 64
  %w128 = zext i100 %w127 to i128
  %w129 = getelementptr i8, ptr addrspace(1) %to, i64 736
  store i128 %w128, ptr addrspace(1) %w129, align 16
  %w130 = icmp ult i100 %w70, %w71
  %w131 = select i1 %w130, i100 %w70, i100 %w71
  %w132 = zext i100 %w131 to i128
  %w133 = getelementptr i8, ptr addrspace(1) %to, i64 752
  store i128 %w132, ptr addrspace(1) %w133, align 16
  %w134 = icmp slt i100 %w70, %w71
  %w135 = select i1 %w134, i100 %w70, i100 %w71
  %w136 = zext i100 %w135 to i128
  %w137 = getelementptr i8, ptr addrspace(1) %to, i64 768
  store i128 %w136, ptr addrspace(1) %w137, align 16
  %w138 = icmp sge i100 %w70, %w71
  %w139 = select i1 %w138, i100 %w70, i100 %w71
  %w140 = zext i100 %w139 to i128
  %w141 = getelementptr i8, ptr addrspace(1) %to, i64 784
  store i128 %w140, ptr addrspace(1) %w141, align 16
  %w142 = icmp eq i100 %w70, %w71
  %w143 = select i1 %w142, i100 %w70, i100 %w71
  %w144 = zext i100 %w143 to i128
  %w145 = getelementptr i8, ptr addrspace(1) %to, i64 800
  store i128 %w144, ptr addrspace(1) %w145, align 16
  %w146 = call i100 @llvm.ctpop.i100(i100 %w70)
  %w147 = zext i100 %w146 to i128
  %w148 = getelementptr i8, ptr addrspace(1) %to, i64 816
  store i128 %w147, ptr addrspace(1) %w148, align 16
  %w149 = call i100 @llvm.umin.i100(i100 %w70, i100 %w71)
  %w150 = zext i100 %w149 to i128
  %w151 = getelementptr i8, ptr addrspace(1) %to, i64 832
  store i128 %w150, ptr addrspace(1) %w151, align 16
  %w152 = call i100 @llvm.smax.i100(i100 %w70, i100 %w71)
  %w153 = zext i100 %w152 to i128
  %w154 = getelementptr i8, ptr addrspace(1) %to, i64 848
  store i128 %w153, ptr addrspace(1) %w154, align 16
  %w155 = call i100 @llvm.ctlz.i100(i100 %w70, i1 false)
  %w156 = zext i100 %w155 to i128
  %w157 = getelementptr i8, ptr addrspace(1) %to, i64 864
  store i128 %w156, ptr addrspace(1) %w157, align 16
  %w158 = call i100 @llvm.cttz.i100(i100 %w70, i1 false)
  %w159 = zext i100 %w158 to i128
  %w160 = getelementptr i8, ptr addrspace(1) %to, i64 880
  store i128 %w159, ptr addrspace(1) %w160, align 16
  %w161 = trunc i100 %w70 to i32
  %w162 = sext i32 %w161 to i100
  %w163 = zext i100 %w162 to i128
  %w164 = getelementptr i8, ptr addrspace(1) %to, i64 896
  store i128 %w163, ptr addrspace(1) %w164, align 16
  %w165 = trunc i128 %a to i65
  %w166 = trunc i128 %b to i65
  %w167 = or i65 %w166, 1
  %w168 = add i65 %w165, %w166
  %w169 = zext i65 %w168 to i128
  %w170 = getelementptr i8, ptr addrspace(1) %to, i64 912
  store i128 %w169, ptr addrspace(1) %w170, align 16
  %w171 = sub i65 %w165, %w166
  %w172 = zext i65 %w171 to i128
  %w173 = getelementptr i8, ptr addrspace(1) %to, i64 928
  store i128 %w172, ptr addrspace(1) %w173, align 16
  %w174 = mul i65 %w165, %w166
  %w175 = zext i65 %w174 to i128
  %w176 = getelementptr i8, ptr addrspace(1) %to, i64 944
  store i128 %w175, ptr addrspace(1) %w176, align 16
  %w177 = and i65 %w165, %w166
  %w178 = zext i65 %w177 to i128
  %w179 = getelementptr i8, ptr addrspace(1) %to, i64 960
  store i128 %w178, ptr addrspace(1) %w179, align 16
  %w180 = or i65 %w165, %w166
  %w181 = zext i65 %w180 to i128
  %w182 = getelementptr i8, ptr addrspace(1) %to, i64 976
  store i128 %w181, ptr addrspace(1) %w182, align 16
  %w183 = xor i65 %w165, %w166
  %w184 = zext i65 %w183 to i128
  %w185 = getelementptr i8, ptr addrspace(1) %to, i64 992
  store i128 %w184, ptr addrspace(1) %w185, align 16
  %w186 = udiv i65 %w165, %w167
  %w187 = zext i65 %w186 to i128
  %w188 = getelementptr i8, ptr addrspace(1) %to, i64 1008
  store i128 %w187, ptr addrspace(1) %w188, align 16
  %w189 = sdiv i65 %w165, %w167
  %w190 = zext i65 %w189 to i128
  %w191 = getelementptr i8, ptr addrspace(1) %to, i64 1024
  store i128 %w190, ptr addrspace(1) %w191, align 16
  %w192 = urem i65 %w165, %w167
  %w193 = zext i65 %w192 to i128
  %w194 = getelementptr i8, ptr addrspace(1) %to, i64 1040
  store i128 %w193, ptr addrspace(1) %w194, align 16
  %w195 = srem i65 %w165, %w167
  %w196 = zext i65 %w195 to i128
  %w197 = getelementptr i8, ptr addrspace(1) %to, i64 1056
  store i128 %w196, ptr addrspace(1) %w197, align 16
  %w198 = and i65 %w167, 1023
  %w199 = or i65 %w198, 1
  %w200 = udiv i65 %w165, %w199
  %w201 = zext i65 %w200 to i128
  %w202 = getelementptr i8, ptr addrspace(1) %to, i64 1072
  store i128 %w201, ptr addrspace(1) %w202, align 16
  %w203 = srem i65 %w165, %w199
  %w204 = zext i65 %w203 to i128
  %w205 = getelementptr i8, ptr addrspace(1) %to, i64 1088
  store i128 %w204, ptr addrspace(1) %w205, align 16
  %w206 = and i65 %w166, 63
  %w207 = shl i65 %w165, %w206
  %w208 = zext i65 %w207 to i128
  %w209 = getelementptr i8, ptr addrspace(1) %to, i64 1104
  store i128 %w208, ptr addrspace(1) %w209, align 16
  %w210 = lshr i65 %w165, %w206
  %w211 = zext i65 %w210 to i128
  %w212 = getelementptr i8, ptr addrspace(1) %to, i64 1120
  store i128 %w211, ptr addrspace(1) %w212, align 16
  %w213 = ashr i65 %w165, %w206
  %w214 = zext i65 %w213 to i128
  %w215 = getelementptr i8, ptr addrspace(1) %to, i64 1136
  store i128 %w214, ptr addrspace(1) %w215, align 16
  %w216 = shl i65 %w165, 64
  %w217 = zext i65 %w216 to i128
  %w218 = getelementptr i8, ptr addrspace(1) %to, i64 1152
  store i128 %w217, ptr addrspace(1) %w218, align 16
  %w219 = lshr i65 %w165, 64
  %w220 = zext i65 %w219 to i128
  %w221 = getelementptr i8, ptr addrspace(1) %to, i64 1168
  store i128 %w220, ptr addrspace(1) %w221, align 16
  %w222 = ashr i65 %w165, 64
  %w223 = zext i65 %w222 to i128
  %w224 = getelementptr i8, ptr addrspace(1) %to, i64 1184
  store i128 %w223, ptr addrspace(1) %w224, align 16
  %w225 = icmp ult i65 %w165, %w166
  %w226 = select i1 %w225, i65 %w165, i65 %w166
  %w227 = zext i65 %w226 to i128
  %w228 = getelementptr i8, ptr addrspace(1) %to, i64 1200
  store i128 %w227, ptr addrspace(1) %w228, align 16
  %w229 = icmp slt i65 %w165, %w166
  %w230 = select i1 %w229, i65 %w165, i65 %w166
  %w231 = zext i65 %w230 to i128
  %w232 = getelementptr i8, ptr addrspace(1) %to, i64 1216
  store i128 %w231, ptr addrspace(1) %w232, align 16
  %w233 = icmp sge i65 %w165, %w166
  %w234 = select i1 %w233, i65 %w165, i65 %w166
  %w235 = zext i65 %w234 to i128
  %w236 = getelementptr i8, ptr addrspace(1) %to, i64 1232
  store i128 %w235, ptr addrspace(1) %w236, align 16
  %w237 = icmp eq i65 %w165, %w166
  %w238 = select i1 %w237, i65 %w165, i65 %w166
  %w239 = zext i65 %w238 to i128
  %w240 = getelementptr i8, ptr addrspace(1) %to, i64 1248
  store i128 %w239, ptr addrspace(1) %w240, align 16
  %w241 = call i65 @llvm.ctpop.i65(i65 %w165)
  %w242 = zext i65 %w241 to i128
  %w243 = getelementptr i8, ptr addrspace(1) %to, i64 1264
  store i128 %w242, ptr addrspace(1) %w243, align 16
  %w244 = call i65 @llvm.umin.i65(i65 %w165, i65 %w166)
  %w245 = zext i65 %w244 to i128
  %w246 = getelementptr i8, ptr addrspace(1) %to, i64 1280
  store i128 %w245, ptr addrspace(1) %w246, align 16
  %w247 = call i65 @llvm.smax.i65(i65 %w165, i65 %w166)
  %w248 = zext i65 %w247 to i128
  %w249 = getelementptr i8, ptr addrspace(1) %to, i64 1296
  store i128 %w248, ptr addrspace(1) %w249, align 16
  %w250 = call i65 @llvm.ctlz.i65(i65 %w165, i1 false)
  %w251 = zext i65 %w250 to i128
  %w252 = getelementptr i8, ptr addrspace(1) %to, i64 1312
  store i128 %w251, ptr addrspace(1) %w252, align 16
  %w253 = call i65 @llvm.cttz.i65(i65 %w165, i1 false)
  %w254 = zext i65 %w253 to i128
  %w255 = getelementptr i8, ptr addrspace(1) %to, i64 1328
  store i128 %w254, ptr addrspace(1) %w255, align 16
  %w256 = trunc i65 %w165 to i32
  %w257 = sext i32 %w256 to i65
  %w258 = zext i65 %w257 to i128
  %w259 = getelementptr i8, ptr addrspace(1) %to, i64 1344
  store i128 %w258, ptr addrspace(1) %w259, align 16
  ret void
}
