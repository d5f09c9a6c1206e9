//! Pages of a list that is sorted by name.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use caisson_registry::ToolView;

/// The page after `cursor`, at most `limit` tools, and the cursor of the next one. A cursor holds the last name of its page,
/// so a page goes on where the one before ended even where tools came or went between.
///
/// # Errors
/// Says that the cursor is not one of ours.
pub(crate) fn cut<'a>(
    tools: &'a [ToolView],
    cursor: Option<&str>,
    limit: usize,
) -> Result<(&'a [ToolView], Option<String>), String> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let last =
                decode(cursor).ok_or("the cursor is not one that this gateway gave out; leave it out to start anew")?;
            tools.partition_point(|tool| *tool.name <= *last)
        }
    };
    let rest = tools.get(start..).unwrap_or_default();
    match rest.split_at_checked(limit) {
        Some((page, after)) if !after.is_empty() => {
            let next = page.last().map(|tool| URL_SAFE_NO_PAD.encode(tool.name.as_bytes()));
            Ok((page, next))
        }
        _ => Ok((rest, None)),
    }
}

fn decode(cursor: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use caisson_contract::Effect;
    use std::sync::Arc;

    fn tool(name: &str) -> ToolView {
        ToolView {
            name: name.into(),
            title: None,
            description: "".into(),
            parameters: Arc::new(serde_json::json!({"type": "object"})),
            returns: None,
            effect: Effect::ReadOnly,
            idempotent: true,
            deferred: false,
            groups: Arc::new([]),
            plugin: "p".into(),
            plugin_version: "1.0.0".into(),
            built_in: false,
        }
    }

    fn names(tools: &[ToolView]) -> Vec<&str> {
        tools.iter().map(|tool| &*tool.name).collect()
    }

    #[test]
    fn a_foreign_cursor_is_refused() {
        assert!(cut(&[tool("a")], Some("!"), 1).is_err());
    }

    #[test]
    fn pages_follow_each_other_while_the_list_changes() {
        let tools: Vec<ToolView> = ["a", "b", "c", "d"].map(tool).into();
        let (first, next) = cut(&tools, None, 2).unwrap();
        assert_eq!(names(first), ["a", "b"]);
        let changed: Vec<ToolView> = ["aa", "c", "d", "e"].map(tool).into();
        let (second, next) = cut(&changed, next.as_deref(), 2).unwrap();
        assert_eq!(names(second), ["c", "d"]);
        let (third, next) = cut(&changed, next.as_deref(), 2).unwrap();
        assert_eq!((names(third), next), (vec!["e"], None));
        assert_eq!(cut(&tools, None, 4).unwrap().1, None);
        assert_eq!(names(cut(&tools, Some(&URL_SAFE_NO_PAD.encode("z")), 4).unwrap().0), [""; 0]);
    }
}
