//! `destructive_ops`, second part: tools that hold other people's data (repositories, mirrors, databases, clusters).

use super::args::{Arg, PLAIN, Spec, args, one_of, operands, subcommand, written_option};
use super::{Look, Rule, code};
use crate::shell::{Group, Language, Span, Word};

const GROUP: Group = Group::DestructiveOps;

/// `git`'s own options that take a value.
pub(super) const GIT: Spec =
    Spec { short: "Cc", long: &["git-dir", "work-tree", "namespace", "config-env", "super-prefix"] };

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "destructive_ops.git_clean",
        group: GROUP,
        sentence: "`git clean -f` removes files that no commit holds; look with `git clean -n`, then name them to `rm`",
        programs: &["git"],
        matches: git_clean,
        denies: &[
            "git clean -fdx",
            "git clean -fd",
            "git clean -d --force",
            "git -C sub clean -xf",
            "git clean $x",
            "git -c clean.requireForce=false clean -d",
            "git -c CLEAN.requireforce=0 clean",
            "git config clean.requireForce false",
        ],
        allows: &[
            "git clean -n",
            "git clean -nd",
            "git status",
            "git commit -m 'clean -f'",
            "git -c clean.requireForce=true clean -d",
            "git -c clean.requireForce=false clean -n",
            "git config --get clean.requireForce",
        ],
    },
    Rule {
        id: "destructive_ops.git_history",
        group: GROUP,
        sentence: "rewriting or removing what others have fetched cannot be taken back; push a new commit",
        programs: &["git"],
        matches: git_history,
        denies: &[
            "git push --force origin main",
            "git push -f",
            "git push origin +main",
            "git push --mirror origin",
            "git push origin --delete main",
            "git push origin :main",
            "git reflog expire --expire=now --all",
            "git filter-branch --all",
            "git gc --prune=now",
        ],
        allows: &[
            "git push origin main",
            "git push --force-with-lease origin topic",
            "git push -u origin topic",
            "git gc",
            "git reflog",
            "git fetch -f",
        ],
    },
    Rule {
        id: "destructive_ops.mirror_delete",
        group: GROUP,
        sentence: "a mirror that deletes empties its target when the source is empty; copy without `--delete`",
        programs: &["rsync", "rclone", "robocopy", "unison"],
        matches: mirror_delete,
        denies: &[
            "rsync -a --delete empty/ target/",
            "rsync --del a/ b/",
            "rclone purge remote:x",
            "robocopy a b /MIR",
        ],
        allows: &["rsync -a src/ dst/", "rclone ls remote:x", "echo rsync --delete"],
    },
    Rule {
        id: "destructive_ops.statement",
        group: GROUP,
        sentence: "dropping and emptying tables cannot be taken back; delete named rows instead",
        programs: &[],
        matches: statement,
        denies: &["psql -c 'DROP TABLE users'", "sqlite3 a.db 'drop database x;'", "mysql -e 'TRUNCATE TABLE t'"],
        allows: &["psql -c 'SELECT 1'", "echo 'DROP TABLE users'", "git commit -m 'drop table users'"],
    },
    Rule {
        id: "destructive_ops.remote_resource",
        group: GROUP,
        sentence: "removing what runs or is kept elsewhere is for a person to do",
        programs: &[
            "terraform",
            "tofu",
            "pulumi",
            "kubectl",
            "oc",
            "helm",
            "docker",
            "podman",
            "aws",
            "gsutil",
            "dropdb",
            "redis-cli",
            "mc",
            "s3cmd",
        ],
        matches: remote_resource,
        denies: &[
            "terraform destroy -auto-approve",
            "terraform apply -destroy",
            "kubectl delete ns prod",
            "docker system prune -af",
            "docker volume rm data",
            "aws s3 rm s3://b --recursive",
            "aws s3 rb s3://b",
            "dropdb app",
            "redis-cli FLUSHALL",
            "helm uninstall app",
        ],
        allows: &["terraform plan", "kubectl get pods", "docker ps", "aws s3 ls", "redis-cli GET a", "helm list"],
    },
    Rule {
        id: "destructive_ops.code",
        group: GROUP,
        sentence: "code that removes trees or starts itself again and again is refused like the commands; name the files",
        programs: &[],
        matches: code_removes,
        denies: &[
            "python3 -c 'import shutil; shutil.rmtree(\"x\")'",
            "node -e 'fs.rmSync(\"x\", {recursive: true})'",
            "ruby -e 'FileUtils.rm_rf(\"x\")'",
            "perl -e 'fork while fork'",
            "pwsh -Command 'Remove-Item -Recurse -Force x'",
        ],
        allows: &[
            "python3 -c 'import os; os.remove(\"x\")'",
            "python3 -c 'print(\"shutil.rmtree\")'",
            "node -e 'fs.readFileSync(\"x\")'",
        ],
    },
];

fn git_clean(look: &Look<'_>) -> Option<Span> {
    let (word, rest) = subcommand(look.args(), GIT)?;
    let without_force = |setting: &str| setting.to_ascii_lowercase().starts_with("clean.requireforce");
    if word.known() == Some("config") {
        // Only to ask for it takes no value.
        let at = rest.iter().position(|word| without_force(word.prefix()))?;
        return rest.get(at + 1).filter(|value| value.known() != Some("true")).map(|value| value.span);
    }
    if word.known() != Some("clean") {
        return None;
    }
    let exclude = Spec { short: "e", long: &["exclude"] };
    if written_option(rest, exclude, "n", &["dry-run"]).is_some() {
        return None;
    }
    let setting = super::args::values(look.args(), GIT, "c", &["config-env"])
        .find(|given| without_force(given.text) && !(given.whole && given.text.ends_with("=true")))
        .map(|given| given.word.span);
    setting.or_else(|| super::args::option(rest, exclude, "f", &["force"]))
}

fn git_history(look: &Look<'_>) -> Option<Span> {
    let (word, rest) = subcommand(look.args(), GIT)?;
    let push = Spec { short: "o", long: &["push-option", "repo", "receive-pack", "exec"] };
    match word.known()? {
        "push" => args(rest, push).find_map(|arg| match arg {
            Arg::Short('f' | 'd', _, word) => Some(word.span),
            Arg::Long("force" | "mirror" | "delete" | "prune", _, word) => Some(word.span),
            Arg::Operand(word) if word.prefix().starts_with(['+', ':']) => Some(word.span),
            _ => None,
        }),
        "filter-branch" | "filter-repo" => Some(word.span),
        "reflog" => {
            operands(rest, PLAIN).next().filter(|word| one_of(word, &["expire", "delete"])).map(|word| word.span)
        }
        "gc" | "prune" => rest
            .iter()
            .find(|word| word.prefix().starts_with("--prune=now") || word.prefix() == "--expire=now")
            .map(|word| word.span),
        "update-ref" => written_option(rest, PLAIN, "d", &[]),
        _ => None,
    }
}

fn mirror_delete(look: &Look<'_>) -> Option<Span> {
    look.args()
        .iter()
        .find(|word| {
            let text = word.prefix();
            match look.name {
                "rsync" => text.starts_with("--del") || text == "--remove-source-files",
                "robocopy" => text.eq_ignore_ascii_case("/mir") || text.eq_ignore_ascii_case("/purge"),
                _ => one_of(word, &["purge", "delete", "deletefile", "cleanup", "rmdirs"]),
            }
        })
        .map(|word| word.span)
}

/// Statements that name what they drop; words of a larger text are not told apart from them, so only code counts.
fn statement(look: &Look<'_>) -> Option<Span> {
    look.code().filter(|text| text.language == Language::Sql).find_map(|text| {
        let lower = text.whole.to_ascii_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
        let drops = words.windows(2).any(|pair| {
            matches!(
                pair,
                ["drop", "table" | "database" | "schema" | "user" | "role" | "tablespace"] | ["truncate", "table"]
            )
        });
        (drops || matches!(words.as_slice(), ["truncate", _, ..])).then_some(text.word.span)
    })
}

fn remote_resource(look: &Look<'_>) -> Option<Span> {
    let has = |texts: &[&str]| look.args().iter().find(|word| word.known().is_some_and(|text| texts.contains(&text)));
    let first = |texts: &[&str]| {
        operands(look.args(), PLAIN).take(2).find(|word| word.known().is_some_and(|text| texts.contains(&text)))
    };
    let found: Option<&Word> = match look.name {
        "terraform" | "tofu" | "pulumi" => has(&["destroy", "-destroy", "--destroy"]),
        "kubectl" | "oc" => first(&["delete", "drain"]),
        "helm" => first(&["uninstall", "delete", "del"]),
        "docker" | "podman" => first(&["prune"])
            .or_else(|| first(&["volume"]).and_then(|_| has(&["rm", "remove"])))
            .or_else(|| first(&["rmi"]).and_then(|_| has(&["-f", "--force"]))),
        "aws" => has(&["rb"]).or_else(|| has(&["rm"]).and_then(|_| has(&["--recursive"]))),
        "gsutil" | "mc" | "s3cmd" => {
            has(&["rb"]).or_else(|| has(&["rm", "del"]).and_then(|_| has(&["-r", "-R", "--recursive", "--force"])))
        }
        "redis-cli" => look.args().iter().find(|word| {
            word.known()
                .is_some_and(|text| text.eq_ignore_ascii_case("flushall") || text.eq_ignore_ascii_case("flushdb"))
        }),
        _ => return Some(look.program()),
    };
    found.map(|word| word.span)
}

fn code_removes(look: &Look<'_>) -> Option<Span> {
    look.code().find_map(|text| {
        let bare = &text.bare;
        let found = match text.language {
            Language::Python => {
                code::mentions_any(bare, &["rmtree", "removedirs"])
                    || (bare.contains("while") && code::mentions(bare, "os.fork"))
            }
            Language::JavaScript => {
                (code::mentions_any(bare, &["rmSync", "rm", "rmdir", "rmdirSync"]) && bare.contains("recursive"))
                    || code::mentions(bare, "Deno.remove")
            }
            Language::Ruby => code::mentions_any(bare, &["rm_rf", "rm_r", "remove_dir", "remove_entry", "rmtree"]),
            Language::Perl => code::mentions_any(bare, &["rmtree", "remove_tree"]) || bare.contains("fork while fork"),
            Language::PowerShell => {
                let lower = bare.to_ascii_lowercase();
                let removes = code::mentions_any(&lower, &["remove-item", "rm", "ri", "del", "rd", "rmdir"]);
                (removes && (lower.contains("-r") || lower.contains("-fo")))
                    || code::mentions_any(&lower, &["format-volume", "clear-disk", "stop-computer", "restart-computer"])
            }
            Language::Cmd => {
                let lower = bare.to_ascii_lowercase();
                code::mentions_any(&lower, &["del", "rd", "rmdir", "format"])
                    && (lower.contains("/s")
                        || lower.contains("/q")
                        || lower.contains("/f")
                        || lower.contains("format"))
            }
            _ => false,
        };
        found.then_some(text.word.span)
    })
}
