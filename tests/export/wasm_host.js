// node wasm_host.js COMPONENT RUN: translate a component with jco into the folder fmu, run it in co-simulation in Node.js
// as the JSON of RUN says, and print the values at the end.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { argv, cwd } from "node:process";
import { pathToFileURL } from "node:url";

import { transpile } from "@bytecodealliance/jco-transpile";

import { run } from "./wasm_run.js";

const [component, how] = argv.slice(2);
const options = { name: "fmu", outDir: path.join(cwd(), "fmu"), instantiation: "async", minify: false };
const { files } = await transpile(component, options);
for (const [name, content] of Object.entries(files)) {
  await mkdir(path.dirname(name), { recursive: true });
  await writeFile(name, content);
}
const translated = await import(pathToFileURL(path.join(options.outDir, "fmu.js")));
const compile = async (name) => WebAssembly.compile(await readFile(path.join(options.outDir, name)));
console.log(JSON.stringify(await run(translated, compile, JSON.parse(how))));
