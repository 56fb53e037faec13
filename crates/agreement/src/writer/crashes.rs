//! What a thread does when it crashes.

use std::fmt::Write as _;

use birk_lang::ast::Crashes;

use super::{ANY, Writer};

impl Writer<'_> {
    pub(super) fn crashes(&mut self, crashes: &Crashes) {
        self.put(" crashes");
        if let Some(condition) = &crashes.condition {
            self.put(" when ");
            self.expr(condition, ANY, true);
        }
    }

    pub(super) fn blocks_of(&mut self, crashes: &Crashes) {
        for (word, block) in [("crash", &crashes.crash), ("restart", &crashes.restart)] {
            let Some(block) = block else { continue };
            let _ = writeln!(self.out, "    on {word} {{");
            self.statements(block, 3);
            self.put("    }\n");
        }
    }
}
