//! `parallax models`: the built-in models, and their texts.

use parallax_memory::Model;
use parallax_verify::models::unknown_model;

use crate::Exit;
use crate::args::ModelsArguments;
use crate::output;

/// `parallax models`
pub fn run(options: &ModelsArguments) -> Exit {
    let text = match &options.name {
        None => list(),
        Some(name) => match Model::builtin_names().find(|(known, _, _)| known == name) {
            Some((_, _, source)) => source.to_string(),
            None => {
                output::report(&unknown_model(name));
                return Exit::BadInput;
            }
        },
    };
    if output::print(&text).is_break() {
        return Exit::Unknown;
    }
    Exit::Fine
}

fn list() -> String {
    let width = Model::builtin_names().map(|(name, _, _)| name.len()).max();
    let width = width.unwrap_or(0);
    let lines =
        Model::builtin_names().map(|(name, summary, _)| format!("{name:width$}  {summary}\n"));
    lines.collect()
}
