#!/usr/bin/env python3
"""Pictures of the HTML report and of the explorer, for people to look at: small and large models, light and dark, from a telephone's
width to a large screen's. Needs chromedriver and Chromium, and nothing beyond Python's own library.

    benches/screens.py BIRK FOLDER [WORD…]

writes into FOLDER one PNG for each model, page, width and theme; with words, only those whose names contain one of them."""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

WIDTHS = (390, 1280, 1920)
HEIGHTS = {390: 844, 1280: 900, 1920: 1080}
TALLEST = 4000

LEASE = """// A lock with leases, over channels that lose messages.
system LeaseLock {
  const CLIENTS = 3;
  const LEASE = 4;
  enum Kind { acquire, grant, refuse, release }
  record Message { Kind kind; int (0, CLIENTS - 1) client; int (0, 7) token; }

  lossy channel of Message [2] requests;
  lossy channel of Message [2] [CLIENTS] replies;
  int (0, LEASE) left;
  int (0, 7) newest, written;
  boolean is_held;
  int (0, CLIENTS - 1) holder;

  active thread Server() {
    Message m;
    loc serve:
      do { receive requests (?m); } goto decide;
      when is_held && left == 0 do { is_held := false; } goto serve;
    loc decide:
      when m.kind == Kind.acquire && !is_held && newest < 7 do {
        newest := newest + 1; is_held := true; holder := m.client; left := LEASE;
        send replies[m.client] (Kind.grant, m.client, newest);
      } goto serve;
      when m.kind == Kind.acquire && (is_held || newest == 7) do {
        send replies[m.client] (Kind.refuse, m.client, 0);
      } goto serve;
      when m.kind == Kind.release do { is_held := is_held && holder != m.client; } goto serve;
      when m.kind == Kind.grant || m.kind == Kind.refuse do { assert false, "a client sends no reply"; } goto serve;
  }

  active thread Clock() {
    loc tick: end when left > 0 do { left := left - 1; } goto tick;
  }

  active [CLIENTS] thread Client(int me) {
    Message m;
    loc idle: end do { send requests (Kind.acquire, me, 0); } goto waiting;
    loc waiting:
      do { receive replies[me] (?m); } goto answered;
      do { } goto idle;
    loc answered:
      when m.kind == Kind.grant do { } goto writing;
      when m.kind != Kind.grant do { } goto idle;
    loc writing: do { assert m.token >= written, "an old token is not written"; written := m.token; } goto leaving;
    loc leaving: do { send requests (Kind.release, me, m.token); } goto idle;
  }

  invariant in_order: written <= newest;
  reachable all_wait: forall (i : 0 .. CLIENTS - 1) Client[i]@waiting;
}
"""
LONG = """system Long { int (0, 5000) x; channel of int (0, 7) [1] c; int (0, 7) got;
  active thread Producer() { loc l: when x < 5000 do { send c (x % 8); x := x + 1; } goto l; }
  active thread Consumer() { loc l: do { receive c (?got); } goto l; }
  invariant never: !(x == 5000 && empty(c)); }
"""
WIDE = """system Wide { record Sensor { byte value; boolean is_valid; int (0, 9) age; } Sensor[30] sensors; byte[26] totals;
  boolean alarm; enum Mode { calibrating, measuring, reporting } Mode mode;
  active thread Sampler() { int (0, 30) i;
    while (i < 30) { atomic { sensors[i].value := 3 * i; sensors[i].is_valid := true; sensors[i].age := i % 10; i := i + 1; } }
    mode := Mode.measuring; }
  active thread Totals() { int (0, 26) k; await mode == Mode.measuring;
    while (k < 26) { atomic { totals[k] := sensors[k].value + sensors[k + 1].value; k := k + 1; } }
    atomic { mode := Mode.reporting; alarm := totals[25] > 140; } }
  invariant quiet: !alarm; }
"""
LASSO = """system Lasso { boolean[2] wants; 
  active [2] thread Worker(int me) {
    loc idle: do { wants[me] := true; } goto trying;
    loc trying: when !wants[1 - me] do { } goto inside;
                when wants[1 - me] do { wants[me] := false; } goto backing;
    loc backing: do { wants[me] := true; } goto trying;
    loc inside: progress do { wants[me] := false; } goto idle;
  }
  ltl served: [] (Worker[0]@trying -> <> Worker[0]@inside);
  ltl often: [] <> Worker[1]@inside;
}
"""
MEETING = """system Meeting { channel of byte [0] hand; channel of byte [0] back; byte got, sum;
  active [2] thread Client(int me) { byte answer;
    loc first: do { send hand (me + 1); } goto wait;
    loc wait: do { receive back (?answer); } return; }
  active thread Server() { byte x;
    loc ready: end do { receive hand (?x); sum := sum + x; } goto reply;
    loc reply: do { send back (sum); } goto ready;
    loc never: when false do { sum := 0; } goto ready; }
  invariant small: sum < 3; }
"""
# Name, model or its text, options of `check`, levels that the explorer expands.
CASES = (
    ("lease", LEASE, "", 3),
    ("raft", "models/raft_election.bir", "-D T=1 -D BUG=1", 2),
    ("philosophers", "models/philosophers_ring.bir", "-D N=3", 4),
    ("lasso", LASSO, "", 4),
    ("long", LONG, "", 6),
    ("wide", WIDE, "", 3),
    ("meeting", MEETING, "", 4),
    ("holds", "models/peterson2.bir", "", 3),
)


class Browser:
    """Chromium, by its driver."""

    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = next(found.group(1) for line in self.driver.stdout if (found := re.search(r"successfully on port (\d+)", line)))
        self.base = f"http://127.0.0.1:{port}"
        self.profile = tempfile.TemporaryDirectory()
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={self.profile.name}"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": words}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.base += "/session/" + self.ask("/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def ask(self, what, body):
        request = urllib.request.Request(self.base + what, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=120))["value"]

    def run(self, script):
        return self.ask("/execute/sync", {"script": script, "args": []})

    def tool(self, command, **parameters):
        return self.ask("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, theme):
        size = {"width": width, "height": HEIGHTS[width], "deviceScaleFactor": 1, "mobile": False}
        self.tool("Emulation.setDeviceMetricsOverride", **size)
        self.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def go(self, address):
        self.ask("/url", {"url": address})

    def shoot(self, path, width, is_whole):
        height = min(TALLEST, self.run("return document.documentElement.scrollHeight")) if is_whole else HEIGHTS[width]
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        data = self.tool("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
        overhang = self.run("return document.documentElement.scrollWidth - innerWidth")
        print(os.path.basename(path), f"(the page is {overhang} px too wide)" if overhang > 0 else "")

    def complaints(self):
        return [entry["message"] for entry in self.ask("/se/log", {"type": "browser"}) if "favicon" not in entry["message"]]

    def close(self):
        self.driver.terminate()


def report(browser, page, name, folder, is_wanted):
    for width in WIDTHS:
        for theme in ("light", "dark"):
            if not is_wanted(f"{name}-report-{width}-{theme}"):
                continue
            browser.look(width, theme)
            browser.go("file://" + page)
            browser.shoot(f"{folder}/{name}-report-{width}-{theme}.png", width, True)
            if browser.run("return !document.getElementById('tab-automata')"):
                continue
            browser.run("document.getElementById('tab-automata').click(); scrollTo(0, 0)")
            browser.shoot(f"{folder}/{name}-automata-{width}-{theme}.png", width, True)


def explore(browser, birk, model, options, levels, name, folder, is_wanted):
    words = [word for word in options.split()]
    server = subprocess.Popen([birk, "explore", model, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = next(found.group(0) for line in server.stdout if (found := re.search(r"http://\S+", line)))
        settled = "return new Promise((done) => { let last = '', same = 0; const look = () => { const now = document.getElementById('count').textContent; same = now === last && now ? same + 1 : 0; last = now; if (same > 6) done(now); else setTimeout(look, 60); }; look(); })"
        for width in WIDTHS:
            for theme in ("light", "dark"):
                if not is_wanted(f"{name}-explore-{width}-{theme}"):
                    continue
                browser.look(width, theme)
                browser.go("about:blank")
                browser.go(address)
                browser.run(settled)
                for _ in range(levels):
                    browser.run("document.getElementById('level').click()")
                    browser.run(settled)
                browser.run("document.getElementById('fit').click()")
                browser.shoot(f"{folder}/{name}-explore-{width}-{theme}.png", width, False)
                browser.run("document.getElementById('tab-threads').click()")
                browser.run("return new Promise((done) => setTimeout(done, 400))")
                browser.shoot(f"{folder}/{name}-threads-{width}-{theme}.png", width, False)
    finally:
        server.terminate()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    birk, folder, words = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    is_wanted = lambda name: not words or any(word in name for word in words)
    browser = Browser()
    try:
        for name, model, options, levels in CASES:
            if not any(is_wanted(f"{name}-{page}-{width}-{theme}") for page in ("report", "explore") for width in WIDTHS for theme in ("light", "dark")):
                continue
            if not model.endswith(".bir"):
                path = os.path.join(folder, name + ".bir")
                with open(path, "w") as file:
                    file.write(model)
                model = path
            page = os.path.join(folder, name + ".html")
            done = subprocess.run([birk, "check", model, *options.split(), "--report", page], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode not in (0, 1):
                sys.exit(f"{name}: {done.stdout}")
            report(browser, page, name, folder, is_wanted)
            defined = " ".join(re.findall(r"-D \S+", options))
            explore(browser, birk, model, defined, levels, name, folder, is_wanted)
            for complaint in browser.complaints():
                print(name, complaint)
    finally:
        browser.close()


main()
