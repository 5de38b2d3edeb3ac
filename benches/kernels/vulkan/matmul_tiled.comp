#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform Push { int n; };
shared float as[16][16], bs[16][16];

void main() {
  int lx = int(gl_LocalInvocationID.x), ly = int(gl_LocalInvocationID.y);
  int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
  float sum = 0.0;
  for (int t = 0; t < n; t += 16) {
    as[ly][lx] = a[y * n + t + lx];
    bs[ly][lx] = b[(t + ly) * n + x];
    barrier();
    for (int k = 0; k < 16; k++)
      sum += as[ly][k] * bs[k][lx];
    barrier();
  }
  c[y * n + x] = sum;
}
