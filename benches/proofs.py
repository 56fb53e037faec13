#!/usr/bin/env python3
"""What IC3 proves of models, beside ABC's `pdr` on the circuit of the same model: processor seconds of both, one after the other.

    benches/proofs.py BIRK [--seconds N] [--alone]

A row is a property of a model that ABC proves within ten seconds, or, with --alone, one that it does not. ABC is `berkeley-abc` of Debian;
its circuit is what `birk graph --format aiger` writes. What Birk proves counts after its certifier has accepted it, which is a part of
its time. The last line says how many rows took Birk more than five times as long as ABC.
"""
import argparse, pathlib, re, resource, subprocess, sys, tempfile

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
ROWS = [
    ("peers/phil", ["N=13"], "deadlock"), ("peers/phil", ["N=50"], "deadlock"), ("peers/phil", ["N=100"], "deadlock"),
    ("peers/phil", ["N=200"], "deadlock"), ("peers/phil", ["N=50"], "forks_are_exclusive"),
    ("peers/phil", ["N=100"], "forks_are_exclusive"), ("german", ["N=4"], "coherent"), ("german", ["N=6"], "coherent"),
    ("peers/peterson", ["N=4"], "mutex"), ("peers/peterson", ["N=6"], "deadlock"), ("paxos", [], "agreement"),
    ("peers/ring", ["N=6"], "one_leader"), ("peers/ring", ["N=6"], "fault"), ("beem/bakery", [], "mutex"), ("beem/lamport", [], "mutex"),
    ("beem/mcs", [], "mutex"), ("beem/at", [], "deadlock"), ("beem/fischer", [], "deadlock"), ("beem/szymanski", [], "deadlock"),
]
ALONE = [
    ("german", ["N=8"], "coherent"), ("german", ["N=12"], "coherent"), ("german", ["N=16"], "coherent"),
    ("peers/peterson", ["N=5"], "mutex"), ("peers/phil", ["N=200"], "forks_are_exclusive"), ("peers/phil", ["N=1000"], "deadlock"),
]


def run(words, seconds):
    """What is printed, and processor seconds; a process that takes three times as long by the clock is ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        done = subprocess.run(words, capture_output=True, timeout=3 * seconds, preexec_fn=limit)
        output = done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        output = ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def circuit(birk, model, file):
    """Writes the circuit of a model; the numbers of its bads."""
    file.write_bytes(subprocess.run([birk, "graph", *model, "--format", "aiger"], capture_output=True, check=True).stdout)
    text = subprocess.run([birk, "graph", *model, "--format", "aag"], capture_output=True, check=True).stdout.decode()
    return {name: int(number) for number, name in re.findall(r"^b(\d+) (.*)$", text, re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("birk")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    birk, slow, left = str(pathlib.Path(asked.birk).resolve()), 0, 0
    print("| model | property | clauses | Birk | ABC | Birk / ABC |\n|---|---|---|---|---|---|")
    for name, constants, about in ALONE if asked.alone else ROWS:
        model = [str(MODELS / f"{name}.bir"), *[word for constant in constants for word in ("-D", constant)]]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.aig"
            number = circuit(birk, model, file)[about]
            theirs = run(["berkeley-abc", "-c", f"&r {file}; &put; cone -s -O {number}; scleanup; pdr -T {asked.seconds}"], asked.seconds)
        ours = run([birk, "check", *model, "--search", "ic3", "--property", about, "--progress", "off"], asked.seconds)
        clauses = re.search(r"inductive invariant of ([\d,]+) clauses?", ours[0])
        is_proved = [ours[0].startswith("holds"), "Property proved" in theirs[0]]
        shown = [f"{seconds:.2f}" if proved else "not proved" for proved, (_, seconds) in zip(is_proved, (ours, theirs))]
        ratio = f"{ours[1] / theirs[1]:.2f}" if all(is_proved) else ""
        slow += all(is_proved) and ours[1] > 5 * theirs[1]
        left += is_proved[1] and not is_proved[0]
        words = " ".join([name, *constants])
        print(f"| `{words}` | `{about}` | {clauses.group(1) if clauses else ''} | {' | '.join(shown)} | {ratio} |", flush=True)
    print(f"\nmore than five times ABC: {slow}; proved by ABC alone: {left}")
    sys.exit(1 if slow or left else 0)


main()
