//! What really runs was seen: generated commands are run by real shells in an empty folder, with a PATH of stand-ins that do
//! nothing, and every program that says so and every one in the shell's own trace has to be among those that the scanner saw.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

use caisson_guard::shell::{Dialect, Invocation, Seen, Word, see};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A small generator, so that a failure can be repeated from its number.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Stand-ins: `p…` succeed, `q…` fail.
const PROGRAMS: [&str; 12] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "q0", "q1"];

/// Pieces that are put together at random: most results are no commands at all, the rest are what nobody would write.
const SOUP: [&str; 118] = [
    "p0",
    "p1",
    "p2",
    "p3",
    "p4",
    "p5",
    "p6",
    "p7",
    "p8",
    "p9",
    "q0",
    " p1 ",
    " p2 ",
    "\np3 ",
    ";p4 ",
    "&p5 ",
    "|p6 ",
    "(p7 ",
    "{ p8 ",
    "$(p9 ",
    "`p0 ",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    ";",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    ")",
    "((",
    "))",
    "{ ",
    "; }",
    "}",
    "[[ ",
    " ]]",
    "[",
    "]",
    "$(",
    "`",
    "`",
    "${",
    "}",
    "$((",
    "))",
    "<(",
    ">(",
    "$'",
    "'",
    "'",
    "'",
    "\"",
    "\"",
    "\"",
    "\\",
    "\\\n",
    "\\\\",
    "\\'",
    "\\\"",
    "\\`",
    "\\$",
    "$",
    "$x",
    "${x:-",
    "${x}",
    "${x#",
    "${x/",
    "x=",
    "x+=(",
    "x=p1;",
    "x[",
    "if ",
    " then ",
    ";fi",
    " else ",
    "for x in ",
    ";do ",
    ";done",
    "until ",
    "while q0;",
    "case x in ",
    ";esac",
    ";;",
    ";&",
    ";;&",
    "g() ",
    "function g ",
    "<<E",
    "<<-E",
    "<<'E'",
    "<<\\E",
    "\nE\n",
    "E\n",
    "\tE\n",
    "<<<",
    "<",
    ">x",
    ">&",
    "&>x",
    "2>&1",
    "{x}>x",
    "#",
    " #",
    "!",
    "! ",
    "time ",
    "coproc ",
    "~",
    "*",
    "{",
    ",",
];

/// Pieces around here-documents, where a line more or less decides what is text and what is run.
const HERE: [&str; 48] = [
    "p1 <<E",
    "p2 <<-E",
    "p3 <<'E'",
    "p4 <<\\E",
    "p5 <<\"E\"",
    " <<F",
    " <<E <<F",
    "\n",
    "\n",
    "\n",
    "\nE\n",
    "\nE\n",
    "\n\tE\n",
    "\nF\n",
    "E",
    "F",
    "E\n",
    "F\n",
    "\\\n",
    "\\",
    "\\\\\n",
    "$(p6)",
    "`p7`",
    "$(p8 <<F\n",
    "F\n)",
    ")",
    "(",
    ";p9 ",
    "|p0 ",
    "&& p1 ",
    "\np2 ",
    "\np3\n",
    "'",
    "\"",
    "${x:-",
    "}",
    " #",
    "$((1))",
    "x",
    "E)",
    "EE",
    " E",
    "E ",
    "\nE;p4\n",
    "`",
    "$(",
    "{ ",
    "\n}\n",
];

fn here(dice: &mut Dice) -> String {
    let length = 2 + dice.below(9);
    let mut text = dice.pick(&HERE[..7]).to_owned();
    text.extend((0..length).map(|_| dice.pick(&HERE)));
    // Most of what does not end is refused, which proves nothing.
    text + dice.pick(&["", "\nE\n", "\nE\nF\n", "\nF\nE\n", "\nE\n)\nE\n", "\nE\np5\n"])
}

fn soup(dice: &mut Dice) -> String {
    let length = 2 + dice.below(22);
    (0..length).map(|_| dice.pick(&SOUP)).collect()
}

/// A command that is well formed, down to a depth.
fn command(dice: &mut Dice, depth: usize) -> String {
    let program = dice.pick(&PROGRAMS).to_owned();
    if depth == 0 {
        return format!("{program} {}", word(dice, 0));
    }
    let one = command(dice, depth - 1);
    let two = command(dice, depth - 1);
    match dice.below(24) {
        0 => format!("{one}; {two}"),
        1 => format!("{one} && {two}"),
        2 => format!("{one} || {two}"),
        3 => format!("{one} | {two}"),
        // Without the blank, two brackets could also open arithmetic, which is refused.
        4 => format!("( {one}; {two})"),
        5 => format!("{{ {one}; {two}; }}"),
        6 => format!("if {one}; then {two}; else {program} x; fi"),
        7 => format!("for v in 1 2; do {one}; done"),
        8 => format!("until {program} || p1; do {one}; done"),
        9 => format!("case x in x) {one};; *) {two};; esac"),
        10 => format!("g() {{ {one}; }}; g"),
        11 => format!("{program} \"$( {one})\""),
        12 => format!("{program} `p2 x`; {one}"),
        13 => format!("v={program}; $v {}; {one}", word(dice, depth)),
        14 => format!("eval '{program} x'; {one}"),
        15 => format!("sh -c '{program} $0'; {one}"),
        16 => format!("cat <<E\n$({program} a)\nE\n{one}"),
        17 => format!("env A=1 {program} x; {one}"),
        18 => format!("echo {program} x | sh; {one}"),
        19 => format!("${{unset:-{program}}} x; {one}"),
        20 => format!("{program} >x 2>&1 <<'E' && {one}\n$(p9)\nE\n{two}"),
        21 => format!("timeout 5 nice {program} x; {one}"),
        22 => format!("echo a b | xargs {program}; {one}"),
        _ => format!("{program} {} {}; {one}", word(dice, depth), word(dice, depth)),
    }
}

/// Pieces of words, whose resolution is compared with what arrives.
const WORDS: [&str; 56] = [
    "a",
    "b",
    "-x",
    "{",
    "}",
    ",",
    "{a,b}",
    "{1..3}",
    "{c..a..2}",
    "{a,{b,c}}",
    "..",
    "'",
    "'",
    "\"",
    "\"",
    "''",
    "\"\"",
    "' '",
    "\\ ",
    "\\\\",
    "\\n",
    "\\$v",
    "$'\\x41\\t'",
    "$'\\101\\''",
    "$'a b'",
    "$\"a\"",
    "$v",
    "\"$v\"",
    "${v}",
    "${w:-d e}",
    "\"${w:-d e}\"",
    "${v:+f}",
    "${w-g}",
    "$IFS",
    "\"$IFS\"",
    "$(echo h  i)",
    "\"$(echo h  i)\"",
    "$(printf '%s-' j k)",
    "`echo l`",
    "$((1+2))",
    "[",
    "]",
    "*",
    "?",
    "~",
    "=",
    ":",
    "#",
    "%",
    "$",
    "\\\n",
    "$(printf '\\155\\n')",
    "$(echo n | cat)",
    "@",
    "!",
    "^",
];

/// A command with words of odd pieces, behind assignments that they use.
fn words(dice: &mut Dice) -> String {
    let mut text =
        dice.pick(&["", "v=m; ", "v='o p'; ", "v=; ", "v=\"q  r\" ;", "v=$(echo s t);", "w=u; v=$w;"]).to_owned();
    text.push_str("p1");
    for _ in 0..1 + dice.below(3) {
        text.push(' ');
        for _ in 0..1 + dice.below(5) {
            text.push_str(dice.pick(&WORDS));
        }
    }
    text
}

/// Statements that set names in every way, and use them as programs.
const VALUES: [&str; 54] = [
    "v=p1",
    "v=p1",
    "w=p2",
    "w=p2",
    "$v a",
    "$v a",
    "$w b",
    "\"$v\" c",
    "${v} d",
    "w=$v",
    "w=${v}",
    "v=$w",
    "q0 && v=p3",
    "p0 || v=p4",
    "p0 && v=p5",
    "q0 || v=p6",
    "q0 && v=p3 && $v",
    "p0 || v=p3 && $v",
    "q0 && v=p3 || $v",
    "(v=p7; $v)",
    "{ v=p8; }",
    "if q0; then v=p3; fi",
    "if v=p4; then $v; fi",
    "for i in 1 2; do $v; v=p5; done",
    "for v in p6 p7; do $v; done",
    "for i in 1; do w=p8; $w; done",
    "while q0; do v=p9; done",
    "until v=p9; do p0; done",
    "eval v=p3",
    "eval \"w=p4; \\$w\"",
    "unset v",
    "export v=p5",
    "export w=$v",
    "v=p6 p7",
    "v=p8 | p9",
    "v=p8 & wait",
    "f() { v=p3; $v; }; f",
    "v=$(echo p4)",
    "w=`printf p5`",
    "${v:-p6} e",
    "${w:=p7} f",
    "${v:+p8} g",
    "case x in x) v=p9;; esac",
    "read v <<E\np3\nE\n",
    "v=; ${v}p4",
    "p$u",
    "${v}x; $v",
    "$(echo $v) h",
    "sh -c '$v i'",
    "v='p5 j'; $v",
    "x=p; ${x}6 k",
    "set -- p7; $1",
    "command eval w=p8",
    "readonly u=9; p$u",
];

fn values(dice: &mut Dice) -> String {
    let count = 1 + dice.below(5);
    let statements: Vec<&str> = (0..count).map(|_| dice.pick(&VALUES)).collect();
    statements.join("\n")
}

fn word(dice: &mut Dice, depth: usize) -> String {
    let program = dice.pick(&PROGRAMS);
    match if depth == 0 { dice.below(6) } else { dice.below(12) } {
        0 => "a".to_owned(),
        1 => "'; p3 $(p4) '".to_owned(),
        2 => "\"; p5\"".to_owned(),
        3 => "\\;".to_owned(),
        4 => "a#b".to_owned(),
        5 => "$HOME".to_owned(),
        6 => format!("$({program} x)"),
        7 => format!("\"$({program} \"y\")\""),
        8 => format!("${{v:-$({program})}}"),
        9 => format!("$((1 + $({program}; echo 1)))"),
        10 => format!("`{program} \"\\`p6\\`\"`"),
        _ => format!("x{program}"),
    }
}

/// A folder with stand-ins in `bin`, and an empty one to run in.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("caisson-shell-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("bin")).unwrap();
        fs::create_dir_all(place.join("work")).unwrap();
        for program in PROGRAMS {
            let (path, log) = (place.join("bin").join(program), place.join("log"));
            let status = u8::from(program.starts_with('q'));
            // One record a run, written at once: the name and its arguments behind unit separators.
            let script = format!(
                "#!/bin/sh\nr={program}\nfor a; do r=\"$r\u{1f}$a\"; done\nprintf '%s\\036' \"$r\" >>{}\nexit {status}\n",
                log.display()
            );
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for program in ["cat", "env", "nice", "timeout", "xargs"] {
            symlink(Path::new("/usr/bin").join(program), place.join("bin").join(program)).unwrap();
        }
        symlink("/bin/sh", place.join("bin/sh")).unwrap();
        Self(place)
    }

    /// Runs a text and returns the programs that ran, by how they were called: those that say so themselves, and only by name
    /// those in the trace of bash, which quotes names so that they cannot be mistaken. Limits of time, memory and file size hold
    /// whatever the text turns out to be.
    fn run(&self, shell: &str, text: &str) -> Ran {
        let _ = fs::remove_file(self.0.join("log"));
        let output = Command::new("/bin/bash")
            .args([
                "-c",
                "ulimit -t 2 -v 400000 -f 64 -n 64; exec /usr/bin/timeout -s KILL 2 \"$@\"",
                "limits",
                shell,
                "-xc",
                text,
            ])
            .current_dir(self.0.join("work"))
            .env_clear()
            .env("PATH", self.0.join("bin"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let trace = String::from_utf8_lossy(&output.stderr).into_owned();
        let log = fs::read(self.0.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let calls: BTreeSet<Vec<String>> =
            log.split_terminator('\u{1e}').map(|record| record.split('\u{1f}').map(str::to_owned).collect()).collect();
        let mut names: BTreeSet<String> = calls.iter().map(|call| call[0].clone()).collect();
        for line in trace.lines().filter(|line| line.starts_with('+') && shell.ends_with("bash")) {
            let command = line.trim_start_matches('+').trim_start();
            names.extend(command.split(' ').next().map(str::to_owned));
        }
        names.retain(|name| PROGRAMS.contains(&name.as_str()));
        Ran { calls, names }
    }
}

/// What ran.
struct Ran {
    /// Each call of a stand-in, its name first.
    calls: BTreeSet<Vec<String>>,
    /// Every name.
    names: BTreeSet<String>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The names that the scanner saw; none where a program is unknown, which denies whatever else there is.
fn names(seen: &Seen) -> Option<BTreeSet<String>> {
    if seen.invocations.iter().any(|one| one.unknown_program()) {
        return None;
    }
    Some(seen.invocations.iter().filter_map(|one| one.name().map(str::to_owned)).collect())
}

/// Whether an invocation may be this call: known arguments are exact, the others may be anything.
fn may_be(invocation: &Invocation, call: &[String]) -> bool {
    let [name, args @ ..] = call else { return false };
    let splits = invocation.args.iter().any(Word::may_split);
    let fits =
        || invocation.args.len() == args.len() && invocation.args.iter().zip(args).all(|(word, arg)| word.may_be(arg));
    invocation.name() == Some(name) && (splits || fits())
}

/// Runs texts under both shells; how many were compared.
fn compare(name: &str, texts: impl Iterator<Item = String>) -> usize {
    let place = Place::new(name);
    let mut compared = 0;
    for text in texts {
        let Ok(seen) = see(&text, Dialect::Either) else { continue };
        let Some(names) = names(&seen) else { continue };
        compared += 1;
        for shell in ["/bin/bash", "/bin/dash"] {
            assert!(Path::new(shell).exists(), "`{shell}` is missing; install it to run this test");
            let ran = place.run(shell, &text);
            let missed: Vec<&String> = ran.names.difference(&names).collect();
            assert!(missed.is_empty(), "{shell} ran {missed:?}, unseen, of {text:?}; seen: {names:?}");
            for call in &ran.calls {
                let known = seen.invocations.iter().any(|invocation| may_be(invocation, call));
                let shown: Vec<String> = seen.invocations.iter().map(ToString::to_string).collect();
                assert!(known, "{shell} ran {call:?} of {text:?}, seen with other arguments: {shown:?}");
            }
        }
    }
    compared
}

fn cases(most: u64) -> std::ops::Range<u64> {
    // More on demand, for whoever changes the reader.
    let times = std::env::var("CAISSON_SHELL_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    0..most * times
}

#[test]
fn well_formed_commands_run_nothing_unseen() {
    let texts = cases(120).map(|seed| {
        let mut dice = Dice::new(seed);
        let depth = 1 + dice.below(3);
        command(&mut dice, depth)
    });
    let compared = compare("formed", texts);
    assert!(compared > 60, "only {compared} were read");
}

#[test]
fn words_arrive_as_resolved() {
    let compared = compare("words", cases(300).map(|seed| words(&mut Dice::new(seed))));
    assert!(compared > 90, "only {compared} were read");
}

#[test]
fn values_are_followed_only_where_they_are_certain() {
    let compared = compare("values", cases(300).map(|seed| values(&mut Dice::new(seed))));
    assert!(compared > 60, "only {compared} were read");
}

#[test]
fn here_documents_run_nothing_unseen() {
    let compared = compare("here", cases(1500).map(|seed| here(&mut Dice::new(seed))));
    assert!(compared > 50, "only {compared} were read");
}

#[test]
fn soup_runs_nothing_unseen() {
    let texts = cases(1500).map(|seed| soup(&mut Dice::new(seed)));
    let compared = compare("soup", texts);
    assert!(compared > 50, "only {compared} were read");
}

/// The programs that another reader sees, from how it prints its tree: behind each marker stands a name.
fn printed_names(tree: &str, marker: &str) -> BTreeSet<String> {
    let names = tree.split(marker).skip(1).filter_map(|rest| rest.split(['"', ',']).next());
    names.filter(|name| PROGRAMS.contains(name)).map(str::to_owned).collect()
}

/// The programs that `shuck` sees: a name's tree holds its text, or where that stands.
fn shuck_names(text: &str) -> BTreeSet<String> {
    let tree = format!("{:?}", shuck_parser::parser::Parser::new(text).parse().file);
    let mut names = printed_names(&tree, "SimpleCommand { name: Word { parts: [WordPartNode { kind: Literal(Owned(\"");
    for rest in tree.split("SimpleCommand { name: Word { parts: [WordPartNode { kind: Literal(Source)").skip(1) {
        let offsets: Vec<usize> = rest
            .split("offset: ")
            .skip(1)
            .take(2)
            .filter_map(|offset| offset.split(' ').next().unwrap_or_default().parse().ok())
            .collect();
        names.extend(text.get(offsets[0]..offsets[1]).filter(|name| PROGRAMS.contains(name)).map(str::to_owned));
    }
    names
}

#[test]
fn other_readers_see_no_more() {
    let mut both = [0_usize; 2];
    for seed in cases(400) {
        let mut dice = Dice::new(seed);
        let depth = 1 + dice.below(3);
        let text = command(&mut dice, depth);
        let checked = Command::new("/bin/bash").args(["-n", "-c", &text]).stderr(Stdio::null()).status().unwrap();
        let seen = see(&text, Dialect::Either);
        assert!(!checked.success() || seen.is_ok(), "bash reads {text:?}, which is refused: {seen:?}");
        let Ok(seen) = seen else { continue };
        let seen: BTreeSet<String> = seen.invocations.iter().filter_map(|one| one.name().map(str::to_owned)).collect();
        let rable = format!("{:?}", rable::parse(&text, false).unwrap_or_default());
        let others = [printed_names(&rable, "words: [Node { kind: Word { value: \""), shuck_names(&text)];
        for (other, count) in others.iter().zip(&mut both) {
            *count += other.len();
            let missed: Vec<&String> = other.difference(&seen).collect();
            assert!(missed.is_empty(), "another reader sees {missed:?} in {text:?}");
        }
    }
    assert!(both.iter().all(|count| *count > 400), "the other readers saw too little to compare: {both:?}");
}

/// Texts that readers of shell text are known to get wrong, or that look as if they might.
const TRICKY: [&str; 60] = [
    "p1 $(case x in x) p2;; esac)",
    "p1 $(case x in (x) p2;; (y) p3; esac; p4)",
    "p1 \"$(case x in x) p2 \")\";; esac)\"",
    "p1 `case x in x) p2;; esac`",
    "p1 $(p2 # )\n)",
    "p1 $(p2 ')' \")\" \\) ; p3)",
    "p1 $(cat <<E\n)\nE\n); p2",
    "p1 \"$(cat <<'E'\n\"$(p3)\nE\n)\"; p2",
    "p1 ${x:-`p2`} ${y:-\"$(p3)\"}",
    "p1 ${x:-a}b}; p2",
    "p1 \"${x:-a\\}b}\"; p2",
    "p1 ${x:-'}'}; p2",
    "p1 ${x:-\"}\"}; p2",
    "p1 ${#x} ${x#p} ${x##p} ${x%'}'}; p2",
    "p1 $((1 + (2)))$(p2)",
    "p1 $(( $(p2; echo 1) + `p3; echo 2` ))",
    "p1 $((x = 1, y))\np2",
    "p1 \\\n\\\np2; p3",
    "p\\\n1 a; i\\\nf p2; th\\\nen p3; f\\\ni",
    "p1 $\\\n(p2)",
    "p1 \"$\\\n(p2)\"",
    "p1 # \\\np2",
    "p1 a#b # c; p2\np3",
    "p1;#p2\np3",
    "p1 '#' ; p2",
    "p1 \\# ; p2",
    "p1 ''#a; p2",
    "p1 <<E; p2\n$(p3)\nE\np4",
    "p1 <<A; p2 <<B\n`p3`\nA\n$(p4)\nB\np5",
    "p1 <<E && p2 || p3\nE\np4",
    "p1 <<'E'\nE \n\tE\n E\nE\np2",
    "p1 <<-E\n\ta\n\tE\np2",
    "p1 <<E\n\\$(p2) \\\\$(p3)\nE",
    "{ p1; } <<E\n$(p2)\nE",
    "while p1 <<E\nE\ndo p2; break; done",
    "if p1; then p2; fi <<E\n$(p3)\nE",
    "f() { p1; } <<E\n$(p2)\nE\nf",
    "p1 | while p2; do p3; break; done | p4",
    "! p1 | p2; ! ! p3",
    "time p1; time -p p2; time { p3; }",
    "p1 & p2 & wait; p3",
    "{ p1;}; (p2); (p3)",
    "case p1 in p1) ;; esac; p2",
    "case a in a) p1 ;& b) p2 ;;& a) p3 ;; esac",
    "for p1 in p2; do p3; done",
    "for x in if then; do p1; done",
    "select x in a; do p1; break; done </dev/null",
    "x=(p1 $(p2)); p3",
    "x[0]=$(p1) p2",
    "x=1 y=`p1` p2 z=$(p3)",
    ">x p1 <x; 2>&1 p2; p3 >&2 2>x",
    "p1 3>&1 4<&0 5>&-; p2 &>x; p3 >&x",
    "p1 <<<$(p2); p3",
    "cat <(p1) >(p2); p3",
    "[[ $(p1) == a || -n $(p2) ]]; p3",
    "[ \"$(p1)\" ] && p2; [ a ] || p3",
    "eval 'p1; p2' '| p3'; eval \"p4 \\$(p5)\"",
    "sh -c 'p1 \"$(p2)\"' p3; env -i PATH=\"$PATH\" p4",
    "trap 'p1' EXIT; p2",
    "coproc p1; coproc X { p2; }; wait; p3",
];

#[test]
fn tricky_texts_run_nothing_unseen() {
    let compared = compare("tricky", TRICKY.iter().map(|text| (*text).to_owned()));
    assert!(compared > 50, "only {compared} were read");
}

#[test]
fn the_comparison_can_fail() {
    let place = Place::new("fails");
    let ran = place.run("/bin/bash", "p1 a 'b c'; $(echo p2) >x");
    assert_eq!(ran.names, ["p1", "p2"].map(str::to_owned).into());
    assert!(ran.calls.contains(&["p1", "a", "b c"].map(str::to_owned)[..]));
    assert_eq!(place.run("/bin/dash", "q1 || p3 | p4").names, ["p3", "p4", "q1"].map(str::to_owned).into());
    let seen = see("p1 a \"$x\"c *", Dialect::Either).unwrap();
    let call = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    assert!(may_be(&seen.invocations[0], &call(&["p1", "a", "b", "c"])));
    let seen = see("p1 a \"$x\"c", Dialect::Either).unwrap();
    assert!(may_be(&seen.invocations[0], &call(&["p1", "a", "bc"])));
    assert!(!may_be(&seen.invocations[0], &call(&["p1", "a", "b"])));
    assert!(!may_be(&seen.invocations[0], &call(&["p1", "b", "bc"])));
    if see("p1 | p2", Dialect::Either).ok().as_ref().and_then(names) != Some(["p1", "p2"].map(str::to_owned).into()) {
        panic!("the names are not those of the text");
    }
}
