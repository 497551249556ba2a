// node wasm_server.js COMPONENT KIND TOKEN: translate a component with jco into the folder fmu, make an instance of it
// (KIND is CoSimulation or ModelExchange), and answer calls: each line of the input is a JSON array of a method and its
// arguments, each line of the output the JSON object {value} or {error}. Arrays in calls say their type: {"f64": [0.5]}.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { argv, cwd, stdin, stdout } from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

import { transpile } from "@bytecodealliance/jco-transpile";

const [component, kind, token] = argv.slice(2);
const folder = path.join(cwd(), "fmu");
const { files } = await transpile(component, {
  name: "fmu", outDir: folder, instantiation: "async", minify: false,
});
for (const [name, content] of Object.entries(files)) {
  await mkdir(path.dirname(name), { recursive: true });
  await writeFile(name, content);
}
const { instantiate } = await import(pathToFileURL(path.join(folder, "fmu.js")));
const compile = async (name) => WebAssembly.compile(await readFile(path.join(folder, name)));
const log = [];
const fmu = await instantiate(compile, {
  "fmi:fmi3/callbacks": {
    logMessage: (_, status, category, message) => log.push(`${status} ${category}: ${message}`),
    clockUpdate() {},
    lockPreemption() {},
    unlockPreemption() {},
  },
  "fmi:fmi3/intermediate-update-callbacks": { intermediateUpdate: () => [false, 0] },
});
const more = kind === "CoSimulation" ? [false, false, new Uint32Array()] : [];
const type = fmu[kind[0].toLowerCase() + kind.slice(1)][`${kind}Instance`];
const instance = type[`instantiate${kind}`]("unit", token, "", false, true, ...more);

const arrays = { f64: Float64Array, u32: Uint32Array };
function read(_, value) {
  const [[key, list] = []] = value instanceof Object ? Object.entries(value) : [];
  return key in arrays ? new arrays[key](list) : value;
}
function shown(_, value) {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" && !Number.isFinite(value)) return { number: String(value) };
  return ArrayBuffer.isView(value) ? Array.from(value) : value;
}

for await (const line of createInterface({ input: stdin })) {
  const [method, ...args] = JSON.parse(line, read);
  let answer;
  try {
    answer = { value: instance[method](...args) ?? null };
  } catch (problem) {
    answer = { error: `${method}: ${problem.payload ?? problem}; ${log.join("; ")}` };
  }
  stdout.write(`${JSON.stringify(answer, shown)}\n`);
}
