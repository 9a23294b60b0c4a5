//! Certificates hold, and no longer hold when anything in them is changed for the worse.

use crate::support;

use parallax_solver::{
    Answer, Cadical, Certificate, Control, Edge, Flaw, Lemma, Literal, Problem, Solver, Step,
    Uncertified, check,
};
use proptest::prelude::*;
use support::{has_model, run, steps};

/// A line of things in which each follows the one before, and the first follows the last.
fn round(count: u32) -> (Cadical, Vec<Literal>) {
    let mut solver = Cadical::recording();
    let order = solver.order(count as usize);
    let literals: Vec<Literal> = (0..count).map(|_| solver.literal()).collect();
    for (node, &literal) in (0..).zip(&literals) {
        solver.edge(order, node, (node + 1) % count, literal);
    }
    (solver, literals)
}

fn certificate(solver: &Cadical, assumptions: &[Literal]) -> Certificate {
    match solver.certify(assumptions, &Control::default()) {
        Ok(certificate) => certificate,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_cycle_is_certified() {
    let (mut solver, literals) = round(4);
    let (last, rest) = (literals[3], &literals[..3]);
    for &literal in rest {
        solver.clause(&[literal]);
    }
    assert_eq!(solver.solve(&[last], &Control::default()), Answer::Unsatisfiable);
    let certificate = certificate(&solver, &[last]);
    assert_eq!(check(&certificate), Ok(()));
    assert_eq!(certificate.lemmas.len(), 1);

    let mut without = certificate.clone();
    without.assumptions.clear();
    assert!(check(&without).is_err());
}

#[test]
fn fixed_edges_that_form_a_cycle_are_certified() {
    let mut solver = Cadical::recording();
    let order = solver.order(2);
    solver.edge(order, 0, 1, Literal::TRUE);
    solver.edge(order, 1, 0, Literal::TRUE);
    assert_eq!(solver.solve(&[], &Control::default()), Answer::Unsatisfiable);
    let certificate = certificate(&solver, &[]);
    assert_eq!(check(&certificate), Ok(()));
}

#[test]
fn what_has_a_model_is_not_certified() {
    let (mut solver, literals) = round(3);
    assert_eq!(solver.solve(&literals[1..], &Control::default()), Answer::Satisfiable);
    let refused = solver.certify(&literals[1..], &Control::default());
    assert_eq!(refused, Err(Uncertified::Satisfiable));
    let plain = Cadical::new();
    assert_eq!(plain.certify(&[], &Control::default()), Err(Uncertified::NotRecorded));
}

/// Each flaw has its smallest example.
#[test]
fn flaws_are_named() {
    let mut problem = Problem::default();
    let (a, b) = (problem.literal(), problem.literal());
    problem.clauses.push(&[a, b]);
    problem.clauses.push(&[!a]);
    problem.order(2);
    problem.edge(0, Edge { from: 0, to: 1, when: b });
    problem.edge(0, Edge { from: 1, to: 0, when: a });
    let step = |clause: &[Literal], reasons: &[u64]| Step {
        clause: clause.to_vec(),
        reasons: reasons.to_vec(),
    };
    let with = |lemmas: &[&[u32]], proof: &[Step]| {
        let lemmas = lemmas.iter().map(|cycle| Lemma { order: 0, cycle: cycle.to_vec() });
        check(&Certificate {
            problem: problem.clone(),
            assumptions: vec![!b],
            lemmas: lemmas.collect(),
            proof: proof.to_vec(),
        })
    };
    assert_eq!(with(&[], &[step(&[], &[3, 2, 4])]), Ok(()));
    assert_eq!(with(&[], &[step(&[b], &[3, 2]), step(&[], &[4, 5])]), Ok(()));
    assert_eq!(with(&[], &[]), Err(Flaw::NoContradiction));
    assert_eq!(with(&[], &[step(&[b], &[3, 2])]), Err(Flaw::NoContradiction));
    assert_eq!(with(&[], &[step(&[], &[2, 3, 4])]), Err(Flaw::DoesNotFollow(0)));
    assert_eq!(with(&[], &[step(&[a], &[3])]), Err(Flaw::DoesNotFollow(0)));
    assert_eq!(with(&[], &[step(&[], &[3, 5])]), Err(Flaw::UnknownReason(0)));
    assert_eq!(with(&[], &[step(&[], &[0])]), Err(Flaw::UnknownReason(0)));
    assert_eq!(with(&[&[0]], &[]), Err(Flaw::NotACycle(0)));
    assert_eq!(with(&[&[0, 1], &[]], &[]), Err(Flaw::NotACycle(1)));
    assert_eq!(with(&[&[0, 7]], &[]), Err(Flaw::NotACycle(0)));
    assert_eq!(with(&[&[1, 0]], &[step(&[], &[3, 2, 5])]), Ok(()));
    let stranger = Literal::positive(9);
    assert_eq!(with(&[], &[step(&[stranger], &[3, 2, 4])]), Err(Flaw::UnknownVariable));
}

/// Changes one thing, picked by a number.
fn mutate(certificate: &mut Certificate, pick: usize) {
    let proof = certificate.proof.len().max(1);
    let lemmas = certificate.lemmas.len().max(1);
    let place = pick / 8;
    match pick % 8 {
        0 => {
            certificate.proof.pop();
        }
        1 => {
            if let Some(step) = certificate.proof.get_mut(place % proof) {
                step.reasons.pop();
            }
        }
        2 => {
            if let Some(step) = certificate.proof.get_mut(place % proof) {
                step.clause.pop();
            }
        }
        3 => {
            if let Some(literal) =
                certificate.proof.get_mut(place % proof).and_then(|step| step.clause.first_mut())
            {
                *literal = !*literal;
            }
        }
        4 if !certificate.lemmas.is_empty() => {
            certificate.lemmas.remove(place % lemmas);
        }
        5 => {
            if let Some(lemma) = certificate.lemmas.get_mut(place % lemmas) {
                lemma.cycle.pop();
            }
        }
        6 => {
            certificate.assumptions.pop();
        }
        _ => {
            if let Some(lemma) = certificate.lemmas.get_mut(place % lemmas)
                && let Some(edge) = lemma.cycle.first_mut()
            {
                *edge += 1;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// What is unsatisfiable is certified. A certificate that was changed may still be right, for
    /// another problem; then that problem has no model either.
    #[test]
    fn broken_certificates_prove_nothing_false(
        steps in steps(90),
        picks in prop::collection::vec(any::<usize>(), 8),
    ) {
        let mut solver = Cadical::recording();
        let mut found = Vec::new();
        run(&steps, &mut solver, |solver, _, assumed| {
            let answer = solver.solve(assumed, &Control::default());
            found.push((answer == Answer::Unsatisfiable, assumed.to_vec()));
        });
        // Only the last question is about the whole problem.
        let Some((true, assumed)) = found.pop() else { return Ok(()) };
        let right = certificate(&solver, &assumed);
        prop_assert_eq!(check(&right), Ok(()));
        for pick in picks {
            let mut broken = right.clone();
            mutate(&mut broken, pick);
            if check(&broken).is_ok() {
                prop_assert!(!has_model(&broken.problem, &broken.assumptions));
            }
        }
    }
}

/// Most changes are noticed, on a proof that has many steps.
#[test]
fn broken_proofs_are_noticed() {
    let mut solver = Cadical::recording();
    let order = solver.order(7);
    let mut before = vec![vec![Literal::FALSE; 7]; 7];
    for a in 0..7 {
        for b in 0..a {
            let literal = solver.literal();
            solver.edge(order, a, b, literal);
            solver.edge(order, b, a, !literal);
            before[a as usize][b as usize] = literal;
            before[b as usize][a as usize] = !literal;
        }
    }
    // Nobody is first.
    for (a, after) in before.iter().enumerate() {
        let others = (0..7).filter(|&b| b != a).map(|b| !after[b]);
        solver.clause(&others.collect::<Vec<_>>());
    }
    assert_eq!(solver.solve(&[], &Control::default()), Answer::Unsatisfiable);
    let right = certificate(&solver, &[]);
    assert_eq!(check(&right), Ok(()));
    assert!(right.proof.len() > 10 && right.lemmas.len() > 10);
    let (mut noticed, mut all) = (0, 0);
    for pick in 0..400 {
        let mut broken = right.clone();
        mutate(&mut broken, pick);
        if broken != right {
            all += 1;
            noticed += usize::from(check(&broken).is_err());
        }
    }
    // A shorter or turned clause now and then follows all the same.
    assert!(noticed * 10 > all * 7, "{noticed} of {all}");
}

#[test]
fn certificates_are_written_for_other_checkers() {
    let (mut solver, literals) = round(2);
    solver.clause(&[literals[0]]);
    solver.clause(&[literals[1], !literals[0]]);
    assert_eq!(solver.solve(&[], &Control::default()), Answer::Unsatisfiable);
    let certificate = Certificate {
        proof: vec![
            Step { clause: vec![literals[1]], reasons: vec![2, 3] },
            Step { clause: vec![], reasons: vec![5, 2, 4] },
        ],
        ..certificate(&solver, &[])
    };
    assert_eq!(check(&certificate), Ok(()));
    let (mut cnf, mut lrat) = (Vec::new(), Vec::new());
    assert!(certificate.write_cnf(&mut cnf).is_ok() && certificate.write_lrat(&mut lrat).is_ok());
    let text = String::from_utf8_lossy(&cnf).into_owned();
    let cycle = ["0->1 if 2; 1->0 if 3;", "1->0 if 3; 0->1 if 2;"].into_iter();
    let starts = cycle.map(|cycle| {
        format!("p cnf 3 4\nc clause 4: a cycle in order 0: {cycle}\n1 0\n2 0\n3 -2 0\n")
    });
    assert!(starts.into_iter().any(|start| text.starts_with(&start)), "{text}");
    assert_eq!(String::from_utf8_lossy(&lrat), "5 3 0 2 3 0\n6 0 5 2 4 0\n");
}
