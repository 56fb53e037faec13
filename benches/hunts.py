#!/usr/bin/env python3
"""How many bugs `--search auto` finds within a budget, beside every engine alone.

    benches/hunts.py BIRK RESULTS [--seconds 10] [--mutants 10] [--again ENGINE] [--plot FILE] [--sample FILE]

Subjects are models of models/ with constants so large that breadth-first search does not finish, and mutants of them: one operator,
number, guard or step changed by a rule. A bug is a subject that some engine violates within the budget and breadth-first search
does not. Each search runs with one thread; two run at a time. RESULTS has one JSON object a line; what it has already is not run
again, so the bench can be stopped and continued, except for the engine that is named with `--again`, in models in which there is
a bug, and with `--sample` only 15 of the bugs of another file of results, for another budget. Of two lines about a subject the later
counts. The summary is printed at the end; the plot shows how many bugs are found within how many seconds. A bug is found when the search knows of it; `auto` may go on for a shorter trace, and says when it knew.
"""
import argparse, concurrent.futures, json, math, os, pathlib, random, re, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "models"
ENGINES = {
    "auto": "--search auto",
    "bfs": "--search bfs",
    "highway": "--search highway --width auto",
    "bitstate": "--search dfs --store bitstate",
    "dfs": "--search dfs",
    "beam": "--search astar --beam 1000",
    "ic3": "--search ic3",
    "bmc": "--search bmc",
    "bdd-chain": "--search bdd-chain",
    "reduced": "--search bfs --reduce auto --symmetry auto",
}
# Model and constants: each is correct or has its own bug, and is too large for the budget.
SUBJECTS = [
    ("german.bir", "N=7"), ("raft_election.bir", "N=4 T=3"), ("paxos.bir", "A=4 B=4 V=3"), ("lifts.bir", "N=6"),
    ("lifts_repaired.bir", "N=6"), ("sliding_window.bir", "W=4 MOD=6 CAP=4"), ("philosophers_ring.bir", "N=22"),
    ("peterson_filter.bir", "N=7"), ("bakery.bir", "N=5"), ("szymanski.bir", "N=8"), ("lamport_fast_mutex.bir", "N=6"),
    ("mcs_lock.bir", "N=7"), ("token_ring.bir", "N=16"), ("chang_roberts.bir", "N=8"), ("dolev_klawe_rodeh.bir", "N=7"),
    ("two_phase_commit_rounds.bir", "N=9"), ("cache_msi.bir", "N=9"), ("readers_writers.bir", "N=14"),
    ("ticket_lock.bir", "N=8"), ("anderson_lock.bir", "N=8"), ("stabilising_ring.bir", "N=8"),
    ("usb_firmware.bir", "BUG=1 PORTS=3 REQUESTS=3 RING=16 FRAMES=12"), ("usb_stack.bir", "BUG=1 PORTS=2 EVENTS=2 QUEUE=2"),
    ("raft_election.bir", "N=5 T=3 BUG=1"), ("paxos.bir", "A=4 B=4 V=3 BUG=1"), ("peers/phil.bir", "N=30"),
    ("peers/ring.bir", "N=12"), ("peers/peterson.bir", "N=7"), ("peers/buffer.bir", "K=8 M=5"),
    ("large/dme_bug5_4.bir", ""), ("large/tree_arbiter_module_buggy_16.bir", ""), ("large/tree_arbiter_module_buggy_8.bir", ""),
    ("dme_bug1_2.bir", ""), ("level_exchange.bir", ""), ("elevator.bir", "FLOORS=12"), ("cabp.bir", "M=8"),
]
RULES = [
    (r"==", "!="), (r"!=", "=="), (r"<(?![=>-])", "<="), (r"<=", "<"), (r"(?<![-=])>(?!=)", ">="), (r">=", ">"),
    (r"&&", "||"), (r"\|\|", "&&"), (r"\+ 1\b", "+ 2"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"when [^{}]+? do", "do"), (r"await [^;]+;", "await true;"), (r"\w+(\[[^\]]*\])? := [^;]+;", "skip;"),
]
LEFT_ALONE = re.compile(r"^\s*(//|const|expect|invariant|reachable|ltl|ctl|mu|import|enum|typealias|record|system|library|function)|^\s*$")


def mutants(text, number, seed):
    """So many different mutants of a model."""
    places, lines = [], text.split("\n")
    is_property = False
    for at, line in enumerate(lines):
        is_property = (is_property and not lines[at - 1].rstrip().endswith(";")) or bool(re.match(r"\s*(invariant|ltl|ctl|mu|reachable)\b", line))
        if LEFT_ALONE.search(line) or is_property:
            continue
        code = line.split("//")[0]
        for rule, new in RULES:
            places += [(at, found.start(), found.end(), new) for found in re.finditer(rule, code)]
    random.Random(seed).shuffle(places)
    for at, start, end, new in places[:number]:
        changed = lines[:]
        changed[at] = changed[at][:start] + new + changed[at][end:]
        yield f"{at + 1}: {lines[at].strip()} => {changed[at].strip()}", "\n".join(changed)


def run(birk, path, constants, options, seconds):
    words = [str(birk), "check", str(path), *[f"-D{c}" for c in constants.split()], *options.split(), "--threads", "1"]
    words += ["--time", f"{seconds}s", "--memory", "4G", "--format", "json", "--progress", "off"]
    began = time.time()
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds * 3 + 10, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return {"verdict": "late", "seconds": time.time() - began}
    took = time.time() - began
    if done.returncode == 2:
        return {"verdict": "refused", "seconds": took, "why": done.stderr[:200]}
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"verdict": "broken", "seconds": took, "why": done.stderr[:300]}
    steps = [len(trace["steps"]) for trace in report["traces"]]
    violated = [p for p in report["properties"] if p["verdict"] == "violated"]
    by = [p.get("by") for p in violated]
    after = min((p.get("found_after", took) for p in violated), default=took)
    return {"verdict": report["verdict"], "seconds": took, "after": after, "steps": steps[:1], "by": by}


def subjects(number):
    for model, constants in SUBJECTS:
        text = (MODELS / model).read_text()
        yield f"{model} {constants}", model, constants, text
        for name, changed in mutants(text, number, f"{model}{constants}"):
            yield f"{model} {constants} line {name}", model, constants, changed


def missing(found, again):
    """The engines that are to run on a subject of which this is known."""
    if "bfs" not in found:
        return ["bfs"]
    if found["bfs"]["verdict"] != "inconclusive":
        return []
    return [engine for engine in ENGINES if engine not in found or engine == again and bugs({"": found})]


def examine(birk, subject, seconds, known, again):
    name, model, constants, text = subject
    found = dict(known)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / pathlib.Path(model).name
        path.write_text(text)
        while engines := missing(found, again):
            found |= {engine: run(birk, path, constants, ENGINES[engine], seconds) for engine in engines}
            again = None
    return {"subject": name, "budget": seconds, "found": found}


def bugs(rows):
    """What each engine found of the models that are violated, and not by breadth-first search."""
    is_bug = lambda found: found["bfs"]["verdict"] == "inconclusive" and any(one["verdict"] == "violated" for one in found.values())
    return [found for found in rows.values() if is_bug(found)]


def times(found, engines, until="after"):
    """For each bug that one of the engines finds, the seconds until the fastest of them knew it, or until it reported."""
    time = lambda one: one.get(until, one["seconds"])
    each = ([time(one[engine]) for engine in engines if one.get(engine, {}).get("verdict") == "violated"] for one in found)
    return sorted(min(all) for all in each if all)


def summary(rows):
    found = bugs(rows)
    print(f"{len(rows)} subjects, {len(found)} bugs that bfs does not find")
    others = [engine for engine in ENGINES if engine != "auto"]
    all = {"virtual best": times(found, others), **{engine: times(found, [engine]) for engine in ENGINES}}
    for name, seconds in sorted(all.items(), key=lambda one: -len(one[1])):
        median = f", median {statistics.median(seconds):.2f} s" if seconds else ""
        print(f"{name:12} {len(seconds):4} found{median}")
    if reported := times(found, ["auto"], "seconds"):
        print(f"auto reports after a median of {statistics.median(reported):.2f} s: it goes on for a shorter trace")
    verdicts = lambda one: {found["verdict"] for found in one.values()}
    wrong = [name for name, one in rows.items() if {"holds", "violated"} <= verdicts(one)]
    print(f"{len(wrong)} contradictions", *wrong, sep="\n  " if wrong else " ")
    decided = lambda engine: sum(one.get(engine, {}).get("verdict") in ("holds", "violated") for one in rows.values())
    print("decided:", ", ".join(f"{engine} {decided(engine)}" for engine in ENGINES))


def plot(rows, seconds):
    """A step for each bug that is found, over the seconds it took; hundredths of a second and less are one."""
    found, left, right, top, bottom = bugs(rows), 40, 520, 30, 270
    others = [engine for engine in ENGINES if engine != "auto"]
    lines = [("virtual best", times(found, others), "#888888"), ("auto", times(found, ["auto"]), "#c0392b")]
    colours = {"highway": "#1b6ca8", "dfs": "#2e7d32", "bitstate": "#7b4fa3", "beam": "#b8860b", "ic3": "#00838f"}
    lines += [(engine, times(found, [engine]), colour) for engine, colour in colours.items()]
    x = lambda time: left + (right - left) * math.log10(min(max(time, 0.01), seconds * 1.25) / 0.01) / math.log10(seconds * 1.25 / 0.01)
    y = lambda count: bottom - (bottom - top) * count / len(found)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 310" width="640" height="310" font-family="sans-serif" '
           'font-size="12" fill="#222" role="img" aria-label="Bugs found over seconds">',
           '<rect width="640" height="310" fill="white"/>', f'<text x="{left}" y="18" font-weight="bold">bugs found</text>']
    for count in range(0, len(found) + 1, 5 if len(found) < 60 else 20):
        out.append(f'<line x1="{left}" x2="{right}" y1="{y(count):.1f}" y2="{y(count):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y(count) + 4:.1f}" text-anchor="end">{count}</text>')
    for time in (0.01, 0.1, 1, seconds):
        out.append(f'<text x="{x(time):.1f}" y="{bottom + 18}" text-anchor="middle">{time:g}</text>')
    out.append(f'<text x="{right}" y="{bottom + 34}" text-anchor="end">seconds</text>')
    below = top - 14
    for name, steps, colour in sorted(lines, key=lambda one: -len(one[1])):
        points = [(x(0.01), y(0))]
        for count, time in enumerate(steps, 1):
            points += [(x(time), y(count - 1)), (x(time), y(count))]
        points.append((right, y(len(steps))))
        line = " ".join(f"{one:.1f},{other:.1f}" for one, other in points)
        # Names keep clear of each other.
        below = max(below + 14, points[-1][1] + 4)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{3 if name == "auto" else 1.5}"/>'
                   f'<text x="{right + 6}" y="{below:.1f}" fill="{colour}">{name} {len(steps)}</text>')
    return "\n".join([*out, "</svg>\n"])


def known(results):
    """What was found by subject."""
    lines = results.read_text().splitlines() if results.exists() else []
    return {row["subject"]: row["found"] for row in map(json.loads, lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("birk", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--mutants", type=int, default=10)
    parser.add_argument("--again", choices=ENGINES)
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("--sample", type=pathlib.Path)
    asked = parser.parse_args()
    rows = known(asked.results)
    todo = [one for one in subjects(asked.mutants) if missing(rows.get(one[0], {}), asked.again)]
    random.Random(1).shuffle(todo)
    if asked.sample:
        of = known(asked.sample)
        sample = random.Random(1).sample(sorted(name for name in of if bugs({name: of[name]})), 15)
        todo = [one for one in todo if one[0] in sample]
    pool = concurrent.futures.ThreadPoolExecutor(2)
    birk = asked.birk.resolve()
    begin = lambda one: pool.submit(examine, birk, one, asked.seconds, rows.get(one[0], {}), asked.again)
    waiting = [begin(one) for one in todo]
    with asked.results.open("a") as out:
        try:
            for done in concurrent.futures.as_completed(waiting):
                row = done.result()
                rows[row["subject"]] = row["found"]
                out.write(json.dumps(row) + "\n")
                out.flush()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True, wait=False)
    summary(rows)
    if asked.plot:
        asked.plot.write_text(plot(rows, asked.seconds))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
