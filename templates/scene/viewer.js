// The animation page: shows a motion, recorded or live, its components, and plots of the run's variables.

import {
  Box3, BufferGeometry, Color, Float32BufferAttribute, Group, Line, LineBasicMaterial, Raycaster, SRGBColorSpace, Vector2, Vector3,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { fileIn, save, unpacked, whole } from "./archive.js";
import { Controls } from "./controls.js";
import { element } from "./element.js";
import { Gizmo } from "./gizmo.js";
import { Grip } from "./grip.js";
import { Plots } from "./plots.js";
import { Comparison, Recording } from "./recording.js";
import { Simulation } from "./simulation.js";
import { Stage } from "./stage.js";
import { filmOf, FORMATS } from "./video.js";

const byId = (id) => document.getElementById(id);
const sizeOf = (box) => box.getSize(new Vector3()).length();
const unionOf = (boxes) => boxes.reduce((whole, box) => whole.union(box), new Box3());
// A box that holds a mesh where it is: of what bends the corners as they are, as three.js takes all displacements for 1.
const hold = (box, mesh, precise = false) => box.expandByObject(mesh, precise || mesh.userData.type === "deformed");
// Has a part of an arrow no length? An arrow that shows 0 would be two discs.
const isFlat = (part) => {
  if (part.matrixAutoUpdate) part.updateMatrix();
  if (!part.geometry.boundingBox) part.geometry.computeBoundingBox();
  const { x, y } = part.geometry.boundingBox.getSize(new Vector3()), [a, b, c, , d, e, f] = part.matrix.elements;
  return x * Math.hypot(a, b, c) < 0.02 * y * Math.hypot(d, e, f);
};
let model; // what the page is told of it
const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const FILL = 0.9; // of the free view that bounds take
const PRECISE = 2000; // points up to which a mesh is measured by them
const FAR = 6; // times its size is the way of what travels far; twice that with what stands there
const WORLD = 4; // times as large as what moves may be what is seen with the World's axes
const FIRST_LOOK = new Vector3(0.62, 0.42, 1);
const TINTS = ["#d0663b", "#2f8a97", "#8c5fb0"]; // of the second, third ... run where all are in one view
const GHOST = 0.42; // how much of those covers what is behind
const ALONG = 0.005; // angle [rad] up to which an orthographic view is still along its axis

class Viewer {
  // `motion` is a Recording, a Comparison of several or a Simulation of the meshes; `root` has one scene for each run.
  constructor(root, meshes, motion, isSplit) {
    this.motion = motion;
    this.start = motion.start;
    this.end = motion.end;
    this.isLive = motion instanceof Simulation;
    this.now = this.start;
    this.playing = false;
    this.looping = true;
    this.speed = 1;
    this.selected = null;
    this.followed = null;
    this.traces = new Map();
    this.points = new Map(); // of a component, where it was clicked: a mesh and a point of that
    this.pictures = 0;
    this.hiddenKinds = new Set();
    this.hiddenPaths = new Set();
    this.hiddenRuns = new Set();
    this.isSplit = isSplit;

    this.stage = new Stage(byId("view"), root, meshes, model);
    ({ scene: this.scene, renderer: this.renderer, perspective: this.camera, meshes: this.meshes } = this.stage);
    this.root = root;
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.15;
    this.controls.zoomToCursor = true;
    this.isEmbedded = location.hash === "#embedded"; // in another page, which the wheel scrolls until this one is clicked
    this.controls.enableZoom = !this.isEmbedded;
    this.controls.addEventListener("change", () => this.refresh());
    this.controls.addEventListener("start", () => (this.isOwnLook = true));
    this.turn = this.sceneOf(0).children[0].quaternion;
    this.gizmo = new Gizmo(byId("gizmo"), this.turn, (axis) => this.lookAlong(axis));

    const nameOf = ({ userData: { run, component, shape } }) => `${run} ${component}.${shape}`;
    this.arrows = this.meshes.filter((mesh) => mesh.isMesh && /(Head\d?|Line)$/.test(mesh.userData.shape));
    this.byName = new Map(this.meshes.map((mesh) => [nameOf(mesh), mesh]));
    this.coloured = motion.runs.flatMap((run, k) =>
      run.colours.map(([name, colour]) => [this.byName.get(`${k} ${name}`), colour, run]).filter(([mesh]) => mesh));
    for (const [mesh] of this.coloured) mesh.userData.changes = true; // its colour is the run's, not the theme's
    [this.bounds, this.boxes] = this.reach();
    this.size = Math.max(sizeOf(this.bounds), 1e-6);
    this.plots = new Plots(model, motion, {
      isLive: this.isLive,
      seek: (time) => this.isLive || this.show(time), // a live run knows no other instant
      changed: () => this.writeDetails(),
    });
    this.goAlong();
    this.stage.layGround(this.bounds, this.size, Boolean(this.goesAlong));
    byId("cell").textContent = this.stage.cell ? `grid ${Number(this.stage.cell.toPrecision(1))} m` : "";
    this.buildTree();
    this.buildRuns();
    if (this.stage.hasGround) this.hideGravity();
    this.listen();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.resize();
  }

  // ---- time

  show(time) {
    this.now = Math.min(Math.max(time, this.start), this.end);
    this.motion.pose(this.now);
    for (const [mesh, colour, run] of this.coloured) {
      const [r, g, b] = colour.map((of) => run.quantity(of, this.now) / 255);
      mesh.material.color.setRGB(r, g, b, SRGBColorSpace);
      if (mesh.userData.ghost) this.tint(mesh);
    }
    this.root.updateMatrixWorld(true);
    if (this.followed) {
      const place = this.middleOf(this.followed);
      this.shift(place.clone().sub(this.followedAt ?? place));
      this.followedAt = place;
    }
    this.placeSlider();
    byId("clock").textContent = `${this.now.toFixed(model.stop - model.start < 0.5 ? 4 : 2)} s`;
    if (this.isLive) this.goOnTracing();
    this.grip?.draw();
    this.writeValues();
    this.plots?.placeMark(this.now);
    this.refresh();
  }

  // The slider goes over what the plots show, in one line with them.
  placeSlider() {
    if (this.isLive) return;
    const [from, to] = this.plots?.range() ?? [this.start, this.end];
    byId("scrub").value = String(to > from ? (this.now - from) / (to - from) : 0);
  }

  play(on = !this.playing) {
    this.playing = on && this.end > this.start && !this.motion.failed;
    if (this.playing && this.now >= this.end) this.show(this.start);
    byId("play").innerHTML = this.playing ? "&#10074;&#10074;" : "&#9654;";
    this.last = performance.now();
    this.refresh();
  }

  refresh() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame((stamp) => this.frame(stamp));
  }

  frame(stamp) {
    this.pending = false;
    if (this.playing && this.isLive) this.goOn(stamp);
    else if (this.playing) {
      const next = this.now + (Math.max(0, stamp - this.last) / 1000) * this.speed;
      this.last = stamp;
      if (next < this.end) this.show(next);
      else if (this.looping) this.show(this.start + ((next - this.start) % (this.end - this.start)));
      else {
        this.show(this.end);
        this.play(false);
      }
      this.refresh();
    }
    this.glide();
    this.controls.update();
    this.render();
  }

  render() {
    if (!model.drawn) return;
    const { stage, camera } = this, begin = performance.now();
    this.leaveAxis();
    for (const part of this.arrows) part.layers[isFlat(part) ? "disableAll" : "enableAll"]();
    const distance = camera.position.distanceTo(this.controls.target), wide = Math.max(this.size, sizeOf(this.bounds));
    if (camera === stage.perspective) camera.near = Math.max(distance / 50, distance - 3 * wide);
    camera.far = distance + 8 * wide;
    camera.updateProjectionMatrix();
    this.gizmo.draw(camera);
    const views = this.views();
    if (views.length > 1) {
      this.renderer.setScissorTest(false);
      this.renderer.setViewport(0, 0, window.innerWidth, window.innerHeight);
      this.renderer.setClearColor(this.scene.background);
      this.renderer.clear();
    }
    for (const view of views) this.renderView(view, views.length > 1);
    if (this.isLive && this.playing) {
      this.motion.timing.pictures += 1;
      this.motion.timing.draw += performance.now() - begin;
    }
  }

  // What is seen in a view; where a component is followed, each goes with its own.
  renderView({ left, top, width, height, run }, isPart) {
    const { stage, camera, renderer } = this, by = this.awayOf(run);
    for (const mesh of this.meshes) mesh.visible = this.isShown(mesh, run);
    for (const lines of this.traces.values()) for (const line of lines) line.visible = run === null || line.userData.run === run;
    const middle = this.goesAlong ? this.controls.target : this.bounds.getCenter(new Vector3());
    stage.follow(middle.clone().add(by));
    stage.placeLabels();
    camera.position.add(by);
    const place = [left, window.innerHeight - top - height, width, height];
    renderer.setViewport(...place);
    renderer.setScissor(...place);
    renderer.setScissorTest(isPart);
    renderer.render(this.scene, camera);
    camera.position.sub(by);
  }

  // From where a followed component is in the first run to where it is in another one.
  awayOf(run) {
    if (!run || !this.followed || !this.meshesOf(this.followed, run).length) return new Vector3();
    return this.middleOf(this.followed, run).sub(this.middleOf(this.followed, 0));
  }

  // ---- several runs

  sceneOf(run) {
    return this.motion.runs.length > 1 ? this.root.children[run] : this.root;
  }

  buildRuns() {
    const { runs } = this.motion;
    byId("runs").hidden = runs.length < 2;
    if (runs.length < 2) return;
    const buttons = runs.map(({ name }, k) => {
      const swatch = element("i", { className: "swatch" });
      swatch.style.background = k ? TINTS[(k - 1) % TINTS.length] : "var(--ink)";
      if (k) swatch.style.opacity = 0.6;
      const button = element("button", { "aria-pressed": "true", title: `Show ${name}`, onclick: () => this.toggleRun(k, button) }, swatch, name);
      return button;
    });
    this.splitButton = element("button", { id: "split", title: "Side by side or one over the other (S)", onclick: () => this.setSplit(!this.isSplit) }, "Side by side");
    byId("runs").append(...buttons, this.splitButton);
    byId("captions").append(...runs.map(({ name }) => element("span", {}, name)));
    this.setSplit(this.isSplit);
  }

  toggleRun(run, button) {
    if (!this.hiddenRuns.delete(run)) this.hiddenRuns.add(run);
    button.setAttribute("aria-pressed", String(!this.hiddenRuns.has(run)));
    this.fitAgain();
    this.updateVisibility();
  }

  // A view for each run, or all in one: the first as ever, the others tinted and translucent.
  setSplit(isSplit) {
    this.isSplit = isSplit;
    this.splitButton.setAttribute("aria-pressed", String(isSplit));
    this.controls.zoomToCursor = !isSplit;
    for (const mesh of this.meshes) {
      const { run, kind } = mesh.userData, { material } = mesh;
      if (!run || kind === "World") continue;
      mesh.userData.own ??= { color: material.color.clone(), opacity: material.opacity, transparent: material.transparent, offset: material.polygonOffsetFactor, castShadow: mesh.castShadow };
      const { own } = mesh.userData, isGhost = (mesh.userData.ghost = !isSplit);
      material.color.copy(own.color);
      if (isGhost) this.tint(mesh);
      material.opacity = own.opacity * (isGhost ? GHOST : 1);
      material.transparent = own.transparent || isGhost;
      material.polygonOffsetFactor = material.polygonOffsetUnits = own.offset + (isGhost ? 8 : 0); // where both are in one place, the first is seen
      mesh.castShadow = own.castShadow && !isGhost;
      material.needsUpdate = true;
    }
    this.fitAgain();
    this.select(this.selected);
  }

  tint(mesh) {
    mesh.material.color.lerp(new Color(TINTS[(mesh.userData.run - 1) % TINTS.length]), 0.75);
  }

  // One view of all runs, or one of each: beside or below one another, as there is room.
  views() {
    const { innerWidth: width, innerHeight: height } = window, [wide, high, x, y] = this.freeView();
    const runs = this.motion.runs.map((_, k) => k).filter((k) => !this.hiddenRuns.has(k)), count = runs.length;
    if (!this.isSplit || count < 2) return [{ left: 0, top: 0, width, height, free: [wide, high], shift: [x, y], run: this.isSplit ? (runs[0] ?? null) : null }];
    if (wide >= high) {
      return runs.map((run, k) => ({ left: (k * width) / count, top: 0, width: width / count, height, free: [wide / count, high], shift: [0, y], run }));
    }
    const head = (height - high) / 2 + y;
    return runs.map((run, k) => ({ left: 0, top: head + (k * high) / count, width, height: high / count, free: [wide, high / count], shift: [0, 0], run }));
  }

  placeCaptions() {
    const views = this.views(), captions = [...byId("captions").children];
    for (const [k, caption] of captions.entries()) {
      const view = views.find(({ run }) => run === k);
      caption.hidden = !this.isSplit || !view;
      if (!view) continue;
      caption.style.left = `${view.left + view.width / 2}px`;
      caption.style.top = `${Math.max(view.top + 4, byId("head").offsetHeight + 20)}px`;
    }
  }

  isShown(mesh, run) {
    const { isOff, run: own, kind } = mesh.userData;
    if (isOff || this.hiddenRuns.has(own)) return false;
    return run === null ? kind !== "World" || own === Math.min(...this.shownRuns()) : own === run;
  }

  shownRuns() {
    return this.motion.runs.map((_, k) => k).filter((k) => !this.hiddenRuns.has(k));
  }

  // ---- a live run

  goOn(stamp) {
    const elapsed = Math.max(0, stamp - this.last) / 1000;
    this.last = stamp;
    this.motion.advance(elapsed, this.speed);
    this.show(this.motion.now);
    this.keepInView();
    const { factor } = this.motion;
    const isSlow = factor < 0.8 * this.speed, reaches = element("span", { className: "wide" }, "reaches ");
    byId("factor").replaceChildren(...(isSlow ? [reaches, `${Number(factor.toPrecision(2))}×`] : []));
    if (this.motion.failed) {
      this.play(false);
      this.controlPanel.ended();
    }
    this.refresh();
  }

  restart() {
    const { playing } = this;
    this.grip?.release();
    this.motion.restart();
    for (const path of [...this.traces.keys()]) this.clearTrace(path);
    this.controlPanel.started();
    this.show(this.start);
    if (this.motion.failed) {
      this.play(false);
      this.controlPanel.ended();
    } else this.play(playing || !byId("ended").hidden);
    this.writeDetails();
  }

  // The trace of a live run grows with it.
  goOnTracing() {
    for (const [path, [line]] of this.traces) {
      const points = line.userData.points, { x, y, z } = this.placeOf(path);
      points.push(x, y, z);
      if (points.length > 15000) points.splice(0, 3000);
      line.geometry.dispose();
      line.geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3));
    }
  }

  clearTrace(path) {
    this.scene.remove(...this.traces.get(path));
    this.traces.delete(path);
  }

  // ---- the view

  // Where everything moves, and the boxes that are looked at: the World's, too, unless all else is too small beside them.
  reach() {
    const boxes = new Map(this.meshes.map((mesh) => [mesh, new Box3()])), first = new Map();
    this.moved = new Map(this.meshes.map((mesh) => [mesh, 0]));
    for (const _ of this.motion.samples()) {
      this.root.updateMatrixWorld(true);
      for (const mesh of this.meshes) {
        const now = [...mesh.matrixWorld.elements, ...(mesh.morphTargetInfluences ?? [])]; // what bends moves, too
        if (!first.has(mesh)) first.set(mesh, now);
        const by = now.map((value, i) => Math.abs(value - first.get(mesh)[i]));
        this.moved.set(mesh, Math.max(this.moved.get(mesh), ...by));
      }
      // By corners a wheel that turns would reach as far down as the square around it does.
      for (const [mesh, box] of boxes) hold(box, mesh, mesh.geometry.getAttribute("position").count < PRECISE);
      this.stage.placeLabels();
      for (const [{ position, scale }, head] of this.stage.labels) boxes.get(head).union(new Box3().setFromCenterAndSize(position, scale));
    }
    this.show(this.start);
    this.ways = boxes;
    const seen = [...boxes].filter(([, box]) => !box.isEmpty()), all = seen.map(([, box]) => box);
    const own = seen.filter(([mesh]) => mesh.userData.kind !== "World").map(([, box]) => box);
    if (!all.length) all.push(new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1)));
    const bounds = unionOf(own.length ? own : all);
    return [bounds, sizeOf(unionOf(all)) < WORLD * sizeOf(bounds) ? all : own];
  }

  // What travels far is followed by the camera: seen whole, its way would hide what moves on it.
  goAlong() {
    const own = this.meshes.filter(({ userData: { kind, run } }) => kind !== "World" && !run);
    // A disc that spins about its axis moves, too, though its way is no wider than itself.
    const widens = (mesh) => sizeOf(this.ways.get(mesh)) > 1.001 * sizeOf(this.boxOf([mesh]));
    const moves = (mesh) => !this.ways.get(mesh).isEmpty() && (widens(mesh) || this.moved.get(mesh) > 0.001 * sizeOf(this.boxOf([mesh])));
    const isOnTheWay = own.filter(moves), stands = isOnTheWay.length && isOnTheWay.length < own.length; // as a road does
    const moving = stands ? isOnTheWay : own, now = this.boxOf(moving);
    const size = sizeOf(now), way = sizeOf(this.bounds);
    const parts = moving.filter((mesh) => mesh.userData.kind === "Parts");
    if (!parts.length || way < (stands ? 2 : 1) * FAR * size) return;
    const large = (mesh) => sizeOf(this.boxOf([mesh]));
    this.goesAlong = moving; // bounds are where these are
    this.size = size;
    this.followed = parts.sort((a, b) => large(b) - large(a))[0].userData.component;
    this.followedAt = this.middleOf(this.followed);
  }

  // A live run goes where nobody could know: the view widens with it, until somebody takes the view himself.
  keepInView() {
    if (this.goesAlong || this.isOwnLook || this.followed || ++this.pictures % 10) return;
    const moving = this.meshes.filter((mesh) => mesh.userData.kind !== "World"), now = this.boxOf(moving);
    if (now.isEmpty() || this.bounds.clone().expandByScalar(0.02 * this.size).containsBox(now)) return;
    this.bounds.union(now.expandByScalar(0.05 * this.size));
    this.boxes = [...this.boxes, now];
    this.size = sizeOf(this.bounds);
    this.stage.size = this.size;
    this.look(this.camera.position.clone().sub(this.controls.target), true);
  }

  // On the way to where one looks from then.
  glide() {
    if (!this.wanted) return;
    const { target, position } = this.wanted, step = 0.12;
    this.controls.target.lerp(target, step);
    this.camera.position.lerp(position, step);
    if (this.camera.position.distanceTo(position) < 1e-3 * this.size) this.wanted = null;
    this.refresh();
  }

  boxOf(meshes) {
    const box = new Box3();
    for (const mesh of meshes) hold(box, mesh);
    return box;
  }

  look(direction, isSlow = false) {
    const boxes = this.goesAlong ? this.goesAlong.map((mesh) => this.boxOf([mesh])) : this.boxes;
    const bounds = unionOf(boxes), center = bounds.getCenter(new Vector3()), { stage, camera } = this;
    const out = direction.clone().normalize(), right = new Vector3().crossVectors(camera.up, out).normalize();
    const up = new Vector3().crossVectors(out, right), [{ free, width, height }] = this.views(), whole = [width, height];
    const [wide, high] = [0, 1].map((i) => (FILL * free[i]) / whole[i]), aspect = whole[0] / whole[1];
    const slope = Math.tan((stage.perspective.fov * Math.PI) / 360);
    // as near as lets all corners be seen, each as far out as it is
    let distance = Math.max(sizeOf(bounds), 1e-6) / 2, half = 1e-6;
    for (const { min, max } of boxes) for (let k = 0; k < 8; k++) {
      const corner = new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).sub(center);
      const needed = Math.max(Math.abs(corner.dot(right)) / (wide * aspect), Math.abs(corner.dot(up)) / high);
      distance = Math.max(distance, needed / slope + corner.dot(out));
      half = Math.max(half, needed);
    }
    if (camera === stage.orthographic) {
      Object.assign(camera, { top: half, bottom: -half, left: -half * aspect, right: half * aspect, zoom: 1, near: distance / 50 });
      distance = 3 * Math.max(this.size, half);
    }
    const position = center.clone().addScaledVector(out, distance);
    this.isOwnLook = false;
    this.wanted = isSlow ? { target: center, position } : null;
    if (!isSlow) {
      this.controls.target.copy(center);
      camera.position.copy(position);
    }
    this.controls.minDistance = this.size / 200;
    this.controls.maxDistance = 60 * this.size;
    this.controls.update();
    this.refresh();
  }

  // Without perspective, along an axis of the model's world: the root turns it into the one of this view.
  lookAlong(axis) {
    const direction = new Vector3(...axis).applyQuaternion(this.turn);
    if (Math.abs(direction.y) > 0.999) direction.z += 0.001; // from right above
    this.takeCamera(this.stage.orthographic);
    this.look(direction);
    this.axis = direction.normalize();
  }

  takeCamera(camera) {
    camera.position.copy(this.camera.position);
    camera.up.copy(this.camera.up);
    this.camera = this.controls.object = camera;
    this.axis = null;
    this.resize();
  }

  // What is turned away from its axis has perspective again, at the same size.
  leaveAxis() {
    if (!this.axis || this.camera !== this.stage.orthographic) return;
    const out = this.camera.position.clone().sub(this.controls.target).normalize();
    if (out.angleTo(this.axis) < ALONG) return;
    const { perspective, orthographic } = this.stage;
    const distance = orthographic.top / orthographic.zoom / Math.tan((perspective.fov * Math.PI) / 360);
    this.takeCamera(perspective);
    this.camera.position.copy(this.controls.target).addScaledVector(out, distance);
    this.camera.lookAt(this.controls.target);
  }

  // What panels leave of the window: width and height, and where its middle is.
  freeView() {
    const { innerWidth: width, innerHeight: height } = window, panel = byId("controls"), isWide = width > 720;
    const left = this.isLive && isWide && !panel.hidden ? panel.offsetWidth + 20 : 0;
    const foot = byId("foot").offsetHeight + 12, head = byId("head").offsetHeight + 12;
    const top = this.isLive && !isWide && !panel.hidden ? panel.offsetHeight + head + 8 : head;
    return [Math.max(width - left, 100), Math.max(height - foot - top, 100), left / 2, (top - foot) / 2];
  }

  resize() {
    document.documentElement.style.setProperty("--head", `${byId("head").offsetHeight}px`);
    const [{ width, height, shift: [x, y] }] = this.views(), { camera } = this;
    this.renderer.setSize(window.innerWidth, window.innerHeight, false);
    this.placeCaptions();
    if (camera === this.stage.perspective) camera.aspect = width / height;
    else [camera.left, camera.right] = [-1, 1].map((sign) => (sign * camera.top * width) / height);
    camera.setViewOffset(width, height, -x, -y, width, height);
    document.documentElement.style.setProperty("--foot", `${byId("foot").offsetHeight}px`);
    camera.updateProjectionMatrix();
    this.refresh();
  }

  // The same view in another window, unless somebody has taken one.
  fitAgain() {
    this.resize();
    if (!this.isOwnLook) this.look(this.camera.position.clone().sub(this.controls.target));
  }

  setTheme(name) {
    document.documentElement.dataset.theme = name;
    this.stage.setTheme(name);
    this.plots.restyle();
    this.refresh();
  }

  savePicture() {
    this.render();
    this.renderer.domElement.toBlob((blob) => save(`${model.name}.png`, blob));
  }

  // A film of the run: of a recorded one from its start to its end, of a live one for as long as its experiment is.
  async saveFilm(format) {
    const button = byId("film"), text = button.textContent;
    if (this.filming) return void (this.filming.stopped = true);
    this.filming = { stopped: false };
    try {
      const film = await filmOf(this, format, (share) => (button.textContent = `${Math.round(100 * share)} %`));
      save(`${model.name}.${film.suffix}`, film.blob);
      this.film = film;
    } finally {
      this.filming = null;
      button.textContent = text;
      this.resize();
    }
  }

  // ---- components

  // What is drawn of a component, in one of several runs or in all.
  meshesOf(path, run = null) {
    const isOf = ({ component }) => component === path || component.startsWith(`${path}.`);
    return this.meshes.filter(({ userData }) => isOf(userData) && (run === null || userData.run === run));
  }

  // The point of it that was clicked, else the origin of its frame.
  placeOf(path, run = 0) {
    const [mesh] = this.meshesOf(path, run), [name, point] = this.points.get(path) ?? [];
    const clicked = this.byName.get(`${run} ${name}`);
    if (clicked) return clicked.localToWorld(point.clone());
    return mesh ? mesh.parent.getWorldPosition(new Vector3()) : new Vector3();
  }

  // The middle of what is drawn of it, which stays the same point of it; in the first run that has it.
  middleOf(path, run = this.meshesOf(path)[0]?.userData.run ?? 0) {
    const middle = new Vector3(), meshes = this.meshesOf(path, run);
    for (const { geometry, matrixWorld } of meshes) {
      // of what bends without displacements
      geometry.userData.middle ??= new Box3().setFromBufferAttribute(geometry.getAttribute("position")).getCenter(new Vector3());
      middle.add(geometry.userData.middle.clone().applyMatrix4(matrixWorld));
    }
    return middle.divideScalar(meshes.length || 1);
  }

  select(path) {
    this.selected = path;
    const lit = new Set(path === null ? [] : this.meshesOf(path));
    for (const mesh of this.meshes) {
      if (mesh.isMesh) mesh.material.emissive.set(lit.has(mesh) ? 0x2a6fb0 : 0x000000);
      else mesh.material.opacity = (mesh.userData.ghost ? GHOST : 1) * (path !== null && !lit.has(mesh) ? 0.4 : 1); // lines do not shine
    }
    for (const button of document.querySelectorAll("#tree .name")) {
      button.classList.toggle("selected", button.dataset.path === path);
    }
    this.writeDetails();
    this.refresh();
  }

  writeDetails() {
    const panel = byId("details"), path = this.selected;
    panel.hidden = path === null;
    panel.replaceChildren();
    this.cells = [];
    if (path === null) return;
    const known = model.components[path] ?? ["", ""];
    const toggle = (title, on, act) => element("button", { onclick: act, "aria-pressed": String(on) }, title);
    panel.append(
      element("div", { className: "title" }, path || model.name),
      element("div", { className: "note" }, [known[0], known[1]].filter(Boolean).join(": ")),
      toggle("Follow", this.followed === path, () => this.follow(path)),
      toggle("Trace", this.traces.has(path), () => this.trace(path)),
      toggle("Close", false, () => this.select(null)),
    );
    const { runs } = this.motion, table = element("table");
    if (runs.length > 1) table.append(element("tr", {}, element("td", {}), ...runs.map(({ name }) => element("td", { className: "value note" }, name))));
    model.variables.forEach((variable, index) => {
      if (variable.component !== path) return;
      const values = runs.map(() => element("td", { className: "value" }));
      const box = element("input", {
        type: "checkbox", checked: this.plots.chosen.includes(index), title: "Plot", onchange: () => this.plots.toggle(index),
      });
      const name = element("label", { title: variable.description }, box, ` ${variable.name.slice(path ? path.length + 1 : 0)}`);
      table.append(element("tr", {}, element("td", {}, name), ...values));
      runs.forEach((run, k) => run.has(index) && this.cells.push([index, run, values[k]]));
    });
    if (this.cells.length) panel.append(table);
    this.writeValues();
  }

  writeValues() {
    for (const [index, run, cell] of this.cells ?? []) cell.textContent = this.plots.text(index, run, this.now);
  }

  // Move the view as a whole.
  shift(by) {
    this.controls.target.add(by);
    this.camera.position.add(by);
  }

  follow(path) {
    this.followed = this.followed === path ? null : path;
    this.followedAt = null;
    if (this.followed) this.shift(this.middleOf(path).sub(this.controls.target));
    this.show(this.now);
    this.writeDetails();
  }

  trace(path) {
    if (this.traces.has(path)) this.clearTrace(path);
    else {
      const followed = this.followed, now = this.now;
      const runs = this.motion.runs.map((_, k) => k).filter((k) => this.meshesOf(path, k).length), ways = runs.map(() => []);
      this.followed = null;
      for (let i = 0; i <= 400 && !this.isLive; i++) {
        this.show(this.start + ((this.end - this.start) * i) / 400);
        for (const [k, run] of runs.entries()) ways[k].push(this.placeOf(path, run));
      }
      this.followed = followed;
      this.followedAt = null;
      const lines = runs.map((run, k) => {
        const material = new LineBasicMaterial({ color: 0xd9480f, transparent: run > 0, opacity: run ? 0.5 : 1 });
        const line = new Line(new BufferGeometry().setFromPoints(ways[k]), material);
        Object.assign(line.userData, { points: [], run });
        line.frustumCulled = false;
        return line;
      });
      this.traces.set(path, lines);
      this.scene.add(...lines);
      this.show(now);
    }
    this.writeDetails();
  }

  // The ground shows where gravity points: its arrow is there for those who ask.
  hideGravity() {
    const arrows = this.meshes.filter(({ userData: { kind, shape } }) => kind === "World" && shape.startsWith("gravityArrow"));
    for (const mesh of arrows) mesh.userData.isHidden = true;
    if (arrows.length) this.updateVisibility();
  }

  updateVisibility() {
    for (const mesh of this.meshes) {
      const { component, kind } = mesh.userData;
      const isHidden = [...this.hiddenPaths].some((path) => component === path || component.startsWith(`${path}.`));
      mesh.userData.isOff = isHidden || this.hiddenKinds.has(kind) || Boolean(mesh.userData.isHidden);
      mesh.visible = this.isShown(mesh, null);
    }
    this.refresh();
  }

  buildTree() {
    const switched = (set, key, on) => {
      if (on) set.delete(key);
      else set.add(key);
      this.updateVisibility();
    };
    const box = (set, key) =>
      element("input", { type: "checkbox", checked: true, title: "Visible", onchange: (e) => switched(set, key, e.target.checked) });
    const kinds = [...new Set(this.meshes.map((mesh) => mesh.userData.kind))].sort();
    const tree = {};
    const order = Object.keys(model.components);
    const drawn = [...new Set(this.meshes.map((mesh) => mesh.userData.component))];
    for (const component of drawn.sort((a, b) => order.indexOf(a) - order.indexOf(b))) {
      let level = tree;
      for (const name of component.split(".")) level = level[name] ??= {};
    }
    const list = (level, prefix) =>
      element("ul", {}, ...Object.entries(level).map(([name, below]) => {
        const path = prefix ? `${prefix}.${name}` : name;
        const button = element("button", { className: "name", onclick: () => this.select(path) }, name);
        button.dataset.path = path;
        const row = element("div", {}, box(this.hiddenPaths, path), button);
        return element("li", {}, row, ...(Object.keys(below).length ? [list(below, path)] : []));
      }));
    byId("tree").append(
      element("h2", {}, "Kinds"),
      element("div", { id: "kinds" }, ...kinds.map((kind) => element("label", {}, box(this.hiddenKinds, kind), kind))),
      element("h2", {}, "Components"),
      list(tree, ""),
    );
  }

  // ---- what the user does

  componentAt(clientX, clientY) {
    const isIn = ({ left, top, width, height }) => clientX >= left && clientX < left + width && clientY >= top && clientY < top + height;
    const view = this.views().find(isIn), ray = new Raycaster();
    if (!view) return null;
    const at = new Vector2(((clientX - view.left) / view.width) * 2 - 1, 1 - ((clientY - view.top) / view.height) * 2);
    ray.setFromCamera(at, this.camera);
    ray.ray.origin.add(this.awayOf(view.run));
    ray.params.Line.threshold = this.camera.position.distanceTo(this.controls.target) / 100;
    const [hit] = ray.intersectObjects(this.meshes.filter((mesh) => this.isShown(mesh, view.run)), false);
    if (!hit) return null;
    this.hit = hit;
    const { component, shape } = hit.object.userData;
    if (!this.traces.has(component)) this.points.set(component, [`${component}.${shape}`, hit.object.worldToLocal(hit.point.clone())]);
    return component;
  }

  // As a page begins.
  lookHome() {
    if (this.camera !== this.stage.perspective) this.takeCamera(this.stage.perspective);
    this.look(FIRST_LOOK);
  }

  toggleTree() {
    byId("tree").hidden = !byId("tree").hidden;
    byId("parts").setAttribute("aria-pressed", String(!byId("tree").hidden));
  }

  toggleLoop() {
    this.looping = !this.looping;
    byId("loop").setAttribute("aria-pressed", String(this.looping));
  }

  listen() {
    const view = byId("view"), step = () => (this.end - this.start) / 100;
    const seek = (time) => this.isLive || this.show(time); // a live run knows no other instant
    const actions = {
      fit: () => this.look(this.camera.position.clone().sub(this.controls.target)),
      film: () => this.saveFilm(byId("format").value),
      picture: () => this.savePicture(),
      theme: () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
      parts: () => this.toggleTree(),
      play: () => this.play(),
      loop: () => this.toggleLoop(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);
    const keys = {
      " ": actions.play, f: actions.fit, p: actions.picture, h: () => this.lookHome(),
      1: () => this.lookAlong([1, 0, 0]), 2: () => this.lookAlong([0, 1, 0]), 3: () => this.lookAlong([0, 0, 1]),
      d: actions.theme, c: actions.parts, l: actions.loop, Escape: () => this.select(null),
      r: () => this.isLive && this.restart(), s: () => this.splitButton && this.setSplit(!this.isSplit),
      ArrowRight: () => seek(this.now + step()), ArrowLeft: () => seek(this.now - step()),
      Home: () => (this.isLive ? this.restart() : this.show(this.start)), End: () => seek(this.end),
    };
    window.addEventListener("keydown", (event) => {
      const tag = event.target.tagName, isPressing = tag === "BUTTON" && (event.key === " " || event.key === "Enter");
      const isOther = event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|SUMMARY)$/.test(tag) || isPressing;
      const act = keys[event.key] ?? keys[event.key.toLowerCase()];
      if (!isOther && this.controlPanel?.keyDown(event.key, event.repeat)) {
        event.preventDefault();
        return;
      }
      if (isOther || !act) return;
      event.preventDefault();
      act();
    });
    window.addEventListener("keyup", (event) => this.controlPanel?.release(event.key));
    window.addEventListener("blur", () => this.controlPanel?.releaseAll());
    let pressed = null;
    // before the controls hear of it: what can be dragged does not turn the view, unless Shift is held
    window.addEventListener("pointerdown", (event) => {
      if (!this.grip || event.target !== view || event.button || event.shiftKey || !event.isPrimary) return;
      if (this.componentAt(event.clientX, event.clientY) === null || !this.grip.take(this.hit.object, this.hit.point)) return;
      this.controls.enabled = false;
      view.setPointerCapture(event.pointerId);
    }, true);
    view.addEventListener("pointerdown", () => (this.controls.enableZoom = true));
    view.addEventListener("pointermove", (event) => this.grip?.drag(event.clientX, event.clientY));
    for (const kind of ["pointerup", "pointercancel"]) view.addEventListener(kind, () => {
      this.grip?.release();
      this.controls.enabled = true;
    });
    view.addEventListener("pointerdown", (event) => (pressed = [event.clientX, event.clientY]));
    view.addEventListener("pointerup", (event) => {
      if (pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 5) {
        this.select(this.componentAt(event.clientX, event.clientY));
      }
      pressed = null;
    });
    byId("scrub").addEventListener("input", (event) => {
      this.play(false);
      const [from, to] = this.plots.range();
      this.show(from + Number(event.target.value) * (to - from));
    });
    for (const speed of SPEEDS) byId("speed").append(element("option", { value: String(speed) }, `${speed}×`));
    this.speed = model.speed;
    byId("speed").value = String(this.speed);
    byId("speed").addEventListener("change", (event) => (this.speed = Number(event.target.value)));
    window.addEventListener("resize", () => this.fitAgain());
    new ResizeObserver(() => this.fitAgain()).observe(byId("foot"));
  }
}

// The scene of a run, and its meshes, which go to `meshes`.
async function sceneOf(name, run, meshes) {
  const glb = whole(unpacked(name)), gltf = await new GLTFLoader().parseAsync(glb.buffer, "");
  gltf.scene.traverse((object) => {
    if (!object.isMesh && !object.isLineSegments) return;
    object.material = object.material.clone(); // each can be lit up by itself
    if (!object.isMesh) object.material.transparent = true;
    object.frustumCulled = false;
    object.userData.run = run;
    meshes.push(object);
  });
  return gltf;
}

async function live(meshes) {
  const { scene } = await sceneOf("glb", 0, meshes), numbers = unpacked("series");
  const fmu = unpacked("fmu"), preview = { names: Object.keys(model.quantities), rows: new Float32Array(numbers.buffer) };
  return [scene, await Simulation.open(model, meshes, preview, unpacked("wasm"), fileIn(fmu, model.descriptor))];
}

async function recorded(meshes) {
  const scenes = [], runs = [];
  for (const [k, run] of model.runs.entries()) {
    const gltf = await sceneOf(`glb${k}`, k, meshes);
    scenes.push(gltf.scene);
    runs.push(await Recording.open(model, run, gltf, unpacked(`motion${k}`), unpacked(`series${k}`)));
  }
  return runs.length > 1 ? [new Group().add(...scenes), new Comparison(model, runs)] : [scenes[0], runs[0]];
}

async function start() {
  model = JSON.parse(new TextDecoder().decode(unpacked("model")));
  const isLive = "shapes" in model, meshes = [];
  document.documentElement.dataset.kind = isLive ? "live" : "recorded";
  document.documentElement.dataset.drawn = model.drawn ? "yes" : "no";
  const [root, motion] = await (isLive ? live : recorded)(meshes);
  const viewer = (window.viewer = new Viewer(root, meshes, motion, model.side_by_side));
  if (isLive) {
    viewer.controlPanel = new Controls(viewer, motion, model);
    viewer.grip = motion.grip = new Grip(viewer, motion, model.grips);
  }
  await null; // plots have their sizes then
  viewer.resize();
  viewer.lookHome();
  if (isLive && motion.failed) viewer.controlPanel.ended();
  else if (isLive) viewer.play(true);
  document.documentElement.dataset.ready = "yes";
}

start().catch(window.refuse);
