// Where shapes are, from the quantities that describe them (Modelica's Visualizers.Advanced.Shape): as
// mbfmu/scene/motion.py does it for recorded runs.

import { Form } from "./form.js";

const FACTS = 3; // points, triangles, displacements (mbfmu.dynamics.drawing.DEFORMED_FACTS)
const LOCAL = ["r_shape", "lengthDirection", "widthDirection", "length", "width", "height"];

const cross = ([a, b, c], [x, y, z]) => [b * z - c * y, c * x - a * z, a * y - b * x];
const scaled = (v, by) => v.map((e) => e * by);

const moves = (quantities) => quantities.some((q) => typeof q === "string");

function axesOf(along, across) {
  const size = Math.hypot(...along), x = size < 1e-10 ? [1, 0, 0] : scaled(along, 1 / size);
  let z = cross(x, across);
  if (!(z[0] ** 2 + z[1] ** 2 + z[2] ** 2 > 1e-6)) {
    let other = Math.abs(x[0]) > 1e-6 ? [0, 1, 0] : [1, 0, 0];
    if (Math.abs(x[0]) + Math.abs(x[1]) > 1 - 1e-12) {
      const sizes = x.map(Math.abs), least = sizes.indexOf(Math.min(...sizes));
      other = [0, 1, 2].map((i) => (i === least ? 1 : 0));
    }
    z = cross(x, other);
  }
  z = scaled(z, 1 / Math.max(Math.hypot(...z), 1e-300));
  return [x, cross(z, x), z];
}

export class Poses {
  // `meshes` are those of the page; `value` gives that of a quantity: a number, or the name of a variable.
  constructor(shapes, meshes) {
    const byIdent = new Map(meshes.map((mesh) => [`${mesh.userData.component}.${mesh.userData.shape}`, mesh]));
    const frames = new Map();
    this.shapes = [];
    this.forms = [];
    this.deformed = []; // meshes and the factors of their displacements
    for (const shape of shapes) {
      const mesh = byIdent.get(`${shape.component}.${shape.name}`);
      if (!mesh) continue;
      if (moves(shape.r) || moves(shape.T)) frames.set(mesh.parent, shape);
      if (LOCAL.some((key) => moves(shape[key]))) this.shapes.push([mesh, shape]);
      if (shape.type === "deformed") this.deformed.push([mesh, shape.extra.slice(FACTS, FACTS + shape.extra[FACTS - 1])]);
      if (shape.type === "surface" && moves(shape.extra)) this.forms.push(new Form(mesh, shape.extra));
    }
    this.frames = [...frames];
    for (const [node] of [...this.frames, ...this.shapes]) node.matrixAutoUpdate = false;
  }

  apply(value) {
    for (const form of this.forms) form.apply(value);
    for (const [mesh, factors] of this.deformed) factors.forEach((factor, i) => (mesh.morphTargetInfluences[i] = value(factor)));
    for (const [node, { r, T }] of this.frames) {
      const [x, y, z] = r.map(value), t = T.map(value); // T by columns: its transpose by rows, to the world
      node.matrix.set(t[0], t[1], t[2], x, t[3], t[4], t[5], y, t[6], t[7], t[8], z, 0, 0, 0, 1);
      node.matrixWorldNeedsUpdate = true;
    }
    for (const [node, shape] of this.shapes) {
      const [r, along, across, [length], [width], [height]] = LOCAL.map((key) => shape[key].map(value));
      const axes = axesOf(along, across), x = scaled(axes[0], length), y = scaled(axes[1], width), z = scaled(axes[2], height);
      node.matrix.set(x[0], y[0], z[0], r[0], x[1], y[1], z[1], r[1], x[2], y[2], z[2], r[2], 0, 0, 0, 1);
      node.matrixWorldNeedsUpdate = true;
    }
  }
}
