//! A check by several processes, each of which runs this command: which engine that takes, and which of them reports.

use birk::Options;

use crate::Failure;
use crate::cli::CheckArgs;
use crate::progress::Watcher;
#[cfg(feature = "cluster")]
use crate::say;
use crate::source::Source;

/// The processes that check together, if this is not the only one.
#[cfg(feature = "cluster")]
pub(super) struct Together(Option<std::sync::Arc<crate::cluster::Cluster>>);

#[cfg(feature = "cluster")]
impl Together {
    /// The engine that several processes take.
    pub(super) fn choose(args: &CheckArgs, options: &mut Options) -> Result<(), Failure> {
        if args.together.cluster.is_none() {
            return Ok(());
        }
        if options.engine == options.engines.usual().name {
            options.engine = "cluster".to_owned();
        }
        if !options.engine()?.distributed {
            return Err(Failure::usage(format!(
                "--search {} searches in one process; leave it out with --cluster, or leave --cluster out",
                options.engine
            )));
        }
        Ok(())
    }

    /// Whether another process keeps the search, where it is kept.
    pub(super) fn is_led(args: &CheckArgs) -> Result<bool, Failure> {
        crate::cluster::Cluster::is_led(&args.together)
    }

    /// Connects with the others.
    pub(super) fn join(
        args: &CheckArgs,
        options: &Options,
        source: &Source,
        watcher: &mut Watcher,
    ) -> Result<Self, Failure> {
        let threads = options.threads_of(options.engine()?);
        let cluster = crate::cluster::Cluster::join(args, source, threads)?;
        if let Some(cluster) = &cluster {
            watcher.search_with(std::sync::Arc::clone(cluster) as _);
        }
        Ok(Self(cluster))
    }

    /// The search is over; whether this process leaves the report to another.
    pub(super) fn finish(&self) -> bool {
        let Some(cluster) = &self.0 else { return false };
        cluster.finish();
        if cluster.is_silent() {
            say(&cluster.farewell());
        }
        cluster.is_silent()
    }
}

/// What `birk resume` needs to know beside the folder.
pub(super) fn words(args: &CheckArgs) -> String {
    #[cfg(feature = "cluster")]
    if let Some(hosts) = args.together.cluster.as_ref().filter(|_| std::env::var(crate::cluster::PROCESSES).is_err()) {
        return format!(" --cluster {}", hosts.display());
    }
    let _ = args;
    String::new()
}

/// There is one process.
#[cfg(not(feature = "cluster"))]
pub(super) struct Together;

#[cfg(not(feature = "cluster"))]
impl Together {
    pub(super) fn choose(_: &CheckArgs, _: &mut Options) -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn is_led(_: &CheckArgs) -> Result<bool, Failure> {
        Ok(false)
    }

    pub(super) fn join(_: &CheckArgs, _: &Options, _: &Source, _: &mut Watcher) -> Result<Self, Failure> {
        Ok(Self)
    }

    pub(super) fn finish(&self) -> bool {
        false
    }
}
