//! What a search of very many states needs, from what a short one took. Everything else is assumed, and said to be.
//!
//! With S states, b transitions of each, c processor seconds of each of those and w bytes of a key on the wire, on P machines with C
//! cores and a network of N bytes a second:
//!
//! ```text
//! transitions a second of a machine = min(e · C / c, N / (w · (1 − 1/P)))
//! time = S · b / (P · that)
//! ```

use schemars::JsonSchema;
use serde::Serialize;

/// The share of all cores that is of use: the rest is lost to memory, levels that end, and skew.
const EFFICIENCY: f64 = 0.5;
/// The share of a machine's memory that states may have.
const USABLE: f64 = 0.8;
/// Keys travel in words of so many bytes.
const WORD: f64 = 8.0;

/// What a short search took.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measured {
    /// States that were reached.
    pub(super) states: u64,
    /// Whether these were all.
    pub(super) is_complete: bool,
    pub(super) seconds: f64,
    pub(super) transitions_per_state: f64,
    /// Processor time of one transition, in nanoseconds.
    pub(super) nanoseconds_per_transition: f64,
    /// In the visited set, unused room included.
    pub(super) bytes_per_state: f64,
    /// Of a state as it is packed.
    pub(super) bits_per_state: u64,
}

/// What is not known.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Assumed {
    pub(super) states: f64,
    /// Of one machine.
    pub(super) memory_bytes: f64,
    pub(super) cores: u32,
    pub(super) network_bytes_per_second: f64,
    /// The share of all cores that is of use.
    pub(super) efficiency: f64,
    /// The share of the memory that states may have.
    pub(super) usable_memory: f64,
}

impl Assumed {
    pub(super) fn new(states: f64, memory: u64, cores: u32, gigabits: u32) -> Self {
        Self {
            states,
            memory_bytes: memory as f64,
            cores,
            network_bytes_per_second: f64::from(gigabits) * 1e9 / 8.0,
            efficiency: EFFICIENCY,
            usable_memory: USABLE,
        }
    }
}

/// What follows.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    /// Of all states.
    pub(super) memory_bytes: f64,
    /// States that one machine has room for.
    pub(super) states_per_machine: f64,
    /// What is packed, at most, in level files or by `--search disk`.
    pub(super) disk_bytes: f64,
    pub(super) machines: u64,
    pub(super) seconds: f64,
    /// What limits it: `processors` or `network`.
    pub(super) limited_by: &'static str,
    /// All that travels between machines.
    pub(super) network_bytes: f64,
}

/// A plan for some machines, or as many as hold all states.
pub(super) fn plan(measured: &Measured, assumed: &Assumed, machines: Option<u32>) -> Plan {
    let memory_bytes = assumed.states * measured.bytes_per_state;
    let room = assumed.memory_bytes * assumed.usable_memory;
    let needed = (memory_bytes / room).ceil().max(1.0);
    let machines = machines.map_or(needed, f64::from);
    let transitions = assumed.states * measured.transitions_per_state;
    let key = measured.bits_per_state.div_ceil(8).max(1) as f64;
    let wire = (key / WORD).ceil() * WORD * (1.0 - 1.0 / machines);
    let by_processors = assumed.efficiency * f64::from(assumed.cores) / (measured.nanoseconds_per_transition * 1e-9);
    let by_network = assumed.network_bytes_per_second / wire;
    Plan {
        memory_bytes,
        states_per_machine: room / measured.bytes_per_state,
        disk_bytes: assumed.states * key,
        machines: machines as u64,
        seconds: transitions / (machines * by_processors.min(by_network)),
        limited_by: if by_processors <= by_network { "processors" } else { "network" },
        network_bytes: transitions * wire,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: Measured = Measured {
        states: 1_000_000,
        is_complete: false,
        seconds: 1.0,
        transitions_per_state: 5.0,
        nanoseconds_per_transition: 45.0,
        bytes_per_state: 6.5,
        bits_per_state: 40,
    };

    /// Two machines and one need the same processor time; only between machines something travels.
    #[test]
    fn machines_share_the_work() {
        let assumed = Assumed::new(1e10, 512 << 30, 32, 25);
        let [one, two] = [1, 2].map(|machines| plan(&MEASURED, &assumed, Some(machines)));
        assert!((one.seconds / two.seconds - 2.0).abs() < 1e-9);
        assert_eq!((one.network_bytes, one.limited_by), (0.0, "processors"));
        assert!((two.network_bytes - 1e10 * 5.0 * 8.0 / 2.0).abs() < 1.0);
    }

    /// 10^12 states at 6.5 bytes need 6.5 TB: 15 machines of 512 GiB, of which four fifths can be used.
    #[test]
    fn as_many_machines_as_hold_all_states() {
        let assumed = Assumed::new(1e12, 512 << 30, 32, 25);
        let whole = plan(&MEASURED, &assumed, None);
        assert_eq!(whole.machines, 15);
        assert!((whole.disk_bytes - 5e12).abs() < 1.0);
        // 15 machines of 32 cores, half of them of use, at 45 ns.
        assert!((whole.seconds - 5e12 * 45e-9 / (15.0 * 16.0)).abs() < 1e-6, "{whole:?}");
        // With a hundredth of the network, that is the limit.
        let slow = Assumed { network_bytes_per_second: assumed.network_bytes_per_second / 100.0, ..assumed };
        let slow = plan(&MEASURED, &slow, None);
        assert_eq!(slow.limited_by, "network");
        assert!(slow.seconds > whole.seconds);
    }
}
