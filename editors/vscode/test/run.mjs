// `npm test`: types, build, tests, and the package. The tests in a real editor run where CODE_SERVER names code-server.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { here } from "./models.mjs";

const tests = readdirSync(join(here, "test")).filter((name) => name.endsWith(".test.mjs"));
const bin = (name) => join(here, "node_modules/.bin", name);
for (const [name, command, ...options] of [
  ["types", bin("tsc"), "-p", "."],
  ["types of the view", bin("tsc"), "-p", "media"],
  ["package", "npm", "run", "--silent", "package"],
  ["tests", process.execPath, "--test", "--test-concurrency=3", "--test-reporter=spec", ...tests.map((file) => join("test", file))],
]) {
  const start = Date.now();
  const { status } = spawnSync(command, options, { cwd: here, stdio: "inherit", shell: process.platform === "win32" });
  console.log(`-- ${name}: ${status === 0 ? "passed" : "FAILED"} in ${((Date.now() - start) / 1000).toFixed(1)} s`);
  if (status !== 0) process.exit(1);
}
