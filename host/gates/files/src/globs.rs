//! Globs of a files rule, compiled once for all calls.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// What one `paths` list matches. A glob that does not compile matches nothing.
#[derive(Debug)]
pub(crate) struct Globs {
    /// The globs as written.
    exact: GlobSet,
    /// Directories on the way to what `exact` may match.
    ancestors: GlobSet,
    /// The globs that, where they match a directory, match all that is beneath it too.
    trees: GlobSet,
}

/// Distinct lists kept compiled. Lists come from manifests, grants and ceilings, so there are dozens; when somebody makes
/// more, all are forgotten at once and compiled again as they are asked for.
const CACHED: usize = 2048;

static CACHE: LazyLock<Mutex<HashMap<Vec<String>, Arc<Globs>>>> = LazyLock::new(Mutex::default);

impl Globs {
    /// Compiling costs tens of microseconds a glob, about as much as a whole call, hence the cache.
    pub(crate) fn cached(patterns: &[String]) -> Arc<Self> {
        let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = cache.get(patterns) {
            return Arc::clone(found);
        }
        let globs = Arc::new(Self::compile(patterns));
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(patterns.to_vec(), Arc::clone(&globs));
        globs
    }

    fn compile(patterns: &[String]) -> Self {
        let exact = patterns.iter().map(String::as_str);
        let trees = patterns.iter().map(String::as_str).filter(|p| *p == "**" || p.ends_with("/**"));
        let ancestors: Vec<String> = patterns.iter().flat_map(|p| ancestors_of(p)).collect();
        Self { exact: set(exact), trees: set(trees), ancestors: set(ancestors.iter().map(String::as_str)) }
    }

    /// Whether the path itself is granted.
    pub(crate) fn grants(&self, path: &Path) -> bool {
        self.exact.is_match(path)
    }

    /// Whether the directory is granted, or is on the way to something that may be.
    pub(crate) fn leads_on(&self, directory: &Path) -> bool {
        directory.as_os_str().is_empty() || self.grants(directory) || self.ancestors.is_match(directory)
    }

    /// Whether the directory and all that it could ever hold is granted.
    pub(crate) fn grants_tree(&self, directory: &Path) -> bool {
        self.trees.is_match(directory)
    }
}

/// Globs of the directories above what `pattern` matches. Cutting at `/` is wrong inside braces and classes; such pieces do
/// not compile and so lead nowhere, which only keeps a listing from showing them.
fn ancestors_of(pattern: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut prefix = String::new();
    let parts: Vec<&str> = pattern.split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            prefix.push('/');
        }
        prefix.push_str(part);
        let last = at + 1 == parts.len();
        if *part == "**" {
            found.push(prefix);
            break;
        }
        if !last {
            found.push(prefix.clone());
        }
    }
    found
}

fn set<'a>(patterns: impl Iterator<Item = &'a str>) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        // `*` stays within one folder and a backslash is an ordinary escape, as the manifest's documentation says.
        match GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build() {
            Ok(glob) => {
                builder.add(glob);
            }
            Err(error) => tracing::debug!(%error, "a path glob does not compile and matches nothing"),
        }
    }
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Globs {
        Globs::compile(&patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_glob_that_does_not_compile_and_an_empty_list_grant_nothing() {
        for list in [&["a[", "{x"][..], &[]] {
            let globs = globs(list);
            assert!(!globs.grants(Path::new("a[")));
            assert!(!globs.leads_on(Path::new("a")));
            assert!(!globs.grants_tree(Path::new("a")));
        }
    }

    #[test]
    fn a_star_stays_in_its_folder_and_case_counts() {
        let globs = globs(&["reports/*.txt"]);
        assert!(!globs.grants(Path::new("reports/2024/a.txt")));
        assert!(!globs.grants(Path::new("Reports/a.txt")));
        assert!(!globs.grants(Path::new("reports")));
        assert!(globs.grants(Path::new("reports/a.txt")));
    }

    #[test]
    fn folders_on_the_way_lead_on_and_others_do_not() {
        let globs = globs(&["a/*/c/**", "d/e.txt"]);
        for no in ["b", "a/x/y", "d/e", "d/e.txt/f", "c"] {
            assert!(!globs.leads_on(Path::new(no)), "{no}");
        }
        for yes in ["", "a", "a/x", "a/x/c", "a/x/c/d/e", "d", "d/e.txt"] {
            assert!(globs.leads_on(Path::new(yes)), "{yes}");
        }
    }

    #[test]
    fn only_a_trailing_double_star_grants_a_tree() {
        let globs = globs(&["a/**", "b/*", "**/c"]);
        for no in ["a", "b/x", "x/c", ""] {
            assert!(!globs.grants_tree(Path::new(no)), "{no}");
        }
        assert!(globs.grants_tree(Path::new("a/x")));
        assert!(globs.grants_tree(Path::new("a/x/y")));
    }
}
