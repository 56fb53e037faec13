//! Workers of a cluster in one process: the same answers as alone, also after a restart.

mod restart;
mod same;
mod workers;
