// Builds what the .vsix contains into `dist`: two bundles, a style sheet, and BIR's grammar from `editors/textmate`.
import { build } from "esbuild";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const at = (...path) => join(here, ...path);
rmSync(at("dist"), { recursive: true, force: true });
mkdirSync(at("dist"));

const options = { bundle: true, minify: true, logLevel: "warning", absWorkingDir: here };
await build({
  ...options,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  target: "node18",
  format: "cjs",
  external: ["vscode"],
});
await build({ ...options, entryPoints: ["media/trace.ts"], outfile: "dist/trace.js", target: "es2022", format: "iife" });
cpSync(at("media/trace.css"), at("dist/trace.css"));
for (const name of ["bir.tmLanguage.json", "language-configuration.json"]) {
  cpSync(at("../textmate", name), at("dist", name));
}
for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) {
  cpSync(at("../..", name), at(name));
}
