//! Questions in the words of SMT-LIB, to Z3: for what clauses do not say, functions above all.
//!
//! Like all questions to Z3, each is asked in a new context.

use z3::ast::Int;
use z3::{Config, Context, SatResult};

use crate::watch::{Signal, watched};
use crate::{Answer, Control};

/// Asks whether the declarations and assertions of a script can be met, and, if so, what these of its integer
/// constants are then. The script must be well-formed.
pub fn ask(script: &str, constants: &[String], control: &Control) -> (Answer, Vec<Option<i64>>) {
    let signal = Signal::default();
    let (answer, numbers) = z3::with_z3_config(&Config::new(), || {
        let context = Context::thread_local();
        let handle = context.handle();
        let search = || search(script, constants, &signal);
        watched(control, &signal, || handle.interrupt(), search)
    });
    let answer = match answer {
        SatResult::Sat => Answer::Satisfiable,
        SatResult::Unsat => Answer::Unsatisfiable,
        SatResult::Unknown => signal.answer(),
    };
    (answer, numbers)
}

fn search(script: &str, constants: &[String], signal: &Signal) -> (SatResult, Vec<Option<i64>>) {
    let nothing = (SatResult::Unknown, Vec::new());
    // The text goes to C, where it would end there.
    if signal.is_set() || script.contains('\0') {
        return nothing;
    }
    let solver = z3::Solver::new();
    solver.from_string(script);
    let answer = solver.check();
    let model = solver.get_model().filter(|_| answer == SatResult::Sat);
    let number = |name: &String| {
        let constant = Int::new_const(name.as_str());
        model.as_ref()?.eval(&constant, true)?.as_i64()
    };
    let numbers = constants.iter().map(number).collect();
    // An interrupt may have cut short what was read of the answer.
    if signal.is_set() { nothing } else { (answer, numbers) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_the_same_for_the_same() {
        let equal = "(declare-fun f (Int) Int)(declare-const a Int)(declare-const b Int)\
                     (assert (= a b))(assert (= b 7))";
        let ask = |text: &str| ask(text, &["a".to_string()], &Control::default());
        assert_eq!(ask(equal), (Answer::Satisfiable, vec![Some(7)]));
        let differ = format!("{equal}(assert (not (= (f a) (f b))))");
        assert_eq!(ask(&differ).0, Answer::Unsatisfiable);
    }
}
