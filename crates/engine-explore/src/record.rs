//! Types of other crates as they are written down with what was found.

use std::collections::BTreeMap;

use parallax_machine::Site;
use parallax_program::{BlockId, FunctionId, Location};
use parallax_verdict::Counts;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Counts")]
pub struct CountsRecord {
    executions: u64,
    blocked: u64,
    redundant: u64,
    states: u64,
    events: u64,
}

/// Where an assumption failed.
pub mod assumption {
    use super::{Deserialize, Deserializer, Location, Serialize, Serializer};

    type Record = Option<Option<(String, u32, u32)>>;

    pub fn serialize<S: Serializer>(
        place: &Option<Option<Location>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let record = |at: &Location| (at.file.to_string(), at.line, at.column);
        // Two kinds of nothing are lists of different lengths.
        let record: Vec<Option<_>> = place.iter().map(|place| place.as_ref().map(record)).collect();
        record.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Option<Location>>, D::Error> {
        let record: Record = Vec::deserialize(from)?.into_iter().next();
        let place =
            |(file, line, column): (String, u32, u32)| Location { file: file.into(), line, column };
        Ok(record.map(|record| record.map(place)))
    }
}

/// What has examples in the program.
pub mod sites {
    use super::{
        BTreeMap, BlockId, Deserialize, Deserializer, FunctionId, Serialize, Serializer, Site,
    };
    use crate::buffering::{Pair, Pairs};

    type Record = (u32, u32, u32);

    pub fn serialize<S: Serializer>(pairs: &Pairs, to: S) -> Result<S::Ok, S::Error> {
        let record = |site: &Option<Site>| site.map(|at| (at.function.0, at.block.0, at.index));
        let all: Vec<(Pair, [Option<Record>; 2])> =
            pairs.iter().map(|(pair, sites)| (*pair, sites.each_ref().map(record))).collect();
        all.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Pairs, D::Error> {
        let site = |(function, block, index): Record| Site {
            function: FunctionId(function),
            block: BlockId(block),
            index,
        };
        let all: Vec<(Pair, [Option<Record>; 2])> = Vec::deserialize(from)?;
        let pairs = all.into_iter().map(|(pair, sites)| (pair, sites.map(|at| at.map(site))));
        Ok(pairs.collect::<BTreeMap<_, _>>())
    }
}
