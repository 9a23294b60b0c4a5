//! Fingerprints: 128 bits that stand for a state.
//!
//! Two lanes of multiply-and-fold over 64-bit words. States are distinguished by their fingerprints
//! alone: among n states the chance that two different ones look alike is about n²/2¹²⁹, less than
//! 10⁻¹⁸ for ten billion (hash compaction, U. Stern and D. Dill, CHARME 1995).

/// A fingerprint that words are added to one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest(u64, u64);

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xc2b2_ae3d_27d4_eb4f;

fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

impl Digest {
    pub fn new(kind: u64) -> Digest {
        let mut digest = Digest(0x2545_f491_4f6c_dd1d, 0x1656_67b1_9e37_79f9);
        digest.add(kind);
        digest
    }

    pub fn add(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, FIRST).rotate_left(29) ^ self.1;
        self.1 = fold(self.1 ^ word.rotate_left(32), SECOND).wrapping_add(self.0);
    }

    pub fn add_wide(&mut self, value: u128) {
        self.add(value as u64);
        let high = (value >> 64) as u64;
        if high != 0 {
            self.add(high ^ FIRST);
        }
    }

    pub fn finish(mut self) -> u128 {
        self.add(SECOND);
        self.add(FIRST);
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

/// Fingerprints are spread well as they are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spread(u64);

impl std::hash::Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, fingerprint: u128) {
        self.0 ^= fingerprint as u64;
    }
}

/// The fingerprint of a few words.
pub(crate) fn fingerprint<const N: usize>(kind: u64, words: [u64; N]) -> u128 {
    let mut digest = Digest::new(kind);
    words.into_iter().for_each(|word| digest.add(word));
    digest.finish()
}
