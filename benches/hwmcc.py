#!/usr/bin/env python3
"""What IC3 decides of a folder of circuits, beside ABC's `pdr`: answers, wrong answers, times.

    benches/hwmcc.py BIRK FOLDER OUT [--seconds N] [--every N] [--first N] [--known FILE] [--budget SECONDS] [--table]
        [--plot FILE]

FOLDER has files in AIGER (.aig, .aag), with one bad state property each. OUT is a file of JSON lines, one for each file and tool; what
is there already is not run again, so that a run which was broken off goes on where it was. --known has a line for each file with its path
below FOLDER and `sat` or `unsat`; other files are left out then. --every N takes every Nth file, --first says which of these comes first.
With --budget no run is begun that could end later. --table prints the table of what OUT has, and runs nothing. ABC is `berkeley-abc` of Debian.
--plot draws how many files each tool has decided within how many seconds.

Without --known, an answer counts as wrong where both tools decide and do not agree.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import time

TOOLS = ("birk", "abc")
# Beyond the limit that a tool is given: to read the file, to check what was found, to end.
GRACE = 15


def command(tool, birk, path, seconds):
    if tool == "birk":
        return [birk, "check", str(path), "--search", "ic3", "--time", f"{seconds}s", "--format", "json"]
    # `&r` gives latches without a reset value free inputs; `zero` would begin them with 0.
    return ["berkeley-abc", "-c", f"&r {path}; &put; fold; pdr -T {seconds}"]


def answer(tool, code, output):
    """`sat` where the bad is reached, `unsat` where it cannot be, or why there is no answer."""
    if tool == "abc":
        if "Property proved" in output:
            return "unsat"
        return "sat" if re.search(r"was asserted in frame", output) else "unknown"
    if code == 0:
        return "unsat"
    if code == 1:
        return "sat"
    return "unknown" if code == 3 else f"exit {code}"


def run(tool, birk, path, seconds):
    begin = time.monotonic()
    try:
        done = subprocess.run(command(tool, birk, path, seconds), capture_output=True, timeout=seconds + GRACE)
        output = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        found = answer(tool, done.returncode, output)
    except subprocess.TimeoutExpired:
        found = "late"
    return found, round(time.monotonic() - begin, 2)


def circuits(folder, known, every, first):
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".aig", ".aag"))
    if known:
        files = [path for path in files if str(path.relative_to(folder)) in known]
    return files[first::every]


def read(path):
    rows = {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            rows[row["file"], row["tool"], row["seconds"]] = row
    return rows


def table(rows, known):
    files = sorted({file for file, _, _ in rows})
    found = {tool: {file: row for (file, of, _), row in rows.items() if of == tool} for tool in TOOLS}
    decided = lambda tool, file: found[tool].get(file, {}).get("answer") in ("sat", "unsat")
    wrong = {tool: [] for tool in TOOLS}
    for file in files:
        answers = {found[tool][file]["answer"] for tool in TOOLS if decided(tool, file)}
        for tool in TOOLS:
            if decided(tool, file) and (known.get(file, found[tool][file]["answer"]) != found[tool][file]["answer"] or
                                        file not in known and len(answers) > 1):
                wrong[tool].append(file)
    print(f"| {len(files)} files | " + " | ".join(TOOLS) + " |")
    print("|---|---|---|")
    for what in ("unsat", "sat"):
        counts = [sum(row["answer"] == what for row in found[tool].values()) for tool in TOOLS]
        print(f"| {'proved' if what == 'unsat' else 'bad reached'} | " + " | ".join(map(str, counts)) + " |")
    print("| not decided | " + " | ".join(str(sum(not decided(tool, file) for file in files)) for tool in TOOLS) + " |")
    print("| wrong | " + " | ".join(str(len(wrong[tool])) for tool in TOOLS) + " |")
    alone = [sum(decided(tool, file) and not decided(other, file) for file in files) for tool, other in (TOOLS, TOOLS[::-1])]
    print("| decided by this one alone | " + " | ".join(map(str, alone)) + " |")
    both = [file for file in files if all(decided(tool, file) for tool in TOOLS)]
    if both:
        medians = [statistics.median(found[tool][file]["time"] for file in both) for tool in TOOLS]
        print(f"| median seconds of the {len(both)} that both decide | " + " | ".join(f"{one:.2f}" for one in medians) + " |")
    for tool in TOOLS:
        for file in wrong[tool]:
            print(f"wrong: {tool} says {found[tool][file]['answer']} of {file}")
        odd = {row["answer"] for row in found[tool].values()} - {"sat", "unsat", "unknown"}
        for what in sorted(odd):
            print(f"{tool}: {what}: " + " ".join(file for file in files if found[tool].get(file, {}).get("answer") == what))
    return sum(map(len, wrong.values()))


def plot(rows, seconds):
    """A step for each file that a tool decides, over the seconds it took; tenths of a second and less are one."""
    left, right, top, bottom = 50, 560, 30, 270
    times = {tool: sorted(row["time"] for (_, of, _), row in rows.items() if of == tool and row["answer"] in ("sat", "unsat"))
             for tool in TOOLS}
    most = max(map(len, times.values()))
    x = lambda time: left + (right - left) * math.log10(max(time, 0.1) / 0.1) / math.log10(seconds * 1.25 / 0.1)
    y = lambda count: bottom - (bottom - top) * count / most
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 310" width="640" height="310" font-family="sans-serif" '
           'font-size="12" fill="#222" role="img" aria-label="Circuits decided over seconds">',
           '<rect width="640" height="310" fill="white"/>', '<text x="50" y="18" font-weight="bold">circuits decided</text>']
    for count in range(0, most + 1, 10):
        out.append(f'<line x1="{left}" x2="{right}" y1="{y(count):.1f}" y2="{y(count):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y(count) + 4:.1f}" text-anchor="end">{count}</text>')
    for time in (0.1, 1, 10, seconds):
        out.append(f'<text x="{x(time):.1f}" y="{bottom + 18}" text-anchor="middle">{time:g}</text>')
    out.append(f'<text x="{right}" y="{bottom + 34}" text-anchor="end">seconds</text>')
    for (tool, name, colour) in (("birk", "ic3", "#1b6ca8"), ("abc", "ABC pdr", "#c0392b")):
        points = [(x(0.1), y(0))]
        for count, time in enumerate(times[tool], 1):
            points += [(x(time), y(count - 1)), (x(time), y(count))]
        points.append((right, y(len(times[tool]))))
        line = " ".join(f"{one:.1f},{other:.1f}" for one, other in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{right + 6}" y="{points[-1][1] + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*out, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("birk")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--known", type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--tool", action="append", choices=TOOLS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--plot", type=pathlib.Path)
    args = parser.parse_args()
    known = dict(line.split() for line in args.known.read_text().splitlines()) if args.known else {}
    rows, begin = read(args.out), time.monotonic()
    for path in [] if args.table else circuits(args.folder, known, args.every, args.first):
        for tool in args.tool or TOOLS:
            file = str(path.relative_to(args.folder))
            if (file, tool, args.seconds) in rows or time.monotonic() - begin + args.seconds > args.budget:
                continue
            found, took = run(tool, args.birk, path, args.seconds)
            row = {"file": file, "tool": tool, "seconds": args.seconds, "answer": found, "time": took}
            rows[file, tool, args.seconds] = row
            with args.out.open("a") as out:
                out.write(json.dumps(row) + "\n")
    if args.plot:
        args.plot.write_text(plot(rows, args.seconds))
    sys.exit(1 if table(rows, known) else 0)


if __name__ == "__main__":
    main()
