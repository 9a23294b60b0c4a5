//! Expressions on sets of values, and what a branch says about variables.

use parallax_program::{BinaryOp, Expr, RmwOp, UnaryOp, Var};

use crate::num::Num;
use crate::state::State;
use crate::value::{Base, ObjectId, Value};

/// What expressions are evaluated in.
pub struct Scene<'a> {
    pub vars: &'a [Var],
    pub pointer_width: u32,
    /// The highest number that a thread may have.
    pub most: i128,
    /// What the address of an object is a multiple of.
    pub aligned: &'a dyn Fn(ObjectId) -> i128,
    /// The object that a global is, where there is one thread, or several.
    pub global: &'a dyn Fn(u32, bool) -> ObjectId,
}

/// What a condition is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    Always,
    Never,
    Open,
}

impl Truth {
    fn of(is_always: bool, is_never: bool) -> Truth {
        match (is_always, is_never) {
            (true, _) => Truth::Always,
            (_, true) => Truth::Never,
            _ => Truth::Open,
        }
    }

    fn value(self) -> Value {
        match self {
            Truth::Always => Value::constant(1),
            Truth::Never => Value::constant(0),
            Truth::Open => Value::number(Num::range(0, 1)),
        }
    }
}

impl Scene<'_> {
    pub fn width(&self, expr: &Expr) -> u32 {
        match expr {
            Expr::Const(bits) => bits.width(),
            Expr::Var(var) => self.vars.get(var.0 as usize).map_or(64, |var| var.width),
            Expr::Address(_) | Expr::FunctionAddress(_) => self.pointer_width,
            Expr::Unary(_, value) => self.width(value),
            Expr::Binary(op, ..) if op.is_comparison() => 1,
            Expr::Binary(_, left, _) => self.width(left),
            Expr::Extract { width, .. }
            | Expr::ZeroExtend { width, .. }
            | Expr::SignExtend { width, .. } => *width,
            Expr::Concat { high, low } => self.width(high) + self.width(low),
            Expr::Select { then, .. } => self.width(then),
        }
    }

    pub fn truth(&self, state: &State<'_>, condition: &Expr) -> Truth {
        match self.eval(state, condition).only_number().and_then(|num| num.single()) {
            Some(value) if value & 1 == 1 => Truth::Always,
            Some(_) => Truth::Never,
            None => Truth::Open,
        }
    }

    pub fn eval(&self, state: &State<'_>, expr: &Expr) -> Value {
        let width = self.width(expr);
        match expr {
            Expr::Const(bits) => Value::number(Num::constant(*bits)),
            Expr::Var(var) => state.var(*var).clone(),
            Expr::Address(global) => {
                Value::at(Base::Object((self.global)(global.0, state.key.is_alone)))
            }
            Expr::FunctionAddress(function) => Value::at(Base::Function(*function)),
            Expr::Unary(op, value) => self.unary(*op, &self.eval(state, value), width),
            Expr::Binary(op, left, right) => self.binary(state, *op, left, right),
            Expr::Extract { low, width, value } => {
                let from = self.width(value);
                self.extract(&self.eval(state, value), *low, *width, from)
            }
            Expr::Concat { high, low } => {
                self.concat(&self.eval(state, high), &self.eval(state, low), self.width(low), width)
            }
            Expr::ZeroExtend { value, .. } => {
                let from = self.width(value);
                let range = |num: Num| {
                    let (lo, hi) = num.unsigned(from, self.most);
                    rebased(num, lo, hi, self.most)
                };
                self.extended(&self.eval(state, value), from, width, &range)
            }
            Expr::SignExtend { value, .. } => {
                let from = self.width(value);
                let range = |num: Num| {
                    let (lo, hi) = num.signed(from, self.most);
                    rebased(num, lo, hi, self.most)
                };
                self.extended(&self.eval(state, value), from, width, &range)
            }
            Expr::Select { condition, then, otherwise } => match self.truth(state, condition) {
                Truth::Always => self.eval(state, then),
                Truth::Never => self.eval(state, otherwise),
                Truth::Open => self.eval(state, then).join(&self.eval(state, otherwise), width),
            },
        }
    }

    fn unary(&self, op: UnaryOp, value: &Value, width: u32) -> Value {
        let Some(num) = value.only_number() else { return value.blurred(width) };
        match op {
            UnaryOp::Neg => Value::number(num.neg(width)),
            UnaryOp::Not if width == 1 && num.single().is_some() => {
                Value::constant(1 - (num.lo & 1))
            }
            UnaryOp::Not => Value::number(num.neg(width).sub(Num::one(1), width)),
            UnaryOp::LeadingZeros | UnaryOp::TrailingZeros | UnaryOp::PopCount => {
                let at_least =
                    i128::from(op == UnaryOp::PopCount && num.unsigned(width, self.most).0 > 0);
                Value::number(Num::range(at_least, i128::from(width)))
            }
            _ => Value::number(Num::all(width)),
        }
    }

    fn extended(&self, value: &Value, from: u32, to: u32, range: &dyn Fn(Num) -> Num) -> Value {
        let is_kept = |base: &Base| matches!(base, Base::Zero | Base::Thread(_));
        if value.wild || value.parts.iter().any(|(base, _)| !is_kept(base)) {
            return value.blurred(to);
        }
        let fits = |num: Num| num.lo >= 0 && num.hi < 1 << 15 && num.mine == 0 && from >= 32;
        if value.parts.iter().any(|(base, num)| *base != Base::Zero && !fits(*num)) {
            return value.blurred(to);
        }
        value.map(|base, num| Some(if base == Base::Zero { range(num) } else { num }))
    }

    fn extract(&self, value: &Value, low: u32, width: u32, from: u32) -> Value {
        if low == 0 && width >= from {
            return value.clone();
        }
        let is_kept = |base: &Base| {
            matches!(base, Base::Zero) || matches!(base, Base::Thread(_)) && low == 0 && width >= 32
        };
        if value.wild || value.parts.iter().any(|(base, _)| !is_kept(base)) {
            return value.blurred(width);
        }
        let mask = if width < 100 { (1_i128 << width) - 1 } else { i128::MAX };
        value.map(|base, num| {
            if base != Base::Zero {
                return Some(num);
            }
            if num.is_all(from) {
                return Some(Num::all(width));
            }
            if low == 0 {
                // Right modulo a larger power is right modulo a smaller one.
                if num.mine != 0 && num.lo == num.hi {
                    return Some(Num { lo: num.lo & mask, hi: num.lo & mask, ..num });
                }
                let keeps = !num.is_all(width) && num.lo.abs() <= mask && num.hi.abs() <= mask;
                return Some(if keeps { num } else { num.spread(self.most).low_bits(mask) });
            }
            let (lo, hi) = num.unsigned(from, self.most);
            let (lo, hi) = (lo >> low.min(120), hi >> low.min(120));
            Some(if hi <= mask { Num::range(lo, hi) } else { Num::all(width) })
        })
    }

    fn concat(&self, high: &Value, low: &Value, low_width: u32, width: u32) -> Value {
        match (high.only_number(), low.only_number()) {
            (Some(high), Some(low)) if low_width < 90 => {
                let high = high.mul(Num::one(1 << low_width), width);
                let (lo, hi) = low.unsigned(low_width, self.most);
                Value::number(high.add(Num::range(lo, hi), width))
            }
            _ => {
                let both = high.join(low, width);
                if high.is_none() || low.is_none() { Value::none() } else { both.blurred(width) }
            }
        }
    }

    fn binary(&self, state: &State<'_>, op: BinaryOp, left: &Expr, right: &Expr) -> Value {
        let width = self.width(left);
        if let (BinaryOp::And, Some(mask)) = (op, low_mask(right))
            && let Some(bits) = self.low_bits(state, left, mask, 0)
        {
            return Value::number(bits);
        }
        if is_mark(op, left, right) {
            return Value::at(Base::Mark);
        }
        let (one, two) = (self.eval(state, left), self.eval(state, right));
        if one.is_none() || two.is_none() {
            return Value::none();
        }
        let undefined = one.undefined || two.undefined;
        let value = match op {
            BinaryOp::Add => self.sum(&one, &two, width),
            BinaryOp::Sub => self.difference(&one, &two, width),
            _ if op.is_comparison() => {
                let (one, two) = (one.without_threads(self.most), two.without_threads(self.most));
                self.compare(op, &one, &two, width).value()
            }
            _ => match (one.only_number(), two.only_number()) {
                (Some(a), Some(b)) => Value::number(self.arithmetic(op, a, b, width)),
                _ if !one.wild && !two.wild && self.has_threads(&one, &two) => {
                    let one = one.without_threads(self.most).as_number(width);
                    let two = two.without_threads(self.most).as_number(width);
                    let all = Num::all(width);
                    let (one, two) = (one.unwrap_or(all), two.unwrap_or(all));
                    Value::number(self.arithmetic(op, one, two, width))
                }
                _ => one.join(&two, width).blurred(width),
            },
        };
        Value { undefined: (value.undefined || undefined) && !op.is_comparison(), ..value }
    }

    /// Whether there are numbers of threads in one of two, and addresses in none.
    fn has_threads(&self, one: &Value, two: &Value) -> bool {
        let mut parts = one.parts.iter().chain(&two.parts);
        let is_thread = |(base, _): &&(Base, Num)| matches!(base, Base::Thread(_));
        parts.clone().any(|part| is_thread(&part))
            && parts.all(|part| is_thread(&part) || part.0 == Base::Zero)
    }

    fn sum(&self, one: &Value, two: &Value, width: u32) -> Value {
        let (base, num) = match (one.only_number(), two.only_number()) {
            (_, Some(num)) => (one, num),
            (Some(num), None) => (two, num),
            // A number that may never have been written may be any; it is no address.
            (None, None) if !two.has_addresses() && two.undefined => (one, Num::all(width)),
            (None, None) if !one.has_addresses() && one.undefined => (two, Num::all(width)),
            (None, None) => return one.join(two, width).blurred(width),
        };
        base.map(|base, offset| {
            let sum = offset.add(num, width);
            // What is subtracted from an address is added as a large number.
            Some(if base == Base::Zero { sum } else { sum.centred(width, self.most) })
        })
    }

    fn difference(&self, one: &Value, two: &Value, width: u32) -> Value {
        if let Some(num) = two.only_number() {
            return self.sum(one, &Value::number(num.neg(width)), width);
        }
        match (&one.parts[..], &two.parts[..]) {
            ([(base, a)], [(other, b)]) if base == other && !one.wild && !two.wild => {
                Value::number(a.sub(*b, width))
            }
            // A difference of addresses that is added to an address again may be any address.
            _ => one.join(two, width).blurred(width),
        }
    }

    fn arithmetic(&self, op: BinaryOp, a: Num, b: Num, width: u32) -> Num {
        let (unsigned_a, unsigned_b) = (a.unsigned(width, self.most), b.unsigned(width, self.most));
        let singles = a.single().is_some() && b.single().is_some();
        if width > 64 && (a.is_all(width) || b.is_all(width)) {
            return Num::all(width);
        }
        match op {
            BinaryOp::Mul => a.mul(b, width),
            BinaryOp::Shl => match b.single() {
                Some(by @ 0..64) => a.mul(Num::one(1 << by), width),
                None if unsigned_a.1 < 1 << 30 && unsigned_b.1 < i128::from(width).min(64) => {
                    let (lo, hi) = (unsigned_a.0 << unsigned_b.0, unsigned_a.1 << unsigned_b.1);
                    if hi < 1 << width.min(64) { Num::range(lo, hi) } else { Num::all(width) }
                }
                _ => Num::all(width),
            },
            BinaryOp::LShr => match b.single() {
                Some(by @ 0..120) => Num::range(unsigned_a.0 >> by, unsigned_a.1 >> by),
                _ => Num::range(0, unsigned_a.1),
            },
            BinaryOp::UDiv if unsigned_b.0 > 0 => {
                Num::range(unsigned_a.0 / unsigned_b.1, unsigned_a.1 / unsigned_b.0)
            }
            BinaryOp::URem if unsigned_b.0 > 0 => match unsigned_a.1 < unsigned_b.0 {
                true => Num::range(unsigned_a.0, unsigned_a.1),
                false => Num::range(0, unsigned_a.1.min(unsigned_b.1 - 1)),
            },
            BinaryOp::SDiv | BinaryOp::SRem => self.signed_division(op, a, b, width),
            BinaryOp::And if singles => Num::one(unsigned_a.0 & unsigned_b.0),
            BinaryOp::And => Num::range(0, unsigned_a.1.min(unsigned_b.1)),
            BinaryOp::Or if singles => Num::one(unsigned_a.0 | unsigned_b.0),
            BinaryOp::Xor if singles => Num::one(unsigned_a.0 ^ unsigned_b.0),
            BinaryOp::Or | BinaryOp::Xor => {
                let top = (unsigned_a.1 | unsigned_b.1) as u128;
                let mask = (1_i128 << (128 - top.leading_zeros()).min(100)) - 1;
                let least = if op == BinaryOp::Or { unsigned_a.0.max(unsigned_b.0) } else { 0 };
                Num::range(least, mask.max(least))
            }
            _ => Num::all(width),
        }
    }

    /// What a read-modify-write makes of a number.
    pub fn modified(&self, op: RmwOp, old: Num, operand: Num, width: u32) -> Num {
        match op {
            RmwOp::Swap => operand,
            RmwOp::Add => old.add(operand, width),
            RmwOp::Sub => old.sub(operand, width),
            RmwOp::And => self.arithmetic(BinaryOp::And, old, operand, width),
            RmwOp::Or => self.arithmetic(BinaryOp::Or, old, operand, width),
            RmwOp::Xor => self.arithmetic(BinaryOp::Xor, old, operand, width),
            RmwOp::AndNot => Num::range(0, old.unsigned(width, self.most).1),
            _ => Num::all(width),
        }
    }

    fn signed_division(&self, op: BinaryOp, a: Num, b: Num, width: u32) -> Num {
        let ((lo, hi), Some(by)) = (a.signed(width, self.most), b.single()) else {
            return Num::all(width);
        };
        let (by, _) = Num::one(by).signed(width, 0);
        match op {
            BinaryOp::SDiv if by > 0 => Num::range(lo / by, hi / by),
            BinaryOp::SRem if by > 0 && lo >= 0 && hi < by => Num::range(lo, hi),
            BinaryOp::SRem if by > 0 => {
                Num::range(if lo < 0 { 1 - by } else { 0 }, if hi > 0 { by - 1 } else { 0 })
            }
            _ => Num::all(width),
        }
    }

    fn compare(&self, op: BinaryOp, one: &Value, two: &Value, width: u32) -> Truth {
        use BinaryOp::*;
        if one.wild || two.wild || one.undefined || two.undefined {
            return Truth::Open;
        }
        if let (Some(a), Some(b)) = (one.only_number(), two.only_number()) {
            return self.compare_numbers(op, a, b, width);
        }
        let truth = self.same(one, two, width);
        match op {
            Eq => truth,
            Ne => match truth {
                Truth::Always => Truth::Never,
                Truth::Never => Truth::Always,
                Truth::Open => Truth::Open,
            },
            _ => match (&one.parts[..], &two.parts[..]) {
                ([(base, a)], [(other, b)])
                    if base == other && a.lo >= 0 && b.lo >= 0 && a.hi.max(b.hi) < 1 << 40 =>
                {
                    self.compare_numbers(op, *a, *b, width)
                }
                _ => Truth::Open,
            },
        }
    }

    /// Whether two values are equal, one of which has addresses.
    fn same(&self, one: &Value, two: &Value, width: u32) -> Truth {
        let mut may_be = false;
        for (base, a) in &one.parts {
            for (other, b) in &two.parts {
                may_be |= match (base, other) {
                    (x, y) if x == y && *x != Base::Mark => {
                        let sure = a.single().is_some() && a == b;
                        if sure && one.parts.len() == 1 && two.parts.len() == 1 {
                            let is_one = matches!(x, Base::Function(_));
                            return if is_one { Truth::Always } else { Truth::Open };
                        }
                        self.compare_numbers(BinaryOp::Eq, *a, *b, width) != Truth::Never
                    }
                    // Small numbers are nobody's address.
                    (Base::Object(_) | Base::Function(_), Base::Zero) => !is_small(*b, width),
                    (Base::Zero, Base::Object(_) | Base::Function(_)) => !is_small(*a, width),
                    (Base::Mark, Base::Zero) | (Base::Zero, Base::Mark) => false,
                    (Base::Object(_), Base::Function(_)) => false,
                    (Base::Function(_), Base::Object(_)) => false,
                    (Base::Function(_), Base::Function(_)) => {
                        a.single() != Some(0) || b.single() != Some(0)
                    }
                    _ => true,
                };
            }
        }
        if may_be { Truth::Open } else { Truth::Never }
    }

    fn compare_numbers(&self, op: BinaryOp, a: Num, b: Num, width: u32) -> Truth {
        use BinaryOp::*;
        if matches!(op, Eq | Ne) && a.mine == b.mine && a.mine != 0 {
            let plain = |num: Num| Num { mine: 0, ..num };
            return self.compare_numbers(op, plain(a), plain(b), width);
        }
        let (ua, ub) = (a.unsigned(width, self.most), b.unsigned(width, self.most));
        let (sa, sb) = (a.signed(width, self.most), b.signed(width, self.most));
        let apart = ua.1 < ub.0 || ub.1 < ua.0 || sa.1 < sb.0 || sb.1 < sa.0;
        let same = ua.0 == ua.1 && ua == ub;
        match op {
            Eq => Truth::of(same, apart),
            Ne => Truth::of(apart, same),
            Ult => Truth::of(ua.1 < ub.0, ua.0 >= ub.1),
            Ule => Truth::of(ua.1 <= ub.0, ua.0 > ub.1),
            Slt => Truth::of(sa.1 < sb.0, sa.0 >= sb.1),
            Sle => Truth::of(sa.1 <= sb.0, sa.0 > sb.1),
            _ => Truth::Open,
        }
    }

    /// The lowest bits of an expression, where they are known.
    fn low_bits(&self, state: &State<'_>, expr: &Expr, mask: i128, depth: u32) -> Option<Num> {
        if depth > 8 {
            return None;
        }
        if let Expr::Binary(BinaryOp::Or, left, right) = expr {
            let one = self.low_bits(state, left, mask, depth + 1)?;
            let two = self.low_bits(state, right, mask, depth + 1)?;
            let zero = one == Num::one(0) && two == Num::one(0);
            return Some(if zero { Num::one(0) } else { Num::range(0, mask) });
        }
        if let Expr::Var(var) = expr
            && let Some(fact) = state.facts.get(var)
            && let Some(bits) = self.low_bits(state, fact, mask, depth + 1)
        {
            return Some(bits);
        }
        let value = self.eval(state, expr);
        if value.undefined || value.wild || value.parts.is_empty() {
            return None;
        }
        let mut all: Option<Num> = None;
        for (base, num) in &value.parts {
            let bits = match base {
                Base::Zero => num.low_bits(mask),
                Base::Object(object) if (self.aligned)(*object) % (mask + 1) == 0 => {
                    num.low_bits(mask)
                }
                _ => return None,
            };
            all = Some(all.map_or(bits, |known| known.join(bits)));
        }
        all
    }

    /// What is known where a condition holds, or does not; None where that cannot be.
    pub fn refine<'p>(
        &self,
        mut state: State<'p>,
        condition: &Expr,
        holds: bool,
        depth: u32,
    ) -> Option<State<'p>> {
        match self.truth(&state, condition) {
            Truth::Always if !holds => return None,
            Truth::Never if holds => return None,
            _ if depth > 12 => return Some(state),
            _ => {}
        }
        match condition {
            Expr::Var(var) => {
                let fact = state.facts.get(var).copied();
                let facts = state.facts.clone();
                state.vars[var.0 as usize] = Value::constant(i128::from(holds));
                state.facts = facts;
                match fact {
                    Some(fact) => self.refine(state, fact, holds, depth + 1),
                    None => Some(state),
                }
            }
            Expr::Unary(UnaryOp::Not, inner) => self.refine(state, inner, !holds, depth + 1),
            Expr::Binary(BinaryOp::And, left, right) if holds => {
                let state = self.refine(state, left, true, depth + 1)?;
                self.refine(state, right, true, depth + 1)
            }
            Expr::Binary(BinaryOp::Or, left, right) if !holds => {
                let state = self.refine(state, left, false, depth + 1)?;
                self.refine(state, right, false, depth + 1)
            }
            Expr::Binary(BinaryOp::Or, left, right) => {
                self.refine_either(state, left, right, depth)
            }
            Expr::Binary(op, left, right) if op.is_comparison() => {
                self.refine_comparison(state, *op, left, right, holds, depth)
            }
            _ => Some(state),
        }
    }

    /// Where one of two cannot hold, the other does.
    fn refine_either<'p>(
        &self,
        state: State<'p>,
        left: &Expr,
        right: &Expr,
        depth: u32,
    ) -> Option<State<'p>> {
        if self.truth(&state, left) == Truth::Never {
            return self.refine(state, right, true, depth + 1);
        }
        if self.truth(&state, right) == Truth::Never {
            return self.refine(state, left, true, depth + 1);
        }
        Some(state)
    }

    fn refine_comparison<'p>(
        &self,
        mut state: State<'p>,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        holds: bool,
        depth: u32,
    ) -> Option<State<'p>> {
        use BinaryOp::*;
        let width = self.width(left);
        // A truth value as a number, compared with 0 or 1.
        if let (Eq | Ne, Expr::Const(bits)) = (op, right)
            && let Some(inner) = self.truth_value(&state, left)
            && bits.unsigned() <= 1
        {
            let is_true = (bits.unsigned() == 1) == ((op == Eq) == holds);
            return self.refine(state, &inner, is_true, depth + 1);
        }
        let (one, two) = (self.eval(&state, left), self.eval(&state, right));
        let (op, holds) = if op == Ne { (Eq, !holds) } else { (op, holds) };
        if op == Eq {
            let narrowed = |value: &Value, by: &Value| self.equal_to(value, by, width, holds);
            let (new_one, new_two) = (narrowed(&one, &two), narrowed(&two, &one));
            if new_one.is_none() && !one.is_none() || new_two.is_none() && !two.is_none() {
                return None;
            }
            self.restrict(&mut state, left, new_one, depth);
            self.restrict(&mut state, right, new_two, depth);
            return Some(state);
        }
        let (Some(a), Some(b)) = (one.only_number(), two.only_number()) else {
            return Some(state);
        };
        let ends = |num: Num| match op {
            Ult | Ule => Some(num.unsigned(width, self.most)),
            Slt | Sle => Some(num.signed(width, self.most)),
            _ => None,
        };
        let (Some(ea), Some(eb)) = (ends(a), ends(b)) else { return Some(state) };
        if let (Ult, true, Some(bound)) = (op, holds && a == Num::me(), b.single()) {
            state.below = Some(state.below.map_or(bound, |known| known.min(bound)));
        }
        let strict = i128::from(matches!(op, Ult | Slt) == holds);
        // Either `left < right`, or `right < left`, with equality or without.
        let (a_range, b_range) = match holds {
            true => ((ea.0, ea.1.min(eb.1 - strict)), (eb.0.max(ea.0 + strict), eb.1)),
            false => ((ea.0.max(eb.0 + strict), ea.1), (eb.0, eb.1.min(ea.1 - strict))),
        };
        let cut = |num: Num, ends: (i128, i128), (lo, hi): (i128, i128)| {
            if num.mine != 0 {
                return Some(num);
            }
            rebased(num, ends.0, ends.1, self.most).meet(lo, hi)
        };
        let (Some(a), Some(b)) = (cut(a, ea, a_range), cut(b, eb, b_range)) else { return None };
        self.restrict(&mut state, left, Value::number(a), depth);
        self.restrict(&mut state, right, Value::number(b), depth);
        Some(state)
    }

    /// The one-bit expression that an expression is the number of.
    fn truth_value(&self, state: &State<'_>, expr: &Expr) -> Option<Expr> {
        match expr {
            _ if self.width(expr) == 1 => Some(expr.clone()),
            Expr::ZeroExtend { value, .. } => self.truth_value(state, value),
            Expr::Var(var) => match state.facts.get(var) {
                Some(fact @ Expr::ZeroExtend { .. }) => self.truth_value(state, fact),
                _ => None,
            },
            _ => None,
        }
    }

    /// Those of the values that are equal to one of the others, or different from the only other.
    fn equal_to(&self, value: &Value, by: &Value, width: u32, holds: bool) -> Value {
        if by.wild || by.undefined || value.wild || value.undefined {
            return value.clone();
        }
        let other = by.only_number();
        value.map(|base, num| match (base, other, holds) {
            (Base::Zero, Some(other), true) if num.mine == 0 && other.mine == 0 => {
                let (lo, hi) = num.unsigned(width, self.most);
                let (from, to) = other.unsigned(width, self.most);
                rebased(num, lo, hi, self.most).meet(from, to)
            }
            (Base::Zero, Some(other), false) if num.mine == 0 && other.single().is_some() => {
                let (lo, hi) = num.unsigned(width, self.most);
                let (without, _) = other.unsigned(width, self.most);
                let own = rebased(num, lo, hi, self.most);
                if lo == without && own.lo == lo {
                    return own.meet(lo + 1, hi);
                }
                if hi == without && own.hi == hi { own.meet(lo, hi - 1) } else { Some(num) }
            }
            (Base::Object(_) | Base::Function(_), Some(other), true) if is_small(other, width) => {
                None
            }
            (Base::Zero, None, true) if is_small(num, width) && no_number(by) => None,
            (Base::Function(_), None, true) if !by.parts.iter().any(|(at, _)| *at == base) => None,
            (Base::Function(_), None, false)
                if by.parts.len() == 1 && by.parts[0] == (base, num) =>
            {
                None
            }
            _ => Some(num),
        })
    }

    /// An expression is known to have one of these values.
    fn restrict(&self, state: &mut State<'_>, expr: &Expr, value: Value, depth: u32) {
        if depth > 12 {
            return;
        }
        match expr {
            Expr::Var(var) => {
                let fact = state.facts.get(var).copied();
                state.vars[var.0 as usize] = value.clone();
                state.reflect(*var, &value);
                if let Some(fact) = fact {
                    self.restrict_fact(state, fact, value, depth + 1);
                }
            }
            _ => self.restrict_fact(state, expr, value, depth),
        }
    }

    fn restrict_fact(&self, state: &mut State<'_>, expr: &Expr, value: Value, depth: u32) {
        let width = self.width(expr);
        match expr {
            Expr::Var(_) => self.restrict(state, expr, value, depth),
            Expr::ZeroExtend { value: inner, .. } => {
                let from = self.width(inner);
                let old = self.eval(state, inner).only_number();
                if let (Some(num), Some(old)) = (value.only_number(), old)
                    && let (lo, hi) = num.unsigned(width, self.most)
                    && let (own, end) = old.unsigned(from, self.most)
                    && old.mine == 0
                    && let Some(num) = rebased(old, own, end, self.most).meet(lo, hi)
                {
                    self.restrict(state, inner, Value::number(num), depth + 1);
                }
            }
            Expr::SignExtend { value: inner, .. } => {
                let from = self.width(inner);
                let old = self.eval(state, inner).only_number();
                if let (Some(num), Some(old)) = (value.only_number(), old)
                    && let (lo, hi) = num.signed(width, self.most)
                    && let (own, end) = old.signed(from, self.most)
                    && old.mine == 0
                    && let Some(num) = rebased(old, own, end, self.most).meet(lo, hi)
                {
                    self.restrict(state, inner, Value::number(num), depth + 1);
                }
            }
            Expr::Binary(BinaryOp::Add, inner, by) => {
                if let (Expr::Const(by), Some(num)) = (&**by, value.only_number())
                    && self.eval(state, inner).only_number().is_some_and(|old| old.mine == 0)
                    && num.mine == 0
                {
                    let num = num.sub(Num::constant(*by), width);
                    self.restrict(state, inner, Value::number(num), depth + 1);
                }
            }
            _ => {}
        }
    }
}

/// No address is so small, or so near the largest.
fn is_small(num: Num, width: u32) -> bool {
    let (lo, hi) = num.signed(width, 0);
    num.mine == 0 && lo >= -4096 && hi <= 4096
}

fn no_number(value: &Value) -> bool {
    value.parts.iter().all(|(base, _)| matches!(base, Base::Object(_) | Base::Function(_)))
}

/// The same numbers, counted from where the ends are.
fn rebased(num: Num, lo: i128, hi: i128, most: i128) -> Num {
    let spread = num.spread(most);
    if spread.hi - spread.lo == hi - lo {
        if num.mine != 0 && spread.lo == lo {
            return num;
        }
        return Num { lo, hi, ..spread };
    }
    Num::range(lo, hi)
}

/// Whether an expression is how the library says of an object that it exists.
fn is_mark(op: BinaryOp, left: &Expr, right: &Expr) -> bool {
    const MARK: u128 = 0x5ca1_ab1e;
    let is_low = matches!(left, Expr::Extract { low: 0, width: 32, .. } | Expr::Var(_));
    op == BinaryOp::Xor
        && is_low
        && matches!(right, Expr::Const(bits) if bits.width() == 32 && bits.unsigned() == MARK)
}

/// The mask that an expression is, if it covers the lowest bits.
fn low_mask(expr: &Expr) -> Option<i128> {
    let Expr::Const(bits) = expr else { return None };
    let mask = i128::try_from(bits.unsigned()).ok()?;
    (mask > 0 && mask < 1 << 60 && mask & (mask + 1) == 0).then_some(mask)
}
