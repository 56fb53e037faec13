//! Where the processes of a cluster are: a line `host:port` for each, in the order of their ranks.

use std::path::Path;

use crate::Failure;

/// Where a process finds its rank, if it is not told: what Slurm sets, what a stateful set of Kubernetes can be told to set.
const VARIABLES: [&str; 2] = ["SLURM_PROCID", "JOB_COMPLETION_INDEX"];

/// The address of each process.
#[derive(Clone, Debug)]
pub(super) struct Hosts(Vec<String>);

impl Hosts {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::io(&format!("read the hosts in {}", path.display()), &error);
        let text = std::fs::read_to_string(path).map_err(failed)?;
        Self::parse(&text).map_err(|reason| Failure::usage(format!("{}: {reason}", path.display())))
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut hosts: Vec<String> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let port = line.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
            if port.is_none_or(|port| port == 0) {
                return Err(format!("line {number}: `{line}` is not host:port; for example node1:21000"));
            }
            if hosts.iter().any(|host| host == line) {
                return Err(format!("line {number}: `{line}` is there twice; each process needs a port of its own"));
            }
            hosts.push(line.to_owned());
        }
        if hosts.len() < 2 {
            return Err("a cluster has at least two processes; write a line host:port for each".to_owned());
        }
        Ok(Self(hosts))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn of(&self, rank: usize) -> &str {
        &self.0[rank]
    }

    /// The port of a process.
    pub(super) fn port(&self, rank: usize) -> u16 {
        self.0[rank].rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or_default()
    }

    /// A process, as a sentence names it.
    pub(super) fn name(&self, rank: usize) -> String {
        format!("rank {rank} ({})", self.0[rank])
    }
}

/// The rank of this process: what was said, or what the system that started it has set.
pub(super) fn rank(said: Option<u32>, hosts: &Hosts) -> Result<usize, Failure> {
    let set = || VARIABLES.iter().find_map(|name| std::env::var(name).ok()?.trim().parse().ok());
    // The pods of a stateful set are called name-0, name-1 and so on.
    let pod = || std::env::var("POD_NAME").ok()?.rsplit_once('-')?.1.parse().ok();
    let Some(rank) = said.or_else(set).or_else(pod) else {
        return Err(Failure::usage(
            "--cluster needs the rank of this process, its place among the hosts from 0 on; say --rank N, or set SLURM_PROCID, \
             JOB_COMPLETION_INDEX or POD_NAME",
        ));
    };
    match rank as usize {
        rank if rank < hosts.len() => Ok(rank),
        _ => Err(Failure::usage(format!(
            "there is no rank {rank} among {} hosts; ranks count from 0 to {}",
            hosts.len(),
            hosts.len() - 1
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_lines() {
        let hosts = Hosts::parse("# two\n node1:21000 # first\n\n[::1]:21001\n").expect("two hosts");
        assert_eq!((hosts.len(), hosts.port(0), hosts.port(1)), (2, 21000, 21001));
        assert_eq!(hosts.name(1), "rank 1 ([::1]:21001)");
        for (text, reason) in [
            ("a:1", "at least two"),
            ("a:1\nb", "line 2: `b` is not host:port"),
            ("a:0\nb:1", "line 1"),
            ("a:1\nb:2\na:1", "line 3: `a:1` is there twice"),
        ] {
            let refused = Hosts::parse(text).expect_err("it is refused");
            assert!(refused.contains(reason), "{refused}");
        }
    }

    #[test]
    fn a_rank_is_a_place_among_the_hosts() {
        let hosts = Hosts::parse("a:1\nb:2").expect("two hosts");
        assert_eq!(rank(Some(1), &hosts).ok(), Some(1));
        assert!(rank(Some(2), &hosts).is_err_and(|failure| failure.message.contains("no rank 2 among 2 hosts")));
    }
}
