#!/usr/bin/env python3
"""What a search by several processes costs beyond breadth-first search by one, on this machine.

    benches/cluster.py BIRK EXCHANGE [--results FILE] [--minutes N] [--small] [--plot FILE] [SECTION…]

EXCHANGE is `target/release/examples/exchange` (`cargo build --release -p birk-cluster --example exchange`). Sections: engine, wide,
bytes, slow, growth; without one, all. What was measured is kept in FILE, and not measured again: after N minutes it stops, and the
next call goes on. The repetitions of a section are interleaved; processor time is that of all processes. Bytes on the interface are
those that the counter of `lo` says in a network namespace of its own, with all headers, where one can be made. With --small the models
are about an eighth as large.
"""
import argparse, json, os, pathlib, resource, statistics, subprocess, sys, tempfile, time

PARSER = argparse.ArgumentParser()
PARSER.add_argument("birk")
PARSER.add_argument("exchange")
PARSER.add_argument("--results", default="target/cluster.json")
PARSER.add_argument("--minutes", type=float, default=1e9)
PARSER.add_argument("--repetitions", type=int, default=3)
PARSER.add_argument("--small", action="store_true")
PARSER.add_argument("--plot")
PARSER.add_argument("sections", nargs="*")
ARGS = PARSER.parse_intermixed_args()
RESULTS = pathlib.Path(ARGS.results)
KEPT = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
BEGAN = time.monotonic()
ENVIRONMENT = os.environ | {"BIRK_CLUSTER_TOKEN": "a token for these searches only"}
FORMAT = ["--progress", "off", "--format", "json"]
K = 7 if ARGS.small else 8
LARGE = ["models/counters_mod8.bir", "-D", f"K={K}"]
SMALL = ["models/counters_mod8.bir", "-D", f"K={K - 1}"]
RING = ["models/peers/ring.bir", "-D", "N=9" if ARGS.small else "N=10"]
NAMESPACE = 'ip link set lo up && "$@"; code=$?; cat /proc/net/dev >"$0"; exit $code'
HAS_NAMESPACES = subprocess.run(["unshare", "-n", "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0


def run(words):
    """Runs to the end: processor seconds, seconds, bytes on the interface, and what was printed."""
    with tempfile.NamedTemporaryFile("r") as counted:
        if HAS_NAMESPACES:
            words = ["unshare", "-n", "sh", "-c", NAMESPACE, counted.name, *words]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT)
        elapsed, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{words}: exit code {done.returncode}: {done.stderr}")
        lines = [line.split() for line in counted if line.strip().startswith("lo:")]
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"processor": processor, "seconds": elapsed, "interface": int(lines[0][1]) if lines else None}, done.stdout


def birk(*words):
    """A search: figures, with what it counts."""
    figures, text = run([ARGS.birk, *words, *FORMAT])
    stats = json.loads(text)["stats"]
    counts = {name: stats[name] for name in ("states", "transitions", "max_depth")}
    return figures | counts | {"exchange": stats.get("exchange")}


def bfs(model):
    return birk("check", *model, "--search", "bfs", "--threads", "1")


def up(processes, model, *options):
    if processes == 1:
        return birk("check", *model, "--search", "cluster", "--threads", "1", *options)
    return birk("cluster", "up", "-n", str(processes), *model, *options)


def exchange(processes, transitions, levels):
    """Only the exchange of as many keys as a search has transitions, in as many levels."""
    keys = transitions // processes // levels
    line = f'for rank in $(seq 1 {processes - 1}); do "$1" $rank {processes} 21000 {levels} {keys} >/dev/null & done; '
    line += f'"$1" 0 {processes} 21000 {levels} {keys}; wait'
    return run(["sh", "-c", line, "sh", ARGS.exchange])[0] | {"transitions": transitions}


def slowed(is_slow):
    """Two processes, of which the second may get a small part of a processor for its worker: their peaks of memory in MiB."""
    with tempfile.TemporaryDirectory() as name:
        hosts = pathlib.Path(name) / "hosts"
        port = 22000 + os.getpid() % 4000
        hosts.write_text("".join(f"127.0.0.1:{port + rank}\n" for rank in range(2)))
        words = [ARGS.birk, "check", *LARGE, "--cluster", str(hosts), "--threads", "1", *FORMAT]
        began = time.monotonic()
        children = [
            subprocess.Popen([*words, "--rank", str(rank)], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for rank in range(2)
        ]
        hogs = []
        if is_slow:
            time.sleep(0.5)
            folder = pathlib.Path(f"/proc/{children[1].pid}/task")
            used = lambda task: sum(int(number) for number in (task / "stat").read_text().rsplit(")")[-1].split()[11:13])
            worker = int(max(folder.iterdir(), key=used).name)
            os.sched_setaffinity(worker, {0})
            os.setpriority(os.PRIO_PROCESS, worker, 8)
            hogs = [subprocess.Popen(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"])]
        peaks = []
        for child in children:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            assert child.returncode == 0, child.returncode
            peaks.append(usage.ru_maxrss / 1024)
        for hog in hogs:
            hog.kill()
            hog.wait()
    return {"peaks": peaks, "seconds": time.monotonic() - began}


def measured(section, variants):
    """The figures of each variant, in turn, as often as there are repetitions; what is known is not measured again."""
    for repetition in range(ARGS.repetitions):
        for name, measure in variants.items():
            key = f"{section}/{name}/{repetition}"
            if key not in KEPT:
                if time.monotonic() - BEGAN > ARGS.minutes * 60:
                    sys.exit("there is more to measure: call it again")
                KEPT[key] = measure()
                RESULTS.parent.mkdir(exist_ok=True)
                RESULTS.write_text(json.dumps(KEPT, indent=1))
                print(f"  {key}: {KEPT[key]}", file=sys.stderr, flush=True)
    return lambda name: [KEPT[f"{section}/{name}/{repetition}"] for repetition in range(ARGS.repetitions)]


def line(what, values, digits=2):
    middle, least, most = (f"{figure:.{digits}f}" for figure in (statistics.median(values), min(values), max(values)))
    print(f"{what}: {middle} ({least} to {most})", flush=True)


def processor(figures):
    return [one["processor"] for one in figures]


def ratios(above, below):
    return [one / other for one, other in zip(above, below)]


def engine():
    levels, transitions = 7 * K + 1, K * 8**K
    of = measured("engine", {"bfs": lambda: bfs(LARGE), "two": lambda: up(2, LARGE), "exchange": lambda: exchange(2, transitions, levels)})
    alone, two, only = processor(of("bfs")), processor(of("two")), processor(of("exchange"))
    assert {one["transitions"] for name in ("bfs", "two") for one in of(name)} == {transitions}
    print(f"## counters_mod8 K={K}, two processes: processor time")
    line("search / bfs", ratios(two, alone))
    line("exchange only / bfs", ratios(only, alone))
    line("search / (bfs + exchange only)", ratios(two, [one + other for one, other in zip(alone, only)]))


def wide():
    variants = {"bfs": lambda: bfs(RING)}
    for compress in ("never", "auto", "always"):
        variants[f"two, {compress}"] = lambda compress=compress: up(2, RING, "--compress", compress)
    for compress in ("never", "always"):
        variants[f"four, {compress}"] = lambda compress=compress: up(4, RING, "--compress", compress)
    of = measured("wide", variants)
    print(f"## peers/ring {RING[-1]}")
    for name in list(variants)[1:]:
        figures = of(name)
        line(f"{name}: processor time / bfs", ratios(processor(figures), processor(of("bfs"))))
        line(f"{name}: bytes of blocks for a transition", [one["exchange"]["bytes"] / one["transitions"] for one in figures])
        line(f"{name}: part of blocks compressed", [one["exchange"]["compressed_blocks"] / one["exchange"]["blocks"] for one in figures])
        if HAS_NAMESPACES:
            line(f"{name}: bytes on the interface for a transition", [one["interface"] / one["transitions"] for one in figures])


def on_wire():
    of = measured("bytes", {f"{count}": lambda count=count: up(count, SMALL, "--compress", "never") for count in (2, 4, 8)})
    print(f"## counters_mod8 K={K - 1}: bytes for a transition, as a ratio to 8 (1 - 1/P)")
    for count in (2, 4, 8):
        least = [one["transitions"] * 8 * (1 - 1 / count) for one in of(f"{count}")]
        line(f"{count} processes, blocks", ratios([one["exchange"]["bytes"] for one in of(f"{count}")], least), 3)
        if HAS_NAMESPACES:
            line(f"{count} processes, on the interface", ratios([one["interface"] for one in of(f"{count}")], least), 3)


def slow():
    of = measured("slow", {"as usual": lambda: slowed(False), "slow": lambda: slowed(True)})
    print(f"## counters_mod8 K={K}, two processes, the worker of the second slowed down")
    for rank in range(2):
        usual, late = ([one["peaks"][rank] for one in of(name)] for name in ("as usual", "slow"))
        line(f"rank {rank}: peak memory, MiB, as usual", usual, 0)
        line(f"rank {rank}: peak memory, slow / as usual", ratios(late, usual))
    line("time, slow / as usual", ratios(*([one["seconds"] for one in of(name)] for name in ("slow", "as usual"))), 1)


PROCESSES = (1, 2, 4, 8, 16)


def growth():
    variants = {"bfs": lambda: bfs(SMALL)} | {f"{count}": lambda count=count: up(count, SMALL, "--compress", "never") for count in PROCESSES}
    of = measured("growth", variants)
    print(f"## counters_mod8 K={K - 1}, more processes than cores")
    alone = processor(of("bfs"))
    costs, sent = [], []
    for count in PROCESSES:
        figures = of(f"{count}")
        costs.append(ratios(processor(figures), alone))
        sent.append([(one["interface"] if HAS_NAMESPACES and count > 1 else (one["exchange"] or {"bytes": 0})["bytes"]) / one["transitions"] for one in figures])
        line(f"{count} processes: processor time / bfs", costs[-1])
        line(f"{count} processes: bytes for a transition", sent[-1])
    if ARGS.plot:
        pathlib.Path(ARGS.plot).write_text(plot(costs, sent))


def plot(costs, sent):
    """Two plots side by side: what was measured, with its range, and what the cost model says (dashed)."""
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 300" font-family="sans-serif" font-size="12">',
           '<rect width="760" height="300" fill="white"/>']
    model = [[1.0 for _ in PROCESSES], [8 * (1 - 1 / count) for count in PROCESSES]]
    titles = ["processor time / bfs", "bytes for a transition"]
    for place, (title, ranges, expected) in enumerate(zip(titles, (costs, sent), model)):
        left, bottom, width, height = 50 + place * 380, 250, 300, 200
        most = max(max(max(values) for values in ranges), max(expected)) * 1.1
        x = lambda at: left + 20 + at * (width - 40) / (len(PROCESSES) - 1)
        y = lambda value: bottom - value / most * height
        out.append(f'<text x="{left}" y="30" font-weight="bold">{title}</text>')
        for part in range(5):
            value = most * part / 4
            out.append(f'<line x1="{left}" x2="{left + width}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.1f}</text>')
        points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in enumerate(expected))
        out.append(f'<polyline points="{points}" fill="none" stroke="#c0392b" stroke-dasharray="5 4"/>')
        points = " ".join(f"{x(at):.1f},{y(statistics.median(values)):.1f}" for at, values in enumerate(ranges))
        out.append(f'<polyline points="{points}" fill="none" stroke="#1b6ca8" stroke-width="2"/>')
        for at, values in enumerate(ranges):
            out.append(f'<line x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{y(min(values)):.1f}" y2="{y(max(values)):.1f}" stroke="#1b6ca8" stroke-width="2"/>')
            out.append(f'<circle cx="{x(at):.1f}" cy="{y(statistics.median(values)):.1f}" r="3.5" fill="#1b6ca8"/>')
            out.append(f'<text x="{x(at):.1f}" y="{bottom + 18}" text-anchor="middle">{PROCESSES[at]}</text>')
        out.append(f'<text x="{left + width / 2}" y="{bottom + 36}" text-anchor="middle">processes, on two cores</text>')
    out.append('<text x="300" y="60" fill="#1b6ca8" text-anchor="end">measured</text>'
               '<text x="300" y="76" fill="#c0392b" text-anchor="end">cost model</text></svg>')
    return "\n".join(out) + "\n"


SECTIONS = {"engine": engine, "wide": wide, "bytes": on_wire, "slow": slow, "growth": growth}
for section in ARGS.sections or SECTIONS:
    SECTIONS[section]()
