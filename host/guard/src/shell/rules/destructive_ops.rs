//! `destructive_ops`: removing and overwriting in bulk, disks, power.

use super::args::{Arg, PLAIN, Spec, args, one_of, operands, option, subcommand, values, written_option};
use super::{Look, Rule, places};
use crate::shell::{Feature, Group, Place, Span, Why};

const GROUP: Group = Group::DestructiveOps;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "destructive_ops.recursive_remove",
        group: GROUP,
        sentence: "removing whole trees, or what an expansion or a list names, cannot be taken back; name the files",
        programs: &["rm", "grm", "srm", "unlink"],
        matches: recursive_remove,
        denies: &[
            "rm -rf /",
            "rm -fr x",
            "rm -rfv build",
            "rm -R -f build",
            "rm -r x",
            "rm --recursive --force /",
            "rm --rec x",
            "rm x -r",
            "rm --no-preserve-root /",
            "r''m -rf x",
            "\\rm -rf x",
            "/bin/rm -r x",
            "rm $flags x",
            "find . -exec rm {} \\;",
            "ls | xargs rm",
            "sudo -u a rm -r x",
            "if true; then rm -rf /; fi",
        ],
        allows: &[
            "rm a.txt b.txt",
            "rm -i a.txt",
            "rm -- -r",
            "rm *.o",
            "rm \"$f\"",
            "echo rm -rf /",
            "git commit -m 'rm -rf /'",
            "grep -rf patterns src",
            "git rm --cached a.txt",
        ],
    },
    Rule {
        id: "destructive_ops.forced_remove",
        group: GROUP,
        sentence: "removing by force hides every mistake; leave `-f` out",
        programs: &["rm", "grm", "srm"],
        matches: |look| option(look.args(), PLAIN, "f", &["force"]),
        denies: &["rm -f x", "rm -vf x", "rm --force x", "rm --fo x"],
        allows: &["rm x", "rm -v x", "rm -- -f"],
    },
    Rule {
        id: "destructive_ops.find_delete",
        group: GROUP,
        sentence: "`find -delete` removes whatever matches; list it first, then name the files",
        programs: &["find", "gfind", "bfs", "fd", "fdfind"],
        matches: |look| look.args().iter().find(|word| one_of(word, &["-delete"])).map(|word| word.span),
        denies: &["find / -delete", "find . -name '*.log' -delete", "find . -name x \"-delete\""],
        allows: &["find . -name '*.log'", "find . -name delete", "find src -type f -print"],
    },
    Rule {
        id: "destructive_ops.shred",
        group: GROUP,
        sentence: "overwriting files so that nothing can be restored is refused; use `rm` on named files",
        programs: &["shred", "wipe", "sfill", "sswap", "scrub", "bleachbit"],
        matches: |look| Some(look.program()),
        denies: &["shred -u key.pem", "shred x", "wipe -rf dir"],
        allows: &["echo shred", "rm key.old"],
    },
    Rule {
        id: "destructive_ops.truncate",
        group: GROUP,
        sentence: "cutting a file to nothing loses what it holds; write a new file instead",
        programs: &["truncate", "gtruncate"],
        matches: truncate,
        denies: &[
            "truncate -s 0 app.log",
            "truncate --size=0 x",
            "truncate -s0 x",
            "truncate -s -10M x",
            "truncate -c -s 0 x",
        ],
        allows: &["truncate -s 10M new.img", "truncate -s +1K x", "truncate --help"],
    },
    Rule {
        id: "destructive_ops.emptied",
        group: GROUP,
        sentence: "moving files to `/dev/null`, copying it over them or removing what was packed loses them; keep the files",
        programs: &["mv", "cp", "install", "tar", "gtar", "zip"],
        matches: emptied,
        denies: &[
            "mv secret /dev/null",
            "cp /dev/null app.db",
            "mv -t /dev/null a",
            "install /dev/null a",
            "tar --remove-files -cf a b",
            "zip -rm a b",
        ],
        allows: &["mv a b", "cp a b", "ls > /dev/null", "tar -cf a b", "zip -r a b", "tar -cf /dev/null b"],
    },
    Rule {
        id: "destructive_ops.dd",
        group: GROUP,
        sentence: "`dd` overwrites without asking; use `cp`, `head -c` or `truncate -s 1M`",
        programs: &["dd", "dcfldd", "ddrescue"],
        matches: dd,
        denies: &[
            "dd if=/dev/zero of=/dev/sda",
            "dd if=/dev/zero of=x bs=1M count=1",
            "dd of=x < y",
            "dd if=/dev/sda",
            "dd $args",
            "dd if=/dev/zero of=x bs=1k",
            "dd if=/dev/zero of=/etc/x bs=1k count=4",
            "dd if=/dev/zero of=x bs=$n count=4",
        ],
        allows: &[
            "dd if=data.bin bs=1 count=16",
            "dd --version",
            "ls dd",
            "dd if=/dev/zero of=file bs=1k count=4",
            "dd if=/dev/urandom bs=16 count=1 status=none",
        ],
    },
    Rule {
        id: "destructive_ops.disk_written",
        group: GROUP,
        sentence: "writing to a disk or to the machine's memory destroys what is on it",
        programs: &[],
        matches: |look| look.names(|named| named.writes && places::is_disk(&named.path)),
        denies: &[
            "echo x > /dev/sda",
            "cat img >> /dev/nvme0n1",
            "tee /dev/vda < img",
            "cp img /dev/mmcblk0",
            ": > /dev/../dev/sdb",
        ],
        allows: &["ls > /dev/null", "echo x 2> /dev/stderr", "ls -l /dev/sda", "echo '> /dev/sda'"],
    },
    Rule {
        id: "destructive_ops.disk_tool",
        group: GROUP,
        sentence: "making file systems, partitions and volumes is the operator's work",
        programs: &[
            "mkfs",
            "mke2fs",
            "mkswap",
            "wipefs",
            "blkdiscard",
            "fdisk",
            "sfdisk",
            "cfdisk",
            "gdisk",
            "sgdisk",
            "parted",
            "hdparm",
            "badblocks",
            "cryptsetup",
            "lvremove",
            "vgremove",
            "pvremove",
            "pvcreate",
            "vgcreate",
            "zpool",
            "mdadm",
            "dmsetup",
            "nvme",
            "diskutil",
            "diskpart",
            "format",
            "newfs",
            "tune2fs",
            "resize2fs",
            "xfs_growfs",
            "debugfs",
        ],
        matches: disk_tool,
        denies: &[
            "mkfs.ext4 /dev/sda1",
            "mkfs -t xfs /dev/sdb",
            "wipefs -a /dev/sda",
            "fdisk /dev/sda",
            "parted /dev/sda mklabel gpt",
            "format c:",
            "diskpart",
            "cryptsetup luksFormat /dev/sdb",
            "blkdiscard /dev/sda",
        ],
        allows: &["fdisk -l", "prettier --format json", "cargo fmt", "lsblk", "parted --list"],
    },
    Rule {
        id: "destructive_ops.power",
        group: GROUP,
        sentence: "turning the machine off or to another run level ends everybody's work",
        programs: &[
            "shutdown",
            "reboot",
            "poweroff",
            "halt",
            "init",
            "telinit",
            "systemctl",
            "loginctl",
            "kexec",
            "pm-suspend",
            "pm-hibernate",
        ],
        matches: power,
        denies: &[
            "shutdown -h now",
            "shutdown now",
            "reboot",
            "/sbin/poweroff",
            "halt -p",
            "init 0",
            "telinit 6",
            "systemctl suspend",
            "systemctl --force reboot",
            "systemctl hibernate",
            "shutdown.exe /s",
        ],
        allows: &["systemctl status nginx", "npm init -y", "git init", "echo reboot", "who -b"],
    },
    Rule {
        id: "destructive_ops.fork_bomb",
        group: GROUP,
        sentence: "a function that starts itself twice or in the background fills the machine with processes",
        programs: &[],
        matches: fork_bomb,
        denies: &[":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", "f() { f & f; }; f"],
        allows: &["f() { ls | wc -l; }; f", "greet() { echo hi; }; greet &", "f() { if [ -e x ]; then f x; fi; }; f y"],
    },
    Rule {
        id: "destructive_ops.windows_remove",
        group: GROUP,
        sentence: "removing without asking, or whole trees, cannot be taken back; name the files",
        programs: &["del", "erase", "rmdir", "rd", "cipher", "vssadmin"],
        matches: windows_remove,
        denies: &[
            "del /f /q x",
            "del /q *.*",
            "rmdir /s build",
            "rd /S /Q build",
            "vssadmin delete shadows",
            "cipher /w:c",
        ],
        allows: &["rmdir build", "del x.txt", "rmdir -p a/b"],
    },
];

fn recursive_remove(look: &Look<'_>) -> Option<Span> {
    if let Some(span) = option(look.args(), PLAIN, "rR", &["recursive", "no-preserve-root"]) {
        return Some(span);
    }
    // Names from a list or from `find` may be anything at all.
    let listed = look.args().iter().find(|word| word.unknowns().any(|why| *why == Why::Input));
    listed.map(|_| look.program())
}

fn truncate(look: &Look<'_>) -> Option<Span> {
    let spec = Spec { short: "sr", long: &["size", "reference"] };
    if let Some(span) = written_option(look.args(), spec, "r", &["reference"]) {
        return Some(span);
    }
    let small = |text: &str| {
        !text.starts_with(['+', '>'])
            && (!text.starts_with(|c: char| c.is_ascii_digit())
                || text.starts_with('0')
                || text.ends_with(|c: char| c.is_ascii_digit()))
    };
    values(look.args(), spec, "s", &["size"]).find(|size| !size.whole || small(size.text)).map(|size| size.word.span)
}

fn emptied(look: &Look<'_>) -> Option<Span> {
    match look.name {
        "tar" | "gtar" => {
            return written_option(look.args(), Spec { short: "fCIXTbV", long: &[] }, "", &["remove-files"]);
        }
        "zip" => return written_option(look.args(), Spec { short: "xintb", long: &[] }, "m", &["move"]),
        _ => {}
    }
    let null = look.args().iter().find(|word| word.known().is_some_and(|text| text.ends_with("/dev/null")))?;
    let last = look.args().last().is_some_and(|word| std::ptr::eq(word, null));
    let folder = look.args().iter().any(|word| matches!(word.known(), Some("-t" | "--target-directory")));
    (if look.name == "mv" { last || folder } else { !last }).then_some(null.span)
}

/// The most that `dd` may write: what is lost by it can be made again by hand.
const MOST_WRITTEN: u64 = 512 * 1024;

fn dd(look: &Look<'_>) -> Option<Span> {
    let suspect = look.args().iter().find(|word| {
        let text = word.prefix();
        text.starts_with("of=") || text.starts_with("if=/dev/") || (text.is_empty() && word.known().is_none())
    })?;
    (!is_small(look)).then_some(suspect.span)
}

/// Whether a known and small number of bytes goes from a file or a source of bytes into a plain file, or nowhere.
fn is_small(look: &Look<'_>) -> bool {
    let Some(words) = look.args().iter().map(crate::shell::Word::known).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let given = |name: &str| words.iter().rev().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let known = ["if", "of", "bs", "count", "status", "conv", "iflag", "oflag", "seek", "skip"];
    let plain = words.iter().all(|word| word.split_once('=').is_some_and(|(name, _)| known.contains(&name)));
    let source = given("if")
        .is_some_and(|path| !path.starts_with("/dev/") || matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random"));
    let target = given("of").is_none_or(|path| !path.starts_with("/dev/") || path == "/dev/null");
    let size = given("bs").map_or(Some(512), size).zip(given("count").and_then(size));
    let bytes = size.and_then(|(block, count)| block.checked_mul(count));
    plain && source && target && bytes.is_some_and(|bytes| bytes <= MOST_WRITTEN)
}

/// A number as `dd` reads it: `4`, `1k`, `2M`.
fn size(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at_checked(digits)?;
    let unit: u64 = match unit {
        "" | "c" | "B" => 1,
        "w" => 2,
        "b" => 512,
        "kB" | "KB" => 1000,
        "k" | "K" | "KiB" => 1024,
        "MB" => 1_000_000,
        "M" | "MiB" => 1024 * 1024,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// Listing is everybody's.
fn disk_tool(look: &Look<'_>) -> Option<Span> {
    let lists = |word: &crate::shell::Word| {
        matches!(
            word.known(),
            Some("-l" | "--list" | "-L" | "--help" | "--version" | "-V" | "list" | "status" | "info")
        )
    };
    if look.args().iter().any(lists) { None } else { Some(look.program()) }
}

fn power(look: &Look<'_>) -> Option<Span> {
    let first = || operands(look.args(), Spec { short: "tHMp", long: &["type", "host", "machine", "property"] }).next();
    let words: &[&str] = match look.name {
        "init" | "telinit" => &["0", "1", "6", "s", "S"],
        "systemctl" | "loginctl" => &[
            "suspend",
            "hibernate",
            "hybrid-sleep",
            "suspend-then-hibernate",
            "poweroff",
            "reboot",
            "halt",
            "kexec",
            "rescue",
            "emergency",
            "isolate",
            "soft-reboot",
        ],
        _ => {
            return if super::args::only_help(look.args()) && look.name != "shutdown" {
                None
            } else {
                Some(look.program())
            };
        }
    };
    first().filter(|word| one_of(word, words)).map(|word| word.span)
}

fn fork_bomb(look: &Look<'_>) -> Option<Span> {
    let name = look.one.name()?;
    let Place::Function(inside) = &look.one.place else { return None };
    if name != inside {
        return None;
    }
    let same = |index: &usize| look.seen.invocations.get(*index).and_then(crate::shell::Invocation::name) == Some(name);
    let piped = look.one.feeds.iter().any(same) || look.feeders().any(|one| one.name() == Some(name));
    let behind = look.seen.uses.iter().any(|one| {
        // The mark of the background stands right behind the command.
        one.feature == Feature::Background
            && (one.span.start >= look.one.span.start && one.span.start <= look.one.span.end + 2)
    });
    (piped || behind).then(|| look.program())
}

fn windows_remove(look: &Look<'_>) -> Option<Span> {
    let switches: &[&str] = match look.name {
        "del" | "erase" => &["/f", "/q", "/s"],
        "rmdir" | "rd" => &["/s", "/q"],
        "cipher" => &["/w"],
        _ => {
            return subcommand(look.args(), PLAIN)
                .filter(|(word, _)| one_of(word, &["delete", "resize"]))
                .map(|(word, _)| word.span);
        }
    };
    args(look.args(), PLAIN).find_map(|arg| match arg {
        Arg::Operand(word) => {
            let text = word.prefix().to_ascii_lowercase();
            switches
                .iter()
                .any(|switch| text == *switch || text.starts_with(&format!("{switch}:")))
                .then_some(word.span)
        }
        _ => None,
    })
}
