//! What a user of the engine decides.

use parallax_control::Control;
use parallax_program::Property;

pub struct Options<'a> {
    /// What to look for.
    pub properties: Vec<Property>,
    /// How often loops are repeated at most.
    pub unroll: Option<u32>,
    /// Go on after a violation.
    pub all: bool,
    /// Whether an object that is never freed leaks only if nothing leads to it at the end.
    pub spares_tracked: bool,
    /// What inputs may be; None for any value.
    pub nondet: Option<(i128, i128)>,
    /// Whether the order in which threads are tried is drawn at random, by the seed of the control.
    /// The answer is the same; tests see to that.
    pub shuffles: bool,
    /// Steps of the search along paths, after which states are matched. Races are found along paths only.
    pub steps: u64,
    pub control: Control<'a>,
}

impl Options<'_> {
    /// Most programs whose paths end are through by then.
    pub const STEPS: u64 = 2048;

    pub fn wants(&self, property: Property) -> bool {
        self.properties.contains(&property)
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        let usual = Property::ALL.into_iter().filter(|property| *property != Property::Leak);
        Options {
            properties: usual.collect(),
            unroll: None,
            all: false,
            spares_tracked: false,
            nondet: None,
            shuffles: false,
            steps: Options::STEPS,
            control: Control::default(),
        }
    }
}
