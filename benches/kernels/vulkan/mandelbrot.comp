#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) writeonly buffer Rounds { int rounds[]; };
layout(push_constant) uniform Push { int width, height, most; };

void main() {
  uint px = gl_GlobalInvocationID.x, py = gl_GlobalInvocationID.y;
  float cx = -2.0 + 3.0 * float(px) / float(width), cy = -1.5 + 3.0 * float(py) / float(height);
  float x = 0.0, y = 0.0;
  int i = 0;
  while (i < most && x * x + y * y <= 4.0) {
    float t = x * x - y * y + cx;
    y = 2.0 * x * y + cy;
    x = t;
    i++;
  }
  rounds[py * width + px] = i;
}
