//! The condition register: comparisons that set its fields and branches that look at them.

use parallax_program::{BinaryOp, Diagnostic, Expr, Terminator};

use super::WIDTH;
use crate::asm::lowering::Lowering;

/// The fields of the condition register, with the names of their bits.
const FIELDS: [(&str, [&str; 3]); 8] = [
    ("cr0", ["cr0.lt", "cr0.gt", "cr0.eq"]),
    ("cr1", ["cr1.lt", "cr1.gt", "cr1.eq"]),
    ("cr2", ["cr2.lt", "cr2.gt", "cr2.eq"]),
    ("cr3", ["cr3.lt", "cr3.gt", "cr3.eq"]),
    ("cr4", ["cr4.lt", "cr4.gt", "cr4.eq"]),
    ("cr5", ["cr5.lt", "cr5.gt", "cr5.eq"]),
    ("cr6", ["cr6.lt", "cr6.gt", "cr6.eq"]),
    ("cr7", ["cr7.lt", "cr7.gt", "cr7.eq"]),
];

/// The names of a field's bits: less than, greater than, equal.
#[derive(Clone, Copy)]
pub(super) struct Field([&'static str; 3]);

impl Field {
    pub(super) const CR0: Field = Field(FIELDS[0].1);

    fn parse(text: &str) -> Option<Field> {
        let field = FIELDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text))?;
        Some(Field(field.1))
    }

    pub(super) fn set(self, l: &mut Lowering, bits: [Expr; 3]) {
        for (name, value) in self.0.into_iter().zip(bits) {
            let bit = l.thread.function.var(name, 1);
            l.thread.function.assign(bit, value);
        }
    }

    /// Sets the field by comparing two values, which must not depend on it.
    fn compare(self, l: &mut Lowering, less: BinaryOp, a: Expr, b: Expr) {
        let lt = Expr::binary(less, a.clone(), b.clone());
        let gt = Expr::binary(less, b.clone(), a.clone());
        self.set(l, [lt, gt, a.eq(b)]);
    }

    /// Sets the field as `Rc=1` does: by comparing a result with zero.
    pub(super) fn record(self, l: &mut Lowering, result: Expr) {
        let zero = Expr::constant(WIDTH, 0);
        self.compare(l, BinaryOp::Slt, result, zero);
    }
}

/// Lowers an instruction of this file; false where it is none.
pub(super) fn lower(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    if name == "b" {
        let [label] = l.take()?;
        let target = l.label(label)?;
        l.thread.function.terminate(Terminator::Jump(target));
        return Ok(true);
    }
    if name == "blr" {
        let [] = l.take()?;
        l.thread.function.terminate(Terminator::Return(None));
        return Ok(true);
    }
    if let Some((bit, on)) = branch_condition(name) {
        branch(l, bit, on)?;
        return Ok(true);
    }
    let (less, width, immediate) = match name {
        "cmpw" => (BinaryOp::Slt, 32, false),
        "cmpwi" => (BinaryOp::Slt, 32, true),
        "cmpd" => (BinaryOp::Slt, 64, false),
        "cmpdi" => (BinaryOp::Slt, 64, true),
        "cmplw" => (BinaryOp::Ult, 32, false),
        "cmplwi" => (BinaryOp::Ult, 32, true),
        "cmpld" => (BinaryOp::Ult, 64, false),
        "cmpldi" => (BinaryOp::Ult, 64, true),
        _ => return Ok(false),
    };
    let (field, [a, b]) = with_field(l)?;
    let a = l.register(a)?;
    let a = l.value(&a).resize(WIDTH, width);
    let b = if immediate {
        Expr::signed(width, l.integer(b)?)
    } else {
        let b = l.register(b)?;
        l.value(&b).resize(WIDTH, width)
    };
    field.compare(l, less, a, b);
    Ok(true)
}

/// The bit (by its place in a field) that a conditional branch looks at, and the value with
/// which it is taken. A trailing `+` or `-` is a hint without meaning here.
fn branch_condition(name: &str) -> Option<(usize, bool)> {
    let name = name.strip_suffix(['+', '-']).unwrap_or(name);
    Some(match name {
        "blt" => (0, true),
        "bge" | "bnl" => (0, false),
        "bgt" => (1, true),
        "ble" | "bng" => (1, false),
        "beq" => (2, true),
        "bne" => (2, false),
        _ => return None,
    })
}

fn branch(l: &mut Lowering, bit: usize, on: bool) -> Result<(), Diagnostic> {
    let (field, [label]) = with_field(l)?;
    let target = l.label(label)?;
    let Some(name) = field.0.get(bit) else {
        return Ok(());
    };
    let flag = Expr::Var(l.thread.function.var(name, 1));
    let condition = if on { flag } else { !flag };
    l.thread.function.branch(condition, target);
    Ok(())
}

/// `N` operands after an optional field of the condition register.
fn with_field<'l, const N: usize>(
    l: &Lowering<'l, '_, '_>,
) -> Result<(Field, [&'l str; N]), Diagnostic> {
    match l.operands.split_first() {
        Some((first, rest)) if rest.len() == N => {
            let field = Field::parse(first);
            let field = field.ok_or_else(|| l.expected("a condition register field", first))?;
            let rest = <[&str; N]>::try_from(rest);
            Ok((field, rest.or_else(|_| l.take())?))
        }
        _ => Ok((Field::CR0, l.take()?)),
    }
}
