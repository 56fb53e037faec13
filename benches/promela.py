#!/usr/bin/env python3
"""Promela models of others, searched by SPIN and by Birk in turn: the same states, the same verdicts, and what each of them needs.

    benches/promela.py BIRK RESULTS FOLDER... [--seconds N]

Every text below the folders is taken once. SPIN keeps all of a state (`spin -o1 -o2 -o3 -a`, `gcc -O2 -DNOREDUCE`) and has 4 GiB;
runs are one after the other, on one thread. Where both complete that, and no assertion fails, SPIN's treatment of dead variables
(`spin -o3 -a`) is compared with `--reduce dead`, and SPIN with all its defaults, partial-order reduction among them, with
`--reduce auto`: what they say of assertions and end states. RESULTS has one JSON object a line; what it has already is not run again, so the bench
can be stopped and continued. The summary is printed at the end: differences first, then medians of the models for which SPIN's
search takes more than a tenth of a second.
"""
import argparse, hashlib, json, pathlib, re, resource, statistics, subprocess, tempfile, time

ENDINGS = {".pml", ".prom", ".promela", ".pm", ".spin"}
MEMORY = 4 << 30
SAFETY = "-DSAFETY -DNOCLAIM"
FULL = "-DNOREDUCE"


def run(words, folder, seconds):
    """Output, exit code, processor seconds, and whether it came to its end."""
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY * 2, MEMORY * 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               text=True, errors="replace", preexec_fn=limited)
    try:
        output, ended = process.communicate(timeout=seconds)[0], True
    except subprocess.TimeoutExpired:
        process.kill()
        output, ended = process.communicate()[0], False
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"output": output or "", "code": process.returncode, "cpu": cpu, "elapsed": time.time() - began, "ended": ended}


def number(output, before):
    found = re.search(r"([\d.e+]+)\s+" + before, output)
    return float(found.group(1)) if found else None


def verifier(folder, model, options, kept=("-o1", "-o2", "-o3")):
    """Makes `pan`; processor seconds for it, or why there is none."""
    generated = run(["spin", *kept, "-a", model], folder, 120)
    if not (folder / "pan.c").exists() or generated["code"] != 0 or not generated["ended"]:
        return None, generated["output"].strip().split("\n")[-1][:200]
    words = ["gcc", "-O2", "-w", f"-DMEMLIM={MEMORY >> 20}", *options.split(), "-o", "pan", "pan.c"]
    compiled = run(words, folder, 300)
    if compiled["code"] != 0:
        return None, "gcc: " + compiled["output"].strip().split("\n")[0][:200]
    return generated["cpu"] + compiled["cpu"], None


def pan(folder, options, seconds):
    """Its stack is made deeper only where that is needed: a deep one takes half a second by itself."""
    ran = run(["./pan", *options], folder, seconds)
    if "max search depth too small" in ran["output"]:
        ran = run(["./pan", "-m10000000", *options], folder, seconds)
    whole = ran["ended"] and "states, stored" in ran["output"] and not re.search("Search not completed|max search depth|out of memory", ran["output"])
    megabytes = number(ran["output"], "equivalent memory usage")
    return {"complete": bool(whole), "states": number(ran["output"], "states, stored"), "seconds": ran["cpu"],
            "errors": errors(ran["output"]), "megabytes": megabytes, "promise": "reduction invalid" in ran["output"]}


def errors(output):
    found = re.search(r"errors: (\d+)", output)
    return int(found.group(1)) if found else None


def spin(path, seconds):
    """What SPIN says of a model."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for beside in path.parent.iterdir():
            if beside.is_file() and beside.stat().st_size < 1 << 20:
                (folder / beside.name).write_bytes(beside.read_bytes())
        for left in ("pan", "pan.c"):
            (folder / left).unlink(missing_ok=True)
        compiling, why = verifier(folder, path.name, f"{SAFETY} {FULL}")
        if compiling is None:
            return {"refused": why}
        answer = {"compiling": compiling, "states": pan(folder, ["-c0", "-E"], seconds)}
        if not answer["states"]["complete"]:
            return answer
        answer["ends"] = pan(folder, ["-c0", "-A"], seconds)
        formulas = re.findall(r"^\s*ltl\s+(\w+)", path.read_text(errors="replace"), re.M)
        if answer["states"]["errors"] > 0:
            return answer
        # Without `-A`: the claims of `[] p` are assertions, too.
        if formulas and verifier(folder, path.name, FULL)[0] is not None:
            answer["formulas"] = {formula: pan(folder, ["-a", "-E", "-N", formula], seconds) for formula in formulas}
        for what, kept, options in (("dead", ["-o3"], f"{SAFETY} {FULL}"), ("defaults", [], SAFETY)):
            compiling, _ = verifier(folder, path.name, options, kept)
            if compiling is not None:
                answer[what] = {"compiling": compiling, **pan(folder, [], seconds)}
        return answer


def birk(command, path, properties, seconds, *more):
    """What Birk says of it: the report, or why there is none."""
    words = [command, "check", str(path), "--search", "bfs", "--threads", "1", "--format", "json", "--progress", "off", "--memory", "4G"]
    words += ["--time", f"{seconds}s", *[word for name in properties for word in ("--property", name)], *more]
    ran = run(words, path.parent, seconds * 2 + 30)
    try:
        report = json.loads(ran["output"][ran["output"].index("{"):])
    except ValueError:
        return {"refused": (re.search(r"error.*", ran["output"]) or [ran["output"][:200]])[0][:200]}
    found = {entry["name"]: entry["verdict"] for entry in report["properties"]}
    return {"complete": report["coverage"]["kind"] == "complete", "states": report["stats"]["states"], "seconds": ran["cpu"],
            "bytes": report["stats"].get("store_bytes_per_state"), "verdicts": found}


def measure(command, path, seconds):
    answer = {"spin": spin(path, seconds)}
    if "refused" in answer["spin"]:
        return answer
    is_complete = answer["spin"]["states"]["complete"]
    answer["birk"] = birk(command, path, ["fault"], seconds if is_complete else 1, "--keep-going")
    if "refused" in answer["birk"] or not is_complete:
        return answer
    answer["birk_ends"] = birk(command, path, ["deadlock"], seconds)
    for what, reduce in (("dead", "dead"), ("defaults", "auto")):
        if what in answer["spin"]:
            answer[f"birk_{what}"] = birk(command, path, ["fault", "deadlock"], seconds, "--reduce", reduce)
    if "formulas" in answer["spin"]:
        answer["birk_formulas"] = {name: birk(command, path, [name], seconds) for name in answer["spin"]["formulas"]}
    return answer


def difference(answer):
    """How the two differ, in a few words; nothing if they do not."""
    theirs, ours = answer["spin"], answer["birk"]
    if not ours["complete"]:
        return "not complete here"
    is_wrong = {"violated": True, "holds": False}
    failed = is_wrong.get(ours["verdicts"].get("fault"))
    if failed != (theirs["states"]["errors"] > 0):
        return f"assertions: {theirs['states']['errors']} errors, here {ours['verdicts'].get('fault')}"
    if not failed and ours["states"] != theirs["states"]["states"]:
        return f"{theirs['states']['states']:.0f} states, here {ours['states']}"
    ends = answer["birk_ends"]
    if theirs["ends"]["complete"] and not failed:
        stuck = is_wrong.get(ends.get("verdicts", {}).get("deadlock"))
        if stuck != (theirs["ends"]["errors"] > 0):
            return f"end states: {theirs['ends']['errors']} errors, here {ends.get('verdicts')}"
    for name, other in theirs.get("formulas", {}).items():
        verdict = answer["birk_formulas"][name].get("verdicts", {}).get(name)
        if other["errors"] is not None and is_wrong.get(verdict) != (other["errors"] > 0) and (other["complete"] or other["errors"]):
            return f"ltl {name}: {other['errors']} errors, here {verdict or answer['birk_formulas'][name]}"
    for what in ("dead", "defaults"):
        other, mine = theirs.get(what, {}), answer.get(f"birk_{what}", {})
        if other.get("promise"):
            return f"{what}: SPIN says that its reduction is invalid, because the model does not keep `xr` or `xs`"
        failed = "violated" in mine.get("verdicts", {}).values()
        if other.get("errors") is not None and failed != (other["errors"] > 0) and (other["complete"] or other["errors"]):
            return f"{what}: {other['errors']} errors, here {mine}"
    return None


def summary(known):
    accepted = {name: answer for name, answer in known.items() if "refused" not in answer["spin"]}
    read = {name: answer for name, answer in accepted.items() if "refused" not in answer["birk"]}
    complete = {name: answer for name, answer in read.items() if answer["spin"]["states"]["complete"]}
    print(f"{len(known)} texts, SPIN accepts {len(accepted)}, of which Birk reads {len(read)}")
    for name in sorted(accepted.keys() - read.keys()):
        print(f"  not read: {name}: {accepted[name]['birk']['refused']}")
    different = {name: why for name, answer in complete.items() if (why := difference(answer))}
    formulas = sum(len(answer["spin"].get("formulas", {})) for answer in complete.values())
    print(f"SPIN completes {len(complete)}, with {formulas} formulas; equal: {len(complete) - len(different)}")
    for name, why in sorted(different.items()):
        print(f"  {name}: {why}")
    reduced([answer for name, answer in complete.items() if name not in different])
    timed = [answer for name, answer in complete.items() if name not in different and answer["spin"]["states"]["seconds"] > 0.1]
    ratios = {
        "processor time of the search": lambda a: a["spin"]["states"]["seconds"] / a["birk"]["seconds"],
        "to the answer, with SPIN's compilation": lambda a: (a["spin"]["states"]["seconds"] + a["spin"]["compiling"]) / a["birk"]["seconds"],
        "bytes a state": lambda a: a["spin"]["states"]["megabytes"] * 2**20 / a["spin"]["states"]["states"] / a["birk"]["bytes"],
    }
    for least in (1_000, 10_000, 100_000, 1_000_000):
        chosen = [answer for answer in timed if answer["birk"]["states"] >= least and answer["birk"]["bytes"] and answer["spin"]["states"]["megabytes"]]
        print(f"models of at least {least} states, more than 0.1 s in SPIN: {len(chosen)}")
        for what, ratio in ratios.items():
            values = sorted(map(ratio, chosen))
            if values:
                print(f"  {what}: SPIN / Birk median {statistics.median(values):.1f} ({values[0]:.2f} to {values[-1]:.1f})")


def reduced(complete):
    """How many states are left where both leave some out, over the models in which both complete that."""
    for what, said in (("dead", "dead variables: `spin -o3` / `--reduce dead`"), ("defaults", "all reductions: `spin -a` / `--reduce auto`")):
        pairs = [(a["spin"][what], a[f"birk_{what}"]) for a in complete if a["spin"].get(what, {}).get("complete")
                 and a.get(f"birk_{what}", {}).get("complete")]
        if pairs:
            fewer, equal = sum(b["states"] < a["states"] for a, b in pairs), sum(b["states"] == a["states"] for a, b in pairs)
            sums = [sum(one["states"] for one in side) for side in zip(*pairs)]
            slow = [a["seconds"] / b["seconds"] for a, b in pairs if a["seconds"] > 0.1]
            median = f", processor time median {statistics.median(slow):.1f} in {len(slow)} above 0.1 s" if slow else ""
            print(f"{said}: {len(pairs)} models, {sums[0]:.0f} / {sums[1]} states, fewer here in {fewer}, equal in {equal}{median}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("birk")
    arguments.add_argument("results", type=pathlib.Path)
    arguments.add_argument("folders", nargs="*", type=pathlib.Path)
    arguments.add_argument("--seconds", type=int, default=120)
    asked = arguments.parse_args()
    lines = asked.results.read_text().splitlines() if asked.results.exists() else []
    known = {row["name"]: row["answer"] for row in map(json.loads, lines)}
    texts = {}
    for folder in asked.folders:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file()):
            texts.setdefault(hashlib.sha256(path.read_bytes()).digest(), (f"{folder.name}/{path.relative_to(folder)}", path))
    for name, path in sorted(texts.values()):
        if name not in known:
            known[name] = measure(asked.birk, path.resolve(), asked.seconds)
            with asked.results.open("a") as results:
                print(json.dumps({"name": name, "answer": known[name]}), file=results)
    summary(known)


main()
