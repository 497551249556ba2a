// A surface through points that move or change their colours (mbfmu.dynamics.drawing.SURFACE_FACTS says what is where).

import { Color, SRGBColorSpace } from "three";

const FACTS = 5; // nu, nv, wireframe, multiColored, transparency

export class Form {
  constructor(mesh, extra) {
    mesh.geometry = this.geometry = mesh.geometry.clone(); // equal surfaces share theirs
    const count = 3 * this.geometry.getAttribute("position").count;
    this.points = this.part("position", extra.slice(FACTS, FACTS + count));
    this.colours = this.part("color", extra.slice(FACTS + count));
    this.isFaces = mesh.isMesh;
  }

  // What changes of an attribute: its buffer and quantities, or null.
  part(name, quantities) {
    return quantities.some((q) => typeof q === "string") ? [this.geometry.getAttribute(name), quantities] : null;
  }

  apply(value) {
    if (this.points) {
      const [buffer, quantities] = this.points;
      for (let i = 0; i < quantities.length; i++) buffer.array[i] = value(quantities[i]);
      buffer.needsUpdate = true;
      this.geometry.boundingSphere = this.geometry.boundingBox = null;
      if (this.isFaces) this.geometry.computeVertexNormals();
    }
    if (this.colours) {
      const [buffer, quantities] = this.colours, colour = new Color(), width = buffer.itemSize;
      for (let i = 0; i < quantities.length / 3; i++) {
        const [r, g, b] = [0, 1, 2].map((k) => value(quantities[3 * i + k]) / 255);
        colour.setRGB(r, g, b, SRGBColorSpace).toArray(buffer.array, width * i);
      }
      buffer.needsUpdate = true;
    }
  }
}
