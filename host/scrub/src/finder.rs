//! Finds many short literals in one pass.
//!
//! A filter of the three bytes at each place says where a literal may stand; that place alone is compared. The filter's
//! answers do not depend on each other, so a processor works on several at once, which an automaton, where every byte waits
//! for the state before it, does not allow.

use crate::tail::Alphabet;
use crate::wide::{Start, Wide};

/// Bits of the filter's index.
const INDEX: u32 = 16;

/// Which three bytes something may begin with.
pub(crate) struct Grams {
    bits: Box<[u64; 1 << (INDEX - 6)]>,
    wide: Wide,
}

impl Grams {
    /// Of sorted literals whose case counts.
    pub(crate) fn of<'a>(literals: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut grams = Self { bits: Box::new([0; 1 << (INDEX - 6)]), wide: Wide::of_neighbours(&[]) };
        let mut starts = Vec::new();
        for literal in literals {
            literal.first_chunk::<3>().into_iter().for_each(|gram| grams.add(*gram));
            starts.push(start(literal, false, None));
        }
        grams.wide = Wide::of_neighbours(&starts);
        grams
    }

    fn add(&mut self, gram: [u8; 3]) {
        let [a, b, c] = gram;
        let index = index(u32::from_le_bytes([a, b, c, 0]));
        if let Some(word) = self.bits.get_mut(index >> 6) {
            *word |= 1 << (index & 63);
        }
    }

    fn has(&self, text: &[u8], place: usize) -> bool {
        text.get(place..)
            .and_then(|rest| rest.first_chunk::<3>())
            .is_some_and(|[a, b, c]| self.bit(u64::from(u32::from_le_bytes([*a, *b, *c, 0]))) != 0)
    }

    fn bit(&self, gram: u64) -> u64 {
        // The low three bytes alone.
        let index = index((gram & 0x00ff_ffff) as u32);
        self.bits.get(index >> 6).map_or(0, |word| word >> (index & 63)) & 1
    }

    /// The first place at or after `from` that the filter lets through; where there is none, the first place that has no
    /// three bytes.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Result<usize, usize> {
        self.next_where(text, from, |_| true)
    }

    /// The same, of those places that `wanted` says yes to.
    fn next_where(&self, text: &[u8], from: usize, wanted: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mut at = from;
        if self.wide.applies(text, at) {
            match self.wide.find(text, at, |place| self.has(text, place) && wanted(place)) {
                Ok(place) => return Ok(place),
                Err(rest) => at = rest,
            }
        }
        while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let x = u64::from_le_bytes(*eight);
            let any = self.bit(x)
                | self.bit(x >> 8) << 1
                | self.bit(x >> 16) << 2
                | self.bit(x >> 24) << 3
                | self.bit(x >> 32) << 4
                | self.bit(x >> 40) << 5;
            let place = at + any.trailing_zeros() as usize;
            if any == 0 {
                at += 6;
            } else if wanted(place) {
                return Ok(place);
            } else {
                at = place + 1;
            }
        }
        while let Some(&[a, b, c]) = text.get(at..).and_then(|rest| rest.first_chunk::<3>()) {
            if self.bit(u64::from(u32::from_le_bytes([a, b, c, 0]))) != 0 && wanted(at) {
                return Ok(at);
            }
            at += 1;
        }
        Err(at)
    }
}

/// What a literal begins with, for the wide filter.
fn start(literal: &[u8], any_case: bool, next: Option<Alphabet>) -> Start {
    std::array::from_fn(|place| match literal.get(place) {
        Some(byte) if any_case && byte.is_ascii_alphabetic() => {
            vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]
        }
        Some(byte) => vec![*byte],
        None => next.map_or_else(Vec::new, |next| (0..128).filter(|byte| next.has(*byte)).collect()),
    })
}

fn index(gram: u32) -> usize {
    (gram.wrapping_mul(0x9e37_79b1) >> (32 - INDEX)) as usize
}

/// A literal to look for.
pub(crate) struct Literal {
    pub(crate) text: &'static str,
    /// In any case of ASCII letters.
    pub(crate) any_case: bool,
    /// What must follow it for anything to be found: it spares looking at many places where a short one stands.
    pub(crate) next: Option<Alphabet>,
}

/// Literals of at least three bytes, found where they begin, in the order in which they were given.
pub(crate) struct Finder {
    grams: Grams,
    literals: Vec<Literal>,
    /// For each hash of a gram, sorted: which literals begin so.
    by_gram: Vec<(usize, usize)>,
    /// For each hash, where in `by_gram` it begins.
    heads: Vec<u16>,
}

/// How a literal compares with a place.
pub(crate) enum Compared {
    /// It ends there.
    Stands(usize),
    /// The text ends within it.
    Open,
    Differs,
}

impl Finder {
    pub(crate) fn new(literals: Vec<Literal>) -> Self {
        let starts: Vec<Start> =
            literals.iter().map(|literal| start(literal.text.as_bytes(), literal.any_case, literal.next)).collect();
        let mut grams = Grams::of(std::iter::empty());
        grams.wide = Wide::grouped(&starts);
        let mut by_gram = Vec::new();
        for (number, literal) in literals.iter().enumerate() {
            let Some(first) = literal.text.as_bytes().first_chunk::<3>() else { continue };
            for gram in cases(*first, literal.any_case) {
                grams.add(gram);
                by_gram.push((index(u32::from_le_bytes([gram[0], gram[1], gram[2], 0])), number));
            }
        }
        by_gram.sort_unstable();
        by_gram.dedup();
        let mut heads = vec![u16::MAX; 1 << INDEX];
        for (place, (hash, _)) in by_gram.iter().enumerate().rev() {
            if let (Some(head), Ok(place)) = (heads.get_mut(*hash), u16::try_from(place)) {
                *head = place;
            }
        }
        Self { grams, literals, by_gram, heads }
    }

    /// The first place at or after `from` where a literal stands, or may stand once there is more text; where there is none, the
    /// first place that has no three bytes.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Result<usize, usize> {
        let stands = |place| self.at(text, place).any(|(_, compared)| !matches!(compared, Compared::Differs));
        self.grams.next_where(text, from, stands)
    }

    /// Literals that may stand at a place, and how they compare.
    pub(crate) fn at<'a>(&'a self, text: &'a [u8], place: usize) -> impl Iterator<Item = (usize, Compared)> + 'a {
        let hash = text
            .get(place..)
            .and_then(|rest| rest.first_chunk::<3>())
            .map_or(0, |gram| index(u32::from_le_bytes([gram[0], gram[1], gram[2], 0])));
        let head = self.heads.get(hash).map_or(0, |head| usize::from(*head));
        let candidates = self.by_gram.get(head..).unwrap_or_default().iter();
        candidates.take_while(move |(of, _)| *of == hash).filter_map(move |(_, number)| {
            self.literals
                .get(*number)
                .map(|literal| (*number, literal.compare(text.get(place..).unwrap_or_default(), place)))
        })
    }
}

impl Literal {
    fn compare(&self, rest: &[u8], place: usize) -> Compared {
        let literal = self.text.as_bytes();
        let shown = rest.len().min(literal.len());
        let (Some(have), Some(want)) = (rest.get(..shown), literal.get(..shown)) else { return Compared::Differs };
        let same = if self.any_case { have.eq_ignore_ascii_case(want) } else { have == want };
        match (same, shown == literal.len()) {
            (false, _) => Compared::Differs,
            (true, true) => Compared::Stands(place + shown),
            (true, false) => Compared::Open,
        }
    }
}

/// A gram in every case of its letters, where case does not count.
fn cases(gram: [u8; 3], any: bool) -> Vec<[u8; 3]> {
    let mut all = vec![gram];
    if any {
        for place in 0..gram.len() {
            for known in all.clone() {
                let mut other = known;
                if let Some(byte) = other.get_mut(place) {
                    *byte =
                        if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
                }
                all.push(other);
            }
        }
        all.sort_unstable();
        all.dedup();
    }
    all
}
