//! Brace expansion: `{a,b}` and `{1..9}`.

use crate::shell::syntax::Part;

/// The most words that one word is followed to.
const MOST: usize = 256;

/// The most braces and commas in a word: past it, finding which belong together would cost more than reading.
const MOST_MARKS: usize = 64;

/// A part of an alternative: as written, or text from a sequence.
#[derive(Clone, Debug)]
pub(super) enum Token<'p> {
    Part(&'p Part),
    Text(String),
}

/// The alternatives of a word, each as its parts. None where there are more than are followed.
pub(super) fn alternatives(parts: &[Part]) -> Option<Vec<Vec<Token<'_>>>> {
    let marks = parts.iter().filter(|part| matches!(part, Part::Brace(_))).count();
    // Braces come first: `$a{b,c}` is `$ab $ac`.
    let joins =
        parts.windows(2).any(|pair| matches!(pair, [Part::Parameter(parameter), Part::Brace(_)] if parameter.bare));
    if marks > MOST_MARKS { None } else { expand(parts).filter(|words| !joins || words.len() == 1) }
}

/// Whether braces could mean anything.
pub(super) fn opens(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Brace('{')))
}

/// Calls itself for what is inside and behind a pair of braces; a word has at most [`MOST_MARKS`].
fn expand(parts: &[Part]) -> Option<Vec<Vec<Token<'_>>>> {
    for (start, _) in parts.iter().enumerate().filter(|(_, part)| matches!(part, Part::Brace('{'))) {
        let inside = parts.get(start + 1..).unwrap_or_default();
        let Some((length, commas)) = pair(inside) else { continue };
        let (body, rest) = inside.split_at_checked(length).unwrap_or((inside, &[]));
        let middle = if commas.is_empty() {
            match sequence(body) {
                Sequence::No => continue,
                Sequence::TooLong => return None,
                Sequence::Of(texts) => texts.into_iter().map(|text| vec![Token::Text(text)]).collect(),
            }
        } else {
            choices(body, &commas)?
        };
        let tail = expand(rest.get(1..).unwrap_or_default())?;
        if middle.len() * tail.len() > MOST {
            return None;
        }
        let head = parts.get(..start).unwrap_or_default();
        let mut out = Vec::with_capacity(middle.len() * tail.len());
        for choice in &middle {
            for end in &tail {
                let mut one: Vec<Token<'_>> = head.iter().map(Token::Part).collect();
                one.extend(choice.iter().cloned());
                one.extend(end.iter().cloned());
                out.push(one);
            }
        }
        return Some(out);
    }
    Some(vec![parts.iter().map(Token::Part).collect()])
}

/// Where the brace that closes is, and where the commas on its level are.
fn pair(inside: &[Part]) -> Option<(usize, Vec<usize>)> {
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    for (at, part) in inside.iter().enumerate() {
        match part {
            Part::Brace('{') => depth += 1,
            Part::Brace(',') if depth == 0 => commas.push(at),
            Part::Brace('}') if depth == 0 => return Some((at, commas)),
            Part::Brace('}') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn choices<'p>(body: &'p [Part], commas: &[usize]) -> Option<Vec<Vec<Token<'p>>>> {
    let mut out = Vec::new();
    let mut start = 0;
    for end in commas.iter().copied().chain([body.len()]) {
        out.extend(expand(body.get(start..end).unwrap_or_default())?);
        if out.len() > MOST {
            return None;
        }
        start = end + 1;
    }
    Some(out)
}

enum Sequence {
    No,
    TooLong,
    Of(Vec<String>),
}

/// `1..9`, `a..e`, `01..10..3`.
fn sequence(body: &[Part]) -> Sequence {
    let [Part::Literal(text)] = body else { return Sequence::No };
    let bounds: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match bounds.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Sequence::No,
    };
    let Ok(step) = step.parse::<i64>() else { return Sequence::No };
    let step = step.unsigned_abs().max(1);
    let letter = |text: &str| match text.as_bytes() {
        [one] if one.is_ascii_alphabetic() => Some(i64::from(*one)),
        _ => None,
    };
    let (from, to, width) = match (first.parse::<i64>(), last.parse::<i64>(), letter(first), letter(last)) {
        (Ok(from), Ok(to), ..) => {
            let padded = |text: &str| text.trim_start_matches('-').starts_with('0') && text.len() > 1;
            let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
            (from, to, Some(width))
        }
        (_, _, Some(from), Some(to)) => (from, to, None),
        _ => return Sequence::No,
    };
    let count = from.abs_diff(to) / step;
    if count >= MOST as u64 {
        return Sequence::TooLong;
    }
    let step = i64::try_from(step).unwrap_or(i64::MAX);
    let values = (0..=i64::try_from(count).unwrap_or_default()).map(|index| {
        let offset = index.saturating_mul(step);
        if from <= to { from.saturating_add(offset) } else { from.saturating_sub(offset) }
    });
    Sequence::Of(values.map(|value| shown(value, width)).collect())
}

fn shown(value: i64, width: Option<usize>) -> String {
    match width {
        Some(width) => format!("{value:0width$}"),
        None => u8::try_from(value).map_or_else(|_| value.to_string(), |letter| char::from(letter).to_string()),
    }
}
