//! What makes a program well formed: names and numbers refer to something, widths agree,
//! arguments match parameters. Engines may rely on all of it.

use std::collections::HashSet;

use crate::{
    Callee, Diagnostic, Diagnostics, Expr, Function, FunctionId, Global, InstKind, Program, Span,
    Terminator, VarId,
};

/// Expressions are trees of at most this height, so that walking them may recurse.
pub const MAX_DEPTH: u32 = 200;

/// The message of a broken rule; the caller knows the place.
type Rule<T> = Result<T, String>;

impl Program {
    /// All that is wrong with the program, in order, or nothing.
    pub fn check(&self) -> Result<(), Diagnostics> {
        let mut errors = Vec::new();
        let mut outside = |what: String, rule: Rule<()>| {
            if let Err(message) = rule {
                errors.push(Diagnostic::new(format!("{what}: {message}")));
            }
        };
        outside("program".to_string(), self.check_names());
        for global in &self.globals {
            outside(format!("global '{}'", global.name), self.check_global(global));
        }
        for function in &self.functions {
            let rule = check_frame(function).and_then(|()| self.check_registers(function));
            outside(format!("function '{}'", function.name), rule);
        }
        for thread in &self.threads {
            let rule = Scope::outside(self).arguments(thread.function, &thread.args);
            outside(format!("thread '{}'", thread.name), rule);
        }
        for function in &self.functions {
            self.check_body(function, &mut errors);
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn check_names(&self) -> Rule<()> {
        if !matches!(self.pointer_width, 32 | 64) {
            return Err(format!("pointers of {} bits", self.pointer_width));
        }
        for register in &self.registers {
            let about = |message| format!("register '{}': {message}", register.name);
            valid_width(register.width).map_err(about)?;
        }
        distinct("register", self.registers.iter().map(|register| &register.name))?;
        self.check_addresses()?;
        distinct("global", self.globals.iter().map(|global| &global.name))?;
        distinct("function", self.functions.iter().map(|function| &function.name))
    }

    /// Objects with a fixed address are apart, below where others are; functions differ.
    fn check_addresses(&self) -> Rule<()> {
        let fixed = self.globals.iter().filter_map(|global| Some((global.address?, global)));
        let mut fixed: Vec<(u64, &Global)> = fixed.collect();
        fixed.sort_by_key(|(address, _)| *address);
        let mut free = Program::LEAST_FIXED_ADDRESS;
        for (address, global) in fixed {
            let end = address.saturating_add(global.size);
            if address < free || end > Program::thread_address(0) {
                return Err(format!("there is no room for '{}' at {address:#x}", global.name));
            }
            free = end;
        }
        let mut seen = HashSet::new();
        let addresses = self.functions.iter().filter_map(|function| function.address);
        match addresses.into_iter().find(|address| !seen.insert(*address)) {
            Some(address) => Err(format!("two functions are at {address:#x}")),
            None => Ok(()),
        }
    }

    fn check_registers(&self, function: &Function) -> Rule<()> {
        let after = function.vars.get(function.params as usize..).unwrap_or_default();
        match function.registers && !after.starts_with(&self.registers) {
            true => Err("its first variables are not the registers".to_string()),
            false => Ok(()),
        }
    }

    fn check_global(&self, global: &Global) -> Rule<()> {
        power_of_two(global.align)?;
        let mut covered = Vec::new();
        for cell in &global.init {
            let width = Scope::outside(self).width(&cell.value)?;
            equal("the initial value", width, cell.width)?;
            if cell.width % 8 != 0 {
                return Err(format!("a cell of {} bits is no number of bytes", cell.width));
            }
            let end = cell.offset.saturating_add(u64::from(cell.width / 8));
            if end > global.size {
                return Err(format!("the cell at {} ends outside", cell.offset));
            }
            covered.push((cell.offset, end));
        }
        covered.sort_unstable();
        match covered.windows(2).find(|pair| pair[0].1 > pair[1].0) {
            Some(pair) => Err(format!("the cell at {} overlaps another", pair[1].0)),
            None => Ok(()),
        }
    }

    fn check_body(&self, function: &Function, errors: &mut Diagnostics) {
        let scope = Scope { program: self, function: Some(function) };
        let mut at = |span: Span, rule: Rule<()>| {
            if let Err(message) = rule {
                errors.push(self.source.error(span, message));
            }
        };
        for block in &function.blocks {
            for inst in &block.insts {
                at(inst.span, scope.inst(&inst.kind));
            }
            at(block.terminator_span, scope.terminator(&block.terminator));
        }
    }
}

/// The width of a constant expression that refers to what exists only.
pub fn constant_width(expr: &Expr, pointer_width: u32) -> Rule<u32> {
    width(expr, 0, &|leaf| match leaf {
        Expr::Var(_) => Err("a variable in a constant".to_string()),
        _ => Ok(pointer_width),
    })
}

fn check_frame(function: &Function) -> Rule<()> {
    if function.params as usize > function.vars.len() {
        return Err("more parameters than variables".to_string());
    }
    if function.blocks.is_empty() {
        return Err("there is no block".to_string());
    }
    for var in &function.vars {
        valid_width(var.width).map_err(|message| format!("variable '{}': {message}", var.name))?;
    }
    function.result.map_or(Ok(()), valid_width)?;
    distinct("variable", function.vars.iter().map(|var| &var.name))?;
    distinct("label", function.blocks.iter().map(|block| &block.label))
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Rule<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("{what} '{name}' is defined twice"));
        }
    }
    Ok(())
}

fn power_of_two(align: u32) -> Rule<()> {
    match align.is_power_of_two() {
        true => Ok(()),
        false => Err(format!("the alignment {align} is no power of two")),
    }
}

fn valid_width(width: u32) -> Rule<()> {
    match width {
        1..=128 => Ok(()),
        _ => Err(format!("{width} bits: widths go from 1 to 128")),
    }
}

fn equal(what: &str, found: u32, expected: u32) -> Rule<()> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what} is {found} bits wide, not {expected}")),
    }
}

/// What expressions and instructions may refer to.
struct Scope<'a> {
    program: &'a Program,
    /// None outside functions, where there are no variables.
    function: Option<&'a Function>,
}

impl<'a> Scope<'a> {
    fn outside(program: &'a Program) -> Scope<'a> {
        Scope { program, function: None }
    }

    fn width(&self, expr: &Expr) -> Rule<u32> {
        width(expr, 0, &|leaf| self.leaf(leaf))
    }

    fn leaf(&self, leaf: &Expr) -> Rule<u32> {
        let globals = self.program.globals.len();
        match leaf {
            Expr::Var(id) => self.var(*id),
            Expr::Address(id) if id.0 as usize >= globals => Err(format!("no global {}", id.0)),
            Expr::FunctionAddress(id) => self.callee(*id).map(|_| self.program.pointer_width),
            _ => Ok(self.program.pointer_width),
        }
    }

    fn var(&self, id: VarId) -> Rule<u32> {
        let function = self.function.ok_or("a variable in a constant")?;
        let var = function.vars.get(id.0 as usize);
        Ok(var.ok_or(format!("no variable {}", id.0))?.width)
    }

    fn callee(&self, id: FunctionId) -> Rule<&'a Function> {
        let function = self.program.functions.get(id.0 as usize);
        function.ok_or(format!("no function {}", id.0))
    }

    fn expect(&self, what: &str, expr: &Expr, width: u32) -> Rule<()> {
        equal(what, self.width(expr)?, width)
    }

    fn address(&self, expr: &Expr) -> Rule<()> {
        self.expect("the address", expr, self.program.pointer_width)
    }

    fn target(&self, what: &str, var: VarId, width: u32) -> Rule<()> {
        equal(what, self.var(var)?, width)
    }

    fn arguments(&self, function: FunctionId, args: &[Expr]) -> Rule<()> {
        let callee = self.callee(function)?;
        if args.len() != callee.params as usize {
            let (found, name, expected) = (args.len(), &callee.name, callee.params);
            return Err(format!("{found} arguments for '{name}', which takes {expected}"));
        }
        for (arg, param) in args.iter().zip(&callee.vars) {
            self.expect(&format!("the argument '{}'", param.name), arg, param.width)?;
        }
        Ok(())
    }

    fn inst(&self, kind: &InstKind) -> Rule<()> {
        use InstKind::*;
        match kind {
            Assign { dst, value } => self.expect("the value", value, self.var(*dst)?),
            Load { dst, address, size, .. } | LoadLinked { dst, address, size, .. } => {
                self.address(address)?;
                self.target("the variable loaded", *dst, size.bits())
            }
            Store { address, value, size, .. } => {
                self.address(address)?;
                self.expect("the value stored", value, size.bits())
            }
            StoreConditional { status, address, value, size, .. } => {
                self.address(address)?;
                self.expect("the value stored", value, size.bits())?;
                self.target("the status", *status, 1)
            }
            Rmw { dst, address, operand, size, .. } => {
                self.address(address)?;
                self.expect("the operand", operand, size.bits())?;
                dst.map_or(Ok(()), |dst| self.target("the variable loaded", dst, size.bits()))
            }
            Cas { dst, ok, address, expected, desired, size, .. } => {
                self.address(address)?;
                self.expect("the value expected", expected, size.bits())?;
                self.expect("the value stored", desired, size.bits())?;
                dst.map_or(Ok(()), |dst| self.target("the variable loaded", dst, size.bits()))?;
                ok.map_or(Ok(()), |ok| self.target("the flag", ok, 1))
            }
            Call { dst, callee, args } => self.call(*dst, callee, args),
            _ => self.service(kind),
        }
    }

    /// Threads, allocation, assumptions.
    fn service(&self, kind: &InstKind) -> Rule<()> {
        use InstKind::*;
        match kind {
            Spawn { dst, callee, args } => {
                self.call(None, callee, args)?;
                dst.map_or(Ok(()), |dst| self.target("the number of the thread", dst, 32))
            }
            Join { thread } => self.expect("the number of the thread", thread, 32),
            ThreadId { dst } => self.target("the number of the thread", *dst, 32),
            Free { address, .. } => self.address(address),
            HeapSize { dst, address } => {
                self.address(address)?;
                self.target("the size", *dst, self.program.pointer_width)
            }
            Alloc { dst, size, align, .. } => {
                self.expect("the size", size, self.program.pointer_width)?;
                power_of_two(*align)?;
                self.target("the address", *dst, self.program.pointer_width)
            }
            Assume { condition } | Wait { condition } | Assert { condition, .. } => {
                self.expect("the condition", condition, 1)
            }
            Nondet { dst } => self.var(*dst).map(|_| ()),
            Choose { dst, below } => self.expect("the number of choices", below, self.var(*dst)?),
            _ => Ok(()),
        }
    }

    fn call(&self, dst: Option<VarId>, callee: &Callee, args: &[Expr]) -> Rule<()> {
        for arg in args {
            self.width(arg)?;
        }
        let width = dst.map(|dst| self.var(dst)).transpose()?;
        match callee {
            Callee::Direct(id) => {
                self.arguments(*id, args)?;
                let callee = self.callee(*id)?;
                match (width, callee.result) {
                    (None, _) => Ok(()),
                    (Some(width), Some(result)) => equal("the result", result, width),
                    (Some(_), None) => Err(format!("'{}' gives no result", callee.name)),
                }
            }
            Callee::Indirect(target) => self.address(target),
            Callee::External(_) => Ok(()),
        }
    }

    fn terminator(&self, terminator: &Terminator) -> Rule<()> {
        let function = self.function.ok_or("a block outside functions")?;
        let block = |id: crate::BlockId| match (id.0 as usize) < function.blocks.len() {
            true => Ok(()),
            false => Err(format!("no block {}", id.0)),
        };
        match terminator {
            Terminator::Jump(target) => block(*target),
            Terminator::Branch { condition, then, otherwise, join } => {
                self.expect("the condition", condition, 1)?;
                block(*then)?;
                block(*otherwise)?;
                join.map_or(Ok(()), block)
            }
            Terminator::Return(value) => match (value, function.result) {
                (None, None) => Ok(()),
                (Some(value), Some(result)) => self.expect("the result", value, result),
                (Some(_), None) => Err(format!("'{}' gives no result", function.name)),
                (None, Some(result)) => Err(format!("a result of {result} bits is missing")),
            },
            Terminator::Exit => Ok(()),
        }
    }
}

/// The width of an expression, given that of variables and addresses.
fn width(expr: &Expr, depth: u32, leaf: &impl Fn(&Expr) -> Rule<u32>) -> Rule<u32> {
    if depth >= MAX_DEPTH {
        return Err(format!("an expression nested more than {MAX_DEPTH} deep"));
    }
    let inner = |expr: &Expr| width(expr, depth + 1, leaf);
    let result = match expr {
        Expr::Const(bits) => bits.width(),
        Expr::Var(_) | Expr::Address(_) | Expr::FunctionAddress(_) => leaf(expr)?,
        Expr::Unary(op, value) => {
            let width = inner(value)?;
            if !op.takes(width) {
                return Err(format!("a conversion of {width} bits"));
            }
            width
        }
        Expr::Binary(op, left, right) => {
            let (left, right) = (inner(left)?, inner(right)?);
            if left != right {
                return Err(format!("operands of {left} and {right} bits"));
            }
            if op.is_float() && !matches!(left, 32 | 64) {
                return Err(format!("a floating-point number of {left} bits"));
            }
            if op.is_comparison() { 1 } else { left }
        }
        Expr::Extract { low, width, value } => {
            let whole = inner(value)?;
            if low.saturating_add(*width) > whole {
                return Err(format!("bits {low} to {} of {whole}", low.saturating_add(*width)));
            }
            *width
        }
        Expr::Concat { high, low } => inner(high)? + inner(low)?,
        Expr::ZeroExtend { width, value } | Expr::SignExtend { width, value } => {
            let from = inner(value)?;
            if from > *width {
                return Err(format!("an extension from {from} to {width} bits"));
            }
            *width
        }
        Expr::Select { condition, then, otherwise } => {
            equal("the condition", inner(condition)?, 1)?;
            let (then, otherwise) = (inner(then)?, inner(otherwise)?);
            if then != otherwise {
                return Err(format!("a choice between {then} and {otherwise} bits"));
            }
            then
        }
    };
    valid_width(result)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use crate::{FunctionBuilder, SourceFile, parse_program};

    use super::*;

    /// The messages for a function with these lines, and a variable of 1, 32 and 64 bits.
    fn messages(lines: &str) -> Vec<String> {
        let text = format!(
            "program p pointers 64\nglobal x: 4\nfn g(a: 32) -> 8 {{\nreturn 0:8\n}}\n\
             fn f() {{\nvar b: 1, w: 32, d: 64\n{lines}\n}}\n"
        );
        match parse_program("p", &text) {
            Ok(_) => Vec::new(),
            Err(errors) => errors
                .into_iter()
                .map(|error| match error.location {
                    Some(place) => format!("{}: {}", place.line - 7, error.message),
                    None => error.message,
                })
                .collect(),
        }
    }

    #[test]
    fn a_well_formed_function_is_accepted() {
        let lines = "w = load.4 &x\nb = w == 1:32\nd = zext(w, 64) + &x\nbranch b, e, e\ne: exit";
        assert_eq!(messages(lines), Vec::<String>::new());
    }

    #[test]
    fn every_rule_has_its_message() {
        let cases = [
            ("w = d", "the value is 64 bits wide, not 32"),
            ("w = w + d", "operands of 32 and 64 bits"),
            ("w = extract(w, 1, 32)", "bits 1 to 33 of 32"),
            ("w = zext(d, 32)", "an extension from 64 to 32 bits"),
            ("w = select(w, w, w)", "the condition is 32 bits wide, not 1"),
            ("w = select(b, w, d)", "a choice between 32 and 64 bits"),
            ("d = concat(concat(d, d), d)", "192 bits: widths go from 1 to 128"),
            ("d = load.4 &x", "the variable loaded is 64 bits wide, not 32"),
            ("w = load.4 w", "the address is 32 bits wide, not 64"),
            ("store.4 &x, d", "the value stored is 64 bits wide, not 32"),
            ("w = sc.4 &x, w", "the status is 32 bits wide, not 1"),
            ("rmw.add.4 &x, d", "the operand is 64 bits wide, not 32"),
            ("cas.4 &x, w, d", "the value stored is 64 bits wide, not 32"),
            ("w, w = cas.4 &x, w, w", "the flag is 32 bits wide, not 1"),
            ("call g()", "0 arguments for 'g', which takes 1"),
            ("call g(d)", "the argument 'a' is 64 bits wide, not 32"),
            ("w = call g(w)", "the result is 8 bits wide, not 32"),
            ("w = call f()", "'f' gives no result"),
            ("spawn g()", "0 arguments for 'g', which takes 1"),
            ("assume w", "the condition is 32 bits wide, not 1"),
            ("d = alloc.heap d align 3", "the alignment 3 is no power of two"),
            ("free.heap w", "the address is 32 bits wide, not 64"),
            ("branch w, entry, entry", "the condition is 32 bits wide, not 1"),
            ("return w", "'f' gives no result"),
        ];
        for (line, message) in cases {
            assert_eq!(messages(line), [format!("1: {message}")], "{line}");
        }
    }

    #[test]
    fn several_errors_come_together() {
        assert_eq!(messages("w = d\nb = w\n").len(), 2);
    }

    #[test]
    fn numbers_that_refer_to_nothing_are_found() {
        let mut program = Program::new("p", 16, SourceFile::new("p", ""));
        let mut function = FunctionBuilder::new("f");
        function.assign(VarId(7), Expr::constant(8, 0));
        function.terminate(Terminator::Jump(crate::BlockId(9)));
        program.functions.push(function.finish());
        let errors = program.check().unwrap_err();
        let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(messages, ["program: pointers of 16 bits", "no variable 7", "no block 9"]);
    }

    #[test]
    fn cells_stay_inside_and_apart() {
        for (init, message) in [
            ("{ 2: 0:32 }", "the cell at 2 ends outside"),
            ("{ 0: 0:12 }", "a cell of 12 bits is no number of bytes"),
            ("{ 0: 0:16, 1: 0:8 }", "the cell at 1 overlaps another"),
        ] {
            let text = format!("program p pointers 64\nglobal x: 4 = {init}\n");
            let errors = parse_program("p", &text).unwrap_err();
            assert_eq!(errors[0].message, format!("global 'x': {message}"));
        }
    }

    #[test]
    fn trees_of_any_depth_are_judged() {
        let mut deep = Expr::constant(8, 0);
        for _ in 0..=MAX_DEPTH {
            deep = !deep;
        }
        assert!(constant_width(&deep, 64).is_err());
    }
}
