// Curves of a run under the picture, one plot for each unit: time below, the instant of the picture as a line, and the
// slider of the time under just that.

import uPlot from "uplot";
import sheet from "uplot/dist/uPlot.min.css";

import { element } from "./element.js";

const byId = (id) => document.getElementById(id);
const COLORS = ["#3b78b8", "#d0663b", "#4b9360", "#8c5fb0", "#c24f78", "#2f8a97", "#a98422", "#6b7682"];
const LEFT = 58, RIGHT = 14; // of the curves' place, as CSS has it
const NARROW = 720; // a window, as CSS has it
const FIRST = [6, 2]; // curves in a plot, and plots, which a page begins with
const TICKS = { // steps of values between lines, by unit: the angles of a circle, else uPlot's own
  deg: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 45, 90, 180, 360, 500].concat(...[1e3, 1e4, 1e5, 1e6].map((k) => [k, 2 * k, 5 * k])),
};
const APART = 14; // of lines, at least, so that the lowest plot has two of them
const DASHES = [[], [6, 4], [2, 3], [9, 3, 2, 3]]; // of the lines of runs
const MANY = 200; // variables that a search lists

const digits = (value, resolution = 0) => {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < resolution) return "0";
  if (size && (size >= 1e6 || size < 1e-4)) return value.toExponential(3);
  return String(Number(value.toPrecision(5)));
};

export class Plots {
  // `seek` goes to a time; `changed` is told when variables were added or removed.
  constructor(model, motion, { isLive, seek, changed }) {
    Object.assign(this, { model, motion, isLive, seek, changed, chosen: [], colours: new Map(), charts: [], zoom: null, now: motion.start });
    document.head.append(element("style", {}, sheet));
    this.begin();
    this.search();
    new ResizeObserver(() => this.resize()).observe(byId("plots"));
  }

  unitOf(index) {
    const { display, unit } = this.model.variables[index];
    return display?.unit ?? unit;
  }

  shown(index, value) {
    const [factor, offset] = this.model.variables[index].display?.scale ?? [1, 0];
    return factor * value + offset;
  }

  // The value of a variable in a run, with its unit.
  text(index, run, time) {
    return `${this.number(index, run, time)} ${this.unitOf(index)}`.trim();
  }

  number(index, run, time) {
    const scale = this.model.variables[index].display?.scale?.[0] ?? 1;
    const value = this.shown(index, run.valueAt(index, time));
    return digits(value, Math.abs(scale) * (run.resolution?.(index) ?? 0));
  }

  // All outputs, as far as there is room.
  begin() {
    const counts = new Map();
    for (const index of this.model.plots) {
      const unit = this.unitOf(index), count = counts.get(unit) ?? 0;
      if ((!count && counts.size >= this.room()) || count >= FIRST[0]) continue;
      counts.set(unit, count + 1);
      this.take(index);
    }
    this.build();
  }

  // A variable more, in the colour that is used least in its plot, and then least of all.
  take(index) {
    const uses = COLORS.map((colour) => this.chosen.filter((i) => this.colours.get(i) === colour).length);
    const near = COLORS.map((colour) => this.chosen.filter((i) => this.colours.get(i) === colour && this.unitOf(i) === this.unitOf(index)).length);
    const order = COLORS.map((_, k) => k).sort((a, b) => near[a] - near[b] || uses[a] - uses[b] || a - b);
    this.chosen.push(index);
    this.colours.set(index, COLORS[order[0]]);
  }

  // How many plots a page begins with.
  room() {
    if (!this.model.drawn) return 4;
    return window.innerWidth <= NARROW && window.innerHeight < 800 ? 1 : FIRST[1];
  }

  toggle(index) {
    if (this.chosen.includes(index)) this.chosen = this.chosen.filter((i) => i !== index);
    else this.take(index);
    this.build();
    this.changed();
  }

  colourOf(index) {
    return this.colours.get(index);
  }

  build() {
    for (const { chart } of this.charts) chart.destroy();
    const units = [...new Set(this.chosen.map((i) => this.unitOf(i)))];
    this.charts = units.map((unit, number) => this.makeChart(unit, number === units.length - 1));
    byId("plots").replaceChildren(...this.charts.map(({ box }) => box));
    byId("plots").hidden = !units.length;
    this.draw();
  }

  makeChart(unit, isLast) {
    const members = this.chosen.filter((i) => this.unitOf(i) === unit);
    const { runs } = this.motion, lines = members.flatMap((i) => runs.map((run, k) => [i, run, k]).filter(([, run]) => run.has(i)));
    const values = lines.map(([i, run, k]) => [i, run, element("span", { className: "value" }), k]);
    const chips = members.map((i) => {
      const own = values.filter(([index]) => index === i);
      const shown = own.flatMap(([, { name }, value, k]) => (runs.length > 1 ? [stroke(this.colourOf(i), k), `${name} `, value] : [value]));
      const first = runs.length > 1 ? [] : [stroke(this.colourOf(i), 0)];
      const { name, description } = this.model.variables[i];
      return element("button", { className: "chip", title: `${description || name}: click to remove`, onclick: () => this.toggle(i) },
        ...first, element("span", {}, name), ...shown);
    });
    const legend = element("div", { className: "legend" }, ...chips, element("span", { className: "unit" }, unit || "1"));
    const place = element("div", { className: "curves" }), box = element("div", { className: "plot" }, legend, place);
    const entry = { box, lines, values, place, isLast, chart: null };
    const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const grid = { stroke: () => style("--line"), width: 1 };
    const font = "11px system-ui, sans-serif";
    entry.chart = new uPlot({
      width: this.width(), height: this.height(isLast),
      padding: [6, RIGHT, isLast ? 0 : 4, 0],
      legend: { show: false },
      cursor: {
        y: false, focus: { prox: 24 }, points: { size: 6 },
        sync: { key: "time", setSeries: false },
        drag: { x: true, y: false, setScale: false, dist: 6 },
        bind: {
          dblclick: () => () => this.zoomTo(null),
        },
      },
      scales: { x: { time: false, range: () => this.range() }, y: { range: (_, low, high) => around(low, high) } },
      series: [{}, ...lines.map(([i, , k]) => ({
        stroke: this.colourOf(i), width: 1.6, dash: DASHES[k % DASHES.length], pxAlign: 0, spanGaps: true, points: { show: false }, label: this.model.variables[i].name,
      }))],
      axes: [
        { show: isLast, size: 30, font, stroke: () => style("--quiet"), grid, ticks: { ...grid, size: 4 }, space: 70, gap: 3,
          values: (_, ticks) => ticks.map((value, k) => (k === ticks.length - 1 ? `${tick(value)} s` : tick(value))) },
        { size: LEFT, font, stroke: () => style("--quiet"), grid, ticks: { show: false }, space: APART, gap: 6, ...(TICKS[unit] ? { incrs: TICKS[unit] } : {}), values: (_, ticks) => ticks.map(tick) },
      ],
      hooks: {
        setSelect: [(chart) => {
          if (chart.select.width >= 6) this.zoomTo([chart.posToVal(chart.select.left, "x"), chart.posToVal(chart.select.left + chart.select.width, "x")]);
          chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
        setCursor: [(chart) => this.write(entry, chart.cursor.left >= 0 ? chart.posToVal(chart.cursor.left, "x") : null)],
      },
    }, this.data(lines), place);
    entry.mark = element("div", { className: "mark" });
    const { over } = entry.chart; // the end of a drag does not come through as a click
    over.addEventListener("click", ({ clientX }) => this.seek(entry.chart.posToVal(clientX - over.getBoundingClientRect().left, "x")));
    over.append(entry.mark);
    if (!isLast) entry.chart.root.classList.add("without-time");
    return entry;
  }

  width() {
    return Math.max(byId("bar").clientWidth, 120);
  }

  height(isLast) {
    const count = new Set(this.chosen.map((i) => this.unitOf(i))).size, isSmall = window.innerHeight < 700, isOne = count === 1;
    if (!this.model.drawn) { // all there is
      const all = window.innerHeight - byId("head").offsetHeight - byId("bar").offsetHeight - byId("times").offsetHeight - 90;
      return Math.max(all / count - 26, 90) + (isLast ? 26 : 0);
    }
    return (isOne ? 104 : 68) - (isSmall ? 14 : 0) + (isLast ? 26 : 0);
  }

  range() {
    return this.zoom ?? this.motion.window;
  }

  zoomTo(range) {
    this.zoom = range;
    byId("zoomOut").hidden = !range;
    this.draw();
    this.placeMark(this.now);
  }

  data(lines) {
    const tables = new Map(); // by run: times, and a column for each line
    const columns = lines.map(([index, run]) => {
      const isFirst = !tables.has(run), times = isFirst ? [] : tables.get(run), values = [];
      tables.set(run, times);
      run.curve(index, (time, value) => {
        if (isFirst) times.push(time);
        values.push(this.shown(index, value));
      });
      return [times, values];
    });
    if (tables.size === 1) return [columns[0][0], ...columns.map(([, values]) => values)];
    return joined([...tables.values()], columns);
  }

  draw() {
    for (const { chart, lines } of this.charts) chart.setData(this.data(lines), true);
  }

  // The picture's instant.
  placeMark(now) {
    this.now = now;
    const [from, to] = this.range();
    if (this.isLive) this.draw();
    for (const entry of this.charts) {
      const { chart, mark } = entry, left = chart.valToPos(now, "x");
      mark.hidden = !(now >= from - 1e-9 && now <= to + 1e-9);
      mark.style.transform = `translateX(${left}px)`;
      if (!(chart.cursor.left >= 0)) this.write(entry, null);
    }
  }

  write({ values }, time) {
    const isNarrow = window.innerWidth <= NARROW; // there the unit stands at the end of the line, once
    for (const [index, run, value] of values) value.textContent = this[isNarrow ? "number" : "text"](index, run, time ?? this.now);
  }

  resize() {
    for (const { chart, isLast } of this.charts) {
      const width = this.width(), height = this.height(isLast);
      if (chart.width !== width || chart.height !== height) chart.setSize({ width, height });
    }
    this.placeMark(this.now);
  }

  restyle() {
    for (const { chart } of this.charts) chart.redraw(false, true);
  }

  // Any variable, by words of its name and description.
  search() {
    const box = byId("find"), list = byId("found"), { variables } = this.model;
    const words = variables.map((v) => `${v.name} ${v.description} ${v.display?.unit ?? v.unit}`.toLowerCase());
    const fill = () => {
      const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      const hits = variables.map((_, i) => i).filter((i) => wanted.every((word) => words[i].includes(word)));
      const rows = hits.slice(0, MANY).map((i) => {
        const tick = element("input", { type: "checkbox", checked: this.chosen.includes(i), onchange: () => this.toggle(i) });
        return element("label", { title: variables[i].description }, tick, element("span", { className: "name" }, variables[i].name), element("span", { className: "unit" }, this.unitOf(i)));
      });
      const rest = hits.length > MANY ? [element("div", { className: "note" }, `and ${hits.length - MANY} more`)] : [];
      list.replaceChildren(...(rows.length ? rows : [element("div", { className: "note" }, "no variable has these words")]), ...rest);
    };
    box.addEventListener("focus", () => {
      fill();
      list.hidden = false;
    });
    box.addEventListener("input", fill);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") box.blur();
      if (event.key === "Enter") list.querySelector("input")?.click();
      if (event.key === "Escape") list.hidden = true;
    });
    document.addEventListener("pointerdown", (event) => {
      if (!event.target.closest("#search")) list.hidden = true;
    });
    byId("zoomOut").addEventListener("click", () => this.zoomTo(null));
  }
}

// A piece of the line of a run.
function stroke(colour, run) {
  const dash = DASHES[run % DASHES.length], made = element("i", { className: "stroke" });
  const parts = dash.length ? dash.flatMap((length, k) => { // on and off, one after the other
    const from = dash.slice(0, k).reduce((sum, one) => sum + one, 0), shade = k % 2 ? "transparent" : colour;
    return [`${shade} ${from}px`, `${shade} ${from + length}px`];
  }) : [`${colour} 0`, `${colour} 1px`];
  made.style.background = `repeating-linear-gradient(90deg, ${parts.join(", ")})`;
  return made;
}

// Columns over the times of all: null where a run has no such instant. An instant that is there twice, as at an event,
// stays so.
function joined(tables, columns) {
  const at = new Map(tables.map((times) => [times, 0])), times = [], found = columns.map(() => []);
  for (;;) {
    let next = Infinity;
    for (const [own, k] of at) if (k < own.length && own[k] < next) next = own[k];
    if (next === Infinity) return [times, ...found];
    times.push(next);
    columns.forEach(([own, values], k) => found[k].push(own[at.get(own)] === next ? values[at.get(own)] : null));
    for (const [own, k] of at) if (own[k] === next) at.set(own, k + 1);
  }
}

const tick = (value) => (Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-4) ? value.toExponential(1) : String(Number(value.toPrecision(6))));

// What the values take: some room above and below, and rounding is not blown up.
function around(low, high) {
  if (low === null || high === null) return [0, 1];
  if (!(high - low > 1e-9 * Math.max(Math.abs(high), Math.abs(low), 1e-30))) {
    const room = Math.abs(high) / 10 || 0.5;
    return [low - room, high + room];
  }
  const room = 0.06 * (high - low);
  return [low - room, high + room];
}
