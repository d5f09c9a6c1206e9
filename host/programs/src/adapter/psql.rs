//! psql: a password for one server, in a file of its own that names the server, so that libpq gives it to no other.

use super::{Adapter, Injection, Material, Needs, missing};
use crate::credential::Server;
use crate::{CredentialKind, Refusal, Rule, Secret};

#[derive(Debug)]
pub(super) struct Psql;

/// Options without a value.
const FLAGS: [&str; 19] = [
    "--no-align",
    "--csv",
    "--echo-errors",
    "--echo-hidden",
    "--echo-queries",
    "--html",
    "--list",
    "--no-password",
    "--no-psqlrc",
    "--no-readline",
    "--quiet",
    "--single-transaction",
    "--tuples-only",
    "--expanded",
    "--field-separator-zero",
    "--record-separator-zero",
    "--version",
    "--help",
    "--echo-all",
];

/// Letters of options without a value.
const FLAG_LETTERS: &str = "AabeEHlnqtxwX10zV";

/// Options with a value, by letter and in full.
const VALUED: [(char, &str); 9] = [
    ('c', "--command"),
    ('d', "--dbname"),
    ('h', "--host"),
    ('p', "--port"),
    ('U', "--username"),
    ('F', "--field-separator"),
    ('R', "--record-separator"),
    ('P', "--pset"),
    ('T', "--table-attr"),
];

/// One argument as psql reads it.
enum Read<'a> {
    Flag,
    Option(char, &'a str),
    Operand(&'a str),
}

impl Adapter for Psql {
    fn name(&self) -> &'static str {
        "psql"
    }

    fn takes(&self) -> &'static [&'static str] {
        &["pg_password"]
    }

    /// On its standard input psql takes its own commands, `\!` among them.
    fn takes_input(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Other
    }

    fn check(&self, arguments: &[&str], credentials: &[CredentialKind]) -> Result<(), Refusal> {
        let server = chosen(credentials)?;
        let same = |what: &str, given: &str, bound: &str| {
            if given == bound || (what == "database" && bound == "*" && is_plain(given)) {
                return Ok(());
            }
            let grant = format!("the {what} left out, or a credential for it");
            Err(Refusal::new(Rule::Address, grant).about(given))
        };
        let port = server.port.to_string();
        let mut operands = 0;
        for read in read(arguments)? {
            match read {
                Read::Flag | Read::Option('F' | 'R' | 'P' | 'T', _) => {}
                Read::Option('c', text) => check_statement(text)?,
                Read::Option('h', given) => same("host", given, &server.host)?,
                Read::Option('p', given) => same("port", given, &port)?,
                Read::Option('U', given) => same("user", given, &server.user)?,
                Read::Option(_, given) => same("database", given, &server.database)?,
                Read::Operand(given) => {
                    let (what, bound) =
                        if operands == 0 { ("database", &server.database) } else { ("user", &server.user) };
                    same(what, given, bound)?;
                    operands += 1;
                }
            }
        }
        Ok(())
    }

    fn prepare(&self, material: &Material<'_>) -> Result<Injection, Refusal> {
        let server = chosen(material.credentials)?;
        let mut injection = Injection::of_env(material);
        let Some(password) = material.credentials.iter().find_map(|one| match one {
            CredentialKind::Password { password, .. } => Some(password),
            _ => None,
        }) else {
            return Err(none());
        };
        let line = format!(
            "{}:{}:{}:{}:{}\n",
            escaped(&server.host),
            server.port,
            // A `*` alone is any database.
            if server.database == "*" { "*".to_owned() } else { escaped(&server.database) },
            escaped(&server.user),
            escaped(password.expose())
        );
        let path = injection.file(material.place, "pgpass", Secret::new(line));
        injection.set("PGPASSFILE", path.expose());
        injection.set("PGHOST", &server.host);
        injection.set("PGPORT", server.port.to_string());
        injection.set("PGUSER", &server.user);
        if server.database != "*" {
            injection.set("PGDATABASE", &server.database);
        }
        // What HOME and the system hold for psql may hold commands; its history would hold secrets.
        for (name, value) in
            [("PGSERVICEFILE", "/dev/null"), ("PGSYSCONFDIR", "/dev/null"), ("PSQL_HISTORY", "/dev/null")]
        {
            injection.set(name, value);
        }
        injection.first = vec!["--no-psqlrc".to_owned(), "--no-password".to_owned()];
        injection.scrub.push(password.clone());
        injection.exposes = true;
        Ok(injection)
    }
}

fn none() -> Refusal {
    missing("", "a `pg_password` stored for this agent, channel or user")
}

/// The caller's own before those of many.
fn chosen(credentials: &[CredentialKind]) -> Result<&Server, Refusal> {
    let server = credentials.iter().find_map(|one| match one {
        CredentialKind::Password { server, .. } => Some(server),
        _ => None,
    });
    server.ok_or_else(none)
}

/// The arguments, of which only known options are let through, written in full: psql takes any beginning of an option, and
/// `-o`, `-f`, `-L` and `-v` write files, run them, or run programs.
fn read<'a>(arguments: &[&'a str]) -> Result<Vec<Read<'a>>, Refusal> {
    let refused = |argument: &str| Refusal::new(Rule::Option, "an option that is let through, in full").about(argument);
    let mut found = Vec::new();
    let mut rest = arguments.iter().copied();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            found.extend(rest.map(Read::Operand));
            break;
        }
        if argument.starts_with("--") {
            found.push(long(argument, &mut rest).ok_or_else(|| refused(argument))?);
        } else if argument.len() > 1 && argument.starts_with('-') {
            short(argument, &mut rest, &mut found).ok_or_else(|| refused(argument))?;
        } else {
            found.push(Read::Operand(argument));
        }
    }
    Ok(found)
}

fn long<'a>(argument: &'a str, rest: &mut impl Iterator<Item = &'a str>) -> Option<Read<'a>> {
    if FLAGS.contains(&argument) {
        return Some(Read::Flag);
    }
    let (name, value) = argument.split_once('=').map_or((argument, None), |(name, value)| (name, Some(value)));
    let (letter, _) = VALUED.iter().find(|(_, long)| *long == name)?;
    Some(Read::Option(*letter, value.or_else(|| rest.next())?))
}

/// Letters together, the last of which may have its value behind it.
fn short<'a>(argument: &'a str, rest: &mut impl Iterator<Item = &'a str>, found: &mut Vec<Read<'a>>) -> Option<()> {
    for (at, letter) in argument.char_indices().skip(1) {
        if FLAG_LETTERS.contains(letter) {
            found.push(Read::Flag);
            continue;
        }
        let (letter, _) = VALUED.iter().find(|(short, _)| *short == letter)?;
        let value = argument.get(at + 1..).filter(|value| !value.is_empty());
        found.push(Read::Option(*letter, value.or_else(|| rest.next())?));
        return Some(());
    }
    Some(())
}

/// Commands of psql's own that only look.
const LOOKING: [&str; 4] = ["l", "l+", "conninfo", "encoding"];

/// Judges a command: SQL is the server's matter, psql's own commands only look. In their arguments backquotes run programs and
/// colons are variables, so those have plain characters only.
fn check_statement(text: &str) -> Result<(), Refusal> {
    let Some(command) = text.strip_prefix('\\') else { return Ok(()) };
    let name = command.split(' ').next().unwrap_or_default();
    let describes =
        name.strip_prefix('d').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphabetic() || "S+".contains(c)));
    let plain = command.chars().all(|c| c.is_ascii_alphanumeric() || " _.*?\"$+-".contains(c));
    if plain && (describes || LOOKING.contains(&name)) {
        return Ok(());
    }
    Err(Refusal::new(Rule::Statement, "SQL, or a command such as `\\d`, `\\dt` and `\\l` with a plain name")
        .about(text))
}

/// Whether a name is only a name: with `=` or `://` in it, psql reads it as settings that name another server.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', ':', '/', '\\', '\''])
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace(':', "\\:")
}
