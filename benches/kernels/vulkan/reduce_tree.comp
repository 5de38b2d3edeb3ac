#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float data[]; };
layout(std430, binding = 1) writeonly buffer Out { float partial[]; };
shared float scratch[256];

void main() {
  uint l = gl_LocalInvocationID.x;
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  scratch[l] = data[group * 256 + l];
  barrier();
  for (uint stride = 128; stride > 0; stride >>= 1) {
    if (l < stride)
      scratch[l] += scratch[l + stride];
    barrier();
  }
  if (l == 0)
    partial[group] = scratch[0];
}
