//! A walk over TOML that keeps places and collects faults.

use crate::ManifestFault;
use crate::value::shown;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Collects what is wrong.
pub(super) struct Reader<'t> {
    text: &'t str,
    faults: Vec<ManifestFault>,
}

/// A table and where it stands.
#[derive(Clone)]
pub(super) struct Table<'d> {
    path: String,
    span: Range<usize>,
    entries: &'d DeTable<'d>,
}

/// A value, its key and where they stand.
#[derive(Clone)]
pub(super) struct Item<'d> {
    path: String,
    key_span: Range<usize>,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Table<'d> {
    pub(super) fn root(document: &'d Spanned<DeTable<'d>>) -> Self {
        Self { path: String::new(), span: document.span(), entries: document.get_ref() }
    }

    pub(super) fn get(&self, key: &str) -> Option<Item<'d>> {
        self.items().find(|item| item.key() == key)
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Item<'d>> {
        let path = self.path.clone();
        self.entries.iter().map(move |(key, value)| Item {
            path: if path.is_empty() { key.get_ref().to_string() } else { format!("{path}\u{1f}{}", key.get_ref()) },
            key_span: key.span(),
            value,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

impl<'d> Item<'d> {
    /// The last part of its path.
    pub(super) fn key(&self) -> &str {
        self.path.rsplit('\u{1f}').next().unwrap_or_default()
    }

    /// The whole path, for messages.
    pub(super) fn name(&self) -> String {
        self.path.split('\u{1f}').map(shown).collect::<Vec<_>>().join(".")
    }

    /// Where the value stands.
    pub(super) fn span(&self) -> Range<usize> {
        self.value.span()
    }

    /// Where the key stands.
    pub(super) fn key_span(&self) -> Range<usize> {
        self.key_span.clone()
    }

    pub(super) fn value(&self) -> &'d DeValue<'d> {
        self.value.get_ref()
    }
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, faults: Vec::new() }
    }

    pub(super) fn into_faults(self) -> Vec<ManifestFault> {
        self.faults
    }

    pub(super) fn fault(&mut self, span: &Range<usize>, message: String) {
        // Each fault costs a walk over the text to find its line; a text of nothing but faults must not cost its square.
        if self.faults.len() < 2 * super::MAX_FAULTS {
            self.faults.push(ManifestFault::at(self.text, span, message));
        }
    }

    /// Reports a failed check at the value; true where it passed.
    pub(super) fn check(&mut self, item: &Item<'_>, checked: Result<(), String>) -> bool {
        match checked {
            Ok(()) => true,
            Err(why) => {
                self.fault(&item.span(), why);
                false
            }
        }
    }

    /// Reports every key that is not one of these, with the nearest.
    pub(super) fn known(&mut self, table: &Table<'_>, known: &[&str]) {
        for item in table.items() {
            let key = item.key();
            if known.contains(&key) {
                continue;
            }
            let nearest = known
                .iter()
                .map(|name| {
                    (strsim::normalized_damerau_levenshtein(&key.chars().take(64).collect::<String>(), name), name)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0))
                .filter(|(score, _)| *score >= 0.4);
            let hint = match nearest {
                Some((_, name)) => format!("did you mean `{name}`?"),
                None => {
                    format!("known here: {}", known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", "))
                }
            };
            self.fault(&item.key_span(), format!("unknown key `{}`; {hint}", shown(key)));
        }
    }

    /// A key that must be there.
    pub(super) fn required<'d>(&mut self, table: &Table<'d>, key: &str, example: &str) -> Option<Item<'d>> {
        let item = table.get(key);
        if item.is_none() {
            let place = table.path.split('\u{1f}').map(shown).collect::<Vec<_>>().join(".");
            self.fault(&table.span, format!("`{key}` is missing in `{place}`, {example}"));
        }
        item
    }

    pub(super) fn table<'d>(&mut self, item: &Item<'d>) -> Option<Table<'d>> {
        match item.value() {
            DeValue::Table(entries) => {
                // A `[header]` has the span of the header, an implicit table (`[a.b]` for `a`) none of its own.
                let span = if item.span().is_empty() { item.key_span() } else { item.span() };
                Some(Table { path: item.path.clone(), span, entries })
            }
            other => self.wrong_type(item, other, "a table"),
        }
    }

    pub(super) fn text<'d>(&mut self, item: &Item<'d>) -> Option<&'d str> {
        match item.value() {
            DeValue::String(text) => Some(text.as_ref()),
            other => self.wrong_type(item, other, "a string"),
        }
    }

    pub(super) fn flag(&mut self, item: &Item<'_>) -> Option<bool> {
        match item.value() {
            DeValue::Boolean(flag) => Some(*flag),
            other => self.wrong_type(item, other, "`true` or `false`"),
        }
    }

    pub(super) fn count(&mut self, item: &Item<'_>) -> Option<u64> {
        match item.value() {
            DeValue::Integer(number) => {
                let parsed = u64::from_str_radix(number.as_str(), number.radix()).ok();
                if parsed.is_none() {
                    self.fault(&item.span(), format!("`{}` must be a number from 0 to {}", item.name(), u64::MAX));
                }
                parsed
            }
            other => self.wrong_type(item, other, "a whole number"),
        }
    }

    /// The elements of a list, each under the list's own key.
    pub(super) fn list<'d>(&mut self, item: &Item<'d>) -> Option<Vec<Item<'d>>> {
        match item.value() {
            DeValue::Array(values) => Some(
                values.iter().map(|value| Item { path: item.path.clone(), key_span: value.span(), value }).collect(),
            ),
            other => self.wrong_type(item, other, "a list"),
        }
    }

    /// A list of strings that each pass a check; what does not is reported and left out.
    pub(super) fn strings(&mut self, item: &Item<'_>, check: impl Fn(&str) -> Result<(), String>) -> Vec<String> {
        let mut out = Vec::new();
        for element in self.list(item).unwrap_or_default() {
            if let Some(text) = self.text(&element)
                && self.check(&element, check(text))
            {
                out.push(text.to_owned());
            }
        }
        super::repeated(self, item, &out);
        out
    }

    fn wrong_type<T>(&mut self, item: &Item<'_>, found: &DeValue<'_>, wanted: &str) -> Option<T> {
        let found = match found {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.fault(&item.span(), format!("`{}` must be {wanted}, not {found}", item.name()));
        None
    }
}
