// node wasm_host.js COMPONENT TOKEN STOP STEPS REFERENCE...: translate a component with jco, run it in co-simulation in
// this engine, and print the values at the end.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { argv, cwd } from "node:process";
import { pathToFileURL } from "node:url";

import { transpile } from "@bytecodealliance/jco-transpile";

const [component, token, stop, steps, ...references] = argv.slice(2);
const options = { name: "fmu", outDir: path.join(cwd(), "fmu"), instantiation: "async", minify: false };
const { files } = await transpile(component, options);
for (const [name, content] of Object.entries(files)) {
  await mkdir(path.dirname(name), { recursive: true });
  await writeFile(name, content);
}
const { instantiate } = await import(pathToFileURL(path.join(options.outDir, "fmu.js")));
const fmu = await instantiate(
  async (name) => WebAssembly.compile(await readFile(path.join(options.outDir, name))),
  {
    "fmi:fmi3/callbacks": {
      logMessage: (...line) => console.error(...line),
      clockUpdate() {},
      lockPreemption() {},
      unlockPreemption() {},
    },
    "fmi:fmi3/intermediate-update-callbacks": { intermediateUpdate: () => [false, 0] },
  },
);
const slave = fmu.coSimulation.CoSimulationInstance.instantiateCoSimulation(
  "Größe", token, "", false, true, false, false, new Uint32Array(),
);
slave.enterInitializationMode(undefined, 0, Number(stop));
slave.exitInitializationMode();
for (let i = 0; i < Number(steps); ++i) slave.doStep((i * Number(stop)) / Number(steps), Number(stop) / Number(steps), true);
console.log(JSON.stringify([...slave.getFloat64(new Uint32Array(references.map(Number)))]));
