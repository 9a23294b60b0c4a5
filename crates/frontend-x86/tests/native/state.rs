//! What an instruction starts from and leaves: registers, flags and a window of memory. The
//! numbers agree with `harness.c`.

pub const CODE: u64 = 0x2a5b_c000;
pub const DATA: u64 = 0x1000_0000;
pub const PAGE: u64 = 4096;
pub const WINDOW: u64 = 0x600;
pub const WINDOW_SIZE: usize = 512;
pub const GS_BASE: u64 = DATA + 0x123;

/// Where flags are in the flags word, in the order of the lifter's registers.
pub const FLAG_BITS: [(&str, u32); 7] =
    [("cf", 0), ("pf", 2), ("af", 4), ("zf", 6), ("sf", 7), ("of", 11), ("df", 10)];

#[derive(Clone, PartialEq, Eq)]
pub struct State {
    pub general: [u64; 16],
    pub rip: u64,
    pub flags: u64,
    pub vector: [u128; 16],
    pub window: [u8; WINDOW_SIZE],
}

impl State {
    pub fn zero() -> State {
        let (vector, window) = ([0; 16], [0; WINDOW_SIZE]);
        State { general: [0; 16], rip: 0, flags: 0, vector, window }
    }

    pub const BYTES: usize = 18 * 8 + 16 * 16 + WINDOW_SIZE;

    pub fn write(&self, to: &mut Vec<u8>) {
        let words = self.general.iter().chain([&self.rip, &self.flags]);
        words.for_each(|word| to.extend(word.to_le_bytes()));
        self.vector.iter().for_each(|vector| to.extend(vector.to_le_bytes()));
        to.extend(self.window);
    }

    pub fn read(from: &[u8]) -> State {
        let word = |at: usize| u64::from_le_bytes(from[at..at + 8].try_into().expect("a word"));
        let vector = |at: usize| u128::from_le_bytes(from[at..at + 16].try_into().expect("words"));
        let vectors = 18 * 8;
        State {
            general: std::array::from_fn(|number| word(number * 8)),
            rip: word(16 * 8),
            flags: word(17 * 8),
            vector: std::array::from_fn(|number| vector(vectors + number * 16)),
            window: from[vectors + 256..Self::BYTES].try_into().expect("a window"),
        }
    }
}
