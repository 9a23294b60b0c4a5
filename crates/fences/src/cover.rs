//! The cheapest plan that meets all demands.
//!
//! A demand says: at one of these decisions one of these options, or a stronger one. Finding the
//! cheapest plan is weighted set cover with a partial order on the options of each set, so it is hard
//! in general; but the demands of programs are few and short, so depth-first search with a bound is
//! all that is needed.

use crate::decision::{Decisions, Plan};

/// One of these decisions has one of the options that are named for it. With an option each
/// stronger one is named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Demand(pub Vec<(usize, Vec<usize>)>);

impl Demand {
    /// What every plan must do that is not at most as strong as this one, everywhere.
    pub fn beyond(decisions: &Decisions, largest: &Plan) -> Demand {
        let mut demand = Vec::new();
        for (number, decision) in decisions.0.iter().enumerate() {
            let Some(most) = decisions.chosen(largest, number) else {
                continue;
            };
            let beyond = |option: &usize| !decision.options[*option].is_at_most(most);
            let options: Vec<usize> = (0..decision.options.len()).filter(beyond).collect();
            if !options.is_empty() {
                demand.push((number, options));
            }
        }
        Demand(demand)
    }

    pub fn is_met(&self, plan: &Plan) -> bool {
        self.0.iter().any(|(decision, options)| {
            let chosen = plan.0.get(*decision).map(|option| usize::from(*option));
            chosen.is_some_and(|chosen| options.contains(&chosen))
        })
    }
}

/// What is cheaper than what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Objective {
    /// Fewer fences, then less weight.
    #[default]
    Count,
    /// Less weight, then fewer fences.
    Weight,
}

impl Objective {
    /// The cost of a plan, as pairs that compare.
    pub fn of(self, (count, weight): (u64, u64)) -> (u64, u64) {
        match self {
            Objective::Count => (count, weight),
            Objective::Weight => (weight, count),
        }
    }
}

/// The cheapest plan that meets all demands; None if there is no plan at all. At a demand that is not
/// met, each decision in it is raised in turn, and forbidden for what comes after. The bound adds what
/// demands that have no decision in common cost at least.
pub fn cheapest(decisions: &Decisions, demands: &[Demand], objective: Objective) -> Option<Plan> {
    let mut demands: Vec<&Demand> = demands.iter().collect();
    demands.sort_by_key(|demand| demand.0.len());
    let costs = decisions.0.iter().map(|decision| {
        let cost = |choice: &crate::Choice| objective.of((choice.count, choice.weight));
        decision.options.iter().map(cost).collect()
    });
    let mut search = Search {
        decisions,
        demands,
        costs: costs.collect(),
        frozen: vec![false; decisions.0.len()],
        best: None,
    };
    let mut plan = decisions.weakest();
    let cost = search.cost_of(&plan);
    search.descend(&mut plan, cost);
    search.best.map(|(_, plan)| plan)
}

type Cost = (u64, u64);

struct Search<'a> {
    decisions: &'a Decisions,
    demands: Vec<&'a Demand>,
    costs: Vec<Vec<Cost>>,
    /// Decisions that may not be raised any more.
    frozen: Vec<bool>,
    best: Option<(Cost, Plan)>,
}

impl Search<'_> {
    fn cost_of(&self, plan: &Plan) -> Cost {
        let costs = self.costs.iter().zip(&plan.0).map(|(costs, option)| costs[*option as usize]);
        costs.fold((0, 0), |sum, cost| (sum.0 + cost.0, sum.1 + cost.1))
    }

    fn descend(&mut self, plan: &mut Plan, cost: Cost) {
        let Some((least, narrowest)) = self.rest(plan) else {
            return;
        };
        let reachable = (cost.0 + least.0, cost.1 + least.1);
        if self.best.as_ref().is_some_and(|(best, _)| reachable >= *best) {
            return;
        }
        let Some(demand) = narrowest else {
            self.best = Some((cost, plan.clone()));
            return;
        };
        let demand = self.demands[demand];
        let mut thawed = Vec::new();
        for (decision, options) in &demand.0 {
            if self.frozen[*decision] {
                continue;
            }
            let now = plan.0[*decision];
            for option in self.raises(now, *decision, options) {
                let costs = &self.costs[*decision];
                let (new, old) = (costs[option], costs[now as usize]);
                let raised = (cost.0 + new.0 - old.0, cost.1 + new.1 - old.1);
                plan.0[*decision] = option as u8;
                self.descend(plan, raised);
            }
            plan.0[*decision] = now;
            self.frozen[*decision] = true;
            thawed.push(*decision);
        }
        thawed.into_iter().for_each(|decision| self.frozen[decision] = false);
    }

    /// The options of a demand that a decision can be raised to: those that no other one lies
    /// below.
    fn raises(&self, now: u8, decision: usize, options: &[usize]) -> Vec<usize> {
        let all = &self.decisions.0[decision].options;
        let now = &all[now as usize];
        let above = |option: &&usize| now.is_at_most(&all[**option]);
        let possible: Vec<usize> = options.iter().filter(above).copied().collect();
        let least = |option: &&usize| {
            let below = |other: &usize| other != *option && all[*other].is_at_most(&all[**option]);
            !possible.iter().any(below)
        };
        possible.iter().filter(least).copied().collect()
    }

    /// What the demands that are not met cost at least, and the one of them with the fewest
    /// decisions. None where one of them cannot be met.
    fn rest(&self, plan: &Plan) -> Option<(Cost, Option<usize>)> {
        let mut used = vec![false; self.decisions.0.len()];
        let mut least = (0, 0);
        let mut narrowest: Option<(usize, usize)> = None;
        for (number, demand) in self.demands.iter().enumerate() {
            if demand.is_met(plan) {
                continue;
            }
            let free = || demand.0.iter().filter(|(decision, _)| !self.frozen[*decision]);
            let cheapest = free().filter_map(|(decision, options)| {
                let now = plan.0[*decision];
                let old = self.costs[*decision][now as usize];
                let raises = self.raises(now, *decision, options).into_iter();
                let cost = |option: usize| self.costs[*decision][option];
                raises.map(cost).map(|new| (new.0 - old.0, new.1 - old.1)).min()
            });
            // The two parts of a cost are smallest each by itself.
            let cheapest = cheapest.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))?;
            if narrowest.is_none_or(|(_, width)| free().count() < width) {
                narrowest = Some((number, free().count()));
            }
            if demand.0.iter().all(|(decision, _)| !used[*decision]) {
                least = (least.0 + cheapest.0, least.1 + cheapest.1);
                demand.0.iter().for_each(|(decision, _)| used[*decision] = true);
            }
        }
        Some((least, narrowest.map(|(number, _)| number)))
    }
}
