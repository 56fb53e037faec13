//! The stack of a depth-first search: the nodes from a root to the present one, and beside each the successors that are
//! still to be looked at. All nodes lie in one arena; what is popped makes room.

/// How far up the path to look for nodes that will be looked at soon.
const SOON: usize = 12;

/// A node on the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<N> {
    pub(crate) node: N,
    /// Its successors in the arena: from here to the end, the next one to look at.
    first: usize,
    next: usize,
    /// What the space kept before its successors were computed.
    pub(crate) mark: usize,
    /// It is an accepting state.
    pub(crate) accepting: bool,
    /// No successor seen so far is other than red.
    pub(crate) all_red: bool,
}

/// The stack.
#[derive(Debug)]
pub(crate) struct Path<N> {
    offered: Vec<N>,
    frames: Vec<Frame<N>>,
}

impl<N: Copy> Path<N> {
    pub(crate) fn new() -> Self {
        Self { offered: Vec::new(), frames: Vec::new() }
    }

    /// Adds a successor of the last node, to be looked at later.
    #[inline]
    pub(crate) fn offer(&mut self, node: N) {
        self.offered.push(node);
    }

    /// Puts a node on the path. Its successors are offered next.
    #[inline]
    pub(crate) fn descend(&mut self, node: N, accepting: bool, mark: usize) {
        let first = self.offered.len();
        self.frames.push(Frame { node, first, next: first, mark, accepting, all_red: true });
    }

    /// The next successor of the last node.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<N> {
        let frame = self.frames.last_mut()?;
        let node = self.offered.get(frame.next).copied();
        frame.next += 1;
        node
    }

    /// The one after it.
    #[inline]
    pub(crate) fn peek(&self) -> Option<N> {
        self.offered.get(self.frames.last()?.next).copied()
    }

    /// Takes the last node off the path, and its successors with it.
    #[inline]
    pub(crate) fn ascend(&mut self) -> Option<Frame<N>> {
        let frame = self.frames.pop()?;
        self.offered.truncate(frame.first);
        Some(frame)
    }

    #[inline]
    pub(crate) fn top(&self) -> Option<&Frame<N>> {
        self.frames.last()
    }

    #[inline]
    pub(crate) fn top_mut(&mut self) -> Option<&mut Frame<N>> {
        self.frames.last_mut()
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Some of the nodes that will be looked at soonest.
    #[inline]
    pub(crate) fn soon(&self) -> impl Iterator<Item = N> {
        let mut end = self.offered.len();
        self.frames.iter().rev().take(SOON).flat_map(move |frame| {
            let beside = frame.next.min(end)..end;
            end = frame.first;
            beside.map(|place| self.offered[place])
        })
    }

    /// The nodes beside the path that are still to be looked at.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = N> {
        let ends = self.frames.iter().skip(1).map(|frame| frame.first).chain([self.offered.len()]);
        let beside = self.frames.iter().zip(ends).flat_map(|(frame, end)| frame.next.min(end)..end);
        let before = self.frames.first().map_or(self.offered.len(), |frame| frame.first);
        (0..before).chain(beside).map(|place| self.offered[place])
    }

    /// The nodes of the path.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = N> {
        self.frames.iter().map(|frame| frame.node)
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.offered.capacity() * size_of::<N>() + self.frames.capacity() * size_of::<Frame<N>>()) as u64
    }
}
