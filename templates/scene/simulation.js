// A run that goes on while it is looked at: the FMU's own equations in the C runtime, and what it has been through.

import { Poses } from "./pose.js";
import { Runtime } from "./runtime.js";

const NUMBERS = 8e6; // what the past may hold; then every second instant is dropped
const PER_SECOND = 60; // communication steps in a second of the watch
const BUDGET = 35; // of a picture's time [ms] for steps

const ROUNDING = 1e-13, STILL = 1e-15; // as tables of the command line (mbfmu/runtime/rounding.py)

// Largest magnitudes in each unit, of what changes and of what does not, beside which numbers are nothing but rounding.
class Sizes {
  constructor(model, places) {
    const units = new Map();
    this.places = places;
    this.groups = model.variables.map(({ unit }) => units.get(unit) ?? units.set(unit, units.size).get(unit));
    this.still = model.variables.map(({ causality }) => causality.toLowerCase().endsWith("parameter"));
    this.clear();
  }

  clear() {
    this.largest = new Map([[false, []], [true, []]]);
    this.at = null;
  }

  see(now, row) {
    if (this.at === now) return;
    this.at = now;
    this.groups.forEach((group, i) => {
      const found = this.largest.get(this.still[i]), size = Math.abs(row[this.places[i]]);
      if (Number.isFinite(size) && !(found[group] >= size)) found[group] = size;
    });
  }

  noiseOf(index) {
    const group = this.groups[index], [changing, still] = [false, true].map((of) => this.largest.get(of)[group] ?? 0);
    return changing > STILL * still ? ROUNDING * changing : STILL * still;
  }
}

export class Simulation {
  static async open(model, meshes, preview, wasm, descriptor) {
    const simulation = new Simulation();
    Object.assign(simulation, { model, preview, lines: [], pending: new Map(), values: new Map(), failed: false });
    simulation.listeners = [];
    simulation.runtime = await Runtime.open(wasm, descriptor, model.name, (status, text) => simulation.note(status, text));
    simulation.poses = new Poses(model.shapes, meshes);
    simulation.start = model.start;
    simulation.span = model.stop - model.start;
    // plotted variables first, then those of shapes
    const references = [], places = new Map();
    const place = (reference) => {
      if (!places.has(reference)) places.set(reference, references.push(reference) - 1);
      return places.get(reference);
    };
    simulation.places = model.variables.map(({ reference }) => place(reference));
    simulation.width = references.length;
    simulation.sizes = new Sizes(model, simulation.places);
    simulation.quantities = Object.fromEntries(Object.entries(model.quantities).map(([name, vr]) => [name, place(vr)]));
    simulation.runtime.watch(references);
    simulation.restart();
    return simulation;
  }

  note(status, text) {
    this.lines.push({ status, text });
    if (this.lines.length > 500) this.lines.shift();
    for (const listener of this.listeners) listener();
  }

  // Initialise anew with all values that were set.
  restart() {
    this.failed = !this.runtime.begin(this.start, this.model.tolerance);
    for (const [variable, value] of this.pending) this.values.set(variable, value);
    this.pending.clear();
    for (const [variable, value] of this.values) this.runtime.set(variable, value);
    this.failed ||= !this.runtime.initialise();
    this.rows = new Float64Array(1024 * this.width);
    this.times = new Float64Array(1024);
    this.count = 0;
    this.stride = 1;
    this.skipped = 0;
    this.now = this.start;
    this.owed = this.watch = this.went = 0;
    this.factor = undefined; // seconds of the run in one of the watch
    this.timing = { steps: 0, step: 0, pictures: 0, draw: 0 };
    this.sizes.clear();
    if (!this.failed) this.take();
  }

  // Inputs and tunable parameters act at once, everything else with the next start. False where the FMU refuses.
  set(variable, value) {
    if (variable.kind === "start") {
      this.pending.set(variable, value);
      return true;
    }
    if (!this.runtime.set(variable, value)) return false;
    this.values.set(variable, value);
    return true;
  }

  valueOf(variable) {
    return this.pending.get(variable) ?? this.values.get(variable) ?? variable.start;
  }

  // One communication step of h [s]; false where the run ends.
  step(h) {
    if (this.failed) return false;
    const begin = performance.now();
    this.grip?.act(h);
    this.failed = !this.runtime.step(h);
    if (!this.failed) {
      this.now = this.runtime.time;
      this.take();
    }
    this.timing.step += performance.now() - begin;
    this.timing.steps += 1;
    return !this.failed;
  }

  // Go on as far as the watch has, by `elapsed` [s] at a speed, but not for longer than a picture may take.
  advance(elapsed, speed) {
    const h = Math.min(speed / PER_SECOND, this.span / 500), begin = performance.now();
    this.owed += Math.min(elapsed, 0.25) * speed;
    let went = 0;
    while (this.owed >= h * 0.999 && performance.now() - begin < BUDGET && this.step(h)) {
      this.owed -= h;
      went += h;
    }
    if (this.owed >= h) this.owed = 0; // it cannot keep up
    this.watch += elapsed;
    this.went += went;
    if (this.watch > 1) {
      this.factor = this.went / this.watch;
      this.watch = this.went = 0;
    }
    return !this.failed;
  }

  take() {
    const row = this.runtime.read();
    if (!row) {
      this.failed = true;
      return;
    }
    this.row = Float64Array.from(row);
    if (++this.skipped < this.stride) return;
    this.skipped = 0;
    if (this.count * this.width >= NUMBERS) this.thin();
    if (this.count === this.times.length) {
      const times = new Float64Array(2 * this.count), rows = new Float64Array(2 * this.count * this.width);
      times.set(this.times);
      rows.set(this.rows);
      Object.assign(this, { times, rows });
    }
    this.times[this.count] = this.now;
    this.rows.set(this.row.subarray(0, this.width), this.count * this.width);
    this.count += 1;
  }

  thin() {
    let kept = 0;
    for (let i = 0; i < this.count; i += 2, kept++) {
      this.times[kept] = this.times[i];
      this.rows.copyWithin(kept * this.width, i * this.width, (i + 1) * this.width);
    }
    this.count = kept;
    this.stride *= 2;
  }

  get runs() {
    return [this];
  }

  get colours() {
    return this.model.changing_colours;
  }

  has() {
    return true;
  }

  get window() {
    const end = Math.max(this.start + this.span, this.now);
    return [end - this.span, end];
  }

  get end() {
    return Infinity;
  }

  pose() {
    if (this.row) this.poses.apply((q) => this.quantity(q));
  }

  *samples() {
    const { names, rows } = this.preview, place = Object.fromEntries(names.map((name, i) => [name, i]));
    for (let i = 0; i < rows.length / names.length; i++) {
      this.poses.apply((q) => (typeof q === "number" ? q : rows[i * names.length + place[q]]));
      yield i;
    }
    this.pose();
  }

  quantity(of) {
    return typeof of === "number" ? of : this.row[this.quantities[of]];
  }

  curve(index, draw) {
    const [from] = this.window;
    let low = 0, high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] < from) low = middle + 1;
      else high = middle;
    }
    const place = this.places[index], cleared = this.cleared(index);
    for (let i = low; i < this.count; i++) draw(this.times[i], cleared(this.rows[i * this.width + place]));
    if (this.row) draw(this.now, cleared(this.row[place]));
  }

  // What makes 0 of values of a variable that are nothing but rounding.
  cleared(index) {
    if (this.row) this.sizes.see(this.now, this.row);
    const noise = this.sizes.noiseOf(index);
    return (value) => (Math.abs(value) <= noise ? 0 : value);
  }

  valueAt(index, time = this.now) {
    return this.cleared(index)(this.computedAt(index, time));
  }

  computedAt(index, time) {
    const place = this.places[index];
    if (!this.row || time >= this.now || !this.count) return this.row ? this.row[place] : NaN;
    let low = 0, high = this.count - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle;
    }
    const [before, after] = [low, high].map((i) => this.rows[i * this.width + place]), span = this.times[high] - this.times[low];
    return before + (after - before) * (span > 0 ? Math.min(Math.max((time - this.times[low]) / span, 0), 1) : 0);
  }

  // The run so far, of variables by their indices.
  csv(indices) {
    const quoted = (name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const lines = [["time", ...indices.map((i) => quoted(this.model.variables[i].name))].join(",")];
    for (let k = 0; k < this.count; k++) {
      lines.push([this.times[k], ...indices.map((i) => this.rows[k * this.width + this.places[i]])].join(","));
    }
    return `${lines.join("\n")}\n`;
  }
}
