//! What is seen in a text, form by form: each line is a text and the commands that it may start, in order, as resolved.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

use caisson_guard::shell::{
    Dialect, Fault, Feature, Input, Language, Piece, Place, RedirectKind, Seen, Source, Value, Why, outline, see,
};

fn seen(text: &str) -> Seen {
    see(text, Dialect::Either).unwrap_or_else(|fault| panic!("{text:?} is refused: {fault:?}"))
}

fn check(cases: &[(&str, &[&str])]) {
    check_in(Dialect::Either, cases);
}

fn check_in(dialect: Dialect, cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        let all = see(text, dialect).unwrap_or_else(|fault| panic!("{text:?} is refused: {fault:?}"));
        let shown: Vec<String> = all.invocations.iter().map(ToString::to_string).collect();
        assert_eq!(&shown, expected, "{text}");
    }
}

/// Each refused text has a twin that is read.
const REFUSED: &[(&str, Fault, &str)] = &[
    ("(", Fault::Unclosed, "( a )"),
    ("echo \"a", Fault::Unclosed, "echo \"a\""),
    ("echo 'a", Fault::Unclosed, "echo 'a'"),
    ("echo `a", Fault::Unclosed, "echo `a`"),
    ("echo $(a", Fault::Unclosed, "echo $(a)"),
    ("if a; then b", Fault::Unclosed, "if a; then b; fi"),
    ("[[ a", Fault::Unclosed, "[[ a ]]"),
    ("a | | b", Fault::Syntax, "a | b"),
    ("; a", Fault::Syntax, "a ;"),
    ("a )", Fault::Syntax, "( a )"),
    ("fi", Fault::Syntax, "echo fi"),
    ("echo (a)", Fault::Syntax, "echo '(a)'"),
    ("echo @(a|b)", Fault::Syntax, "echo '@(a|b)'"),
    ("echo ${x", Fault::Expansion, "echo ${x}"),
    ("echo ${x!y}", Fault::Expansion, "echo ${x#y}"),
    ("echo ${}", Fault::Expansion, "echo {}"),
    ("x='a[$(rm)]'; echo $((x))", Fault::Expansion, "x='a[$(rm)]'; echo \"$x\""),
    ("x='a[$(rm)]'; eval 'echo $((x))'", Fault::Expansion, "x='a[rm]'; eval 'echo $((x))'"),
    ("x='a[$(rm)]'; [[ $x -eq 1 ]]", Fault::Expansion, "x='a[$(rm)]'; [[ $x == 1 ]]"),
    ("x='a[$(rm)]'; declare -i y=x", Fault::Expansion, "x='a[$(rm)]'; declare y=x"),
    ("test -v 'a[$(rm)]'", Fault::Expansion, "test -n 'a$(rm)'"),
    ("[[ 'a[$(rm)]' -eq 0 ]]", Fault::Expansion, "[[ 'a[rm]' -eq 0 ]]"),
    ("PS4='$(rm x)' bash -x f", Fault::Expansion, "PS4='+ ' bash -x f"),
    ("echo $[1]", Fault::Ambiguous, "echo $((1))"),
    ("echo \"${x:-'}'}\"", Fault::Ambiguous, "echo \"${x:-\\}}\""),
    ("echo $(( 'a' ))", Fault::Ambiguous, "echo $(( a ))"),
    ("((a) )", Fault::Ambiguous, "( (a) )"),
    ("$((a) )", Fault::Ambiguous, "$( (a) )"),
    ("a[ #]=1", Fault::Ambiguous, "a[0]=1"),
    ("a=([ #]=1)", Fault::Ambiguous, "a=([0]=1)"),
    ("[[ a #b\n]]", Fault::Ambiguous, "[[ a\n]] #b"),
    ("echo $x$", Fault::Ambiguous, "echo $x'$'"),
    ("cat <<E\na", Fault::HereDocument, "cat <<E\na\nE"),
    ("cat <<\"$x\"\na\n$x", Fault::HereDocument, "cat <<\"x\"\na\nx"),
    ("cat <<$'E'\na\nE", Fault::HereDocument, "cat <<'E'\na\nE"),
    ("cat <<E\na\\\nE\nE", Fault::HereDocument, "cat <<'E'\na\\\nE\nE"),
    ("cat <<E\nE\\\n\nE", Fault::HereDocument, "cat <<E\nF\\\n\nE"),
    ("x=$(cat <<E\na\nE)", Fault::HereDocument, "x=$(cat <<E\na\nE\n)"),
    ("cat <<E $(a\nb)\nE", Fault::HereDocument, "cat <<E $(a;b)\nE"),
    ("rm\u{200b} x", Fault::Invisible, "rm ' \u{200b}x'"),
    ("ls a\u{a0}b", Fault::Invisible, "ls 'a\u{a0}b'"),
    ("ls #\u{200b}", Fault::Invisible, "ls #"),
    ("ls \"\u{202e}x\"", Fault::Invisible, "ls \"\u{e9}x\""),
    ("\u{ff52}m x", Fault::ProgramNotAscii, "echo \u{ff52}m x"),
    ("env \u{440}m x", Fault::ProgramNotAscii, "env echo \u{440}m x"),
    ("ls a\rb", Fault::Control, "ls 'a\rb'"),
    ("echo 'a\u{1b}[2K'", Fault::Control, "echo $'a\\e[2K'"),
    ("ls\0/etc", Fault::Nul, "ls /etc"),
    ("$'r\\0m' x", Fault::Nul, "$'r\\x6d' x"),
    ("alias ls=rm", Fault::Alias, "alias ls"),
    ("\\alias ls=rm", Fault::Alias, "unalias ls"),
    ("hash -p /bin/rm ls", Fault::Alias, "hash -r"),
    ("BASH_CMDS[ls]=/bin/rm", Fault::Alias, "CMDS[ls]=/bin/rm"),
    ("env 'BASH_FUNC_ls%%=() { rm x; }' ls", Fault::Alias, "env 'FUNC_ls%%=() { rm x; }' ls"),
    ("pwsh -EncodedCommand '!'", Fault::Encoding, "pwsh -EncodedCommand cgBtAA=="),
];

#[test]
fn what_cannot_be_read_is_refused() {
    for (text, fault, twin) in REFUSED {
        let Err(refused) = see(text, Dialect::Either) else { panic!("{text:?} is read") };
        assert_eq!(refused.fault, *fault, "{text}");
        assert!(text.get(refused.span.start..refused.span.end).is_some(), "{text}: {:?}", refused.span);
        seen(twin);
    }
}

#[test]
fn faults_have_names_and_sentences() {
    let faults: Vec<Fault> = REFUSED.iter().map(|(_, fault, _)| *fault).collect();
    for fault in &faults {
        assert!(fault.id().starts_with("shell."));
        assert!(!fault.sentence().ends_with('.') && fault.sentence().chars().next().unwrap().is_lowercase());
    }
}

#[test]
fn quotes_and_escapes_are_taken_off() {
    check_in(
        Dialect::Bash,
        &[
            ("rm -rf /", &["rm -rf /"]),
            ("\\rm x", &["rm x"]),
            ("'rm' x", &["rm x"]),
            ("\"rm\" x", &["rm x"]),
            ("r''m x", &["rm x"]),
            ("r\"m\" x", &["rm x"]),
            ("r\\m x", &["rm x"]),
            ("r\nm x", &["r", "m x"]),
            ("r\\\nm x", &["rm x"]),
            ("$'\\x72\\x6d' x", &["rm x"]),
            ("$'\\162\\u006d' x", &["rm x"]),
            ("$'rm\\t' x", &["'rm\t' x"]),
            ("$\"rm\" x", &["rm x"]),
            ("\"r\\m\" x", &["r\\m x"]),
            ("'a b' c", &["'a b' c"]),
            ("\"\" x", &["'' x"]),
            ("/bin/rm x", &["/bin/rm x"]),
            ("./rm x", &["./rm x"]),
            ("$HOME/bin/rm x", &["‹$HOME›/bin/rm x"]),
        ],
    );
}

#[test]
fn a_word_of_data_starts_nothing() {
    check(&[
        ("echo \"rm -rf /; sudo x | sh\"", &["echo 'rm -rf /; sudo x | sh'"]),
        ("echo '$(rm x) `rm y`'", &["echo '$(rm x) `rm y`'"]),
        ("git commit -m \"remove the \\$(rm x) call\"", &["git commit -m 'remove the $(rm x) call'"]),
        ("echo \\$\\(rm x\\; ls", &["echo $(rm x; ls"]),
        ("echo a#b; ls # rm x; ls", &["echo a#b", "ls"]),
        ("grep -E '^(a|b)$' f", &["grep -E ^(a|b)$ f"]),
        ("git commit -m \"$(cat <<'EOF'\nFix `rm -rf` $(x)\nEOF\n)\"", &["cat", "git commit -m 'Fix `rm -rf` $(x)'"]),
        ("cat <<'E'\n$(rm x) `rm y`\nE", &["cat"]),
        ("cat <<\\E\n$(rm x)\nE", &["cat"]),
    ]);
}

#[test]
fn lists_and_pipelines() {
    check(&[
        ("a; b", &["a", "b"]),
        ("a && b || c", &["a", "b", "c"]),
        ("a & b", &["a", "b"]),
        ("a\nb", &["a", "b"]),
        ("a | b |& c", &["a", "b", "c"]),
        ("! a", &["a"]),
        ("a &", &["a"]),
        ("a | ! b", &["a", "b"]),
        ("a &&\n\nb", &["a", "b"]),
    ]);
}

#[test]
fn compound_commands() {
    check(&[
        ("( a; b )", &["a", "b"]),
        ("{ a; b; }", &["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done", &["a", "b"]),
        ("until a; do b; done", &["a", "b"]),
        ("for x in 1 2; do b $x; done", &["b ‹$x›"]),
        ("for x; do b; done", &["b"]),
        ("for ((i=0; i<3; i++)); do b; done", &["b"]),
        ("select x in a b; do c; done", &["c"]),
        ("case $x in a|b) c;; (d) e;& *) f;;& esac", &["c", "e", "f"]),
        ("case x in esac", &[]),
        ("f() { a; }", &["a"]),
        ("f() ( a )", &["a"]),
        ("function f { a; }", &["a"]),
        ("function f() { a; }", &["a"]),
        ("coproc a b", &["a b"]),
        ("coproc NAME { a; }", &["a"]),
        ("time { a; }", &["a"]),
        ("time -p ( a )", &["a"]),
        ("[[ a == b ]] && c", &["c"]),
        ("[[ $(a) -eq 1 ]]", &["a"]),
        ("if a\nthen\nb\nfi\nc", &["a", "b", "c"]),
        ("{ a; } > f 2>&1", &["", "a"]),
    ]);
}

#[test]
fn substitutions_wherever_they_hide() {
    check(&[
        ("echo $(a)", &["a", "echo ‹output›"]),
        ("echo \"$(a \"$(b)\")\"", &["b", "a ‹output›", "echo ‹output›"]),
        ("echo `a`", &["a", "echo ‹output›"]),
        ("echo `a \\`b\\``", &["b", "a ‹output›", "echo ‹output›"]),
        ("echo \"`a \\\"b\\\"`\"", &["a b", "echo ‹output›"]),
        ("echo ${ a; }", &["a", "echo ‹output›"]),
        ("echo ${| a; }", &["a", "echo ‹output›"]),
        ("echo ${x:-$(a)}", &["a", "echo ‹$x›", "a", "echo ‹output›"]),
        ("echo \"${x:-\"$(a)\"}\"", &["a", "echo ‹$x›", "a", "echo ‹output›"]),
        ("echo ${x#$(a)} ${x//b/$(c)}", &["a", "c", "echo ‹$x› ‹$x›"]),
        ("echo ${x[$(a)]}", &["a", "echo ‹$x›"]),
        ("echo $((1 + $(a)))", &["a", "echo ‹number›"]),
        ("echo $((${x:-$(a)}))", &["a", "echo ‹number›", "a", "echo ‹number›"]),
        ("(( $(a) ))", &["a", "a", "‹output›"]),
        ("x=$(a)", &["a", "x=‹output›"]),
        ("x=(1 $(a) `b`)", &["a", "b", "x=‹too many›"]),
        ("x[$(a)]=1", &["a", "x=x[‹output›]=1"]),
        ("cat <<E\n$(a) `b` ${x:-$(c)} \"$(d)\"\nE", &["a", "b", "c", "d", "cat", "a", "b", "c", "d", "cat"]),
        ("cat <<A <<B\n$(a)\nA\n$(b)\nB", &["a", "b", "cat"]),
        ("cat <<< \"$(a)\"", &["a", "cat"]),
        ("cat < $(a) > \"$(b)\"", &["a", "b", "cat"]),
        ("diff <(a) <(b | c)", &["a", "b", "c", "diff /dev/fd/‹output› /dev/fd/‹output›"]),
        ("a > >(b)", &["b", "a"]),
        ("case $(a) in $(b)) c;; esac", &["a", "b", "c"]),
        ("for x in $(a); do b; done", &["a", "b"]),
        ("[[ $x =~ $(a) ]]", &["a"]),
        ("{fd}<$(a) b", &["a", "b", "a", "{fd} b"]),
        ("echo $\\\n(a)", &["a", "echo ‹output›"]),
        ("echo \"a${x:=`b`}\"", &["b", "echo a‹$x›", "b", "echo a‹output›"]),
    ]);
}

#[test]
fn expansions_are_made() {
    check_in(
        Dialect::Bash,
        &[
            ("{rm,-rf,/}", &["rm -rf /"]),
            ("echo {a,b}{1..3}", &["echo a1 a2 a3 b1 b2 b3"]),
            ("echo {c..a} {01..03} {1..9..4}", &["echo c b a 01 02 03 1 5 9"]),
            ("echo {a,b{c,d}}", &["echo a bc bd"]),
            ("echo {} {a} {a b}", &["echo {} {a} {a b}"]),
            ("echo a{1..999}", &["echo '‹too many›'"]),
            ("a=rm; $a x", &["a=rm", "rm x"]),
            ("a=r b=m; $a$b x", &["a=r b=m", "rm x"]),
            ("a=\"rm -rf /\"; $a", &["a=rm -rf /", "rm -rf /"]),
            ("a=\"rm -rf /\"; \"$a\"", &["a=rm -rf /", "'rm -rf /'"]),
            ("a=rm; ${a} x", &["a=rm", "rm x"]),
            ("a=rm; ${a:-ls} x", &["a=rm", "rm x"]),
            ("${r:-rm} x", &["‹$r› x", "rm x"]),
            ("${r:+x} y", &["‹$r› y", "x y"]),
            ("rm$IFS-rf$IFS/", &["rm -rf /"]),
            ("rm${IFS}x", &["rm x"]),
            ("$(echo rm) x", &["echo rm", "rm x"]),
            ("$(printf rm) x", &["printf rm", "rm x"]),
            ("$(printf '%s%s' r m) x", &["printf %s%s r m", "rm x"]),
            ("`printf 'r\\155'` x", &["printf r\\155", "rm x"]),
            ("r$(echo)m x", &["echo", "rm x"]),
            ("\"$(echo a b)\"", &["echo a b", "'a b'"]),
            ("x=$(echo L2V0Yw== | base64 -d) && cat $x", &["echo L2V0Yw==", "base64 -d", "x=/etc", "cat /etc"]),
            ("export A=b; echo $A", &["export A=b", "echo b"]),
            ("echo ~ ~x/y a=~ ~\"x\"", &["echo ~ ~x/y a=~ ~x"]),
            ("ls *.txt [ab]?c [a", &["ls *.txt [ab]?c [a"]),
        ],
    );
}

#[test]
fn what_is_not_certain_is_left_open() {
    check(&[
        ("$x y", &["‹$x› y"]),
        ("a=ls; a=rm; $a x", &["a=ls", "a=rm", "‹$a› x"]),
        ("a=ls; if b; then a=rm; fi; $a x", &["a=ls", "b", "a=rm", "‹$a› x"]),
        ("b && a=ls; $a x", &["b", "a=ls", "‹$a› x"]),
        ("b || a=ls && $a x", &["b", "a=ls", "‹$a› x"]),
        ("(a=rm); $a x", &["a=rm", "‹$a› x"]),
        ("a=rm & $a x", &["a=rm", "‹$a› x"]),
        ("a=rm | b; $a x", &["a=rm", "b", "‹$a› x"]),
        ("for a in x; do $a; done", &["‹$a›"]),
        ("read a; $a x", &["read a", "‹$a› x"]),
        ("a=ls; printf -v a rm; $a x", &["a=ls", "printf -v a rm", "‹$a› x"]),
        ("a=ls; declare -n r=a; r=rm; $a x", &["a=ls", "declare -n r=a", "r=rm", "‹$a› x"]),
        ("a=ls; for i in 1 2; do $a x; eval a=rm; done", &["a=ls", "‹$a› x", "eval a=rm", "a=rm"]),
        ("a=ls; while b; do $a x; read a; done", &["a=ls", "b", "‹$a› x", "read a"]),
        ("a=${SHELL:-ls}; $a x", &["a=‹$SHELL›", "a=ls", "‹$a› x"]),
        ("IFS=,; a=rm,x; $a", &["IFS=,", "a=rm,x", "‹$a›"]),
        ("a=rm b $a", &["a=rm b ‹$a›"]),
        ("echo $(b) \"$@\" $1 $((1+1))", &["b", "echo ‹output› ‹$@› ‹$1› ‹number›"]),
        ("/bin/r? x", &["/bin/r? x"]),
        ("/???/rm x", &["/???/rm x"]),
        ("sh -c '$a x' a=rm", &["sh -c '$a x' a=rm", "‹$a› x"]),
    ]);
}

#[test]
fn both_readings_are_seen() {
    check(&[
        ("echo a &> f rm x", &["echo a rm x", "echo a", "rm x"]),
        ("((rm x))", &["rm x"]),
        ("{rm,x}", &["rm x", "{rm,x}"]),
        ("$'rm' x", &["rm x", "$rm x"]),
        ("a$\"b\"", &["ab", "a$b"]),
        ("[[ a && rm b ]]", &["[[ a", "rm b ]]"]),
        ("echo $'a\\'; rm x #'", &["echo 'a'; rm x #'", "echo $a\\", "rm x"]),
    ]);
}

#[test]
fn wrappers_are_looked_through() {
    check(&[
        ("env rm x", &["env rm x", "rm x"]),
        ("env -i A=1 -u B rm x", &["env -i A=1 -u B rm x", "A=1 -u B rm x"]),
        ("env -S 'rm x' y", &["env -S 'rm x' y", "rm x y"]),
        ("env -x rm x", &["env -x rm x", "rm x", "x"]),
        ("/usr/bin/env sh -c 'rm x'", &["/usr/bin/env sh -c 'rm x'", "sh -c 'rm x'", "rm x"]),
        ("sudo -u root -- rm x", &["sudo -u root -- rm x", "rm x"]),
        ("sudo A=1 rm x", &["sudo A=1 rm x", "A=1 rm x"]),
        ("sudo -s 'rm x'", &["sudo -s 'rm x'", "'rm x'", "rm x"]),
        ("doas rm x", &["doas rm x", "rm x"]),
        ("nice -n 5 rm x", &["nice -n 5 rm x", "rm x"]),
        ("nice -5 rm x", &["nice -5 rm x", "rm x"]),
        ("nohup rm x", &["nohup rm x", "rm x"]),
        ("timeout -k 5 10 rm x", &["timeout -k 5 10 rm x", "rm x"]),
        ("timeout --signal=KILL 10 rm x", &["timeout --signal=KILL 10 rm x", "rm x"]),
        ("time -o f rm x", &["time -o f rm x", "rm x"]),
        ("stdbuf -oL rm x", &["stdbuf -oL rm x", "rm x"]),
        ("setsid -f rm x", &["setsid -f rm x", "rm x"]),
        ("ionice -c 3 rm x", &["ionice -c 3 rm x", "rm x"]),
        ("chroot /x rm y", &["chroot /x rm y", "rm y"]),
        ("unshare -r rm y", &["unshare -r rm y", "rm y"]),
        ("nsenter -t 1 -m rm y", &["nsenter -t 1 -m rm y", "rm y"]),
        ("flock /x rm y", &["flock /x rm y", "rm y"]),
        ("flock /x -c 'rm y'", &["flock /x -c 'rm y'", "rm y", "-c 'rm y'"]),
        ("taskset -c 0 rm x", &["taskset -c 0 rm x", "rm x", "x"]),
        ("strace -f -o x rm y", &["strace -f -o x rm y", "rm y"]),
        ("busybox rm x", &["busybox rm x", "rm x"]),
        ("/lib64/ld-linux-x86-64.so.2 /bin/rm x", &["/lib64/ld-linux-x86-64.so.2 /bin/rm x", "/bin/rm x"]),
        ("exec -a ls rm x", &["exec -a ls rm x", "rm x"]),
        ("command -p rm x", &["command -p rm x", "rm x"]),
        ("command -v rm", &["command -v rm"]),
        ("builtin eval 'rm x'", &["builtin eval 'rm x'", "eval 'rm x'", "rm x"]),
        ("xargs rm -rf", &["xargs rm -rf", "rm -rf ‹input›"]),
        ("xargs -I % mv % y", &["xargs -I % mv % y", "mv ‹input› y"]),
        (
            "xargs -n 1 -P4 sh -c 'rm \"$0\"'",
            &["xargs -n 1 -P4 sh -c 'rm \"$0\"'", "sh -c 'rm \"$0\"' ‹input›", "rm ‹$0›"],
        ),
        (
            "find . -exec rm {} \\; -o -execdir sh -c 'ls {}' ';'",
            &["find . -exec rm {} ; -o -execdir sh -c 'ls {}' ;", "rm ‹input›", "sh -c 'ls ‹input›'"],
        ),
        ("find . -exec rm {} +", &["find . -exec rm {} +", "rm ‹input›"]),
        ("fd x -x rm", &["fd x -x rm", "rm ‹input›"]),
        ("parallel rm {} ::: a b", &["parallel rm {} ::: a b", "rm ‹input› ‹input›"]),
        ("parallel 'rm {}; ls' ::: a", &["parallel 'rm {}; ls' ::: a", "rm {}", "ls"]),
        ("watch -n 1 'rm x; ls'", &["watch -n 1 'rm x; ls'", "rm x", "ls"]),
        ("script -qc 'rm x' /dev/null", &["script -qc 'rm x' /dev/null", "rm x"]),
        ("su - root -c 'rm x'", &["su - root -c 'rm x'", "rm x"]),
        ("runuser -u u -- rm x", &["runuser -u u -- rm x", "rm x"]),
        ("pkexec rm x", &["pkexec rm x", "rm x"]),
        ("uv run rm x", &["uv run rm x", "rm x"]),
        ("npx -y rm x", &["npx -y rm x", "rm x", "x"]),
        (
            "timeout 5 nice sudo env sh -c 'rm x'",
            &[
                "timeout 5 nice sudo env sh -c 'rm x'",
                "nice sudo env sh -c 'rm x'",
                "sudo env sh -c 'rm x'",
                "env sh -c 'rm x'",
                "sh -c 'rm x'",
                "rm x",
            ],
        ),
    ]);
}

#[test]
fn code_is_read() {
    check(&[
        ("sh -c 'rm x'", &["sh -c 'rm x'", "rm x"]),
        ("bash -lc 'rm x'", &["bash -lc 'rm x'", "rm x"]),
        ("sh -ec 'rm x'", &["sh -ec 'rm x'", "rm x"]),
        ("sh -c -e 'rm x'", &["sh -c -e 'rm x'", "rm x"]),
        ("bash -o pipefail +x --norc -c 'rm x' y", &["bash -o pipefail +x --norc -c 'rm x' y", "rm x"]),
        ("bash --rcfile f -c 'rm x'", &["bash --rcfile f -c 'rm x'", "rm x"]),
        ("eval 'rm x' '; ls'", &["eval 'rm x' '; ls'", "rm x", "ls"]),
        ("trap 'rm x' EXIT", &["trap 'rm x' EXIT", "rm x"]),
        ("trap - EXIT", &["trap - EXIT"]),
        ("echo rm x | sh", &["echo rm x", "sh", "rm x"]),
        ("printf 'rm %s\\n' a b | bash", &["printf 'rm %s\\n' a b", "bash", "rm a", "rm b"]),
        ("cat <<E | sh\nrm x\nE", &["cat", "sh", "rm x"]),
        ("sh <<E\nrm x\nE", &["sh", "rm x"]),
        ("bash <<< 'rm x'", &["bash", "rm x"]),
        ("echo cm0geA== | base64 -d | sh", &["echo cm0geA==", "base64 -d", "sh", "rm x"]),
        ("echo rm x | sudo sh -s", &["echo rm x", "sudo sh -s", "sh -s", "rm x"]),
        (
            "sh -c 'sh -c \"sh -c \\\"rm x\\\"\"'",
            &["sh -c 'sh -c \"sh -c \\\"rm x\\\"\"'", "sh -c 'sh -c \"rm x\"'", "sh -c 'rm x'", "rm x"],
        ),
        ("ssh h rm x '|' sh", &["ssh h rm x | sh", "rm x", "sh"]),
        ("ssh -o ProxyCommand='rm x' h", &["ssh -o 'ProxyCommand=rm x' h", "rm x"]),
        ("PROMPT_COMMAND='rm x' bash", &["PROMPT_COMMAND=rm x bash", "rm x"]),
        ("export PAGER='rm x'", &["export 'PAGER=rm x'", "rm x"]),
        ("git -c core.pager='rm x' log", &["git -c 'core.pager=rm x' log", "rm x"]),
        ("git -c alias.x='!rm x' x", &["git -c 'alias.x=!rm x' x", "rm x"]),
        ("git -c user.name='!rm x' x", &["git -c 'user.name=!rm x' x", "rm x"]),
        ("git rebase -x 'rm x' HEAD", &["git rebase -x 'rm x' HEAD", "rm x"]),
        ("git submodule foreach 'rm x'", &["git submodule foreach 'rm x'", "rm x"]),
        ("git bisect run rm x", &["git bisect run rm x", "rm x"]),
        ("git clone 'ext::rm x'", &["git clone 'ext::rm x'", "rm x"]),
        ("tar cf a --checkpoint-action=exec='rm x' b", &["tar cf a '--checkpoint-action=exec=rm x' b", "rm x"]),
        ("tar -I 'rm x' -cf a b", &["tar -I 'rm x' -cf a b", "rm x"]),
        ("rsync -e 'rm x' a b", &["rsync -e 'rm x' a b", "rm x"]),
        ("sort --compress-prog=rm y", &["sort --compress-prog=rm y", "rm"]),
        ("split --filter='rm x' y", &["split '--filter=rm x' y", "rm x"]),
        ("make SHELL=/bin/rm", &["make SHELL=/bin/rm", "/bin/rm"]),
        ("vim -c '!rm x' +':!ls'", &["vim -c '!rm x' +:!ls", "rm x", "ls"]),
        ("gdb -ex 'shell rm x'", &["gdb -ex 'shell rm x'", "rm x"]),
        ("docker exec -it c rm x", &["docker exec -it c rm x", "rm x"]),
        (
            "docker run --name n -v \"$PWD\":/w a rm -- x",
            &["docker run --name n -v ‹$PWD›:/w a rm -- x", "rm -- x", "x"],
        ),
        ("docker run --odd b a rm", &["docker run --odd b a rm", "a rm", "rm"]),
        ("docker run a rm x", &["docker run a rm x", "rm x"]),
        ("docker run --entrypoint rm a x", &["docker run --entrypoint rm a x", "rm x"]),
        ("npx -c 'rm x'", &["npx -c 'rm x'", "rm x", "'rm x'"]),
        ("GIT_CONFIG_VALUE_0='!rm x' git x", &["GIT_CONFIG_VALUE_0=!rm x git x", "rm x"]),
        ("LESSOPEN='|rm %s' less x", &["LESSOPEN=|rm %s less x", "rm %s"]),
        ("capsh --user=x -- -c 'rm x'", &["capsh --user=x -- -c 'rm x'", "bash -c 'rm x'", "rm x"]),
        ("kubectl exec p -- rm x", &["kubectl exec p -- rm x", "rm x"]),
        ("tmux new-session -d 'rm x'", &["tmux new-session -d 'rm x'", "rm x"]),
        ("hyperfine 'rm x'", &["hyperfine 'rm x'", "rm x"]),
        ("bind -x '\"a\":rm x'", &["bind -x '\"a\":rm x'", "rm x"]),
        ("mapfile -C 'rm x' y", &["mapfile -C 'rm x' y", "rm x"]),
    ]);
}

#[test]
fn here_documents_strip_tabs_and_keep_their_order() {
    let all = seen("cat <<-A 3<<'B'\n\tx $(a)\n\tA\n\t$(b)\nB\nc");
    let shown: Vec<String> = all.invocations.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["a", "cat", "c"]);
    let cat = &all.invocations[1];
    assert_eq!(cat.redirects[0].target.to_string(), "x ‹output›\n");
    assert_eq!(cat.redirects[1].target.known(), Some("\t$(b)\n"));
    assert_eq!((cat.redirects[1].fd, cat.redirects[1].kind), (Some(3), RedirectKind::HereDocument));
}

#[test]
fn redirections_are_told_apart() {
    for (text, fd, kind, target) in [
        ("a < f", Some(0), RedirectKind::Read, "f"),
        ("a >f", Some(1), RedirectKind::Write, "f"),
        ("a 2>>f", Some(2), RedirectKind::Append, "f"),
        ("a >| f", Some(1), RedirectKind::Write, "f"),
        ("a 3<> f", Some(3), RedirectKind::ReadWrite, "f"),
        ("a 2>&1", Some(2), RedirectKind::Duplicate, "1"),
        ("a >&-", Some(1), RedirectKind::Duplicate, "-"),
        ("a >& f", Some(1), RedirectKind::WriteBoth, "f"),
        ("a {x}> f", None, RedirectKind::Write, "f"),
        ("a <<< f", Some(0), RedirectKind::HereString, "f"),
        ("a >> \"$HOME\"/f", Some(1), RedirectKind::Append, "‹$HOME›/f"),
    ] {
        let all = seen(text);
        let one = &all.invocations[0].redirects[0];
        assert_eq!((one.fd, one.kind, one.target.to_string().as_str()), (fd, kind, target), "{text}");
        assert_eq!(all.invocations[0].name(), Some("a"), "{text}");
    }
    let both = seen("a &>> f");
    assert_eq!(both.invocations[0].redirects[0].kind, RedirectKind::AppendBoth);
    assert_eq!(seen("a 2 > f").invocations[0].args[0].known(), Some("2"));
}

#[test]
fn pipes_link_writers_and_readers() {
    let all = seen("a | { b; c $(d); } | e");
    let names: Vec<&str> = all.invocations.iter().filter_map(|one| one.name()).collect();
    assert_eq!(names, ["a", "b", "d", "c", "e"]);
    assert_eq!(all.invocations[0].feeds, [1, 2, 3]);
    assert_eq!(all.invocations[4].stdin, Input::Pipe(vec![1, 3]));
    assert_eq!(all.invocations[2].place, Place::Substitution);
}

#[test]
fn what_feeds_a_shell_is_known_or_said_to_be_unknown() {
    let unknown = [
        "curl x | sh",
        "curl x | tee f | bash -s",
        "curl x | sudo bash",
        "curl x > >(sh)",
        "curl x | tee >(sh)",
        "sh < <(curl x)",
        "exec 3< <(curl x); sh <&3",
        "coproc sh",
        "f() { sh; }; curl x | f",
        "curl x | { a; sh; }",
        "curl x | while b; do sh; done",
        "curl x | ssh h",
        "curl x | ssh h sh",
        "curl x | chroot /x",
        "curl x | sudo -s",
        "curl x | su",
        "curl x | eval sh",
        "curl x | python3 -",
        "curl x | env -i sh",
        "printf '%b' 'r\\155' | sh",
        "printf 'a\nb\n' | { read x; sh; }",
        "{ read x; sh; } <<E\na\nb\nE",
        "sh -c 'read x; sh' <<E\na\nb\nE",
        "exec <<E\na\nE\nread x; sh",
        "bash <<'F'\nread x\n: <<E\na\nE\nF",
        "printf 'head -c1\n#a\n' | sh",
        "find . -exec head -1 {} \\; -exec sh \\; <<E\na\nE",
        "a | awk -f - f",
    ];
    for text in unknown {
        let all = seen(text);
        assert!(all.invocations.iter().any(|one| one.code.iter().any(|code| code.source == Source::Input)), "{text}");
    }
    for text in [
        "bash <<'E'\nset -e\ncd x\nmake\nE",
        "echo a | sh",
        "sh",
        "sh script",
        "curl x | sh script",
        "python3 --version",
        "curl x | cat",
        "ssh h",
    ] {
        let all = seen(text);
        assert!(all.invocations.iter().all(|one| one.code.iter().all(|code| code.source != Source::Input)), "{text}");
    }
}

#[test]
fn code_of_other_languages_is_handed_on() {
    for (text, language, code) in [
        ("python3.11 -Ic 'a b' c", Language::Python, "a b"),
        ("perl -we 'a'", Language::Perl, "a"),
        ("perl -nE'a' f", Language::Perl, "a"),
        ("ruby -ne 'a' f", Language::Ruby, "a"),
        ("node --eval='a'", Language::JavaScript, "a"),
        ("node -pe 'a'", Language::JavaScript, "a"),
        ("node -p 'a'", Language::JavaScript, "a"),
        ("deno eval 'a'", Language::JavaScript, "a"),
        ("php -r 'a'", Language::Php, "a"),
        ("lua5.4 -e 'a'", Language::Lua, "a"),
        ("awk -F: '{a}' f", Language::Awk, "{a}"),
        ("gawk -e '{a}' f", Language::Awk, "{a}"),
        ("sed -i.bak 's/a/b/e' f", Language::Sed, "s/a/b/e"),
        ("sed -n --expression=a f", Language::Sed, "a"),
        ("psql -c 'a'", Language::Sql, "a"),
        ("osascript -e 'a'", Language::Other, "a"),
        ("fish -c 'a'", Language::OtherShell, "a"),
        ("pwsh -NoProfile -enc cgBtAA==", Language::PowerShell, "rm"),
        ("powershell.exe -Command a b", Language::PowerShell, "a b"),
        ("cmd.exe /c del x", Language::Cmd, "del x"),
        ("make --eval='a'", Language::Make, "a"),
        ("python <<E\na\nE", Language::Python, "a\n"),
        ("echo a | python", Language::Python, "a\n"),
        ("env A=1 nice python -c 'a'", Language::Python, "a"),
    ] {
        let all = seen(text);
        let given = all.invocations.iter().flat_map(|one| &one.code).find(|given| given.language == language);
        match given.map(|given| &given.source) {
            Some(Source::Text(word)) => assert_eq!(word.known(), Some(code), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let all = seen("python3 script.py -c x");
    assert!(matches!(&all.invocations[0].code[0].source, Source::File(word) if word.known() == Some("script.py")));
}

#[test]
fn wrappers_are_named_outermost_first() {
    let all = seen("sudo env A=1 sh -c 'rm x'");
    let last = all.invocations.last().unwrap();
    let names: Vec<&str> = last.via.iter().map(|via| via.name.as_str()).collect();
    assert_eq!(names, ["sudo", "env", "sh"]);
    assert_eq!(last.via[1].invocation, 1);
    assert_eq!(all.invocations[2].assignments[0].name, "A");
    assert_eq!(last.span.of("sudo env A=1 sh -c 'rm x'"), "'rm x'");
}

#[test]
fn what_may_be_left_out_is_said() {
    let conditional = |text: &str| seen(text).invocations.iter().map(|one| one.conditional).collect::<Vec<_>>();
    assert_eq!(conditional("a; b && c || d; e"), [false, false, true, true, false]);
    assert_eq!(conditional("if a; then b; fi; { c; }"), [false, true, false]);
    assert_eq!(conditional("f() { a; }"), [true]);
    assert!(matches!(&seen("f() { a; }").invocations[0].place, Place::Function(name) if name == "f"));
}

#[test]
fn uses_and_parameters_are_noted() {
    let plain = seen("git log --oneline 'a;b $x'");
    assert!(plain.uses.is_empty() && plain.parameters.is_empty());
    for (text, feature) in [
        ("a; b", Feature::Chain),
        ("a\nb", Feature::Chain),
        ("a && b", Feature::Chain),
        ("a | b", Feature::Pipe),
        ("a &", Feature::Background),
        ("a \"$(b)\"", Feature::Substitution),
        ("a `b`", Feature::Substitution),
        ("a <(b)", Feature::Process),
        ("a > b", Feature::Redirect),
        ("a <<E\nE", Feature::Redirect),
        ("( a )", Feature::Compound),
        ("f() { a; }", Feature::Function),
        ("x=1", Feature::Assignment),
        ("a $x", Feature::Expansion),
        ("a $((1))", Feature::Expansion),
        ("a {b,c}", Feature::Brace),
        ("a *", Feature::Glob),
        ("a ~", Feature::Tilde),
    ] {
        assert!(seen(text).uses(feature), "{text}");
    }
    let all = seen("echo ${x@P} ${!y} ${!k[@]} ${#z} \"${a[1]:-b}\" $1");
    let found: Vec<(&str, bool, &str)> =
        all.parameters.iter().map(|one| (one.name.as_str(), one.indirect, one.operator.as_str())).collect();
    assert_eq!(
        found,
        [("x", false, "@P"), ("y", true, ""), ("k", false, ""), ("z", false, ""), ("a", false, ":-"), ("1", false, "")]
    );
}

#[test]
fn words_say_what_they_may_be() {
    let all = seen("a \"$x\"/etc/$y/shadow *.txt b");
    let args = &all.invocations[0].args;
    assert_eq!(args[0].literals().collect::<Vec<_>>(), ["/etc/", "/shadow"]);
    assert_eq!(args[0].unknowns().collect::<Vec<_>>(), [&Why::Variable("x".into()), &Why::Variable("y".into())]);
    assert_eq!((args[0].basename(), args[0].prefix()), (Some("shadow"), ""));
    assert!(args[0].may_be("/etc/x/shadow") && args[0].may_be("q/etc//shadow") && !args[0].may_be("/etc/passwd"));
    assert!(args[0].may_split() && !args[2].may_split());
    assert_eq!(args[1].value, Value::Partial(vec![Piece::Glob("*".into()), Piece::Text(".txt".into())]));
    assert!(args[1].may_be("x.txt") && !args[1].may_be("x.md") && args[2].may_be("b") && !args[2].may_be("c"));
}

#[test]
fn explicit_dialects_read_alone() {
    let names = |text: &str, dialect| {
        let all = see(text, dialect).unwrap();
        all.invocations.iter().filter_map(|one| one.name().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(names("echo a &> f b", Dialect::Bash), ["echo"]);
    assert_eq!(names("echo a &> f b", Dialect::Posix), ["echo", "b"]);
    assert_eq!(names("a\nb <(c)", Dialect::Posix), ["a"]);
    assert_eq!(names("dash -c 'echo a &> f b'", Dialect::Bash), ["dash", "echo", "b"]);
    assert_eq!(seen("{a,b}").invocations[0].name(), Some("a"));
    assert_eq!(names("{a,b}", Dialect::Posix), ["{a,b}"]);
}

#[test]
fn the_outline_shows_a_person_what_nests_in_what() {
    let lines = outline("if a; then sudo sh -c 'rm \"$x\"' | b; fi", Dialect::Either).unwrap();
    let shown: Vec<String> = lines
        .iter()
        .map(|node| format!("{}{} {}", "  ".repeat(node.depth), node.kind, node.text).trim_end().to_owned())
        .collect();
    assert_eq!(
        shown,
        [
            "if",
            "  runs a",
            "  pipeline 2 commands",
            "    runs sudo sh -c 'rm \"$x\"'",
            "      runs sh -c 'rm \"$x\"'",
            "        runs rm ‹$x›",
            "    runs b",
        ]
    );
}
