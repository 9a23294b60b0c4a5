//! Calls: of functions of the program, of others by name, and through pointers.

use parallax_program::{AllocKind, Callee, Expr, InstKind, Property, Shape, VarId};

use super::body::Body;
use super::format;
use super::layout::Lowered;
use super::shapes;
use super::unit::{Signature, Symbol};
use crate::llvm::{Call, Instruction, Name, Type, Value};
use crate::undefined;

/// Functions that give memory for anything.
const ALLOCATES: [&str; 5] = ["malloc", "calloc", "realloc", "aligned_alloc", "memalign"];

/// Functions of which there is one for objects with room for a lock and nothing else.
const HAS_SMALL: [&str; 10] = [
    "pthread_barrier_destroy",
    "pthread_barrier_init",
    "pthread_cond_destroy",
    "pthread_cond_init",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_rwlock_destroy",
    "pthread_rwlock_init",
    "sem_destroy",
    "sem_init",
];

impl Body<'_> {
    pub fn call(&mut self, call: &Call, instruction: &Instruction) -> Lowered<()> {
        let result = instruction.result.as_ref();
        match &call.callee {
            Value::Assembly { text, constraints } => self.assembly(text, constraints, call, result),
            Value::Global(name) if name.starts_with("llvm.") => {
                self.intrinsic(name, call, instruction)
            }
            Value::Global(name) if name.as_ref() == undefined::UNENDED => {
                Err("the address of a variable whose life ends where clang does not say"
                    .to_string())
            }
            Value::Global(name) if name.starts_with(undefined::PREFIX) => {
                if let Some(result) = result {
                    self.leave_undefined(result);
                }
                Ok(())
            }
            Value::Global(name) => match self.unit.callee(name) {
                Some(Symbol::Function(id)) => self.direct(id.0, call, result),
                Some(Symbol::UndefinedFunction) => self.external(name, call, result),
                _ => Err(format!("a call of '{name}', which is no function")),
            },
            pointer => {
                let target = self.address(pointer)?;
                match target {
                    Expr::FunctionAddress(id) => self.direct(id.0, call, result),
                    target => self.transfer(Callee::Indirect(target), call, result, None),
                }
            }
        }
    }

    fn direct(&mut self, number: u32, call: &Call, result: Option<&Name>) -> Lowered<()> {
        let callee = Callee::Direct(parallax_program::FunctionId(number));
        match self.unit.shared.signatures.get(number as usize) {
            Some(Ok(signature)) => self.transfer(callee, call, result, Some(signature)),
            Some(Err(what)) => Err(what.clone()),
            None => self.transfer(callee, call, result, None),
        }
    }

    /// Passes arguments and takes the result apart. A function of the program is called only with
    /// what it takes.
    fn transfer(
        &mut self,
        callee: Callee,
        call: &Call,
        result: Option<&Name>,
        signature: Option<&Signature>,
    ) -> Lowered<()> {
        let (args, widths, copies) = self.arguments(call)?;
        let scalars = result.map(|name| self.scalars_of(name).to_vec()).unwrap_or_default();
        let total: u32 = scalars.iter().map(|scalar| scalar.width).sum();
        if let Some(signature) = signature
            && (signature.params != widths || (total > 0 && signature.result != Some(total)))
        {
            return Err("a call with other arguments or another result than defined".to_string());
        }
        if total > 128 {
            return Err(format!("a result of {total} bits"));
        }
        let vars = result.map(|name| self.vars_of(name)).unwrap_or_default();
        let dst = match vars.as_slice() {
            [] => None,
            [one] => Some(*one),
            _ => Some(self.builder.temp(total)),
        };
        self.builder.emit(InstKind::Call { dst, callee, args });
        if let (Some(whole), true) = (dst, vars.len() > 1) {
            let mut low = 0;
            for (var, scalar) in vars.into_iter().zip(scalars) {
                self.builder.assign(var, Expr::Var(whole).extract(low, scalar.width));
                low += scalar.width;
            }
        }
        copies.into_iter().for_each(|copy| self.end_object(copy));
        Ok(())
    }

    /// Whether a call is of a function that no file defines.
    fn is_external(&self, callee: &Value) -> bool {
        let symbol = |name: &Name| self.unit.callee(name);
        matches!(callee, Value::Global(name) if matches!(symbol(name), Some(Symbol::UndefinedFunction)))
    }

    /// The fixed arguments with their widths, and copies that end with the call.
    fn arguments(&mut self, call: &Call) -> Lowered<(Vec<Expr>, Vec<u32>, Vec<VarId>)> {
        let (mut args, mut widths, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        let fixed = call.fixed.unwrap_or(call.args.len());
        for arg in call.args.iter().take(fixed) {
            // A function of the program may hand on what it was handed, and look at it or not.
            if arg.defined && self.is_external(&call.callee) {
                self.demand(&arg.value.value);
            }
            if let Some(ty) = &arg.by_value {
                let copy = self.copied_object(&arg.value.value, ty)?;
                copies.push(copy);
                args.push(Expr::Var(copy));
                widths.push(self.pointer_width());
                continue;
            }
            args.extend(self.operand(&arg.value.ty, &arg.value.value)?);
            let scalars = self.unit.layout.scalars(&arg.value.ty)?;
            widths.extend(scalars.iter().map(|scalar| scalar.width));
        }
        Ok((args, widths, copies))
    }

    /// A function that the program does not define.
    fn external(&mut self, name: &Name, call: &Call, result: Option<&Name>) -> Lowered<()> {
        if let Some(result) = result
            && matches!(name.as_ref(), "malloc" | "calloc")
            && self.shaped_allocation(name, call, result)?
        {
            return Ok(());
        }
        self.check_format(name, call);
        // A result that nobody uses may be of any type.
        let result = result.filter(|result| self.is_used(result));
        if let Some(done) = self.print(name, call, result) {
            return done;
        }
        if let Some(done) = self.input(name, call, result) {
            return done;
        }
        if let Some(result) = result.filter(|_| ALLOCATES.contains(&name.as_ref())) {
            self.vars_of(result).into_iter().for_each(|var| self.note_alignment(var, 16));
        }
        let name = self.with_own_types(name)?;
        self.transfer(Callee::External(name), call, result, None)
    }

    /// A program may say itself what a `pthread_t` or a `pthread_mutex_t` is. As many bytes of it are
    /// written.
    fn with_own_types(&self, name: &Name) -> Lowered<String> {
        let starts = matches!(name.as_ref(), "pthread_create" | "thrd_create");
        if !starts && !HAS_SMALL.contains(&name.as_ref()) {
            return Ok(name.to_string());
        }
        let module = self.unit.module;
        let declared = module.functions.iter().find(|function| function.name == *name);
        let debug = declared.and_then(|function| function.debug);
        let word = u64::from(self.pointer_width() / 8);
        match debug.and_then(|debug| shapes::pointed_to_by_parameter(module, debug, 0)) {
            Some(4..8) if !starts => Ok(format!("{name}.small")),
            None => Ok(name.to_string()),
            Some(bytes) if bytes == word => Ok(name.to_string()),
            Some(_) if !starts => Ok(name.to_string()),
            Some(4) => Ok(format!("{name}.int")),
            Some(bytes) => Err(format!("a call of '{name}' with an identifier of {bytes} bytes")),
        }
    }

    /// An allocation whose result goes to a variable that says what for, with a constant size.
    fn shaped_allocation(&mut self, name: &str, call: &Call, result: &Name) -> Lowered<bool> {
        let number = |index: usize| match call.args.get(index).map(|arg| &arg.value.value) {
            Some(Value::Int(number)) => u64::try_from(*number).ok(),
            _ => None,
        };
        let size = match name {
            "malloc" => number(0),
            _ => number(0).zip(number(1)).and_then(|(count, size)| count.checked_mul(size)),
        };
        let module = self.unit.module;
        let variable = self.holders.get(result).copied();
        let shape = variable.and_then(|variable| shapes::of_pointee(module, variable));
        let (Some(size), Some((shape, bytes))) = (size, shape) else {
            return Ok(false);
        };
        let shape = match size {
            _ if size == bytes => shape,
            _ if bytes > 0 && size > 0 && size % bytes == 0 => {
                Shape::Array { element: Box::new(shape), stride: bytes, count: size / bytes }
            }
            _ => return Ok(false),
        };
        let [dst] = self.vars_of(result)[..] else {
            return Ok(false);
        };
        self.note_alignment(dst, 16);
        self.builder.emit(InstKind::Alloc {
            dst,
            size: Expr::constant(self.pointer_width(), u128::from(size)),
            align: 16,
            kind: AllocKind::Heap,
            zeroed: name == "calloc",
            shape: (shape != Shape::Scalar).then(|| std::sync::Arc::new(shape)),
        });
        Ok(true)
    }

    /// Formatted output with a constant format: arguments must be what it asks for.
    fn check_format(&mut self, name: &str, call: &Call) {
        let Some(position) = format::position(name) else {
            return;
        };
        let Some(text) =
            call.args.get(position).and_then(|arg| self.constant_text(&arg.value.value))
        else {
            return;
        };
        let given = call.args.get(position + 1..).unwrap_or_default();
        let given: Vec<&Type> = given.iter().map(|arg| &arg.value.ty).collect();
        if let Err(message) = format::check(&text, &given, self.pointer_width()) {
            self.fail(&format!("{name}: {message}"), Property::Memory);
        }
    }
}
