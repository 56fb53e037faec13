// A browser, driven over the WebDriver protocol, and a server of one folder: no more than tests of the playground need.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const KINDS = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

// Serves a folder below a path; `{address, close}`.
export async function serve(folder, below) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = normalize(decodeURIComponent(pathname)).slice(below.length) || "index.html";
    try {
      if (!pathname.startsWith(below)) throw new Error("it is elsewhere");
      response.setHeader("Content-Type", KINDS[extname(path)] ?? "text/plain");
      response.end(await readFile(join(folder, path)));
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}${below}`, close: () => server.close() };
}

export class Browser {
  static async open({ width = 1280, height = 900, dark = false } = {}) {
    const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
    const port = await new Promise((resolve, reject) => {
      let heard = "";
      driver.stdout.on("data", (piece) => {
        heard += piece;
        const found = /successfully on port (\d+)/.exec(heard);
        if (found) resolve(Number(found[1]));
      });
      driver.on("exit", () => reject(new Error("chromedriver ended")));
    });
    const browser = new Browser();
    Object.assign(browser, { driver, base: `http://127.0.0.1:${port}` });
    const words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", `--window-size=${width},${height}`];
    const options = { args: words };
    const { sessionId } = await browser.call("POST", "/session", { capabilities: { alwaysMatch: { browserName: "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { browser: "ALL" } } } });
    browser.base += `/session/${sessionId}`;
    // A window cannot be as narrow as a telephone, and has no say in colours: the page is told both.
    await browser.tell("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await browser.tell("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    return browser;
  }

  async call(method, path, body) {
    const answer = await fetch(this.base + path, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${path}: ${value.message}`);
    return value;
  }

  tell(cmd, params) { return this.call("POST", "/goog/cdp/execute", { cmd, params }); }
  go(url) { return this.call("POST", "/url", { url }); }
  // What a script returns; a promise is waited for.
  run(script, ...args) { return this.call("POST", "/execute/sync", { script, args }); }
  // What is printed on the console is not forgotten: every error is one of the page.
  async errors() { return (await this.call("POST", "/se/log", { type: "browser" })).filter(({ level }) => level === "SEVERE").map(({ message }) => message); }
  async picture() { return Buffer.from(await this.call("GET", "/screenshot"), "base64"); }
  async frame(id) {
    const element = id === null ? null : await this.call("POST", "/element", { using: "css selector", value: `#${id}` });
    return this.call("POST", "/frame", { id: element });
  }

  // Waits until a script returns something true, and gives that.
  async until(what, script, ...args) {
    for (let end = Date.now() + 60_000; Date.now() < end; ) {
      const value = await this.run(script, ...args);
      if (value) return value;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    throw new Error(`waited in vain: ${what}; the page says: ${await this.run("return document.getElementById('status')?.textContent")}`);
  }

  async close() {
    await this.call("DELETE", "", undefined).catch(() => {});
    this.driver.kill();
  }
}
