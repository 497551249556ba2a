// A body dragged with the mouse: a spring and a damper from the point that was taken to the pointer, by inputs of the FMU.

import { Line, BufferGeometry, LineBasicMaterial, Matrix4, Plane, Raycaster, Vector2, Vector3 } from "three";

const PACE = 12; // rad/s: of the mass that one feels at the point, on its spring
const SAG = 20; // so much less than its size a mechanism gives way to its weight
const CALM = 0.5; // the pace times a step at most: the force stays as it is in a step
const DAMPING = 0.7;
const MOMENT = 1e-8; // of the experiment: a step that tells accelerations

export class Grip {
  constructor(viewer, simulation, grips) {
    Object.assign(this, { viewer, simulation, grips, held: null });
    this.line = new Line(new BufferGeometry().setFromPoints([new Vector3(), new Vector3()]), new LineBasicMaterial({ color: 0xd9480f }));
    this.line.frustumCulled = false;
    this.line.visible = false;
    viewer.scene.add(this.line);
  }

  // That of the body which a mesh belongs to, or whose frame is where the mesh's is.
  of(mesh) {
    const { component } = mesh.userData, near = 1e-6 * this.viewer.size;
    const own = ({ component: body }) => component === body || component.startsWith(`${body}.`);
    return this.grips.find(own) ?? this.grips.find((grip) => this.place(mesh).distanceTo(this.vector(grip.r)) < near);
  }

  place(mesh) {
    return new Vector3().setFromMatrixPosition(mesh.parent.matrix);
  }

  vector(references) {
    return new Vector3(...this.simulation.runtime.values3(references));
  }

  give(grip, force, torque) {
    const { runtime } = this.simulation;
    for (const [references, vector] of [[grip.force, force], [grip.torque, torque]]) {
      references.forEach((reference, i) => runtime.set({ type: "Real", reference }, vector.getComponent(i)));
    }
  }

  // Takes what is at a place of the window; false where nothing can be taken there.
  take(mesh, point) {
    const grip = mesh && this.of(mesh);
    if (!grip || this.simulation.failed) return false;
    const local = mesh.parent.worldToLocal(point.clone());
    this.held = { grip, mesh, local, target: this.inModel(point.clone()), last: null };
    const mass = this.mass();
    if (!(mass > 0 && mass < Infinity)) {
      this.held = null; // it cannot move
      return false;
    }
    this.held.mass = mass;
    return true;
  }

  inModel(point) {
    return this.viewer.root.children[0].worldToLocal(point);
  }

  // The mass that a force at the point feels, where it is felt least: by accelerations with and without forces.
  mass() {
    const { grip, mesh, local } = this.held, arm = local.clone().applyMatrix4(mesh.parent.matrix).sub(this.place(mesh));
    const turn = new Matrix4().extractRotation(mesh.parent.matrix);
    const read = () => [this.vector(grip.a), this.vector(grip.z).applyMatrix4(turn)];
    const rates = () => this.simulation.runtime.attempt(MOMENT * this.simulation.span, read) ?? read(); // inputs act on steps
    const [a, z] = rates();
    let sum = 0;
    for (let i = 0; i < 3; i++) {
      const force = new Vector3().setComponent(i, 1);
      this.give(grip, force, arm.clone().cross(force));
      const [b, y] = rates();
      sum += b.sub(a).add(y.sub(z).cross(arm)).lengthSq();
    }
    this.give(grip, new Vector3(), new Vector3());
    return 1 / Math.sqrt(sum);
  }

  // The pointer in the plane through the point that faces the camera.
  drag(clientX, clientY) {
    if (!this.held) return;
    const { viewer } = this, box = viewer.renderer.domElement.getBoundingClientRect(), ray = new Raycaster();
    ray.setFromCamera(new Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2), viewer.camera);
    const { mesh, local } = this.held, at = mesh.parent.localToWorld(local.clone());
    const plane = new Plane().setFromNormalAndCoplanarPoint(viewer.camera.getWorldDirection(new Vector3()), at);
    const hit = ray.ray.intersectPlane(plane, new Vector3());
    if (hit) this.held.target = this.inModel(hit);
    this.draw();
    viewer.refresh();
  }

  // Before a step of h [s].
  act(h) {
    if (!this.held) return;
    const { grip, mesh, local, target, mass, last } = this.held, pose = mesh.parent.matrix;
    this.simulation.pose();
    const at = local.clone().applyMatrix4(pose), velocity = last ? at.clone().sub(last).divideScalar(h) : new Vector3();
    const pace = Math.min(Math.max(PACE, Math.sqrt((SAG * 9.81) / this.viewer.size)), CALM / h);
    const force = target.clone().sub(at).multiplyScalar(mass * pace ** 2).addScaledVector(velocity, -2 * DAMPING * mass * pace);
    this.give(grip, force, at.clone().sub(this.place(mesh)).cross(force));
    this.held.last = at;
  }

  release() {
    if (!this.held) return;
    this.give(this.held.grip, new Vector3(), new Vector3());
    this.held = null;
    this.draw();
  }

  draw() {
    this.line.visible = Boolean(this.held);
    if (!this.held) return;
    const { mesh, local, target } = this.held, root = this.viewer.root.children[0];
    const ends = [mesh.parent.localToWorld(local.clone()), root.localToWorld(target.clone())];
    this.line.geometry.setFromPoints(ends);
  }
}
