// What can be set of a live run: inputs by sliders and keys, parameters and start values; its log, and what can be saved.

import { deflated, save, unpacked } from "./archive.js";
import { element } from "./element.js";

const byId = (id) => document.getElementById(id);

// Keys of the first inputs: less, more.
const KEYS = [["ArrowLeft", "ArrowRight"], ["ArrowDown", "ArrowUp"], ["j", "k"], ["n", "m"]];
const SIGNS = { ArrowLeft: "←", ArrowRight: "→", ArrowDown: "↓", ArrowUp: "↑" };
const MANY = 12; // groups with more entries are closed at first

export class Controls {
  constructor(viewer, simulation, model) {
    Object.assign(this, { viewer, simulation, model, held: new Map(), rest: new Map(), rows: new Map() });
    this.inputs = model.settables.filter((v) => v.kind === "input");
    simulation.listeners.push(() => this.writeLog());
    byId("controls").hidden = false;
    byId("controls").append(this.actions(), this.inputsList(), ...this.parameters(), this.logView());
    byId("panel").addEventListener("click", () => this.toggle());
    this.writeLog();
    if (window.innerWidth <= 720) this.toggle();
  }

  toggle() {
    byId("controls").hidden = !byId("controls").hidden;
    byId("panel").setAttribute("aria-pressed", String(!byId("controls").hidden));
    this.viewer.resize();
  }

  actions() {
    this.pendingNote = element("span", { className: "note" });
    return element("div", { id: "actions" },
      element("button", { id: "restart", title: "Start again with these values (R, Home)", onclick: () => this.viewer.restart() }, "Restart"),
      element("button", { id: "saveCsv", title: "Save the run so far", onclick: () => this.saveCsv() }, "CSV"),
      element("button", { id: "saveFmu", title: "Save the FMU, as it was built", onclick: () => this.saveFmu() }, "FMU"),
      this.pendingNote,
    );
  }

  inputsList() {
    if (!this.inputs.length) return element("div", { className: "note" }, "no inputs");
    const rows = this.inputs.map((variable, i) => this.row(variable, KEYS[i]));
    return element("section", { id: "inputs" }, element("h2", {}, "Inputs"), ...rows);
  }

  // Groups by kind and component; the rows of a group are made when it is opened.
  parameters() {
    const made = [];
    for (const [kind, title] of [["tunable", "Parameters"], ["fixed", "Parameters, with a restart"], ["start", "Start values, with a restart"]]) {
      const all = this.model.settables.filter((v) => (kind === "fixed" ? v.kind === "start" && v.isParameter : v.kind === kind && (kind === "tunable" || !v.isParameter)));
      if (!all.length) continue;
      const groups = new Map();
      for (const variable of all) groups.set(variable.component, [...(groups.get(variable.component) ?? []), variable]);
      const parts = [...groups].map(([component, variables]) => {
        const group = element("details", { className: "group" }, element("summary", {}, component || this.model.name));
        const fill = () => {
          if (group.children.length === 1) group.append(...variables.map((variable) => this.row(variable)));
        };
        group.addEventListener("toggle", fill);
        group.fill = fill;
        group.words = variables.map((v) => v.name.toLowerCase()).join(" ");
        if (groups.size === 1 && variables.length <= MANY) group.open = true;
        return group;
      });
      const find = (event) => {
        const word = event.target.value.trim().toLowerCase();
        for (const group of parts) group.hidden = !group.words.includes(word);
      };
      const search = parts.length > 3 ? [element("input", { type: "search", placeholder: "find", oninput: find })] : [];
      made.push(element("details", { className: "section" }, element("summary", {}, `${title} (${all.length})`), ...search, ...parts));
    }
    return made;
  }

  row(variable, keys) {
    const { name, component, unit, description, type } = variable;
    const short = component ? name.slice(component.length + 1) : name;
    const title = element("label", { title: `${name}: ${description}` }, short, element("span", { className: "note" }, ` ${unit}`));
    const row = element("div", { className: "setting" }, title);
    row.dataset.name = name;
    const give = (value, fromSlider) => this.give(variable, value, fromSlider);
    if (type === "Boolean") {
      const box = element("input", { type: "checkbox", checked: Boolean(this.simulation.valueOf(variable)), onchange: () => give(box.checked) });
      row.append(box);
      this.rows.set(variable, { show: (value) => (box.checked = Boolean(value)) });
    } else if (type === "String") {
      const box = element("input", { type: "text", value: this.simulation.valueOf(variable), onchange: () => give(box.value) });
      row.append(box);
      this.rows.set(variable, { show: (value) => (box.value = value) });
    } else {
      const [low, high] = variable.range, step = type === "Integer" ? 1 : "any", value = this.simulation.valueOf(variable);
      const slider = element("input", { type: "range", min: low, max: high, step, value, oninput: () => give(Number(Number(slider.value).toPrecision(4)), true) });
      const number = element("input", { type: "number", step, value, min: variable.min ?? "", max: variable.max ?? "" });
      number.addEventListener("change", () => number.value !== "" && give(Number(number.value)));
      slider.setAttribute("aria-label", name);
      slider.addEventListener("pointerup", () => slider.blur()); // keys are the inputs' again
      const show = (shown) => {
        if (shown < Number(slider.min)) slider.min = shown;
        if (shown > Number(slider.max)) slider.max = shown;
        slider.value = shown;
        number.value = Number(Number(shown).toPrecision(6));
      };
      show(value);
      row.append(number, slider);
      this.rows.set(variable, { show, low, high });
    }
    if (keys) row.append(this.keyButtons(variable, keys));
    return row;
  }

  // Keys as buttons, for those who have none.
  keyButtons(variable, keys) {
    const buttons = keys.map((key, i) => {
      const button = element("button", { title: "Hold: this key, or the button" }, SIGNS[key] ?? key.toUpperCase());
      button.addEventListener("pointerdown", (event) => {
        button.setPointerCapture(event.pointerId);
        this.hold(variable, key, i ? 1 : -1);
      });
      for (const kind of ["pointerup", "pointercancel"]) button.addEventListener(kind, () => this.release(key));
      return button;
    });
    return element("span", { className: "keys" }, ...buttons);
  }

  // Set a variable, and show what it has then: the old value where the FMU refuses the new one.
  give(variable, value) {
    const before = this.simulation.valueOf(variable), taken = this.simulation.set(variable, value);
    this.rows.get(variable)?.show(taken ? value : before);
    this.pendingNote.textContent = this.simulation.pending.size ? `${this.simulation.pending.size} with the next start` : "";
    return taken;
  }

  // A key is pressed, for as long as it is held: a quarter of the input's range beyond what it has, or beyond zero where
  // that is nearer to the end which the key stands for. The last key that is held counts.
  keyDown(key, isRepeated) {
    const at = KEYS.findIndex((pair, i) => pair.includes(key) && i < this.inputs.length);
    if (at < 0) return false;
    if (!isRepeated) this.hold(this.inputs[at], key, KEYS[at][1] === key ? 1 : -1);
    return true;
  }

  hold(variable, key, sign) {
    if (this.held.has(key)) return;
    if (!this.rest.has(variable)) this.rest.set(variable, this.simulation.valueOf(variable));
    this.held.set(key, [variable, sign]);
    this.drive(variable);
  }

  release(key) {
    if (!this.held.has(key)) return;
    const [variable] = this.held.get(key);
    this.held.delete(key);
    this.drive(variable);
  }

  // What the keys that are held make of an input.
  drive(variable) {
    const before = this.rest.get(variable), [, sign] = [...this.held.values()].filter(([of]) => of === variable).pop() ?? [];
    if (!sign) {
      this.rest.delete(variable);
      return this.give(variable, before);
    }
    if (variable.type === "Boolean") return this.give(variable, sign > 0);
    const { low, high } = this.rows.get(variable), zero = low < 0 && high > 0 ? 0 : before;
    const wanted = sign * (Math.max(sign * before, sign * zero) + (high - low) / 4);
    const value = Math.min(Math.max(wanted, variable.min ?? -Infinity), variable.max ?? Infinity);
    return this.give(variable, variable.type === "Integer" ? Math.round(value) : value);
  }

  releaseAll() {
    for (const key of [...this.held.keys()]) this.release(key);
  }

  logView() {
    this.log = element("pre", { id: "log" });
    this.logPart = element("details", { className: "section" }, element("summary", {}, "Log"), this.log);
    return this.logPart;
  }

  writeLog() {
    const { lines } = this.simulation;
    this.logPart.hidden = !lines.length;
    this.log.textContent = lines.slice(-50).map(({ text }) => text).join("\n");
  }

  // The run has ended by itself: say why.
  ended() {
    const said = this.simulation.lines.filter(({ status }) => status > 1).at(-1);
    byId("ended").hidden = false;
    byId("ended").replaceChildren(
      element("div", { className: "title" }, "The run has ended"),
      element("div", {}, said?.text ?? "the model fails without a message"),
      element("button", { onclick: () => this.viewer.restart() }, "Restart"),
    );
    this.logPart.open = true;
  }

  started() {
    byId("ended").hidden = true;
    this.pendingNote.textContent = "";
    for (const [variable, { show }] of this.rows) show(this.simulation.valueOf(variable));
  }

  saveCsv() {
    const plain = this.model.variables.map((v, i) => (["output", "input"].includes(v.causality) ? i : -1)).filter((i) => i >= 0);
    const indices = [...new Set([...plain, ...this.viewer.plots.chosen])];
    save(`${this.model.name}.csv`, this.simulation.csv(indices), "text/csv");
  }

  async saveFmu() {
    save(this.model.file, await deflated(unpacked("fmu")), "application/zip");
  }
}
