//! Barriers: `DMB` and `DSB` with every shareability domain and kind of access, `ISB`.

use parallax_program::{Diagnostic, InstKind, Tags};

use super::instruction::Instruction;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    Data(&'static str),
    Instruction,
}

pub fn decode(name: &str) -> Option<Barrier> {
    match name {
        "DMB" => Some(Barrier::Data("DMB")),
        "DSB" => Some(Barrier::Data("DSB")),
        "ISB" => Some(Barrier::Instruction),
        _ => None,
    }
}

const OPTIONS: [&str; 12] =
    ["SY", "LD", "ST", "ISH", "ISHLD", "ISHST", "OSH", "OSHLD", "OSHST", "NSH", "NSHLD", "NSHST"];

pub fn lower(barrier: Barrier, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let tag = match barrier {
        Barrier::Data(kind) => format!("{kind}.{}", option(ins, &OPTIONS)?),
        Barrier::Instruction => {
            if ins.peek().is_some() {
                option(ins, &["SY"])?;
            }
            "ISB".to_string()
        }
    };
    ins.thread.function.emit(InstKind::Fence { tags: Tags::new([tag.as_str()]) });
    Ok(())
}

fn option(
    ins: &mut Instruction<'_, '_, '_>,
    options: &[&'static str],
) -> Result<&'static str, Diagnostic> {
    let text = ins.take()?;
    let found = options.iter().find(|o| o.eq_ignore_ascii_case(text));
    found.copied().ok_or_else(|| {
        let message = format!("'{text}' is not an option of {}", ins.mnemonic);
        ins.error(text, message).with_help(format!("expected one of {}", options.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lowered};
    use super::*;

    #[test]
    fn tags_name_the_kind_and_the_option() {
        let cases = [
            ("DMB SY", "DMB.SY"),
            ("dmb ishld", "DMB.ISHLD"),
            ("DSB ST", "DSB.ST"),
            ("ISB", "ISB"),
            ("isb sy", "ISB"),
        ];
        for (text, tag) in cases {
            let tags = Tags::new([tag]);
            assert_eq!(lowered(&[text]), [InstKind::Fence { tags }]);
        }
    }

    #[test]
    fn an_option_must_exist() {
        assert_eq!(error("DMB"), "1:1: DMB needs more operands");
        assert_eq!(error("DMB LDX"), "1:5: 'LDX' is not an option of DMB");
        assert_eq!(error("ISB ST"), "1:5: 'ST' is not an option of ISB");
    }
}
