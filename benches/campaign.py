#!/usr/bin/env python3
"""What a campaign covers that runs one after the other do not, and whether runs that are killed lose anything.

    benches/campaign.py BIRK [RUNS [SECONDS [KILLS]]]

Ten runs of 20 seconds of a campaign on a model with more states than they can visit, then as many runs without one (each with its
own seed): the depth within which all states were visited, and how many. Then a campaign whose runs are killed (kill -9) at a random
moment, 30 times: no claim may get lost, and in the end its states are those of a search without interruption to the same depth.
"""
import json, pathlib, random, subprocess, sys, tempfile, time

BIRK = str(pathlib.Path(sys.argv[1]).resolve())
RUNS, SECONDS, KILLS = [int(word) for word in sys.argv[2:5]] + [10, 20, 30][len(sys.argv[2:5]):]
MODEL = """system Large {
  const K = 12;
  int (0, 531440) sum;
  active [K] thread Counter(int me) {
    int wrap (0, 7) x;
    while (true) { atomic { x := x + 1; sum := (sum + 3 * (me + 1)) % 531441; } }
  }
  invariant small: sum != 1;
}
"""
OPTIONS = ["--property", "small", "--memory", "2G", "--progress", "off"]


def birk(folder, *words):
    done = subprocess.run([BIRK, *words], capture_output=True, text=True, cwd=folder)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"{words}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def known(folder):
    """The most that a run of a campaign knows: depth and states."""
    if not (pathlib.Path(folder) / "runs" / "campaign.json").exists():
        return 0, 0
    campaign = json.loads(birk(folder, "campaign", "runs", "--format", "json"))
    runs = [(run.get("depth") or 0, run.get("states") or 0) for run in campaign["nights"]]
    return max(runs, default=(0, 0))


def alone(folder, depth):
    report = birk(folder, "check", "m.bir", "--search", "bfs", "--max-depth", str(depth), "--format", "json", *OPTIONS)
    return json.loads(report)["stats"]["states"]


def campaign(folder):
    for number in range(RUNS):
        birk(folder, "check", "m.bir", "--campaign", "runs", "--time", f"{SECONDS}s", *OPTIONS)
        print("campaign, run {}: depth {}, {:,} states".format(number + 1, *known(folder)), flush=True)


def without(folder):
    for number in range(RUNS):
        words = ["--time", f"{SECONDS}s", "--seed", str(number), "--format", "json"]
        report = json.loads(birk(folder, "check", "m.bir", *words, *OPTIONS))
        depth = report["coverage"].get("depth")
        print(f"alone, run {number + 1}: depth {depth}, {report['stats']['states']:,} states", flush=True)


def kills(folder):
    most, chance = (0, 0), random.Random(1)
    for number in range(KILLS):
        words = [BIRK, "check", "m.bir", "--campaign", "runs", "--time", f"{SECONDS}s", *OPTIONS]
        run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        time.sleep(chance.uniform(0.5, SECONDS / 4))
        run.kill()
        run.wait()
        now = known(folder)
        if now < most:
            sys.exit(f"kill {number + 1}: {now} is less than {most}")
        most = now
        if number % 5 == 4:
            # A run that ends says what is known.
            birk(folder, "check", "m.bir", "--campaign", "runs", "--time", "3s", *OPTIONS)
            now = known(folder)
            if now < most:
                sys.exit(f"after kill {number + 1}: {now} is less than {most}")
            most = now
            print("after {} kills: depth {}, {:,} states".format(number + 1, *most), flush=True)
    depth, states = most
    expected = [alone(folder, depth), alone(folder, depth + 1)]
    print(f"without interruption to depth {depth}: {expected[0]:,} states; to the next {expected[1]:,}")
    if states not in expected:
        sys.exit(f"{states} states are not those of a search without interruption")


for part in (campaign, without, kills):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "m.bir").write_text(MODEL)
        part(folder)
