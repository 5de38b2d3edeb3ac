#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Bodies { vec4 bodies[]; };
layout(std430, binding = 1) writeonly buffer Acceleration { vec4 acceleration[]; };
layout(push_constant) uniform Push { int n; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  vec4 me = bodies[i];
  float ax = 0.0, ay = 0.0, az = 0.0;
  for (int j = 0; j < n; j++) {
    vec4 other = bodies[j];
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float inverse = inversesqrt(dx * dx + dy * dy + dz * dz + 1.0e-3);
    float f = other.w * inverse * inverse * inverse;
    ax += f * dx;
    ay += f * dy;
    az += f * dz;
  }
  acceleration[i] = vec4(ax, ay, az, 0.0);
}
