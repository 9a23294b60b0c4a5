//! Where the steps of an execution stand on the page, and what is drawn between them: a lane for
//! each thread, and a row for each step, in the order of the numbers that the trace has. Reads come
//! after the stores that they read in that order, so what points upwards is what surprises: a
//! read of an old value, and other steps of a cycle that no interleaving has.

use std::collections::{BTreeSet, HashMap};

use parallax_program::{Location, Property};
use parallax_verdict::{EventKind, Life, ThreadEnding, Violation};

use super::super::cycle::Step;
use super::super::links::{Links, Naming};
use super::super::story::Story;
use super::super::trace::{Row, StepRow};
use super::super::words::{Words, counted};

pub struct Chart {
    pub lanes: Vec<Lane>,
    pub cards: Vec<Card>,
    pub gaps: Vec<Gap>,
    pub edges: Vec<Edge>,
    /// The last one, in which threads stand in the end.
    pub rows: u32,
    /// For each event the number of the step that shows it; 0 if none does.
    pub steps: Vec<u32>,
}

pub struct Lane {
    pub name: String,
    pub origin: String,
}

/// A step, or where a thread stands in the end.
pub struct Card {
    pub lane: usize,
    pub row: u32,
    /// None for where a thread stands.
    pub step: Option<u32>,
    pub act: String,
    pub words: String,
    pub order: Option<String>,
    pub place: String,
    pub source: String,
    pub location: Option<Location>,
    /// The step whose value it misses.
    pub missed: Option<u32>,
    pub involved: bool,
    pub on_cycle: bool,
}

/// Steps that are not shown, above the row of the next one.
pub struct Gap {
    pub lane: usize,
    pub row: u32,
    pub words: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A read and where its value comes from.
    Reads,
    /// A thread and who has started it, or who waits for its end.
    Life,
    /// A read and the store that it should have read.
    Misses,
    /// A store and the one that replaces it.
    Replaces,
    /// Two steps of a thread on the cycle.
    Order,
    /// Two accesses that nothing orders.
    Unordered,
    /// An object is freed, and accessed after that.
    Late,
    /// A thread and whom it waits for.
    Waits,
}

impl Kind {
    pub fn class(self) -> &'static str {
        match self {
            Kind::Reads => "reads",
            Kind::Life => "life",
            Kind::Misses => "misses",
            Kind::Replaces => "replaces",
            Kind::Order => "order",
            Kind::Unordered => "unordered",
            Kind::Late => "late",
            Kind::Waits => "waits",
        }
    }

    /// What an arrow of the kind says, for the legend.
    pub fn legend(self) -> &'static str {
        match self {
            Kind::Reads => "from a store to the read that takes its value",
            Kind::Life => "starts or joins a thread",
            Kind::Misses => "from a read to the store that it misses",
            Kind::Replaces => "from a store to the one that replaces it",
            Kind::Order => "one after the other in a thread",
            Kind::Unordered => "nothing orders these two",
            Kind::Late => "freed, and used after that",
            Kind::Waits => "waits for",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    pub kind: Kind,
    pub from: Spot,
    pub to: Spot,
    pub on_cycle: bool,
    pub words: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Spot {
    pub lane: usize,
    pub row: u32,
}

impl Chart {
    pub fn new(violation: &Violation, story: &Story) -> Chart {
        let links = Links::new(&violation.execution);
        let mut maker = Maker::new(violation, story, &links);
        maker.place_cards();
        maker.communication();
        maker.cycle();
        maker.about();
        maker.waiting();
        maker.chart
    }

    /// The step of an event, if it is shown.
    pub fn step(&self, event: u32) -> Option<u32> {
        self.steps.get(event as usize).copied().filter(|step| *step > 0)
    }

    /// The last number of a step.
    pub fn last(&self) -> u32 {
        self.rows.saturating_sub(1)
    }
}

struct Maker<'a> {
    violation: &'a Violation,
    story: &'a Story,
    links: &'a Links,
    words: Words<'a>,
    chart: Chart,
    lane_of: HashMap<u32, usize>,
}

impl<'a> Maker<'a> {
    fn new(violation: &'a Violation, story: &'a Story, links: &'a Links) -> Maker<'a> {
        let words = Words { execution: &violation.execution, links };
        let mut steps = vec![0; violation.execution.events.len()];
        let mut lanes = Vec::new();
        let mut lane_of = HashMap::new();
        let mut last = 0;
        for (thread, trace) in (0u32..).zip(&story.threads).filter(|(_, t)| !t.rows.is_empty()) {
            lane_of.insert(thread, lanes.len());
            let (name, origin) = (trace.name.clone(), trace.origin.clone());
            lanes.push(Lane { name, origin });
            for row in &trace.rows {
                let Row::Step(row) = row else { continue };
                last = last.max(row.step);
                steps[row.event as usize] = row.step;
                if let Some(write) = links.update[row.event as usize] {
                    steps[write as usize] = row.step;
                }
            }
        }
        let (cards, gaps, edges) = (Vec::new(), Vec::new(), Vec::new());
        let chart = Chart { lanes, cards, gaps, edges, rows: last + 1, steps };
        Maker { violation, story, links, words, chart, lane_of }
    }

    fn place_cards(&mut self) {
        let on_cycle: BTreeSet<u32> =
            self.story.why.iter().flat_map(|why| &why.events).copied().collect();
        let story = self.story;
        for (thread, trace) in (0u32..).zip(&story.threads) {
            let Some(lane) = self.lane_of.get(&thread).copied() else { continue };
            let mut left_out = 0;
            for row in &trace.rows {
                let card = match row {
                    Row::LeftOut(count) => {
                        left_out = *count;
                        continue;
                    }
                    Row::Step(row) => self.step_card(lane, row, &on_cycle),
                    Row::Standing { place, words, source, location, .. } => Card {
                        lane,
                        row: self.chart.rows,
                        step: None,
                        act: words.clone(),
                        words: words.clone(),
                        order: None,
                        place: self.place(place),
                        source: source.clone(),
                        location: location.clone(),
                        missed: None,
                        involved: true,
                        on_cycle: false,
                    },
                };
                self.gap(lane, card.row, &mut left_out);
                self.chart.cards.push(card);
            }
            let end = self.chart.rows;
            self.gap(lane, end, &mut left_out);
        }
    }

    /// `line 12 push` where there is one file only, and otherwise the file too.
    fn place(&self, place: &str) -> String {
        match &self.links.naming {
            Naming::OneFile(Some(file)) => match place.strip_prefix(&format!("{file}:")) {
                Some(rest) => format!("line {rest}"),
                None => place.to_string(),
            },
            _ => place.to_string(),
        }
    }

    fn step_card(&self, lane: usize, row: &StepRow, on_cycle: &BTreeSet<u32>) -> Card {
        let update = self.links.update[row.event as usize];
        let parts = || [Some(row.event), update].into_iter().flatten();
        Card {
            lane,
            row: row.step,
            step: Some(row.step),
            act: row.act.clone(),
            words: row.words.clone(),
            order: row.order.clone(),
            place: self.place(&row.place),
            source: row.source.clone(),
            location: row.location.clone(),
            missed: row.missed.and_then(|event| self.chart.step(event)),
            involved: row.involved,
            on_cycle: parts().any(|event| on_cycle.contains(&event)),
        }
    }

    fn gap(&mut self, lane: usize, row: u32, left_out: &mut usize) {
        if *left_out > 0 {
            let words = format!("… {} left out", counted(*left_out as u64, "step"));
            self.chart.gaps.push(Gap { lane, row, words });
            *left_out = 0;
        }
    }

    /// Where an event is shown.
    fn spot(&self, event: u32) -> Option<Spot> {
        let row = self.chart.step(event)?;
        let lane = *self.lane_of.get(&self.words.event(event).thread?)?;
        Some(Spot { lane, row })
    }

    /// Where an event is shown, or else the next step of its thread, or where that stands in the end.
    fn near(&self, event: u32) -> Option<Spot> {
        let lane = *self.lane_of.get(&self.words.event(event).thread?)?;
        let mut at = Some(event);
        while let Some(event) = at {
            if let Some(spot) = self.spot(event) {
                return Some(spot);
            }
            at = self.links.next[event as usize];
        }
        Some(Spot { lane, row: self.chart.rows })
    }

    /// The first card of a lane.
    fn top(&self, lane: usize) -> Option<Spot> {
        let cards = self.chart.cards.iter().filter(|card| card.lane == lane);
        cards.map(|card| card.row).min().map(|row| Spot { lane, row })
    }

    fn add(&mut self, kind: Kind, from: Spot, to: Spot, words: String) {
        let same = |edge: &Edge| (edge.kind, edge.from, edge.to) == (kind, from, to);
        if from != to && !self.chart.edges.iter().any(same) {
            self.chart.edges.push(Edge { kind, from, to, on_cycle: false, words });
        }
    }

    /// Where values of other threads come from, which are missed, and who starts whom.
    fn communication(&mut self) {
        let story = self.story;
        for row in story.threads.iter().flat_map(|thread| &thread.rows) {
            let Row::Step(row) = row else { continue };
            let Some(here) = self.spot(row.event) else { continue };
            let life = self.words.event(row.event).kind.life();
            let source = self.links.source[row.event as usize].and_then(|write| self.spot(write));
            if let Some(from) = source.filter(|from| from.lane != here.lane) {
                let kind = if life.is_some() { Kind::Life } else { Kind::Reads };
                let words = format!("{} {}", self.words.who(row.event), row.words);
                self.add(kind, from, here, words);
            }
            if let Some(Life::Start(thread)) = life
                && let Some(lane) = self.lane_of.get(&thread).copied()
                && let Some(first) = self.top(lane)
            {
                let words = format!("{} {}", self.words.who(row.event), row.words);
                self.add(Kind::Life, here, first, words);
            }
            if let Some(to) = row.missed.and_then(|write| self.spot(write)) {
                let words = format!("{} {}", self.words.who(row.event), row.words);
                self.add(Kind::Misses, here, to, words);
            }
        }
    }

    /// The steps of the cycle, which may be drawn already.
    fn cycle(&mut self) {
        let story = self.story;
        for edge in story.why.iter().flat_map(|why| &why.cycle) {
            let (Some(from), Some(to)) = (self.near(edge.from), self.near(edge.to)) else {
                continue;
            };
            let is_life = self.words.event(edge.to).kind.life().is_some();
            let (kind, verb) = match edge.step {
                Step::Po => (Kind::Order, "comes before"),
                Step::Rf if is_life => (Kind::Life, "lets go on"),
                Step::Rf => (Kind::Reads, "is read by"),
                Step::Co => (Kind::Replaces, "is replaced by"),
                Step::Fr => (Kind::Misses, "reads what is older than"),
            };
            let act = |event| format!("{} {}", self.words.who(event), self.words.act(event));
            let words = format!("{}: {verb} {}", act(edge.from), act(edge.to));
            self.add(kind, from, to, words);
            let drawn = self.chart.edges.iter_mut();
            drawn
                .filter(|drawn| (drawn.kind, drawn.from, drawn.to) == (kind, from, to))
                .for_each(|drawn| drawn.on_cycle = true);
        }
    }

    /// The two events that a race or a late access is about.
    fn about(&mut self) {
        let involved = &self.violation.involved;
        self.late_failure();
        let [one, other] = involved[..] else { return };
        let known = |event: u32| (event as usize) < self.violation.execution.events.len();
        if !known(one) || !known(other) {
            return;
        }
        let (Some(a), Some(b)) = (self.spot(one), self.spot(other)) else { return };
        let (first, second) = if a.row <= b.row { (a, b) } else { (b, a) };
        let frees = |event: u32| matches!(self.words.event(event).kind, EventKind::Free { .. });
        match self.violation.property {
            Property::Race => {
                let words = "nothing orders these two accesses".to_string();
                self.add(Kind::Unordered, first, second, words);
            }
            Property::Memory if frees(one) || frees(other) => {
                let words = "the object is gone by then, or may be".to_string();
                self.add(Kind::Late, first, second, words);
            }
            _ => {}
        }
    }

    /// From where an object was freed to a thread that fails at it before it has done anything.
    fn late_failure(&mut self) {
        let violation = self.violation;
        let events = &violation.execution.events;
        let freed = violation.involved.iter().copied().find(|event| {
            let kind = events.get(*event as usize).map(|event| &event.kind);
            matches!(kind, Some(EventKind::Free { .. }))
        });
        let standings = (0u32..).zip(&violation.execution.standings);
        let mut failed = standings.filter(|(_, it)| it.ending == ThreadEnding::Failed);
        let failed = failed.next().and_then(|(thread, _)| self.lane_of.get(&thread).copied());
        let (Some(event), Some(lane)) = (freed, failed) else { return };
        let to = Spot { lane, row: self.chart.rows };
        let is_there = self.chart.cards.iter().any(|card| (card.lane, card.row) == (lane, to.row));
        if let Some(from) = self.spot(event).filter(|_| is_there) {
            let who = self.chart.lanes[lane].name.clone();
            let words = format!("{}, and {who} fails after that", self.words.act(event));
            self.add(Kind::Late, from, to, words);
        }
    }

    fn waiting(&mut self) {
        let story = self.story;
        let row = self.chart.rows;
        for (thread, trace) in (0u32..).zip(&story.threads) {
            let Some(Row::Standing { awaits: Some(other), words, .. }) = trace.rows.last() else {
                continue;
            };
            let lanes = (self.lane_of.get(&thread).copied(), self.lane_of.get(other).copied());
            if let (Some(from), Some(to)) = lanes {
                let words = format!("{} {words}", trace.name);
                self.add(Kind::Waits, Spot { lane: from, row }, Spot { lane: to, row }, words);
            }
        }
    }
}
