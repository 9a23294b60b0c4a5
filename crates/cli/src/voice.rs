//! How the command spells settings: as its options.

use parallax_program::{Setting, Voice};

pub struct Options;

impl Voice for Options {
    fn setting(&self, setting: Setting) -> String {
        match setting {
            Setting::Property => "--property".to_string(),
            Setting::Inputs => "--nondet".to_string(),
            Setting::Argument => "--arg".to_string(),
            _ => format!("--{}", setting.name().replace('_', "-")),
        }
    }

    fn with(&self, setting: Setting, value: &str) -> String {
        format!("{} {value}", self.setting(setting))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_setting_is_an_option_of_some_command() {
        let command = crate::args::Arguments::command();
        let options: Vec<String> = command
            .get_subcommands()
            .flat_map(|command| command.get_arguments())
            .filter_map(|argument| argument.get_long().map(|long| format!("--{long}")))
            .collect();
        for setting in Setting::ALL {
            let option = Options.setting(setting);
            assert!(options.contains(&option), "there is no {option}");
        }
    }
}
