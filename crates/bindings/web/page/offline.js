// Keeps the page, so that it works without a network.

const CACHE = "spirula-playground";
const FILES = [
  ".", "style.css", "icon.svg", "main.js", "compiler.js", "difference.js", "editor.js", "examples.json", "highlight.js", "permalink.js",
  "gpu.js", "run_panel.js", "views.js", "worker.js", "spirula.wasm",
  ...["heat.fut", "mandelbrot.ll", "ripples.mlir", "julia.wgsl", "rotate.spvasm"].flatMap(
    (file) => [`examples/${file}`, `examples/${file.replace(/\.[^.]*$/, ".run")}`]),
];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
});

// A newer file of the server replaces the kept one; without a network the kept one is used.
self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith((async () => {
    const cache = await caches.open(CACHE);
    try {
      const response = await fetch(event.request);
      if (response.ok) await cache.put(event.request, response.clone());
      return response;
    } catch (error) {
      const kept = await cache.match(event.request, { ignoreSearch: true });
      if (kept) return kept;
      throw error;
    }
  })());
});
