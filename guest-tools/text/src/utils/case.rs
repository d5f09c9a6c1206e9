//! Words and their case.

/// Words: runs of letters and digits, cut where lower case is followed by upper (`helloWorld`) and where a run of capitals ends
/// (`HTTPServer`).
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut chars = run.chars().peekable();
        let mut before: Option<char> = None;
        while let Some(c) = chars.next() {
            let begins = before.is_some_and(|before| {
                c.is_uppercase() && (!before.is_uppercase() || chars.peek().is_some_and(|next| next.is_lowercase()))
            });
            if begins && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            word.push(c);
            before = Some(c);
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words.iter().map(|word| word.to_lowercase()).collect()
}

pub fn joined(text: &str, with: &str) -> String {
    words(text).join(with)
}

pub fn camel(text: &str, first_too: bool) -> String {
    let words = words(text);
    let cased =
        words.iter().enumerate().map(|(index, word)| if index > 0 || first_too { capital(word) } else { word.clone() });
    cased.collect()
}

/// The first letter of each word large; white space stays as it is.
pub fn title(text: &str) -> String {
    text.split_inclusive(char::is_whitespace).map(capital).collect()
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(chars.flat_map(char::to_lowercase)).collect())
}

/// For a URL: small letters without accents, digits, hyphens.
pub fn slug(text: &str) -> String {
    let plain: String = text
        .chars()
        .flat_map(char::to_lowercase)
        .map(|c| plain(c).map_or_else(|| c.to_string(), ToOwned::to_owned))
        .collect();
    let words: Vec<&str> = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// Latin letters without their accents; whole Unicode tables would weigh more than the rest of the tool.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì'..='ï' | 'ī' | 'į' | 'ı' => "i",
        'ł' | 'ľ' | 'ĺ' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => "o",
        'œ' => "oe",
        'ř' | 'ŕ' => "r",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ß' => "ss",
        'ť' | 'ţ' | 'ț' => "t",
        'þ' => "th",
        'ù'..='ü' | 'ū' | 'ů' | 'ű' | 'ų' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}
