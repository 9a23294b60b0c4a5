//! Simplification of operators that only move bits: parts, joins and extensions.
//!
//! Rules go from a term to terms that are narrower, or to operands that no rule of the same kind
//! applies to; they end after at most as many steps as a term has bits.

use parallax_program::{Bits, UnaryOp};

use super::{Node, Term, Terms};

impl Terms {
    /// `width` bits from bit `low` on; what is asked for above the top is zero.
    pub fn extract(&mut self, value: Term, low: u32, width: u32) -> Term {
        let whole = self.width(value);
        let width = width.clamp(1, Bits::MAX_WIDTH);
        if low == 0 && width == whole {
            return value;
        }
        if low >= whole {
            return self.zero(width);
        }
        if width > whole - low {
            let inside = self.extract(value, low, whole - low);
            return self.zero_extend(inside, width);
        }
        match self.node(value) {
            Node::Constant(bits) => self.constant(bits.extract(low, width)),
            Node::Extract { value, low: below, .. } => self.extract(value, below + low, width),
            Node::Concat { high, low: bottom } => self.extract_joined(high, bottom, low, width),
            Node::ZeroExtend { value, .. } => self.extract(value, low, width),
            Node::SignExtend { value, .. } => self.extract_signed(value, low, width),
            _ => self.intern(Node::Extract { value, low, width }),
        }
    }

    fn extract_joined(&mut self, high: Term, bottom: Term, low: u32, width: u32) -> Term {
        let split = self.width(bottom);
        if low >= split {
            return self.extract(high, low - split, width);
        }
        if low + width <= split {
            return self.extract(bottom, low, width);
        }
        let above = self.extract(high, 0, low + width - split);
        let below = self.extract(bottom, low, split - low);
        self.concat(above, below)
    }

    fn extract_signed(&mut self, value: Term, low: u32, width: u32) -> Term {
        let inner = self.width(value);
        if low + width <= inner {
            return self.extract(value, low, width);
        }
        let low = low.min(inner - 1);
        let kept = self.extract(value, low, inner - low);
        self.sign_extend(kept, width)
    }

    /// `high` above `low`; what is beyond 128 bits is dropped.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let room = Bits::MAX_WIDTH - self.width(low);
        if room == 0 {
            return low;
        }
        let high = if self.width(high) > room { self.extract(high, 0, room) } else { high };
        match (self.node(high), self.node(low)) {
            (Node::Constant(a), Node::Constant(b)) => self.constant(a.concat(b)),
            (Node::Constant(bits), _) if bits.is_zero() => {
                let width = self.width(high) + self.width(low);
                self.zero_extend(low, width)
            }
            (
                Node::Extract { value, low: middle, width: upper },
                Node::Extract { value: same, low: start, width: lower },
            ) if value == same && middle == start + lower => {
                self.extract(value, start, lower + upper)
            }
            _ => self.intern(Node::Concat { high, low }),
        }
    }

    /// A width that is no more than that of the value cuts it.
    pub fn zero_extend(&mut self, value: Term, width: u32) -> Term {
        let width = width.clamp(1, Bits::MAX_WIDTH);
        if width <= self.width(value) {
            return self.extract(value, 0, width);
        }
        match self.node(value) {
            Node::Constant(bits) => self.constant(bits.zero_extend(width)),
            Node::ZeroExtend { value, .. } => self.zero_extend(value, width),
            _ => self.intern(Node::ZeroExtend { value, width }),
        }
    }

    /// A width that is no more than that of the value cuts it.
    pub fn sign_extend(&mut self, value: Term, width: u32) -> Term {
        let width = width.clamp(1, Bits::MAX_WIDTH);
        if width <= self.width(value) {
            return self.extract(value, 0, width);
        }
        match self.node(value) {
            Node::Constant(bits) => self.constant(bits.sign_extend(width)),
            // Its sign is zero.
            Node::ZeroExtend { value, .. } => self.zero_extend(value, width),
            Node::SignExtend { value, .. } => self.sign_extend(value, width),
            _ => self.intern(Node::SignExtend { value, width }),
        }
    }

    /// Cut or zero-extended to that width.
    pub fn resize(&mut self, value: Term, width: u32) -> Term {
        if self.width(value) == width { value } else { self.zero_extend(value, width) }
    }

    /// Byte swap and bit reversal where they leave the value alone.
    pub(super) fn permute_byte(&mut self, op: UnaryOp, value: Term) -> Term {
        match op {
            UnaryOp::ByteSwap => value,
            _ if self.width(value) == 1 => value,
            _ => self.intern(Node::Unary(op, value)),
        }
    }
}
