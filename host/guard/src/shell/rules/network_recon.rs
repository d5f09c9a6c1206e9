//! `network_recon`: scanning networks, reaching other machines.

use super::args::{Spec, one_of, only_help, subcommand};
use super::{Look, Rule};
use crate::shell::{Group, Span};

const GROUP: Group = Group::NetworkRecon;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "network_recon.scanner",
        group: GROUP,
        sentence: "scanning networks or listening on them is not what this machine is for",
        programs: &[
            "nmap",
            "masscan",
            "zmap",
            "rustscan",
            "unicornscan",
            "netdiscover",
            "arp-scan",
            "arping",
            "fping",
            "hping",
            "naabu",
            "nikto",
            "gobuster",
            "ffuf",
            "dirb",
            "dirbuster",
            "wfuzz",
            "sqlmap",
            "hydra",
            "medusa",
            "ncrack",
            "subfinder",
            "amass",
            "theharvester",
            "enum4linux",
            "smbmap",
            "nbtscan",
            "nbtstat",
            "whatweb",
            "wpscan",
            "feroxbuster",
            "tcpdump",
            "tshark",
            "dumpcap",
            "wireshark",
            "bettercap",
            "ettercap",
            "responder",
            "crackmapexec",
            "nxc",
            "netexec",
            "zgrab",
            "zgrab2",
            "nuclei",
            "httpx-toolkit",
            "onesixtyone",
            "snmpwalk",
            "p0f",
            "angryip",
            "sslscan",
            "testssl",
            "testssl.sh",
            "dsniff",
            "ngrep",
            "tcpflow",
            "kismet",
            "aircrack-ng",
            "john",
            "hashcat",
        ],
        matches: |look| if only_help(look.args()) { None } else { Some(look.program()) },
        denies: &[
            "nmap -sV 192.0.2.0/24",
            "masscan 192.0.2.0/24",
            "/usr/bin/nmap h",
            "zmap -p 80",
            "rustscan -a h",
            "n''map h",
            "tcpdump -i any",
            "busybox arping h",
        ],
        allows: &["echo nmap", "nmap --version", "ls nmap", "grep nmap f", "ping -c 1 example.com"],
    },
    Rule {
        id: "network_recon.remote_shell",
        group: GROUP,
        sentence: "other machines are reached by tools that were granted them, not from a shell",
        programs: &[
            "ssh",
            "scp",
            "sftp",
            "slogin",
            "mosh",
            "autossh",
            "sshpass",
            "sshuttle",
            "dbclient",
            "plink",
            "pscp",
            "putty",
            "ssh-copy-id",
            "sshfs",
            "et",
            "winrs",
            "evil-winrm",
            "xfreerdp",
            "rdesktop",
            "vncviewer",
            "ssh-keyscan",
        ],
        matches: |look| if only_help(look.args()) || look.args().is_empty() { None } else { Some(look.program()) },
        denies: &[
            "ssh user@example.com ls",
            "scp f user@example.com:/x",
            "sftp example.com",
            "ssh -o ProxyCommand=ls h",
            "ssh h",
            "ssh-copy-id h",
            "sshpass -p x ssh h",
            "ssh -R 1:h:2 h",
            "ssh -D 1 h",
        ],
        allows: &["ssh -V", "ssh-keygen -t ed25519 -f k", "echo ssh a@b", "ls ssh", "git clone git@example.com:a/b"],
    },
    Rule {
        id: "network_recon.tunnel",
        group: GROUP,
        sentence: "a tunnel opens this machine to others, or others to it",
        programs: &[
            "chisel",
            "frp",
            "frpc",
            "frps",
            "ngrok",
            "cloudflared",
            "bore",
            "localtunnel",
            "lt",
            "tailscale",
            "tailscaled",
            "zerotier-cli",
            "zerotier-one",
            "wg",
            "wg-quick",
            "openvpn",
            "gost",
            "inlets",
            "pagekite",
            "stunnel",
            "ligolo",
            "ligolo-ng",
            "rathole",
            "revsocks",
            "proxychains",
            "proxychains4",
            "tor",
            "torsocks",
            "torify",
            "iodined",
            "ptunnel",
            "3proxy",
            "dante",
            "localhost.run",
            "expose",
            "zrok",
            "pivotnacci",
            "rpivot",
            "sish",
            "redsocks",
            "ip6tables",
            "iptables",
            "nft",
            "ufw",
            "firewall-cmd",
            "ip",
            "ifconfig",
            "route",
            "brctl",
        ],
        matches: tunnel,
        denies: &[
            "ngrok http 80",
            "cloudflared tunnel run",
            "chisel client h R:1",
            "frpc -c x",
            "bore local 1 --to h",
            "lt --port 80",
            "wg-quick up x",
            "iptables -F",
            "ip route add default via 192.0.2.1",
            "ifconfig eth0 up",
            "ip link set eth0 promisc on",
        ],
        allows: &["echo ngrok", "ngrok --version", "ip addr", "ip -4 addr show", "ip route", "ifconfig", "iptables -L"],
    },
    Rule {
        id: "network_recon.fleet",
        group: GROUP,
        sentence: "the tool runs commands on other machines; run them here, or use a tool that was granted those",
        programs: &[
            "ansible",
            "ansible-playbook",
            "ansible-console",
            "ansible-pull",
            "ansible-galaxy",
            "ansible-adhoc",
            "salt",
            "salt-ssh",
            "salt-call",
            "salt-run",
            "pssh",
            "parallel-ssh",
            "pscp.pssh",
            "prsync",
            "pdsh",
            "pdcp",
            "clush",
            "dsh",
            "cssh",
            "fab",
            "cap",
            "mco",
            "bolt",
            "knife",
            "chef-client",
            "chef-run",
            "puppet",
            "cfagent",
            "rundeck",
            "rd",
            "teleport",
            "tsh",
            "orgalorg",
            "sup",
            "mussh",
            "xdsh",
            "psrun",
            "srun",
            "sbatch",
            "mpirun",
            "mpiexec",
            "wmic",
            "wmiexec",
            "psexec.py",
            "impacket-psexec",
            "nomad",
            "consul",
            "fleetctl",
            "juju",
            "gcloud-ssh",
            "pyinfra",
            "rex",
            "cdist",
            "distcc",
        ],
        matches: |look| {
            let plain = look.name == "rd" || only_help(look.args()) || look.args().is_empty();
            if plain { None } else { Some(look.program()) }
        },
        denies: &[
            "ansible all -m shell -a ls",
            "ansible-playbook a.yml",
            "salt '*' cmd.run ls",
            "pssh -h f ls",
            "pdsh -w h ls",
            "fab -H h x",
            "clush -a ls",
            "puppet apply x",
            "an\"sib\"le all -m ping",
            "bolt command run ls",
        ],
        allows: &["ansible --version", "echo ansible", "ls ansible", "grep salt f", "cat ansible.cfg"],
    },
    Rule {
        id: "network_recon.cluster",
        group: GROUP,
        sentence: "the command runs in, or opens a way to, another machine or container",
        programs: &[
            "kubectl", "oc", "k3s", "k", "microk8s", "gcloud", "aws", "az", "flyctl", "fly", "heroku", "doctl", "gh",
            "railway", "vercel",
        ],
        matches: cluster,
        denies: &[
            "kubectl exec -it a -- sh",
            "kubectl -n x exec a -- ls",
            "kubectl run a --image=x",
            "kubectl cp a:/x b",
            "kubectl port-forward a 80",
            "oc rsh a",
            "gcloud compute ssh a",
            "aws ssm start-session --target a",
            "fly ssh console",
            "heroku run bash",
            "gh codespace ssh",
            "kubectl debug a",
            "az vm run-command invoke",
        ],
        allows: &[
            "kubectl get pods",
            "kubectl logs a",
            "gcloud compute instances list",
            "gh --version",
            "gh pr list",
            "aws s3 ls",
            "kubectl describe pod run",
        ],
    },
];

/// Showing is everybody's.
fn tunnel(look: &Look<'_>) -> Option<Span> {
    if only_help(look.args()) {
        return None;
    }
    let has = |texts: &[&str]| look.args().iter().find(|word| one_of(word, texts)).map(|word| word.span);
    match look.name {
        "ip" => has(&["add", "del", "set", "replace", "change", "flush", "append", "exec", "delete"]),
        "ifconfig" => (look.args().len() > 1).then(|| look.program()),
        "route" => has(&["add", "del", "flush"]),
        "iptables" | "ip6tables" => look
            .args()
            .iter()
            .find(|word| !matches!(word.known(), Some("-L" | "-n" | "-v" | "-S" | "--list" | "-nL" | "-nvL")))
            .map(|word| word.span),
        "nft" | "ufw" | "firewall-cmd" => {
            if has(&["list", "status", "--list-all", "--state"]).is_some() {
                None
            } else {
                Some(look.program())
            }
        }
        "tailscale" | "wg" => {
            if has(&["status", "show", "version", "ip"]).is_some() || look.args().is_empty() {
                None
            } else {
                Some(look.program())
            }
        }
        _ => Some(look.program()),
    }
}

fn cluster(look: &Look<'_>) -> Option<Span> {
    let spec = Spec {
        short: "nlsoR",
        long: &[
            "namespace",
            "context",
            "kubeconfig",
            "cluster",
            "user",
            "server",
            "token",
            "profile",
            "region",
            "output",
            "project",
            "zone",
            "repo",
            "as",
        ],
    };
    let (word, rest) = subcommand(look.args(), spec)?;
    let second = subcommand(rest, spec).map(|(word, _)| word);
    let found = match look.name {
        "kubectl" | "oc" | "k" => one_of(
            word,
            &["exec", "run", "cp", "port-forward", "proxy", "attach", "debug", "rsh", "rsync", "edit", "ssh", "plugin"],
        ),
        "k3s" | "microk8s" => {
            second.is_some_and(|word| one_of(word, &["exec", "run", "cp", "port-forward", "proxy", "attach", "debug"]))
        }
        "gcloud" => look.args().iter().any(|word| {
            matches!(word.known(), Some("ssh" | "scp" | "start-iap-tunnel" | "connect-to-serial-port" | "cloud-shell"))
        }),
        "aws" => second.is_some_and(|word| one_of(word, &["start-session", "send-command", "execute-command"])),
        "az" => look.args().iter().any(|word| matches!(word.known(), Some("run-command" | "ssh" | "exec"))),
        "gh" => second.is_some_and(|second| {
            word.known() == Some("codespace") && one_of(second, &["ssh", "cp", "jupyter", "ports"])
        }),
        _ => {
            one_of(word, &["ssh", "run", "ps:exec", "console", "proxy", "compute"])
                || second.is_some_and(|word| one_of(word, &["ssh"]))
        }
    };
    found.then_some(word.span)
}
