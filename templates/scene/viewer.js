// The animation page: shows a motion, recorded or live, its components, and plots of the run's variables.

import {
  AmbientLight, Box3, BufferGeometry, Color, DirectionalLight, Float32BufferAttribute, HemisphereLight, Line,
  LineBasicMaterial, LineSegments, PerspectiveCamera, Raycaster, Scene, SRGBColorSpace, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { bytesOf, fileIn, save, unpacked } from "./archive.js";
import { Controls } from "./controls.js";
import { element } from "./element.js";
import { Recording } from "./recording.js";
import { Simulation } from "./simulation.js";

const byId = (id) => document.getElementById(id);
const sizeOf = (box) => box.getSize(new Vector3()).length();
const unionOf = (boxes) => boxes.reduce((whole, box) => whole.union(box), new Box3());
let model; // what the page is told of it
const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const FILL = 0.92; // of the free view that bounds take
const WORLD = 4; // times as large as what moves may be what is seen with the World's axes
const COLORS = ["#0a6ed1", "#d9480f", "#2b8a3e", "#9c36b5", "#c2255c", "#0b7285", "#b08900", "#5c636a"];

// Lines of one cell's length: long ones, with an end behind the camera, are lost by some drivers.
function gridOf(count, cell) {
  const points = [], at = (i) => (i - count / 2) * cell;
  for (let i = 0; i <= count; i++) {
    for (let j = 0; j < count; j++) {
      points.push(at(i), 0, at(j), at(i), 0, at(j + 1), at(j), 0, at(i), at(j + 1), 0, at(i));
    }
  }
  const geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3));
  return new LineSegments(geometry, new LineBasicMaterial({ color: 0x8a96a3, opacity: 0.45, transparent: true }));
}

class Viewer {
  // `motion` is a Recording or a Simulation of the scene's meshes.
  constructor(gltf, meshes, motion) {
    this.motion = motion;
    this.start = motion.start;
    this.end = motion.end;
    this.isLive = motion instanceof Simulation;
    this.now = this.start;
    this.playing = false;
    this.looping = true;
    this.speed = 1;
    this.plotted = [];
    this.selected = null;
    this.followed = null;
    this.traces = new Map();
    this.hiddenKinds = new Set();
    this.hiddenPaths = new Set();

    this.renderer = new WebGLRenderer({ canvas: byId("view"), antialias: true, preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(40, 1, 0.001, 1000);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.15;
    this.controls.addEventListener("change", () => this.refresh());
    this.sun = new DirectionalLight(0xffffff, 1.8);
    this.scene.add(new AmbientLight(0xffffff, 0.5), new HemisphereLight(0xffffff, 0x888888, 1.2), this.sun, gltf.scene);

    this.root = gltf.scene;
    this.meshes = meshes;
    const byName = new Map(meshes.map((mesh) => [`${mesh.userData.component}.${mesh.userData.shape}`, mesh]));
    this.coloured = model.colours.map(([name, colour]) => [byName.get(name), colour]);
    [this.bounds, this.boxes] = this.reach();
    this.buildTree();
    this.listen();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.resize();
    this.goAlong();
  }

  // ---- time

  show(time) {
    this.now = Math.min(Math.max(time, this.start), this.end);
    this.motion.pose(this.now);
    for (const [mesh, colour] of this.coloured) {
      const [r, g, b] = colour.map((of) => this.motion.quantity(of, this.now) / 255);
      mesh.material.color.setRGB(r, g, b, SRGBColorSpace);
    }
    this.root.updateMatrixWorld(true);
    if (this.followed) {
      const place = this.middleOf(this.followed);
      this.shift(place.clone().sub(this.followedAt ?? place));
      this.followedAt = place;
    }
    if (!this.isLive) byId("scrub").value = String(this.end > this.start ? (this.now - this.start) / (this.end - this.start) : 0);
    byId("clock").textContent = `${this.now.toFixed(model.stop - model.start < 0.5 ? 4 : 2)} s`;
    if (this.isLive) this.goOnTracing();
    this.writeValues();
    this.drawPlots();
    this.refresh();
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
    this.controls.update();
    this.sun.position.copy(this.camera.position).add(new Vector3(0, this.camera.position.length(), 0));
    const begin = performance.now();
    this.renderer.render(this.scene, this.camera);
    if (this.isLive && this.playing) {
      this.motion.timing.pictures += 1;
      this.motion.timing.draw += performance.now() - begin;
    }
  }

  // ---- a live run

  goOn(stamp) {
    const elapsed = Math.max(0, stamp - this.last) / 1000;
    this.last = stamp;
    this.motion.advance(elapsed, this.speed);
    this.show(this.motion.now);
    const { factor } = this.motion;
    byId("factor").textContent = factor < 0.8 * this.speed ? `reaches ${Number(factor.toPrecision(2))}×` : "";
    if (this.motion.failed) {
      this.play(false);
      this.controlPanel.ended();
    }
    this.refresh();
  }

  restart() {
    const { playing } = this;
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
    for (const [path, line] of this.traces) {
      const points = line.userData.points, { x, y, z } = this.placeOf(path);
      points.push(x, y, z);
      if (points.length > 15000) points.splice(0, 3000);
      line.geometry.dispose();
      line.geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3));
    }
  }

  clearTrace(path) {
    this.scene.remove(this.traces.get(path));
    this.traces.delete(path);
  }

  // ---- the view

  // Where everything moves, and the boxes that are looked at: the World's, too, unless all else is too small beside them.
  reach() {
    const boxes = new Map(this.meshes.map((mesh) => [mesh, new Box3()]));
    for (const _ of this.motion.samples()) {
      this.root.updateMatrixWorld(true);
      for (const [mesh, box] of boxes) box.expandByObject(mesh);
    }
    this.show(this.start);
    const seen = [...boxes].filter(([, box]) => !box.isEmpty()), all = seen.map(([, box]) => box);
    const own = seen.filter(([mesh]) => mesh.userData.kind !== "World").map(([, box]) => box);
    if (!all.length) all.push(new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1)));
    const bounds = unionOf(own.length ? own : all);
    return [bounds, sizeOf(unionOf(all)) < WORLD * sizeOf(bounds) ? all : own];
  }

  // What travels far, over a grid, is followed by the camera: seen whole, its way would hide what moves on it.
  goAlong() {
    const moving = this.meshes.filter((mesh) => mesh.userData.kind !== "World"), now = this.boxOf(moving);
    const size = sizeOf(now), way = sizeOf(this.bounds);
    const parts = moving.filter((mesh) => mesh.userData.kind === "Parts");
    if (!parts.length || way < 6 * size) return;
    const large = (mesh) => sizeOf(this.boxOf([mesh]));
    const cell = Math.max(10 ** Math.floor(Math.log10(size)), way / 60);
    const grid = gridOf(2 * Math.ceil(way / cell), cell);
    const middle = this.bounds.getCenter(new Vector3());
    grid.position.set(Math.round(middle.x / cell) * cell, this.bounds.min.y, Math.round(middle.z / cell) * cell);
    this.scene.add(grid);
    this.goesAlong = moving; // bounds are where these are
    this.followed = parts.sort((a, b) => large(b) - large(a))[0].userData.component;
    this.followedAt = this.middleOf(this.followed);
  }

  boxOf(meshes) {
    const box = new Box3();
    for (const mesh of meshes) box.expandByObject(mesh);
    return box;
  }

  look(direction) {
    const boxes = this.goesAlong ? this.goesAlong.map((mesh) => this.boxOf([mesh])) : this.boxes;
    const bounds = unionOf(boxes), center = bounds.getCenter(new Vector3());
    const out = direction.clone().normalize(), right = new Vector3().crossVectors(this.camera.up, out).normalize();
    const up = new Vector3().crossVectors(out, right), slope = Math.tan((this.camera.fov * Math.PI) / 360) * FILL;
    const high = (slope * this.freeHeight()) / window.innerHeight, wide = slope * this.camera.aspect;
    // as near as lets all corners be seen, each as far out as it is
    let distance = Math.max(sizeOf(bounds), 1e-6) / 2;
    for (const { min, max } of boxes) for (let k = 0; k < 8; k++) {
      const corner = new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).sub(center);
      const needed = Math.max(Math.abs(corner.dot(right)) / wide, Math.abs(corner.dot(up)) / high);
      distance = Math.max(distance, needed + corner.dot(out));
    }
    this.camera.near = distance / 1000;
    this.camera.far = distance * 1000;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(out, distance);
    this.controls.update();
    this.refresh();
  }

  // Along an axis of the model's world: the root turns it into the one of this view.
  lookAlong(axis) {
    const direction = new Vector3(...axis).applyQuaternion(this.root.children[0].quaternion);
    if (Math.abs(direction.y) > 0.999) direction.z += 0.001; // from right above
    this.look(direction);
  }

  // What header and footer leave of the window.
  freeHeight() {
    return Math.max(window.innerHeight - byId("foot").offsetHeight - byId("head").offsetHeight - 30, 100);
  }

  resize() {
    const { innerWidth: width, innerHeight: height } = window, foot = byId("foot").offsetHeight;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.setViewOffset(width, height, 0, (foot - byId("head").offsetHeight) / 2, width, height);
    document.documentElement.style.setProperty("--foot", `${foot}px`);
    this.camera.updateProjectionMatrix();
    this.drawPlots();
    this.refresh();
  }

  setTheme(name) {
    document.documentElement.dataset.theme = name;
    this.scene.background = new Color(name === "dark" ? 0x14191f : 0xf4f6f8);
    for (const mesh of this.meshes) {
      if (mesh.userData.kind !== "World") continue;
      mesh.userData.base ??= mesh.material.color.clone();
      const isBlack = mesh.userData.base.r + mesh.userData.base.g + mesh.userData.base.b < 0.02;
      mesh.material.color.copy(name === "dark" && isBlack ? new Color(0xaab4be) : mesh.userData.base);
    }
    this.drawPlots();
    this.refresh();
  }

  savePicture() {
    this.renderer.render(this.scene, this.camera);
    this.renderer.domElement.toBlob((blob) => save(`${model.name}.png`, blob));
  }

  // ---- components

  meshesOf(path) {
    return this.meshes.filter(({ userData: { component } }) => component === path || component.startsWith(`${path}.`));
  }

  placeOf(path) {
    const [mesh] = this.meshesOf(path);
    return mesh ? mesh.parent.getWorldPosition(new Vector3()) : new Vector3();
  }

  // The middle of what is drawn of it, which stays the same point of it.
  middleOf(path) {
    const middle = new Vector3(), meshes = this.meshesOf(path);
    for (const { geometry, matrixWorld } of meshes) {
      if (!geometry.boundingBox) geometry.computeBoundingBox();
      middle.add(geometry.boundingBox.getCenter(new Vector3()).applyMatrix4(matrixWorld));
    }
    return middle.divideScalar(meshes.length || 1);
  }

  select(path) {
    this.selected = path;
    const lit = new Set(path === null ? [] : this.meshesOf(path));
    for (const mesh of this.meshes) {
      if (mesh.isMesh) mesh.material.emissive.set(lit.has(mesh) ? 0x2a6fb0 : 0x000000);
      else mesh.material.opacity = path !== null && !lit.has(mesh) ? 0.4 : 1; // lines do not shine
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
    const table = element("table");
    model.variables.forEach((variable, index) => {
      if (variable.component !== path) return;
      const value = element("td", { className: "value" });
      const box = element("input", {
        type: "checkbox", checked: this.plotted.includes(index), title: "Plot", onchange: () => this.plot(index),
      });
      const name = element("label", { title: variable.description }, box, ` ${variable.name.slice(path ? path.length + 1 : 0)}`);
      table.append(element("tr", {}, element("td", {}, name), value));
      this.cells.push([index, value]);
    });
    if (this.cells.length) panel.append(table);
    this.writeValues();
  }

  writeValues() {
    for (const [index, cell] of this.cells ?? []) {
      const value = this.motion.valueAt(index, this.now);
      cell.textContent = `${Number(value.toPrecision(5))} ${model.variables[index].unit}`;
    }
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
      const followed = this.followed, now = this.now, points = [];
      this.followed = null;
      for (let i = 0; i <= 400 && !this.isLive; i++) {
        this.show(this.start + ((this.end - this.start) * i) / 400);
        points.push(this.placeOf(path));
      }
      this.followed = followed;
      this.followedAt = null;
      const line = new Line(new BufferGeometry().setFromPoints(points), new LineBasicMaterial({ color: 0xd9480f }));
      line.userData.points = [];
      line.frustumCulled = false;
      this.traces.set(path, line);
      this.scene.add(line);
      this.show(now);
    }
    this.writeDetails();
  }

  updateVisibility() {
    for (const mesh of this.meshes) {
      const { component, kind } = mesh.userData;
      const isHidden = [...this.hiddenPaths].some((path) => component === path || component.startsWith(`${path}.`));
      mesh.visible = !isHidden && !this.hiddenKinds.has(kind);
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

  // ---- plots

  plot(index) {
    this.plotted = this.plotted.includes(index) ? this.plotted.filter((i) => i !== index) : [...this.plotted, index];
    const units = [...new Set(this.plotted.map((i) => model.variables[i].unit))];
    byId("plots").replaceChildren(...units.map((unit) => {
      const members = this.plotted.filter((i) => model.variables[i].unit === unit);
      const legend = members.map((i) => {
        const remove = () => {
          this.plot(i);
          this.writeDetails();
        };
        const button = element("button", { title: "Remove", onclick: remove }, model.variables[i].name);
        button.style.color = COLORS[this.plotted.indexOf(i) % COLORS.length];
        return button;
      });
      const canvas = element("canvas");
      canvas.members = members;
      const seek = (event) => {
        if (this.isLive) return;
        const box = canvas.getBoundingClientRect(), left = 56;
        const share = (event.clientX - box.left - left) / (box.width - left - 8);
        this.show(this.start + Math.min(Math.max(share, 0), 1) * (this.end - this.start));
      };
      canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        seek(event);
      });
      canvas.addEventListener("pointermove", (event) => event.buttons && seek(event));
      return element("div", { className: "plot" }, element("div", { className: "legend" }, ...legend, `in ${unit || "1"}`), canvas);
    }));
    this.resize();
  }

  drawPlots() {
    const style = getComputedStyle(document.documentElement), ratio = window.devicePixelRatio || 1;
    const [from, to] = this.motion.window;
    for (const canvas of document.querySelectorAll("#plots canvas")) {
      const width = canvas.clientWidth, height = canvas.clientHeight, left = 56, bottom = 6;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      const pen = canvas.getContext("2d");
      pen.scale(ratio, ratio);
      let low = Infinity, high = -Infinity;
      for (const index of canvas.members) {
        this.motion.curve(index, (_, value) => {
          if (value < low) low = value;
          if (value > high) high = value;
        });
      }
      if (low === Infinity) [low, high] = [0, 0];
      if (!(high - low > 1e-9 * Math.max(Math.abs(high), 1e-30))) [low, high] = [low - 0.5, high + 0.5];
      const x = (time) => left + ((time - from) / (to - from || 1)) * (width - left - 8);
      const y = (value) => 8 + ((high - value) / (high - low)) * (height - 8 - bottom);
      pen.font = "11px system-ui, sans-serif";
      pen.textAlign = "right";
      pen.fillStyle = style.getPropertyValue("--quiet");
      pen.strokeStyle = style.getPropertyValue("--line");
      for (const value of [low, (low + high) / 2, high]) {
        const isNone = Math.abs(value) < 1e-4 * (high - low); // rounding, beside what is shown
        pen.fillText(isNone ? "0" : String(Number(value.toPrecision(3))), left - 6, y(value) + 4);
        pen.beginPath();
        pen.moveTo(left, y(value));
        pen.lineTo(width - 8, y(value));
        pen.stroke();
      }
      for (const index of canvas.members) {
        pen.strokeStyle = COLORS[this.plotted.indexOf(index) % COLORS.length];
        pen.lineWidth = 1.5;
        pen.beginPath();
        this.motion.curve(index, (time, value) => pen.lineTo(x(time), y(value)));
        pen.stroke();
      }
      pen.strokeStyle = style.getPropertyValue("--ink");
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(x(this.now), 0);
      pen.lineTo(x(this.now), height);
      pen.stroke();
    }
  }

  // ---- what the user does

  componentAt(clientX, clientY) {
    const box = this.renderer.domElement.getBoundingClientRect(), ray = new Raycaster();
    const at = new Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
    ray.setFromCamera(at, this.camera);
    ray.params.Line.threshold = this.camera.position.distanceTo(this.controls.target) / 100;
    const [hit] = ray.intersectObjects(this.meshes.filter((mesh) => mesh.visible), false);
    return hit ? hit.object.userData.component : null;
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
      viewX: () => this.lookAlong([1, 0, 0]),
      viewY: () => this.lookAlong([0, 1, 0]),
      viewZ: () => this.lookAlong([0, 0, 1]),
      picture: () => this.savePicture(),
      theme: () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
      parts: () => this.toggleTree(),
      play: () => this.play(),
      loop: () => this.toggleLoop(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);
    const keys = {
      " ": actions.play, f: actions.fit, 1: actions.viewX, 2: actions.viewY, 3: actions.viewZ, p: actions.picture,
      d: actions.theme, c: actions.parts, l: actions.loop, Escape: () => this.select(null),
      r: () => this.isLive && this.restart(),
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
    view.addEventListener("pointerdown", (event) => (pressed = [event.clientX, event.clientY]));
    view.addEventListener("pointerup", (event) => {
      if (pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 5) {
        this.select(this.componentAt(event.clientX, event.clientY));
      }
      pressed = null;
    });
    byId("scrub").addEventListener("input", (event) => {
      this.play(false);
      this.show(this.start + Number(event.target.value) * (this.end - this.start));
    });
    for (const speed of SPEEDS) byId("speed").append(element("option", { value: String(speed) }, `${speed}×`));
    this.speed = model.speed;
    byId("speed").value = String(this.speed);
    byId("speed").addEventListener("change", (event) => (this.speed = Number(event.target.value)));
    window.addEventListener("resize", () => this.resize());
  }
}

async function start() {
  model = JSON.parse(new TextDecoder().decode(await unpacked("model")));
  const glb = await unpacked("glb"), gltf = await new GLTFLoader().parseAsync(glb.buffer, "");
  const meshes = [];
  gltf.scene.traverse((object) => {
    if (!object.isMesh && !object.isLineSegments) return;
    object.material = object.material.clone(); // each can be lit up by itself
    if (!object.isMesh) object.material.transparent = true;
    object.frustumCulled = false;
    meshes.push(object);
  });
  const numbers = await unpacked("series"), series = new Float32Array(numbers.buffer);
  const isLive = "shapes" in model;
  document.documentElement.dataset.kind = isLive ? "live" : "recorded";
  let motion;
  if (isLive) {
    const fmu = bytesOf("fmu"), preview = { names: Object.keys(model.quantities), rows: series };
    motion = await Simulation.open(model, meshes, preview, await unpacked("wasm"), await fileIn(fmu, model.descriptor));
  } else motion = new Recording(model, gltf, series);
  const viewer = (window.viewer = new Viewer(gltf, meshes, motion));
  if (isLive) viewer.controlPanel = new Controls(viewer, motion, model);
  for (const index of model.plots) viewer.plot(index);
  viewer.look(new Vector3(0.55, 0.4, 1));
  if (isLive && motion.failed) viewer.controlPanel.ended();
  else if (isLive) viewer.play(true);
  document.documentElement.dataset.ready = "yes";
}

start().catch(window.refuse);
