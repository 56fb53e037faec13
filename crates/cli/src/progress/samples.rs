//! What is remembered of a search, for its plots.

/// How a search stood at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Which of the searches it belongs to: the first, or a later one, for example for a formula.
    pub(crate) search: u32,
    /// What the search decides, among the phases.
    pub(crate) phase: usize,
    pub(crate) seconds: f64,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) depth: u32,
    pub(crate) frontier: u64,
}

/// How the searches of a check went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Course<'a> {
    pub(crate) samples: &'a [Sample],
    /// What was decided, one after the other.
    pub(crate) phases: &'a [String],
}

/// Moments of a search, never more than `Samples::MOST`: when there are too many, every other is dropped, and from
/// then on only every other is taken.
#[derive(Debug)]
pub(super) struct Samples {
    pub(super) kept: Vec<Sample>,
    every: u64,
    heard: u64,
    /// The search that goes on, and how many states it had last.
    pub(super) search: u32,
    pub(super) states: u64,
    /// What is decided now, and what was before.
    pub(super) phases: Vec<String>,
}

impl Default for Samples {
    fn default() -> Self {
        Self { kept: Vec::new(), every: 1, heard: 0, search: 0, states: 0, phases: Vec::new() }
    }
}

impl Samples {
    pub(super) const MOST: usize = 1024;

    pub(super) fn hear(&mut self, mut sample: Sample) {
        // A slice or a repetition begins anew without notice.
        if sample.states < self.states {
            self.search += 1;
        }
        (sample.search, self.states) = (self.search, sample.states);
        sample.phase = self.phases.len().saturating_sub(1);
        self.heard += 1;
        if !self.heard.is_multiple_of(self.every) {
            return;
        }
        self.kept.push(sample);
        if self.kept.len() == Self::MOST {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.every *= 2;
        }
    }
}
