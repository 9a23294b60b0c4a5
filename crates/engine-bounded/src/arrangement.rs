//! The blocks of a function in an order in which ways through it can be followed together.
//!
//! Every edge leads forward but those back to the head of a loop, and each loop is in one piece,
//! head first: a weak topological order (F. Bourdoncle, Efficient chaotic iteration strategies
//! with widenings, FMPA 1993). Whoever always goes on with the way that is least advanced comes to
//! a block only when all ways that lead there in this round of its loops have arrived.

use parallax_program::{Function, Terminator};

use crate::components::components;

/// The blocks of one function, arranged.
#[derive(Debug)]
pub struct Arrangement {
    /// For each block its place in the order; unreachable blocks have none.
    places: Vec<u32>,
    /// For each block the heads of the loops that it is in, outermost first.
    loops: Vec<Box<[u32]>>,
}

/// What is left to arrange.
enum Task {
    /// Blocks that lead to one another only through what was arranged before, and those of them
    /// to begin with.
    Region {
        blocks: Vec<u32>,
        entries: Vec<u32>,
        heads: Vec<u32>,
    },
    Block {
        block: u32,
        heads: Vec<u32>,
    },
}

impl Arrangement {
    pub fn of(function: &Function) -> Arrangement {
        let successors: Vec<Vec<u32>> =
            function.blocks.iter().map(|block| targets(&block.terminator)).collect();
        let count = successors.len();
        let mut arrangement =
            Arrangement { places: vec![u32::MAX; count], loops: vec![Box::default(); count] };
        let mut next = 0;
        let blocks = (0..count as u32).collect();
        let mut tasks = vec![Task::Region { blocks, entries: vec![0], heads: Vec::new() }];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Block { block, heads } => {
                    arrangement.places[block as usize] = next;
                    arrangement.loops[block as usize] = heads.into();
                    next += 1;
                }
                Task::Region { blocks, entries, heads } => {
                    // The first components come out of the search last, as they do of the stack.
                    for component in components(&successors, &blocks, &entries) {
                        push(&mut tasks, &successors, component, &heads);
                    }
                }
            }
        }
        arrangement
    }

    pub fn place(&self, block: u32) -> u32 {
        self.places.get(block as usize).copied().unwrap_or(u32::MAX)
    }

    /// The heads of the loops that a block is in, outermost first.
    pub fn loops(&self, block: u32) -> &[u32] {
        self.loops.get(block as usize).map_or(&[], |heads| heads)
    }
}

/// A component becomes a block, or the head of a loop and what else is in it.
fn push(tasks: &mut Vec<Task>, successors: &[Vec<u32>], component: Vec<u32>, heads: &[u32]) {
    let Some(head) = component.first().copied() else {
        return;
    };
    let is_loop = component.len() > 1 || successors[head as usize].contains(&head);
    let mut heads = heads.to_vec();
    if is_loop {
        heads.push(head);
        let blocks = component[1..].to_vec();
        let entries = successors[head as usize].clone();
        tasks.push(Task::Region { blocks, entries, heads: heads.clone() });
    }
    tasks.push(Task::Block { block: head, heads });
}

pub fn targets(terminator: &Terminator) -> Vec<u32> {
    match terminator {
        Terminator::Jump(target) => vec![target.0],
        Terminator::Branch { then, otherwise, .. } => vec![then.0, otherwise.0],
        Terminator::Return(_) | Terminator::Exit => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    fn arranged(body: &str) -> (Vec<u32>, Vec<Vec<u32>>) {
        let text = format!("program p pointers 64\nfn f(c: 1) {{\n{body}}}\n");
        let program = parse_program("p", &text).expect("a program");
        let arrangement = Arrangement::of(&program.functions[0]);
        let blocks = 0..program.functions[0].blocks.len() as u32;
        let loops = blocks.clone().map(|block| arrangement.loops(block).to_vec()).collect();
        (blocks.map(|block| arrangement.place(block)).collect(), loops)
    }

    #[test]
    fn arms_come_before_the_join() {
        let (places, loops) = arranged("branch c, a, b\nj:\nreturn\na:\njump j\nb:\njump j\n");
        assert_eq!(places[0], 0);
        assert_eq!(places[1], 3);
        assert!(loops.iter().all(Vec::is_empty));
    }

    #[test]
    fn loops_are_in_one_piece() {
        // 1 is the head of the outer loop, 2 that of the inner one, 4 is behind both.
        let (places, loops) = arranged(
            "jump outer\nouter:\nbranch c, inner, end\ninner:\nbranch c, body, outer\nbody:\n\
             jump inner\nend:\nreturn\n",
        );
        assert_eq!(places, [0, 1, 2, 3, 4]);
        assert_eq!(loops, [vec![], vec![1], vec![1, 2], vec![1, 2], vec![]]);
    }
}
