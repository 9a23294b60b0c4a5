//! Statements.

use parallax_program::{BlockId, Span, Terminator};

use super::places::Place;
use super::{Label, Loop, Lowered, Lowering};
use crate::c::ast::{Declaration, Expr as Tree, Stmt, StmtKind};

impl<'a> Lowering<'a> {
    /// Lowers statements in order. What is wrong with one of them is reported; the others
    /// are looked at all the same.
    pub(super) fn statements(&mut self, list: &'a [Stmt]) {
        for statement in list {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        self.builder.at(statement.span);
        if let Err(error) = self.try_statement(statement) {
            self.errors.push(error);
        }
    }

    fn try_statement(&mut self, statement: &'a Stmt) -> Lowered<()> {
        match &statement.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(expr) => {
                self.value(expr)?;
            }
            StmtKind::Declare(list) => {
                for declaration in list {
                    self.declaration(declaration)?;
                }
            }
            StmtKind::Block(list) => self.statements(list),
            StmtKind::If(condition, then, otherwise) => {
                self.if_statement(condition, then, otherwise.as_deref())?;
            }
            StmtKind::While(condition, body) => {
                self.for_loop(Some(condition), None, body)?;
            }
            StmtKind::DoWhile(body, condition) => self.do_while(body, condition)?,
            StmtKind::For { init, condition, step, body } => {
                self.statement(init);
                self.for_loop(condition.as_ref(), step.as_ref(), body)?;
            }
            StmtKind::Break => self.leave_loop(statement.span, "break", |l| l.exit)?,
            StmtKind::Continue => self.leave_loop(statement.span, "continue", |l| l.next)?,
            StmtKind::Return(value) => self.return_statement(statement.span, value.as_ref())?,
            StmtKind::Goto(name) => {
                let block = self.label(name, statement.span);
                self.builder.terminate(Terminator::Jump(block));
            }
            StmtKind::Label(name, labelled) => {
                self.place_label(name, statement.span)?;
                self.statement(labelled);
            }
        }
        Ok(())
    }

    fn declaration(&mut self, declaration: &'a Declaration) -> Lowered<()> {
        let name = &declaration.name;
        if self.location(name).is_some() {
            let message = format!("'{name}' is a parameter already");
            return Err(self.error(declaration.span, message));
        }
        if !declaration.ty.is_scalar() {
            let message = format!("'{name}': variables of this type must be shared");
            return Err(self.error(declaration.span, message));
        }
        let variable = self.declare(name, declaration.ty.clone());
        if variable.ty != declaration.ty {
            let message = format!("'{name}' was declared with another type before");
            return Err(self.error(declaration.span, message));
        }
        if let Some(init) = &declaration.init {
            let value = self.scalar(init)?;
            self.builder.at(declaration.span.to(init.span));
            self.write(&Place::Local(variable), value);
        }
        Ok(())
    }

    fn if_statement(
        &mut self,
        condition: &'a Tree,
        then: &'a Stmt,
        otherwise: Option<&'a Stmt>,
    ) -> Lowered<()> {
        let yes = self.builder.new_block("then");
        let end = self.builder.new_block("end");
        let no = match otherwise {
            Some(_) => self.builder.new_block("else"),
            None => end,
        };
        let judged = self.branch_on(condition, yes, no);
        self.builder.enter(yes);
        self.statement(then);
        if let Some(otherwise) = otherwise {
            self.builder.terminate(Terminator::Jump(end));
            self.builder.enter(no);
            self.statement(otherwise);
        }
        self.builder.enter(end);
        judged
    }

    fn for_loop(
        &mut self,
        condition: Option<&'a Tree>,
        step: Option<&'a Tree>,
        body: &'a Stmt,
    ) -> Lowered<()> {
        let head = self.builder.new_block("loop");
        let inside = self.builder.new_block("body");
        let exit = self.builder.new_block("done");
        let next = match step {
            Some(_) => self.builder.new_block("step"),
            None => head,
        };
        self.builder.enter(head);
        let judged = match condition {
            Some(condition) => self.branch_on(condition, inside, exit),
            None => Ok(()),
        };
        self.builder.enter(inside);
        self.loop_body(body, next, exit);
        if let Some(step) = step {
            self.builder.enter(next);
            if let Err(error) = self.value(step) {
                self.errors.push(error);
            }
        }
        self.builder.terminate(Terminator::Jump(head));
        self.builder.enter(exit);
        judged
    }

    fn do_while(&mut self, body: &'a Stmt, condition: &'a Tree) -> Lowered<()> {
        let head = self.builder.new_block("loop");
        let next = self.builder.new_block("again");
        let exit = self.builder.new_block("done");
        self.builder.enter(head);
        self.loop_body(body, next, exit);
        self.builder.enter(next);
        let judged = self.branch_on(condition, head, exit);
        self.builder.enter(exit);
        judged
    }

    fn loop_body(&mut self, body: &'a Stmt, next: BlockId, exit: BlockId) {
        self.frame().loops.push(Loop { next, exit });
        self.statement(body);
        self.frame().loops.pop();
    }

    fn leave_loop(
        &mut self,
        span: Span,
        word: &str,
        target: impl FnOnce(&Loop) -> BlockId,
    ) -> Lowered<()> {
        let Some(target) = self.frame().loops.last().map(target) else {
            return Err(self.error(span, format!("'{word}' outside of a loop")));
        };
        self.builder.terminate(Terminator::Jump(target));
        Ok(())
    }

    fn return_statement(&mut self, span: Span, value: Option<&'a Tree>) -> Lowered<()> {
        let value = value.map(|value| self.scalar(value)).transpose()?;
        self.builder.at(span);
        let back = self.frame().back.clone();
        let terminator = match back {
            None => Terminator::Return(None),
            Some((block, result)) => {
                match (result, value) {
                    (Some(result), Some(value)) => {
                        self.write(&Place::Local(result), value);
                    }
                    (None, None) => {}
                    (Some(_), None) => {
                        return Err(self.error(span, "this function must return a value"));
                    }
                    (None, Some(_)) => {
                        return Err(self.error(span, "this function returns no value"));
                    }
                }
                Terminator::Jump(block)
            }
        };
        self.builder.terminate(terminator);
        Ok(())
    }

    fn label(&mut self, name: &str, span: Span) -> BlockId {
        if let Some(label) = self.frame().labels.get(name) {
            return label.block;
        }
        let block = self.builder.new_block(name);
        let label = Label { block, placed: false, span };
        self.frame().labels.insert(name.to_string(), label);
        block
    }

    fn place_label(&mut self, name: &str, span: Span) -> Lowered<()> {
        let block = self.label(name, span);
        match self.frame().labels.get_mut(name) {
            Some(label) if !label.placed => label.placed = true,
            _ => return Err(self.error(span, format!("label '{name}' is placed twice"))),
        }
        self.builder.enter(block);
        Ok(())
    }
}
