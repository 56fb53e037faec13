#!/usr/bin/env python3
"""Whether a search that is kept in an object store survives the loss of its processes, and what it asks of the store.

    pip install 'moto[server]'
    cargo build --release -p birk-cli --features object-store
    benches/objects.py target/release/birk [KILLS] [MODEL AND OPTIONS…]

Starts moto_server (a stand-in for S3; MOTO_SERVER names it if it is not on the path) on this machine. Each trial starts a search by
several processes with --checkpoint s3://…, kills one of them (kill -9) at a random moment, and lets another number of processes go on,
which are killed once more every other time; the last ones go on to the end. So it is done KILLS times (12), half as often for each of
disk and bfs. Counts and verdicts must be those of an undisturbed bfs.
"""
import collections, json, os, pathlib, random, re, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.error, urllib.parse, urllib.request

BIRK, ARGS = sys.argv[1], sys.argv[2:]
KILLS = int(ARGS[0]) if ARGS else 12
MODEL = ARGS[1:] or ["models/counters_mod8.bir", "-D", "K=6"]
OUTPUT = ["--format", "json", "--progress", "off"]
BUCKET = "birk"


def essence(text):
    report = json.loads(text)
    stats = report["stats"]
    verdicts = [(one["name"], one["verdict"]) for one in report["properties"]]
    return stats["states"], stats["transitions"], stats["max_depth"], report["coverage"], verdicts


class Store:
    """A server that keeps objects as long as it runs, and writes a line for each request."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = folder / "requests"
        program = os.environ.get("MOTO_SERVER") or shutil.which("moto_server")
        if not program:
            sys.exit("moto_server is missing: pip install 'moto[server]', or name it in MOTO_SERVER")
        with open(self.log, "wb") as log:
            self.server = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(self.port)], stdout=log, stderr=log)
        until = time.time() + 60
        while time.time() < until:
            try:
                self.request("PUT", "")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        else:
            sys.exit("moto_server does not answer")
        self.environment = os.environ | {
            "AWS_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nothing",
        }

    def request(self, method, name):
        credential = "AWS4-HMAC-SHA256 Credential=nobody/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
        address = f"http://127.0.0.1:{self.port}/{BUCKET}{name}"
        request = urllib.request.Request(address, method=method, headers={"Authorization": credential})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def has(self, name):
        try:
            self.request("HEAD", f"/{name}")
            return True
        except urllib.error.HTTPError:
            return False

    def objects(self, prefix):
        """How many there are below a prefix, and their bytes."""
        count = size = 0
        token = ""
        while True:
            page = self.request("GET", f"?list-type=2&prefix={prefix}/{token}")
            sizes = [int(number) for number in re.findall(r"<Size>(\d+)</Size>", page)]
            count, size = count + len(sizes), size + sum(sizes)
            more = re.search(r"<NextContinuationToken>(.*?)</NextContinuationToken>", page)
            if not more:
                return count, size
            token = "&continuation-token=" + urllib.parse.quote(more.group(1))

    def requests(self):
        """How many requests there were, by method; a listing is one of its own."""
        found = collections.Counter()
        for method, path in re.findall(r'"(?:\x1b\[[0-9;]*m)*([A-Z]+) (\S+) HTTP', self.log.read_text(errors="replace")):
            found["LIST" if "list-type=2" in path else method] += 1
        return found


def descendants(process):
    """The ranks that `birk cluster` has started."""
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
    return [int(word) for word in out.split()]


def start(words, store):
    return subprocess.Popen([BIRK, *words, *OUTPUT], env=store.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kill_one(words, store, draw, longest):
    """Starts processes and kills one of them; whether it was still running."""
    process = start(words, store)
    time.sleep(draw.uniform(0.02, longest))
    victims = descendants(process) if words[0] == "cluster" else [process.pid]
    ran = process.poll() is None and bool(victims)
    if ran:
        os.kill(draw.choice(victims), signal.SIGKILL)
    _, error = process.communicate(timeout=120)
    assert process.returncode in (0, 1, 3, 4, -signal.SIGKILL), (process.returncode, error.decode())
    assert b"panicked" not in error and b"bug in Birk" not in error, error.decode()
    return ran


def finished(words, store):
    """Goes on to the end. What a killed process has sent may arrive just now, and then it is done once more."""
    for attempt in range(3):
        output, error = start(words, store).communicate(timeout=600)
        if b"another process writes to it" not in error:
            break
    return (essence(output) if output else None), error.decode(), attempt


def one_trial(engine, number, store, draw, longest):
    """Kills one or two runs, and goes on to the end: how many were killed, and what was found."""
    name = f"{engine}-{number}"
    address = f"s3://{BUCKET}/{name}"
    is_cluster, killed = engine == "cluster", 0
    processes = 2
    begin = ["cluster", "up", "-n", "2"] if is_cluster else ["check"]
    search = [] if is_cluster else ["--search", engine]
    words = [*begin, *MODEL, *search, "--checkpoint", address]
    for _ in range(1 + number % 2):
        killed += kill_one(words, store, draw, longest)
        if store.has(f"{name}/search.birk"):
            # Another number than before.
            processes = draw.choice([other for other in (2, 3, 4) if other != processes])
            words = ["cluster", "resume", "-n", str(processes), address] if is_cluster else ["resume", address]
    if is_cluster and words[1] == "resume" and draw.random() < 0.3:
        words, processes = ["resume", address], 1
    found, error, again = finished(words, store)
    return killed, found, error, again, (words[-1] == address and "resume" in words[:2], processes)


def whole(engine, store, place):
    """An undisturbed search: how long it takes."""
    began = time.time()
    words = ["cluster", "up", "-n", "2", *MODEL] if engine == "cluster" else ["check", *MODEL, "--search", engine]
    output, error = start([*words, *place], store).communicate(timeout=600)
    assert output, error.decode()
    return time.time() - began, essence(output)


def main():
    draw = random.Random(19)
    alone = subprocess.run([BIRK, "check", *MODEL, "--search", "bfs", *OUTPUT], capture_output=True, text=True)
    expected = essence(alone.stdout)
    print(f"{' '.join(MODEL)}: {expected[0]} states, {expected[2]} levels after the first", flush=True)
    is_equal, times = True, {}
    with tempfile.TemporaryDirectory() as name:
        store = Store(pathlib.Path(name))
        try:
            for engine in ["bfs", "disk", "cluster"]:
                plain, found = whole(engine, store, [])
                assert found == expected, (engine, found)
                before = store.requests()
                times[engine], found = whole(engine, store, ["--checkpoint", f"s3://{BUCKET}/whole-{engine}"])
                assert found == expected, (engine, found)
                asked = store.requests() - before
                count, size = store.objects(f"whole-{engine}")
                print(
                    f"{engine}: {plain:.1f} s, in the store {times[engine]:.1f} s; {count} objects, {size / expected[0]:.2f} bytes a state; "
                    + ", ".join(f"{number} {method}" for method, number in sorted(asked.items())),
                    flush=True,
                )
                before = store.requests()
                began = time.time()
                found, error, _ = finished(["resume", f"s3://{BUCKET}/whole-{engine}"], store)
                assert found == expected, (engine, found, error)
                asked = store.requests() - before
                print(
                    f"{engine}: taken up at its end by one process in {time.time() - began:.1f} s; "
                    + ", ".join(f"{number} {method}" for method, number in sorted(asked.items())),
                    flush=True,
                )
            for engine, kills in [("cluster", KILLS), ("disk", KILLS // 2), ("bfs", KILLS // 2)]:
                trials = killed = equal = again = resumed = 0
                while killed < kills:
                    hit, found, error, more, (is_resumed, processes) = one_trial(engine, trials, store, draw, times[engine])
                    trials, killed, equal, again = trials + 1, killed + hit, equal + (found == expected), again + more
                    resumed += is_resumed
                    if found != expected:
                        print(f"{engine}, trial {trials}: DIFFERENT with {processes} processes at last: {found}\n{error}", flush=True)
                is_equal &= equal == trials
                print(f"{engine}: {killed} kills of running processes in {trials} searches, of which {resumed} were taken up; {equal} of {trials} equal; {again} ends were begun again", flush=True)
        finally:
            store.server.terminate()
            store.server.wait()
    sys.exit(0 if is_equal else 1)


main()
