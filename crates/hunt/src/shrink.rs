//! Makes a program small that still shows a disagreement, by trying whatever leaves something out or
//! makes something plainer (A. Zeller, R. Hildebrandt, Simplifying and isolating failure-inducing
//! input, IEEE TSE 2002, on a tree).

use std::time::{Duration, Instant};

use crate::ast::{Access, Expr, Order, Place, Program, Run, Shape, Stmt, Type};

/// Shrinks as long as the program fails, for so long at most.
pub fn shrink(
    program: &Program,
    time: Duration,
    mut fails: impl FnMut(&Program) -> bool,
) -> Program {
    let (mut best, started) = (program.clone(), Instant::now());
    let mut next = 0;
    // After a success it goes on where it was: what did not help before rarely helps now.
    let mut since_success = 0;
    let mut candidates = self::candidates(&best);
    loop {
        if since_success >= candidates.len() || started.elapsed() > time {
            return best;
        }
        let candidate = &candidates[next % candidates.len()];
        match *candidate != best && fails(candidate) {
            true => {
                best = candidate.clone();
                since_success = 0;
                candidates = self::candidates(&best);
            }
            false => {
                next += 1;
                since_success += 1;
            }
        }
    }
}

/// All programs that are one step plainer, the boldest steps first.
pub fn candidates(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for thread in 0..program.threads.len() {
        found.push(without_thread(program, thread));
    }
    edits(program, &mut found, &dropped);
    edits(program, &mut found, &opened);
    for global in 0..program.globals.len() {
        found.extend(without_global(program, global));
        plainer_global(program, global, &mut found);
    }
    edits(program, &mut found, &plainer);
    found.push(Program { detached: false, ..program.clone() });
    for local in 0..program.locals.len() {
        let mut other = program.clone();
        other.locals[local] = Type::U32;
        found.push(other);
    }
    found.retain(|other| other != program);
    found
}

/// A program with one thread less. A body that nobody runs any more goes with it.
fn without_thread(program: &Program, thread: usize) -> Program {
    let mut other = program.clone();
    let body = other.threads.remove(thread);
    if other.threads.contains(&body) {
        return other;
    }
    other.bodies.remove(body);
    for run in &mut other.threads {
        *run -= usize::from(*run > body);
    }
    each_statement(&mut other, &mut |statement| {
        if let Stmt::Run { body: run, .. } = statement {
            *run -= usize::from(*run > body);
        }
    });
    each_expression(&mut other, &mut |expression| {
        if let Expr::Result { thread, .. } = expression {
            match (*thread).cmp(&body) {
                std::cmp::Ordering::Equal => *expression = Expr::Const(0),
                std::cmp::Ordering::Greater => *thread -= 1,
                std::cmp::Ordering::Less => {}
            }
        }
    });
    other
}

/// A program with one variable less: what was done to it is done to the first.
fn without_global(program: &Program, global: usize) -> Option<Program> {
    if program.globals.len() < 2 {
        return None;
    }
    let mut other = program.clone();
    other.globals.remove(global);
    let renumber = |number: &mut usize| {
        if *number == global {
            *number = 0;
        } else {
            *number -= usize::from(*number > global);
        }
    };
    each_statement(&mut other, &mut |statement| {
        if let Some(
            Place::Global(number)
            | Place::Element { global: number, .. }
            | Place::Part { global: number, .. },
        ) = statement.place_mut()
        {
            renumber(number);
        }
        match statement {
            Stmt::Copy { to, from, .. } => [to, from].into_iter().for_each(renumber),
            Stmt::Fill { global, .. } | Stmt::Shift { global, .. } => renumber(global),
            _ => {}
        }
    });
    each_expression(&mut other, &mut |expression| {
        if let Expr::Final(number) = expression {
            renumber(number);
        }
    });
    Some(other)
}

fn plainer_global(program: &Program, global: usize, found: &mut Vec<Program>) {
    let mut change = |change: &dyn Fn(&mut crate::ast::Global)| {
        let mut other = program.clone();
        change(&mut other.globals[global]);
        found.push(other);
    };
    change(&|global| global.shape = Shape::Scalar(Type::U32));
    change(&|global| global.late = false);
    change(&|global| global.thread_local = false);
    // Atomic variables stay atomic: steps that undo one another never end.
    if program.globals[global].access == Access::Volatile {
        change(&|global| global.access = Access::Plain);
    }
    change(&|global| global.access = Access::Atomic);
    change(&|global| global.init = 0);
}

/// Where a statement is: the list, and the way from there.
type Way = Vec<usize>;

fn ways(statements: &[Stmt], before: &[usize], found: &mut Vec<Way>) {
    for (number, statement) in statements.iter().enumerate() {
        let way: Way = before.iter().copied().chain([number]).collect();
        for (body, inner) in statement.bodies().into_iter().enumerate() {
            let before: Way = way.iter().copied().chain([body]).collect();
            ways(inner, &before, found);
        }
        found.push(way);
    }
}

/// The list that holds the statement at a way, and its number there.
fn list_at<'a>(statements: &'a mut Vec<Stmt>, way: &[usize]) -> Option<(&'a mut Vec<Stmt>, usize)> {
    match way {
        [number] => Some((statements, *number)),
        [number, body, rest @ ..] => {
            let inner = statements.get_mut(*number)?.bodies_mut().into_iter().nth(*body)?;
            list_at(inner, rest)
        }
        [] => None,
    }
}

/// What takes the place of a statement.
type Edit = dyn Fn(&Stmt) -> Vec<Vec<Stmt>>;

/// All programs in which one statement is replaced.
fn edits(program: &Program, found: &mut Vec<Program>, edit: &Edit) {
    let count = program.bodies.len() + 2;
    for list in 0..count {
        let mut all = Vec::new();
        ways(list_of(&mut program.clone(), list), &[], &mut all);
        for way in all {
            let mut copy = program.clone();
            let Some((statements, number)) = list_at(list_of(&mut copy, list), &way) else {
                continue;
            };
            let Some(statement) = statements.get(number).cloned() else { continue };
            for replacement in edit(&statement) {
                let mut other = program.clone();
                if let Some((statements, number)) = list_at(list_of(&mut other, list), &way) {
                    statements.splice(number..=number, replacement);
                    found.push(other);
                }
            }
        }
    }
}

fn list_of(program: &mut Program, list: usize) -> &mut Vec<Stmt> {
    let bodies = program.bodies.len();
    match list {
        _ if list < bodies => &mut program.bodies[list],
        _ if list == bodies => &mut program.before,
        _ => &mut program.after,
    }
}

fn dropped(_: &Stmt) -> Vec<Vec<Stmt>> {
    vec![Vec::new()]
}

/// What is inside, without what is around it.
fn opened(statement: &Stmt) -> Vec<Vec<Stmt>> {
    statement.bodies().into_iter().filter(|body| !body.is_empty()).cloned().collect()
}

fn plainer(statement: &Stmt) -> Vec<Vec<Stmt>> {
    let mut found = Vec::new();
    let mut change = |change: &dyn Fn(&mut Stmt)| {
        let mut other = statement.clone();
        change(&mut other);
        found.push(vec![other]);
    };
    for (number, old) in statement.clone().orders_mut().into_iter().enumerate() {
        let simple: &[Order] = match old {
            Order::Relaxed => &[],
            Order::SeqCst => &[Order::Relaxed],
            _ => &[Order::Relaxed, Order::SeqCst],
        };
        for order in simple {
            change(&|other| {
                if let Some(found) = other.orders_mut().into_iter().nth(number) {
                    *found = *order;
                }
            });
        }
    }
    for (number, expression) in statement.clone().expressions_mut().into_iter().enumerate() {
        for simple in plainer_expressions(expression) {
            change(&|other| {
                if let Some(found) = other.expressions_mut().into_iter().nth(number) {
                    *found = simple.clone();
                }
            });
        }
    }
    if let Some(Place::Element { global, .. } | Place::Part { global, .. }) = statement.place() {
        change(&|other| {
            if let Some(place) = other.place_mut() {
                *place = Place::Global(*global);
            }
        });
    }
    match statement {
        Stmt::Rmw { place, value, order, .. } => {
            found.push(vec![Stmt::Store { to: place.clone(), value: value.clone(), order: *order }])
        }
        Stmt::Cas { weak: true, .. } => change(&|other| {
            if let Stmt::Cas { weak, .. } = other {
                *weak = false;
            }
        }),
        Stmt::Wait { style, to, place, order, until, .. } => {
            found.push(vec![Stmt::Wait {
                style: *style,
                to: *to,
                place: place.clone(),
                order: *order,
                until: *until,
                body: Vec::new(),
            }]);
            let (to, from, order) = (*to, place.clone(), *order);
            found.push(vec![Stmt::Load { to, from, order }]);
        }
        Stmt::Retry { to, place, order, .. } => {
            let (to, from, order) = (*to, place.clone(), *order);
            found.push(vec![Stmt::Load { to, from, order }]);
        }
        Stmt::Allocate { pointer, zeroed, open: true } => {
            let (pointer, zeroed) = (*pointer, *zeroed);
            found.push(vec![Stmt::Allocate { pointer, zeroed, open: false }]);
        }
        Stmt::Input { to, .. } => {
            found.push(vec![Stmt::Set { to: *to, value: Expr::Const(1) }]);
        }
        Stmt::Run { how, .. } if how.is_through_table() => change(&|other| {
            if let Stmt::Run { how, .. } = other {
                *how = if how.is_thread() { Run::Thread } else { Run::Call };
            }
        }),
        Stmt::Own { to, kind, on_heap, steps } => {
            for number in 0..steps.len() {
                let mut steps = steps.clone();
                steps.remove(number);
                found.push(vec![Stmt::Own { to: *to, kind: *kind, on_heap: *on_heap, steps }]);
            }
        }
        Stmt::Locked { lock, attempt: true, body } => {
            found.push(vec![Stmt::Locked { lock: *lock, attempt: false, body: body.clone() }]);
        }
        _ => {}
    }
    found
}

fn plainer_expressions(expression: &Expr) -> Vec<Expr> {
    let mut found = Vec::new();
    match expression {
        Expr::Const(0) => {}
        Expr::Const(1) => found.push(Expr::Const(0)),
        Expr::Const(_) => found.extend([Expr::Const(0), Expr::Const(1)]),
        Expr::Binary(op, left, right) => {
            found.extend([(**left).clone(), (**right).clone()]);
            for left in plainer_expressions(left) {
                found.push(Expr::binary(*op, left, (**right).clone()));
            }
            for right in plainer_expressions(right) {
                found.push(Expr::binary(*op, (**left).clone(), right));
            }
        }
        Expr::Not(inner) => {
            found.extend(plainer_expressions(inner).into_iter().map(|e| Expr::Not(Box::new(e))));
        }
        Expr::Cast(_, inner) => found.push((**inner).clone()),
        Expr::Local(_) | Expr::Counter | Expr::Argument | Expr::Result { .. } | Expr::Final(_) => {
            found.extend([Expr::Const(0), Expr::Const(1)]);
        }
    }
    found
}

fn each_statement(program: &mut Program, change: &mut dyn FnMut(&mut Stmt)) {
    fn visit(statements: &mut [Stmt], change: &mut dyn FnMut(&mut Stmt)) {
        for statement in statements {
            change(statement);
            for body in statement.bodies_mut() {
                visit(body, change);
            }
        }
    }
    for list in 0..program.bodies.len() + 2 {
        visit(list_of(program, list), change);
    }
}

fn each_expression(program: &mut Program, change: &mut dyn FnMut(&mut Expr)) {
    fn visit(expression: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
        change(expression);
        match expression {
            Expr::Not(inner) | Expr::Cast(_, inner) => visit(inner, change),
            Expr::Binary(_, left, right) => {
                visit(left, change);
                visit(right, change);
            }
            _ => {}
        }
    }
    each_statement(program, &mut |statement| {
        statement.expressions_mut().into_iter().for_each(|expression| visit(expression, change));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;
    use crate::print_c::print;
    use crate::random::Random;

    #[test]
    fn what_matters_is_left() {
        let time = Duration::from_secs(60);
        let is_fence = |statement: &&Stmt| matches!(statement, Stmt::Fence(_));
        let mut tried = 0;
        for number in 0..50 {
            let program = generate(&mut Random::of(5, number), &[]);
            let fences =
                |program: &Program| program.statements().iter().filter(|s| is_fence(s)).count();
            if fences(&program) == 0 {
                continue;
            }
            tried += 1;
            let small = shrink(&program, time, |program| fences(program) > 0);
            assert_eq!(small.statements().len(), 1, "{}", print(&small));
            assert_eq!(small.globals.len(), 1);
        }
        assert!(tried > 5);
    }
}
