//! Strongly connected components of a graph.

/// The strongly connected components of some nodes, last ones first, as far as they can be
/// reached from the entries (R. Tarjan, Depth-first search and linear graph algorithms, 1972). The
/// first node of each is where it is entered.
pub fn components(successors: &[Vec<u32>], nodes: &[u32], entries: &[u32]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let mut inside = vec![false; successors.len()];
    nodes.iter().for_each(|node| inside[*node as usize] = true);
    let mut number = vec![NEW; successors.len()];
    let mut low = vec![0; successors.len()];
    let mut open: Vec<u32> = Vec::new();
    let mut is_open = vec![false; successors.len()];
    let mut found = Vec::new();
    let mut next = 0;
    for entry in entries.iter().filter(|entry| inside[**entry as usize]) {
        if number[*entry as usize] != NEW {
            continue;
        }
        let mut path = vec![(*entry, 0)];
        while let Some((node, child)) = path.pop() {
            let at = node as usize;
            if child == 0 {
                (number[at], low[at]) = (next, next);
                next += 1;
                open.push(node);
                is_open[at] = true;
            }
            let target = successors[at].get(child).copied();
            if let Some(target) = target {
                path.push((node, child + 1));
                let to = target as usize;
                if inside[to] && number[to] == NEW {
                    path.push((target, 0));
                } else if is_open[to] {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            if let Some((parent, _)) = path.last() {
                low[*parent as usize] = low[*parent as usize].min(low[at]);
            }
            if low[at] == number[at] {
                let start = open.iter().rposition(|other| *other == node).unwrap_or(0);
                let component = open.split_off(start);
                component.iter().for_each(|member| is_open[*member as usize] = false);
                found.push(component);
            }
        }
    }
    found
}
