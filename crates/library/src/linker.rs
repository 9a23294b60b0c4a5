//! Linking: every call of a function without a body is looked up, and what is found is either
//! put in place of the call or added to the program. What comes in may call more.

use std::collections::{BTreeSet, HashMap, HashSet};

use parallax_program::{
    Callee, Diagnostics, Expr, Function, FunctionId, GlobalId, Inst, InstKind, Program, Span, Var,
    VarId,
};

use crate::callbacks::adapt_callbacks;
use crate::features::Features;
use crate::inline::{At, Places, inline, is_small};
use crate::modules::{Definition, Modules, plain_name};
use crate::{Options, Through, adapt, errors, message, open, rewrite};

/// Their calls stay: those of the first say something to those who know it, and the others look at
/// addresses as only the library may.
const STAY: [&str; 3] = ["__PARALLAX_invariant", "memory.overlap", "object.number"];

pub(crate) struct Linker<'p> {
    program: &'p mut Program,
    through: &'p [Through],
    options: &'p Options,
    modules: Modules,
    /// Functions of the program itself, by name.
    own: HashMap<String, FunctionId>,
    added: HashMap<Definition, FunctionId>,
    globals: HashMap<(usize, GlobalId), GlobalId>,
    /// Names in use, so that what comes in gets others.
    function_names: HashSet<String>,
    global_names: HashSet<String>,
    /// Functions that nobody defines, and that give any value.
    left_open: BTreeSet<String>,
    /// Modules that something came from, and where each one's text will start.
    files: Vec<(usize, u32)>,
    text_end: usize,
}

/// A call or start of a thread by name.
struct Transfer {
    name: String,
    args: Vec<Expr>,
    dst: Option<VarId>,
    spawn: bool,
}

impl<'p> Linker<'p> {
    pub fn new(
        program: &'p mut Program,
        features: Features,
        through: &'p [Through],
        options: &'p Options,
    ) -> Linker<'p> {
        let numbered = program.functions.iter().zip(0..);
        let own = numbered.map(|(function, id)| (function.name.clone(), FunctionId(id))).collect();
        let function_names = program.functions.iter().map(|function| function.name.clone());
        let global_names = program.globals.iter().map(|global| global.name.clone());
        Linker {
            modules: Modules::new(features),
            own,
            added: HashMap::new(),
            globals: HashMap::new(),
            function_names: function_names.collect(),
            global_names: global_names.collect(),
            files: Vec::new(),
            text_end: program.source.text().len(),
            through,
            options,
            left_open: BTreeSet::new(),
            program,
        }
    }

    pub fn link(mut self) -> Result<(), Diagnostics> {
        let mut next = 0;
        while next < self.program.functions.len() {
            let function = FunctionId(next as u32);
            let mut block = 0;
            while block < self.program.function(function).blocks.len() {
                self.link_block(function, block)?;
                block += 1;
            }
            next += 1;
        }
        self.append_files();
        if !self.left_open.is_empty() {
            let names: Vec<String> = self.left_open.into_iter().collect();
            let names = names.join(", ");
            let assumption =
                format!("functions without a body give any value and do nothing: {names}");
            self.program.assumptions.push(assumption);
        }
        Ok(())
    }

    /// Resolves the calls of a block. Where a body is put in, what is in it comes next.
    fn link_block(&mut self, function: FunctionId, block: usize) -> Result<(), Diagnostics> {
        let mut index = 0;
        loop {
            let insts = &self.program.function(function).blocks[block].insts;
            let Some(inst) = insts.get(index) else {
                return Ok(());
            };
            let resolved = match transfer(&inst.kind) {
                Some(transfer) => self.resolve(function, At { block, index }, transfer)?,
                None => false,
            };
            if !resolved {
                index += 1;
            }
        }
    }

    /// Resolves one call. True where instructions took its place that were not looked at yet.
    fn resolve(
        &mut self,
        caller: FunctionId,
        at: At,
        transfer: Transfer,
    ) -> Result<bool, Diagnostics> {
        let vars = &self.program.function(caller).vars;
        let widths =
            transfer.args.iter().map(|arg| adapt::width(arg, vars, self.program.pointer_width));
        let args: Vec<_> = transfer.args.iter().cloned().zip(widths).collect();
        let wanted = transfer.dst.and_then(|dst| vars.get(dst.0 as usize)).map(|var| var.width);

        if let Some(own) = self.own.get(&transfer.name).copied() {
            let target = self.program.function(own);
            if let Some(args) = fitting(target, &args, wanted, transfer.spawn) {
                self.direct(caller, at, own, args, &transfer);
            }
            return Ok(false);
        }
        let is_c = self.program.registers.is_empty() && !transfer.spawn;
        if is_c && open::is_input(&transfer.name, args.len()) {
            return Ok(self.leave_open(caller, at, transfer.dst));
        }
        let name = self.special_name(&transfer.name, args.first().map(|(arg, _)| arg));
        let Some(definition) = self.modules.find(&name) else {
            if self.options.errors.functions.contains(&transfer.name) {
                let block = &mut self.program.functions[caller.0 as usize].blocks[at.block];
                block.insts[at.index].kind = errors::failure(&transfer.name);
            } else if is_c
                && self.options.open
                && open::is_nobodys(&transfer.name)
                && !open::gets_functions(self.program, &transfer.args)
            {
                self.left_open.insert(transfer.name);
                return Ok(self.leave_open(caller, at, transfer.dst));
            }
            return Ok(false);
        };
        let function = self.modules.function(definition)?;
        let Some(mut args) = fitting(function, &args, wanted, transfer.spawn) else {
            return Ok(false);
        };
        adapt_callbacks(self.program, &transfer.name, &mut args);
        if transfer.spawn || !is_small(function) || STAY.contains(&transfer.name.as_str()) {
            let target = self.add(definition)?;
            self.direct(caller, at, target, args, &transfer);
            return Ok(false);
        }
        let mut body = self.import(definition)?;
        if let Some(condition) = message::condition(&transfer.name)
            && let Some(text) = args.get(condition).and_then(|arg| message::text(self.program, arg))
        {
            message::report(&mut body, &text);
        }
        let caller = &mut self.program.functions[caller.0 as usize];
        inline(caller, at, body, args, transfer.dst, Places::OfTheCall);
        Ok(true)
    }

    /// Has a call do nothing but give any value. True where the next instruction took its place.
    fn leave_open(&mut self, caller: FunctionId, at: At, dst: Option<VarId>) -> bool {
        let insts = &mut self.program.functions[caller.0 as usize].blocks[at.block].insts;
        match dst {
            Some(dst) => insts[at.index].kind = InstKind::Nondet { dst },
            None => drop(insts.remove(at.index)),
        }
        dst.is_none()
    }

    /// The function that stands in for another where its first argument is a constant text.
    fn special_name(&self, name: &str, first: Option<&Expr>) -> String {
        let suffix = match first {
            Some(first) if message::prints(name) && message::is_constant(self.program, first) => {
                ".constant"
            }
            _ => "",
        };
        let special = format!("{name}{suffix}");
        if self.modules.find(&special).is_some() { special } else { name.to_string() }
    }

    /// Makes the instruction there a call of that function.
    fn direct(
        &mut self,
        caller: FunctionId,
        at: At,
        target: FunctionId,
        args: Vec<Expr>,
        transfer: &Transfer,
    ) {
        let result = self.program.function(target).result;
        let function = &mut self.program.functions[caller.0 as usize];
        let callee = Callee::Direct(target);
        let wanted = transfer.dst.map(|dst| (dst, function.vars[dst.0 as usize].width));
        let block = &mut function.blocks[at.block];
        let inst = &mut block.insts[at.index];
        let span = inst.span;
        if transfer.spawn {
            inst.kind = InstKind::Spawn { dst: transfer.dst, callee, args };
            return;
        }
        let mut dst = transfer.dst;
        if let (Some((var, wide)), Some(width)) = (wanted, result)
            && wide != width
        {
            let narrow = VarId(function.vars.len() as u32);
            function.vars.push(Var { name: format!("%{}", narrow.0), width });
            let value = Expr::Var(narrow).resize(width, wide);
            dst = Some(narrow);
            inst.kind = InstKind::Call { dst, callee, args };
            let kind = InstKind::Assign { dst: var, value };
            block.insts.insert(at.index + 1, Inst { kind, span });
            return;
        }
        inst.kind = InstKind::Call { dst, callee, args };
    }

    /// The number of a library function in the program, to which it is added if need be.
    fn add(&mut self, definition: Definition) -> Result<FunctionId, Diagnostics> {
        if let Some(function) = self.added.get(&definition) {
            return Ok(*function);
        }
        let mut function = self.import(definition)?;
        function.name = unused(&mut self.function_names, function.name);
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.added.insert(definition, id);
        Ok(id)
    }

    /// A copy of a library function that refers to the program's globals and text, and calls
    /// others of the library by name.
    fn import(&mut self, definition: Definition) -> Result<Function, Diagnostics> {
        let module = definition.module;
        let start = self.start_of(module);
        let source = self.modules.program(module)?;
        let names: Vec<_> =
            source.functions.iter().map(|f| plain_name(&f.name).to_string()).collect();
        let mut function = source.function(definition.function).clone();
        function.name = plain_name(&function.name).to_string();
        let widths: Vec<u32> = function.vars.iter().map(|var| var.width).collect();
        for block in &mut function.blocks {
            let mut globals = Vec::new();
            rewrite::block_leaves(block, &mut |leaf| {
                if let Expr::Address(global) = leaf {
                    globals.push(*global);
                }
            });
            for global in globals {
                self.add_global(module, global)?;
            }
            rewrite::block_leaves(block, &mut |leaf| {
                if let Expr::Address(global) = leaf
                    && let Some(number) = self.globals.get(&(module, *global))
                {
                    *global = *number;
                }
            });
            block.terminator_span = shifted(block.terminator_span, start);
            for inst in &mut block.insts {
                inst.span = shifted(inst.span, start);
                if let InstKind::Call { callee, .. } | InstKind::Spawn { callee, .. } =
                    &mut inst.kind
                    && let Callee::Direct(local) = callee
                {
                    *callee = Callee::External(names[local.0 as usize].clone());
                }
                go_through(self.through, &mut inst.kind, &widths);
            }
        }
        Ok(function)
    }

    /// The number of a library global in the program. Globals whose initial values refer to
    /// others bring those along.
    fn add_global(&mut self, module: usize, id: GlobalId) -> Result<GlobalId, Diagnostics> {
        if let Some(number) = self.globals.get(&(module, id)) {
            return Ok(*number);
        }
        let mut global = self.modules.program(module)?.global(id).clone();
        let number = GlobalId(self.program.globals.len() as u32);
        global.name = unused(&mut self.global_names, global.name);
        let mut cells = std::mem::take(&mut global.init);
        self.program.globals.push(global);
        self.globals.insert((module, id), number);
        for cell in &mut cells {
            let mut found = Vec::new();
            rewrite::leaves(&mut cell.value, &mut |leaf| {
                if let Expr::Address(other) = leaf {
                    found.push(*other);
                }
            });
            let found: Result<Vec<_>, _> =
                found.into_iter().map(|other| self.add_global(module, other)).collect();
            let mut found = found?.into_iter();
            rewrite::leaves(&mut cell.value, &mut |leaf| {
                if let Expr::Address(other) = leaf
                    && let Some(number) = found.next()
                {
                    *other = number;
                }
            });
        }
        self.program.globals[number.0 as usize].init = cells;
        Ok(number)
    }

    /// Where the text of a module will start in the source of the whole.
    fn start_of(&mut self, module: usize) -> u32 {
        if let Some((_, start)) = self.files.iter().find(|(known, _)| *known == module) {
            return *start;
        }
        let start = self.text_end + 1;
        self.text_end = start + self.modules.file(module).1.len();
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        self.files.push((module, start));
        start
    }

    fn append_files(&mut self) {
        if self.files.is_empty() {
            return;
        }
        let library = self.files.iter().map(|(module, _)| self.modules.file(*module));
        let source = self.program.source.and(library);
        self.program.source = source;
    }
}

/// Makes a call or start of what an address leads to one of the function for such calls.
fn go_through(through: &[Through], kind: &mut InstKind, widths: &[u32]) {
    let (callee, args, result) = match kind {
        InstKind::Call { callee, args, dst } => {
            (callee, args, dst.and_then(|dst| widths.get(dst.0 as usize)).copied())
        }
        InstKind::Spawn { callee, args, .. } => (callee, args, Some(64)),
        _ => return,
    };
    let fits = |one: &&Through| one.args == args.len() && one.result == result;
    if let Callee::Indirect(target) = callee
        && let Some(one) = through.iter().find(fits)
    {
        args.insert(0, target.clone());
        *callee = Callee::Direct(one.function);
    }
}

/// The arguments for a call of the function, if it can be called like that.
fn fitting(
    function: &Function,
    args: &[(Expr, u32)],
    wanted: Option<u32>,
    spawn: bool,
) -> Option<Vec<Expr>> {
    let fits = spawn || adapt::result_fits(function.result, wanted);
    adapt::arguments(args, function).filter(|_| fits)
}

/// The call or start of a thread by name that an instruction is.
fn transfer(kind: &InstKind) -> Option<Transfer> {
    let (dst, callee, args, spawn) = match kind {
        InstKind::Call { dst, callee, args } => (dst, callee, args, false),
        InstKind::Spawn { dst, callee, args } => (dst, callee, args, true),
        _ => return None,
    };
    let Callee::External(name) = callee else {
        return None;
    };
    Some(Transfer { name: name.clone(), args: args.clone(), dst: *dst, spawn })
}

fn shifted(span: Span, start: u32) -> Span {
    Span { start: span.start.saturating_add(start), end: span.end.saturating_add(start) }
}

/// The name, or one like it that is not in use.
fn unused(names: &mut HashSet<String>, name: String) -> String {
    let mut candidate = name.clone();
    let mut number = 2;
    while !names.insert(candidate.clone()) {
        candidate = format!("{name}.{number}");
        number += 1;
    }
    candidate
}
