//! What the interpreter computes with here: numbers, and terms over symbols where a number is not
//! known. A value that is known never becomes a term by itself, so that a program computes as fast as
//! with numbers alone as long as no input is involved.

use parallax_machine::{Concrete, Domain, Truth};
use parallax_program::{BinaryOp, Bits, UnaryOp};
use parallax_solver::{Term, Terms};
use rustc_hash::FxHashMap;

/// A number, or a term that no rule makes a number of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    Known(Bits),
    Open(Term),
}

impl Value {
    pub fn known(self) -> Option<Bits> {
        match self {
            Value::Known(bits) => Some(bits),
            Value::Open(_) => None,
        }
    }
}

/// Something that may have any value. It is the same on every way through the program, so that a
/// model of one path says what each of its symbols is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    /// The n-th choice of a thread: an input, or what the library leaves open.
    Choice { thread: u32, number: u32 },
    /// The n-th variable that a thread gives no value.
    Undefined { thread: u32, number: u32 },
    /// A byte of memory that nobody has written.
    Byte { address: u64 },
}

/// All terms, and what the symbols in them are.
#[derive(Default)]
pub struct Values {
    pub terms: Terms,
    symbols: FxHashMap<(Symbol, u32), Term>,
    names: FxHashMap<Term, Symbol>,
    /// Where one path is followed: what the symbols are. Others are zero.
    pub fixed: Option<FxHashMap<Symbol, Bits>>,
    /// Those of them that were asked for, in order.
    pub used: Vec<(Symbol, Bits)>,
    /// What a term is taken to be for the next call of the interpreter.
    pub assumed: Option<(Term, Bits)>,
    /// Whether a constant was met inside of an expression that is no number.
    pub met_undefined: bool,
    /// How much was computed so far.
    pub computations: u64,
}

impl Values {
    pub fn symbol(&mut self, symbol: Symbol, width: u32) -> Value {
        if let Some(fixed) = &self.fixed {
            let bits = fixed.get(&symbol).filter(|bits| bits.width() == width);
            let bits = bits.copied().unwrap_or(Bits::zero(width));
            self.used.push((symbol, bits));
            return Value::Known(bits);
        }
        if let Some(term) = self.symbols.get(&(symbol, width)) {
            return Value::Open(*term);
        }
        let term = self.terms.variable(width);
        self.symbols.insert((symbol, width), term);
        self.names.insert(term, symbol);
        Value::Open(term)
    }

    /// What symbol a variable stands for.
    pub fn name(&self, variable: Term) -> Option<Symbol> {
        self.names.get(&variable).copied()
    }

    pub fn term(&mut self, value: Value) -> Term {
        match value {
            Value::Known(bits) => self.terms.constant(bits),
            Value::Open(term) => term,
        }
    }

    /// The term as a value: a number if it is one.
    pub fn value(&self, term: Term) -> Value {
        self.terms.as_constant(term).map_or(Value::Open(term), Value::Known)
    }

    pub fn width(&self, value: Value) -> u32 {
        match value {
            Value::Known(bits) => bits.width(),
            Value::Open(term) => self.terms.width(term),
        }
    }

    pub fn equal(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::Eq, &left, &right)
    }
}

impl Domain for Values {
    type Value = Value;

    const FOLLOWS_CONTROL: bool = false;

    fn constant(&mut self, bits: Bits) -> Value {
        if bits.is_undefined() {
            self.met_undefined = true;
            return Value::Known(Bits::zero(bits.width()));
        }
        Value::Known(bits)
    }

    fn unary(&mut self, op: UnaryOp, value: &Value) -> Value {
        match *value {
            Value::Known(bits) => Value::Known(Concrete.unary(op, &bits)),
            Value::Open(term) => {
                let term = self.terms.unary(op, term);
                self.value(term)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Value {
        self.computations += 1;
        if let (Value::Known(left), Value::Known(right)) = (left, right) {
            return Value::Known(Concrete.binary(op, left, right));
        }
        let (left, right) = (self.term(*left), self.term(*right));
        let term = self.terms.binary(op, left, right);
        self.value(term)
    }

    fn extract(&mut self, value: &Value, low: u32, width: u32) -> Value {
        match *value {
            Value::Known(bits) => Value::Known(bits.extract(low, width)),
            Value::Open(term) => {
                let term = self.terms.extract(term, low, width);
                self.value(term)
            }
        }
    }

    fn concat(&mut self, high: &Value, low: &Value) -> Value {
        if let (Value::Known(high), Value::Known(low)) = (high, low) {
            return Value::Known(high.concat(*low));
        }
        let (high, low) = (self.term(*high), self.term(*low));
        let term = self.terms.concat(high, low);
        self.value(term)
    }

    fn zero_extend(&mut self, value: &Value, width: u32) -> Value {
        match *value {
            Value::Known(bits) => Value::Known(bits.zero_extend(width)),
            Value::Open(term) => Value::Open(self.terms.zero_extend(term, width)),
        }
    }

    fn sign_extend(&mut self, value: &Value, width: u32) -> Value {
        match *value {
            Value::Known(bits) => Value::Known(bits.sign_extend(width)),
            Value::Open(term) => Value::Open(self.terms.sign_extend(term, width)),
        }
    }

    fn select(&mut self, condition: &Value, then: &Value, otherwise: &Value) -> Value {
        match *condition {
            Value::Known(bits) if bits.is_zero() => *otherwise,
            Value::Known(_) => *then,
            Value::Open(_) if then == otherwise => *then,
            Value::Open(condition) => {
                let (then, otherwise) = (self.term(*then), self.term(*otherwise));
                let term = self.terms.select(condition, then, otherwise);
                self.value(term)
            }
        }
    }

    fn truth(&self, value: &Value) -> Truth {
        match value {
            Value::Known(bits) if bits.is_zero() => Truth::False,
            Value::Known(_) => Truth::True,
            Value::Open(_) => Truth::Undecided,
        }
    }

    fn same(&self, left: &Value, right: &Value) -> bool {
        left == right
    }

    fn known(&self, value: &Value) -> Option<Bits> {
        match (value, self.assumed) {
            (Value::Open(term), Some((assumed, bits))) if *term == assumed => Some(bits),
            _ => value.known(),
        }
    }
}
