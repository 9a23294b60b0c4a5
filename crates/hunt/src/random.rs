//! Random numbers that are the same for the same seed, on every machine and for ever.
//!
//! The generator is SplitMix64 (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number
//! generators, OOPSLA 2014).

#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of one program of a run.
    pub fn of(seed: u64, program: u64) -> Random {
        let mut random = Random(seed);
        let start = random.draw();
        Random(start ^ program.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below the limit, which is not zero.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.draw() % limit.max(1) as u64) as usize
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.draw() % 100 < percent
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let index = self.below(choices.len());
        &choices[index]
    }

    /// One of some things, by their weights.
    pub fn weighted<T: Copy>(&mut self, choices: &[(u32, T)]) -> Option<T> {
        let sum: u32 = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(sum as usize) as u32;
        for (weight, choice) in choices {
            if left < *weight {
                return Some(*choice);
            }
            left -= weight;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_decide() {
        let numbers = |seed, program| {
            let mut random = Random::of(seed, program);
            [random.draw(), random.draw()]
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
    }

    #[test]
    fn weights_of_zero_are_never_taken() {
        let mut random = Random::of(1, 1);
        for _ in 0..100 {
            assert_eq!(random.weighted(&[(0, 'a'), (2, 'b'), (0, 'c')]), Some('b'));
        }
    }
}
