// The C runtime as WebAssembly (templates/runtime/host.c): a model, and one instance of it at a time.

const OK = 1; // up to a warning

export class Runtime {
  // `log` takes the number of a status and a text.
  static async open(wasm, descriptor, name, log) {
    const runtime = new Runtime();
    runtime.name = name;
    runtime.log = log;
    const note = (_, __, status, ___, text) => runtime.log(status, runtime.text(text));
    const idle = new Proxy({}, { get: () => () => 0 }); // what a C library asks of WASI, which these functions never use
    const { instance } = await WebAssembly.instantiate(wasm, { mbfmu: { log: note }, wasi_snapshot_preview1: idle });
    runtime.c = instance.exports;
    runtime.c._initialize?.();
    runtime.names = {};
    runtime.load(descriptor);
    return runtime;
  }

  load(descriptor) {
    const data = this.c.malloc(descriptor.length), wrong = this.c.malloc(4);
    new Uint8Array(this.c.memory.buffer).set(descriptor, data);
    this.model = this.c.mbfmu_load(data, descriptor.length, wrong);
    if (!this.model) throw new Error(`the model is refused: ${this.text(new Uint32Array(this.c.memory.buffer)[wrong / 4])}`);
    this.c.free(data);
    this.c.free(wrong);
    this.scratch = this.c.malloc(64);
  }

  text(address) {
    const bytes = new Uint8Array(this.c.memory.buffer);
    return new TextDecoder().decode(bytes.slice(address, bytes.indexOf(0, address)));
  }

  // A text that stays: names under which functions log.
  kept(text) {
    if (!(text in this.names)) {
      const bytes = new TextEncoder().encode(text);
      this.names[text] = this.c.malloc(bytes.length + 1);
      new Uint8Array(this.c.memory.buffer).set([...bytes, 0], this.names[text]);
    }
    return this.names[text];
  }

  // A new instance in place of the old one, before its initialisation.
  begin(start, tolerance = 0) {
    if (this.instance) this.c.mbfmu_free(this.instance);
    this.instance = this.c.mbfmu_instantiate(this.model, this.kept(this.name), 1, 0, 1, 0);
    if (!this.instance) throw new Error("no memory for an instance");
    const given = tolerance > 0 ? 1 : 0;
    const done = this.c.mbfmu_set_up_experiment(this.instance, this.kept("setupExperiment"), given, tolerance, start, 0, 0);
    return done <= OK && this.c.mbfmu_enter_initialization(this.instance, this.kept("enterInitializationMode")) <= OK;
  }

  initialise() {
    return this.c.mbfmu_exit_initialization(this.instance, this.kept("exitInitializationMode")) <= OK;
  }

  get time() {
    return this.c.mbfmu_time(this.instance);
  }

  step(h) {
    return this.c.mbfmu_do_step(this.instance, this.kept("doStep"), this.time, h) <= OK;
  }

  // FMI's setReal, setInteger, setBoolean or setString of one variable.
  set({ type, reference }, value) {
    const { c, scratch } = this;
    new Uint32Array(c.memory.buffer)[scratch / 4] = reference;
    let text = 0;
    if (type === "Real") new Float64Array(c.memory.buffer)[scratch / 8 + 1] = Number(value);
    else if (type === "String") {
      const bytes = new TextEncoder().encode(String(value));
      text = c.malloc(bytes.length + 1);
      new Uint8Array(c.memory.buffer).set([...bytes, 0], text);
      new Uint32Array(c.memory.buffer)[scratch / 4 + 2] = text;
    } else new Int32Array(c.memory.buffer)[scratch / 4 + 2] = Number(value);
    const status = c[`mbfmu_set_${type.toLowerCase()}s`](this.instance, this.kept(`set${type}`), scratch, 1, scratch + 8);
    if (text) c.free(text);
    return status <= OK;
  }

  // Names which reals `read` gives, by their value references.
  watch(references) {
    this.count = references.length;
    this.references = this.c.malloc(4 * Math.max(this.count, 1));
    this.values = this.c.malloc(8 * Math.max(this.count, 1));
    new Uint32Array(this.c.memory.buffer).set(references, this.references / 4);
  }

  // What `read` gives after a step of h [s] that is taken back.
  attempt(h, read) {
    const { c, instance } = this, size = c.mbfmu_state_size(instance), kept = c.malloc(size);
    if (c.mbfmu_save_state(instance, this.kept("getFMUstate"), kept, size) > OK) return void c.free(kept);
    this.step(h);
    const found = read();
    c.mbfmu_restore_state(instance, this.kept("setFMUstate"), kept, size);
    c.free(kept);
    return found;
  }

  // FMI's getReal of three variables.
  values3(references) {
    const { c } = this, at = (this.three ??= c.malloc(48));
    new Uint32Array(c.memory.buffer).set(references, at / 4);
    if (c.mbfmu_get_reals(this.instance, this.kept("getReal"), at, 3, at + 16) > OK) return [NaN, NaN, NaN];
    return [...new Float64Array(c.memory.buffer, at + 16, 3)];
  }

  // FMI's getReal of what is watched; null where it fails.
  read() {
    const status = this.c.mbfmu_get_reals(this.instance, this.kept("getReal"), this.references, this.count, this.values);
    return status <= OK ? new Float64Array(this.c.memory.buffer, this.values, this.count) : null;
  }
}
