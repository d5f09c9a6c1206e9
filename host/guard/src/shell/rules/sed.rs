//! `filter_bypass`, third part: sed scripts that run programs or write files.

use super::{Rule, code};
use crate::shell::{Group, Language};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "filter_bypass.sed_script",
    group: Group::FilterBypass,
    sentence: "sed's `e` runs a program and its `w` writes a file where nobody looks for it; pipe its output instead",
    programs: &[],
    matches: |look| look.code().find(|text| runs_or_writes(text)).map(|text| text.word.span),
    denies: &[
        "sed 's/x/ls/e' f",
        "sed -n '1e ls' f",
        "sed -n 'w out' f",
        "sed 's/a/b/w out' f",
        "sed '/x/w /etc/cron.d/a' f",
        "sed 's/x/y/ge' f",
        "sed -e '/a/{s/b/c/e}' f",
        "sed '1!e' f",
        "sed 's,a,b,Ie' f",
    ],
    allows: &[
        "sed 's/e/x/g' f",
        "sed -e 's/a/e/' f",
        "sed '/^e/d' f",
        "sed -n '/x/p' f",
        "sed 's|/usr|/e|' f",
        "sed 's/w/x/' f",
        "sed -n '/w/p' f",
        "sed 's/[/e]/x/' f",
        "sed 'y/abc/ewe/' f",
        "sed '/a/,/e/d' f",
    ],
}];

fn runs_or_writes(text: &code::Text<'_>) -> bool {
    text.language == Language::Sed
        && sed_commands(&text.whole).any(|(command, tail)| match command {
            'e' | 'w' | 'W' => true,
            // Flags end at `w`, behind which a name stands.
            's' => tail.chars().take_while(|c| c.is_ascii_alphanumeric()).any(|c| matches!(c, 'e' | 'w')),
            _ => false,
        })
}

/// The commands of a sed script, each with what follows it. A script is taken apart at newlines and semicolons; addresses and
/// substitutions are stepped over, so that a letter in them is none.
fn sed_commands(script: &str) -> impl Iterator<Item = (char, &str)> {
    let mut rest = script;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}', '!']);
            let first = rest.chars().next()?;
            if first.is_ascii_digit() || matches!(first, '$' | ',' | '+' | '~') {
                rest = rest.get(1..).unwrap_or_default();
            } else if first == '/' {
                rest = after_delimited(rest.get(1..).unwrap_or_default(), '/');
                rest = rest.trim_start_matches(['I', 'M']);
            } else if first == '\\' {
                let delimiter = rest.chars().nth(1)?;
                rest = after_delimited(rest.get(1 + delimiter.len_utf8()..).unwrap_or_default(), delimiter);
            } else {
                break;
            }
        }
        let command = rest.chars().next()?;
        let mut tail = rest.get(command.len_utf8()..).unwrap_or_default();
        if matches!(command, 's' | 'y') {
            let delimiter = tail.chars().next()?;
            tail = after_delimited(tail.get(delimiter.len_utf8()..).unwrap_or_default(), delimiter);
            tail = after_delimited(tail, delimiter);
        }
        let end = match command {
            'a' | 'i' | 'c' | 'w' | 'W' | 'r' | 'R' | 'e' => tail.find('\n').unwrap_or(tail.len()),
            _ => tail.find([';', '\n', '}']).unwrap_or(tail.len()),
        };
        rest = tail.get(end..).unwrap_or_default();
        Some((command, tail.get(..end).unwrap_or_default()))
    })
}

fn after_delimited(text: &str, delimiter: char) -> &str {
    let mut escaped = false;
    let mut class = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            _ if c == delimiter && !class => return text.get(at + c.len_utf8()..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}
