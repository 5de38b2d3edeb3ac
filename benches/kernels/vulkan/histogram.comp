#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Values { uint values[]; };
layout(std430, binding = 1) buffer Counts { uint counts[]; };
shared uint own[256];

void main() {
  uint l = gl_LocalInvocationID.x;
  own[l] = 0;
  barrier();
  uint first = gl_WorkGroupID.x * 4096;
  for (uint k = 0; k < 16; k++)
    atomicAdd(own[values[first + k * 256 + l] & 255], 1);
  barrier();
  atomicAdd(counts[l], own[l]);
}
