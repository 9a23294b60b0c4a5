//! Building functions: blocks are opened and closed behind the scenes, labels may be used
//! before they are placed.

use std::collections::{HashMap, HashSet};

use crate::{Block, BlockId, Expr, Function, Inst, InstKind, Span, Terminator, Var, VarId};

/// Builds one [`Function`], instruction by instruction in source order.
pub struct FunctionBuilder {
    name: String,
    params: u32,
    result: Option<u32>,
    vars: Vec<Var>,
    by_name: HashMap<String, VarId>,
    blocks: Vec<OpenBlock>,
    block_names: HashSet<String>,
    /// The block that instructions go to; after a jump, a fresh unreachable one.
    current: BlockId,
    span: Span,
    labels: HashMap<String, Label>,
}

struct OpenBlock {
    label: String,
    insts: Vec<Inst>,
    terminator: Option<(Terminator, Span)>,
}

struct Label {
    block: BlockId,
    placed: bool,
    /// Where the label was first mentioned.
    span: Span,
}

impl FunctionBuilder {
    pub fn new(name: &str) -> FunctionBuilder {
        let mut builder = FunctionBuilder {
            name: name.to_string(),
            params: 0,
            result: None,
            vars: Vec::new(),
            by_name: HashMap::new(),
            blocks: Vec::new(),
            block_names: HashSet::new(),
            current: BlockId(0),
            span: Span::default(),
            labels: HashMap::new(),
        };
        builder.current = builder.new_block("entry");
        builder
    }

    /// Adds a parameter; all parameters come before any other variable.
    pub fn param(&mut self, name: &str, width: u32) -> VarId {
        debug_assert_eq!(self.params as usize, self.vars.len());
        self.params += 1;
        self.var(name, width)
    }

    pub fn set_result(&mut self, width: u32) {
        self.result = Some(width);
    }

    /// The variable of that name, made on first use with that width.
    pub fn var(&mut self, name: &str, width: u32) -> VarId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = self.fresh(name, width);
        self.by_name.insert(name.to_string(), id);
        id
    }

    /// The variable of that name, if there is one.
    pub fn lookup(&self, name: &str) -> Option<VarId> {
        self.by_name.get(name).copied()
    }

    /// A new variable that shares its name with no other.
    pub fn temp(&mut self, width: u32) -> VarId {
        let name = format!("%{}", self.vars.len());
        self.fresh(&name, width)
    }

    fn fresh(&mut self, name: &str, width: u32) -> VarId {
        let id = VarId(self.vars.len() as u32);
        self.vars.push(Var { name: name.to_string(), width });
        id
    }

    pub fn width(&self, var: VarId) -> u32 {
        self.vars[var.0 as usize].width
    }

    /// Instructions from here on come from this place in the source.
    pub fn at(&mut self, span: Span) {
        self.span = span;
    }

    pub fn emit(&mut self, kind: InstKind) {
        let span = self.span;
        self.open().insts.push(Inst { kind, span });
    }

    pub fn assign(&mut self, dst: VarId, value: Expr) {
        self.emit(InstKind::Assign { dst, value });
    }

    /// A block not yet reached by anything; see [`FunctionBuilder::enter`].
    pub fn new_block(&mut self, label: &str) -> BlockId {
        let id = BlockId(self.blocks.len() as u32);
        let mut label = label.to_string();
        while !self.block_names.insert(label.clone()) {
            label = format!("{label}.{}", id.0);
        }
        self.blocks.push(OpenBlock { label, insts: Vec::new(), terminator: None });
        id
    }

    /// Continues in `block`; where the current block has no end yet, it falls through.
    pub fn enter(&mut self, block: BlockId) {
        let span = self.span;
        let open = &mut self.blocks[self.current.0 as usize];
        open.terminator.get_or_insert((Terminator::Jump(block), span));
        self.current = block;
    }

    /// Ends the current block, if it has no end yet. What is emitted next is unreachable until
    /// a block is entered.
    pub fn terminate(&mut self, terminator: Terminator) {
        let span = self.span;
        let current = &mut self.blocks[self.current.0 as usize];
        if current.terminator.is_none() {
            current.terminator = Some((terminator, span));
        }
    }

    /// Jumps to `then` where the one-bit condition is 1, and goes on in a fresh block where
    /// it is 0.
    pub fn branch(&mut self, condition: Expr, then: BlockId) {
        let next = self.new_block("next");
        self.terminate(Terminator::Branch { condition, then, otherwise: next, join: None });
        self.current = next;
    }

    /// The block of a label, placed already or later.
    pub fn label_block(&mut self, name: &str) -> BlockId {
        if let Some(label) = self.labels.get(name) {
            return label.block;
        }
        let block = self.new_block(name);
        self.labels.insert(name.to_string(), Label { block, placed: false, span: self.span });
        block
    }

    /// Puts a label here. False if it was placed before.
    pub fn place_label(&mut self, name: &str) -> bool {
        let block = self.label_block(name);
        let Some(label) = self.labels.get_mut(name) else {
            return false;
        };
        if label.placed {
            return false;
        }
        label.placed = true;
        self.enter(block);
        true
    }

    /// Labels that were jumped to and never placed, with the place of first mention.
    pub fn missing_labels(&self) -> Vec<(String, Span)> {
        let missing = self.labels.iter().filter(|(_, label)| !label.placed);
        let mut missing: Vec<_> = missing.map(|(name, label)| (name.clone(), label.span)).collect();
        missing.sort_by_key(|(_, span)| *span);
        missing
    }

    /// Blocks that were left open end the function.
    pub fn finish(self) -> Function {
        let blocks = self.blocks.into_iter().map(|open| {
            let (terminator, terminator_span) =
                open.terminator.unwrap_or((Terminator::Return(None), self.span));
            Block { label: open.label, insts: open.insts, terminator, terminator_span }
        });
        Function {
            name: self.name,
            params: self.params,
            vars: self.vars,
            result: self.result,
            registers: false,
            address: None,
            blocks: blocks.collect(),
        }
    }

    fn open(&mut self) -> &mut OpenBlock {
        if self.blocks[self.current.0 as usize].terminator.is_some() {
            self.current = self.new_block("unreachable");
        }
        &mut self.blocks[self.current.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_may_be_used_before_they_are_placed() {
        let mut builder = FunctionBuilder::new("f");
        let x = builder.var("x", 32);
        let end = builder.label_block("end");
        builder.branch(Expr::Var(x).eq(Expr::constant(32, 0)), end);
        builder.assign(x, Expr::constant(32, 1));
        assert_eq!(builder.missing_labels().len(), 1);
        assert!(builder.place_label("end"));
        assert!(!builder.place_label("end"));
        assert!(builder.missing_labels().is_empty());
        let function = builder.finish();
        assert_eq!(function.blocks.len(), 3);
        assert_eq!(function.blocks[2].terminator, Terminator::Jump(end));
    }
}
