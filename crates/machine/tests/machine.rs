//! What threads do, on the smallest programs.

use parallax_machine::{Code, Concrete, Limits, Operation, Thread};
use parallax_program::{Bits, FunctionId, parse_program};

/// What a thread that starts in the first function stores, one number after the other.
fn stores(text: &str) -> Vec<u128> {
    let program = parse_program("test", text).expect("a program");
    let code = Code::new(&program);
    let mut thread = Thread::start(&code, FunctionId(0), vec![], &mut Concrete);
    let mut stored = Vec::new();
    while let Operation::Store { value, .. } = thread.run(&code, &Limits::default(), &mut Concrete)
    {
        let value: Bits = value;
        stored.push(value.unsigned());
        thread.done();
    }
    stored
}

#[test]
fn registers_outlive_calls() {
    let text = "program p pointers 64\nregisters a: 32, b: 32\nglobal x: 4\n\
        fn main() registers {\na = 1:32\nb = 5:32\ncall inner()\nstore.4 &x, a\nstore.4 &x, b\n\
        call blind()\nstore.4 &x, a\n}\n\
        fn inner() registers {\nvar own: 32\nown = a\na = own + b\nstore.4 &x, a\nb = 7:32\n}\n\
        fn blind() {\nvar a: 32\na = 100:32\ncall inner()\n}\n";
    assert_eq!(stores(text), [6, 6, 7, 13, 13]);
}

#[test]
fn functions_are_found_at_fixed_addresses() {
    let text = "program p pointers 64\nglobal x: 4 at 0x404010\n\
        fn main() {\ncall (4198400:64)()\nstore.4 4210704:64, 2:32\n}\n\
        fn f() at 0x401000 {\nstore.8 &x, @f\nstore.8 &x, &x\n}\n";
    assert_eq!(stores(text), [0x401000, 0x404010, 2]);
}
