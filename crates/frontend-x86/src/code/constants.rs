//! Registers whose values are plain to see: within a block, those that were just set to a
//! constant. Assertions have their texts from here, and the library learns what it is asked for.

use std::collections::HashMap;

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

pub struct Constants {
    known: HashMap<Register, u64>,
    info: InstructionInfoFactory,
}

impl Constants {
    pub fn new() -> Constants {
        Constants { known: HashMap::new(), info: InstructionInfoFactory::new() }
    }

    /// The value of a 64-bit register, if it is known here.
    pub fn get(&self, register: Register) -> Option<u64> {
        self.known.get(&register).copied()
    }

    /// Nothing is known any more.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// An instruction is executed.
    pub fn step(&mut self, instruction: &Instruction) {
        let value = self.value(instruction);
        let used = self.info.info(instruction).used_registers();
        for register in used {
            if !matches!(register.access(), OpAccess::Read | OpAccess::CondRead) {
                self.known.remove(&register.register().full_register());
            }
        }
        if let Some((register, value)) = value {
            self.known.insert(register, value);
        }
    }

    /// The register that becomes a constant, and which.
    fn value(&self, instruction: &Instruction) -> Option<(Register, u64)> {
        if instruction.op_count() != 2 || instruction.op0_kind() != OpKind::Register {
            return None;
        }
        let target = instruction.op0_register();
        let full = target.full_register();
        if !target.is_gpr() || target.size() < 4 {
            return None;
        }
        let value = match (instruction.mnemonic(), instruction.op1_kind()) {
            (Mnemonic::Mov, OpKind::Register) => {
                self.get(instruction.op1_register().full_register())?
            }
            (Mnemonic::Mov, OpKind::Memory) => return None,
            (Mnemonic::Mov, _) => instruction.immediate(1),
            (Mnemonic::Lea, _) if instruction.is_ip_rel_memory_operand() => {
                instruction.ip_rel_memory_address()
            }
            (Mnemonic::Xor | Mnemonic::Sub, OpKind::Register)
                if instruction.op1_register() == target =>
            {
                0
            }
            _ => return None,
        };
        Some((full, if target.size() == 4 { value & 0xffff_ffff } else { value }))
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    #[test]
    fn what_is_plain_to_see() {
        // xor esi,esi; mov edi,7; mov rdx,rdi; lea rcx,[rip+1]; mov r8d,-1; inc edi
        let code = [
            0x31, 0xf6, 0xbf, 7, 0, 0, 0, 0x48, 0x89, 0xfa, 0x48, 0x8d, 0x0d, 1, 0, 0, 0, 0x41,
            0xb8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc7,
        ];
        let mut constants = Constants::new();
        for instruction in Decoder::with_ip(64, &code, 0x1000, DecoderOptions::NONE) {
            constants.step(&instruction);
        }
        assert_eq!(constants.get(Register::RSI), Some(0));
        assert_eq!(constants.get(Register::RDI), None);
        assert_eq!(constants.get(Register::RDX), Some(7));
        assert_eq!(constants.get(Register::RCX), Some(0x1012));
        assert_eq!(constants.get(Register::R8), Some(0xffff_ffff));
    }
}
