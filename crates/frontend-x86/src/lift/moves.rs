//! Moves between general registers and memory.

use iced_x86::Mnemonic;

use super::{Lifted, Step};

impl Step<'_> {
    pub fn moves(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Mov => self.mov()?,
            Mnemonic::Lea => self.lea()?,
            Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Pause => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn mov(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        let place = self.place(0)?;
        self.write(&place, value);
        Ok(())
    }

    fn lea(&mut self) -> Lifted<()> {
        let address = self.offset()?;
        let place = self.place(0)?;
        self.write(&place, address.resize(64, place.width()));
        Ok(())
    }
}
