//! `persistence`: staying after the command has ended.

use super::args::{Spec, one_of, only_help, operands, written_option};
use super::{Look, Rule, places};
use crate::shell::{Group, Span};

const GROUP: Group = Group::Persistence;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "persistence.schedule",
        group: GROUP,
        sentence: "what should run later belongs into the gateway's own schedule, where it can be seen",
        programs: &[
            "crontab",
            "at",
            "batch",
            "atq",
            "atrm",
            "anacron",
            "fcrontab",
            "systemd-run",
            "schtasks",
            "incrontab",
        ],
        matches: |look| match look.name {
            "crontab" | "fcrontab" | "incrontab" => {
                let lists = written_option(look.args(), Spec { short: "u", long: &[] }, "l", &[]).is_some()
                    && written_option(look.args(), Spec { short: "u", long: &[] }, "re", &[]).is_none();
                (!lists).then(|| look.program())
            }
            "atq" => None,
            _ => {
                if only_help(look.args()) {
                    None
                } else {
                    Some(look.program())
                }
            }
        },
        denies: &[
            "crontab a",
            "crontab -",
            "echo x | crontab -",
            "crontab -e",
            "crontab -r",
            "at now + 1 minute",
            "echo ls | at 10:00",
            "batch",
            "systemd-run --on-active=1 ls",
            "/usr/bin/crontab a",
        ],
        allows: &["crontab -l", "echo crontab", "ls crontab", "atq", "cat crontab.txt"],
    },
    Rule {
        id: "persistence.service",
        group: GROUP,
        sentence: "services are the operator's",
        programs: &[
            "systemctl",
            "launchctl",
            "update-rc.d",
            "chkconfig",
            "rc-update",
            "sc",
            "initctl",
            "sv",
            "svcadm",
            "reg",
            "insserv",
            "supervisorctl",
            "pm2",
            "loginctl",
            "ntsysv",
        ],
        matches: service,
        denies: &[
            "systemctl enable x",
            "systemctl --user enable --now x",
            "systemctl link /x",
            "systemctl edit x",
            "systemctl daemon-reload",
            "launchctl load x",
            "update-rc.d x defaults",
            "chkconfig x on",
            "rc-update add x",
            "loginctl enable-linger",
            "sc create x",
            "pm2 startup",
        ],
        allows: &["systemctl status x", "systemctl is-enabled x", "systemctl list-units", "launchctl list", "pm2 list"],
    },
    Rule {
        id: "persistence.startup_file",
        group: GROUP,
        sentence: "a shell, a session, git or an interpreter runs this file by itself; write another one",
        programs: &[],
        matches: |look| look.names(|named| named.writes && places::is_startup(&named.path)),
        denies: &[
            "echo x >> ~/.bashrc",
            "echo x > .profile",
            "tee -a ~/.zshrc < a",
            "cp a ~/.bash_profile",
            "echo k >> ~/.ssh/authorized_keys",
            "cp a .git/hooks/pre-commit",
            "echo x > sub/.git/hooks/post-merge",
            "chmod +x .git/hooks/pre-commit",
            "mv a ~/.config/autostart/x.desktop",
            "cat a > /etc/cron.d/x",
            "cat a > /var/spool/cron/x",
            "sed -i '1i x' ~/.bashrc",
            "ln -s a ~/.zshenv",
            "curl -o ~/.bashrc https://example.com",
            "time -o ~/.bashrc ls",
            "script ~/.bashrc",
            "sort -o ~/.profile a",
            "echo x > $HOME/.bashrc",
            "find . -fprintf ~/.bashrc x",
            "echo x > ~/.bash*",
            "echo x > .git/config",
            "dd of=.bashrc",
            "wget -O ~/.profile https://example.com",
            "cd ~ && echo x > .bashrc",
            "echo x > ~/.config/fish/config.fish",
            "touch .envrc",
            "split a ~/.bashrc",
        ],
        allows: &[
            "cat ~/.bashrc",
            "cp ~/.bashrc a",
            "grep x ~/.profile",
            "echo 'x > ~/.bashrc'",
            "ls .git/hooks",
            "echo x > bashrc.md",
            "cat .git/config",
            "time -o log ls",
            "sort -o b a",
            "find . -fprint list",
            "source .venv/bin/activate",
        ],
    },
];

fn service(look: &Look<'_>) -> Option<Span> {
    let commands: &[&str] = match look.name {
        "systemctl" => &[
            "enable",
            "reenable",
            "link",
            "edit",
            "daemon-reload",
            "daemon-reexec",
            "set-default",
            "add-wants",
            "add-requires",
            "preset",
            "preset-all",
            "mask",
            "unmask",
            "import-environment",
            "set-environment",
            "set-property",
            "revert",
            "disable",
        ],
        "launchctl" => &["load", "bootstrap", "enable", "submit", "kickstart", "setenv", "asuser"],
        "sc" | "reg" => &["create", "config", "add", "import"],
        "pm2" => &["startup", "save"],
        "loginctl" => &["enable-linger"],
        "supervisorctl" => &["add", "reread", "update"],
        _ => return if only_help(look.args()) || look.args().is_empty() { None } else { Some(look.program()) },
    };
    operands(look.args(), Spec { short: "HMtpon", long: &["host", "machine", "type", "property", "output", "lines"] })
        .next()
        .filter(|word| one_of(word, commands))
        .map(|word| word.span)
}
