//! Classes of values by unification: what is compared with, assigned to or used as the same index as something else is of the same
//! class. A class whose values are computed with, or put in order, consists of *numbers*; of the others nothing is known but which
//! of their values are equal, or, if they form a *ring*, which one follows which.

use birk_ir::TransitionId;

/// A class; `Classes::find` gives the one that stands for all that were joined with it.
pub(super) type Class = usize;

/// Where something is written that matters to symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// In a transition.
    Transition(TransitionId),
    /// In the goal at this position.
    Goal(usize),
    /// Nowhere: it follows from how variables are declared.
    Declaration,
}

#[derive(Clone, Debug)]
struct Info {
    parent: Class,
    /// Where the values are used as numbers.
    number: Option<Site>,
    /// The class of the members, if the values are sets.
    members: Option<Class>,
    /// How many values there are, if they are counted modulo that, from 0 on.
    ring: Option<(i64, Site)>,
}

/// All classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes(Vec<Info>);

impl Classes {
    /// A class of its own.
    pub(super) fn fresh(&mut self) -> Class {
        self.0.push(Info { parent: self.0.len(), number: None, members: None, ring: None });
        self.0.len() - 1
    }

    /// A class of numbers.
    pub(super) fn number(&mut self, site: Site) -> Class {
        let class = self.fresh();
        self.0[class].number = Some(site);
        class
    }

    /// The class of sets with members of this class.
    pub(super) fn sets_of(&mut self, members: Class) -> Class {
        let class = self.fresh();
        self.0[class].members = Some(members);
        class
    }

    /// How many there are, those that were joined counted apart.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The class that stands for this one.
    pub(super) fn find(&self, mut class: Class) -> Class {
        while self.0[class].parent != class {
            class = self.0[class].parent;
        }
        class
    }

    /// Both are the same.
    pub(super) fn join(&mut self, one: Class, other: Class) {
        let (one, other) = (self.find(one), self.find(other));
        if one == other {
            return;
        }
        let (keep, drop) = (one.min(other), one.max(other));
        let dropped = self.0[drop].clone();
        self.0[drop].parent = keep;
        let kept = &mut self.0[keep];
        kept.number = kept.number.or(dropped.number);
        if let Some((length, site)) = dropped.ring {
            self.make_ring(keep, length, site);
        }
        let kept = &mut self.0[keep];
        match (kept.members, dropped.members) {
            (Some(one), Some(other)) => self.join(one, other),
            (None, members) => kept.members = members,
            (Some(_), None) => {}
        }
    }

    /// The values are numbers, as is seen here. Returns whether that is new.
    pub(super) fn make_number(&mut self, class: Class, site: Site) -> bool {
        let class = self.find(class);
        let is_new = self.0[class].number.is_none();
        self.0[class].number = self.0[class].number.or(Some(site));
        is_new
    }

    /// Where the values are used as numbers, if they are.
    pub(super) fn is_number(&self, class: Class) -> Option<Site> {
        self.0[self.find(class)].number
    }

    /// The values are counted modulo this, as is seen here: what is counted modulo two lengths is a number.
    pub(super) fn make_ring(&mut self, class: Class, length: i64, site: Site) {
        let class = self.find(class);
        match self.0[class].ring {
            None => self.0[class].ring = Some((length, site)),
            Some((known, _)) if known != length => _ = self.make_number(class, site),
            Some(_) => {}
        }
    }

    /// How many values are counted in a ring, if they are, and where that is seen.
    pub(super) fn ring(&self, class: Class) -> Option<(i64, Site)> {
        self.0[self.find(class)].ring
    }

    /// The class of the members of sets.
    pub(super) fn members(&self, class: Class) -> Option<Class> {
        self.0[self.find(class)].members.map(|members| self.find(members))
    }
}
