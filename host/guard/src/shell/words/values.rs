//! Values of variables that are certain.

use std::collections::HashMap;

/// Variables whose values stand on the line, in the order of running. Only what is set once in the whole text is kept here by
/// the caller, so that a loop or a function cannot bring another value to an earlier word.
#[derive(Debug, Default)]
pub(crate) struct Values {
    known: HashMap<String, String>,
    log: Vec<(String, Option<String>)>,
    lost: bool,
}

impl Values {
    /// The value of a name, where it is certain.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        if self.lost { None } else { self.known.get(name).map(String::as_str) }
    }

    /// Sets a name, or makes it uncertain.
    pub(crate) fn set(&mut self, name: &str, value: Option<String>) {
        let before = match value {
            Some(value) => self.known.insert(name.to_owned(), value),
            None => self.known.remove(name),
        };
        self.log.push((name.to_owned(), before));
    }

    /// A point to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Takes back all that was set since a mark: it was set in a shell of its own, or maybe not at all.
    pub(crate) fn undo(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some((name, Some(value))) => self.known.insert(name, value),
                Some((name, None)) => self.known.remove(&name),
                None => return,
            };
        }
    }

    /// Something may have set any name: nothing is certain any more.
    pub(crate) fn lose(&mut self) {
        self.lost = true;
    }
}
