//! What the workers of CNDFS share: states, their successors, and marks.

/// What a worker can know of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Some worker is done with it. Seen by all.
    Blue,
    /// It is on no accepting cycle. Seen by all.
    Red,
    /// It is on this worker's path.
    Cyan,
    /// It is in `R` of this worker.
    Region,
}

/// What the workers walk on: gives successors, and keeps marks.
pub(super) trait ColourStore: Sync {
    /// A state, as the store knows it.
    type Node: Copy + Eq + Send;
    /// What one worker has in hand.
    type Hand<'g>
    where
        Self: 'g;

    /// For the worker of this number.
    fn hand(&self, worker: usize) -> Self::Hand<'_>;

    /// The initial states; `None` when there is no memory for them.
    fn initial(&self, hand: &mut Self::Hand<'_>) -> Option<Vec<Self::Node>>;

    /// A state will be marked next; `None` when there is no memory for that, and the store may have no more bytes than the
    /// budget. What a worker holds and others wait for, it lets go for a moment.
    fn prepare<'g>(&'g self, _hand: &mut Self::Hand<'g>, _budget: impl Fn() -> u64) -> Option<()> {
        Some(())
    }

    /// Replaces what is in the list by the successors of a state; `None` when there is no memory for them. Those that
    /// come `soon` will be asked for, too, if this is not the red search. Where there are very many, it is asked whether to
    /// go on, given the bytes of them that the store does not count.
    fn successors<'g>(
        &'g self,
        hand: &mut Self::Hand<'g>,
        node: Self::Node,
        is_first: bool,
        soon: impl Iterator<Item = Self::Node>,
        may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<Self::Node>,
    ) -> Option<()>;

    /// Called while a worker waits for others: what it holds and they wait for, it lets go for a moment.
    fn pause<'g>(&'g self, _hand: &mut Self::Hand<'g>) {}

    /// A state that was just examined will be asked for soon.
    fn prefetch(&self, _hand: &Self::Hand<'_>, _node: Self::Node) {}

    /// A state of the path will be marked soon.
    fn prefetch_mark(&self, _hand: &Self::Hand<'_>, _node: Self::Node) {}

    /// Whether a mark is set; of those that all see, what their setter wrote before is seen.
    fn has(&self, hand: &Self::Hand<'_>, node: Self::Node, mark: Mark) -> bool;

    /// Sets a mark; whether it was not set before.
    fn set(&self, hand: &mut Self::Hand<'_>, node: Self::Node, mark: Mark) -> bool;

    /// The worker is done with a state of its path: it is no longer cyan, but blue, and red if that is known. Whether it
    /// was not blue before.
    fn leave(&self, hand: &mut Self::Hand<'_>, node: Self::Node, is_red: bool) -> bool;

    /// Whether another worker is known to be on a state.
    fn is_elsewhere(&self, _hand: &Self::Hand<'_>, _node: Self::Node) -> bool {
        false
    }

    /// A state is no longer in `R` of the worker.
    fn leave_region(&self, hand: &mut Self::Hand<'_>, node: Self::Node);

    /// Whether a cycle through a state counts.
    fn is_accepting(&self, node: Self::Node) -> bool;

    /// Another for every state.
    fn key(&self, node: Self::Node) -> u64;

    /// The state in full.
    fn state(&self, node: Self::Node) -> Vec<u32>;

    /// Bytes it occupies.
    fn bytes(&self) -> u64;

    /// Outcomes that an `assume` cut, and for each transition whether it was taken.
    fn end(hand: Self::Hand<'_>) -> (u64, Vec<bool>);
}
