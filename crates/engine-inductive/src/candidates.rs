//! What may be true of a loop's variables: facts of a few simple forms, over the numbers that the
//! program has.

use std::collections::BTreeSet;

use parallax_program::{BinaryOp, Bits, Expr, Function, Program, VarId};

use crate::flow::{all_leaves, leaves};

/// Something that may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    Is(VarId, Bits),
    OneOf(VarId, Bits, Bits),
    AtMost(VarId, Bits, Order),
    AtLeast(VarId, Bits, Order),
    Same(VarId, VarId),
    NoMore(VarId, VarId, Order),
    /// Where the first is that value, the second is this.
    Then((VarId, Bits), (VarId, Bits)),
}

/// Whether numbers have signs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Signed,
    Unsigned,
}

impl Order {
    fn number(self, bits: Bits) -> i128 {
        match self {
            Order::Signed => bits.to_signed(),
            // Wider values are not compared.
            Order::Unsigned => i128::try_from(bits.unsigned()).unwrap_or(i128::MAX),
        }
    }

    fn at_most(self, left: Expr, right: Expr) -> Expr {
        let op = match self {
            Order::Signed => BinaryOp::Sle,
            Order::Unsigned => BinaryOp::Ule,
        };
        Expr::binary(op, left, right)
    }
}

impl Fact {
    pub fn expr(&self) -> Expr {
        let (var, value) = (Expr::Var, Expr::Const);
        match *self {
            Fact::Is(x, c) => var(x).eq(value(c)),
            Fact::OneOf(x, c, d) => var(x).eq(value(c)) | var(x).eq(value(d)),
            Fact::AtMost(x, c, order) => order.at_most(var(x), value(c)),
            Fact::AtLeast(x, c, order) => order.at_most(value(c), var(x)),
            Fact::Same(x, y) => var(x).eq(var(y)),
            Fact::NoMore(x, y, order) => order.at_most(var(x), var(y)),
            Fact::Then((x, c), (y, d)) => var(x).ne(value(c)) | var(y).eq(value(d)),
        }
    }

    /// Whether it holds, given what the variables are.
    fn holds(&self, of: &dyn Fn(VarId) -> Bits) -> bool {
        match *self {
            Fact::Is(x, c) => of(x) == c,
            Fact::OneOf(x, c, d) => of(x) == c || of(x) == d,
            Fact::AtMost(x, c, order) => order.number(of(x)) <= order.number(c),
            Fact::AtLeast(x, c, order) => order.number(of(x)) >= order.number(c),
            Fact::Same(x, y) => of(x) == of(y),
            Fact::NoMore(x, y, order) => order.number(of(x)) <= order.number(of(y)),
            Fact::Then((x, c), (y, d)) => of(x) != c || of(y) == d,
        }
    }

    fn variables(&self) -> Vec<VarId> {
        match *self {
            Fact::Is(x, _) | Fact::OneOf(x, ..) | Fact::AtMost(x, ..) | Fact::AtLeast(x, ..) => {
                vec![x]
            }
            Fact::Same(x, y) | Fact::NoMore(x, y, _) | Fact::Then((x, _), (y, _)) => vec![x, y],
        }
    }

    /// As people write it.
    pub fn show(&self, function: &Function, order: Order) -> String {
        let name = |var: VarId| {
            let name = function.vars.get(var.0 as usize).map_or("", |var| var.name.as_str());
            // Compilers number the values that a variable has.
            let plain = name.rsplit_once('.').filter(|(plain, _)| !plain.is_empty());
            plain.map_or(name, |(plain, _)| plain).to_string()
        };
        let number = |bits: Bits| order.number(bits).to_string();
        match *self {
            Fact::Is(x, c) => format!("{} = {}", name(x), number(c)),
            Fact::OneOf(x, c, d) => {
                format!("({x} = {} or {x} = {})", number(c), number(d), x = name(x))
            }
            Fact::AtMost(x, c, _) => format!("{} <= {}", name(x), number(c)),
            Fact::AtLeast(x, c, _) => format!("{} >= {}", name(x), number(c)),
            Fact::Same(x, y) => format!("{} = {}", name(x), name(y)),
            Fact::NoMore(x, y, _) => format!("{} <= {}", name(x), name(y)),
            Fact::Then((x, c), (y, d)) => {
                format!("({} = {} implies {} = {})", name(x), number(c), name(y), number(d))
            }
        }
    }
}

/// The numbers of that width that a program has, small ones first.
fn numbers(program: &Program, width: u32) -> Vec<Bits> {
    let mut all: BTreeSet<Bits> = BTreeSet::new();
    let mut note = |leaf: &Expr| {
        if let Expr::Const(bits) = leaf
            && bits.width() == width
        {
            all.insert(*bits);
        }
    };
    for function in &program.functions {
        all_leaves(function, &mut note);
    }
    for cell in program.globals.iter().flat_map(|global| &global.init) {
        leaves(&cell.value, &mut note);
    }
    all.extend([0, 1].map(|value| Bits::new(width, value)));
    let mut all: Vec<Bits> = all.into_iter().collect();
    all.sort_by_key(|bits| (bits.to_signed().unsigned_abs(), bits.unsigned()));
    all
}

/// What is tried.
pub struct Templates<'a> {
    pub program: &'a Program,
    pub function: &'a Function,
    pub changed: &'a [VarId],
    pub unchanged: &'a [VarId],
    pub order: Order,
}

impl Templates<'_> {
    const MOST_VARIABLES: usize = 10;
    const MOST_NUMBERS: usize = 7;
    const MOST_LIMITS: usize = 16;
    /// With more, implications are not tried.
    const MOST_IMPLYING: usize = 4;
    const MOST_IMPLIED: usize = 4;

    /// Facts that may hold, of variables that the loop changes.
    pub fn facts(&self) -> Vec<Fact> {
        let mut all = Vec::new();
        let changed: Vec<VarId> = self.changed.iter().copied().take(Self::MOST_VARIABLES).collect();
        for x in &changed {
            self.alone(*x, &mut all);
        }
        for (at, x) in changed.iter().enumerate() {
            let others = changed.iter().skip(at + 1).chain(self.unchanged);
            for y in others.take(Self::MOST_VARIABLES).filter(|y| self.width(**y) == self.width(*x))
            {
                all.push(Fact::Same(*x, *y));
                all.push(Fact::NoMore(*x, *y, self.order));
                all.push(Fact::NoMore(*y, *x, self.order));
            }
        }
        if changed.len() <= Self::MOST_IMPLYING {
            self.implications(&changed, &mut all);
        }
        all
    }

    fn width(&self, var: VarId) -> u32 {
        self.function.vars.get(var.0 as usize).map_or(0, |var| var.width)
    }

    fn alone(&self, x: VarId, all: &mut Vec<Fact>) {
        let mut numbers = numbers(self.program, self.width(x));
        numbers.truncate(Self::MOST_NUMBERS);
        all.extend(numbers.iter().map(|c| Fact::Is(x, *c)));
        for (at, c) in numbers.iter().enumerate() {
            all.extend(numbers.iter().skip(at + 1).map(|d| Fact::OneOf(x, *c, *d)));
        }
        if self.width(x) > 1 && self.width(x) <= 64 {
            for c in self.limits(&numbers) {
                all.push(Fact::AtMost(x, c, self.order));
                all.push(Fact::AtLeast(x, c, self.order));
            }
        }
    }

    /// Numbers, and those next to them.
    fn limits(&self, numbers: &[Bits]) -> Vec<Bits> {
        let mut limits: Vec<Bits> = Vec::new();
        for number in numbers {
            let near = [0, -1, 1].map(|more| self.order.number(*number) + more);
            for near in near {
                let near = Bits::signed(number.width(), near);
                if !limits.contains(&near) && limits.len() < Self::MOST_LIMITS {
                    limits.push(near);
                }
            }
        }
        limits
    }

    fn implications(&self, changed: &[VarId], all: &mut Vec<Fact>) {
        for x in changed {
            for y in changed.iter().filter(|y| *y != x) {
                for c in numbers(self.program, self.width(*x)).into_iter().take(Self::MOST_IMPLIED)
                {
                    let values = numbers(self.program, self.width(*y)).into_iter();
                    let then = |d| Fact::Then((*x, c), (*y, d));
                    all.extend(values.take(Self::MOST_IMPLIED).map(then));
                }
            }
        }
    }
}

/// The same facts, without those that others among them imply, or that always hold.
pub fn essential(facts: &[Fact]) -> Vec<Fact> {
    let mut kept: Vec<Fact> = facts.to_vec();
    let mut at = kept.len();
    while at > 0 {
        at -= 1;
        let fact = kept[at];
        let others = kept.iter().enumerate().filter(|(number, _)| *number != at);
        let follows = others.into_iter().any(|(_, other)| implies(Some(other), &fact, facts));
        if follows || implies(None, &fact, facts) {
            kept.remove(at);
        }
    }
    kept
}

/// Whether a fact, or nothing, implies another. Between the numbers that facts speak of nothing changes, so it is
/// enough to look at those and the ones next to them.
fn implies(fact: Option<&Fact>, other: &Fact, all: &[Fact]) -> bool {
    let variables = fact.map(Fact::variables).unwrap_or_default();
    let more = other.variables();
    if !variables.iter().all(|var| more.contains(var)) {
        return false;
    }
    let both: Vec<Fact> = fact.into_iter().chain([other]).copied().collect();
    let Some(samples) = samples(&both, all) else { return false };
    let values = |x: Bits, y: Bits| {
        let of = |var: VarId| if var == more[0] { x } else { y };
        fact.is_some_and(|fact| !fact.holds(&of)) || other.holds(&of)
    };
    let widths_differ = |x: &Bits| !same_width(x, more[0], all);
    samples.iter().filter(|x| !widths_differ(x)).all(|x| {
        let second = more.get(1).copied().unwrap_or(more[0]);
        samples.iter().filter(|y| same_width(y, second, all)).all(|y| values(*x, *y))
    })
}

/// Whether some fact compares that variable with a number of that width, or none does with any.
fn same_width(bits: &Bits, var: VarId, all: &[Fact]) -> bool {
    let mut known = all.iter().flat_map(numbers_of).filter(|(own, _)| *own == var);
    known.next().is_none_or(|(_, number)| number.width() == bits.width())
}

fn numbers_of(fact: &Fact) -> Vec<(VarId, Bits)> {
    match *fact {
        Fact::Is(x, c) | Fact::AtMost(x, c, _) | Fact::AtLeast(x, c, _) => vec![(x, c)],
        Fact::OneOf(x, c, d) => vec![(x, c), (x, d)],
        Fact::Then((x, c), (y, d)) => vec![(x, c), (y, d)],
        Fact::Same(..) | Fact::NoMore(..) => Vec::new(),
    }
}

/// Numbers of facts and those next to them. None where there are none, and nothing is known.
fn samples(facts: &[Fact], all: &[Fact]) -> Option<Vec<Bits>> {
    let of = |facts: &[Fact]| -> BTreeSet<Bits> {
        let numbers = facts.iter().flat_map(numbers_of).map(|(_, number)| number);
        let near = |number: Bits| {
            [-1, 0, 1]
                .map(|more| Bits::signed(number.width(), number.to_signed().wrapping_add(more)))
        };
        let mut found: BTreeSet<Bits> = numbers.clone().flat_map(near).collect();
        for width in numbers.map(Bits::width).collect::<BTreeSet<u32>>() {
            let top = 1u128 << (width - 1);
            found.extend([0, top, top - 1, u128::MAX].map(|value| Bits::new(width, value)));
        }
        found
    };
    let mut found = of(facts);
    if found.is_empty() {
        found = of(all);
    }
    (!found.is_empty()).then(|| found.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(value: u128) -> Bits {
        Bits::new(32, value)
    }

    #[test]
    fn what_follows_from_another_is_left_out() {
        let (x, y, order) = (VarId(0), VarId(1), Order::Unsigned);
        let facts = [
            Fact::OneOf(x, word(0), word(1)),
            Fact::AtMost(x, word(1), order),
            Fact::AtMost(x, word(2), order),
            Fact::AtLeast(x, word(0), order),
            Fact::Is(y, word(3)),
            Fact::Then((x, word(0)), (y, word(3))),
            Fact::AtLeast(y, word(4), Order::Signed),
        ];
        let essential = essential(&facts);
        assert!(!essential.contains(&facts[2]) && !essential.contains(&facts[5]));
        assert!(essential.contains(&facts[4]) && essential.contains(&facts[6]));
        // One of two that say the same is there.
        assert!(essential.contains(&facts[0]) || essential.contains(&facts[1]));
    }

    #[test]
    fn pairs_say_no_more_than_they_say() {
        let (x, y, order) = (VarId(0), VarId(1), Order::Unsigned);
        let facts = [Fact::Same(x, y), Fact::NoMore(x, y, order), Fact::AtMost(x, word(3), order)];
        assert_eq!(essential(&facts), [facts[0], facts[2]]);
        assert_eq!(essential(&facts[1..]), facts[1..]);
    }
}
