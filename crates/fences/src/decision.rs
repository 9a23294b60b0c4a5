//! What can be decided: for each place of the source where a fence may be put, and for each access
//! or fence whose memory order may be changed, one of several options.
//!
//! There is one decision for a place, whatever loops, inlining and threads make of it. Options are
//! sets of *features*: `acq_rel` has those of `acq` and of `rel`, and `sc` has one more. An option
//! is at least as strong as another if it has all of its features.

use parallax_program::{Location, Order, Tags};

/// A way to decide. Features say which options are stronger than which.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// How people call it: `acq_rel`, `mfence`; `none` for no fence.
    pub name: String,
    /// The tags of the event; None for a fence that is not there. Of accesses, those that say the
    /// order.
    pub tags: Option<Vec<&'static str>>,
    pub features: u32,
    /// Fences that it adds to the program, 0 or 1.
    pub count: u64,
    pub weight: u64,
}

impl Choice {
    pub fn is_at_most(&self, other: &Choice) -> bool {
        self.features & !other.features == 0
    }
}

/// What is decided about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A fence that might be inserted.
    Insertion,
    /// A fence that is there.
    Fence,
    /// The order of an access; of a compare-and-swap, that of success.
    Access,
    /// The order of a compare-and-swap that fails.
    Failure,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    pub subject: Subject,
    pub place: Location,
    /// No option comes before a weaker one; the first is the weakest of all.
    pub options: Vec<Choice>,
    /// The option that the program as it stands has.
    pub present: usize,
}

/// One option for each decision, by their places.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Plan(pub Vec<u8>);

/// All that can be decided about a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decisions(pub Vec<Decision>);

impl Decision {
    /// Whether a tag is the order that is decided about: a change of the order replaces it.
    fn is_order(&self, tag: &str) -> bool {
        let mut known = self.options.iter().filter_map(|choice| choice.tags.as_ref()).flatten();
        Order::of_tag(tag).is_some() || known.any(|known| *known == tag)
    }
}

impl Decisions {
    /// The plan that changes nothing.
    pub fn present(&self) -> Plan {
        Plan(self.0.iter().map(|decision| decision.present as u8).collect())
    }

    /// The weakest of everything.
    pub fn weakest(&self) -> Plan {
        Plan(vec![0; self.0.len()])
    }

    /// The strongest of everything. Where several options have nothing above them, the last.
    pub fn strongest(&self) -> Plan {
        Plan(self.0.iter().map(|decision| decision.options.len().saturating_sub(1) as u8).collect())
    }

    /// What a plan has for a decision.
    pub fn chosen(&self, plan: &Plan, decision: usize) -> Option<&Choice> {
        let option = *plan.0.get(decision)?;
        self.0.get(decision)?.options.get(usize::from(option))
    }

    /// The tags of an event, or an instruction, that is marked as a candidate. None for a fence that
    /// is not there.
    pub fn tags(&self, plan: &Plan, decision: u32, now: &Tags) -> Option<Tags> {
        let chosen = self.chosen(plan, decision as usize)?;
        let tags = chosen.tags.as_ref()?;
        let decision = self.0.get(decision as usize)?;
        match decision.subject {
            Subject::Insertion | Subject::Fence => Some(Tags::new(tags.iter().copied())),
            Subject::Access | Subject::Failure => {
                let kept = now
                    .iter()
                    .map(|tag| tag.as_str())
                    .filter(|tag| !decision.is_order(tag) && !tag.starts_with(Tags::CANDIDATE));
                Some(Tags::new(kept.chain(tags.iter().copied())))
            }
        }
    }

    /// Number of fences, and weight, of a plan.
    pub fn cost(&self, plan: &Plan) -> (u64, u64) {
        let chosen = (0..self.0.len()).filter_map(|decision| self.chosen(plan, decision));
        chosen
            .fold((0, 0), |(count, weight), choice| (count + choice.count, weight + choice.weight))
    }

    /// Whether the first plan is at most as strong as the second, everywhere.
    pub fn is_at_most(&self, plan: &Plan, other: &Plan) -> bool {
        (0..self.0.len()).all(|decision| {
            match (self.chosen(plan, decision), self.chosen(other, decision)) {
                (Some(one), Some(two)) => one.is_at_most(two),
                _ => false,
            }
        })
    }
}
