//! Atomic accesses and fences, with the tags of C11 (see `models/README.md`).

use parallax_program::{Expr, InstKind, Order, RmwOp, Tags};

use super::body::Body;
use super::layout::Lowered;
use super::memory::access_size;
use crate::llvm::{
    self, CompareExchange, Instruction, Name, Operation, Ordering, Type, Typed, Value,
};

pub fn order_tag(order: Ordering) -> &'static str {
    let order = match order {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire => Order::Acquire,
        Ordering::Release => Order::Release,
        Ordering::AcquireRelease => Order::AcquireRelease,
        Ordering::SequentiallyConsistent => Order::SequentiallyConsistent,
    };
    order.tag()
}

pub fn atomic_tags(order: Ordering) -> Tags {
    Tags::new(["A", order_tag(order)])
}

impl Body<'_> {
    pub fn atomic(&mut self, instruction: &Instruction) -> Lowered<()> {
        match &instruction.operation {
            Operation::Fence { single_thread: true, .. } => Ok(()),
            Operation::Fence { order, .. } => {
                self.builder.emit(InstKind::Fence { tags: Tags::new([order_tag(*order)]) });
                Ok(())
            }
            Operation::Rmw { op, address, operand, order } => {
                self.modify(*op, address, operand, *order, instruction.result.as_ref())
            }
            Operation::CompareExchange(exchange) => {
                self.compare_exchange(exchange, instruction.result.as_ref())
            }
            _ => Ok(()),
        }
    }

    pub fn atomic_load(
        &mut self,
        ty: &Type,
        address: &Value,
        order: Ordering,
        result: &Name,
    ) -> Lowered<()> {
        let width = self.unit.layout.width(ty)?;
        let size = access_size(u64::from(width.div_ceil(8)))?;
        let address = self.address(address)?;
        let [dst] = self.vars_of(result)[..] else {
            return Err("an atomic access of several parts".to_string());
        };
        let tags = atomic_tags(order);
        if width == size.bits() {
            self.builder.emit(InstKind::Load { dst, address, size, tags });
        } else {
            let whole = self.builder.temp(size.bits());
            self.builder.emit(InstKind::Load { dst: whole, address, size, tags });
            self.builder.assign(dst, Expr::Var(whole).resize(size.bits(), width));
        }
        Ok(())
    }

    pub fn atomic_store(&mut self, value: &Typed, at: &Value, order: Ordering) -> Lowered<()> {
        let width = self.unit.layout.width(&value.ty)?;
        let size = access_size(u64::from(width.div_ceil(8)))?;
        let address = self.address(at)?;
        self.demand(&value.value);
        let value = self.typed(value)?.resize(width, size.bits());
        self.builder.emit(InstKind::Store { address, value, size, tags: atomic_tags(order) });
        Ok(())
    }

    fn modify(
        &mut self,
        op: llvm::RmwOp,
        address: &Value,
        operand: &Typed,
        order: Ordering,
        result: Option<&Name>,
    ) -> Lowered<()> {
        use llvm::RmwOp as From;
        let op = match op {
            From::Xchg => RmwOp::Swap,
            From::Add => RmwOp::Add,
            From::Sub => RmwOp::Sub,
            From::And => RmwOp::And,
            From::Nand => RmwOp::Nand,
            From::Or => RmwOp::Or,
            From::Xor => RmwOp::Xor,
            From::Max => RmwOp::SMax,
            From::Min => RmwOp::SMin,
            From::UMax => RmwOp::UMax,
            From::UMin => RmwOp::UMin,
            From::FAdd | From::FSub | From::FMax | From::FMin => {
                return Err("an atomic operation on a floating-point number".to_string());
            }
            From::UIncWrap | From::UDecWrap => {
                return Err("an atomic operation that counts round".to_string());
            }
        };
        let width = self.unit.layout.width(&operand.ty)?;
        let size = access_size(u64::from(width / 8)).ok().filter(|size| size.bits() == width);
        let size = size.ok_or_else(|| format!("an atomic operation on {width} bits"))?;
        let address = self.address(address)?;
        self.demand(&operand.value);
        let operand = self.typed(operand)?;
        let dst = result.and_then(|result| self.vars_of(result).first().copied());
        let tags = atomic_tags(order);
        self.builder.emit(InstKind::Rmw {
            dst,
            address,
            op,
            operand,
            size,
            read_tags: tags.clone(),
            write_tags: tags,
        });
        Ok(())
    }

    fn compare_exchange(
        &mut self,
        exchange: &CompareExchange,
        result: Option<&Name>,
    ) -> Lowered<()> {
        let width = self.unit.layout.width(&exchange.expected.ty)?;
        let size = access_size(u64::from(width / 8)).ok().filter(|size| size.bits() == width);
        let size = size.ok_or_else(|| format!("an atomic operation on {width} bits"))?;
        let address = self.address(&exchange.address)?;
        self.demand(&exchange.expected.value);
        self.demand(&exchange.desired);
        let expected = self.typed(&exchange.expected)?;
        let desired = self.scalar(&exchange.expected.ty, &exchange.desired)?;
        let vars = result.map(|result| self.vars_of(result)).unwrap_or_default();
        let tags = atomic_tags(exchange.success);
        self.builder.emit(InstKind::Cas {
            dst: vars.first().copied(),
            ok: vars.get(1).copied(),
            address,
            expected,
            desired,
            size,
            read_tags: tags.clone(),
            write_tags: tags,
            // Machines of the x86 kind lock their memory for it all the same.
            fail_tags: atomic_tags(exchange.failure).with(["RMW"]),
            weak: exchange.weak,
        });
        Ok(())
    }
}
