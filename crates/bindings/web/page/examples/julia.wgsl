// A Julia set, as colours of four bytes.
struct View {
  seed: vec2f,
  size: vec2u,
}

@group(0) @binding(0) var<storage, read_write> pixels: array<u32>;
@group(0) @binding(1) var<uniform> view: View;

fn palette(t: f32) -> vec3f {
  return 0.5 + 0.5 * cos(6.2831853 * (t + vec3f(0.0, 0.12, 0.25)));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3u) {
  if (at.x >= view.size.x || at.y >= view.size.y) {
    return;
  }
  var z = 3.0 * (vec2f(at.xy) - 0.5 * vec2f(view.size)) / f32(view.size.x);
  var n = 0u;
  loop {
    if (n >= 80u || dot(z, z) > 16.0) {
      break;
    }
    z = vec2f(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + view.seed;
    n = n + 1u;
  }
  let colour = select(palette(f32(n) / 40.0), vec3f(0.03), n == 80u);
  pixels[at.y * view.size.x + at.x] = pack4x8unorm(vec4f(colour, 1.0));
}
