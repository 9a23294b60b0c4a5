//! The registers of a thread, in the order in which every lifted function has them as its first
//! variables: general registers, segment bases, flags (one bit each), vector registers, control.

use iced_x86::Register;
use parallax_program::{Var, VarId};

pub const RAX: VarId = VarId(0);
pub const RCX: VarId = VarId(1);
pub const RDX: VarId = VarId(2);
pub const RBX: VarId = VarId(3);
pub const RSP: VarId = VarId(4);
pub const RBP: VarId = VarId(5);
pub const RSI: VarId = VarId(6);
pub const RDI: VarId = VarId(7);
pub const FS_BASE: VarId = VarId(16);
pub const GS_BASE: VarId = VarId(17);
pub const CF: VarId = VarId(18);
pub const PF: VarId = VarId(19);
pub const AF: VarId = VarId(20);
pub const ZF: VarId = VarId(21);
pub const SF: VarId = VarId(22);
pub const OF: VarId = VarId(23);
pub const DF: VarId = VarId(24);
pub const XMM0: VarId = VarId(25);
pub const MXCSR: VarId = VarId(41);

/// How many variables are registers.
pub const COUNT: u32 = 42;

/// The status flags: what arithmetic sets, and no convention keeps across calls.
pub const STATUS: [VarId; 6] = [CF, PF, AF, ZF, SF, OF];

const NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
];

/// All registers of a thread, as variables.
pub fn registers() -> Vec<Var> {
    let var = |name: &str, width| Var { name: name.to_string(), width };
    let general = NAMES.iter().map(|name| var(name, 64));
    let bases = ["fsbase", "gsbase"].into_iter().map(|name| var(name, 64));
    let flags = ["cf", "pf", "af", "zf", "sf", "of", "df"].into_iter().map(|name| var(name, 1));
    let vectors = (0..16).map(|number| var(&format!("xmm{number}"), 128));
    general.chain(bases).chain(flags).chain(vectors).chain([var("mxcsr", 32)]).collect()
}

/// Some bits of a register, as an instruction names them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    pub var: VarId,
    pub low: u32,
    pub width: u32,
}

impl View {
    /// The bits that a name stands for; none for registers that are not modelled.
    pub fn of(register: Register) -> Option<View> {
        let number = register.full_register().number() as u32;
        if register.is_gpr() {
            let high =
                matches!(register, Register::AH | Register::CH | Register::DH | Register::BH);
            let (low, width) = (if high { 8 } else { 0 }, register.size() as u32 * 8);
            return Some(View { var: VarId(RAX.0 + number), low, width });
        }
        if register.is_xmm() && number < 16 {
            return Some(View { var: VarId(XMM0.0 + number), low: 0, width: 128 });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        let registers = registers();
        assert_eq!(registers.len(), COUNT as usize);
        let named = [(RSP, "rsp"), (FS_BASE, "fsbase"), (CF, "cf"), (DF, "df"), (MXCSR, "mxcsr")];
        for (var, name) in named {
            assert_eq!(registers[var.0 as usize].name, name);
        }
        let view = |register| View::of(register).expect("a register");
        assert_eq!(view(Register::AH), View { var: RAX, low: 8, width: 8 });
        assert_eq!(view(Register::SIL), View { var: RSI, low: 0, width: 8 });
        assert_eq!(view(Register::R15D), View { var: VarId(15), low: 0, width: 32 });
        assert_eq!(view(Register::XMM3), View { var: VarId(XMM0.0 + 3), low: 0, width: 128 });
        assert_eq!(View::of(Register::YMM3), None);
        assert_eq!(View::of(Register::ES), None);
    }
}
