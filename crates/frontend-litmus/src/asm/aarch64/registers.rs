//! General-purpose registers: thirty-one of 64 bits, seen whole as `X0`…`X30` or by their lower
//! half as `W0`…`W30`, the zero register and the stack pointer.

use crate::asm::Register;

/// A register as an instruction names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg {
    pub which: Which,
    /// 32 or 64.
    pub width: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// `X0` to `X30`, under the name of the whole register.
    General(&'static str),
    /// Reads as zero; what is written to it is lost.
    Zero,
    StackPointer,
}

const GENERAL: [&str; 31] = [
    "X0", "X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X9", "X10", "X11", "X12", "X13", "X14",
    "X15", "X16", "X17", "X18", "X19", "X20", "X21", "X22", "X23", "X24", "X25", "X26", "X27",
    "X28", "X29", "X30",
];

/// What a thread may use freely: all but the link register.
pub const SPARE: &[&str] = GENERAL.split_at(30).0;

impl Reg {
    pub const ZERO: Reg = Reg { which: Which::Zero, width: 64 };

    pub fn parse(name: &str) -> Option<Reg> {
        let name = name.to_ascii_uppercase();
        let special = |which, width| Some(Reg { which, width });
        match name.as_str() {
            "XZR" => return special(Which::Zero, 64),
            "WZR" => return special(Which::Zero, 32),
            "SP" => return special(Which::StackPointer, 64),
            "WSP" => return special(Which::StackPointer, 32),
            _ => {}
        }
        let (width, number) = match name.strip_prefix('X') {
            Some(number) => (64, number),
            None => (32, name.strip_prefix('W')?),
        };
        let whole = GENERAL.iter().find(|whole| whole.get(1..) == Some(number))?;
        special(Which::General(whole), width)
    }

    /// Where its value is kept; the zero register is kept nowhere.
    pub fn storage(self) -> Option<Register> {
        let whole = match self.which {
            Which::General(name) => name,
            Which::StackPointer => "SP",
            Which::Zero => return None,
        };
        Some(Register { whole, whole_width: 64, low: 0, width: self.width })
    }

    /// What conditions call `XZR`: a variable that nothing writes.
    pub fn nowhere(self) -> Register {
        Register { whole: "XZR", whole_width: 64, low: 0, width: self.width }
    }

    pub fn is_zero(self) -> bool {
        self.which == Which::Zero
    }
}
