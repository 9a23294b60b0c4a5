//! Formatted output (C17, 7.21.6): what `printf` and its relatives make of a constant format, in
//! calls of the library's functions for each piece. Text that goes to memory is made exactly, or
//! not at all; of text that goes elsewhere only the strings are read, and the number of bytes is
//! counted where somebody asks for it.

use parallax_program::{BinaryOp, Expr, UnaryOp, VarId};

use super::body::Body;
use super::format;
use super::layout::Lowered;
use crate::llvm::{Call, Name, Typed};

/// A piece of a format.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Text(Vec<u8>),
    Char,
    /// At most so many bytes.
    String {
        most: Option<u64>,
    },
    /// The number of bits that count, and how they are shown.
    Number {
        bits: u32,
        signed: bool,
        base: u64,
        upper: bool,
        left: bool,
        zero: bool,
        width: u64,
    },
    /// One that takes an argument and is not made here.
    Other(String),
}

/// Where text goes.
struct Destination {
    to: Expr,
    room: Expr,
    at: VarId,
}

impl Body<'_> {
    /// A call of a function that prints, if it is one. What it hands out is `unknown` where it is
    /// not made exactly and somebody asks for it.
    pub fn print(&mut self, name: &str, call: &Call, result: Option<&Name>) -> Option<Lowered<()>> {
        if VARIABLE.contains(&name) && result.is_some() {
            return Some(Err(format!("the number of bytes that '{name}' writes")));
        }
        let position = format::position(name)?;
        let (to, room) = match name {
            "sprintf" | "__sprintf_chk" => (Some(0), None),
            "snprintf" | "__snprintf_chk" => (Some(0), Some(1)),
            "printf" | "fprintf" | "dprintf" | "__printf_chk" | "__fprintf_chk" => (None, None),
            _ => return None,
        };
        let text = call.args.get(position).and_then(|arg| self.constant_text(&arg.value.value));
        let args: Vec<&Typed> = call.args.iter().skip(position + 1).map(|arg| &arg.value).collect();
        let matters = to.is_some() || result.is_some();
        let Some(text) = text else {
            let what = format!("what '{name}' makes of a format that is not constant");
            return Some(if matters { Err(what) } else { Ok(()) });
        };
        let pieces = pieces(&text, self.pointer_width());
        if !matters {
            return Some(self.read_strings(&pieces, &args));
        }
        let unknown = pieces.iter().find_map(|piece| match piece {
            Piece::Other(what) => Some(what),
            _ => None,
        });
        if let Some(what) = unknown {
            return Some(Err(format!("what '{name}' makes of '{what}'")));
        }
        let arg = |index: Option<usize>| index.and_then(|index| call.args.get(index));
        let (to, room) = (arg(to).map(|arg| &arg.value), arg(room).map(|arg| &arg.value));
        Some(self.print_pieces(&pieces, &args, to, room, result))
    }

    /// Strings that go elsewhere are read, as far as they are not constants.
    fn read_strings(&mut self, pieces: &[Piece], args: &[&Typed]) -> Lowered<()> {
        let width = self.pointer_width();
        let zero = || Expr::constant(width, 0);
        let taking = pieces.iter().filter(|piece| !matches!(piece, Piece::Text(_)));
        for (piece, arg) in taking.zip(args) {
            match piece {
                // Those after it may be others than they seem.
                Piece::Other(what) if what.contains(['*', 'n']) => break,
                Piece::String { most } if self.constant_text(&arg.value).is_none() => {
                    let text = self.address(&arg.value)?;
                    let args = vec![zero(), zero(), zero(), text, limit(*most, width)];
                    let dst = Some(self.builder.temp(width));
                    self.call_external("format.text", dst, args);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn print_pieces(
        &mut self,
        pieces: &[Piece],
        args: &[&Typed],
        to: Option<&Typed>,
        room: Option<&Typed>,
        result: Option<&Name>,
    ) -> Lowered<()> {
        let width = self.pointer_width();
        let at = self.builder.temp(width);
        self.builder.assign(at, Expr::constant(width, 0));
        let room = match (to, room) {
            (None, _) => Expr::constant(width, 0),
            (Some(_), None) => Expr::signed(width, -1),
            (Some(_), Some(room)) => self.typed(room)?,
        };
        let to = match to {
            Some(to) => self.address(&to.value)?,
            None => Expr::constant(width, 0),
        };
        let (to, room) = (self.in_var(to, width), self.in_var(room, width));
        let destination = Destination { to, room, at };
        let mut args = args.iter();
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.put(text, &destination),
                piece => {
                    let arg = args.next().ok_or("a format without its arguments")?;
                    self.print_piece(piece, arg, &destination)?;
                }
            }
        }
        let Destination { to, room, at } = destination;
        self.call_external("format.end", None, vec![to, room, Expr::Var(at)]);
        if let Some(result) = result {
            self.define(result, vec![Expr::Var(at).extract(0, 32)]);
        }
        Ok(())
    }

    fn put(&mut self, text: &[u8], Destination { to, room, at }: &Destination) {
        for byte in text {
            let byte = Expr::constant(8, u128::from(*byte));
            let args = vec![to.clone(), room.clone(), Expr::Var(*at), byte];
            self.call_external("format.put", Some(*at), args);
        }
    }

    fn print_piece(
        &mut self,
        piece: &Piece,
        arg: &Typed,
        Destination { to, room, at }: &Destination,
    ) -> Lowered<()> {
        let pointer = self.pointer_width();
        let mut args = vec![to.clone(), room.clone(), Expr::Var(*at)];
        let value = self.typed(arg)?;
        let given = self.unit.layout.width(&arg.ty)?;
        let name = match piece {
            Piece::Char => {
                args.push(value.extract(0, 8));
                "format.put"
            }
            Piece::String { most } => {
                args.extend([value, limit(*most, pointer)]);
                "format.text"
            }
            Piece::Number { bits, signed, base, upper, left, zero, width } => {
                let value = value.resize(given, *bits);
                let value = match signed {
                    true if *bits < 64 => value.sign_extend(64),
                    _ => value.resize(*bits, 64),
                };
                let value = self.in_var(value, 64);
                let negative = match signed {
                    true => Expr::binary(BinaryOp::Slt, value.clone(), Expr::constant(64, 0)),
                    false => Expr::constant(1, 0),
                };
                let magnitude =
                    negative.clone().select(Expr::unary(UnaryOp::Neg, value.clone()), value);
                let flag = |flag: &bool| Expr::constant(1, u128::from(*flag));
                let base = Expr::constant(64, u128::from(*base));
                let width = Expr::constant(pointer, u128::from(*width));
                args.extend([magnitude, negative, base]);
                args.extend([flag(upper), flag(left), flag(zero), width]);
                "format.number"
            }
            Piece::Text(_) | Piece::Other(_) => return Err("a format".to_string()),
        };
        self.call_external(name, Some(*at), args);
        Ok(())
    }
}

/// Functions that take their arguments as a list.
const VARIABLE: [&str; 4] = ["vprintf", "vfprintf", "__vprintf_chk", "__vfprintf_chk"];

fn limit(most: Option<u64>, width: u32) -> Expr {
    match most {
        Some(most) => Expr::constant(width, u128::from(most)),
        None => Expr::signed(width, -1),
    }
}

/// The pieces of a format, where `long` has so many bits.
fn pieces(format: &[u8], long: u32) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut rest = format;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            text.push(*first);
            continue;
        }
        if let Some(after) = rest.strip_prefix(b"%") {
            text.push(b'%');
            rest = after;
            continue;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        let is_last = |byte: &u8| byte.is_ascii_alphabetic() && !b"hlqjztL".contains(byte);
        let length = rest.iter().position(is_last).map_or(rest.len(), |last| last + 1);
        let (conversion, after) = rest.split_at(length);
        rest = after;
        pieces.push(
            conversion_of(conversion, long).unwrap_or_else(|| {
                Piece::Other(format!("%{}", String::from_utf8_lossy(conversion)))
            }),
        );
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// What follows a `%`: flags, width, precision, length, and the letter (C17, 7.21.6.1).
fn conversion_of(text: &[u8], long: u32) -> Option<Piece> {
    let (letter, text) = text.split_last()?;
    let text = std::str::from_utf8(text).ok()?;
    let length = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let text = &text[..text.len() - length.len()];
    let flags = text.trim_start_matches(['-', '0']);
    let flagged = &text[..text.len() - flags.len()];
    let (left, zero) = (flagged.contains('-'), flagged.contains('0'));
    let (width, precision) = match flags.split_once('.') {
        Some((width, precision)) => (width, Some(precision)),
        None => (flags, None),
    };
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    let width = number(width).filter(|width| *width <= 1 << 16)?;
    let precision = match precision {
        Some(precision) => Some(number(precision)?),
        None => None,
    };
    let bits = match length {
        "" => 32,
        "h" => 16,
        "hh" => 8,
        "l" | "z" | "t" => long,
        "ll" | "q" | "j" => 64,
        _ => return None,
    };
    let (signed, base, upper) = match letter {
        b'c' if text.is_empty() && bits == 32 => return Some(Piece::Char),
        b's' if width == 0 && bits == 32 => return Some(Piece::String { most: precision }),
        b'd' | b'i' => (true, 10, false),
        b'u' => (false, 10, false),
        b'o' => (false, 8, false),
        b'x' => (false, 16, false),
        b'X' => (false, 16, true),
        _ => return None,
    };
    let zero = zero && !left;
    precision.is_none().then_some(Piece::Number { bits, signed, base, upper, left, zero, width })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bits: u32, signed: bool, base: u64, width: u64) -> Piece {
        Piece::Number { bits, signed, base, upper: false, left: false, zero: false, width }
    }

    #[test]
    fn formats_are_taken_apart() {
        let text = |text: &str| Piece::Text(text.as_bytes().to_vec());
        let pieces = |format: &[u8]| super::pieces(format, 64);
        assert_eq!(pieces(b"a%%b"), [text("a%b")]);
        assert_eq!(pieces(b"%d!"), [number(32, true, 10, 0), text("!")]);
        assert_eq!(pieces(b"%3hhx"), [number(8, false, 16, 3)]);
        assert_eq!(pieces(b"%zu%c"), [number(64, false, 10, 0), Piece::Char]);
        assert_eq!(
            super::pieces(b"%lu%lld", 32),
            [number(32, false, 10, 0), number(64, true, 10, 0)]
        );
        assert_eq!(pieces(b"%.3s"), [Piece::String { most: Some(3) }]);
        for other in ["%f", "%p", "%+d", "%#x", "%*d", "%.2d", "%5s", "%n", "%ls"] {
            assert_eq!(pieces(other.as_bytes()), [Piece::Other(other.to_string())]);
        }
    }
}
