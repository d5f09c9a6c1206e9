//! The decision: what the layers of a call say about a path. No I/O; the path is the one that a descriptor was found at.

use crate::MOUNT;
use crate::globs::Globs;
use caisson_contract::{Access, Capabilities, Effect, LayerSource, Layers};
use std::path::Path;
use std::sync::Arc;

/// What is asked of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Read a file.
    Read,
    /// List a directory, or pass through it.
    Look,
    /// Make, change, remove or rename.
    Write,
    /// Make a directory, also one that is only on the way to something granted.
    MakeDir,
    /// Move a directory with all that is in it.
    Tree,
}

impl Want {
    fn writes(self) -> bool {
        matches!(self, Self::Write | Self::MakeDir | Self::Tree)
    }
}

/// Which rule said no, and the smallest change that would make it say yes (empty where nothing would).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub rule: String,
    pub grant: String,
}

impl Refusal {
    /// A refusal that no grant lifts; what it tells instead is what to do in its place.
    pub(crate) fn fixed(rule: &str) -> Self {
        let instead = match rule {
            "files.outside" => "a path that stays in `/workspace`, also where it goes through a link",
            "files.dangling-link" => "removing the link first, or another name",
            "files.special-file" => "a regular file in its place",
            "files.no-links" => "a copy of the file in place of a link",
            "files.over-budget" => "fewer files in one call",
            "files.not-found" => "making the file first",
            "files.not-a-file" => "the name of a file in it",
            "files.bad-name" => "a shorter name without NUL, with fewer links on its way",
            _ => "",
        };
        Self { rule: rule.to_owned(), grant: instead.to_owned() }
    }
}

struct LayerRule {
    source: LayerSource,
    /// `None` where the layer says nothing of the mount.
    rule: Option<(Access, Option<Arc<Globs>>)>,
}

/// The files rules of all layers of one call.
pub(crate) struct Rules {
    layers: Vec<LayerRule>,
    effect: Effect,
}

impl Rules {
    pub(crate) fn new(layers: &Layers) -> Self {
        let of = |capabilities: &Capabilities| {
            let rule = capabilities.files.get(MOUNT)?;
            Some((rule.access, rule.paths.as_deref().map(Globs::cached)))
        };
        Self {
            layers: layers
                .as_slice()
                .iter()
                .map(|layer| LayerRule { source: layer.source, rule: of(&layer.capabilities) })
                .collect(),
            effect: layers.effect(),
        }
    }

    /// Whether anything beneath the mount may be wanted so; asked before anything is opened.
    pub(crate) fn mount(&self, want: Want) -> Result<(), Refusal> {
        self.check(want, None)
    }

    /// Whether this very path may be wanted so. `path` is relative to the mount, without `.`, `..` or links.
    pub(crate) fn judge(&self, want: Want, path: &Path) -> Result<(), Refusal> {
        self.check(want, Some(path))
    }

    /// Whether any layer narrows paths, so that two places of the mount may differ in what is allowed.
    pub(crate) fn narrows_paths(&self) -> bool {
        self.layers.iter().any(|layer| matches!(&layer.rule, Some((_, Some(_)))))
    }

    fn check(&self, want: Want, path: Option<&Path>) -> Result<(), Refusal> {
        let needed = if want.writes() { Access::ReadWrite } else { Access::Read };
        if self.layers.is_empty() {
            return Err(no_rule(LayerSource::Declared, needed));
        }
        for layer in &self.layers {
            let Some((access, globs)) = &layer.rule else {
                return Err(no_rule(layer.source, needed));
            };
            if *access < needed {
                return Err(Refusal { rule: "files.read-only".into(), grant: line(layer.source, needed, None) });
            }
            if let (Some(globs), Some(path)) = (globs, path)
                && !fits(globs, want, path)
            {
                return Err(Refusal {
                    rule: format!("files.path-not-{}", layer.source.verb()),
                    grant: line(layer.source, needed, Some((want, path))),
                });
            }
        }
        if want.writes() && self.effect == Effect::ReadOnly {
            return Err(Refusal {
                rule: "files.effect-read-only".into(),
                grant: "the tool's effect must be `mutating`".into(),
            });
        }
        Ok(())
    }
}

fn fits(globs: &Globs, want: Want, path: &Path) -> bool {
    match want {
        Want::Read | Want::Write => globs.grants(path),
        Want::Look | Want::MakeDir => globs.leads_on(path),
        Want::Tree => globs.grants_tree(path),
    }
}

fn no_rule(source: LayerSource, needed: Access) -> Refusal {
    Refusal { rule: format!("files.not-{}", source.verb()), grant: line(source, needed, None) }
}

/// The smallest line that would do, and where it belongs.
fn line(source: LayerSource, needed: Access, path: Option<(Want, &Path)>) -> String {
    let access = match needed {
        Access::Read => "read",
        Access::ReadWrite => "read-write",
    };
    let place = match source {
        LayerSource::Declared => "in the plugin's manifest",
        LayerSource::Granted => "in the tenant's grant",
        LayerSource::Ceiling => "in the operator's ceiling",
        LayerSource::Caller => "for the calling tool",
    };
    match path {
        None => format!("[capabilities.files] \"{MOUNT}\" = \"{access}\" {place}"),
        Some((want, path)) => {
            let tail = if want == Want::Tree { "/**" } else { "" };
            let glob = crate::error::shorten(&format!("{}{tail}", path.to_string_lossy()));
            format!("`{glob}` among the `paths` of \"{MOUNT}\" {place}")
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use caisson_contract::{FilesRule, Layer};

    fn layer(source: LayerSource, rule: Option<(Access, Option<&[&str]>)>) -> Layer {
        let mut capabilities = Capabilities::default();
        if let Some((access, paths)) = rule {
            let paths = paths.map(|list| list.iter().map(|p| (*p).to_owned()).collect());
            capabilities.files.insert(MOUNT.into(), FilesRule { access, paths });
        }
        Layer { source, capabilities: Arc::new(capabilities) }
    }

    fn rule(layers: Vec<Layer>, effect: Effect, want: Want, path: &str) -> Option<String> {
        Rules::new(&Layers::new(layers, effect)).judge(want, Path::new(path)).err().map(|r| r.rule)
    }

    #[test]
    fn each_layer_that_refuses_is_named() {
        use LayerSource::{Caller, Ceiling, Declared, Granted};
        assert_eq!(rule(vec![], Effect::Mutating, Want::Read, "a").unwrap(), "files.not-declared");
        for (source, expected) in [
            (Declared, "files.not-declared"),
            (Granted, "files.not-granted"),
            (Ceiling, "files.not-allowed-by-operator"),
            (Caller, "files.not-granted-to-caller"),
        ] {
            let layers = vec![layer(Declared, Some((Access::ReadWrite, None))), layer(source, None)];
            assert_eq!(rule(layers, Effect::Mutating, Want::Read, "a").unwrap(), expected);
        }
    }

    #[test]
    fn a_refusal_names_the_line_that_would_do() {
        let rules = Rules::new(&Layers::new(
            vec![
                layer(LayerSource::Declared, Some((Access::ReadWrite, None))),
                layer(LayerSource::Granted, Some((Access::Read, Some(&["reports/**"])))),
            ],
            Effect::Mutating,
        ));
        let write = rules.judge(Want::Write, Path::new("reports/a")).unwrap_err();
        assert_eq!(write.rule, "files.read-only");
        assert_eq!(write.grant, "[capabilities.files] \"/workspace\" = \"read-write\" in the tenant's grant");
        let read = rules.judge(Want::Read, Path::new("b")).unwrap_err();
        assert_eq!(read.rule, "files.path-not-granted");
        assert_eq!(read.grant, "`b` among the `paths` of \"/workspace\" in the tenant's grant");
    }

    #[test]
    fn a_read_only_tool_may_read_and_not_write() {
        let all = || vec![layer(LayerSource::Declared, Some((Access::ReadWrite, None)))];
        for want in [Want::Write, Want::MakeDir, Want::Tree] {
            assert_eq!(rule(all(), Effect::ReadOnly, want, "a").unwrap(), "files.effect-read-only");
            assert_eq!(rule(all(), Effect::Mutating, want, "a"), None);
        }
        assert_eq!(rule(all(), Effect::ReadOnly, Want::Read, "a"), None);
    }

    #[test]
    fn folders_on_the_way_can_be_made_and_looked_at_but_not_moved() {
        let some = || vec![layer(LayerSource::Declared, Some((Access::ReadWrite, Some(&["a/b/**"]))))];
        for (want, path) in
            [(Want::MakeDir, "c"), (Want::Look, "c"), (Want::Tree, "a"), (Want::Write, "a"), (Want::Read, "a/x")]
        {
            assert!(rule(some(), Effect::Mutating, want, path).is_some(), "{want:?} {path}");
        }
        for (want, path) in [(Want::MakeDir, "a"), (Want::Look, ""), (Want::Tree, "a/b/c"), (Want::Write, "a/b/c")] {
            assert_eq!(rule(some(), Effect::Mutating, want, path), None, "{want:?} {path}");
        }
    }
}
