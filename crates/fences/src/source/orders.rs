//! Memory orders in C, as arguments of calls: which word says the order of an access, and how
//! another order is written in its place.

use std::ops::Range;

use super::edits::Edit;
use super::operators::Operator;
use super::tokens::tokens;

/// How a call says its orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Orders {
    /// The words, of which the last but one is for success where there are two.
    words: Vec<Range<usize>>,
    /// For a call that says none: where its name ends, and where its arguments do.
    implicit: Option<(usize, usize)>,
    /// For an access that is no call.
    operator: Option<Operator>,
    is_pair: bool,
    /// Whether the word is a whole instruction.
    is_instruction: bool,
}

/// Calls are not longer.
const MOST_BYTES: usize = 4096;

impl Orders {
    const NONE: Orders = Orders {
        words: Vec::new(),
        implicit: None,
        operator: None,
        is_pair: false,
        is_instruction: false,
    };

    /// The orders of the access at an offset. None if it has none, or if they are not plain words.
    pub fn at(text: &str, offset: usize) -> Option<Orders> {
        let operator = || Operator::at(text, offset).filter(|_| text.contains("stdatomic.h"));
        Orders::of_call(text, offset)
            .or_else(|| operator().map(|found| Orders { operator: Some(found), ..Orders::NONE }))
    }

    /// Those of the call that starts at an offset.
    fn of_call(text: &str, offset: usize) -> Option<Orders> {
        let mut end = text.len().min(offset.saturating_add(MOST_BYTES));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let tokens = tokens(text, offset..end);
        let name = tokens.first().filter(|token| token.start == offset)?;
        if tokens.get(1)?.text != "(" {
            return None;
        }
        let mut arguments: Vec<Vec<usize>> = vec![Vec::new()];
        let mut open = 0usize;
        let mut close = None;
        for (number, token) in tokens.iter().enumerate().skip(1) {
            match token.text {
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open = open.saturating_sub(1),
                _ => {}
            }
            match (token.text, open) {
                ("(", 1) if number == 1 => {}
                (_, 0) => {
                    close = Some(token.start);
                    break;
                }
                (",", 1) => arguments.push(Vec::new()),
                _ => arguments.last_mut()?.push(number),
            }
        }
        let close = close?;
        let is_pair = name.text.contains("compare_exchange");
        let is_explicit = name.text.ends_with("_explicit")
            || name.text.starts_with("__")
            || matches!(name.text, "atomic_thread_fence");
        if !name.text.trim_start_matches('_').starts_with("atomic_")
            && !name.text.starts_with("__c11_atomic_")
        {
            return None;
        }
        if !is_explicit {
            let implicit = Some((name.end(), close));
            return Some(Orders { implicit, is_pair, ..Orders::NONE });
        }
        let count = if is_pair { 2 } else { 1 };
        let last = arguments.len().checked_sub(count)?;
        let word = |argument: &Vec<usize>| {
            let [only] = argument[..] else { return None };
            let token = tokens.get(only)?;
            is_order(token.text).then(|| token.start..token.end())
        };
        let words: Option<Vec<_>> = arguments.get(last..)?.iter().map(word).collect();
        Some(Orders { words: words?, is_pair, ..Orders::NONE })
    }

    /// A fence of assembly, which is its own order.
    pub fn instruction(range: Range<usize>) -> Orders {
        Orders { words: vec![range], is_instruction: true, ..Orders::NONE }
    }

    /// The change that makes the order of success, or that of failure, another one.
    pub fn change(&self, text: &str, order: &str, is_failure: bool) -> Option<Edit> {
        let position = if is_failure { 1 } else { 0 };
        let range = self.words.get(position)?;
        let old = text.get(range.clone())?;
        let new = match self.is_instruction {
            true => order.to_string(),
            false => spelled(order, old.starts_with("__ATOMIC_")),
        };
        Some(Edit { at: range.start, removed: range.len(), text: new, rank: 0, of: None })
    }

    /// Whether there are no orders to change, but could be.
    pub fn is_implicit(&self) -> bool {
        self.implicit.is_some() || self.operator.is_some()
    }

    /// The changes that write the orders out.
    pub fn write_out(&self, success: &str, failure: &str) -> Vec<Edit> {
        if let Some(operator) = &self.operator {
            return operator.write_out(&spelled(success, false));
        }
        let Some((name_end, close)) = self.implicit else {
            return Vec::new();
        };
        let mut orders = format!(", {}", spelled(success, false));
        if self.is_pair {
            orders.push_str(", ");
            orders.push_str(&spelled(failure, false));
        }
        vec![Edit::insert(name_end, "_explicit", 0), Edit::insert(close, orders, 0)]
    }

    /// Whether there is an order of its own for failure.
    pub fn is_pair(&self) -> bool {
        self.is_pair
    }
}

fn is_order(word: &str) -> bool {
    let names = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"];
    let library = word.strip_prefix("memory_order_");
    let builtin = word.strip_prefix("__ATOMIC_").map(str::to_ascii_lowercase);
    names.iter().any(|name| library == Some(name) || builtin.as_deref() == Some(name))
}

/// An order as it is written in C.
pub fn spelled(order: &str, is_builtin: bool) -> String {
    let name = match order {
        "rlx" => "relaxed",
        "acq" => "acquire",
        "rel" => "release",
        "sc" => "seq_cst",
        other => other,
    };
    match is_builtin {
        true => format!("__ATOMIC_{}", name.to_ascii_uppercase()),
        false => format!("memory_order_{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::edits::edit;
    use super::*;

    fn changed(text: &str, order: &str, is_failure: bool) -> Option<String> {
        let orders = Orders::at(text, 0)?;
        let edits = match orders.is_implicit() {
            true => orders.write_out(order, "acq"),
            false => vec![orders.change(text, order, is_failure)?],
        };
        Some(edit(text, edits).text)
    }

    #[test]
    fn orders_are_words_of_calls() {
        let cases = [
            (
                "atomic_load_explicit(&x[f(1, 2)], memory_order_relaxed)",
                "acq",
                false,
                "atomic_load_explicit(&x[f(1, 2)], memory_order_acquire)",
            ),
            (
                "__atomic_store_n(p, 1, __ATOMIC_RELAXED);",
                "rel",
                false,
                "__atomic_store_n(p, 1, __ATOMIC_RELEASE);",
            ),
            (
                "atomic_thread_fence (memory_order_acquire)",
                "sc",
                false,
                "atomic_thread_fence (memory_order_seq_cst)",
            ),
            (
                "atomic_compare_exchange_strong_explicit(p, &e, 1, memory_order_relaxed, memory_order_relaxed)",
                "acq",
                true,
                "atomic_compare_exchange_strong_explicit(p, &e, 1, memory_order_relaxed, memory_order_acquire)",
            ),
            (
                "atomic_fetch_add(&x, 1)",
                "acq_rel",
                false,
                "atomic_fetch_add_explicit(&x, 1, memory_order_acq_rel)",
            ),
            (
                "atomic_compare_exchange_weak(&x, &e, 1)",
                "sc",
                false,
                "atomic_compare_exchange_weak_explicit(&x, &e, 1, memory_order_seq_cst, memory_order_acquire)",
            ),
        ];
        for (text, order, is_failure, expected) in cases {
            assert_eq!(changed(text, order, is_failure).as_deref(), Some(expected));
        }
    }

    #[test]
    fn other_texts_have_none() {
        for text in [
            "x = 1;",
            "load(&x, memory_order_relaxed)",
            "atomic_load_explicit(&x, order)",
            "atomic_load_explicit(",
            "atomic_load_explicit",
            "atomic_x_explicit()",
            "",
        ] {
            assert_eq!(changed(text, "sc", false), None, "{text}");
        }
    }
}
