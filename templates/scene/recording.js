// A recorded run: keyframes for what is seen, columns of numbers for plots.

import { AnimationMixer } from "three";

const LEVELS = 2 ** 20 - 1; // as mbfmu/scene/page.py has it, which says what the bytes are

function unquantised(bytes, bounds, points) {
  const count = bounds.length * points, values = new Float64Array(count);
  for (let i = 0; i < bounds.length; i++) {
    const [least, span] = bounds[i];
    for (let k = 0, level = 0, step = 0; k < points; k++) {
      const at = i * points + k;
      const signed = (bytes[at] | (bytes[count + at] << 8) | (bytes[2 * count + at] << 16) | (bytes[3 * count + at] << 24)) >>> 0;
      step += (signed >>> 1) ^ -(signed & 1);
      level += step;
      values[at] = least + (span * level) / LEVELS;
    }
  }
  return values;
}

export class Recording {
  constructor(model, gltf, series) {
    this.model = model;
    this.times = model.times;
    this.columns = unquantised(series, model.bounds, model.points);
    this.start = model.start;
    this.end = model.stop;
    if (gltf.animations.length) {
      this.mixer = new AnimationMixer(gltf.scene);
      this.action = this.mixer.clipAction(gltf.animations[0]);
      this.action.play();
    }
  }

  // The stretch of time that plots show.
  get window() {
    return [this.start, this.end];
  }

  pose(time) {
    if (!this.mixer) return;
    this.action.time = time - this.start;
    this.mixer.update(0);
  }

  // Poses over which the view is fitted.
  *samples() {
    for (let i = 0; i <= 20; i++) {
      this.pose(this.start + ((this.end - this.start) * i) / 20);
      yield i;
    }
  }

  // Calls `draw` with times and values of a variable.
  curve(index, draw) {
    const values = this.column(this.model.variables[index].column);
    for (let i = 0; i < values.length; i++) draw(this.times[i], values[i]);
  }

  column(number) {
    const begin = number * this.model.points;
    return this.columns.subarray(begin, begin + this.model.points);
  }

  // Smallest difference of values of a variable that means something.
  resolution(index) {
    return this.model.bounds[this.model.variables[index].column][1] / LEVELS;
  }

  valueAt(index, time) {
    return this.valueIn(this.model.variables[index].column, time);
  }

  // The value of a quantity of a shape: a number, or the name of a column.
  quantity(of, time) {
    return typeof of === "number" ? of : this.valueIn(this.model.quantities[of], time);
  }

  valueIn(number, time) {
    const values = this.column(number), times = this.times;
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    if (times[high] <= time) return values[high];
    const share = times[high] > times[low] ? (time - times[low]) / (times[high] - times[low]) : 0;
    return values[low] + (values[high] - values[low]) * Math.min(Math.max(share, 0), 1);
  }
}
