//! The table of engines: those of `search` and, where they are built in, `symbolic` and `cluster`, and whoever comes with one of their own.

use birk_engine::{Engine, EngineOption};

/// Breadth-first search, and all others where that cannot finish.
#[cfg(feature = "native")]
const AUTO: Engine = Engine {
    name: "auto",
    summary: "breadth-first; what it cannot finish within the budget is hunted by the other engines in turns",
    when: "the default: no need to choose",
    memory: "as bfs; then the engines of the hunt share the budget",
    portfolio: true,
    ..birk_search::ENGINES[0]
};

/// Engines by their names, the default first.
#[derive(Clone, Debug)]
pub struct Engines(Vec<Engine>);

impl Default for Engines {
    /// All engines of Birk that are built in.
    fn default() -> Self {
        // Files are a matter of one's own machine, too.
        let engines = birk_search::ENGINES.iter().filter(|engine| cfg!(feature = "native") || !engine.on_disk);
        #[cfg(feature = "native")]
        let engines = std::iter::once(&AUTO).chain(engines).chain(birk_symbolic::ENGINES);
        #[cfg(feature = "cluster")]
        let engines = engines.chain(birk_cluster::ENGINES);
        Self(engines.copied().collect())
    }
}

impl Engines {
    /// These, and another one.
    #[must_use]
    pub fn with(mut self, engine: Engine) -> Self {
        self.0.push(engine);
        self
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = &Engine> {
        self.0.iter()
    }

    /// The engine that is taken when none is named.
    pub fn usual(&self) -> &Engine {
        &self.0[0]
    }

    /// The engine of this name.
    pub fn get(&self, name: &str) -> Option<&Engine> {
        self.iter().find(|engine| engine.name == name)
    }

    /// The options that only some engines have, each with the names of those, in the order of the table.
    pub fn options(&self) -> Vec<(EngineOption, Vec<&'static str>)> {
        let mut options: Vec<(EngineOption, Vec<&'static str>)> = Vec::new();
        for engine in self.iter() {
            for option in engine.options {
                match options.iter_mut().find(|(known, _)| known.name == option.name) {
                    Some((_, owners)) => owners.push(engine.name),
                    None => options.push((*option, vec![engine.name])),
                }
            }
        }
        options
    }

    /// The first two engines that this is true of, as words of a command line: `--search bfs or --search depth`.
    pub(crate) fn named(&self, is_meant: impl Fn(&Engine) -> bool) -> String {
        let names: Vec<String> = self
            .iter()
            .filter(|engine| !engine.portfolio && is_meant(engine))
            .take(2)
            .map(|engine| format!("--search {}", engine.name))
            .collect();
        names.join(" or ")
    }
}
