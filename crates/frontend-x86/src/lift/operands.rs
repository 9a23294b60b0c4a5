//! Operands: immediates, registers and memory.

use iced_x86::{OpKind, Register};
use parallax_program::{AccessSize, BinaryOp, Expr, InstKind, Property, RmwOp, Tags};

use super::registers::{FS_BASE, GS_BASE, View};
use super::{Lifted, Step};

/// Where an operand is that can be written. The address is held: it does not change with
/// registers that are written in between.
#[derive(Clone)]
pub enum Place {
    Register(View),
    Memory { address: Expr, size: AccessSize },
}

impl Place {
    pub fn width(&self) -> u32 {
        match self {
            Place::Register(view) => view.width,
            Place::Memory { size, .. } => size.bits(),
        }
    }
}

/// A read-modify-write under way.
pub struct Update {
    pub old: Expr,
    pub new: Expr,
    pub width: u32,
    /// None where the write is done.
    place: Option<Place>,
}

impl Step<'_> {
    /// The place of the operand of that number.
    pub fn place(&mut self, operand: u32) -> Lifted<Place> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => {
                self.view(self.instruction.op_register(operand)).map(Place::Register)
            }
            OpKind::Memory => {
                let bytes = self.instruction.memory_size().size() as u32;
                let size = AccessSize::from_bytes(bytes);
                let size = size.ok_or_else(|| self.refused("has an operand of unusual size"))?;
                let address = self.address()?;
                let address = self.out.hold(64, address);
                Ok(Place::Memory { address, size })
            }
            _ => Err(self.refused("has an operand of another kind")),
        }
    }

    /// The width of the first operand, without touching it.
    pub fn width_of_first(&self) -> Lifted<u32> {
        match self.in_memory(0) {
            true => Ok(self.instruction.memory_size().size() as u32 * 8),
            false => Ok(self.view(self.instruction.op_register(0))?.width),
        }
    }

    pub fn view(&self, register: Register) -> Lifted<View> {
        View::of(register).ok_or_else(|| self.refused("uses a register that is not modelled"))
    }

    pub fn read(&mut self, place: &Place) -> Expr {
        match place {
            Place::Register(view) => self.out.read(*view),
            Place::Memory { address, size } => self.out.load(address.clone(), *size),
        }
    }

    pub fn write(&mut self, place: &Place, value: Expr) {
        match place {
            Place::Register(view) => self.out.write(*view, value),
            Place::Memory { address, size } => self.out.store(address.clone(), value, *size),
        }
    }

    /// The value of an operand that is only read; immediates are as wide as asked for.
    pub fn source(&mut self, operand: u32, width: u32) -> Lifted<Expr> {
        match self.instruction.op_kind(operand) {
            OpKind::Register | OpKind::Memory => {
                let place = self.place(operand)?;
                if place.width() != width {
                    return Err(self.refused("has operands of different sizes"));
                }
                Ok(self.read(&place))
            }
            _ => self.immediate(operand).map(|value| Expr::constant(width, value.into())),
        }
    }

    /// The value of an immediate operand, sign-extended.
    pub fn immediate(&self, operand: u32) -> Lifted<u64> {
        let value = self.instruction.try_immediate(operand);
        value.map_err(|_| self.refused("has an operand of another kind"))
    }

    pub fn is_locked(&self) -> bool {
        self.instruction.has_lock_prefix()
    }

    pub fn in_memory(&self, operand: u32) -> bool {
        self.instruction.op_kind(operand) == OpKind::Memory
    }

    /// Reads the first operand and computes what it becomes: atomically where the instruction is
    /// locked, by `op` with `operand`, which must say the same as `new`.
    pub fn update(
        &mut self,
        (op, operand): (RmwOp, Expr),
        new: impl FnOnce(Expr) -> Expr,
    ) -> Lifted<Update> {
        let place = self.place(0)?;
        let width = place.width();
        if let (Place::Memory { address, size }, true) = (&place, self.is_locked()) {
            let old = self.read_modify_write(address.clone(), *size, op, operand);
            let new = self.out.hold(width, new(old.clone()));
            return Ok(Update { old, new, width, place: None });
        }
        let old = self.read(&place);
        let new = self.out.hold(width, new(old.clone()));
        Ok(Update { old, new, width, place: Some(place) })
    }

    /// Writes the new value, unless that is done. What was read from a register is lost.
    pub fn commit(&mut self, update: Update) {
        if let Some(place) = update.place {
            self.write(&place, update.new);
        }
    }

    /// The old value.
    pub fn read_modify_write(
        &mut self,
        address: Expr,
        size: AccessSize,
        op: RmwOp,
        operand: Expr,
    ) -> Expr {
        let dst = self.out.temporary(size.bits());
        self.out.builder().emit(InstKind::Rmw {
            dst: Some(dst),
            address,
            op,
            operand,
            size,
            read_tags: Tags::new(["COPY", "X"]),
            write_tags: Tags::new(["X"]),
        });
        Expr::Var(dst)
    }

    /// Vector instructions fault where an operand of 16 bytes is not aligned.
    pub fn require_aligned(&mut self, address: &Expr) {
        let low = address.clone().extract(0, 4);
        let aligned = low.eq(Expr::constant(4, 0));
        self.out.require(aligned, "misaligned access of 16 bytes", Property::Memory);
    }

    /// The address of the memory operand.
    pub fn address(&mut self) -> Lifted<Expr> {
        let offset = self.offset()?;
        Ok(self.in_segment(offset))
    }

    /// The address so many bytes from the memory operand.
    pub fn address_from(&mut self, bytes: Expr) -> Lifted<Expr> {
        let sum = self.offset()? + bytes;
        let narrow = |register: Register| register.is_gpr32();
        let (base, index) = (self.instruction.memory_base(), self.instruction.memory_index());
        let sum = match narrow(base) || narrow(index) {
            true => sum.extract(0, 32).zero_extend(64),
            false => sum,
        };
        Ok(self.in_segment(sum))
    }

    pub fn in_segment(&self, offset: Expr) -> Expr {
        match self.instruction.memory_segment() {
            Register::FS => Expr::Var(FS_BASE) + offset,
            Register::GS => Expr::Var(GS_BASE) + offset,
            _ => offset,
        }
    }

    /// The address of the memory operand in its segment.
    pub fn offset(&mut self) -> Lifted<Expr> {
        let (base, index) = (self.instruction.memory_base(), self.instruction.memory_index());
        let displacement = self.instruction.memory_displacement64();
        if base.is_ip() || (base == Register::None && index == Register::None) {
            return Ok(Expr::constant(64, displacement.into()));
        }
        let named = if base == Register::None { index } else { base };
        let width = self.view(named)?.width;
        let mut sum = None;
        if base != Register::None {
            sum = Some(self.out.read(self.view(base)?));
        }
        if index != Register::None {
            let index = self.out.read(self.view(index)?);
            let scaled = match self.instruction.memory_index_scale() {
                1 => index,
                scale => {
                    let by = Expr::constant(width, scale.trailing_zeros().into());
                    Expr::binary(BinaryOp::Shl, index, by)
                }
            };
            sum = Some(sum.map_or(scaled.clone(), |sum| sum + scaled));
        }
        let constant = |value: u64| Expr::constant(width, value.into());
        let signed = if width == 64 { displacement as i64 } else { displacement as i32 as i64 };
        let sum = match (sum, signed) {
            (Some(sum), 0) => sum,
            (Some(sum), 1..) => sum + constant(displacement),
            (Some(sum), _) => sum - constant(signed.unsigned_abs()),
            (None, _) => constant(displacement),
        };
        Ok(if width == 64 { sum } else { sum.zero_extend(64) })
    }
}
