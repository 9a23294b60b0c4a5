//! Whole modules.

use std::collections::HashMap;

use parallax_program::{Diagnostic, SourceFile};

use super::cursor::{Cursor, Parsed};
use super::instructions::Attributes;
use super::module::{
    Alias, Block, Function, Global, Instruction, Module, Name, Operation, Param, Type,
};
use super::token::{Kind, tokens};
use crate::undefined::TYPED;

/// Reads a module.
pub fn parse(source: &SourceFile) -> Result<Module, Box<Diagnostic>> {
    let mut cursor = Cursor::new(tokens(source.text()), source);
    let is_rust = source.text().contains("language: DW_LANG_Rust");
    let mut module = Module { is_rust, ..Module::default() };
    while cursor.peek().kind != Kind::End {
        cursor.top_level(&mut module)?;
    }
    Ok(module)
}

impl Cursor<'_> {
    fn top_level(&mut self, module: &mut Module) -> Parsed<()> {
        let token = self.peek();
        match (token.kind, token.text) {
            (Kind::Word, "define") => {
                let function = self.function(true)?;
                module.functions.push(function);
            }
            (Kind::Word, "declare") => {
                let function = self.function(false)?;
                module.functions.push(function);
            }
            (Kind::Word, "source_filename") => {
                self.next();
                self.expect(b'=')?;
                module.source_name = self.text()?.to_string();
            }
            (Kind::Word, "target") if self.ahead(1).text == "datalayout" => {
                self.next();
                self.next();
                self.expect(b'=')?;
                module.data_layout = self.text()?.to_string();
            }
            (Kind::Local, _) => {
                let name = self.name(Kind::Local, "a type")?;
                self.expect(b'=')?;
                self.expect_word("type")?;
                let ty = self.ty()?;
                module.types.insert(name, ty);
            }
            (Kind::Global, _) => self.global(module)?,
            (Kind::MetadataId, _) => {
                let id = self.metadata_id()?;
                self.expect(b'=')?;
                let node = self.node()?;
                module.metadata.insert(id, node);
            }
            (
                Kind::Word,
                "target" | "module" | "attributes" | "uselistorder" | "uselistorder_bb",
            )
            | (Kind::Comdat | Kind::MetadataName, _) => {
                module.has_types |= token.text == TYPED;
                self.skip_line(token.line);
            }
            _ => return self.error("a definition"),
        }
        Ok(())
    }

    fn global(&mut self, module: &mut Module) -> Parsed<()> {
        let line = self.peek().line;
        let name = self.name(Kind::Global, "a name")?;
        self.expect(b'=')?;
        let header = self.header()?;
        match self.word()? {
            "alias" | "ifunc" => {
                self.ty()?;
                self.expect(b',')?;
                let target = self.typed()?.value;
                module.aliases.push(Alias { name, target, internal: header.internal });
                self.skip_line(line);
                Ok(())
            }
            kind @ ("global" | "constant") => {
                let ty = self.ty()?;
                let init = match header.external && !self.at_value() {
                    true => None,
                    false => Some(self.value(&ty)?),
                };
                let mut global = Global {
                    name,
                    ty,
                    init,
                    constant: kind == "constant",
                    thread_local: header.thread_local,
                    internal: header.internal,
                    weak: header.weak,
                    align: None,
                    debug: None,
                };
                self.global_tail(&mut global)?;
                module.globals.push(global);
                Ok(())
            }
            _ => self.error("'global', 'constant' or 'alias' before it"),
        }
    }

    fn at_value(&self) -> bool {
        !self.is(b',') && self.peek().kind != Kind::End && !self.starts_definition()
    }

    /// Whether the token is the first of its line.
    fn starts_definition(&self) -> bool {
        let token = self.peek();
        matches!(token.kind, Kind::Global | Kind::MetadataId)
            && self.ahead(1).kind == Kind::Punctuation(b'=')
            || (token.kind == Kind::Word
                && matches!(token.text, "define" | "declare" | "attributes"))
    }

    /// `, align 4, !dbg !7`
    fn global_tail(&mut self, global: &mut Global) -> Parsed<()> {
        while self.eat(b',') {
            let token = self.next();
            match (token.kind, token.text) {
                (Kind::Word, "align") => global.align = Some(self.number()? as u32),
                (Kind::MetadataName, "dbg") => global.debug = Some(self.metadata_id()?),
                _ => {
                    let goes_on = |cursor: &Self| {
                        let next = cursor.peek();
                        next.line == token.line && next.kind != Kind::End
                    };
                    while !self.is(b',') && goes_on(self) {
                        match self.is(b'(') {
                            true => self.skip_brackets(),
                            false => drop(self.next()),
                        }
                    }
                }
            }
        }
        while self.peek().kind == Kind::AttributeGroup {
            self.next();
        }
        Ok(())
    }

    /// Linkage, visibility and the like, before what is defined.
    fn header(&mut self) -> Parsed<Header> {
        let mut header = Header::default();
        loop {
            let token = self.peek();
            if token.kind != Kind::Word
                || matches!(token.text, "global" | "constant" | "alias" | "ifunc")
                || self.at_type()
            {
                return Ok(header);
            }
            self.next();
            match token.text {
                "private" | "internal" => header.internal = true,
                "external" | "extern_weak" => header.external = true,
                "thread_local" => header.thread_local = true,
                "weak"
                | "weak_odr"
                | "linkonce"
                | "linkonce_odr"
                | "common"
                | "available_externally" => header.weak = true,
                "cc" | "align" if self.peek().kind == Kind::Integer => drop(self.next()),
                _ => {}
            }
            if self.is(b'(') {
                self.skip_brackets();
            }
        }
    }

    fn function(&mut self, defined: bool) -> Parsed<Function> {
        let first = self.next();
        // Of a declaration, what debug information says about it stands here.
        let mut debug = None;
        while self.peek().kind == Kind::MetadataName {
            match self.next().text {
                "dbg" => debug = Some(self.metadata_id()?),
                _ => drop(self.metadata()?),
            }
        }
        let header = self.header()?;
        self.skip_attributes()?;
        let result = self.value_type()?;
        let name = self.name(Kind::Global, "the name of a function")?;
        let mut numbers = Numbers::default();
        let params = self.params(&mut numbers)?;
        let mut function = Function {
            name,
            result,
            params,
            internal: header.internal,
            weak: header.weak,
            blocks: Vec::new(),
            debug,
            start: first.start,
        };
        self.function_tail(first.line, defined, &mut function)?;
        if defined {
            self.body(&mut function, &mut numbers)?;
        }
        Ok(function)
    }

    fn function_tail(&mut self, line: u32, defined: bool, function: &mut Function) -> Parsed<()> {
        while self.peek().kind != Kind::End && !self.is(b'{') {
            if !defined && self.peek().line != line {
                break;
            }
            let token = self.next();
            if token.kind == Kind::MetadataName && token.text == "dbg" {
                function.debug = Some(self.metadata_id()?);
            }
        }
        Ok(())
    }

    fn params(&mut self, numbers: &mut Numbers) -> Parsed<Vec<Param>> {
        self.expect(b'(')?;
        let mut params = Vec::new();
        while !self.eat(b')') {
            if self.peek().kind == Kind::Ellipsis {
                self.next();
            } else {
                params.push(self.param(numbers)?);
            }
            if !self.eat(b',') && !self.is(b')') {
                return self.error("',' or ')'");
            }
        }
        Ok(params)
    }

    fn param(&mut self, numbers: &mut Numbers) -> Parsed<Param> {
        let ty = self.ty()?;
        let Attributes { pointee, .. } = self.skip_attributes()?;
        let name = match self.peek().kind {
            Kind::Local => numbers.given(self.name(Kind::Local, "a name")?),
            _ => numbers.fresh(),
        };
        Ok(Param { name, ty, pointee })
    }

    fn body(&mut self, function: &mut Function, numbers: &mut Numbers) -> Parsed<()> {
        self.expect(b'{')?;
        let (mut open, mut invokes) = (false, false);
        while !self.eat(b'}') {
            let token = self.peek();
            if token.kind == Kind::Label {
                self.next();
                let name = numbers.given(super::cursor::name_of(token));
                function.blocks.push(Block { name, instructions: Vec::new() });
                open = true;
                continue;
            }
            if token.kind == Kind::Word && matches!(token.text, "uselistorder" | "uselistorder_bb")
            {
                self.skip_line(token.line);
                continue;
            }
            if !open {
                let name = numbers.fresh();
                function.blocks.push(Block { name, instructions: Vec::new() });
            }
            let mut instruction = self.instruction()?;
            number_result(&mut instruction, numbers);
            let goes_on = self.goes_on.take().map(|target| jump(target, &instruction));
            open = goes_on.is_none() && !instruction.operation.is_terminator();
            invokes |= goes_on.is_some();
            if let Some(block) = function.blocks.last_mut() {
                block.instructions.push(instruction);
                block.instructions.extend(goes_on);
            }
        }
        if invokes {
            drop_unreached(function);
        }
        Ok(())
    }
}

/// The end of a block after an instruction that says itself where to go on.
fn jump(target: Name, after: &Instruction) -> Instruction {
    Instruction {
        result: None,
        operation: Operation::Jump(target),
        debug: after.debug,
        typed: false,
        declares: false,
        noundef: false,
        copy_layout: None,
        align: None,
        start: after.start,
    }
}

/// Takes out the blocks that only exceptions lead to.
fn drop_unreached(function: &mut Function) {
    let numbers: HashMap<Name, usize> =
        function.blocks.iter().zip(0..).map(|(block, at)| (block.name.clone(), at)).collect();
    let mut reached = vec![false; function.blocks.len()];
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        if !std::mem::replace(&mut reached[number], true) {
            let last = function.blocks[number].instructions.last();
            let targets = last.map(|last| last.operation.targets()).unwrap_or_default();
            open.extend(targets.into_iter().filter_map(|target| numbers.get(target)));
        }
    }
    let mut reached = reached.into_iter();
    function.blocks.retain(|_| reached.next().unwrap_or(true));
}

/// An instruction that has a result without a name gets a number.
fn number_result(instruction: &mut Instruction, numbers: &mut Numbers) {
    if let Some(name) = instruction.result.take() {
        instruction.result = Some(numbers.given(name));
        return;
    }
    let unnamed = match &instruction.operation {
        Operation::Call(call) => call.result != Type::Void,
        Operation::Store { .. }
        | Operation::Fence { .. }
        | Operation::Debug { .. }
        | Operation::Unknown { .. } => false,
        operation => !operation.is_terminator(),
    };
    if unnamed {
        instruction.result = Some(numbers.fresh());
    }
}

#[derive(Default)]
struct Header {
    internal: bool,
    external: bool,
    weak: bool,
    thread_local: bool,
}

/// The numbers of what has no name in a function: parameters, blocks, results.
#[derive(Default)]
struct Numbers {
    next: u64,
}

impl Numbers {
    fn given(&mut self, name: Name) -> Name {
        if let Ok(number) = name.parse::<u64>() {
            self.next = number.saturating_add(1);
        }
        name
    }

    fn fresh(&mut self) -> Name {
        let name = self.next.to_string().into();
        self.next += 1;
        name
    }
}
