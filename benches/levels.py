#!/usr/bin/env python3
"""What level files of a search by several processes cost, and how long it takes to load them.

    benches/levels.py BIRK [REPETITIONS] [MODEL AND OPTIONS…]

In turn: two processes without --checkpoint, two with it, and two that resume the finished search, which load every level and have
nothing left to search. Processor time is that of all processes. Prints each repetition, and the medians of the ratios.
"""
import json, os, pathlib, resource, statistics, subprocess, sys, tempfile, time

BIRK, ARGS = sys.argv[1], sys.argv[2:]
REPETITIONS = int(ARGS[0]) if ARGS else 3
MODEL = ARGS[1:] or ["models/counters_mod8.bir", "-D", "K=8"]
OPTIONS = ["--progress", "off", "--format", "json"]


def run(words):
    """Runs to the end: processor seconds of all processes, seconds by the clock, and the report."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([BIRK, "cluster", *words, *OPTIONS], capture_output=True, text=True)
    elapsed, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"{words}: exit code {done.returncode}: {done.stderr}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, elapsed, json.loads(done.stdout)


def counts(report):
    stats = report["stats"]
    return stats["states"], stats["transitions"], stats["max_depth"]


ratios = {"processor time with level files / without": [], "loading / search by the clock": [], "bytes a state": []}
for repetition in range(REPETITIONS):
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(folder) / "search"
        plain = run(["up", "-n", "2", *MODEL])
        saved = run(["up", "-n", "2", *MODEL, "--checkpoint", str(kept)])
        size = sum(path.stat().st_size for path in kept.iterdir())
        loaded = run(["resume", "-n", "2", str(kept)])
    if not counts(plain[2]) == counts(saved[2]) == counts(loaded[2]):
        sys.exit(f"they differ: {[counts(one[2]) for one in (plain, saved, loaded)]}")
    figures = saved[0] / plain[0], loaded[1] / saved[1], size / counts(plain[2])[0]
    for name, figure in zip(ratios, figures):
        ratios[name].append(figure)
    seconds = ", ".join(f"{one[0]:.1f} s ({one[1]:.1f} s by the clock)" for one in (plain, saved, loaded))
    print(f"{counts(plain[2])[0]:,} states: without, with, loaded: {seconds}; {size:,} bytes", flush=True)
for name, figures in ratios.items():
    print(f"{name}: {statistics.median(figures):.2f} ({min(figures):.2f} to {max(figures):.2f})")
