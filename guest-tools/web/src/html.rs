//! From HTML to the text that a reader of the page would see.

use crate::location;
use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability, TextMode};

/// Elements that show no text, or none of the page's own.
const UNSEEN: &str = "script, style, noscript, template, iframe, frame, object, embed, svg, canvas, audio, video, dialog:not([open]), \
    input, select, textarea, [hidden], [aria-hidden=\"true\"], img[src^=\"data:\"]";
/// Less than this is no article: the whole page says more.
const MIN_CHARS: usize = 100;
const MIN_WORDS: usize = 10;
/// Elements within each other. Writing Markdown takes a few frames of the stack for each.
const MAX_DEPTH: usize = 256;

/// How a page is shown.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    Markdown,
    Text,
}

/// What was made of a page.
pub struct Extract {
    pub text: String,
    /// Whether only the main content is in it.
    pub main_only: bool,
}

/// The main content of a page, or all of it where there is none to be found. Links are completed by `url`.
pub fn extract(html: &str, url: &str, form: Form) -> Extract {
    let document = Document::from(html);
    let deep = too_deep(&document);
    document.select(UNSEEN).remove();
    remove_invisible(&document);
    if deep {
        return Extract { text: plain(&document), main_only: false };
    }
    complete_links(&document, url);
    let title = document.select("title").text().split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(text) = article(&document, &title, form) {
        return Extract { text, main_only: true };
    }
    let body = document.body();
    let text = match (form, &body) {
        (Form::Markdown, Some(body)) => body.md(None),
        (Form::Markdown, None) => document.md(None),
        (Form::Text, Some(body)) => body.formatted_text(),
        (Form::Text, None) => document.formatted_text(),
    };
    Extract { text: titled(&title, text.trim(), form), main_only: false }
}

fn article(document: &Document, title: &str, form: Form) -> Option<String> {
    let text_mode = match form {
        Form::Markdown => TextMode::Markdown,
        Form::Text => TextMode::Formatted,
    };
    let config = Config { text_mode, ..Config::default() };
    let found = Readability::with_document(document.clone(), None, Some(config)).ok()?.parse().ok()?;
    let text = found.text_content.trim();
    if text.chars().count() < MIN_CHARS || text.split_whitespace().count() < MIN_WORDS {
        return None;
    }
    let title = if found.title.is_empty() { title } else { &found.title };
    Some(titled(title, text, form))
}

/// With the title before it, unless it begins with it.
fn titled(title: &str, text: &str, form: Form) -> String {
    let first = text.lines().next().unwrap_or_default();
    if title.is_empty() || first.trim_start_matches(['#', ' ']) == title {
        return text.to_owned();
    }
    match form {
        Form::Markdown => format!("# {title}\n\n{text}"),
        Form::Text => format!("{title}\n\n{text}"),
    }
}

/// Elements that their own style hides: a place for words that only a program reads.
fn remove_invisible(document: &Document) {
    for node in document.select("[style]").nodes() {
        let style: String = node.attr("style").unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
        if style.to_ascii_lowercase().split(';').any(hides) {
            node.remove_from_parent();
        }
    }
}

fn hides(declaration: &str) -> bool {
    let declaration = declaration.trim_end_matches("!important");
    let Some((property, value)) = declaration.split_once(':') else { return false };
    let zero = || {
        value
            .trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%')
            .parse::<f32>()
            .is_ok_and(|value| value == 0.0)
    };
    match property {
        "display" => value == "none",
        "visibility" => value == "hidden" || value == "collapse",
        "opacity" | "font-size" => zero(),
        // Moved out of sight.
        "text-indent" | "left" | "top" => value.starts_with("-99"),
        _ => false,
    }
}

fn complete_links(document: &Document, url: &str) {
    let base = document.select("base[href]").attr("href").and_then(|base| location::join(url, &base));
    let base = base.as_deref().unwrap_or(url);
    for (elements, attribute) in [("a[href]", "href"), ("img[src]", "src")] {
        for node in document.select(elements).nodes() {
            let Some(link) = node.attr(attribute) else { continue };
            match location::join(base, &link) {
                Some(whole) => node.set_attr(attribute, &whole),
                // `javascript:` and the like lead nowhere for a reader.
                None if !link.starts_with("mailto:") => node.remove_attr(attribute),
                None => {}
            }
        }
    }
}

fn too_deep(document: &Document) -> bool {
    let mut open: Vec<(NodeRef<'_>, usize)> = vec![(document.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        open.extend(node.children_it(false).filter(NodeRef::is_element).map(|child| (child, depth + 1)));
    }
    false
}

/// Every text of the document in its order, without recursion.
fn plain(document: &Document) -> String {
    let mut words = String::new();
    for node in document.root().descendants_it().filter(NodeRef::is_text) {
        for word in node.text().split_whitespace() {
            words.push_str(word);
            words.push(' ');
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAGRAPH: &str = "This is a paragraph of the article, long enough that a reader would call it content and not decoration, with commas, and more.";

    fn page(body: &str) -> String {
        format!("<html><head><title>The title</title><style>p{{}}</style></head><body>{body}</body></html>")
    }

    fn article(inner: &str) -> String {
        page(&format!(
            "<nav><a href=/a>Menu one</a> <a href=/b>Menu two</a></nav><article><h1>The title</h1>{inner}{}</article><footer>Imprint</footer>",
            format!("<p>{PARAGRAPH}</p>").repeat(6)
        ))
    }

    #[test]
    fn what_a_reader_does_not_see_is_dropped() {
        for hidden in [
            "<p style='display: none'>SECRET</p>",
            "<p style='color:red;Visibility:HIDDEN'>SECRET</p>",
            "<p style='opacity:0'>SECRET</p>",
            "<p style='font-size:0px'>SECRET</p>",
            "<p style='position:absolute;left:-9999px'>SECRET</p>",
            "<p style='display:none !important'>SECRET</p>",
            "<p hidden>SECRET</p>",
            "<p aria-hidden='true'>SECRET</p>",
            "<script>SECRET</script>",
            "<template>SECRET</template>",
            "<noscript>SECRET</noscript>",
            "<!-- SECRET -->",
            "<div style='display:none'><div style='display:none'>SECRET</div></div>",
        ] {
            for form in [Form::Markdown, Form::Text] {
                for html in [article(hidden), page(hidden)] {
                    let text = extract(&html, "https://a.example/", form).text;
                    assert!(!text.contains("SECRET"), "{hidden}: {text}");
                }
            }
        }
        let shown =
            extract(&article("<p style='opacity:0.5'>VISIBLE words</p>"), "https://a.example/", Form::Markdown).text;
        assert!(shown.contains("VISIBLE"), "{shown}");
    }

    #[test]
    fn a_page_nested_without_end_is_read_all_the_same() {
        // The parser looks at every open element for each new one; what takes too long by that, the host's CPU budget ends.
        let html = format!("{}deep words{}", "<div>".repeat(5_000), "</div>".repeat(5_000));
        let found = extract(&html, "https://a.example/", Form::Markdown);
        assert_eq!(found.text.trim(), "deep words");
    }

    #[test]
    fn the_main_content_is_found() {
        let found = extract(
            &article("<p>See <a href='../x?y=1'>this <b>bold</b> link</a>.</p><ul><li>one<li>two</ul>"),
            "https://a.example/b/c",
            Form::Markdown,
        );
        assert!(found.main_only);
        assert!(found.text.starts_with("# The title\n"), "{}", found.text);
        assert!(found.text.contains("[this bold link](https://a.example/x?y=1)"), "{}", found.text);
        assert!(found.text.contains("- one\n- two"), "{}", found.text);
        assert!(!found.text.contains("Menu one") && !found.text.contains("Imprint"), "{}", found.text);
    }

    #[test]
    fn a_page_without_an_article_is_shown_whole() {
        let found =
            extract(&page("<p>Short.</p><a href='javascript:x()'>go</a>"), "https://a.example/", Form::Markdown);
        assert!(!found.main_only);
        assert!(found.text.starts_with("# The title\n\nShort."), "{}", found.text);
        assert!(!found.text.contains("javascript"), "{}", found.text);
    }

    #[test]
    fn plain_text_has_no_markup() {
        let found = extract(&article("<p>See <a href='/x'>this</a>.</p>"), "https://a.example/", Form::Text);
        assert!(found.text.contains("See this."), "{}", found.text);
        assert!(!found.text.contains("https://"), "{}", found.text);
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(extract("", "https://a.example/", Form::Markdown).text, "");
    }
}
