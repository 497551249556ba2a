// Where a mechanism stands: light and environment, a ground with a grid where things fall, cameras, names of axes.

import {
  BackSide, BasicShadowMap, Box3, CanvasTexture, Color, DirectionalLight, DoubleSide, HemisphereLight, Mesh, MeshBasicMaterial,
  NeutralToneMapping, NoToneMapping, OrthographicCamera, PCFShadowMap, PerspectiveCamera, PlaneGeometry, PMREMGenerator, Scene, ShaderMaterial,
  ShadowMaterial, SphereGeometry, Sprite, SpriteMaterial, SRGBColorSpace, Vector3, WebGLRenderer,
} from "three";

import { calm, isBlack, lifted, OVER_DARK } from "./colour.js";

export const THEMES = {
  light: { sky: "#edf0f3", floor: "#fcfdfe", line: "#8b98a6", ink: "#2b3642", environment: 0.62, sun: 2.3, shadow: 0.2 },
  dark: { sky: "#1a1f25", floor: "#2b323b", line: "#71808f", ink: "#dfe6ec", environment: 0.5, sun: 2.0, shadow: 0.42 },
};
export const AXES = { x: "#c4504a", y: "#4f9152", z: "#4377b8" };
const VIEW = 32; // degrees from top to bottom
const SUN = new Vector3(-0.45, 1, 0.55).normalize(); // from where it shines
const FADES = 2.6; // times the size of the mechanism, as far as the ground is seen
const SHADES = 1.1; // and as far as shadows fall

const GRID = {
  vertexShader: `
    varying vec3 place;
    void main() {
      vec4 at = modelMatrix * vec4(position, 1.0);
      place = at.xyz;
      gl_Position = projectionMatrix * viewMatrix * at;
    }`,
  fragmentShader: `
    uniform vec3 floorColour, lineColour, middle;
    uniform float cell, reach;
    varying vec3 place;
    float lines(vec2 at, float width) {
      vec2 step = fwidth(at), off = abs(fract(at - 0.5) - 0.5);
      vec2 covered = 1.0 - smoothstep(step * (width - 0.5), step * (width + 0.5), off);
      covered *= clamp(1.5 - 3.0 * step, 0.0, 1.0); // too fine to be told apart
      return max(covered.x, covered.y);
    }
    void main() {
      float away = distance(place.xz, middle.xz) / reach, seen = 1.0 - smoothstep(0.12, 1.0, away);
      float fine = 0.30 * lines(place.xz / cell, 0.6), coarse = 0.55 * lines(place.xz / (5.0 * cell), 0.75);
      float line = max(fine, coarse);
      gl_FragColor = vec4(mix(floorColour, lineColour, line), seen * max(0.8, line));
      #include <colorspace_fragment>
    }`,
};

// 1, 2 or 5 times a power of ten, the nearest below.
export function roundBelow(value) {
  const decade = 10 ** Math.floor(Math.log10(value));
  return [5, 2, 1].find((step) => step * decade <= value * 1.0001) * decade;
}

// A bright sky over a dim ground, and two soft boxes: what round bodies mirror.
function surroundings(renderer) {
  const scene = new Scene();
  const glow = (value) => new MeshBasicMaterial({ color: new Color(value, value, value), side: DoubleSide });
  const sky = new ShaderMaterial({
    side: BackSide,
    vertexShader: "varying float h; void main() { h = normalize(position).y; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: "varying float h; void main() { gl_FragColor = vec4(mix(vec3(0.46, 0.45, 0.44), vec3(1.05, 1.1, 1.16), smoothstep(-0.35, 0.75, h)), 1.0); }",
  });
  scene.add(new Mesh(new SphereGeometry(10, 24, 16), sky));
  for (const [x, y, z, size, bright] of [[-5, 6, 4, 4, 7], [6, 3, 1, 3, 2.5]]) {
    const box = new Mesh(new PlaneGeometry(size, size), glow(bright));
    box.position.set(x, y, z);
    box.lookAt(0, 0, 0);
    scene.add(box);
  }
  const generator = new PMREMGenerator(renderer), { texture } = generator.fromScene(scene, 0.05);
  generator.dispose();
  return texture;
}

export class Stage {
  constructor(canvas, root, meshes, { falls, colours }) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.enabled = true;
    const context = this.renderer.getContext(), facts = context.getExtension("WEBGL_debug_renderer_info");
    const name = facts ? context.getParameter(facts.UNMASKED_RENDERER_WEBGL) : "";
    // drawn by the processor: without what mirrors, and with hard shadows, unless the address ends in #fine
    this.isSlow = /swiftshader|llvmpipe|software|basic render/i.test(name) && location.hash !== "#fine";
    // this tone mapping takes away what mirrors add: without that, sides in the shade would be dark and gaudy
    this.renderer.toneMapping = this.isSlow ? NoToneMapping : NeutralToneMapping;
    this.renderer.shadowMap.type = this.isSlow ? BasicShadowMap : PCFShadowMap;
    this.renderer.setPixelRatio(this.isSlow ? 1 : Math.min(window.devicePixelRatio || 1, 2));
    this.scene = new Scene();
    if (this.isSlow) this.scene.add((this.glow = new HemisphereLight(0xffffff, 0x9a9a96, 1)));
    else this.scene.environment = surroundings(this.renderer);
    this.perspective = new PerspectiveCamera(VIEW, 1, 0.001, 1000);
    this.orthographic = new OrthographicCamera(-1, 1, 1, -1, 0.001, 1000);
    this.sun = new DirectionalLight(0xffffff, 2);
    this.sun.castShadow = true;
    this.sun.shadow.radius = 5;
    this.sun.shadow.intensity = 0.85;
    this.scene.add(root, this.sun, this.sun.target);
    Object.assign(this, { meshes, hasGround: falls, labels: [], isCalm: colours !== "modelica" });
    this.dress(colours);
    this.nameAxes(colours);
  }

  // Materials: what lies in one plane with another, as a joint in its rod, is drawn over it, not through it.
  dress(colours) {
    const order = ["Parts", "Own", "Visualizers", "Joints", "Forces", "Sensors", "World"];
    for (const mesh of this.meshes) {
      const { kind } = mesh.userData, { material } = mesh;
      if (!mesh.isMesh) continue;
      const place = order.indexOf(kind);
      material.polygonOffset = true;
      material.polygonOffsetFactor = material.polygonOffsetUnits = -(place < 0 ? 1 : place);
      mesh.receiveShadow = !material.transparent;
      mesh.castShadow = mesh.receiveShadow && (kind !== "World" || isGround(mesh)); // no light comes through the ground
      if (colours === "modelica") continue;
      material.roughness = Math.max(material.roughness, 0.42);
      if (!material.map && !material.vertexColors) calm(material.color);
    }
  }

  // Letters of coordinate systems face the camera, in the place of those that are drawn as lines.
  nameAxes(colours) {
    const heads = new Map();
    for (const mesh of this.meshes) {
      const { shape, component, kind, run } = mesh.userData, [, axis, part] = /^([xyz])_(arrowHead|arrowLine|label)/.exec(shape) ?? [];
      if (!axis) continue;
      if (part === "arrowHead") heads.set(`${run}.${component}.${axis}`, mesh);
      if (part !== "label" && isBlack(mesh.material.color) && colours !== "modelica") mesh.material.color.set(AXES[axis]);
      if (kind === "World") mesh.material.envMapIntensity = 0.6;
    }
    const lettered = new Map();
    this.meshes = this.meshes.filter((mesh) => {
      const [, axis] = /^([xyz])_label\d+$/.exec(mesh.userData.shape) ?? [], head = heads.get(`${mesh.userData.run}.${mesh.userData.component}.${axis}`);
      if (!axis || !head) return true;
      mesh.removeFromParent();
      lettered.set(head, axis);
      return false;
    });
    for (const [head, axis] of lettered) {
      const sprite = new Sprite(new SpriteMaterial({ map: letter(axis, head.material.color), transparent: true, toneMapped: false }));
      sprite.userData = head.userData;
      this.scene.add(sprite);
      this.labels.push([sprite, head]);
    }
  }

  placeLabels() {
    const tip = new Vector3(), back = new Vector3();
    for (const [sprite, head] of this.labels) {
      tip.set(1, 0, 0).applyMatrix4(head.matrixWorld);
      back.set(0, 0.5, 0).applyMatrix4(head.matrixWorld).sub(head.getWorldPosition(new Vector3()));
      const width = 2 * back.length(), along = tip.clone().sub(head.getWorldPosition(new Vector3())).normalize();
      sprite.position.copy(tip).addScaledVector(along, width * 0.8);
      sprite.scale.setScalar(2.1 * width);
      sprite.visible = head.visible;
    }
  }

  // The ground lies under all that ever happens; what stands or rolls at the height of the World's origin touches it.
  layGround(bounds, size, isLong) {
    this.size = size;
    if (!this.hasGround && !isLong) return;
    const low = bounds.min.y, floor = this.floor();
    const level = floor ?? (Math.abs(low) < 0.02 * size ? Math.min(low, 0) : low - 0.06 * size);
    const plane = new PlaneGeometry(1, 1).rotateX(-Math.PI / 2);
    this.cell = roundBelow(size / 6);
    this.grid = new Mesh(plane, new ShaderMaterial({
      ...GRID, transparent: true, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2,
      uniforms: {
        floorColour: { value: new Color() }, lineColour: { value: new Color() }, middle: { value: new Vector3() },
        cell: { value: this.cell }, reach: { value: FADES * size },
      },
    }));
    this.shade = new Mesh(plane, new ShadowMaterial({ polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }));
    this.shade.receiveShadow = true;
    for (const [i, mesh] of [this.grid, this.shade].entries()) {
      mesh.position.y = level;
      mesh.scale.setScalar(2 * (i ? SHADES : FADES) * size);
      mesh.renderOrder = i - 2;
      this.scene.add(mesh);
    }
  }

  // The height of a floor that a model has, where it has one and it is level: then the ground is drawn in its place.
  floor() {
    const isPlane = (mesh) => isGround(mesh) && mesh.userData.shape === "plane";
    const floors = this.isCalm ? this.meshes.filter(isPlane) : [], boxes = floors.map((mesh) => new Box3().setFromObject(mesh));
    const [first] = boxes, isLevel = ({ min, max }) => max.y - min.y < 0.011 * (max.x - min.x) && max.y === first.max.y;
    if (!boxes.length || !boxes.every(isLevel)) return null;
    for (const mesh of floors) mesh.layers.disableAll();
    return first.max.y;
  }

  // Light and ground go where one looks; shadows of a size are as sharp as 2048 points make them.
  follow(middle) {
    const { size, sun } = this, reach = 0.8 * size;
    if (this.grid) {
      this.grid.material.uniforms.middle.value.copy(middle);
      for (const mesh of [this.grid, this.shade]) [mesh.position.x, mesh.position.z] = [middle.x, middle.z];
    }
    sun.target.position.copy(middle);
    sun.position.copy(middle).addScaledVector(SUN, 2 * size);
    const { camera } = sun.shadow;
    if (camera.right !== reach) {
      Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.5 * size, far: 4 * size });
      camera.updateProjectionMatrix();
      sun.shadow.normalBias = size * 0.0015;
      sun.shadow.bias = -0.0004;
      sun.shadow.mapSize.setScalar(this.isSlow ? 1024 : 2048);
    }
  }

  setTheme(name) {
    const theme = THEMES[name];
    this.scene.background = new Color(theme.sky);
    this.scene.environmentIntensity = theme.environment;
    if (this.glow) this.glow.intensity = 3.1 * theme.environment;
    this.sun.intensity = (this.isSlow ? 0.75 : 1) * theme.sun;
    if (this.grid) {
      this.grid.material.uniforms.floorColour.value.set(theme.floor);
      this.grid.material.uniforms.lineColour.value.set(theme.line);
      this.shade.material.opacity = theme.shadow;
    }
    for (const { material, userData: { kind, run, changes } } of this.meshes) {
      const isWorld = kind === "World", { color } = material;
      if (!color || material.map || material.vertexColors || changes || run || !(isWorld || this.isCalm)) continue;
      const base = (material.userData.base ??= color.clone());
      if (name !== "dark") color.copy(base);
      else if (!isWorld) color.copy(lifted(base));
      else if (isBlack(base)) color.copy(OVER_DARK);
    }
  }
}

// What bodies of a model stand on: its planes and height fields.
const isGround = ({ userData: { kind, shape } }) => kind === "World" && ["plane", "ground"].includes(shape);

function letter(text, color) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext("2d");
  pen.font = "600 44px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = `#${color.getHexString()}`;
  pen.fillText(text, 32, 32);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}
