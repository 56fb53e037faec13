//! The stack of a depth-first search: the nodes from a root to the present one, and beside each the successors that are
//! still to be examined. All nodes lie in one arena; what is popped makes room.

/// How far up the path to look for nodes that will be examined soon.
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
    /// The most that were in either before something was taken off.
    most: (usize, usize),
}

impl<N: Copy> Path<N> {
    pub(crate) fn new() -> Self {
        Self { offered: Vec::new(), frames: Vec::new(), most: (0, 0) }
    }

    /// Adds a successor of the last node, to be examined later.
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
        self.most = self.most();
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

    /// Some of the nodes that will be examined soonest.
    #[inline]
    pub(crate) fn soon(&self) -> impl Iterator<Item = N> {
        let mut end = self.offered.len();
        self.frames.iter().rev().take(SOON).flat_map(move |frame| {
            let beside = frame.next.min(end)..end;
            end = frame.first;
            beside.map(|place| self.offered[place])
        })
    }

    /// A copy of the lower part of the path, below its first accepting node, with some of the nodes that wait beside it and
    /// are wanted, about this many; `None` if there are none. The lowest `bare` frames have none: more are found to be so.
    pub(crate) fn lower(&self, bare: &mut usize, most: usize, is_wanted: impl Fn(N) -> bool) -> Option<Self> {
        let mut part = Self::new();
        for (i, frame) in self.frames.iter().enumerate().skip(*bare) {
            if frame.accepting || part.offered.len() >= most {
                break;
            }
            let beside = self.frames.get(i + 1).map_or(self.offered.len(), |above| above.first);
            let wanted =
                (frame.next.min(beside)..beside).map(|place| self.offered[place]).filter(|&node| is_wanted(node));
            let first = part.offered.len();
            part.offered.extend(wanted);
            if part.offered.len() > first {
                let below = self.frames[part.frames.len()..i].iter();
                part.frames.extend(below.map(|frame| Frame { first, next: first, ..*frame }));
                part.frames.push(Frame { first, next: first, ..*frame });
            } else if part.offered.is_empty() {
                *bare = i + 1;
            }
        }
        (!part.offered.is_empty()).then_some(part)
    }

    /// The nodes beside the path that are still to be examined.
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

    /// Bytes it occupies: room that was never used is no memory yet.
    pub(crate) fn bytes(&self) -> u64 {
        let (offered, frames) = self.most();
        (offered * size_of::<N>() + frames * size_of::<Frame<N>>()) as u64
    }

    #[inline]
    fn most(&self) -> (usize, usize) {
        (self.most.0.max(self.offered.len()), self.most.1.max(self.frames.len()))
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    /// 1 beside 2, 3; 2 beside nothing; 4, accepting or not, beside 5, 6; 5 beside 7.
    fn path(accepting: bool) -> Path<u32> {
        let mut path = Path::new();
        path.descend(1, false, 0);
        [2, 3].into_iter().for_each(|node| path.offer(node));
        assert_eq!(path.next(), Some(2));
        path.descend(2, false, 0);
        path.offer(4);
        assert_eq!(path.next(), Some(4));
        path.descend(4, accepting, 0);
        [5, 6].into_iter().for_each(|node| path.offer(node));
        assert_eq!(path.next(), Some(5));
        path.descend(5, false, 0);
        path.offer(7);
        path
    }

    /// What a part leads to, from its end on: nodes beside it, each with the length of the path there.
    fn walk(mut part: Path<u32>) -> Vec<(u32, Vec<u32>)> {
        let mut found = Vec::new();
        while part.top().is_some() {
            match part.next() {
                Some(node) => found.push((node, part.nodes().collect())),
                None => _ = part.ascend(),
            }
        }
        found
    }

    #[test]
    fn a_part_of_a_path_has_what_is_wanted_beside_it() {
        let part = |accepting: bool, bare: &mut usize, most: usize, wanted: &[u32]| {
            path(accepting).lower(bare, most, |node| wanted.contains(&node)).map(walk)
        };
        let all = part(false, &mut 0, 9, &[3, 6, 7]);
        assert_eq!(all, Some(vec![(7, vec![1, 2, 4, 5]), (6, vec![1, 2, 4]), (3, vec![1])]));
        assert_eq!(part(false, &mut 0, 1, &[3, 6, 7]), Some(vec![(3, vec![1])]), "no more than that");
        assert_eq!(part(true, &mut 0, 9, &[3, 6, 7]), Some(vec![(3, vec![1])]), "nothing beside an accepting node");
        assert_eq!(part(true, &mut 0, 9, &[6, 7]), None);
        let mut bare = 0;
        assert_eq!(part(false, &mut bare, 9, &[6]), Some(vec![(6, vec![1, 2, 4])]));
        assert_eq!(bare, 2, "the first two frames need not be examined again");
        assert_eq!(part(false, &mut bare, 9, &[3, 6]), Some(vec![(6, vec![1, 2, 4])]));
        assert_eq!(part(false, &mut bare, 9, &[]), None);
        assert_eq!(bare, 4);
    }
}
