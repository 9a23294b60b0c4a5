//! One instruction on its way into a thread: its mnemonic, its operands, and the checks and
//! small emissions that RISC-V, Power and Arm have in common.

use parallax_program::{AccessSize, BlockId, Diagnostic, Expr, InstKind, Tags, VarId};

use super::{AsmLine, Register, ThreadBuilder};

/// An instruction taken apart, and the thread that it goes to.
pub struct Lowering<'l, 't, 'p> {
    pub line: AsmLine<'l>,
    pub mnemonic: &'l str,
    /// What commas separate, where brackets keep commas together.
    pub operands: Vec<&'l str>,
    pub thread: &'t mut ThreadBuilder<'p>,
    register_of: fn(&str) -> Option<Register>,
}

impl<'l, 't, 'p> Lowering<'l, 't, 'p> {
    pub fn new(
        line: AsmLine<'l>,
        thread: &'t mut ThreadBuilder<'p>,
        register_of: fn(&str) -> Option<Register>,
    ) -> Self {
        thread.function.at(line.span);
        let text = line.text.trim();
        let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        Lowering { line, mnemonic, operands: split_operands(rest), thread, register_of }
    }

    pub fn error(&self, part: &str, message: impl Into<String>) -> Diagnostic {
        self.thread.error_at(self.line, part, message)
    }

    /// For an instruction that the architecture `arch` does not have, or we do not.
    pub fn unsupported(&self, arch: &str) -> Diagnostic {
        let message = format!("unsupported {arch} instruction `{}`", self.mnemonic);
        self.error(self.mnemonic, message)
    }

    /// The operands, which must be `N`.
    pub fn take<const N: usize>(&self) -> Result<[&'l str; N], Diagnostic> {
        <[&str; N]>::try_from(self.operands.as_slice()).map_err(|_| {
            let found = self.operands.len();
            let s = if N == 1 { "" } else { "s" };
            let name = self.mnemonic;
            self.error(name, format!("`{name}` takes {N} operand{s}, not {found}"))
        })
    }

    pub fn register(&self, text: &str) -> Result<Register, Diagnostic> {
        (self.register_of)(text).ok_or_else(|| self.expected("a register", text))
    }

    pub fn integer(&self, text: &str) -> Result<i128, Diagnostic> {
        integer(text).ok_or_else(|| self.expected("an integer", text))
    }

    /// An integer of a range, both ends included.
    pub fn integer_in(&self, text: &str, low: i128, high: i128) -> Result<i128, Diagnostic> {
        let value = self.integer(text)?;
        if (low..=high).contains(&value) {
            Ok(value)
        } else {
            let message = format!("`{text}` is out of range: {low} to {high}");
            Err(self.error(text, message))
        }
    }

    /// The block of the label that an operand names.
    pub fn label(&mut self, text: &str) -> Result<BlockId, Diagnostic> {
        let letter = |c: char| c.is_ascii_alphanumeric() || "_.$-/".contains(c);
        if text.is_empty() || !text.chars().all(letter) {
            return Err(self.expected("a label", text));
        }
        Ok(self.thread.function.label_block(text))
    }

    pub fn expected(&self, what: &str, found: &str) -> Diagnostic {
        let message = if found.is_empty() {
            format!("expected {what} as operand of `{}`", self.mnemonic)
        } else {
            format!("expected {what}, found `{found}`")
        };
        let part = if found.is_empty() { self.mnemonic } else { found };
        self.error(part, message)
    }

    /// The value of a register.
    pub fn value(&mut self, register: &Register) -> Expr {
        self.thread.read(register)
    }

    /// Gives a whole register a value of its width.
    pub fn set(&mut self, register: &Register, value: Expr) {
        let var = self.thread.register_var(register);
        self.thread.function.assign(var, value);
    }

    /// A fresh variable that holds `value`.
    pub fn hold(&mut self, width: u32, value: Expr) -> VarId {
        let temp = self.thread.function.temp(width);
        self.thread.function.assign(temp, value);
        temp
    }

    pub fn emit(&mut self, kind: InstKind) {
        self.thread.function.emit(kind);
    }

    pub fn fence(&mut self, tag: &str) {
        let tags = Tags::new([tag]);
        self.emit(InstKind::Fence { tags });
    }

    /// Loads from memory; the result is as wide as the access.
    pub fn load(&mut self, address: Expr, size: AccessSize, tags: Tags) -> Expr {
        let dst = self.thread.function.temp(size.bits());
        self.emit(InstKind::Load { dst, address, size, tags });
        Expr::Var(dst)
    }

    pub fn load_linked(&mut self, address: Expr, size: AccessSize, tags: Tags) -> Expr {
        let dst = self.thread.function.temp(size.bits());
        self.emit(InstKind::LoadLinked { dst, address, size, tags });
        Expr::Var(dst)
    }

    /// The result is the status bit: 0 on success.
    pub fn store_conditional(
        &mut self,
        address: Expr,
        value: Expr,
        size: AccessSize,
        tags: Tags,
    ) -> Expr {
        let status = self.thread.function.temp(1);
        self.emit(InstKind::StoreConditional { status, address, value, size, tags });
        Expr::Var(status)
    }
}

/// Zero, at `width` bits, that depends on `source`, a value of `from` bits: for what depends
/// on a value without being computed from it.
pub fn zero_from(source: Expr, from: u32, width: u32) -> Expr {
    source.resize(from, width) & Expr::constant(width, 0)
}

fn split_operands(text: &str) -> Vec<&str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut depth = 0u32;
    text.split(|c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

/// A decimal or hexadecimal number of at most 64 bits, with an optional sign.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((digits, 10), |hex| (hex, 16));
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    match negative {
        false => Some(value),
        true if value <= 1 << 63 => Some(-value),
        true => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::asm::Isa;
    use crate::asm::arm::Arm;
    use crate::asm::ppc::Ppc;
    use crate::asm::riscv::RiscV;
    use crate::asm::testing::lower;

    /// Instructions that are nearly right.
    fn instruction() -> impl Strategy<Value = String> {
        let mnemonic = prop::sample::select(vec![
            "add",
            "addi",
            "subs",
            "mov",
            "movt",
            "lsl",
            "cmp",
            "cmpwi",
            "li",
            "mr",
            "lw",
            "lw.aq",
            "sd",
            "lr.w",
            "sc.d.rl",
            "amoadd.w.aqrl",
            "fence",
            "beq",
            "bne-",
            "cbz",
            "lwz",
            "stwux",
            "lwarx",
            "stwcx.",
            "ldrne",
            "strh",
            "strex",
            "dmb",
            "andi.",
            "slliw",
            "lui",
        ]);
        let operand = prop_oneof![
            "[-#]?[0-9a-fx]{0,20}",
            "[xrR]([0-9]|[12][0-9])",
            "[0-9]{0,2}\\([xr][0-9]\\)",
            "\\[R[0-9](,(#[0-9]|R[0-9])(,(LSL|ASR|ROR) ?#[0-9]{1,2})?)?\\]",
            "cr[0-9]|rw?|iorw|sy|ISHST|L[0-9]",
            "\\PC{0,4}",
        ];
        let operands = prop::collection::vec(operand, 0..5);
        (prop_oneof![4 => mnemonic.prop_map(str::to_string), 1 => "\\PC{1,6}"], operands)
            .prop_map(|(name, operands)| format!("{name} {}", operands.join(",")))
    }

    proptest! {
        #[test]
        fn any_text_lowers_or_is_an_error_with_a_place(text in instruction()) {
            for isa in [&RiscV as &dyn Isa, &Ppc, &Arm] {
                let line = text.lines().next().unwrap_or("").trim_end_matches(':');
                // A label that is jumped to must exist.
                let whole = format!("{line}\n{}", labels(line));
                if let Err(error) = lower(isa, &whole) {
                    prop_assert_eq!(error.location.map(|at| at.line), Some(1));
                }
            }
        }
    }

    /// A label line for the last operand, which a branch may name.
    fn labels(line: &str) -> String {
        let last = line.rsplit([',', ' ']).next().unwrap_or("").trim();
        if last.is_empty() { String::new() } else { format!("{last}:") }
    }

    #[test]
    fn brackets_keep_commas_together() {
        assert_eq!(split_operands(" r1, [r2, #4] ,3"), ["r1", "[r2, #4]", "3"]);
        assert_eq!(split_operands("a,,)b"), ["a", "", ")b"]);
        assert!(split_operands("  ").is_empty());
    }

    #[test]
    fn integers_are_of_64_bits() {
        assert_eq!(integer("-0x10"), Some(-16));
        assert_eq!(integer("18446744073709551615"), Some(u64::MAX.into()));
        assert_eq!(integer("18446744073709551616"), None);
        assert_eq!(integer("-9223372036854775809"), None);
        for bad in ["", "-", "0x", "--1", "+-1", "1x", "é"] {
            assert_eq!(integer(bad), None, "{bad}");
        }
    }
}
