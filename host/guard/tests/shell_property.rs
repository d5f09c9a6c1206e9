//! Whatever the text: no panic, and work that grows with its length and no faster.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_guard::shell::{Dialect, Fault, MAX_DEPTH, MAX_TEXT, MAX_WORDS, see};
use proptest::prelude::*;

/// Steps for each byte. A byte is looked at once for each text it stands in and once more for the residue, expansions may add
/// eight bytes for each, and both readings are counted.
const STEPS_A_BYTE: usize = 24;

/// Steps for words that expansions make, of which there may be so many whatever the length.
const STEPS_FOR_WORDS: usize = 4 * MAX_WORDS;

fn check(text: &str) {
    for dialect in [Dialect::Either, Dialect::Bash, Dialect::Posix] {
        if let Ok(seen) = see(text, dialect) {
            let most = STEPS_A_BYTE * text.len() + STEPS_FOR_WORDS;
            assert!(seen.steps <= most, "{} steps for {} bytes: {text:?}", seen.steps, text.len());
            let count = seen.invocations.len();
            for (index, invocation) in seen.invocations.iter().enumerate() {
                assert!(invocation.feeds.iter().all(|reader| *reader > index && *reader < count));
                assert!(invocation.via.iter().all(|via| via.invocation < index));
                assert!(text.get(invocation.span.start..invocation.span.end).is_some(), "{text:?} {invocation:?}");
            }
        }
    }
}

const PIECES: [&str; 96] = [
    "a",
    "rm",
    " ",
    "\n",
    "\t",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    "((",
    "))",
    "{ ",
    " }",
    "{",
    "}",
    "[[ ",
    " ]]",
    "[",
    "]",
    "$(",
    "`",
    "${",
    "$((",
    "<(",
    ">(",
    "$'",
    "'",
    "\"",
    "\\",
    "\\\n",
    "$",
    "$x",
    "${x:-",
    "${x[",
    "${!x",
    "a=",
    "a+=(",
    "if ",
    "then ",
    "fi",
    "else ",
    "elif ",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case x in ",
    "esac",
    ";;",
    ";&",
    ";;&",
    "function f ",
    "f() ",
    "<<",
    "<<E",
    "<<-E",
    "<<'E'",
    "E\n",
    "\nE\n",
    "<<<",
    "<",
    ">",
    "&>",
    "2>&1",
    "{fd}>",
    "#",
    "!",
    "time ",
    "coproc ",
    "~",
    "*",
    ",",
    "{a,b}",
    "{1..3}",
    "{1..999999}",
    "$IFS",
    "sh -c ",
    "eval ",
    "env -S ",
    "xargs ",
    "find . -exec ",
    "sudo ",
    "é",
    "\u{200b}",
    "\r",
    "\0",
    "=",
    "@P",
    "printf %s ",
    "| sh",
    "parallel ",
    "base64 -d",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces_in_any_order(choice in prop::collection::vec(0..PIECES.len(), 0..60)) {
        check(&choice.iter().filter_map(|at| PIECES.get(*at)).copied().collect::<String>());
    }

    #[test]
    fn any_text(text in "\\PC{0,80}") {
        check(&text);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_piece_many_times(at in 0..PIECES.len(), other in 0..PIECES.len(), times in 1..300_usize) {
        let pair = PIECES.get(at).unwrap().to_string() + PIECES.get(other).unwrap();
        check(&pair.repeat(times));
    }
}

#[test]
fn a_text_too_long_costs_nothing() {
    for unit in ["(", "a", "$(", "a;", "\u{e9}"] {
        let text = unit.repeat((1 << 20) / unit.len());
        let fault = see(&text, Dialect::Either).unwrap_err();
        assert_eq!(fault.fault, Fault::TooLong);
    }
}

#[test]
fn full_texts_stay_linear() {
    let units = [
        "(",
        "$(",
        "`",
        "${x:-",
        "\"$(",
        "a;",
        "a|",
        "a ",
        "{a,b}",
        "{a,",
        "$x",
        "a=$a$a;",
        "<<E ",
        "sh -c ",
        "env ",
        "! ",
        "coproc ",
        "f() ",
        "[",
        "x && ",
        "$(echo a)",
        "`a`;",
        "{1..200} ",
        "((1));",
        "{ a;a; } | ",
        "a=\"$a a a\"; ",
        "\\\n",
        "[[ a ]];",
        "<<<a ",
        ">a ",
    ];
    for unit in units {
        for size in [1000, MAX_TEXT / 4, MAX_TEXT] {
            check(&unit.repeat(size / unit.len()));
        }
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |open: &str, close: &str, depth: usize| format!("{}a{}", open.repeat(depth), close.repeat(depth));
    for (open, close) in [
        ("( ", ")"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
        ("{ ", ";}"),
        ("if a; then ", ";fi"),
        ("<(", ")"),
        ("f() ", ""),
        ("coproc { ", ";}"),
        ("${x:-$(a ", ")}"),
    ] {
        let deep = nested(open, close, MAX_DEPTH + 1);
        assert_eq!(see(&deep, Dialect::Either).unwrap_err().fault, Fault::TooDeep, "{open}");
        let flat = nested(open, close, MAX_DEPTH / 4);
        assert!(see(&flat, Dialect::Either).is_ok(), "{open}");
    }
}

#[test]
fn wrappers_are_bounded() {
    let wrapped = |times: usize| "env ".repeat(times) + "rm x";
    assert_eq!(see(&wrapped(9), Dialect::Either).unwrap_err().fault, Fault::TooDeep);
    let seen = see(&wrapped(8), Dialect::Either).unwrap();
    assert_eq!(seen.invocations.last().unwrap().name(), Some("rm"));
}

#[test]
fn the_stack_of_a_thread_is_enough() {
    // 512 KiB is a quarter of what a thread has by default.
    let run = || {
        for (open, close) in
            [("( ", ")"), ("\"${x:-$(a ", ")}\""), ("f() ", ""), ("case x in x) ", ";; esac"), ("$((1+$(a ", ")))")]
        {
            for depth in 1..=MAX_DEPTH {
                let _ = see(&format!("{}a{}", open.repeat(depth), close.repeat(depth)), Dialect::Either);
            }
        }
        let mut code = "a".to_owned();
        for _ in 0..8 {
            code = format!("( ( ( eval {}", code) + " ) ) )";
            let _ = see(&code, Dialect::Either);
        }
    };
    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap().join().unwrap();
}
