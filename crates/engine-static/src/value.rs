//! What a variable or a place in memory may hold: numbers, and addresses in objects with offsets.

use parallax_program::FunctionId;

use crate::num::Num;

/// What a number is counted from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Base {
    Zero,
    Object(ObjectId),
    Function(FunctionId),
    /// The number of a thread.
    Thread(ThreadId),
    /// What the library writes into an object to say that it exists: never a plain number.
    Mark,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ObjectId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ThreadId(pub u32);

/// A set of values.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Value {
    /// Sorted, each base once.
    pub parts: Vec<(Base, Num)>,
    /// It may never have been written, or be the address of an object whose life is over.
    pub undefined: bool,
    /// It may be computed from addresses in a way that is not followed, so that it may be any of them.
    pub wild: bool,
}

/// Values with more bases are wild.
const MOST_BASES: usize = 48;

impl Value {
    /// Of no value at all.
    pub fn none() -> Value {
        Value::default()
    }

    pub fn number(num: Num) -> Value {
        Value { parts: vec![(Base::Zero, num)], ..Value::default() }
    }

    pub fn constant(value: i128) -> Value {
        Value::number(Num::one(value))
    }

    pub fn at(base: Base) -> Value {
        Value { parts: vec![(base, Num::one(0))], ..Value::default() }
    }

    pub fn undefined() -> Value {
        Value { undefined: true, ..Value::default() }
    }

    pub fn wild(width: u32) -> Value {
        Value { wild: true, ..Value::number(Num::all(width)) }
    }

    pub fn is_none(&self) -> bool {
        self.parts.is_empty() && !self.undefined && !self.wild
    }

    /// The numbers in it, if it has nothing else.
    pub fn only_number(&self) -> Option<Num> {
        match self.parts[..] {
            [(Base::Zero, num)] if !self.undefined && !self.wild => Some(num),
            _ => None,
        }
    }

    /// Numbers that it may be taken for, where addresses may be any.
    pub fn as_number(&self, width: u32) -> Option<Num> {
        if self.is_none() {
            return None;
        }
        Some(self.only_number().unwrap_or(Num::all(width)))
    }

    pub fn has_addresses(&self) -> bool {
        let is_address =
            |base: &Base| matches!(base, Base::Object(_) | Base::Function(_) | Base::Mark);
        self.wild || self.parts.iter().any(|(base, _)| is_address(base))
    }

    /// The same, with numbers of threads as numbers, which are `most` at most.
    pub fn without_threads(&self, most: i128) -> Value {
        let is_thread = |base: &Base| matches!(base, Base::Thread(_));
        if !self.parts.iter().any(|(base, _)| is_thread(base)) {
            return self.clone();
        }
        let (threads, parts) = self.parts.iter().partition(|(base, _)| is_thread(base));
        let rest = Value { parts, ..*self };
        let threads: Vec<(Base, Num)> = threads;
        threads.iter().fold(rest, |all, (_, num)| {
            let num = num.add(Num::range(0, most), 64);
            all.join(&Value::number(num), 64)
        })
    }

    /// A part of it, or something made of it, in which addresses cannot be known any more.
    pub fn blurred(&self, width: u32) -> Value {
        if self.is_none() {
            return Value::none();
        }
        let wild = self.has_addresses();
        Value { undefined: self.undefined, wild, ..Value::number(Num::all(width)) }
    }

    pub fn objects(&self) -> impl Iterator<Item = ObjectId> {
        self.parts.iter().filter_map(|(base, _)| match base {
            Base::Object(object) => Some(*object),
            _ => None,
        })
    }

    fn merged(&self, other: &Value, width: u32, both: impl Fn(Num, Num) -> Num) -> Value {
        let mut parts = Vec::with_capacity(self.parts.len() + other.parts.len());
        let (mut left, mut right) = (self.parts.iter().peekable(), other.parts.iter().peekable());
        loop {
            match (left.peek().copied(), right.peek().copied()) {
                (Some(a), Some(b)) if a.0 == b.0 => {
                    parts.push((a.0, both(a.1, b.1)));
                    left.next();
                    right.next();
                }
                (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => {
                    parts.push(*a);
                    left.next();
                }
                (_, Some(b)) => {
                    parts.push(*b);
                    right.next();
                }
                (_, None) => break,
            }
        }
        let undefined = self.undefined || other.undefined;
        if parts.len() > MOST_BASES {
            return Value { undefined, ..Value::wild(width) };
        }
        Value { parts, undefined, wild: self.wild || other.wild }
    }

    pub fn join(&self, other: &Value, width: u32) -> Value {
        if self == other || other.is_none() {
            return self.clone();
        }
        self.merged(other, width, |a, b| a.join(b))
    }

    pub fn widen(&self, next: &Value, width: u32, landmarks: &[i128]) -> Value {
        self.merged(next, width, |a, b| a.widen(b, width, landmarks))
    }

    /// With each offset changed, or left out.
    pub fn map(&self, change: impl Fn(Base, Num) -> Option<Num>) -> Value {
        let parts = self.parts.iter();
        let parts = parts.filter_map(|(base, num)| Some((*base, change(*base, *num)?))).collect();
        Value { parts, ..*self }
    }

    /// The same to another thread, whose own number is another one.
    pub fn handed_over(&self, most: i128) -> Value {
        self.map(|_, num| Some(num.spread(most)))
    }

    /// With what one object was called called something else: another object, nothing, or both.
    pub fn renamed(&self, object: ObjectId, to: &Renamed) -> Value {
        let Ok(index) = self.parts.binary_search_by_key(&Base::Object(object), |part| part.0)
        else {
            return self.clone();
        };
        let mut parts = self.parts.clone();
        let (_, num) = match to.stays {
            true => parts[index],
            false => parts.remove(index),
        };
        let rest = Value { parts, ..*self };
        let mut more = Value { undefined: to.dies, ..Value::default() };
        more.parts.extend(to.becomes.map(|other| (Base::Object(other), num)));
        rest.join(&more, 64)
    }
}

/// What has become of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Renamed {
    pub stays: bool,
    pub becomes: Option<ObjectId>,
    pub dies: bool,
}
