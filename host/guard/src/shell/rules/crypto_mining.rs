//! `crypto_mining`.

use super::{Look, Rule};
use crate::shell::{Group, Span};

const GROUP: Group = Group::CryptoMining;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "crypto_mining.miner",
        group: GROUP,
        sentence: "mining is not what this machine is for",
        programs: &[],
        matches: |look| is_miner(look.name).then(|| look.program()),
        denies: &[
            "xmrig -o pool:3333",
            "./xmrig",
            "/tmp/xmrig-6.21.0/xmrig",
            "minerd -a x",
            "t-rex -a x",
            "lolMiner --algo x",
            "nohup cgminer",
            "cpuminer-opt -a x",
            "ethminer",
            "x''mrig",
        ],
        allows: &["echo xmrig", "grep xmrig f", "ls xmrig", "./miner-report.sh", "python3 claymore_test.py"],
    },
    Rule {
        id: "crypto_mining.pool",
        group: GROUP,
        sentence: "the address is a mining pool's, or the option a miner's",
        programs: &[],
        matches: pool,
        denies: &[
            "./a -o stratum+tcp://pool.example.com:3333",
            "./a --url=stratum+ssl://pool.example.com:443",
            "curl stratum+tcp://x.example.com",
            "./a --donate-level 1",
            "./a --algo=randomx",
            "./a -a cryptonight -o x",
        ],
        allows: &[
            "echo stratum+tcp://x",
            "grep 'stratum+tcp://' f",
            "./a --algo=sha256",
            "git commit -m 'block stratum+tcp://'",
        ],
    },
];

const MINERS: &[&str] = &[
    "xmrig",
    "xmr-stak",
    "cpuminer",
    "minerd",
    "cgminer",
    "bfgminer",
    "sgminer",
    "ccminer",
    "ethminer",
    "nbminer",
    "t-rex",
    "trex",
    "phoenixminer",
    "lolminer",
    "gminer",
    "claymore",
    "teamredminer",
    "nanominer",
    "srbminer",
    "wildrig",
    "nheqminer",
    "ethdcrminer64",
    "minergate",
    "bzminer",
    "rigel",
    "onezerominer",
    "kawpowminer",
    "astrominer",
    "xmr-cpu",
    "moneroocean",
    "nicehash",
    "cryptonight",
    "verthashminer",
    "monerod",
];

fn is_miner(name: &str) -> bool {
    MINERS.iter().any(|miner| {
        // `xmrig-6.21`, `cpuminer-opt`, `srbminer-multi`: a version or a kind follows.
        name.strip_prefix(miner).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(['-', '_', '.']) || rest.bytes().all(|b| b.is_ascii_digit())
        })
    }) && !name.ends_with(".py")
        && !name.ends_with(".sh")
}

fn pool(look: &Look<'_>) -> Option<Span> {
    let judged = |text: &str| {
        if !text.contains("://") {
            return false;
        }
        let lower = text.to_ascii_lowercase();
        ["stratum+", "stratum1+", "stratum2+"].iter().any(|scheme| lower.contains(scheme))
    };
    if let Some(named) = look.named.iter().find(|named| judged(&named.written)) {
        return Some(named.span);
    }
    let unknown_tool = look.one.program.as_ref().is_some_and(|program| program.prefix().contains('/'));
    look.args()
        .iter()
        .find(|word| {
            let text = word.prefix();
            text.starts_with("--donate-level")
                || (unknown_tool
                    && ["randomx", "cryptonight", "ethash", "kawpow", "rx/0", "--coin=monero", "--nicehash"]
                        .iter()
                        .any(|algo| text.contains(algo)))
        })
        .filter(|_| !super::operands::TEXT_ONLY.contains(&look.name))
        .map(|word| word.span)
}
