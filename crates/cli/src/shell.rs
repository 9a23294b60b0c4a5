//! Completion scripts and manual pages, from the definition of the command line.

use std::fs;
use std::io;
use std::path::Path;

use clap::CommandFactory;
use parallax_program::Diagnostic;

use crate::Exit;
use crate::args::{Arguments, CompletionsArguments, ManArguments};
use crate::output;

pub fn completions(options: &CompletionsArguments) -> Exit {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(options.shell, &mut command, "parallax", &mut script);
    print(&script)
}

pub fn man(options: &ManArguments) -> Exit {
    match &options.folder {
        Some(folder) => match write_pages(folder) {
            Ok(()) => Exit::Fine,
            Err(error) => {
                let message = format!("cannot write to '{}': {error}", folder.display());
                output::report(&Diagnostic::new(message));
                Exit::BadInput
            }
        },
        None => {
            let mut page = Vec::new();
            // Writing to memory does not fail.
            let _ = clap_mangen::Man::new(Arguments::command()).render(&mut page);
            print(&page)
        }
    }
}

fn write_pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Arguments::command(), folder)
}

fn print(text: &[u8]) -> Exit {
    if output::print(&String::from_utf8_lossy(text)).is_break() {
        return Exit::Unknown;
    }
    Exit::Fine
}
