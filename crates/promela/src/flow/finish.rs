//! The last steps of the flow: jumps get their targets, the ends of blocks what follows, and labels their marks.

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::Span;

use super::build::Builder;
use super::{ATOM, Element, Flow, LAST, Node, Seq, Target};

impl Builder<'_> {
    pub(super) fn finish(mut self, whole: Seq, referred: &[Rc<str>]) -> Flow {
        self.resolve();
        for name in referred {
            self.keep(name);
        }
        // Outer blocks are made after what is in them.
        for at in (0..self.elements.len()).rev() {
            if let Some(body) = self.elements[at].body {
                self.elements[body.last].next = self.elements[at].next;
            }
        }
        for at in 0..self.elements.len() {
            if let (Node::DStep, Some(body)) = (&self.elements[at].node, self.elements[at].body) {
                self.mark_dstep(body, at);
                self.refuse_jumps(at);
            }
        }
        for at in 0..self.elements.len() {
            let body = self.elements[at].body;
            if let (Node::Atomic | Node::Block, Some(body)) = (&self.elements[at].node, body) {
                self.bridge(body);
            }
        }
        let mut labels = HashMap::new();
        for (name, _, element) in &self.labels {
            labels.entry(Rc::clone(name)).or_insert(*element);
        }
        let starts = |element: &Element, word: &str| element.labels.iter().any(|label| label.starts_with(word));
        let mark = |element: &Element| {
            let is_end = matches!(element.node, Node::End) || starts(element, "end");
            [is_end, starts(element, "accept"), starts(element, "progress")]
        };
        let marks = self.elements.iter().map(mark).collect();
        let mut flow = Flow { elements: self.elements, start: whole.first, locals: self.locals, labels, marks };
        flow.start = flow.hunt(whole.first, flow.elements[whole.first].status);
        flow.hand_on_marks();
        flow
    }

    /// The elements that jumps lead to.
    fn resolve(&mut self) {
        for at in 0..self.elements.len() {
            let target = match &self.elements[at].node {
                Node::Goto(Target::Loop(number)) => self.loop_ends[*number],
                Node::Goto(Target::Label(name)) => {
                    let inline = self.elements[at].inline;
                    let same = |label: &&(Rc<str>, usize, usize)| label.0 == name.text;
                    let own = self.labels.iter().find(|label| same(label) && label.1 == inline);
                    own.or_else(|| self.labels.iter().find(same)).map(|label| label.2)
                }
                _ => continue,
            };
            match (target, self.elements[at].node.clone()) {
                (Some(target), _) => self.elements[at].node = Node::Goto(Target::Element(target)),
                (None, Node::Goto(Target::Label(name))) => {
                    let message = format!("there is no label `{}` in this process", name.text);
                    self.error("E2007", name.span, message, "not a label");
                    self.elements[at].node = Node::Skip;
                }
                (None, _) => self.elements[at].node = Node::Skip,
            }
        }
        self.refuse_circles();
    }

    /// Jumps that lead to each other without a statement between.
    fn refuse_circles(&mut self) {
        for at in 0..self.elements.len() {
            let mut next = at;
            for round in 0..=self.elements.len() {
                let Node::Goto(Target::Element(target)) = self.elements[next].node else { break };
                next = target;
                if next == at || round == self.elements.len() {
                    let span = self.elements[at].span;
                    self.error("E2007", span, "these jumps lead back to themselves", "without a statement between");
                    self.elements[at].node = Node::Skip;
                    break;
                }
            }
        }
    }

    /// A label that others refer to stands at an element where a process can be.
    fn keep(&mut self, name: &Rc<str>) {
        let Some(at) = self.labels.iter().find(|label| label.0 == *name).map(|label| label.2) else { return };
        if matches!(self.elements[at].node, Node::Goto(_)) {
            let copy = self.elements[at].clone();
            self.elements.push(Element { labels: Vec::new(), ..copy });
            let jump = self.elements.len() - 1;
            self.elements[at].node = Node::Skip;
            self.elements[at].next = Some(jump);
        }
    }

    fn mark_dstep(&mut self, seq: Seq, whole: usize) {
        let mut at = seq.first;
        loop {
            self.elements[at].dstep = Some(whole);
            if let Some(body) = self.elements[at].body {
                self.mark_dstep(body, whole);
            }
            for option in self.elements[at].options.clone() {
                self.mark_dstep(option, whole);
            }
            match self.elements[at].next {
                Some(next) if at != seq.last => at = next,
                _ => return,
            }
        }
    }

    /// Nobody jumps into a `d_step` or out of it.
    fn refuse_jumps(&mut self, whole: usize) {
        let mut wrong: Vec<Span> = Vec::new();
        for element in &self.elements {
            if let Node::Goto(Target::Element(target)) = element.node {
                let target = &self.elements[target];
                let crosses = (element.dstep == Some(whole)) != (target.dstep == Some(whole));
                if crosses && element.span != Span::default() {
                    wrong.push(element.span);
                }
            }
        }
        for span in wrong {
            self.error("E2008", span, "a jump into or out of a `d_step`", "leads across its border");
        }
    }

    /// Jumps out of an atomic sequence end it; jumps into another go on in it.
    fn bridge(&mut self, seq: Seq) {
        let mut at = seq.first;
        loop {
            if let Node::Goto(Target::Element(target)) = self.elements[at].node {
                let inside = self.elements[target].status & (ATOM | LAST) != 0;
                let this = &mut self.elements[at];
                if this.status & (ATOM | LAST) != 0 && !inside {
                    this.status = this.status & !ATOM | LAST;
                }
                if this.status & LAST != 0 && inside {
                    this.status = this.status & !LAST | ATOM;
                }
            } else {
                for option in self.elements[at].options.clone() {
                    self.bridge(option);
                }
            }
            match self.elements[at].next {
                Some(next) if at != seq.extent => at = next,
                _ => return,
            }
        }
    }
}
