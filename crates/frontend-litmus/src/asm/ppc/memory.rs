//! Loads, stores, load-and-reserve, store-conditional and barriers.
//!
//! Barriers carry herd7's tags `SYNC`, `LWSYNC`, `EIEIO` and `ISYNC`; the accesses of
//! load-and-reserve and store-conditional carry `X`.

use parallax_program::{AccessSize, Diagnostic, Expr, InstKind, Tags};

use super::condition::Field;
use super::{WIDTH, is_r0, read_or_zero};
use crate::asm::Register;
use crate::asm::lowering::{Lowering, zero_from};

/// Lowers an instruction of this file; false where it is none.
pub(super) fn lower(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    if let Some(tag) = barrier(name) {
        let [] = l.take()?;
        l.fence(tag);
    } else if let Some(size) = reserve_size(name, "l", "arx") {
        load_and_reserve(l, size)?;
    } else if let Some(size) = reserve_size(name, "st", "cx.") {
        store_conditional(l, size)?;
    } else if let Some(access) = Access::parse(name) {
        access.lower(l)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn barrier(name: &str) -> Option<&'static str> {
    Some(match name {
        "sync" | "hwsync" => "SYNC",
        "lwsync" => "LWSYNC",
        "eieio" => "EIEIO",
        "isync" => "ISYNC",
        _ => return None,
    })
}

fn size_of(letter: &str) -> Option<AccessSize> {
    Some(match letter {
        "b" => AccessSize::BYTE,
        "h" => AccessSize::HALF,
        "w" => AccessSize::WORD,
        "d" => AccessSize::DOUBLE,
        _ => return None,
    })
}

fn reserve_size(name: &str, prefix: &str, suffix: &str) -> Option<AccessSize> {
    size_of(name.strip_prefix(prefix)?.strip_suffix(suffix)?)
}

/// A load or store by its mnemonic.
struct Access {
    is_load: bool,
    size: AccessSize,
    /// For loads: copies the sign into the upper bits.
    algebraic: bool,
    /// Writes the address back to the base register.
    update: bool,
    /// The address is the sum of two registers.
    indexed: bool,
}

impl Access {
    /// `l` + width + `z` or `a` + `u` + `x`, or `st` + width + `u` + `x`.
    fn parse(name: &str) -> Option<Access> {
        let (is_load, rest) = match name.strip_prefix("st") {
            Some(rest) => (false, rest),
            None => (true, name.strip_prefix('l')?),
        };
        let (width, rest) = rest.split_at_checked(1)?;
        let size = size_of(width)?;
        let (algebraic, rest) = match (is_load, width) {
            (true, "b") => (false, rest.strip_prefix('z')?),
            (true, "h" | "w") => match rest.strip_prefix('z') {
                Some(rest) => (false, rest),
                None => (true, rest.strip_prefix('a')?),
            },
            _ => (false, rest),
        };
        let (update, indexed) = match rest {
            "" => (false, false),
            "u" => (true, false),
            "x" => (false, true),
            "ux" => (true, true),
            _ => return None,
        };
        let exists = !(algebraic && width == "w" && update && !indexed);
        exists.then_some(Access { is_load, size, algebraic, update, indexed })
    }

    fn lower(self, l: &mut Lowering) -> Result<(), Diagnostic> {
        let (register, base, address) = if self.indexed {
            let [register, ra, rb] = l.take()?;
            let (ra, address) = indexed_address(l, ra, rb)?;
            (l.register(register)?, ra, address)
        } else {
            let (register, offset, base) = displacement(l)?;
            let register = l.register(register)?;
            let offset = l.integer(offset)?;
            let base = l.register(base)?;
            let address = match (read_or_zero(l, &base), offset) {
                (address, 0) => address,
                (address, _) => address + Expr::signed(WIDTH, offset),
            };
            (register, base, address)
        };
        if self.update && (is_r0(&base) || (self.is_load && base == register)) {
            let message = format!("`{}` cannot update `{}`", l.mnemonic, base.whole);
            return Err(l.error(l.line.text, message));
        }
        let address = match self.update {
            true => Expr::Var(l.hold(WIDTH, address)),
            false => address,
        };
        self.access(l, &register, address.clone());
        if self.update {
            l.set(&base, address);
        }
        Ok(())
    }

    fn access(&self, l: &mut Lowering, register: &Register, address: Expr) {
        let (size, tags) = (self.size, Tags::none());
        if self.is_load {
            let value = l.load(address, size, tags);
            let value = match size.bits() {
                WIDTH => value,
                _ if self.algebraic => value.sign_extend(WIDTH),
                _ => value.zero_extend(WIDTH),
            };
            l.set(register, value);
        } else {
            let value = l.value(register).resize(WIDTH, size.bits());
            l.emit(InstKind::Store { address, value, size, tags });
        }
    }
}

/// The register, offset and base of `lwz r1,0(r2)`, also written `lwz r1,0,r2`.
fn displacement<'l>(l: &Lowering<'l, '_, '_>) -> Result<(&'l str, &'l str, &'l str), Diagnostic> {
    if let [register, offset, base] = l.operands.as_slice() {
        return Ok((register, offset, base));
    }
    let [register, address] = l.take()?;
    let parts = address.strip_suffix(')').and_then(|a| a.split_once('('));
    let (offset, base) = parts.ok_or_else(|| l.expected("an address such as `0(r1)`", address))?;
    Ok((register, offset.trim(), base.trim()))
}

/// The first register and the sum of `(RA|0)` and `RB`. A base written `0` stands for `r0`.
fn indexed_address(l: &mut Lowering, ra: &str, rb: &str) -> Result<(Register, Expr), Diagnostic> {
    let ra = l.register(if ra == "0" { "r0" } else { ra })?;
    let rb = l.register(rb)?;
    let index = l.value(&rb);
    let address = match is_r0(&ra) {
        true => index,
        false => l.value(&ra) + index,
    };
    Ok((ra, address))
}

/// The variable that remembers the reserved address. As in herd7, what a store-conditional
/// writes to memory and to `cr0` depends on it.
const RESERVATION: &str = "reservation";

fn load_and_reserve(l: &mut Lowering, size: AccessSize) -> Result<(), Diagnostic> {
    let [rd, ra, rb] = l.take()?;
    let rd = l.register(rd)?;
    let (_, address) = indexed_address(l, ra, rb)?;
    let reservation = l.thread.function.var(RESERVATION, WIDTH);
    l.thread.function.assign(reservation, address);
    let value = l.load_linked(Expr::Var(reservation), size, Tags::new(["EX", "X"]));
    l.set(&rd, value.resize(size.bits(), WIDTH));
    Ok(())
}

fn store_conditional(l: &mut Lowering, size: AccessSize) -> Result<(), Diagnostic> {
    let [rs, ra, rb] = l.take()?;
    let rs = l.register(rs)?;
    let (_, address) = indexed_address(l, ra, rb)?;
    let reservation = Expr::Var(l.thread.function.var(RESERVATION, WIDTH));
    let value = l.value(&rs).resize(WIDTH, size.bits());
    let stored = value.clone() | zero_from(reservation.clone(), WIDTH, size.bits());
    let zero = zero_from(stored.clone(), size.bits(), 1) | zero_from(address.clone(), WIDTH, 1);
    let status = l.store_conditional(address, stored, size, Tags::new(["EX", "X"]));
    Field::CR0.set(l, [zero.clone(), zero.clone(), !status | zero]);
    Ok(())
}
