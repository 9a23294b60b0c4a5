//! Where lifted instructions go: a function under construction whose first variables are the
//! registers, with temporaries that live for one machine instruction and are then used again,
//! so that a thread's frame stays small.

use std::collections::BTreeMap;

use parallax_program::{
    AccessSize, Expr, Function, FunctionBuilder, InstKind, Property, Tags, Terminator, VarId,
};

use super::registers::{self, View};

/// A function under construction.
pub struct Sequence {
    builder: FunctionBuilder,
    /// Temporaries by width; so many of them hold something that the current instruction needs.
    temporaries: BTreeMap<u32, (Vec<VarId>, usize)>,
}

impl Sequence {
    /// A function without parameters that sees the registers.
    pub fn new(name: &str) -> Sequence {
        let mut builder = FunctionBuilder::new(name);
        for register in registers::registers() {
            builder.var(&register.name, register.width);
        }
        Sequence { builder, temporaries: BTreeMap::new() }
    }

    /// For blocks, labels, calls and spans.
    pub fn builder(&mut self) -> &mut FunctionBuilder {
        &mut self.builder
    }

    pub fn finish(self) -> Function {
        Function { registers: true, ..self.builder.finish() }
    }

    /// From here on, nothing that temporaries hold is needed any more.
    pub fn forget(&mut self) {
        self.temporaries.values_mut().for_each(|(_, used)| *used = 0);
    }

    /// A variable that is free until [`Sequence::forget`].
    pub fn temporary(&mut self, width: u32) -> VarId {
        let (vars, used) = self.temporaries.entry(width).or_default();
        *used += 1;
        if let Some(var) = vars.get(*used - 1) {
            return *var;
        }
        let var = self.builder.temp(width);
        vars.push(var);
        var
    }

    /// The value now, whatever becomes of the variables in it.
    pub fn hold(&mut self, width: u32, value: Expr) -> Expr {
        if matches!(value, Expr::Const(_)) {
            return value;
        }
        let var = self.temporary(width);
        self.builder.assign(var, value);
        Expr::Var(var)
    }

    pub fn assign(&mut self, var: VarId, value: Expr) {
        self.builder.assign(var, value);
    }

    /// The bits of a register.
    pub fn read(&self, view: View) -> Expr {
        let whole = Expr::Var(view.var);
        if view.width == self.builder.width(view.var) {
            return whole;
        }
        whole.extract(view.low, view.width)
    }

    /// Writes bits of a register: 32 bits of a general register clear the upper half, fewer
    /// leave the rest alone.
    pub fn write(&mut self, view: View, value: Expr) {
        let whole = self.written(view, value);
        self.assign(view.var, whole);
    }

    /// Writes bits of a register where the condition holds; where not, all of it stays.
    pub fn write_where(&mut self, condition: Expr, view: View, value: Expr) {
        let whole = self.written(view, value);
        self.assign(view.var, condition.select(whole, Expr::Var(view.var)));
    }

    fn written(&self, view: View, value: Expr) -> Expr {
        let whole = self.builder.width(view.var);
        match view.width {
            width if width == whole => value,
            32 if whole == 64 => match value {
                Expr::Const(bits) => Expr::Const(bits.zero_extend(64)),
                value => value.zero_extend(64),
            },
            _ => self.replaced(view, value),
        }
    }

    /// The whole register with other bits in the view.
    fn replaced(&self, view: View, value: Expr) -> Expr {
        let (whole, end) = (self.builder.width(view.var), view.low + view.width);
        let mut result = value;
        if end < whole {
            result = Expr::Var(view.var).extract(end, whole - end).concat(result);
        }
        if view.low > 0 {
            result = result.concat(Expr::Var(view.var).extract(0, view.low));
        }
        result
    }

    /// A load. What it reads may be uninitialised: a processor does not look.
    pub fn load(&mut self, address: Expr, size: AccessSize) -> Expr {
        let dst = self.temporary(size.bits());
        let tags = Tags::new(["COPY"]);
        self.builder.emit(InstKind::Load { dst, address, size, tags });
        Expr::Var(dst)
    }

    pub fn store(&mut self, address: Expr, value: Expr, size: AccessSize) {
        self.builder.emit(InstKind::Store { address, value, size, tags: Tags::none() });
    }

    pub fn fence(&mut self, name: &str) {
        self.builder.emit(InstKind::Fence { tags: Tags::new([name]) });
    }

    /// The processor faults where the condition does not hold, and the thread gets no further.
    pub fn require(&mut self, condition: Expr, message: &str, property: Property) {
        let message = message.to_string();
        self.builder.emit(InstKind::Assert { condition, message, property });
    }

    /// Does what `inner` appends where the condition holds.
    pub fn when(&mut self, condition: Expr, inner: impl FnOnce(&mut Sequence)) {
        let (then, done) = (self.builder.new_block("when"), self.builder.new_block("done"));
        let otherwise = done;
        self.builder.terminate(Terminator::Branch { condition, then, otherwise, join: None });
        self.builder.enter(then);
        inner(self);
        self.builder.enter(done);
    }
}
