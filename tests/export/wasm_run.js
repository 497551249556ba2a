// Run a component that jco has translated, in co-simulation in this engine, be it of Node.js or of a browser.

export async function run({ instantiate }, compile, { token, stop, steps, references }) {
  const fmu = await instantiate(compile, {
    "fmi:fmi3/callbacks": {
      logMessage: (...line) => console.error(...line),
      clockUpdate() {},
      lockPreemption() {},
      unlockPreemption() {},
    },
    "fmi:fmi3/intermediate-update-callbacks": { intermediateUpdate: () => [false, 0] },
  });
  const slave = fmu.coSimulation.CoSimulationInstance.instantiateCoSimulation(
    "Größe", token, "", false, true, false, false, new Uint32Array(),
  );
  slave.enterInitializationMode(undefined, 0, stop);
  slave.exitInitializationMode();
  for (let i = 0; i < steps; ++i) slave.doStep((i * stop) / steps, stop / steps, true);
  return [...slave.getFloat64(new Uint32Array(references))];
}
