//! Names of ids are types, so that a thread's number is never taken for a transition's.

use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl $name {
            /// The id of the element at `index` of its table.
            pub fn new(index: usize) -> Self {
                Self(<$inner>::try_from(index).expect("a table holds fewer elements than its ids can name"))
            }

            /// The position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    )*};
}

ids! {
    /// A variable (scalar or array) of a program.
    VarId(u32);
    /// A value bound inside one expression or one transition.
    LocalId(u32);
    /// One running (or startable) copy of a thread.
    ThreadId(u32);
    /// A location of a thread kind.
    LocationId(u32);
    /// A guarded transition of a program.
    TransitionId(u32);
    /// Something that can go wrong at one place of the source.
    FaultId(u32);
    /// A state in a store.
    StateId(u64);
}

/// A range of bytes in a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Which file, in the order in which they were read (0 is the model itself).
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A range in file 0.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { file: 0, start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// As a range for slicing the source.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}
