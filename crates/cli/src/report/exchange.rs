//! What a JSON report says of the states that workers have sent each other.

use birk_engine::Stats;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExchangeReport {
    blocks: u64,
    compressed_blocks: u64,
    bytes: u64,
}

impl ExchangeReport {
    /// Of a search by several workers.
    pub(super) fn of(stats: &Stats) -> Option<Self> {
        let exchange = stats.exchange().filter(|exchange| exchange.blocks > 0)?;
        Some(Self { blocks: exchange.blocks, compressed_blocks: exchange.compressed_blocks, bytes: exchange.bytes })
    }
}
