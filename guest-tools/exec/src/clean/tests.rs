use super::*;

fn text(bytes: impl AsRef<[u8]>) -> String {
    clean(bytes.as_ref()).text
}

#[test]
fn plain_text_stays_as_it_is() {
    for plain in ["", "a", "a\n", "\n\n a\tb\n", "grüße, 日本語 👩‍👩‍👧 e\u{301}\n", "[31m no escape", "50%\nnext"]
    {
        assert_eq!(clean(plain.as_bytes()), Clean { text: plain.into(), overwritten: false, odd: 0 });
    }
}

#[test]
fn colours_and_cursor_moves_are_gone() {
    for (bytes, shown) in [
        ("\x1b[31merror\x1b[0m: no", "error: no"),
        ("\x1b[1;38;5;196mred\x1b[m", "red"),
        ("\x1b[38:2::1:2:3mred\x1b[K", "red"),
        ("\x1b[?25l\x1b[2J\x1b[Hhome\x1b[?25h", "home"),
        ("\u{9b}31mred", "red"),
        ("\x1b(Bascii\x1b)0", "ascii"),
        ("\x1b7saved\x1b8\x1bc", "saved"),
        ("\x07bell\x07", "bell"),
    ] {
        assert_eq!(text(bytes), shown, "{bytes:?}");
    }
}

#[test]
fn titles_and_links_are_gone_but_not_the_text_in_them() {
    for (bytes, shown) in [
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]0;title\x1b\\after", "after"),
        ("\u{9d}0;title\u{9c}after", "after"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2\x1b\\image", "image"),
        ("\x1b_data\x1b\\x", "x"),
    ] {
        assert_eq!(text(bytes), shown, "{bytes:?}");
    }
}

#[test]
fn what_does_not_end_swallows_nothing() {
    for (bytes, shown) in [
        ("\x1b]0;title\nall the rest", "0;title\nall the rest"),
        ("\x1b]0;title\x1b[31mrest", "0;titlerest"),
        ("\x1b[31", "31"),
        ("\x1b[12\nline", "12\nline"),
        ("\x1b[31äm", "31äm"),
        ("end\x1b", "end"),
        ("end\x1b(", "end("),
        ("\x1bé", "é"),
        ("\x1b\nx", "\nx"),
        ("\x1bPbell\x07does not end it", "bell"),
    ] {
        assert!(text(bytes).starts_with(shown), "{bytes:?}: {:?}", text(bytes));
    }
    let long = format!("\x1b]{}\x07", "x".repeat(SEQUENCE_MAX));
    assert_eq!(text(&long), "x".repeat(SEQUENCE_MAX));
    let digits = format!("\x1b[{}m", "1".repeat(SEQUENCE_MAX));
    assert_eq!(text(&digits).len(), SEQUENCE_MAX + 1);
}

#[test]
fn a_line_that_was_written_over_is_shown_in_its_last_state() {
    for (bytes, shown) in [
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("10%\r\x1b[K50%\r", "50%"),
        ("10%\x1b[2K\x1b[1G50%\x1b[G99%", "99%"),
        ("one\ntwo 1\rtwo 2\r\nthree", "one\ntwo 2\nthree"),
        ("a\r\r\rb", "b"),
    ] {
        let made = clean(bytes.as_bytes());
        assert_eq!(made.text, shown, "{bytes:?}");
        assert!(made.overwritten, "{bytes:?}");
    }
    for (bytes, shown) in [("a\r\nb\r\n", "a\nb\n"), ("a\r\r\nb", "a\nb"), ("\ra", "a"), ("  \ra", "a"), ("a\r", "a")] {
        let made = clean(bytes.as_bytes());
        assert_eq!(made.text, shown, "{bytes:?}");
        assert!(!made.overwritten, "{bytes:?}");
    }
}

#[test]
fn letters_struck_twice_are_one() {
    assert_eq!(text("N\x08NA\x08AM\x08ME\x08E _\x08a"), "NAME a");
    assert_eq!(text("ä\x08\x08\x08b\n\x08c"), "b\nc");
}

#[test]
fn what_is_no_text_is_shown_and_counted() {
    for (bytes, shown, odd) in [
        (b"a\xffb".as_slice(), "a\u{fffd}b", 1),
        (b"\xe2\x82", "\u{fffd}", 1),
        (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}", 3),
        (b"a\0b\0\0\0c", "a\u{2400}b\u{2400}c", 4),
        (b"a\x01\x02\x7fb", "ab", 3),
    ] {
        let made = clean(bytes);
        assert_eq!((made.text.as_str(), made.odd), (shown, odd), "{bytes:?}");
    }
}

#[test]
fn no_bytes_leave_a_control_character() {
    // Every pair and some triples of what means something, so that no order of them is left out.
    let pieces: [&[u8]; 14] = [
        b"\x1b",
        b"[",
        b"]",
        b"P",
        b"\\",
        b"\x07",
        b"\r",
        b"\n",
        b"\x08",
        b"\0",
        b"\xc2\x9b",
        b"\xc2\x9d",
        b"m",
        b"\xff",
    ];
    for a in pieces {
        for b in pieces {
            for c in pieces {
                let made = text([a, b, c, a].concat());
                assert!(!made.chars().any(|c| c.is_control() && c != '\n'), "{a:?} {b:?} {c:?}: {made:?}");
            }
        }
    }
}
