// The kernels of the benchmark: each in the form that a textbook gives it.

kernel void saxpy(global const float *x, global float *y, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

// C = A * B, square matrices of n, tiles of 16 x 16 in local memory.
kernel void matmul_tiled(global const float *a, global const float *b, global float *c, int n) {
  local float as[16][16], bs[16][16];
  int lx = get_local_id(0), ly = get_local_id(1);
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0.0f;
  for (int t = 0; t < n; t += 16) {
    as[ly][lx] = a[y * n + t + lx];
    bs[ly][lx] = b[(t + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++)
      sum += as[ly][k] * bs[k][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}

// One partial sum for each work-group of 256, by a tree in local memory.
kernel void reduce_tree(global const float *in, global float *partial) {
  local float scratch[256];
  int l = get_local_id(0);
  scratch[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int stride = 128; stride > 0; stride >>= 1) {
    if (l < stride)
      scratch[l] += scratch[l + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0)
    partial[get_group_id(0)] = scratch[0];
}

// Accelerations of n bodies (x, y, z, mass) by direct summation.
kernel void nbody(global const float4 *bodies, global float4 *acceleration, int n) {
  int i = get_global_id(0);
  float4 me = bodies[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; j++) {
    float4 other = bodies[j];
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float r2 = dx * dx + dy * dy + dz * dz + 1.0e-3f;
    float inverse = rsqrt(r2);
    float f = other.w * inverse * inverse * inverse;
    ax += f * dx;
    ay += f * dy;
    az += f * dz;
  }
  acceleration[i] = (float4)(ax, ay, az, 0.0f);
}

// Rounds until |z| > 2 for each pixel of [-2, 1] x [-1.5, 1.5].
kernel void mandelbrot(global int *rounds, int width, int height, int most) {
  int px = get_global_id(0), py = get_global_id(1);
  float cx = -2.0f + 3.0f * px / width, cy = -1.5f + 3.0f * py / height;
  float x = 0.0f, y = 0.0f;
  int i = 0;
  while (i < most && x * x + y * y <= 4.0f) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    i++;
  }
  rounds[py * width + px] = i;
}

// C = A * B, square matrices of n, as the definition says.
kernel void matmul_naive(global const float *a, global const float *b, global float *c, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < n; k++)
    sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

// How often each of 256 values stands among n: each work-group of 256 counts 4096 of them in local memory.
kernel void histogram(global const uint *values, global uint *counts) {
  local uint own[256];
  int l = get_local_id(0);
  own[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  size_t first = get_group_id(0) * 4096;
  for (int k = 0; k < 16; k++)
    atomic_inc(&own[values[first + k * 256 + l] & 255]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[l], own[l]);
}

// A square matrix of n with rows and columns exchanged, tiles of 16 x 16 in local memory.
kernel void transpose(global const float *from, global float *to, int n) {
  local float tile[16][17];
  int lx = get_local_id(0), ly = get_local_id(1);
  int x = get_group_id(0) * 16, y = get_group_id(1) * 16;
  tile[ly][lx] = from[(y + ly) * n + x + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
  to[(x + ly) * n + y + lx] = tile[lx][ly];
}
