#!/usr/bin/env python3
"""How many bugs `--search auto` finds within a budget, beside every engine alone.

    benches/hunts.py BIRK RESULTS [SECONDS] [MUTANTS]

Subjects are models of models/ with constants so large that breadth-first search does not finish, and mutants of them: one operator,
number, guard or step changed by a rule. A bug is a subject that some engine violates within the budget and breadth-first search
does not. Each search runs with one thread; two run at a time. RESULTS has one JSON object a line; what it has already is not run
again, so the bench can be stopped and continued. The summary is printed at the end.
"""
import concurrent.futures, json, os, pathlib, random, re, subprocess, sys, tempfile, time

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
    by = [p.get("by") for p in report["properties"] if p["verdict"] == "violated"]
    return {"verdict": report["verdict"], "seconds": took, "steps": steps[:1], "by": by}


def subjects(number):
    for model, constants in SUBJECTS:
        text = (MODELS / model).read_text()
        yield f"{model} {constants}", model, constants, text
        for name, changed in mutants(text, number, f"{model}{constants}"):
            yield f"{model} {constants} line {name}", model, constants, changed


def examine(birk, subject, seconds):
    name, model, constants, text = subject
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / pathlib.Path(model).name
        path.write_text(text)
        found = {"bfs": run(birk, path, constants, ENGINES["bfs"], seconds)}
        if found["bfs"]["verdict"] == "inconclusive":
            for engine in [engine for engine in ENGINES if engine != "bfs"]:
                found[engine] = run(birk, path, constants, ENGINES[engine], seconds)
    return {"subject": name, "budget": seconds, "found": found}


def summary(rows):
    bugs = [row["found"] for row in rows if any(one["verdict"] == "violated" for e, one in row["found"].items() if e != "bfs") and row["found"]["bfs"]["verdict"] == "inconclusive"]
    print(f"{len(rows)} subjects, {len(bugs)} bugs that bfs does not find")
    times = lambda engine: [bug[engine]["seconds"] for bug in bugs if bug.get(engine, {}).get("verdict") == "violated"]
    best = [min(one["seconds"] for engine, one in bug.items() if engine != "auto" and one["verdict"] == "violated") for bug in bugs if any(one["verdict"] == "violated" for engine, one in bug.items() if engine != "auto")]
    median = lambda all: sorted(all)[len(all) // 2] if all else float("nan")
    print(f"{'virtual best':12} {len(best):4} found, median {median(best):.2f} s")
    for engine in sorted(ENGINES, key=lambda engine: -len(times(engine))):
        found = times(engine)
        print(f"{engine:12} {len(found):4} found, median {median(found):.2f} s")
    wrong = [row["subject"] for row in rows if len({one["verdict"] for one in row["found"].values()} & {"holds", "violated"}) > 1]
    print(f"{len(wrong)} contradictions", *wrong, sep="\n  " if wrong else " ")
    decided = lambda engine: sum(row["found"].get(engine, {}).get("verdict") in ("holds", "violated") for row in rows)
    print("decided:", ", ".join(f"{engine} {decided(engine)}" for engine in ENGINES))


def main():
    birk, results = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10
    number = int(sys.argv[4]) if len(sys.argv) > 4 else 10
    rows = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {row["subject"] for row in rows}
    todo = [subject for subject in subjects(number) if subject[0] not in done]
    random.Random(1).shuffle(todo)
    pool = concurrent.futures.ThreadPoolExecutor(2)
    waiting = [pool.submit(examine, birk, subject, seconds) for subject in todo]
    with results.open("a") as out:
        try:
            for done in concurrent.futures.as_completed(waiting):
                rows.append(done.result())
                out.write(json.dumps(rows[-1]) + "\n")
                out.flush()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True, wait=False)
    summary(rows)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
