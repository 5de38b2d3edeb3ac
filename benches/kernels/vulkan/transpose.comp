#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly buffer From { float from[]; };
layout(std430, binding = 1) writeonly buffer To { float to[]; };
layout(push_constant) uniform Push { int n; };
shared float tile[16][17];

void main() {
  int lx = int(gl_LocalInvocationID.x), ly = int(gl_LocalInvocationID.y);
  int x = int(gl_WorkGroupID.x) * 16, y = int(gl_WorkGroupID.y) * 16;
  tile[ly][lx] = from[(y + ly) * n + x + lx];
  barrier();
  to[(x + ly) * n + y + lx] = tile[lx][ly];
}
