// Recorded runs: what moves in them, and columns of numbers for plots; several on one clock.

import { AnimationMixer } from "three";

// Columns of values; mbfmu/scene/packing.py says what the bytes are.
function unquantised(bytes, { curves, rows }, points) {
  const count = rows.length * points, values = new Float64Array(curves.length * points), found = [];
  for (const [number, [order, other, factor]] of rows.entries()) {
    const row = new Float64Array(points);
    for (let k = 0; k < points; k++) {
      const at = number * points + k;
      const signed = (bytes[at] | (bytes[count + at] << 8) | (bytes[2 * count + at] << 16) | (bytes[3 * count + at] << 24)) >>> 0;
      row[k] = (signed >>> 1) ^ -(signed & 1);
    }
    if (other !== undefined) {
      const alike = found[other].slice();
      for (let i = 0; i < order; i++) for (let k = points - 1; k > 0; k--) alike[k] -= alike[k - 1];
      for (let k = 0; k < points; k++) row[k] += Math.floor(factor * alike[k] + 0.5);
    }
    for (let i = 0; i < order; i++) for (let k = 1; k < points; k++) row[k] += row[k - 1];
    found.push(row);
  }
  for (const [i, [base, distance, row]] of curves.entries()) {
    for (let k = 0; k < points; k++) values[i * points + k] = base + distance * found[row][k];
  }
  return values;
}

// The last instant up to a time, but for the last of all.
function before(times, time) {
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return low;
}

// What moves: values of all tracks at the same instants, and a cubic between neighbours, which has at each the slope of
// the parabola through it and those beside it. At an event, an instant that is there twice, nothing goes through.
class Tracks {
  static async of({ nodes, levels, instants }, bytes, gltf) {
    const tracks = new Tracks(), values = unquantised(bytes, levels, instants);
    tracks.times = values.subarray(0, instants);
    let at = instants;
    tracks.targets = [];
    for (const [number, path] of nodes) {
      const node = await gltf.parser.getDependency("node", number), width = path === "rotation" ? 4 : 3;
      const target = { translation: node.position, rotation: node.quaternion, scale: node.scale }[path];
      const columns = Array.from({ length: width }, (_, i) => values.subarray(at + i * instants, at + (i + 1) * instants));
      tracks.targets.push([target, columns, new Array(width)]);
      at += width * instants;
    }
    return tracks;
  }

  pose(time) {
    const { times } = this, k = before(times, time), h = times[k + 1] - times[k];
    const s = h > 0 ? Math.min(Math.max((time - times[k]) / h, 0), 1) : 1;
    const left = k > 0 ? times[k] - times[k - 1] : 0, right = k + 2 < times.length ? times[k + 2] - times[k + 1] : 0;
    for (const [target, columns, found] of this.targets) {
      for (let i = 0; i < columns.length; i++) {
        const values = columns[i], from = values[k], to = values[k + 1], chord = to - from;
        // slopes times h
        const begin = left > 0 ? (((from - values[k - 1]) / left) * h * h + chord * left) / (left + h) : null;
        const end = right > 0 ? (((values[k + 2] - to) / right) * h * h + chord * right) / (right + h) : null;
        const a = begin ?? (end === null ? chord : 2 * chord - end), b = end ?? (begin === null ? chord : 2 * chord - begin);
        found[i] = from + s * (a + s * (3 * chord - 2 * a - b + s * (a + b - 2 * chord)));
      }
      target.fromArray(found);
      if (found.length === 4) target.normalize();
    }
  }
}

export class Recording {
  // `run` is what the page is told of it.
  static async open(model, run, gltf, motion, series) {
    const recording = new Recording();
    Object.assign(recording, { model, run, start: run.start, end: run.stop, name: run.name });
    recording.columns = unquantised(series, run.levels, run.points); // the first one is the time
    recording.times = recording.columns.subarray(0, run.points);
    recording.colours = run.changing_colours;
    recording.tracks = await Tracks.of(run.motion, motion, gltf);
    if (gltf.animations.length) { // surfaces that change
      recording.mixer = new AnimationMixer(gltf.scene);
      recording.action = recording.mixer.clipAction(gltf.animations[0]);
      recording.action.play();
    }
    return recording;
  }

  get runs() {
    return [this];
  }

  // The stretch of time that plots show.
  get window() {
    return [this.start, this.end];
  }

  pose(time) {
    const now = Math.min(Math.max(time, this.start), this.end);
    this.tracks.pose(now);
    if (!this.mixer) return;
    this.action.time = now - this.start;
    this.mixer.update(0);
  }

  // Poses over which the view is fitted.
  *samples() {
    for (let i = 0; i <= 20; i++) {
      this.pose(this.start + ((this.end - this.start) * i) / 20);
      yield i;
    }
  }

  // False where the run has no such variable, as another model's.
  has(index) {
    return this.run.columns[index] !== null;
  }

  // Calls `draw` with times and values of a variable.
  curve(index, draw) {
    const values = this.column(this.run.columns[index]);
    for (let i = 0; i < values.length; i++) draw(this.times[i], values[i]);
  }

  column(number) {
    const begin = (number + 1) * this.run.points;
    return this.columns.subarray(begin, begin + this.run.points);
  }

  // Smallest difference of values of a variable that means something.
  resolution(index) {
    return Math.abs(this.run.levels.curves[this.run.columns[index] + 1][1]);
  }

  valueAt(index, time) {
    return this.valueIn(this.run.columns[index], time);
  }

  // The value of a quantity of a shape: a number, or the name of a column.
  quantity(of, time) {
    return typeof of === "number" ? of : this.valueIn(this.run.quantities[of], time);
  }

  valueIn(number, time) {
    const values = this.column(number), { times } = this, low = before(times, time), high = Math.min(low + 1, times.length - 1);
    if (times[high] <= time) return values[high];
    const share = times[high] > times[low] ? (time - times[low]) / (times[high] - times[low]) : 0;
    return values[low] + (values[high] - values[low]) * Math.min(Math.max(share, 0), 1);
  }
}

// Several on one clock; what has ended stays where it is.
export class Comparison {
  constructor(model, runs) {
    Object.assign(this, { model, runs });
    this.start = Math.min(...runs.map(({ start }) => start));
    this.end = Math.max(...runs.map(({ end }) => end));
  }

  get window() {
    return [this.start, this.end];
  }

  pose(time) {
    for (const run of this.runs) run.pose(time);
  }

  *samples() {
    for (const run of this.runs) yield* run.samples();
  }
}
