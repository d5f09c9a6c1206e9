//! The pass over a text, whole or in pieces.
//!
//! A place is decided once all that its parser may look at is there: to the end of the line, or so many bytes, or the end of
//! the text. What a parser is shown depends on the text alone and never on where it was cut, and so does the result.

use crate::anchor::Anchor;
use crate::finder::Compared;
use crate::scrubber::Scrubber;
use crate::secrets::{Secrets, Walk};
use crate::span::{Found, Span, run_back};
use crate::tail::Alphabet;
use crate::{assign, hex, key, option, token, url};

/// How far behind a place parsers look: a name, and the fields or the program before it in the line.
pub(crate) const CONTEXT: usize = 512;

/// How far before its anchor a secret may begin: the scheme of a URL, the digits of a bot.
const BEFORE_ANCHOR: usize = 28;

/// How far ahead a parser looks in a line; a secret that is longer goes on with its alphabet.
const MOST_VALUE: usize = 4096;

/// Where a pass stands.
pub(crate) struct Pass {
    known: Vec<Walk>,
    /// No anchor before this place is undecided.
    scan: usize,
    /// Where the last secret found by an anchor ends.
    floor: usize,
    /// The secret that ends here goes on with this alphabet, and is of this class.
    open: Option<(usize, Alphabet, &'static str)>,
    /// A line break, and a place from which on none stands before it.
    line: (usize, Option<usize>),
    hex: hex::Walk,
    /// What was found and is not yet written.
    pub(crate) spans: Vec<Span>,
}

impl Pass {
    pub(crate) fn new(secrets: &Secrets) -> Self {
        Self {
            known: secrets.walks(),
            scan: 0,
            floor: 0,
            open: None,
            line: (0, None),
            hex: hex::Walk::default(),
            spans: Vec::new(),
        }
    }

    /// Decides what can be decided of `text`, which has grown since. Gives the place before which nothing will be found any more.
    pub(crate) fn advance(&mut self, scrubber: &Scrubber, secrets: &Secrets, text: &[u8], closed: bool) -> usize {
        let mut settled = secrets.advance(&mut self.known, text, closed, &mut self.spans);
        settled = settled.min(self.anchors(scrubber, text, closed));
        if scrubber.long_hex {
            settled = settled.min(self.hex.advance(text, closed, &mut self.spans));
        }
        if closed { text.len() } else { settled }
    }

    /// The first `by` bytes of the text were taken away.
    pub(crate) fn shift(&mut self, by: usize) {
        self.known.iter_mut().for_each(|walk| walk.shift(by));
        self.scan = self.scan.saturating_sub(by);
        self.floor = self.floor.saturating_sub(by);
        self.open = self.open.map(|(end, alphabet, class)| (end.saturating_sub(by), alphabet, class));
        self.line = (self.line.0.saturating_sub(by), self.line.1.map(|at| at.saturating_sub(by)));
        self.hex.shift(by);
        for span in &mut self.spans {
            span.range = span.range.start.saturating_sub(by)..span.range.end.saturating_sub(by);
        }
    }

    fn anchors(&mut self, scrubber: &Scrubber, text: &[u8], closed: bool) -> usize {
        loop {
            if let Some((from, alphabet, class)) = self.open.take() {
                let end = alphabet.end(text, from, usize::MAX);
                if end > from {
                    self.spans.push(Span { range: from..end, class });
                }
                self.scan = self.scan.max(end);
                self.floor = end;
                if end == text.len() && !closed {
                    self.open = Some((end, alphabet, class));
                    return end;
                }
            }
            match scrubber.rules.finder.next(text, self.scan) {
                Err(at) => {
                    self.scan = at;
                    return undecided(text, at);
                }
                Ok(place) => {
                    self.scan = place;
                    if !self.decide(scrubber, text, place, closed) {
                        return undecided(text, place);
                    }
                }
            }
        }
    }

    /// Looks at all anchors of a place; false where more text is needed first.
    fn decide(&mut self, scrubber: &Scrubber, text: &[u8], place: usize, closed: bool) -> bool {
        for (number, compared) in scrubber.rules.finder.at(text, place) {
            let end = match compared {
                Compared::Stands(end) => end,
                Compared::Open if !closed => return false,
                Compared::Open | Compared::Differs => continue,
            };
            let Some(&(anchor, class)) = scrubber.rules.anchors.get(number) else { continue };
            let Some((limit, cut)) = self.limit(anchor, text, place, end, closed) else { return false };
            let shown = text.get(..limit).unwrap_or(text);
            if let Some(Found { range, tail }) = look(anchor, shown, self.floor, place, end) {
                self.open = (cut && range.end == limit).then_some((limit, tail, class));
                // An anchor within a secret needs no second look.
                self.scan = range.end.max(place + 1);
                self.floor = range.end;
                self.spans.push(Span { range, class });
                return true;
            }
        }
        self.scan = place + 1;
        true
    }

    /// Up to where a parser may look from an anchor, and whether that cuts a line. Nothing where that much is not there yet.
    fn limit(&mut self, anchor: Anchor, text: &[u8], place: usize, end: usize, closed: bool) -> Option<(usize, bool)> {
        if let Anchor::PrivateKey = anchor {
            return reached(key_limit(text, end), text, closed);
        }
        let most = end + MOST_VALUE;
        let line_end = self.line_end(text, place).filter(|at| *at < most);
        let Some(line_end) = line_end else { return reached(most, text, closed) };
        if !matches!(anchor, Anchor::Name(_)) || !assign::goes_on(text.get(end..line_end).unwrap_or_default()) {
            return Some((line_end + 1, false));
        }
        let next = text.get(line_end + 1..most.min(text.len())).and_then(|rest| memchr::memchr(b'\n', rest));
        match next {
            Some(length) => Some((line_end + length + 2, false)),
            None => reached(most, text, closed),
        }
    }

    /// The first line break at or after a place, which never moves back.
    fn line_end(&mut self, text: &[u8], place: usize) -> Option<usize> {
        let (searched, found) = self.line;
        if found.is_some_and(|at| at >= place) {
            return found;
        }
        let from = if found.is_some() { place } else { searched.max(place) };
        let found = text.get(from..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|at| from + at);
        self.line = (text.len(), found);
        found
    }
}

fn reached(limit: usize, text: &[u8], closed: bool) -> Option<(usize, bool)> {
    if text.len() >= limit { Some((limit, true)) } else { closed.then_some((text.len(), false)) }
}

/// A private key is looked at up to the dashes after it; what is none, no further than its label.
fn key_limit(text: &[u8], end: usize) -> usize {
    let label = end + key::MOST_LABEL;
    let Some(body) = text.get(..label).and_then(|shown| key::body(shown, end)) else { return label };
    let rest = text.get(body..text.len().min(end + key::MOST)).unwrap_or_default();
    memchr::memmem::find(rest, key::DASHES).map_or(end + key::MOST, |at| body + at + key::MOST_LABEL)
}

/// A secret whose anchor stands at `at` or later may begin a little earlier.
fn undecided(text: &[u8], at: usize) -> usize {
    run_back(text, at, BEFORE_ANCHOR, |b| b.is_ascii_alphanumeric() || b"+.-:".contains(&b))
}

/// Looks at what stands around an anchor.
fn look(anchor: Anchor, bytes: &[u8], floor: usize, start: usize, end: usize) -> Option<Found> {
    match anchor {
        Anchor::Token(shape) => token::prefixed(shape, bytes, start, end),
        Anchor::WebToken => token::web_token(bytes, start),
        Anchor::Webhook => token::webhook(bytes, end),
        Anchor::Bot => token::bot_token(bytes, start),
        Anchor::Discord => token::discord(bytes, start),
        Anchor::Atlas => token::atlas(bytes, start, end),
        Anchor::Name(strength) => assign::assigned(strength, bytes, start, end, floor),
        Anchor::Variable => assign::variable(bytes, start, end),
        Anchor::Scheme(scheme) => token::after_scheme(scheme, bytes, start, end),
        Anchor::UserOption => option::password(bytes, start, end),
        Anchor::Thin => url::thin(bytes, end),
        Anchor::Authority => url::with_password(bytes, start, end),
        Anchor::PrivateKey => key::private(bytes, start, end),
    }
}
