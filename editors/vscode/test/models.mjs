// Real reports: what the real binary says of models of the repository.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const here = join(dirname(fileURLToPath(import.meta.url)), "..");
export const root = join(here, "../..");

/** The command to test with: `BIRK`, or what `cargo build` made, or the one in `PATH`. */
export function birk() {
  const built = ["release", "debug"].map((profile) => join(root, "target", profile, "birk"));
  return process.env.BIRK ?? built.find((path) => existsSync(path)) ?? "birk";
}

/** Runs the command in the folder `models`. */
export function run(...options) {
  const { status, stdout, stderr, error } = spawnSync(birk(), options, { cwd: join(root, "models"), encoding: "utf8", maxBuffer: 1 << 28 });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** The JSON report of a check, as text. */
export function reportOf(model, ...options) {
  const { status, stdout, stderr } = run("check", model, "--format", "json", "--seed", "0", "--threads", "1", ...options);
  if (![0, 1, 3].includes(status)) throw new Error(`${model}: exit code ${status}: ${stderr}`);
  return stdout;
}

/** A browser without a window, with nothing of its user's; nothing where none is installed. */
export async function browser() {
  const path = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((one) => existsSync(one));
  if (path === undefined) return undefined;
  const { chromium } = await import("playwright-core");
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
  args.push("--disable-background-networking", "--disable-component-update", "--disable-sync");
  return chromium.launch({ executablePath: path, args });
}

export function textOf(model) {
  return readFileSync(join(root, "models", model), "utf8");
}

export function languageOf(model) {
  return { bir: "bir", pml: "promela", dve: "dve" }[model.split(".").pop()];
}

/** A module of the extension, bundled for the tests, without an editor. */
export async function load(name) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: [`src/${name}.ts`],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    external: ["vscode"],
  });
  const module = { exports: {} };
  const { createRequire } = await import("node:module");
  const own = createRequire(import.meta.url);
  // No module touches the editor while it is loaded.
  const require = (wanted) => (wanted === "vscode" ? {} : own(wanted));
  new Function("module", "exports", "require", outputFiles[0].text)(module, module.exports, require);
  return module.exports;
}
