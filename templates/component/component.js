// node component.js WIT MODULE COMPONENT: make a component of a core module that exports the functions of a world "fmu".

import { readFile, writeFile } from "node:fs/promises";
import { argv } from "node:process";

import { componentEmbed, componentNew } from "@bytecodealliance/jco-transpile/wasm-tools";

const [wit, module, component] = argv.slice(2);
const embedded = await componentEmbed({
  binary: new Uint8Array(await readFile(module)),
  witSource: await readFile(wit, "utf8"),
  world: "fmu",
  stringEncoding: "utf8",
});
await writeFile(component, await componentNew(embedded, []));
