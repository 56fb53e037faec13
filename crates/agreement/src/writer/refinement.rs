//! The mapping of a system to its specification.

use std::fmt::Write as _;

use birk_lang::ast::{MappedPart, Refinement};

use super::{ANY, Writer};

impl Writer<'_> {
    pub(super) fn refinement(&mut self, refinement: &Refinement) {
        let _ = write!(self.out, "refines {} {{ ", refinement.name.text);
        for mapped in &refinement.mapped {
            self.put(&mapped.variable.text);
            for part in &mapped.parts {
                match part {
                    MappedPart::Field(name) => _ = write!(self.out, ".{}", name.text),
                    MappedPart::At(index) => {
                        self.put("[");
                        self.expr(index, ANY, true);
                        self.put("]");
                    }
                    MappedPart::Each(name, lo, hi) => {
                        let _ = write!(self.out, "[{} : ", name.text);
                        self.expr(lo, ANY, true);
                        self.put(" .. ");
                        self.expr(hi, ANY, true);
                        self.put("]");
                    }
                }
            }
            self.put(" = ");
            self.expr(&mapped.value, ANY, true);
            self.put("; ");
        }
        self.put("}");
    }
}
