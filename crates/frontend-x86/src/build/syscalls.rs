//! System calls.

use super::body::Body;

impl Body<'_, '_> {
    /// The instruction `syscall`. True where nothing comes after it.
    pub fn system_call(&mut self, number: Option<u64>) -> bool {
        self.refuse(format!("the system call {number:?}"));
        true
    }

    /// The function `syscall` of the C library.
    pub fn system_call_function(&mut self) {
        self.refuse("syscall".to_string());
    }
}
