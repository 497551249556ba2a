// The model's axes in a corner: how they point, and a click to look along them.

import { Vector3 } from "three";

import { AXES } from "./stage.js";

const NAMESPACE = "http://www.w3.org/2000/svg", HALF = 38, ARM = 25;

function svg(tag, attributes) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export class Gizmo {
  // `turn`: from the model's world to that of the picture; `look` takes an axis of the model's.
  constructor(place, turn, look) {
    Object.assign(this, { place, turn, arms: [] });
    place.setAttribute("viewBox", `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`);
    for (const [number, name] of ["x", "y", "z"].entries()) {
      for (const sign of [1, -1]) {
        const axis = [0, 1, 2].map((i) => (i === number ? sign : 0)), group = svg("g", { class: "arm", tabindex: "0", role: "button" });
        const title = svg("title", {}), key = sign > 0 ? ` (${number + 1})` : "";
        title.textContent = `Look from ${sign > 0 ? "" : "−"}${name.toUpperCase()}${key}`;
        const line = sign > 0 ? svg("line", { stroke: AXES[name], "stroke-width": 2.4 }) : null;
        const ball = svg("circle", { r: sign > 0 ? 8.5 : 5.5, fill: AXES[name], "fill-opacity": sign > 0 ? 1 : 0.3, stroke: AXES[name] });
        group.append(title, ...(line ? [line] : []), ball);
        let text = null;
        if (sign > 0) {
          group.id = `view${name.toUpperCase()}`;
          text = svg("text", { "text-anchor": "middle", "dominant-baseline": "central", fill: "#fff" });
          text.textContent = name.toUpperCase();
          group.append(text);
        }
        const act = () => look(axis);
        group.addEventListener("click", act);
        group.addEventListener("keydown", (event) => event.key === "Enter" && act());
        this.arms.push({ axis: new Vector3(...axis), group, line, ball, text });
        place.append(group);
      }
    }
  }

  draw(camera) {
    const back = camera.quaternion.clone().invert();
    const key = [...back.toArray()].map((e) => e.toFixed(4)).join();
    if (key === this.key) return;
    this.key = key;
    const seen = this.arms.map((arm) => [arm, arm.axis.clone().applyQuaternion(this.turn).applyQuaternion(back)]);
    for (const [{ group, line, ball, text }, { x, y }] of seen.sort(([, a], [, b]) => a.z - b.z)) {
      for (const part of [ball, text]) {
        part?.setAttribute(part === ball ? "cx" : "x", x * ARM);
        part?.setAttribute(part === ball ? "cy" : "y", -y * ARM);
      }
      line?.setAttribute("x2", x * ARM);
      line?.setAttribute("y2", -y * ARM);
      this.place.append(group);
    }
  }
}
