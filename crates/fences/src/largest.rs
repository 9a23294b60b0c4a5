//! Largest plans: those from which nothing can be strengthened without killing an execution.

use crate::decision::{Decisions, Plan};

/// Whether an execution survives a plan. The error is a mistake in the model.
pub type Survives<'a> = dyn FnMut(&Plan) -> Result<bool, String> + 'a;

/// A plan that leaves an execution alive, from which no decision can be strengthened without
/// killing it. Starts from a plan that leaves it alive. `concerned` are the decisions that make a
/// difference to the execution; all others are as strong as can be.
pub fn largest(
    decisions: &Decisions,
    concerned: &[u32],
    plan: &Plan,
    survives: &mut Survives<'_>,
) -> Result<Plan, String> {
    let mut largest = decisions.strongest();
    for number in concerned {
        largest.0[*number as usize] = plan.0[*number as usize];
    }
    raise_many(decisions, &mut largest, concerned, survives)?;
    for number in concerned {
        raise_one(decisions, &mut largest, *number as usize, survives)?;
    }
    Ok(largest)
}

/// Raises as many decisions as can be to their strongest options, halves of them at a time.
fn raise_many(
    decisions: &Decisions,
    plan: &mut Plan,
    numbers: &[u32],
    survives: &mut Survives<'_>,
) -> Result<(), String> {
    let strongest = decisions.strongest();
    let mut left = vec![numbers];
    while let Some(numbers) = left.pop() {
        let mut raised = plan.clone();
        for number in numbers {
            raised.0[*number as usize] = strongest.0[*number as usize];
        }
        if raised == *plan {
            continue;
        }
        if survives(&raised)? {
            *plan = raised;
        } else if numbers.len() > 1 {
            let (first, second) = numbers.split_at(numbers.len() / 2);
            left.push(second);
            left.push(first);
        }
    }
    Ok(())
}

/// Raises one decision as far as the execution survives it.
fn raise_one(
    decisions: &Decisions,
    plan: &mut Plan,
    decision: usize,
    survives: &mut Survives<'_>,
) -> Result<(), String> {
    let options = &decisions.0[decision].options;
    for option in (0..options.len()).rev() {
        let now = &options[usize::from(plan.0[decision])];
        if options[option] == *now || !now.is_at_most(&options[option]) {
            continue;
        }
        let mut raised = plan.clone();
        raised.0[decision] = option as u8;
        if survives(&raised)? {
            *plan = raised;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cover::{Demand, Objective};
    use crate::decision::{Choice, Decision, Subject};
    use crate::repertoire::Dialect;
    use parallax_program::Location;

    /// So many places for fences of C11.
    fn places(count: usize) -> Decisions {
        let none = Choice { name: "none".into(), tags: None, features: 0, count: 0, weight: 0 };
        let kinds = Dialect::C11.fences().iter().map(|kind| kind.choice(1, kind.weight));
        let options: Vec<Choice> = std::iter::once(none).chain(kinds).collect();
        let place = Location { file: "".into(), line: 1, column: 1 };
        let subject = Subject::Insertion;
        Decisions(vec![Decision { subject, place, options, present: 0 }; count])
    }

    /// By their names; `-` is none.
    fn plan(decisions: &Decisions, names: &[&str]) -> Plan {
        let option = |(decision, name): (&Decision, &&str)| {
            let found = decision.options.iter().position(|choice| choice.name == *name);
            found.unwrap_or(0) as u8
        };
        Plan(decisions.0.iter().zip(names).map(option).collect())
    }

    /// The cheapest plan where each execution is killed by any of several plans.
    fn cheapest(decisions: &Decisions, executions: &[Vec<Plan>], objective: Objective) -> Plan {
        let concerned: Vec<u32> = (0..decisions.0.len() as u32).collect();
        let mut demands: Vec<Demand> = Vec::new();
        loop {
            let plan = crate::cover::cheapest(decisions, &demands, objective).unwrap();
            let lives = |killers: &&Vec<Plan>, plan: &Plan| {
                !killers.iter().any(|killer| decisions.is_at_most(killer, plan))
            };
            let Some(alive) = executions.iter().find(|killers| lives(killers, &plan)) else {
                return plan;
            };
            let mut survives = |plan: &Plan| Ok(lives(&alive, plan));
            let largest = largest(decisions, &concerned, &plan, &mut survives).unwrap();
            demands.push(Demand::beyond(decisions, &largest));
        }
    }

    /// The paper's example of weights (S. Singh, Program analysis under relaxed memory concurrency,
    /// 2023, figure 6.8): the second way of the first execution goes together with the second
    /// execution, at weight 4 instead of 5.
    #[test]
    fn orders_of_several_executions_are_chosen_together() {
        let decisions = places(3);
        let plan = |names: [&str; 3]| plan(&decisions, &names);
        let executions = [
            vec![plan(["acq_rel", "acq_rel", "-"]), plan(["rel", "acq", "acq_rel"])],
            vec![plan(["rel", "acq", "acq"])],
        ];
        let found = cheapest(&decisions, &executions, Objective::Count);
        assert_eq!(found, plan(["rel", "acq", "acq_rel"]));
        assert_eq!(decisions.cost(&found), (3, 4));
    }

    /// Figure 6.9: the smallest repair of the first execution alone leads to four fences.
    #[test]
    fn fences_of_several_executions_are_shared() {
        let decisions = places(4);
        let plan = |names: [&str; 4]| plan(&decisions, &names);
        let executions = [
            vec![plan(["sc", "sc", "-", "-"]), plan(["sc", "-", "sc", "sc"])],
            vec![plan(["-", "-", "sc", "sc"])],
        ];
        let found = cheapest(&decisions, &executions, Objective::Count);
        assert_eq!(decisions.cost(&found), (3, 9));
    }

    /// One strong fence, or two that are lighter together.
    #[test]
    fn weight_may_come_first() {
        let decisions = places(3);
        let plan = |names: [&str; 3]| plan(&decisions, &names);
        let executions = [vec![plan(["sc", "-", "-"]), plan(["-", "rel", "acq"])]];
        let cost = |objective| decisions.cost(&cheapest(&decisions, &executions, objective));
        assert_eq!(cost(Objective::Count), (1, 3));
        assert_eq!(cost(Objective::Weight), (2, 2));
    }

    /// Of all smallest sets the lightest, not the first that comes along.
    #[test]
    fn the_lightest_of_the_smallest_is_found() {
        let decisions = places(4);
        let plan = |names: [&str; 4]| plan(&decisions, &names);
        let executions = [vec![plan(["sc", "sc", "-", "-"]), plan(["-", "-", "rel", "acq"])]];
        let found = cheapest(&decisions, &executions, Objective::Count);
        assert_eq!(found, plan(["-", "-", "rel", "acq"]));
    }
}
