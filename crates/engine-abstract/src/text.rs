//! Formulas and places as people read them.

use parallax_program::{BinaryOp, UnaryOp};
use parallax_solver::{Node, Term};

use crate::block::Blocks;
use crate::places::{FORGOTTEN, FORGOTTEN_OPEN, Place, PlaceId, of_program};

/// A place by its name in the program.
pub fn place(blocks: &Blocks<'_>, id: PlaceId) -> String {
    let program = blocks.code.program;
    match blocks.places.place(id) {
        Place::Local { thread, depth, function, var } => {
            let function = program.function(function);
            let name = &function.vars[var as usize].name;
            match depth {
                0 => format!("T{thread}:{}.{name}", function.name),
                _ => format!("T{thread}:{}#{depth}.{name}", function.name),
            }
        }
        Place::Memory { address, bytes } => match of_program(address) {
            (address, false) => memory(blocks, address, bytes),
            (address, true) => format!("{}?", memory(blocks, address, bytes)),
        },
        Place::Stored { thread, address, bytes, nth } => {
            let name = memory(blocks, address, bytes);
            match nth {
                0 => format!("T{thread}>{name}"),
                _ => format!("T{thread}>{name}#{nth}"),
            }
        }
        Place::Written { thread, address, bytes, before } => {
            let name = memory(blocks, address, bytes);
            match before {
                FORGOTTEN => format!("{name}@T{thread}*"),
                FORGOTTEN_OPEN => format!("{name}@T{thread}+"),
                _ => format!("{name}@T{thread}{}", "'".repeat(before as usize)),
            }
        }
    }
}

fn memory(blocks: &Blocks<'_>, address: u64, bytes: u8) -> String {
    let mut globals = blocks.code.program.globals.iter().zip(blocks.code.addresses());
    let inside = |start: u64, size: u64| start <= address && address - start < size.max(1);
    match globals.find(|(global, start)| inside(**start, global.size)) {
        Some((global, start)) if address == *start && u64::from(bytes) == global.size => {
            global.name.clone()
        }
        Some((global, start)) => format!("{}[{}:{bytes}]", global.name, address - start),
        None => format!("[{address:#x}:{bytes}]"),
    }
}

/// A formula. It is cut where it is long.
pub fn formula(blocks: &Blocks<'_>, term: Term) -> String {
    const LONGEST: usize = 400;
    let mut text = String::new();
    write(blocks, term, &mut text, 0);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn write(blocks: &Blocks<'_>, term: Term, text: &mut String, depth: u32) {
    const DEEPEST: u32 = 24;
    if depth > DEEPEST || text.len() > 1000 {
        text.push('…');
        return;
    }
    let depth = depth + 1;
    let terms = &blocks.values.terms;
    match terms.node(term) {
        Node::Constant(bits) => {
            let is_small = bits.width() < 8 || bits.to_signed() >= -4096;
            let number =
                if is_small { bits.to_signed() } else { bits.unsigned().try_into().unwrap_or(0) };
            match bits.width() {
                1 => *text += if bits.is_zero() { "false" } else { "true" },
                _ => *text += &number.to_string(),
            }
        }
        Node::Variable { number, .. } => match blocks.places.of(term) {
            Some(id) => *text += &place(blocks, id),
            None => *text += &format!("input{number}"),
        },
        Node::Unary(op, value) => {
            *text += match op {
                UnaryOp::Not if terms.width(term) == 1 => "!",
                UnaryOp::Not => "~",
                UnaryOp::Neg => "-",
                _ => "f",
            };
            if let Node::Variable { .. } = terms.node(value) {
                return write(blocks, value, text, depth);
            }
            text.push('(');
            write(blocks, value, text, depth);
            text.push(')');
        }
        Node::Binary(op, left, right) => {
            let is_simple =
                |term| matches!(terms.node(term), Node::Variable { .. } | Node::Constant(_));
            for (side, between) in [(left, Some(sign(op))), (right, None)] {
                if is_simple(side) {
                    write(blocks, side, text, depth);
                } else {
                    text.push('(');
                    write(blocks, side, text, depth);
                    text.push(')');
                }
                if let Some(between) = between {
                    *text += &format!(" {between} ");
                }
            }
        }
        Node::Extract { value, low, width } => {
            text.push('(');
            write(blocks, value, text, depth);
            *text += &format!(")[{low}+{width}]");
        }
        Node::Concat { high, low } => {
            text.push('(');
            write(blocks, high, text, depth);
            *text += " ++ ";
            write(blocks, low, text, depth);
            text.push(')');
        }
        Node::ZeroExtend { value, .. } | Node::SignExtend { value, .. } => {
            let is_signed = matches!(terms.node(term), Node::SignExtend { .. });
            *text += if is_signed { "sext(" } else { "zext(" };
            write(blocks, value, text, depth);
            text.push(')');
        }
        Node::Select { condition, then, otherwise } => {
            *text += "(";
            write(blocks, condition, text, depth);
            *text += " ? ";
            write(blocks, then, text, depth);
            *text += " : ";
            write(blocks, otherwise, text, depth);
            *text += ")";
        }
    }
}

fn sign(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Add | FAdd => "+",
        Sub | FSub => "-",
        Mul | FMul => "*",
        UDiv | SDiv | FDiv => "/",
        URem | SRem | FRem => "%",
        And => "&",
        Or => "|",
        Xor => "^",
        Shl => "<<",
        LShr | AShr => ">>",
        Eq | FEq => "==",
        Ne => "!=",
        Ult => "<u",
        Ule => "<=u",
        Slt | FLt => "<",
        Sle | FLe => "<=",
        FUnordered => "unordered",
    }
}
