#!/usr/bin/env python3
"""Whether a search by several processes survives the loss of any of them.

    benches/kills.py BIRK [TRIALS] [MODEL AND OPTIONS…]

Each trial starts 2 to 4 processes with --checkpoint, kills one of them (kill -9) at a random moment, and measures how long the others
need to end; every third trial kills when a worker has written its part of a level and the level is not complete. Then 1 to 4
processes go on, every other time killed once more, and the last ones to the end. Counts and verdicts must be those of breadth-first
search by one process.
"""
import json, os, pathlib, random, subprocess, sys, tempfile, time

BIRK, ARGS = sys.argv[1], sys.argv[2:]
TRIALS = int(ARGS[0]) if ARGS else 20
MODEL = ARGS[1:] or ["models/counters_mod8.bir", "-D", "K=7"]
ENVIRONMENT = os.environ | {"BIRK_CLUSTER_TOKEN": "a token for these trials only"}


def essence(text):
    report = json.loads(text)
    stats = report["stats"]
    verdicts = [(one["name"], one["verdict"]) for one in report["properties"]]
    return stats["states"], stats["transitions"], stats["max_depth"], report["coverage"], verdicts


def start(words, processes, folder, port):
    """Starts all ranks."""
    hosts = folder / "hosts"
    hosts.write_text("".join(f"127.0.0.1:{port + rank}\n" for rank in range(processes)))
    options = ["--cluster", hosts, "--threads", "1", "--progress", "off", "--format", "json"]
    return [
        subprocess.Popen([BIRK, *words, *options, "--rank", str(rank)], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for rank in range(processes)
    ]


def wait_between(folder, kept, until):
    """Waits for a moment when a part was written later than the last entry of the log."""
    log = kept / "levels.log"
    while time.time() < until:
        try:
            parts = [path.stat().st_mtime_ns for path in kept.glob("*-levels.run")]
            if parts and log.stat().st_size > 300 and max(parts) > log.stat().st_mtime_ns:
                return True
        except FileNotFoundError:
            pass
    return False


def kill_one(children, draw, folder, kept, longest, is_between):
    """Kills one; whether it ran, whether that was between a part and its entry, and how long the others needed to end."""
    between = False
    if is_between:
        time.sleep(draw.uniform(0.2, longest * 0.7))
        between = wait_between(folder, kept, time.time() + 2)
    else:
        time.sleep(draw.uniform(0.05, longest))
    victim = draw.randrange(len(children))
    ran = all(child.poll() is None for child in children)
    children[victim].kill()
    began = time.time()
    outputs = [child.communicate() for child in children]
    took = time.time() - began
    codes = [child.returncode for rank, child in enumerate(children) if rank != victim]
    if ran and any(code != 3 for code in codes):
        # It may have ended just before.
        assert all(code in (0, 3) for code in codes), (codes, outputs)
    # Who waits for others to come does so for --cluster-wait.
    is_waited_for = any(b"see that it is started" in error for _, error in outputs)
    return ran, between and ran, 0.0 if is_waited_for else took


def main():
    alone = subprocess.run([BIRK, "check", *MODEL, "--search", "bfs", "--format", "json", "--progress", "off"], capture_output=True, text=True)
    expected = essence(alone.stdout)
    draw, port = random.Random(7), 23000
    whole = time.time()
    with tempfile.TemporaryDirectory() as name:
        words = ["check", *MODEL]
        outputs = [child.communicate() for child in start(words, 2, pathlib.Path(name), port)]
        assert essence(outputs[0][0]) == expected, outputs
    whole = time.time() - whole
    running = between = equal = 0
    slowest = 0.0
    for trial in range(TRIALS):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            kept = folder / "kept"
            words, kills = ["check", *MODEL, "--checkpoint", kept], 1 + trial % 2
            for kill in range(kills):
                port = 23000 + (port - 23000 + 8) % 5000
                children = start(words, draw.randint(2, 4), folder, port)
                ran, was_between, took = kill_one(children, draw, folder, kept, whole, trial % 3 == 2 and kill == 0)
                running, between = running + ran, between + was_between
                slowest = max(slowest, took) if ran else slowest
                if (kept / "search.birk").exists():
                    words = ["resume", kept]
            port = 23000 + (port - 23000 + 8) % 5000
            processes = draw.randint(1, 4)
            if processes == 1 and words[0] == "resume":
                last = subprocess.run([BIRK, *words, "--format", "json", "--progress", "off"], capture_output=True, env=ENVIRONMENT)
                output, error = last.stdout, last.stderr
            else:
                output, error = [child.communicate() for child in start(words, max(processes, 2), folder, port)][0]
            same = bool(output) and essence(output) == expected
            equal += same
            print(f"trial {trial}: {'equal' if same else 'DIFFERENT'} after {kills} kills, {processes} processes at last", flush=True)
            if not same:
                print(error.decode(), output.decode()[:300])
    print(f"{equal} of {TRIALS} equal; {running} kills hit a running search of {whole:.1f} s, {between} between a part and its level; the others ended within {slowest:.2f} s")
    sys.exit(0 if equal == TRIALS else 1)


main()
