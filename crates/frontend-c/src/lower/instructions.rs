//! Instructions that compute, one by one.

use parallax_program::{Expr, InstKind, Property};

use super::arithmetic::{
    bit_cast, cast, compare, fits_integer, fits_signed, fits_unsigned, float_compare, integer_op,
    negated,
};
use super::body::Body;
use super::layout::Lowered;
use crate::llvm::{BinaryOp, CastOp, Instruction, Name, Operation, Type, Typed, Value};

/// The width of `int`, in which C computes.
const INT: u32 = 32;

impl Body<'_> {
    /// Lowers an instruction. What cannot be expressed is marked there, to be found only if it
    /// is reached.
    pub fn instruction(&mut self, instruction: &Instruction) {
        if let Err(what) = self.try_instruction(instruction) {
            self.unsupported(what);
            if let Some(result) = &instruction.result {
                self.define_zero(result);
            }
        }
    }

    fn try_instruction(&mut self, instruction: &Instruction) -> Lowered<()> {
        let result = instruction.result.as_ref();
        match &instruction.operation {
            Operation::Load { .. } | Operation::Store { .. } | Operation::Alloca { .. } => {
                self.check_alignment(instruction)?;
                self.memory(instruction)
            }
            Operation::Rmw { .. } | Operation::CompareExchange(_) | Operation::Fence { .. } => {
                self.check_alignment(instruction)?;
                self.atomic(instruction)
            }
            Operation::Call(call) => self.call(call, instruction),
            Operation::Phi { .. } | Operation::Debug { .. } => Ok(()),
            Operation::Unknown { name, .. } => Err(format!("the instruction '{name}'")),
            Operation::ExtractValue { aggregate, .. } if self.is_unwritten(&aggregate.value) => {
                if let Some(result) = result {
                    self.leave_undefined(result);
                }
                Ok(())
            }
            operation => {
                let Some(result) = result else {
                    return Ok(());
                };
                let values = self.compute(operation, result)?;
                self.define(result, values);
                Ok(())
            }
        }
    }

    fn compute(&mut self, operation: &Operation, result: &Name) -> Lowered<Vec<Expr>> {
        match operation {
            Operation::Binary { op, no_signed_wrap, left, right } => {
                self.binary(*op, *no_signed_wrap, left, right, result)
            }
            Operation::Compare { predicate, left, right } => {
                self.spread_undefined(&[&left.value, right], result);
                let right = self.operand(&left.ty, right)?;
                let left = self.operand(&left.ty, &left.value)?;
                let pairs = left.into_iter().zip(right);
                Ok(pairs.map(|(left, right)| compare(*predicate, left, right)).collect())
            }
            Operation::FloatCompare { predicate, left, right } => {
                self.numbers(&left.ty)?;
                let right = self.operand(&left.ty, right)?;
                let left = self.operand(&left.ty, &left.value)?;
                let pairs = left.into_iter().zip(right);
                Ok(pairs.map(|(left, right)| float_compare(*predicate, left, right)).collect())
            }
            Operation::FNeg(value) => {
                let width = self.numbers(&value.ty)?;
                let values = self.operand(&value.ty, &value.value)?;
                Ok(values.into_iter().map(|value| negated(value, width)).collect())
            }
            Operation::Cast { op, value, to } => self.conversion(*op, value, to, result),
            Operation::Freeze(value) => self.operand(&value.ty, &value.value),
            Operation::Select { condition, then, otherwise } => {
                self.select(condition, then, otherwise)
            }
            Operation::Gep { element, base, indices } => {
                self.spread_undefined(&[&base.value], result);
                let address = self.typed(base)?;
                let unit = self.unit;
                let address = unit
                    .element_address(element, address, indices, &mut |index| self.typed(index))?;
                Ok(vec![address])
            }
            operation => self.parts(operation),
        }
    }

    /// A result computed from what is never defined is not defined either.
    fn spread_undefined(&mut self, operands: &[&Value], result: &Name) {
        if operands.iter().any(|operand| self.is_undefined(operand)) {
            self.mark_undefined(result);
        }
    }

    /// The width of floating-point numbers of a type that can be computed with.
    pub fn numbers(&self, ty: &Type) -> Lowered<u32> {
        match self.unit.layout.resolve(ty) {
            Type::Float => Ok(32),
            Type::Double => Ok(64),
            Type::Vector(_, element) => match **element {
                Type::Float => Ok(32),
                Type::Double => Ok(64),
                _ => Err(format!("arithmetic on {}", kind_of_number(element))),
            },
            other => Err(format!("arithmetic on {}", kind_of_number(other))),
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        no_signed_wrap: bool,
        left: &Typed,
        right: &Value,
        result: &Name,
    ) -> Lowered<Vec<Expr>> {
        use BinaryOp::*;
        if matches!(op, FAdd | FSub | FMul | FDiv | FRem) {
            self.numbers(&left.ty)?;
        }
        if matches!(op, Add | Sub | Mul) {
            self.spread_undefined(&[&left.value, right], result);
        }
        let widths: Vec<u32> = self.scalars_of(result).iter().map(|scalar| scalar.width).collect();
        let rights = self.operand(&left.ty, right)?;
        let lefts = self.operand(&left.ty, &left.value)?;
        let is_number = self.unit.shared.options.integers
            && ![&left.value, right].into_iter().any(|operand| self.is_of_pointer(operand));
        let mut values = Vec::new();
        for ((left, right), width) in lefts.into_iter().zip(rights).zip(widths) {
            let (left, right) = self.checked(op, no_signed_wrap, left, right, width);
            let (left, right) = match is_number {
                true => self.within_range(op, no_signed_wrap, left, right, width),
                false => (left, right),
            };
            values.push(Expr::binary(integer_op(op), left, right));
        }
        Ok(values)
    }

    /// Operands of an operation that may be undefined for them, after a check that it is not.
    fn checked(
        &mut self,
        op: BinaryOp,
        no_signed_wrap: bool,
        left: Expr,
        right: Expr,
        width: u32,
    ) -> (Expr, Expr) {
        use BinaryOp::*;
        match op {
            UDiv | URem | SDiv | SRem => self.checked_division(op, left, right, width),
            Shl | LShr | AShr if self.unit.shared.options.overflow => {
                let right = match right {
                    Expr::Const(bits) if bits.unsigned() < u128::from(width) => {
                        return (left, right);
                    }
                    right => self.in_var(right, width),
                };
                let limit = Expr::constant(width, u128::from(width));
                let fits = Expr::binary(parallax_program::BinaryOp::Ult, right.clone(), limit);
                self.require(fits, "shift by more than the width", Property::Overflow);
                (left, right)
            }
            Add | Sub | Mul if no_signed_wrap && self.unit.shared.options.overflow => {
                let (left, right) = (self.in_var(left, width), self.in_var(right, width));
                if let Some(fits) = fits_signed(op, &left, &right, width) {
                    self.require(fits, "signed integer overflow", Property::Overflow);
                }
                (left, right)
            }
            _ => (left, right),
        }
    }

    /// Operands of an operation that integers have, after an assumption that its result is what it would be
    /// for them. That signed results fit may have been checked already.
    fn within_range(
        &mut self,
        op: BinaryOp,
        no_signed_wrap: bool,
        left: Expr,
        right: Expr,
        width: u32,
    ) -> (Expr, Expr) {
        let is_checked = no_signed_wrap && self.unit.shared.options.overflow;
        if !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) || is_checked {
            return (left, right);
        }
        let (left, right) = (self.in_var(left, width), self.in_var(right, width));
        let signed = fits_signed(op, &left, &right, width);
        let unsigned = fits_unsigned(op, &left, &right, width);
        let fits = match (signed, unsigned) {
            (signed, _) if no_signed_wrap => signed,
            // Nothing says whether steps of types that are narrower than `int` have a sign.
            (Some(signed), Some(unsigned)) if width < INT => Some(signed | unsigned),
            (_, unsigned) => unsigned,
        };
        match fits {
            Some(condition) => self.builder.emit(InstKind::Assume { condition }),
            None => self.unsupported("arithmetic of that width on integers".to_string()),
        }
        (left, right)
    }

    /// Whether a number is an address, whose differences are no numbers of their own.
    fn is_of_pointer(&self, operand: &Value) -> bool {
        let Value::Local(name) = operand else { return false };
        let of = self.definitions.get(name).map(|instruction| &instruction.operation);
        matches!(of, Some(Operation::Cast { op: CastOp::PtrToInt, .. }))
    }

    fn checked_division(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        width: u32,
    ) -> (Expr, Expr) {
        let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
        let least = Expr::constant(width, 1 << (width - 1));
        let minus_one = Expr::signed(width, -1);
        if let Expr::Const(bits) = &right
            && !bits.is_zero()
            && (!signed || right != minus_one)
        {
            return (left, right);
        }
        let (left, right) = (self.in_var(left, width), self.in_var(right, width));
        let divides = right.clone().ne(Expr::constant(width, 0));
        self.condition(divides, "division by zero");
        if signed {
            let fits = left.clone().ne(least) | right.clone().ne(minus_one);
            self.condition(fits, "signed integer overflow in a division");
        }
        (left, right)
    }

    /// What must hold for an operation to be defined: checked where that was asked for, and
    /// never passed over, since the result would be made up.
    fn condition(&mut self, holds: Expr, message: &str) {
        if self.unit.shared.options.overflow {
            return self.require(holds, message, Property::Overflow);
        }
        let (defined, undefined) =
            (self.builder.new_block("defined"), self.builder.new_block("undefined"));
        self.builder.terminate(parallax_program::Terminator::Branch {
            condition: holds,
            then: defined,
            otherwise: undefined,
            join: None,
        });
        self.builder.enter(undefined);
        self.unsupported(message.to_string());
        self.builder.terminate(parallax_program::Terminator::Exit);
        self.builder.enter(defined);
    }

    fn conversion(
        &mut self,
        op: CastOp,
        value: &Typed,
        to: &Type,
        result: &Name,
    ) -> Lowered<Vec<Expr>> {
        if !matches!(op, CastOp::Trunc) {
            self.spread_undefined(&[&value.value], result);
        }
        let from_scalars = self.unit.layout.scalars(&value.ty)?;
        let from: Vec<u32> = from_scalars.iter().map(|scalar| scalar.width).collect();
        let to_scalars = self.unit.layout.scalars(to)?;
        let to_widths: Vec<u32> = to_scalars.iter().map(|scalar| scalar.width).collect();
        let values = self.operand(&value.ty, &value.value)?;
        if op == CastOp::BitCast {
            return bit_cast(values, &from, &to_widths);
        }
        // Truth values go to memory and back as bytes.
        if let (CastOp::Trunc, [Expr::ZeroExtend { value, .. }], [to]) =
            (op, values.as_slice(), to_widths.as_slice())
            && self.plain_width(value) == Some(*to)
        {
            return Ok(vec![value.as_ref().clone()]);
        }
        match op {
            CastOp::FPExt | CastOp::FPTrunc => {
                self.numbers(&value.ty)?;
                self.numbers(to)?;
            }
            CastOp::FPToSI | CastOp::FPToUI => {
                self.numbers(&value.ty)?;
            }
            CastOp::SIToFP | CastOp::UIToFP => {
                self.numbers(to)?;
            }
            _ => {}
        }
        let mut values = values;
        if matches!(op, CastOp::FPToSI | CastOp::FPToUI) {
            for ((value, from), to) in values.iter_mut().zip(&from).zip(&to_widths) {
                *value = self.in_var(value.clone(), *from);
                if matches!(from, 32 | 64) && *to <= 64 {
                    let double = match from {
                        32 => cast(CastOp::FPExt, value.clone(), 32, 64)?,
                        _ => value.clone(),
                    };
                    let fits = fits_integer(op == CastOp::FPToSI, double, *to);
                    self.condition(fits, "a floating-point number that no integer of the type is");
                }
            }
        }
        let widths = from.into_iter().zip(to_widths);
        values
            .into_iter()
            .zip(widths)
            .map(|(value, (from, to))| cast(op, value, from, to))
            .collect()
    }

    fn select(&mut self, condition: &Typed, then: &Typed, otherwise: &Typed) -> Lowered<Vec<Expr>> {
        let conditions = self.operand(&condition.ty, &condition.value)?;
        let thens = self.operand(&then.ty, &then.value)?;
        let otherwises = self.operand(&otherwise.ty, &otherwise.value)?;
        let conditions = match conditions.as_slice() {
            [one] if thens.len() > 1 => {
                let one = self.in_var(one.clone(), 1);
                vec![one; thens.len()]
            }
            _ => conditions,
        };
        let pairs = thens.into_iter().zip(otherwises);
        Ok(conditions.into_iter().zip(pairs).map(|(c, (t, e))| c.select(t, e)).collect())
    }

    /// Parts of aggregates and vectors.
    fn parts(&mut self, operation: &Operation) -> Lowered<Vec<Expr>> {
        match operation {
            Operation::ExtractValue { aggregate, indices } => {
                let (_, range) = self.unit.layout.part(&aggregate.ty, indices)?;
                let scalars = self.operand(&aggregate.ty, &aggregate.value)?;
                Ok(scalars.get(range).ok_or("a part that is not there")?.to_vec())
            }
            Operation::InsertValue { aggregate, element, indices } => {
                let (_, range) = self.unit.layout.part(&aggregate.ty, indices)?;
                self.replaced(aggregate, element, range)
            }
            Operation::ExtractElement { vector, index } => {
                let (_, range) = self.unit.layout.part(&vector.ty, &[lane(index)?])?;
                let scalars = self.operand(&vector.ty, &vector.value)?;
                Ok(scalars.get(range).ok_or("a lane that is not there")?.to_vec())
            }
            Operation::InsertElement { vector, element, index } => {
                let (_, range) = self.unit.layout.part(&vector.ty, &[lane(index)?])?;
                self.replaced(vector, element, range)
            }
            Operation::ShuffleVector { left, right, mask } => {
                let mut lanes = self.operand(&left.ty, &left.value)?;
                lanes.extend(self.operand(&right.ty, &right.value)?);
                let mask = self.operand(&mask.ty, &mask.value)?;
                let pick = |index: &Expr| match index {
                    Expr::Const(bits) => lanes.get(bits.unsigned() as usize).cloned(),
                    _ => None,
                };
                mask.iter()
                    .map(|index| pick(index).ok_or("a lane that is not there".into()))
                    .collect()
            }
            _ => Err("an instruction in an odd place".to_string()),
        }
    }

    fn replaced(
        &mut self,
        whole: &Typed,
        part: &Typed,
        range: std::ops::Range<usize>,
    ) -> Lowered<Vec<Expr>> {
        let mut scalars = self.operand(&whole.ty, &whole.value)?;
        let parts = self.operand(&part.ty, &part.value)?;
        if range.len() != parts.len() || range.end > scalars.len() {
            return Err("a part that does not fit".to_string());
        }
        scalars.splice(range, parts);
        Ok(scalars)
    }
}

fn lane(index: &Typed) -> Lowered<u64> {
    match index.value {
        Value::Int(number) => Ok(number as u64),
        _ => Err("a lane of a vector that is chosen while the program runs".to_string()),
    }
}

fn kind_of_number(ty: &Type) -> String {
    match ty {
        Type::Other(name) if name.as_ref() == "x86_fp80" => "numbers of type 'long double'".into(),
        Type::Other(name) => format!("numbers of type '{name}'"),
        _ => "values that are no numbers".into(),
    }
}
