//! `privilege_escalation`: becoming somebody else.

use super::args::{PLAIN, Spec, only_help, operands, values};
use super::{Look, Rule};
use crate::shell::{Group, Span};

const GROUP: Group = Group::PrivilegeEscalation;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "privilege_escalation.other_user",
        group: GROUP,
        sentence: "running as another user, or with other rights, is the operator's to allow; run it as you are",
        programs: &[
            "sudo",
            "sudoedit",
            "su",
            "doas",
            "pkexec",
            "runuser",
            "gosu",
            "su-exec",
            "setpriv",
            "run0",
            "machinectl",
            "chpst",
            "setuidgid",
            "newgrp",
            "sg",
            "dzdo",
            "calife",
            "super",
            "gksu",
            "gksudo",
            "kdesu",
            "beesu",
            "runas",
            "psexec",
            "userdbctl",
            "chroot",
            "schroot",
            "systemd-nspawn",
            "fakechroot",
        ],
        matches: |look| if only_help(look.args()) && look.name != "su" { None } else { Some(look.program()) },
        denies: &[
            "sudo ls",
            "sudo -u a ls",
            "su -c ls",
            "su",
            "doas ls",
            "pkexec ls",
            "/usr/bin/sudo ls",
            "s\"ud\"o ls",
            "ls && sudo -n ls",
            "x=sudo; $x ls",
            "runuser -u a ls",
            "echo x | sudo tee y",
            "chroot /host ls",
        ],
        allows: &["echo sudo ls", "grep sudo f", "git commit -m 'use sudo'", "ls sudo", "which sudo"],
    },
    Rule {
        id: "privilege_escalation.namespace",
        group: GROUP,
        sentence: "other namespaces and capabilities are the operator's to give",
        programs: &[
            "nsenter",
            "unshare",
            "capsh",
            "setcap",
            "getcap",
            "bwrap",
            "firejail",
            "newuidmap",
            "newgidmap",
            "lxc-attach",
            "pscap",
        ],
        matches: |look| if only_help(look.args()) { None } else { Some(look.program()) },
        denies: &["nsenter -t 1 -m sh", "unshare -r", "capsh --print", "setcap cap_net_raw+ep x", "getcap -r /"],
        allows: &["echo nsenter", "ls unshare"],
    },
    Rule {
        id: "privilege_escalation.mount",
        group: GROUP,
        sentence: "mounting changes what the machine's folders are; that is the operator's work",
        programs: &["mount", "umount", "fusermount", "losetup", "swapon", "swapoff", "udisksctl", "pmount"],
        matches: |look| {
            let lists = look.args().is_empty()
                || look
                    .args()
                    .iter()
                    .all(|word| matches!(word.known(), Some("-l" | "--help" | "-V" | "-a" | "--list")));
            if lists && !matches!(look.name, "umount" | "swapoff") { None } else { Some(look.program()) }
        },
        denies: &[
            "mount /dev/sda1 /mnt",
            "mount -o remount,rw /",
            "umount /mnt",
            "mount --bind / x",
            "losetup /dev/loop0 x",
        ],
        allows: &["mount", "mount | grep tmpfs", "mount -l", "echo mount", "ls mount"],
    },
    Rule {
        id: "privilege_escalation.setuid",
        group: GROUP,
        sentence: "a file that runs as its owner gives its rights to everybody; leave the `s` bit out",
        programs: &["chmod", "install", "mkdir"],
        matches: setuid,
        denies: &[
            "chmod u+s x",
            "chmod 4755 x",
            "chmod +s x",
            "chmod g+s,o+x x",
            "chmod 06755 x",
            "install -m 4755 a b",
            "chmod u=rwxs x",
            "chmod -R a+rs d",
        ],
        allows: &[
            "chmod 755 x",
            "chmod u+x x",
            "chmod 0644 x",
            "chmod +x scripts",
            "install -m 755 a b",
            "chmod o-s x",
            "chmod 1777 d",
        ],
    },
    Rule {
        id: "privilege_escalation.accounts",
        group: GROUP,
        sentence: "accounts, groups and passwords are the operator's",
        programs: &[
            "passwd",
            "usermod",
            "useradd",
            "adduser",
            "userdel",
            "deluser",
            "groupadd",
            "groupmod",
            "gpasswd",
            "chpasswd",
            "visudo",
            "vipw",
            "vigr",
            "chsh",
            "chfn",
            "chage",
            "newusers",
            "addgroup",
            "dscl",
            "sysadminctl",
            "pwunconv",
            "unix_chkpwd",
        ],
        matches: |look| if only_help(look.args()) { None } else { Some(look.program()) },
        denies: &[
            "passwd root",
            "useradd -o -u 0 x",
            "usermod -aG docker x",
            "echo root:x | chpasswd",
            "visudo",
            "adduser x sudo",
        ],
        allows: &["id", "groups", "echo passwd", "cat passwd.txt"],
    },
];

fn setuid(look: &Look<'_>) -> Option<Span> {
    if look.name != "chmod" {
        let spec = Spec { short: "mogtSZ", long: &["mode", "owner", "group", "target-directory"] };
        return values(look.args(), spec, "m", &["mode"])
            .find(|mode| sets(mode.text, look.name == "mkdir"))
            .map(|mode| mode.word.span);
    }
    // A mode may begin with a dash (`-s` takes the bit away), so every word is asked until the first that is one.
    let mode = operands(look.args(), PLAIN).next()?;
    sets(mode.prefix(), false).then_some(mode.span)
}

/// Whether a mode sets the user or group bit; a folder's group bit only hands on its group.
fn sets(mode: &str, folder: bool) -> bool {
    if !mode.is_empty() && mode.bytes().all(|b| b.is_ascii_digit()) {
        let high = u32::from_str_radix(mode, 8).unwrap_or_default() >> 9;
        return high & if folder { 4 } else { 6 } != 0;
    }
    mode.split(',').any(|clause| {
        clause.split_once(['+', '=']).is_some_and(|(who, rights)| {
            if who.is_empty() && rights.starts_with(|c: char| c.is_ascii_digit()) {
                return sets(rights, folder);
            }
            rights.contains('s') && !(folder && who == "g") && who.chars().all(|c| "ugoa".contains(c))
        })
    })
}
