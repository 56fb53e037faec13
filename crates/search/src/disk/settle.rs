//! From candidates to the next level: sorted, each once, without those that were visited before.

use birk_engine::Observer;
use birk_runs::{Cursor, Merge, Run, Stream};

use super::Search;
use super::candidates::Candidates;
use super::limits::{Flow, Sizes};

impl Search<'_> {
    /// Makes the next level of the candidates; whether it has any state.
    pub(super) fn settle(&mut self, observer: &mut dyn Observer) -> Flow<bool> {
        let words = self.keys.words();
        let mut writer = self.log.begin(words, &self.sizes)?;
        let mut new = 0;
        let before = self.stats.states;
        let mut state = vec![0; self.model.words()];
        let keys = self.unvisited(observer, &mut |search, batch| {
            for key in batch.chunks_exact(words) {
                search.keys.unpack(key, &mut state);
                new += u64::from(!search.model.is_fault(&state));
            }
            search.stats.states = before + new;
            Ok(writer.push(batch)?)
        });
        // Where it is ended here, the states of this level do not count: it is made anew when the search is taken up.
        self.stats.states = before;
        let keys = keys?;
        self.candidates.clear();
        if keys == 0 {
            return Ok(false);
        }
        let visited = self.history.keys();
        self.stats.states += new;
        self.depth = self.log.len() as u32;
        if new > 0 {
            self.stats.levels.push(new);
            self.stats.max_depth = self.depth;
        }
        let level = self.log.commit(writer, self.record(new))?;
        self.level = Some(level.clone());
        self.phase = super::Phase::Expanding;
        let mut history = std::mem::take(&mut self.history);
        let flow = history.add(level, (&self.vault, &self.sizes), &mut || self.ask(observer));
        self.history = history;
        flow?;
        assert_eq!(self.history.keys(), visited + keys, "every state of the level is visited now, and no other");
        Ok(true)
    }

    /// Gives the candidates that were not visited, in order, to `hear`; how many there are.
    pub(super) fn unvisited(
        &mut self,
        observer: &mut dyn Observer,
        hear: &mut dyn FnMut(&mut Self, &[u64]) -> Flow<()>,
    ) -> Flow<u64> {
        let empty = Candidates::new(1, &Sizes { buffer: 0, recent: 0, ..self.sizes });
        let mut candidates = std::mem::replace(&mut self.candidates, empty);
        let flow = candidates.sort(&mut || self.ask(observer));
        let flow = flow.and_then(|()| self.subtracted(&candidates, observer, hear));
        self.candidates = candidates;
        flow
    }

    fn subtracted(
        &mut self,
        candidates: &Candidates,
        observer: &mut dyn Observer,
        hear: &mut dyn FnMut(&mut Self, &[u64]) -> Flow<()>,
    ) -> Flow<u64> {
        let words = self.keys.words();
        let cursor = |run: &Run| Stream::Run(Cursor::new(run.clone(), self.sizes.io));
        let mut streams: Vec<Stream<'_>> = candidates.runs.iter().map(cursor).collect();
        streams.push(Stream::List(&candidates.keys));
        let mut merge = Merge::new(streams, words);
        let mut history = self.history.cursors(&self.sizes);
        let (mut batch, mut new, mut unique, mut known) = (Vec::new(), 0, 0, 0);
        while merge.next(&mut batch)? {
            let before = batch.len();
            unique += (before / words) as u64;
            for cursor in &mut history {
                cursor.subtract(&mut batch)?;
            }
            known += ((before - batch.len()) / words) as u64;
            new += (batch.len() / words) as u64;
            hear(self, &batch)?;
            self.ask(observer)?;
        }
        assert_eq!(merge.taken(), candidates.len(), "every candidate was read");
        assert_eq!(unique, known + new, "a candidate is visited or new");
        Ok(new)
    }
}
