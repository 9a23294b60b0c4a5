//! Sets of final states. One engine has them all; others are asked about each of them, and whether
//! there is another.

use parallax_program::{Bits, Expr, Observable, Operand, Prop, Quantifier, Question};

/// Sets with more states are not asked about.
const MOST: usize = 12;

/// A question, and whether there is such a final state.
pub struct Expected {
    pub question: Question,
    pub is_there: bool,
}

/// The questions about a set of final states, which has the values of what `question` shows.
pub fn questions(question: &Question, finals: &[Vec<Bits>]) -> Vec<Expected> {
    if finals.is_empty() || finals.len() > MOST || question.filter.is_some() {
        return Vec::new();
    }
    let shown = question.shown();
    let states: Vec<Prop> = finals.iter().map(|values| state(&shown, values)).collect();
    let asked = |prop: Prop, text: String| Question {
        quantifier: Quantifier::Exists,
        prop,
        text,
        locations: Vec::new(),
        filter: None,
    };
    let each = states.iter().zip(finals).map(|(prop, values)| Expected {
        question: asked(prop.clone(), named(&shown, values)),
        is_there: true,
    });
    let other = Prop::Not(Box::new(Prop::Or(states.clone())));
    let other = Expected {
        question: asked(other, format!("another state than the {} known", finals.len())),
        is_there: false,
    };
    each.chain([other]).collect()
}

fn state(shown: &[&Observable], values: &[Bits]) -> Prop {
    let equals = |(observable, value): (&&Observable, &Bits)| Prop::Compare {
        left: (*observable).clone(),
        equal: true,
        right: Operand::Value(Expr::Const(*value)),
    };
    Prop::And(shown.iter().zip(values).map(equals).collect())
}

fn named(shown: &[&Observable], values: &[Bits]) -> String {
    let one = |(observable, value): (&&Observable, &Bits)| {
        format!("{}={}", observable.name, value.unsigned())
    };
    shown.iter().zip(values).map(one).collect::<Vec<_>>().join(" ")
}
