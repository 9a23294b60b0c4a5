//! The list of hosts.

/// Nobody guesses a secret of so many bytes.
pub const LEAST_SECRET: usize = 16;

/// More processes than that would keep each other busy.
const MOST_HOSTS: usize = 1024;

/// One `host:port` a line; what follows `#` is for people. The error says what is wrong, and in which
/// line.
pub fn parse_hosts(text: &str) -> Result<Vec<String>, (usize, String)> {
    let mut hosts: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let host = line.split('#').next().unwrap_or_default().trim();
        if host.is_empty() {
            continue;
        }
        let wrong = |message: &str| (number + 1, message.to_string());
        let (name, port) = host.rsplit_once(':').ok_or_else(|| wrong("expected host:port"))?;
        if name.is_empty() || port.parse::<u16>().map_or(true, |port| port == 0) {
            return Err(wrong("expected host:port, with a port from 1 to 65535"));
        }
        if hosts.iter().any(|other| other == host) {
            return Err(wrong("this host and port are there twice"));
        }
        hosts.push(host.to_string());
    }
    match hosts.len() {
        0 => Err((1, "there is no host".to_string())),
        number if number > MOST_HOSTS => {
            Err((1, format!("{number} hosts are too many: {MOST_HOSTS} at most")))
        }
        _ => Ok(hosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_lines() {
        let text = "one:7000\n\n# two\n two:7000 # a second\n[::1]:7000\n";
        assert_eq!(
            parse_hosts(text),
            Ok(["one:7000", "two:7000", "[::1]:7000"].map(String::from).to_vec())
        );
        for (text, line) in
            [("", 1), ("one", 1), ("one:1\ntwo:x", 2), ("one:1\none:1", 2), (":1", 1), ("one:0", 1)]
        {
            assert_eq!(parse_hosts(text).map_err(|(line, _)| line), Err(line), "{text}");
        }
    }
}
