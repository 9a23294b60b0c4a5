//! Fewer blocks with the same instructions: jumps over empty blocks, and blocks joined to the
//! only one that leads to them. Instructions, and the order in which they run, stay as they are.

use parallax_program::{Block, BlockId, Function, Terminator};

/// Done after the joins of branches are set.
pub fn tidy(function: &mut Function) {
    let targets = destinations(function);
    for block in &mut function.blocks {
        for target in references(&mut block.terminator) {
            *target = targets[target.0 as usize];
        }
    }
    remove_unreachable(function);
    merge(function);
    remove_unreachable(function);
}

/// Where a jump to each block leads in the end. Empty blocks that go round in a circle lead to one of
/// them.
fn destinations(function: &Function) -> Vec<BlockId> {
    let mut known: Vec<Option<BlockId>> = vec![None; function.blocks.len()];
    for block in 0..function.blocks.len() {
        let mut path = Vec::new();
        let mut at = block;
        let end = loop {
            if let Some(end) = known[at] {
                break end;
            }
            known[at] = Some(BlockId(at as u32));
            path.push(at);
            match &function.blocks[at] {
                Block { insts, terminator: Terminator::Jump(next), .. } if insts.is_empty() => {
                    at = next.0 as usize;
                }
                _ => break BlockId(at as u32),
            }
        };
        path.into_iter().for_each(|passed| known[passed] = Some(end));
    }
    known.into_iter().flatten().collect()
}

fn references(terminator: &mut Terminator) -> Vec<&mut BlockId> {
    match terminator {
        Terminator::Jump(target) => vec![target],
        Terminator::Branch { then, otherwise, join, .. } => {
            [then, otherwise].into_iter().chain(join.as_mut()).collect()
        }
        Terminator::Return(_) | Terminator::Exit => Vec::new(),
    }
}

/// Joins a block to the one that jumps to it, if nothing else refers to it.
fn merge(function: &mut Function) {
    let mut count = vec![0; function.blocks.len()];
    for block in &mut function.blocks {
        references(&mut block.terminator).into_iter().for_each(|t| count[t.0 as usize] += 1);
    }
    for block in 0..function.blocks.len() {
        while let Terminator::Jump(next) = function.blocks[block].terminator {
            let next = next.0 as usize;
            if next == block || next == 0 || count[next] != 1 {
                break;
            }
            count[next] = 0;
            let insts = std::mem::take(&mut function.blocks[next].insts);
            let exit = std::mem::replace(&mut function.blocks[next].terminator, Terminator::Exit);
            let span = function.blocks[next].terminator_span;
            let merged = &mut function.blocks[block];
            merged.insts.extend(insts);
            merged.terminator = exit;
            merged.terminator_span = span;
        }
    }
}

fn remove_unreachable(function: &mut Function) {
    let mut reached = vec![false; function.blocks.len()];
    let mut open = vec![0];
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut reached[block], true) {
            let terminator = &mut function.blocks[block].terminator;
            open.extend(references(terminator).into_iter().map(|target| target.0 as usize));
        }
    }
    let mut kept = 0;
    let numbers: Vec<u32> = reached
        .iter()
        .map(|reached| {
            kept += u32::from(*reached);
            kept.saturating_sub(1)
        })
        .collect();
    let mut reached = reached.iter();
    function.blocks.retain(|_| reached.next() == Some(&true));
    for block in &mut function.blocks {
        for target in references(&mut block.terminator) {
            target.0 = numbers[target.0 as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    fn tidied(body: &str) -> String {
        let text = format!("program p pointers 64\n\nfn f(c: 1) {{\n{body}\n}}\n");
        let mut program = parse_program("p", &text).unwrap();
        tidy(&mut program.functions[0]);
        assert!(program.check().is_ok());
        let text = program.to_string();
        let lines = text.lines().skip(3).map(str::trim).filter(|line| *line != "}");
        lines.collect::<Vec<_>>().join("|")
    }

    #[test]
    fn empty_blocks_are_jumped_over_and_chains_joined() {
        let body = "jump a\na: fence [x]\njump b\nb: jump d\nd: fence [y]\nreturn\ndead: return";
        assert_eq!(tidied(body), "entry:|fence [x]|fence [y]|return");
    }

    #[test]
    fn loops_stay() {
        assert_eq!(tidied("jump a\na: jump a"), "entry:|jump a|a:|jump a");
        assert_eq!(tidied("jump a\na: jump b\nb: jump a"), "entry:|jump a|a:|jump a");
        let body = "jump h\nh: branch c, b, x join x\nb: fence [x]\njump e\ne: jump h\nx: return";
        let expected = "entry:|jump h|h:|branch c, b, x join x|b:|fence [x]|jump h|x:|return";
        assert_eq!(tidied(body), expected);
    }
}
