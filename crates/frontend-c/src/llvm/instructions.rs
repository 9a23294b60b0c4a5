//! Instructions.

use super::cursor::{Cursor, Parsed};
use super::metadata::{Metadata, MetadataId};
use super::module::{
    Argument, Call, CompareExchange, Instruction, Name, Operation, Ordering, Type, Typed, Value,
};
use super::operations::{binary_op, cast_op, float_predicate, ordering, predicate, rmw_op};
use super::token::Kind;
use crate::undefined;

impl Cursor<'_> {
    /// One instruction, with what is attached to it.
    pub fn instruction(&mut self) -> Parsed<Instruction> {
        let first = self.peek();
        let mut result = None;
        if first.kind == Kind::Local {
            result = Some(self.name(Kind::Local, "a name")?);
            self.expect(b'=')?;
        }
        let line = self.peek().line;
        let operation = self.operation()?;
        let mut instruction = Instruction {
            result,
            operation,
            debug: None,
            typed: false,
            declares: false,
            noundef: false,
            copy_layout: None,
            align: None,
            start: first.start,
        };
        if is_access(&instruction.operation) {
            instruction.align = self.align()?;
        }
        self.attachments(&mut instruction)?;
        if matches!(instruction.operation, Operation::Unknown { .. }) {
            self.skip_line(line);
        }
        Ok(instruction)
    }

    /// `, !dbg !7, !tbaa.struct !9`
    fn attachments(&mut self, instruction: &mut Instruction) -> Parsed<()> {
        while self.is(b',') && self.ahead(1).kind == Kind::MetadataName {
            self.next();
            let name = self.next().text;
            instruction.typed |= name == "tbaa";
            instruction.declares |= name == undefined::MARK;
            instruction.noundef |= name == "noundef";
            match name {
                "dbg" if self.peek().kind == Kind::MetadataId => {
                    instruction.debug = Some(self.metadata_id()?);
                }
                "tbaa.struct" => instruction.copy_layout = Some(self.metadata_id()?),
                _ => {
                    self.metadata()?;
                }
            }
        }
        Ok(())
    }

    fn operation(&mut self) -> Parsed<Operation> {
        if self.peek().kind == Kind::DebugRecord {
            return self.debug_record();
        }
        let word = self.word()?;
        if let Some(op) = binary_op(word) {
            let no_signed_wrap = self.eat_flags();
            let left = self.typed()?;
            let right = self.second(&left.ty)?;
            return Ok(Operation::Binary { op, no_signed_wrap, left, right });
        }
        if let Some(op) = cast_op(word) {
            self.skip_flags();
            let value = self.typed()?;
            self.expect_word("to")?;
            return Ok(Operation::Cast { op, value, to: self.ty()? });
        }
        match word {
            "ret" | "br" | "switch" | "unreachable" => self.terminator(word),
            "load" | "store" | "atomicrmw" | "cmpxchg" | "fence" | "alloca" => self.memory(word),
            "tail" | "musttail" | "notail" => {
                self.expect_word("call")?;
                self.call()
            }
            "call" => self.call(),
            "invoke" => self.invoke(),
            _ => self.computation(word),
        }
    }

    /// Flags of an operator; whether `nsw` is among them.
    fn eat_flags(&mut self) -> bool {
        let mut no_signed_wrap = false;
        while self.is_word("nsw") || self.is_word("nuw") {
            no_signed_wrap |= self.next().text == "nsw";
        }
        self.skip_flags();
        no_signed_wrap
    }

    fn second(&mut self, ty: &Type) -> Parsed<Value> {
        self.expect(b',')?;
        self.value(ty)
    }

    fn next_typed(&mut self) -> Parsed<Typed> {
        self.expect(b',')?;
        self.typed()
    }

    fn terminator(&mut self, word: &str) -> Parsed<Operation> {
        match word {
            "ret" if self.eat_word("void") => Ok(Operation::Return(None)),
            "ret" => Ok(Operation::Return(Some(self.typed()?))),
            "br" if self.is_word("label") => Ok(Operation::Jump(self.label()?)),
            "br" => {
                let condition = self.typed()?.value;
                self.expect(b',')?;
                let then = self.label()?;
                self.expect(b',')?;
                Ok(Operation::Branch { condition, then, otherwise: self.label()? })
            }
            "switch" => self.switch(),
            _ => Ok(Operation::Unreachable),
        }
    }

    fn label(&mut self) -> Parsed<Name> {
        self.expect_word("label")?;
        self.name(Kind::Local, "a label")
    }

    fn switch(&mut self) -> Parsed<Operation> {
        let value = self.typed()?;
        self.expect(b',')?;
        let default = self.label()?;
        self.expect(b'[')?;
        let mut cases = Vec::new();
        while !self.eat(b']') {
            let case = self.typed()?.value;
            self.expect(b',')?;
            cases.push((case, self.label()?));
        }
        Ok(Operation::Switch { value, default, cases })
    }

    fn computation(&mut self, word: &str) -> Parsed<Operation> {
        match word {
            "icmp" => {
                self.skip_flags();
                let Some(predicate) = predicate(self.word()?) else {
                    return self.error("an operand of a known comparison");
                };
                let left = self.typed()?;
                let right = self.second(&left.ty)?;
                Ok(Operation::Compare { predicate, left, right })
            }
            "fcmp" => {
                self.skip_flags();
                let Some(predicate) = float_predicate(self.word()?) else {
                    return self.error("an operand of a known comparison");
                };
                let left = self.typed()?;
                let right = self.second(&left.ty)?;
                Ok(Operation::FloatCompare { predicate, left, right })
            }
            "fneg" => {
                self.skip_flags();
                Ok(Operation::FNeg(self.typed()?))
            }
            "select" => {
                self.skip_flags();
                let condition = self.typed()?;
                let then = self.next_typed()?;
                Ok(Operation::Select { condition, then, otherwise: self.next_typed()? })
            }
            "freeze" => Ok(Operation::Freeze(self.typed()?)),
            "phi" => self.phi(),
            "getelementptr" => {
                self.skip_flags();
                let element = self.ty()?;
                let base = self.next_typed()?;
                Ok(Operation::Gep { element, base, indices: self.typed_list()? })
            }
            _ => self.parts(word),
        }
    }

    /// Instructions on parts of aggregates and vectors.
    fn parts(&mut self, word: &str) -> Parsed<Operation> {
        match word {
            "extractvalue" => {
                let aggregate = self.typed()?;
                Ok(Operation::ExtractValue { aggregate, indices: self.index_list()? })
            }
            "insertvalue" => {
                let aggregate = self.typed()?;
                let element = self.next_typed()?;
                Ok(Operation::InsertValue { aggregate, element, indices: self.index_list()? })
            }
            "extractelement" => {
                let vector = self.typed()?;
                Ok(Operation::ExtractElement { vector, index: self.next_typed()? })
            }
            "insertelement" => {
                let vector = self.typed()?;
                let element = self.next_typed()?;
                Ok(Operation::InsertElement { vector, element, index: self.next_typed()? })
            }
            "shufflevector" => {
                let left = self.typed()?;
                let right = self.next_typed()?;
                Ok(Operation::ShuffleVector { left, right, mask: self.next_typed()? })
            }
            "landingpad" => self.landing_pad(),
            _ => {
                let ends = ["indirectbr", "callbr", "resume", "catchswitch", "catchret"];
                let terminator = ends.contains(&word) || word == "cleanupret";
                Ok(Operation::Unknown { name: word.into(), terminator })
            }
        }
    }

    fn phi(&mut self) -> Parsed<Operation> {
        self.skip_flags();
        let ty = self.ty()?;
        let mut incoming = Vec::new();
        loop {
            self.expect(b'[')?;
            let value = self.value(&ty)?;
            self.expect(b',')?;
            incoming.push((value, self.name(Kind::Local, "a label")?));
            self.expect(b']')?;
            if !self.is(b',') || self.ahead(1).kind != Kind::Punctuation(b'[') {
                return Ok(Operation::Phi { ty, incoming });
            }
            self.next();
        }
    }

    /// `, T a, T b` up to what is attached.
    fn typed_list(&mut self) -> Parsed<Vec<Typed>> {
        let mut list = Vec::new();
        while self.is(b',') && self.ahead(1).kind != Kind::MetadataName {
            self.next();
            list.push(self.typed()?);
        }
        Ok(list)
    }

    fn index_list(&mut self) -> Parsed<Vec<u64>> {
        let mut list = Vec::new();
        while self.is(b',') && self.ahead(1).kind == Kind::Integer {
            self.next();
            list.push(self.number()?);
        }
        Ok(list)
    }

    fn memory(&mut self, word: &str) -> Parsed<Operation> {
        match word {
            "alloca" => self.alloca(),
            "load" => {
                let atomic = self.eat_word("atomic");
                let volatile = self.eat_word("volatile");
                let ty = self.ty()?;
                let address = self.next_typed()?.value;
                let (_, order) = self.order_if(atomic)?;
                Ok(Operation::Load { ty, address, volatile, order })
            }
            "store" => {
                let atomic = self.eat_word("atomic");
                let volatile = self.eat_word("volatile");
                let value = self.typed()?;
                let address = self.next_typed()?.value;
                let (_, order) = self.order_if(atomic)?;
                Ok(Operation::Store { value, address, volatile, order })
            }
            "fence" => {
                let (single_thread, order) = self.scope_and_order()?;
                Ok(Operation::Fence { order, single_thread })
            }
            "atomicrmw" => {
                self.eat_word("volatile");
                let Some(op) = rmw_op(self.word()?) else {
                    return self.error("an operand of a known operation");
                };
                let address = self.typed()?.value;
                let operand = self.next_typed()?;
                let (_, order) = self.scope_and_order()?;
                Ok(Operation::Rmw { op, address, operand, order })
            }
            _ => self.compare_exchange(),
        }
    }

    fn compare_exchange(&mut self) -> Parsed<Operation> {
        let weak = self.eat_word("weak");
        self.eat_word("volatile");
        let address = self.typed()?.value;
        let expected = self.next_typed()?;
        let desired = self.next_typed()?.value;
        let (_, success) = self.scope_and_order()?;
        let (_, failure) = self.scope_and_order()?;
        let exchange = CompareExchange { weak, address, expected, desired, success, failure };
        Ok(Operation::CompareExchange(Box::new(exchange)))
    }

    fn alloca(&mut self) -> Parsed<Operation> {
        self.eat_word("inalloca");
        let ty = self.ty()?;
        let (mut count, mut align) = (None, None);
        while self.is(b',') && self.ahead(1).kind != Kind::MetadataName {
            self.next();
            if self.eat_word("align") {
                align = Some(self.number()? as u32);
            } else if self.eat_word("addrspace") {
                self.skip_brackets();
            } else {
                count = Some(self.typed()?);
            }
        }
        Ok(Operation::Alloca { ty, count, align })
    }

    fn order_if(&mut self, atomic: bool) -> Parsed<(bool, Option<Ordering>)> {
        if !atomic {
            return Ok((false, None));
        }
        let (single_thread, order) = self.scope_and_order()?;
        Ok((single_thread, Some(order)))
    }

    fn scope_and_order(&mut self) -> Parsed<(bool, Ordering)> {
        let mut single_thread = false;
        if self.eat_word("syncscope") {
            single_thread = self.ahead(1).text == "singlethread";
            self.skip_brackets();
        }
        let found = self.peek();
        match ordering(found.text) {
            Some(order) if found.kind == Kind::Word => {
                self.next();
                Ok((single_thread, order))
            }
            _ => self.error("a memory ordering"),
        }
    }

    /// `, align 4`
    fn align(&mut self) -> Parsed<Option<u32>> {
        if self.is(b',') && self.ahead(1).text == "align" {
            self.next();
            self.next();
            let align = u32::try_from(self.number()?).ok();
            return Ok(align.filter(|align| align.is_power_of_two()));
        }
        Ok(None)
    }

    /// After `call`: flags, convention, attributes of the result, type, callee, arguments.
    fn call(&mut self) -> Parsed<Operation> {
        self.skip_attributes()?;
        let mut result = self.value_type()?;
        let mut fixed = None;
        if self.is(b'(') {
            let Type::Function { result: of, params, variadic } = self.function_type(result)?
            else {
                return self.error("a function type before it");
            };
            result = of.as_ref().clone();
            fixed = variadic.then_some(params.len());
        }
        let callee = self.value(&Type::Pointer)?;
        let args = self.arguments()?;
        while self.peek().kind == Kind::AttributeGroup || self.at_call_attribute() {
            self.next();
        }
        if self.is(b'[') {
            self.skip_brackets();
        }
        let call = Call { callee, result, fixed, args };
        Ok(debug_call(&call).unwrap_or(Operation::Call(Box::new(call))))
    }

    /// A call, and where to go on after it: `to label %5 unwind label %9`. Nobody throws (what would is not
    /// supported where it is reached), so the other way is never taken.
    fn invoke(&mut self) -> Parsed<Operation> {
        let call = self.call()?;
        self.expect_word("to")?;
        self.goes_on = Some(self.label()?);
        self.expect_word("unwind")?;
        self.label()?;
        Ok(call)
    }

    /// Where exceptions arrive, with what is caught there on lines of its own.
    fn landing_pad(&mut self) -> Parsed<Operation> {
        self.ty()?;
        loop {
            if self.eat_word("catch") || self.eat_word("filter") {
                self.typed()?;
            } else if !self.eat_word("cleanup") {
                return Ok(Operation::Unknown { name: "landingpad".into(), terminator: false });
            }
        }
    }

    /// Attributes of a call that are written out after its arguments stand on its own line.
    fn at_call_attribute(&self) -> bool {
        const ATTRIBUTES: [&str; 8] = [
            "nounwind",
            "noreturn",
            "cold",
            "readnone",
            "readonly",
            "builtin",
            "nobuiltin",
            "willreturn",
        ];
        self.peek().kind == Kind::Word && ATTRIBUTES.contains(&self.peek().text)
    }

    fn arguments(&mut self) -> Parsed<Vec<Argument>> {
        self.expect(b'(')?;
        let mut args = Vec::new();
        while !self.eat(b')') {
            let ty = self.ty()?;
            let attributes = self.skip_attributes()?;
            let value = self.value(&ty)?;
            args.push(Argument {
                value: Typed { ty, value },
                by_value: attributes.by_value,
                defined: attributes.defined,
            });
            if !self.eat(b',') && !self.is(b')') {
                return self.error("',' or ')'");
            }
        }
        Ok(args)
    }

    fn debug_record(&mut self) -> Parsed<Operation> {
        let name = self.next().text;
        self.expect(b'(')?;
        let mut items = Vec::new();
        while !self.eat(b')') {
            items.push(self.metadata()?);
            if !self.eat(b',') && !self.is(b')') {
                return self.error("',' or ')'");
            }
        }
        let whole = matches!(items.get(2), Some(Metadata::Node(node)) if node.items.is_empty());
        let (value, variable) = match (items.first(), items.get(1)) {
            (Some(Metadata::Value(value)), Some(Metadata::Id(id))) if whole => {
                (Some(value.as_ref().clone()), Some(*id))
            }
            _ => (None, None),
        };
        Ok(Operation::Debug { value, variable, declares: name == "dbg_declare" })
    }
}

/// What attributes say that matters.
#[derive(Default)]
pub struct Attributes {
    pub by_value: Option<Type>,
    pub pointee: Option<Type>,
    pub defined: bool,
}

impl Cursor<'_> {
    /// Passes over attributes, conventions and flags, up to a type or a value.
    pub fn skip_attributes(&mut self) -> Parsed<Attributes> {
        let mut attributes = Attributes::default();
        while self.at_attribute() && !self.at_type() {
            let token = self.next();
            match (token.kind, token.text) {
                (Kind::Text, _) if self.eat(b'=') => {
                    self.text()?;
                }
                (_, "byval" | "sret") if self.eat(b'(') => {
                    let ty = self.ty()?;
                    self.expect(b')')?;
                    attributes.by_value = (token.text == "byval").then(|| ty.clone());
                    attributes.pointee = Some(ty);
                }
                (_, "noundef") => attributes.defined = true,
                (_, "align" | "cc") if self.peek().kind == Kind::Integer => {
                    self.next();
                }
                _ if self.is(b'(') => self.skip_brackets(),
                _ => {}
            }
        }
        Ok(attributes)
    }
}

/// Debug records as calls, the form before LLVM 19.
fn debug_call(call: &Call) -> Option<Operation> {
    let Value::Global(name) = &call.callee else {
        return None;
    };
    let declares = match name.as_ref() {
        "llvm.dbg.declare" => true,
        "llvm.dbg.value" => false,
        _ if name.starts_with("llvm.dbg.") => {
            return Some(Operation::Debug { value: None, variable: None, declares: false });
        }
        _ => return None,
    };
    let metadata = |index: usize| match &call.args.get(index)?.value.value {
        Value::Metadata(id, value) => Some((*id, value.as_deref())),
        _ => None,
    };
    let value = metadata(0).and_then(|(_, value)| value.cloned());
    let variable: Option<MetadataId> = metadata(1).and_then(|(id, _)| id);
    Some(Operation::Debug { value, variable, declares })
}

/// Whether an operation accesses memory at an address.
fn is_access(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Rmw { .. }
            | Operation::CompareExchange(_)
    )
}
