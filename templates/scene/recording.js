// A recorded run: keyframes for what is seen, columns of numbers for plots.

import { AnimationMixer } from "three";

export class Recording {
  constructor(model, gltf, series) {
    this.model = model;
    this.times = series.subarray(0, model.points);
    this.columns = series;
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
    const begin = (number + 1) * this.model.points;
    return this.columns.subarray(begin, begin + this.model.points);
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
