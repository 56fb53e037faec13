//! Several processes that check a model together: they find what one finds; and when one of them is killed, stopped, missing or another
//! than expected, all end, with a sentence, and none with an answer.
#![cfg(feature = "cluster")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::binary::{self, BIRK, birk, command, essence, folder};

const TOKEN: &str = "a token that only these tests have";
/// Long enough that a process can be killed in the middle.
const LONG: &str = "models/counters_mod8.bir -D K=9";
/// All processes must have ended after this.
const MOST: Duration = Duration::from_secs(30);

/// Free ports below those that the system gives to connections, another part of them for each test.
fn hosts(folder: &Path, part: u16, count: usize) -> PathBuf {
    let ports = (0..1000).map(|port| 21_000 + part * 500 + (port + std::process::id() as u16 % 400) % 500);
    let held: Vec<_> =
        ports.filter_map(|port| Some((port, TcpListener::bind(("0.0.0.0", port)).ok()?))).take(count).collect();
    let path = folder.join("hosts");
    let lines: String = held.iter().map(|(port, _)| format!("127.0.0.1:{port}\n")).collect();
    fs::write(&path, lines).expect("it can be written");
    path
}

/// One process of a cluster, which says on standard error why it ends.
fn start(model: &str, hosts: &Path, rank: usize) -> Command {
    let options = format!("check {model} --cluster {} --rank {rank} --threads 1 --progress off", hosts.display());
    let mut command = command(BIRK);
    command.args(options.split_whitespace()).env("BIRK_CLUSTER_TOKEN", TOKEN);
    command
}

fn spawn(mut command: Command) -> Child {
    command.spawn().expect("it can be started")
}

/// Waits until a process has ended, within what is left of the time: its code and what it said.
#[track_caller]
fn ended(mut child: Child, since: Instant, most: Duration) -> (Option<i32>, String) {
    while child.try_wait().expect("it can be waited for").is_none() {
        if since.elapsed() >= most {
            let _ = child.kill();
            panic!("a process is still there after {most:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it has ended");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (output.status.code(), text)
}

#[test]
fn several_processes_find_what_one_finds() {
    for (model, processes) in [
        ("models/counters_mod8.bir -D K=4", 2),
        ("models/peterson_reordered.bir --keep-going", 3),
        ("models/level_exchange.bir -D BUG=2", 2),
        ("models/usb_stack.bir -D BUG=1 -D ADDRESSES=4 -D LOG=1 --max-depth 12", 3),
    ] {
        let alone = birk(&format!("check {model} --format json --progress off"));
        let together = birk(&format!("cluster up -n {processes} {model} --format json"));
        assert_eq!(together.code, alone.code, "{model}: {}", together.err);
        assert_eq!(essence(&together.json()), essence(&alone.json()), "{model}");
    }
}

/// Starts three processes, does something to the last of them when they search, and hears how the others end.
fn disturbed(name: &str, part: u16, disturb: &str) -> [(Option<i32>, String, Duration); 2] {
    let folder = folder(name);
    let hosts = hosts(&folder, part, 3);
    let [first, second, third] = [0, 1, 2].map(|rank| spawn(start(LONG, &hosts, rank)));
    std::thread::sleep(Duration::from_secs(3));
    let since = Instant::now();
    let id = third.id().to_string();
    assert!(Command::new("kill").args([disturb, &id]).status().is_ok_and(|status| status.success()));
    let heard = [first, second].map(|child| {
        let (code, text) = ended(child, since, MOST);
        (code, text, since.elapsed())
    });
    let _ = Command::new("kill").args(["-KILL", &id]).status();
    let _ = ended(third, since, 2 * MOST);
    heard
}

#[test]
fn a_killed_process_ends_the_others() {
    for (code, text, after) in disturbed("cluster-killed", 0, "-KILL") {
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("birk: rank 2 (127.0.0.1:") && text.contains("was lost"), "{text}");
        assert!(
            text.contains("start all ranks again") && !text.contains("holds") && !text.contains("panicked"),
            "{text}"
        );
        assert!(after < Duration::from_secs(5), "{after:?}");
    }
}

#[test]
fn a_stopped_process_ends_the_others() {
    for (code, text, _) in disturbed("cluster-stopped", 1, "-STOP") {
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("birk: rank 2 (127.0.0.1:") && text.contains("was lost"), "{text}");
    }
}

/// Killed when some levels are complete, the first rank or another; then with other numbers of processes, and by one alone.
#[test]
fn a_lost_search_goes_on_with_other_processes() {
    const MODEL: &str = "models/counters_mod8.bir -D K=6";
    let alone = essence(&birk(&format!("check {MODEL} --format json --progress off")).json());
    for (killed, resume) in [(0, "cluster resume -n 3"), (1, "resume")] {
        let folder = folder(&format!("cluster-kept-{killed}"));
        let (hosts, kept) = (hosts(&folder, 7 + killed as u16, 2), folder.join("kept"));
        let model = format!("{MODEL} --checkpoint {}", kept.display());
        let mut children: Vec<Child> = (0..2).map(|rank| spawn(start(&model, &hosts, rank))).collect();
        let since = Instant::now();
        let levels = || fs::metadata(kept.join("levels.log")).map_or(0, |file| file.len());
        while levels() < 600 && since.elapsed() < MOST {
            std::thread::sleep(Duration::from_millis(1));
        }
        children[killed].kill().expect("it can be killed");
        let (code, text) = ended(children.remove(1 - killed), since, MOST);
        assert_eq!(code, Some(3), "{text}");
        let next = format!("with `birk resume {} --cluster {}` on every rank", kept.display(), hosts.display());
        assert!(text.contains("resume from level ") && text.contains(&next), "{text}");
        let _ = children.remove(0).wait();
        let mut start_again = start(&model, &hosts, 0);
        start_again.args(["--cluster-wait", "1s"]);
        let (code, text) = ended(spawn(start_again), Instant::now(), MOST);
        assert!(code == Some(2) && text.contains("already holds a search"), "{text}");
        let again = birk(&format!("{resume} {} --format json", kept.display()));
        assert_eq!(essence(&again.exits(0).json()), alone, "killed {killed}");
    }
}

/// Two processes of which one differs: how each of them ends.
#[track_caller]
fn two(name: &str, part: u16, change: impl Fn(usize, &Path) -> Option<Command>) -> Vec<(Option<i32>, String)> {
    let folder = folder(name);
    let hosts = hosts(&folder, part, 2);
    let since = Instant::now();
    let children: Vec<Child> = (0..2).filter_map(|rank| change(rank, &hosts)).map(spawn).collect();
    children.into_iter().map(|child| ended(child, since, MOST)).collect()
}

/// Hands on what arrives at a port to another one, in both directions, until it is unplugged: then nothing, and nobody is told.
struct Proxy {
    port: u16,
    is_unplugged: Arc<AtomicBool>,
}

impl Proxy {
    fn to(target: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a port");
        let port = listener.local_addr().expect("it has an address").port();
        let is_unplugged = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_unplugged);
        std::thread::spawn(move || {
            for here in listener.incoming().flatten() {
                // If nobody listens yet, whoever has connected is sent away, and tries again.
                let Ok(there) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                for (from, to) in [(&here, &there), (&there, &here)] {
                    let (from, to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
                    let flag = Arc::clone(&flag);
                    std::thread::spawn(move || hand_on(from, to, &flag));
                }
            }
        });
        Self { port, is_unplugged }
    }
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, is_unplugged: &AtomicBool) {
    let mut bytes = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        while is_unplugged.load(Ordering::Relaxed) {
            std::thread::sleep(MOST);
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = (to.shutdown(Shutdown::Both), from.shutdown(Shutdown::Both));
}

/// The last of three processes reaches the others through proxies, which are unplugged in the middle of the search.
#[test]
fn an_unplugged_process_ends_all() {
    let folder = folder("cluster-unplugged");
    let hosts = hosts(&folder, 10, 3);
    let text = fs::read_to_string(&hosts).expect("it was written");
    let port = |line: &str| -> u16 { line.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port") };
    let proxies: Vec<Proxy> = text.lines().take(2).map(|line| Proxy::to(port(line))).collect();
    let lines: String = proxies.iter().map(|proxy| format!("127.0.0.1:{}\n", proxy.port)).collect();
    let seen_by_last = folder.join("hosts-of-the-last");
    fs::write(&seen_by_last, lines + text.lines().nth(2).expect("three hosts")).expect("it can be written");
    let children: Vec<Child> =
        (0..3).map(|rank| spawn(start(LONG, if rank == 2 { &seen_by_last } else { &hosts }, rank))).collect();
    std::thread::sleep(Duration::from_secs(3));
    let since = Instant::now();
    proxies.iter().for_each(|proxy| proxy.is_unplugged.store(true, Ordering::Relaxed));
    for (rank, child) in children.into_iter().enumerate() {
        let (code, text) = ended(child, since, MOST);
        assert_eq!(code, Some(3), "rank {rank}: {text}");
        assert!(text.contains("was lost: it has said nothing for 10 s") || text.contains("says so"), "{text}");
        assert!(text.contains("the network is cut") || rank < 2, "rank {rank}: {text}");
    }
}

#[test]
fn a_missing_process_is_named() {
    for present in 0..2 {
        let heard = two(&format!("cluster-missing-{present}"), 2 + present as u16, |rank, hosts| {
            let mut command = start(LONG, hosts, rank);
            command.args(["--cluster-wait", "3s"]);
            (rank == present).then_some(command)
        });
        let (code, text) = &heard[0];
        assert_eq!(*code, Some(3), "{text}");
        assert!(text.contains(&format!("rank {} (127.0.0.1:", 1 - present)), "{text}");
        assert!(text.contains("see that it is started"), "{text}");
    }
}

#[test]
fn another_token_model_or_rank_is_refused() {
    let heard = two("cluster-token", 4, |rank, hosts| {
        let mut command = start(LONG, hosts, rank);
        command.args(["--cluster-wait", "3s"]);
        if rank == 1 {
            command.env("BIRK_CLUSTER_TOKEN", "a token that somebody else has");
        }
        Some(command)
    });
    assert_eq!(heard.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [Some(3), Some(2)], "{heard:?}");
    assert!(heard.iter().all(|(_, text)| text.contains("set the same BIRK_CLUSTER_TOKEN everywhere")), "{heard:?}");
    let heard = two("cluster-model", 5, |rank, hosts| {
        let model = ["models/counters_mod8.bir -D K=9", "models/counters_mod8.bir -D K=8"][rank];
        let mut command = start(model, hosts, rank);
        command.args(["--cluster-wait", "3s"]);
        Some(command)
    });
    assert_eq!(heard.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [Some(3), Some(2)], "{heard:?}");
    assert!(heard.iter().all(|(_, text)| text.contains("it checks another model")), "{heard:?}");
}

#[test]
fn a_used_port_is_named() {
    let folder = folder("cluster-port");
    let hosts = hosts(&folder, 6, 2);
    let text = fs::read_to_string(&hosts).expect("it was written");
    let port: u16 = text.lines().next().and_then(|line| line.rsplit_once(':')?.1.parse().ok()).expect("a port");
    let _held = TcpListener::bind(("0.0.0.0", port)).expect("it is free");
    let since = Instant::now();
    let (code, text) = ended(spawn(start(LONG, &hosts, 0)), since, MOST);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains(&format!("cannot listen at port {port}")) && text.contains("another port"), "{text}");
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let folder = folder("cluster-refused");
    let hosts = folder.join("hosts");
    fs::write(&hosts, "127.0.0.1:21999\n127.0.0.1:21998\n").expect("it can be written");
    let file = hosts.display();
    for (options, reason) in [
        (format!("models/peterson2.bir --cluster {file} --rank 2"), "there is no rank 2 among 2 hosts"),
        (format!("models/peterson2.bir --cluster {file} --rank 0 --search dfs"), "searches in one process"),
        (format!("models/peterson2.bir --cluster {file} --rank 0 --reduce auto"), "--reduce auto may take a search"),
        (format!("models/peterson2.bir --cluster {file} --rank 0"), "BIRK_CLUSTER_TOKEN"),
        (format!("models/german_liveness.bir --cluster {file} --rank 0"), "decides properties of states only"),
    ] {
        let answer = birk(&format!("check {options}"));
        answer.exits(2).says(reason);
    }
}

/// A folder with programs that stand for those that are not there: each is a script for `sh`.
fn stand_ins(name: &str, scripts: &[(&str, &str)]) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder(name);
    std::os::unix::fs::symlink(BIRK, folder.join("birk")).expect("it can be linked");
    for (script, text) in scripts {
        let path = folder.join(script);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be executed");
    }
    folder
}

/// Runs a file of the examples with these programs before all others, and hears how it ends.
fn example(file: &str, programs: &Path, words: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = command("bash");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("there is a path"));
    command.arg(format!("examples/cluster/{file}")).args(words).env("PATH", path).envs(variables.iter().copied());
    let output = command.output().expect("bash is there");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

/// The file for machines that ssh reaches starts all of them, hands on the secret and quoted words, and passes on the exit code.
#[test]
fn the_file_for_ssh_starts_every_process() {
    // The last word is the command of the other machine.
    let programs = stand_ins("stand_in_ssh", &[("ssh", "for word; do last=$word; done; exec sh -c \"$last\"")]);
    let hosts = hosts(&programs, 9, 2);
    let hosts = hosts.to_str().expect("a path is text");
    let (code, text) = example("hosts.sh", &programs, &[hosts, "models/counters_mod8.bir", "-D", "K=4"], &[]);
    assert!(code == Some(0) && text.contains("4,096 states") && text.contains("rank 1 of 2"), "{code:?} {text}");
    let (code, text) = example("hosts.sh", &programs, &[hosts, "models/philosophers_ring.bir"], &[]);
    assert!(code == Some(1) && text.contains("5 steps, shortest"), "{code:?} {text}");
}

/// The file for Slurm begins a search on as many nodes as there are, and takes up what a job before has saved.
#[test]
fn the_file_for_slurm_begins_and_takes_up_a_search() {
    let nodes = "for node in $(seq $SLURM_JOB_NUM_NODES); do echo localhost; done";
    let run = "shift; code=0; for rank in $(seq 0 $((SLURM_JOB_NUM_NODES - 1))); do
        SLURM_PROCID=$rank \"$@\" & all=\"$all $!\"; done; for one in $all; do wait $one || code=$?; done; exit $code";
    let programs = stand_ins("stand_in_slurm", &[("scontrol", nodes), ("srun", run)]);
    let saved = programs.join("saved");
    let port = hosts(&programs, 8, 1);
    let port = fs::read_to_string(port).expect("it was written").trim().rsplit(':').next().unwrap_or("").to_owned();
    let job = |nodes: &str, id: &str, words: &[&str]| {
        let variables = [
            ("BIRK_FOLDER", saved.to_str().expect("a path is text")),
            ("BIRK_PORT", &port),
            ("SLURM_JOB_ID", id),
            ("SLURM_JOB_NODELIST", "all"),
            ("SLURM_JOB_NUM_NODES", nodes),
        ];
        example("slurm.sh", &programs, words, &variables)
    };
    let (code, text) = job("2", "1", &["models/counters_mod8.bir", "-D", "K=4", "--max-depth", "5"]);
    assert!(code == Some(3) && text.contains("rank 1 of 2"), "{code:?} {text}");
    let log = fs::read(saved.join("search/levels.log")).expect("levels were saved");
    assert!(!log.is_empty());
    let (code, text) = job("1", "2", &[]);
    assert!(code == Some(3) && text.contains("to depth 5"), "{code:?} {text}");
}

/// In the file for Kubernetes there are as many hosts as pods, and their names are those of the pods.
#[test]
fn the_file_for_kubernetes_names_every_pod() {
    let text = fs::read_to_string(binary::root().join("examples/cluster/kubernetes.yaml")).expect("it is there");
    let number = |key: &str| -> usize {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(key)).expect("the key is there");
        line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("it is a number")
    };
    let hosts: Vec<&str> =
        text.lines().map(str::trim).filter(|line| line.starts_with("birk-") && line.ends_with(":7171")).collect();
    let pods: Vec<String> = (0..number("completions:")).map(|pod| format!("birk-{pod}.birk:7171")).collect();
    assert_eq!(hosts, pods);
    assert_eq!(number("parallelism:"), pods.len());
}
