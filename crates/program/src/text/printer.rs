//! From programs to text. Total: what a broken program refers to and does not have is
//! printed as a quoted remark, which the parser refuses.

use std::fmt::{self, Display, Formatter, Write};

use super::{BINARY_FUNCTIONS, BINARY_OPS, Level, RMW_OPS, UNARY_FUNCTIONS, is_keyword, is_plain};
use crate::{
    AllocKind, Block, BlockId, Callee, Expr, Function, FunctionId, Global, GlobalId, InstKind,
    Program, Property, RmwOp, Tags, Terminator, UnaryOp, Var, VarId,
};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "program {} ", Quoted(&self.name))?;
        let daemons = if self.daemons { " daemons" } else { "" };
        writeln!(f, "pointers {}{daemons}", self.pointer_width)?;
        if !self.registers.is_empty() {
            writeln!(f, "registers {}", declarations(&self.registers))?;
        }
        if !self.globals.is_empty() {
            writeln!(f)?;
        }
        for global in &self.globals {
            self.global_line(f, global)?;
        }
        for function in &self.functions {
            writeln!(f)?;
            let printer = Printer { program: self, function: Some(function) };
            printer.function(f, function)?;
        }
        if !self.threads.is_empty() {
            writeln!(f)?;
        }
        let outside = Printer { program: self, function: None };
        for thread in &self.threads {
            let function = outside.function_name(thread.function);
            write!(f, "thread {} = {function}(", Name(&thread.name))?;
            outside.list(f, &thread.args)?;
            writeln!(f, ")")?;
        }
        Ok(())
    }
}

impl Program {
    /// The text form, which [`crate::parse_program`] reads back.
    pub fn to_text(&self) -> String {
        self.to_string()
    }

    fn global_line(&self, f: &mut Formatter<'_>, global: &Global) -> fmt::Result {
        write!(f, "global {}: {}", Name(&global.name), global.size)?;
        write!(f, " align {}", global.align)?;
        if let Some(address) = global.address {
            write!(f, " at {address:#x}")?;
        }
        if global.constant {
            f.write_str(" constant")?;
        }
        let outside = Printer { program: self, function: None };
        for (index, cell) in global.init.iter().enumerate() {
            f.write_str(if index == 0 { " = { " } else { ", " })?;
            write!(f, "{}: {}", cell.offset, outside.expr(&cell.value))?;
        }
        f.write_str(if global.init.is_empty() { "\n" } else { " }\n" })
    }
}

/// A name, quoted if it has to be.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) && !is_keyword(self.0) {
            f.write_str(self.0)
        } else {
            Quoted(self.0).fmt(f)
        }
    }
}

struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_debug())
    }
}

/// `[acq, X]`. Tags such as `Rcu-lock` go without quotes.
struct TagList<'a>(&'a Tags);

impl Display for TagList<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        for (index, tag) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            let name = tag.as_str();
            if name.split('-').all(is_plain) {
                f.write_str(name)?;
            } else {
                Quoted(name).fmt(f)?;
            }
        }
        f.write_char(']')
    }
}

/// The tags of the events of one instruction: nothing if no event has any, one list if all
/// have the same, else a list each.
fn tag_lists(f: &mut Formatter<'_>, lists: &[&Tags]) -> fmt::Result {
    let alike = lists.windows(2).all(|pair| pair[0] == pair[1]);
    let shown = match lists {
        [first, ..] if alike && first.is_empty() => &[],
        [_, ..] if alike => &lists[..1],
        _ => lists,
    };
    for tags in shown {
        write!(f, " {}", TagList(tags))?;
    }
    Ok(())
}

/// `a: 32, b: 1`
fn declarations(vars: &[Var]) -> String {
    let shown: Vec<String> =
        vars.iter().map(|var| format!("{}: {}", Name(&var.name), var.width)).collect();
    shown.join(", ")
}

struct Printer<'a> {
    program: &'a Program,
    /// Whose variables and labels are meant.
    function: Option<&'a Function>,
}

/// A name, or a remark in place of one.
struct Found<'a>(Option<&'a str>, &'static str, u32);

impl Display for Found<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => Name(name).fmt(f),
            None => write!(f, "\"<no {} {}>\"", self.1, self.2),
        }
    }
}

impl<'a> Printer<'a> {
    fn function_name(&self, id: FunctionId) -> Found<'a> {
        let function = self.program.functions.get(id.0 as usize);
        Found(function.map(|f| f.name.as_str()), "function", id.0)
    }

    fn global_name(&self, id: GlobalId) -> Found<'a> {
        let global = self.program.globals.get(id.0 as usize);
        Found(global.map(|g| g.name.as_str()), "global", id.0)
    }

    fn var(&self, id: VarId) -> Found<'a> {
        let var = self.function.and_then(|f| f.vars.get(id.0 as usize));
        Found(var.map(|v| v.name.as_str()), "variable", id.0)
    }

    fn label(&self, id: BlockId) -> Found<'a> {
        let block = self.function.and_then(|f| f.blocks.get(id.0 as usize));
        Found(block.map(|b| b.label.as_str()), "block", id.0)
    }

    fn expr<'p>(&'p self, expr: &'p Expr) -> Shown<'p> {
        self.operand(expr, Level::Comparison)
    }

    fn operand<'p>(&'p self, expr: &'p Expr, level: Level) -> Shown<'p> {
        Shown { printer: self, expr, level }
    }

    fn list(&self, f: &mut Formatter<'_>, exprs: &[Expr]) -> fmt::Result {
        for (index, expr) in exprs.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            self.expr(expr).fmt(f)?;
        }
        Ok(())
    }

    fn function(&self, f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
        write!(f, "fn {}(", Name(&function.name))?;
        let (params, vars) = function
            .vars
            .split_at_checked(function.params as usize)
            .unwrap_or((&function.vars, &[]));
        write!(f, "{})", declarations(params))?;
        if let Some(width) = function.result {
            write!(f, " -> {width}")?;
        }
        if let Some(address) = function.address {
            write!(f, " at {address:#x}")?;
        }
        let mut own = vars;
        if function.registers {
            f.write_str(" registers")?;
            own = vars.get(self.program.registers.len()..).unwrap_or_default();
        }
        writeln!(f, " {{")?;
        for line in own.chunks(8) {
            writeln!(f, "  var {}", declarations(line))?;
        }
        for block in &function.blocks {
            self.block(f, block)?;
        }
        writeln!(f, "}}")
    }

    fn block(&self, f: &mut Formatter<'_>, block: &Block) -> fmt::Result {
        writeln!(f, "{}:", Name(&block.label))?;
        for inst in &block.insts {
            f.write_str("  ")?;
            self.inst(f, &inst.kind)?;
            writeln!(f)?;
        }
        f.write_str("  ")?;
        self.terminator(f, &block.terminator)?;
        writeln!(f)
    }

    fn terminator(&self, f: &mut Formatter<'_>, terminator: &Terminator) -> fmt::Result {
        match terminator {
            Terminator::Jump(target) => write!(f, "jump {}", self.label(*target)),
            Terminator::Branch { condition, then, otherwise, join } => {
                write!(f, "branch {}, ", self.expr(condition))?;
                write!(f, "{}, {}", self.label(*then), self.label(*otherwise))?;
                match join {
                    Some(join) => write!(f, " join {}", self.label(*join)),
                    None => Ok(()),
                }
            }
            Terminator::Return(None) => f.write_str("return"),
            Terminator::Return(Some(value)) => write!(f, "return {}", self.expr(value)),
            Terminator::Exit => f.write_str("exit"),
        }
    }

    fn inst(&self, f: &mut Formatter<'_>, kind: &InstKind) -> fmt::Result {
        use InstKind::*;
        self.destination(f, kind)?;
        match kind {
            Assign { value: Expr::Const(bits), .. } if bits.is_undefined() => {
                f.write_str("undefined")
            }
            Assign { value, .. } => self.expr(value).fmt(f),
            Load { address, size, tags, .. } => {
                self.access(f, "load", size.bytes(), &[address], &[tags])
            }
            LoadLinked { address, size, tags, .. } => {
                self.access(f, "ll", size.bytes(), &[address], &[tags])
            }
            Store { address, value, size, tags } => {
                self.access(f, "store", size.bytes(), &[address, value], &[tags])
            }
            StoreConditional { address, value, size, tags, .. } => {
                self.access(f, "sc", size.bytes(), &[address, value], &[tags])
            }
            Rmw { address, op, operand, size, read_tags, write_tags, .. } => {
                let word = format!("rmw.{}", rmw_name(*op));
                let tags = [read_tags, write_tags];
                self.access(f, &word, size.bytes(), &[address, operand], &tags)
            }
            Cas {
                address,
                expected,
                desired,
                size,
                read_tags,
                write_tags,
                fail_tags,
                weak,
                ..
            } => {
                let word = if *weak { "cas.weak" } else { "cas" };
                let operands = [address, expected, desired];
                let tags = [read_tags, write_tags, fail_tags];
                self.access(f, word, size.bytes(), &operands, &tags)
            }
            Fence { tags } => {
                f.write_str("fence")?;
                tag_lists(f, &[tags])
            }
            Spawn { callee, args, .. } => self.transfer(f, "spawn", callee, args),
            Call { callee, args, .. } => self.transfer(f, "call", callee, args),
            _ => self.simple(f, kind),
        }
    }

    /// Instructions that are a word and at most one expression.
    fn simple(&self, f: &mut Formatter<'_>, kind: &InstKind) -> fmt::Result {
        use InstKind::*;
        match kind {
            Join { thread } => write!(f, "join {}", self.expr(thread)),
            ThreadId { .. } => f.write_str("threadid"),
            Wait { condition } => write!(f, "wait {}", self.expr(condition)),
            Alloc { size, align, kind, zeroed, .. } => {
                let zeroed = if *zeroed { ".zeroed" } else { "" };
                let size = self.expr(size);
                write!(f, "alloc.{}{zeroed} {size} align {align}", alloc_name(*kind))
            }
            HeapSize { address, .. } => write!(f, "heapsize {}", self.expr(address)),
            Free { address, kind } => {
                write!(f, "free.{} {}", alloc_name(*kind), self.expr(address))
            }
            Assume { condition } => write!(f, "assume {}", self.expr(condition)),
            Assert { condition, message, property } => {
                f.write_str("assert")?;
                if *property != Property::Assert {
                    write!(f, ".{property}")?;
                }
                write!(f, " {}, {}", self.expr(condition), Quoted(message))
            }
            Choose { below, .. } => write!(f, "choose {}", self.expr(below)),
            Unsupported { what } => write!(f, "unsupported {}", Quoted(what)),
            Nondet { .. } => f.write_str("nondet"),
            AtomicBegin => f.write_str("atomic begin"),
            AtomicEnd => f.write_str("atomic end"),
            _ => Ok(()),
        }
    }

    fn transfer(
        &self,
        f: &mut Formatter<'_>,
        word: &str,
        callee: &Callee,
        args: &[Expr],
    ) -> fmt::Result {
        match callee {
            Callee::Direct(id) => write!(f, "{word} {}", self.function_name(*id))?,
            Callee::Indirect(target) => write!(f, "{word} ({})", self.expr(target))?,
            Callee::External(name) => write!(f, "{word} extern {}", Name(name))?,
        }
        self.args(f, args)
    }

    fn destination(&self, f: &mut Formatter<'_>, kind: &InstKind) -> fmt::Result {
        use InstKind::*;
        match kind {
            Assign { dst, .. }
            | Load { dst, .. }
            | LoadLinked { dst, .. }
            | Alloc { dst, .. }
            | Nondet { dst }
            | StoreConditional { status: dst, .. }
            | ThreadId { dst }
            | HeapSize { dst, .. }
            | Choose { dst, .. }
            | Rmw { dst: Some(dst), .. }
            | Spawn { dst: Some(dst), .. }
            | Call { dst: Some(dst), .. }
            | Cas { dst: Some(dst), ok: None, .. } => write!(f, "{} = ", self.var(*dst)),
            Cas { dst, ok: Some(ok), .. } => match dst {
                Some(dst) => write!(f, "{}, {} = ", self.var(*dst), self.var(*ok)),
                None => write!(f, "_, {} = ", self.var(*ok)),
            },
            _ => Ok(()),
        }
    }

    fn access(
        &self,
        f: &mut Formatter<'_>,
        word: &str,
        bytes: u32,
        operands: &[&Expr],
        tags: &[&Tags],
    ) -> fmt::Result {
        write!(f, "{word}.{bytes} ")?;
        for (index, operand) in operands.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            self.expr(operand).fmt(f)?;
        }
        tag_lists(f, tags)
    }

    fn args(&self, f: &mut Formatter<'_>, args: &[Expr]) -> fmt::Result {
        f.write_char('(')?;
        self.list(f, args)?;
        f.write_char(')')
    }
}

/// An expression as an operand of operators of a level.
struct Shown<'a> {
    printer: &'a Printer<'a>,
    expr: &'a Expr,
    level: Level,
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let printer = self.printer;
        match self.expr {
            Expr::Const(bits) => bits.fmt(f),
            Expr::Var(id) => printer.var(*id).fmt(f),
            Expr::Address(id) => write!(f, "&{}", printer.global_name(*id)),
            Expr::FunctionAddress(id) => write!(f, "@{}", printer.function_name(*id)),
            Expr::Unary(op, value) => self.unary(f, *op, value),
            Expr::Binary(op, left, right) => {
                if let Some((_, name)) = BINARY_FUNCTIONS.iter().find(|(o, _)| o == op) {
                    return write!(f, "{name}({}, {})", printer.expr(left), printer.expr(right));
                }
                let Some((_, symbol, level)) = BINARY_OPS.iter().find(|(o, _, _)| o == op) else {
                    return Err(fmt::Error);
                };
                let left_level = match level {
                    Level::Comparison => level.tighter(),
                    _ => *level,
                };
                let open = self.level > *level;
                f.write_str(if open { "(" } else { "" })?;
                write!(f, "{} {symbol} ", printer.operand(left, left_level))?;
                printer.operand(right, level.tighter()).fmt(f)?;
                f.write_str(if open { ")" } else { "" })
            }
            Expr::Extract { low, width, value } => {
                write!(f, "extract({}, {low}, {width})", printer.expr(value))
            }
            Expr::Concat { high, low } => {
                write!(f, "concat({}, {})", printer.expr(high), printer.expr(low))
            }
            Expr::ZeroExtend { width, value } => {
                write!(f, "zext({}, {width})", printer.expr(value))
            }
            Expr::SignExtend { width, value } => {
                write!(f, "sext({}, {width})", printer.expr(value))
            }
            Expr::Select { condition, then, otherwise } => {
                write!(f, "select({}, ", printer.expr(condition))?;
                write!(f, "{}, {})", printer.expr(then), printer.expr(otherwise))
            }
        }
    }
}

impl Shown<'_> {
    fn unary(&self, f: &mut Formatter<'_>, op: UnaryOp, value: &Expr) -> fmt::Result {
        if let Some((_, name)) = UNARY_FUNCTIONS.iter().find(|(o, _)| *o == op) {
            return write!(f, "{name}({})", self.printer.expr(value));
        }
        let sign = if op == UnaryOp::Neg { '-' } else { '~' };
        match value {
            // `-1:32` is a constant.
            Expr::Const(bits) if op == UnaryOp::Neg => write!(f, "-({bits})"),
            _ => write!(f, "{sign}{}", self.printer.operand(value, Level::Operand)),
        }
    }
}

fn rmw_name(op: RmwOp) -> &'static str {
    let entry = RMW_OPS.iter().find(|(o, _)| *o == op);
    entry.map_or("", |(_, name)| name)
}

fn alloc_name(kind: AllocKind) -> &'static str {
    match kind {
        AllocKind::Heap => "heap",
        AllocKind::Stack => "stack",
    }
}
