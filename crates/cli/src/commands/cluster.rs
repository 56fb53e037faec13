//! `birk cluster up` and `birk cluster resume`: several processes on this machine, to try what `--cluster` does on several.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cli::{ClusterAction, ClusterArgs};
use crate::cluster::{PROCESSES, TOKEN};
use crate::{Exit, Failure, say};

/// Ports below those that the system gives to connections.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// Runs the command.
pub(crate) fn run(args: &ClusterArgs) -> Result<Exit, Failure> {
    let (processes, command, words) = match &args.action {
        ClusterAction::Up { processes, check } => (processes, "check", check),
        ClusterAction::Resume { processes, resume } => (processes, "resume", resume),
    };
    if *processes < 2 {
        return Err(Failure::usage(format!("a cluster has at least two processes; say -n 2, or use `birk {command}`")));
    }
    let hosts = std::env::temp_dir().join(format!("birk-hosts-{}", std::process::id()));
    let lines: String = free_ports(*processes as usize)?.iter().map(|port| format!("127.0.0.1:{port}\n")).collect();
    std::fs::write(&hosts, lines).map_err(|error| Failure::io("write the file of hosts", &error))?;
    let ended = together(*processes, (command, words), &hosts);
    let _ = std::fs::remove_file(&hosts);
    ended
}

/// Starts all processes, and waits for them; the first one reports.
fn together(processes: u32, (command, words): (&str, &[OsString]), hosts: &Path) -> Result<Exit, Failure> {
    let failed = |error| Failure::io("start a process", &error);
    let program = std::env::current_exe().map_err(failed)?;
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| failed(std::io::Error::other(error)))?;
    let token: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let has_threads = words.iter().any(|word| word.to_string_lossy().starts_with("--threads"));
    let start = |rank: u32| {
        let mut process = Command::new(&program);
        process.arg(command).args(words).arg("--cluster").arg(hosts).args(["--rank", &rank.to_string()]);
        if !has_threads {
            process.args(["--threads", "1"]);
        }
        if rank > 0 {
            process.env("BIRK_PROGRESS", "off").stdout(Stdio::null());
        }
        process.env(TOKEN, &token).env(PROCESSES, processes.to_string()).stdin(Stdio::null()).spawn()
    };
    let mut children: Vec<Child> = Vec::new();
    for rank in 0..processes {
        match start(rank) {
            Ok(child) => children.push(child),
            Err(error) => {
                children.iter_mut().for_each(|child| drop(child.kill()));
                return Err(failed(error));
            }
        }
    }
    let mut codes = Vec::new();
    for mut child in children {
        codes.push(child.wait().map_err(failed)?.code());
    }
    if let Some(rank) = codes.iter().position(|code| *code != codes[0]) {
        say(&format!("birk: rank {rank} ended otherwise than rank 0: {:?} and {:?}", codes[rank], codes[0]));
        return Ok(Exit::Inconclusive);
    }
    let exits = [Exit::Success, Exit::Violated, Exit::Usage, Exit::Io, Exit::Internal, Exit::Interrupted];
    Ok(exits.into_iter().find(|exit| codes[0] == Some(*exit as i32)).unwrap_or(Exit::Inconclusive))
}

/// Ports at which nobody listens.
fn free_ports(count: usize) -> Result<Vec<u16>, Failure> {
    let mut start = [0; 2];
    getrandom::fill(&mut start).map_err(|error| Failure::io("draw a port", &std::io::Error::other(error)))?;
    let first = u16::from_le_bytes(start) % (PORTS.end - PORTS.start);
    let ports = (0..PORTS.end - PORTS.start).map(|step| PORTS.start + (first + step) % (PORTS.end - PORTS.start));
    // All are held until the last is found.
    let held: Vec<(u16, TcpListener)> = ports
        .filter_map(|port| TcpListener::bind(("0.0.0.0", port)).ok().map(|listener| (port, listener)))
        .take(count)
        .collect();
    match held.len() == count {
        true => Ok(held.iter().map(|(port, _)| *port).collect()),
        false => {
            Err(Failure::usage(format!("there are no {count} free ports between {} and {}", PORTS.start, PORTS.end)))
        }
    }
}
