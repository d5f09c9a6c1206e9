//! `filter_bypass`, second part: options of everyday programs that start another one.

use super::args::{Arg, Spec, args, long_is};
use super::{Look, Rule, program_values};
use crate::shell::{Group, Span, Word};

const GROUP: Group = Group::FilterBypass;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "filter_bypass.program_option",
    group: GROUP,
    sentence: "the option starts another program where nobody looks for it; run that program itself",
    programs: &[
        "sort",
        "gsort",
        "deno",
        "npm",
        "pnpm",
        "enable",
        "pwsh",
        "powershell",
        "rg",
        "ugrep",
        "grep",
        "man",
        "tar",
        "gtar",
        "bsdtar",
        "zip",
        "unzip",
        "rsync",
        "wget",
        "gcc",
        "cc",
        "clang",
        "g++",
        "c++",
        "split",
        "gsplit",
        "ssh-keygen",
        "ssh-add",
        "mysql",
        "tcpdump",
        "openssl",
        "node",
        "nodejs",
        "bun",
        "perl",
        "ruby",
        "python",
        "php",
        "make",
        "gmake",
        "less",
        "more",
        "most",
        "strace",
        "ltrace",
        "cpio",
        "7z",
        "7za",
        "7zr",
        "pax",
        "psql",
        "dpkg",
        "apt",
        "apt-get",
        "logrotate",
        "run-parts",
        "start-stop-daemon",
        "pdflatex",
        "latex",
        "tex",
        "xelatex",
        "lualatex",
        "pdftex",
        "luatex",
        "xetex",
        "etex",
        "latexmk",
        "gio",
        "gtk-launch",
        "kioclient",
        "kioclient5",
        "kfmclient",
        "exo-open",
        "dbus-send",
        "gdbus",
        "busctl",
        "qdbus",
        "cargo",
        "go",
        "rustc",
        "rustdoc",
        "fzf",
        "entr",
        "cowsay",
        "cowthink",
        "bat",
        "batcat",
        "delta",
        "git-lfs",
        "ctags",
        "dmesg",
        "crontab",
        "mutt",
        "nmap",
        "env",
        "java",
        "javac",
        "date",
        "file",
        "jq",
        "yq",
        "pip",
        "gdb",
        "vim",
        "vi",
        "nvim",
        "ex",
        "view",
        "emacs",
        "ed",
        "nano",
        "pico",
        "ghostscript",
        "gs",
        "zsh",
        "bash",
        "sh",
        "fd",
        "fdfind",
        "ld",
        "as",
        "docker-credential",
        "ipython",
        "irb",
        "sqlite3",
        "gawk",
        "awk",
        "sed",
        "gsed",
        "iptables",
        "exiftool",
        "ffmpeg",
        "convert",
        "magick",
        "xelatex",
    ],
    matches: program_option,
    denies: &[
        "sort --compress-program=sh big.txt",
        "sort --compress-program sh big.txt",
        "sort --comp=sh big.txt",
        "rg --pre=sh x",
        "rg --pre sh x",
        "rg --hostname-bin=sh x",
        "man --html=sh ls",
        "man -P sh ls",
        "man -Hsh ls",
        "man --pager=sh ls",
        "tar --to-command=sh -xf a",
        "tar -I sh -xf a",
        "tar --use-compress-program=sh -xf a",
        "tar cf a b --checkpoint=1 --checkpoint-action=exec=sh",
        "tar -F sh -cf a b",
        "tar --info-script=sh -cf a b",
        "tar --rsh-command=sh -cf h:a b",
        "zip -TT sh a b",
        "zip a b -T --unzip-command=sh",
        "rsync -e 'sh -c ls' a b",
        "rsync --rsh=sh a b",
        "rsync --rsync-path=x a b",
        "wget --use-askpass=sh https://example.com",
        "gcc -wrapper sh,-c a.c",
        "gcc -fplugin=x a.c",
        "split --filter=sh a",
        "ssh-keygen -D x.so",
        "ssh-add -s x.so",
        "tcpdump -z sh -w a",
        "openssl req -engine ./x.so",
        "node -r ./x a",
        "node --require ./x a",
        "node --import=./x a",
        "node --inspect a",
        "make --eval='x:;ls'",
        "make SHELL=x",
        "less '+!ls' a",
        "strace -o '|sh' ls",
        "pdflatex --shell-escape a",
        "sqlite3 -cmd '.shell ls' a",
        "apt-get -o APT::Update::Pre-Invoke::=sh moo",
        "crontab -T x; man -Psh a",
        "logrotate x",
        "perl -d:x a",
        "php -d auto_prepend_file=x a",
        "go test -exec sh ./a",
        "go build -toolexec sh",
        "cargo --config build.rustc-wrapper='\"x\"' build",
        "java -javaagent:x a",
        "jq -L x import",
        "vim -S x",
        "vim -u x",
        "gawk -l x 1",
        "mysql --pager=sh",
        "fd -x sh",
        "perl -pe 1 'ls|'",
        "cowsay -f ./x.cow a",
    ],
    allows: &[
        "sort -u a",
        "sort -o b a",
        "rg x src",
        "rg --pretty x",
        "man ls",
        "man -k x",
        "tar -xzf a.tgz",
        "tar -I zstd -xf a",
        "tar --use-compress-program=pigz -cf a b",
        "tar -czf a b",
        "zip -r a b",
        "rsync -a a b",
        "rsync -e ssh -a a b",
        "gcc -O2 -o a a.c",
        "split -l 10 a",
        "node a.js -r x",
        "node --max-old-space-size=100 a",
        "make -j4 test",
        "less a",
        "grep -e x a",
        "strace -o log ls",
        "pdflatex a",
        "ssh-keygen -t ed25519 -f k -N ''",
        "perl -ne print a",
        "php a.php",
        "go test ./a",
        "cargo build",
        "git log --format=x",
        "vim -R a",
        "python3 -m pytest",
        "gcc -Wrapper a.c",
        "perl -ne 'print if /a|/' f",
        "cowsay -f tux a",
    ],
}];

/// How a program is told to start another one.
struct Starts {
    /// Options that take values, so that a value is not read as an option.
    spec: Spec,
    /// Letters.
    short: &'static str,
    /// Long names.
    long: &'static [&'static str],
    /// Beginnings of whole words, for options of other kinds (`-wrapper`, `+!`).
    words: &'static [&'static str],
}

const NONE: Starts = Starts { spec: Spec { short: "", long: &[] }, short: "", long: &[], words: &[] };

fn starts(name: &str) -> Starts {
    let plain = |long: &'static [&'static str]| Starts { long, ..NONE };
    match name {
        "sort" | "gsort" => Starts {
            spec: Spec { short: "ktSTo", long: &["key", "field-separator", "output", "compress-program"] },
            long: &["compress-program"],
            ..NONE
        },
        "rg" => Starts { words: &["--pre=", "--hostname-bin"], long: &[], ..NONE },
        "ugrep" => Starts { words: &["--filter", "--pager", "--view"], ..NONE },
        "grep" => Starts { words: &["--pre=", "--pager="], ..NONE },
        "man" => Starts {
            spec: Spec { short: "PrCLmMsSepR", long: &["pager", "config-file"] },
            short: "PHC",
            long: &["html", "pager", "config-file"],
            ..NONE
        },
        "tar" | "gtar" | "bsdtar" => Starts {
            spec: Spec {
                short: "fCIFTXbgHKLNV",
                long: &["file", "directory", "use-compress-program", "exclude", "files-from", "transform"],
            },
            short: "F",
            long: &[
                "to-command",
                "checkpoint-action",
                "rsh-command",
                "rmt-command",
                "info-script",
                "new-volume-script",
            ],
            words: &[],
        },
        "zip" => Starts { words: &["-TT", "--unzip-command"], ..NONE },
        "wget" => plain(&["use-askpass"]),
        "gcc" | "cc" | "clang" | "g++" | "c++" => Starts {
            words: &["-wrapper", "-fplugin", "-Xclang", "-specs=", "--specs=", "-fpass-plugin", "-B/tmp", "-fuse-ld=/"],
            ..NONE
        },
        "ld" => Starts { words: &["-plugin", "--plugin", "-plugin-opt"], ..NONE },
        "split" | "gsplit" => plain(&["filter"]),
        "ssh-keygen" => Starts { spec: Spec { short: "tfNCbPmOszIVnrEaGMSTJjKwWYDZ", long: &[] }, short: "Dw", ..NONE },
        "ssh-add" => Starts { short: "sSe", ..NONE },
        "mysql" | "psql" => plain(&["pager", "plugin-dir", "tee"]),
        "tcpdump" => Starts { spec: Spec { short: "BcCDEFGijmMPrsTwWyzZ", long: &[] }, short: "z", ..NONE },
        "openssl" => Starts { words: &["-engine", "-provider-path", "-provider_path"], ..NONE },
        "perl" => Starts { spec: Spec { short: "eEMmIFxi0l", long: &[] }, short: "d", ..NONE },
        "php" => {
            Starts { words: &["-dauto_prepend", "auto_prepend_file", "-dextension", "extension=", "-z", "-c"], ..NONE }
        }
        "make" | "gmake" => Starts {
            spec: Spec { short: "fCIjlo", long: &["file", "directory"] },
            short: "E",
            long: &["eval"],
            words: &["SHELL=", "MAKEFLAGS=", ".SHELLFLAGS="],
        },
        "less" | "more" | "most" => {
            Starts { words: &["+!", "+|", "-k", "--lesskey", "--lesskey-src", "+&!", "-o/etc"], ..NONE }
        }
        "strace" | "ltrace" => Starts { words: &["|", "-o|", "--output=|"], ..NONE },
        "cpio" | "pax" => Starts { long: &["rsh-command", "to-stdout-command"], ..NONE },
        "gio" => Starts { words: &["launch"], ..NONE },
        "gtk-launch" | "kioclient" | "kioclient5" | "kfmclient" => Starts { words: &[""], ..NONE },
        "exo-open" => Starts { words: &["--launch"], ..NONE },
        "dbus-send" | "gdbus" | "busctl" | "qdbus" => Starts {
            words: &[
                "--dest=org.freedesktop.systemd1",
                "--dest=org.freedesktop.PolicyKit1",
                "--dest=org.freedesktop.login1",
                "org.freedesktop.systemd1",
                "org.freedesktop.PolicyKit1",
                "org.freedesktop.login1",
            ],
            ..NONE
        },
        "latexmk" => Starts {
            words: &["-e", "-r", "-pdflatex=", "-latex=", "-xelatex=", "-lualatex=", "-shell-escape", "--shell-escape"],
            ..NONE
        },
        "pdflatex" | "latex" | "tex" | "xelatex" | "lualatex" | "pdftex" | "luatex" | "xetex" | "etex" => Starts {
            words: &["-shell-escape", "--shell-escape", "-enable-write18", "--enable-write18", "-shell-restricted"],
            ..NONE
        },
        "apt" | "apt-get" | "dpkg" => Starts {
            words: &[
                "APT::Update::",
                "APT::",
                "DPkg::",
                "Dpkg::",
                "Dir::",
                "-oAPT",
                "-oDpkg",
                "-oDPkg",
                "-oDir",
                "--pre-invoke",
                "--post-invoke",
            ],
            ..NONE
        },
        "go" => Starts { words: &["-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "-overlay"], ..NONE },
        "java" | "javac" => Starts {
            words: &[
                "-javaagent",
                "-agentlib",
                "-agentpath",
                "-XX:OnError",
                "-XX:OnOutOfMemoryError",
                "-Xbootclasspath",
                "-processorpath",
                "@",
            ],
            ..NONE
        },
        "jq" => Starts { words: &["-L"], ..NONE },
        "vim" | "vi" | "nvim" | "ex" | "view" => {
            Starts { words: &["-S", "-u", "--cmd", "-s", "+!", "+:!", "-U", "+sh", "+term", "+py", "+lua"], ..NONE }
        }
        "emacs" => Starts { words: &["-l", "--load", "-f", "--funcall", "--script"], ..NONE },
        "nano" | "pico" => Starts { short: "s", long: &["speller"], ..NONE },
        "gawk" | "awk" => Starts { words: &["-l", "--load", "-i/", "-D", "--debug"], ..NONE },
        "sqlite3" => Starts { words: &["-cmd", ".shell", ".system", ".load", ".import |", "-init"], ..NONE },
        "gs" | "ghostscript" => {
            Starts { words: &["-dNOSAFER", "%pipe%", "-sOutputFile=%pipe", "-sOutputFile=|"], ..NONE }
        }
        "fzf" => plain(&["preview", "bind"]),
        "bat" | "batcat" | "delta" => plain(&["pager"]),
        "logrotate" | "run-parts" | "start-stop-daemon" => Starts { words: &[""], ..NONE },
        "fd" | "fdfind" => Starts {
            spec: Spec { short: "edtEScMjo", long: &["extension", "type", "exclude", "max-depth"] },
            short: "xX",
            long: &["exec", "exec-batch"],
            ..NONE
        },
        "gdb" => Starts { words: &["shell ", "!", "python", "pipe ", "|", "source ", "call ", "make "], ..NONE },
        "ipython" => Starts { words: &["!", "%sx", "%system", "%%bash", "%%sh"], ..NONE },
        "npm" | "pnpm" => {
            Starts { words: &["script-shell", "--script-shell", "node-options", "--node-options"], ..NONE }
        }
        "deno" => Starts { words: &["http://", "https://", "npm:", "jsr:", "data:"], ..NONE },
        "enable" => Starts { short: "f", ..NONE },
        "mutt" => Starts { short: "Fe", ..NONE },
        "exiftool" => Starts { words: &["-if", "-config"], ..NONE },
        _ => NONE,
    }
}

/// Programs that unpack, which `tar -I` may name.
const PACKERS: &[&str] = &[
    "gzip", "pigz", "zstd", "zstdmt", "unzstd", "xz", "pxz", "pixz", "bzip2", "pbzip2", "lbzip2", "lz4", "lzma",
    "lzop", "brotli", "compress", "gunzip", "bunzip2", "unxz", "lzip", "plzip",
];

fn program_option(look: &Look<'_>) -> Option<Span> {
    match look.name {
        "rsync" => return program_values::rsync(look.args()),
        "perl" => {
            if let Some(span) = program_values::piped_operand(look) {
                return Some(span);
            }
        }
        "cowsay" | "cowthink" => return program_values::cow_file(look.args()),
        "node" | "nodejs" | "bun" => return program_values::preloads(look.args()),
        "tar" | "gtar" | "bsdtar" => {
            if let Some(span) = unpacks_with(look.args()) {
                return Some(span);
            }
        }
        "pwsh" | "powershell" => return program_values::encoded(look.args()),
        "cargo" => {
            return program_values::cargo_setting(look.args()).or_else(|| program_values::compiler_option(look.args()));
        }
        "rustc" | "rustdoc" => return program_values::compiler_option(look.args()),
        "rg" => {
            if let Some(word) = look.args().iter().find(|word| word.known() == Some("--pre")) {
                return Some(word.span);
            }
        }
        _ => {}
    }
    let table = starts(look.name);
    let by_word = look.args().iter().find(|word| {
        let text = word.prefix();
        table.words.iter().any(|start| {
            text.starts_with(start) && (start.ends_with(['=', ':', '+', '|', '!', ' ', '/']) || boundary(text, start))
        })
    });
    if let Some(word) = by_word {
        return Some(word.span);
    }
    args(look.args(), table.spec).find_map(|arg| match arg {
        Arg::Short(letter, _, word) if table.short.contains(letter) => Some(word.span),
        Arg::Long(given, _, word)
            if given.len() >= 3 && given != "checkpoint" && table.long.iter().any(|name| long_is(given, name)) =>
        {
            Some(word.span)
        }
        _ => None,
    })
}

/// Whether a word is this option, alone or with a value: `-S`, `-Sx`, `-exec=x`, not `-execute`.
fn boundary(text: &str, start: &str) -> bool {
    let rest = text.get(start.len()..).unwrap_or_default();
    start.len() == 2
        || start.is_empty()
        || rest.is_empty()
        || !rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '-')
        || start.starts_with('.')
        || start.contains("rustc")
}

fn unpacks_with(words: &[Word]) -> Option<Span> {
    let spec = starts("tar").spec;
    super::args::values(words, spec, "I", &["use-compress-program"])
        .find(|value| {
            let program = value.text.split_whitespace().next().unwrap_or_default();
            !value.whole || !PACKERS.contains(&program) || value.text.contains([';', '|', '&', '$', '`'])
        })
        .map(|value| value.word.span)
}
