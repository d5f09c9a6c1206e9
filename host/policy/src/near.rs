//! The nearest names.

/// Names longer than this are cut before they are compared: comparing costs the product of both lengths, and the name asked
/// for is anybody's input. No tool has a longer name.
const MOST_CHARS: usize = 64;

/// Below this likeness a name is no help but a guess.
const FLOOR: f64 = 0.6;

/// At most three of the offered names, most alike first; equal ones by name. `offered` must hold only what the caller may know.
#[must_use]
pub fn nearest(name: &str, offered: &[&str]) -> Vec<String> {
    let asked: String = name.chars().take(MOST_CHARS).flat_map(char::to_lowercase).collect();
    let mut scored: Vec<(f64, &str)> = offered
        .iter()
        .map(|candidate| (likeness(&asked, candidate), *candidate))
        .filter(|(score, _)| *score >= FLOOR)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup();
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// 0 to 1. Typing mistakes count by edits; a name whose words are those of the other in another order (`file_read`,
/// `read_file`) is near too, which counting edits does not see.
fn likeness(asked: &str, candidate: &str) -> f64 {
    let edits = strsim::normalized_damerau_levenshtein(asked, candidate);
    if asked.contains(['_', '-']) || candidate.contains('_') {
        let shared = 0.95 * strsim::normalized_damerau_levenshtein(&sorted_words(asked), &sorted_words(candidate));
        edits.max(shared)
    } else {
        edits
    }
}

fn sorted_words(name: &str) -> String {
    let mut words: Vec<&str> = name.split(['_', '-']).collect();
    words.sort_unstable();
    words.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: [&str; 7] = ["read_file", "write_file", "list_files", "edit", "web_fetch", "calc", "datetime"];

    #[test]
    fn nothing_is_named_that_is_not_alike() {
        assert!(nearest("launch_missiles", &OFFERED).is_empty());
        assert!(nearest("", &OFFERED).is_empty());
        assert!(nearest("read_file", &[]).is_empty());
        assert!(nearest(&"x".repeat(1 << 20), &OFFERED).is_empty());
    }

    #[test]
    fn the_nearest_comes_first_and_three_at_most() {
        assert_eq!(nearest("raed_file", &OFFERED).first().map(String::as_str), Some("read_file"));
        assert_eq!(nearest("file_read", &OFFERED).first().map(String::as_str), Some("read_file"));
        assert_eq!(nearest("Web-Fetch", &OFFERED), ["web_fetch"]);
        assert!(nearest("e_file", &["a_file", "b_file", "c_file", "d_file"]).len() == 3);
    }
}
