// Requests to the worker, with a time limit.

/** A request that was stopped, or that ended the compiler. */
export class CompilerStopped extends Error {}

/** The compiler: a WebAssembly module that is compiled once, and a worker that can be replaced. */
export class Compiler {
  #module;
  #worker;
  #next = 1;
  #waiting = new Map();

  /** Loads the module. The worker starts meanwhile. */
  static async load(url) {
    const compiler = new Compiler();
    compiler.#start();
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
    compiler.#module = WebAssembly.compileStreaming && response.headers.get("content-type") === "application/wasm"
      ? await WebAssembly.compileStreaming(response)
      : await WebAssembly.compile(await response.arrayBuffer());
    compiler.#worker.postMessage({ module: compiler.#module });
    return compiler;
  }

  #start() {
    this.#worker = new Worker(new URL("worker.js", import.meta.url));
    this.#worker.onmessage = ({ data }) => {
      const waiting = this.#waiting.get(data.id);
      if (!waiting) return;
      this.#waiting.delete(data.id);
      clearTimeout(waiting.timer);
      if (data.crash === undefined) {
        waiting.resolve({ reply: data.reply, time: data.time });
      } else {
        this.#restart();
        waiting.reject(new CompilerStopped(data.crash));
      }
    };
    if (this.#module) this.#worker.postMessage({ module: this.#module });
  }

  #restart() {
    this.#worker.terminate();
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer);
      waiting.reject(new CompilerStopped("stopped"));
    }
    this.#waiting.clear();
    this.#start();
  }

  /** Whether a request has no reply yet. */
  get isBusy() {
    return this.#waiting.size > 0;
  }

  /** Stops requests without a reply. */
  cancel() {
    if (this.isBusy) this.#restart();
  }

  /** Sends a request. `limit` is in milliseconds. */
  ask(request, input, limit) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        this.#restart();
        reject(new CompilerStopped(`stopped after ${limit / 1000} seconds`));
      }, limit);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#worker.postMessage({ id, request, input });
    });
  }
}
