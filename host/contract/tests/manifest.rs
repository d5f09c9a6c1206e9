//! Manifests: what is wrong first, then what is right.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_contract::{Access, Capabilities, Hosts, Inject, Manifest};

const HEAD: &str = "[plugin]\nname = \"weather\"\nversion = \"1.2.0\"\n";

/// Faults of a manifest whose first three lines are sound, as `line 4: …`.
fn faults(rest: &str) -> Vec<String> {
    Manifest::parse(&format!("{HEAD}{rest}")).unwrap_err().iter().map(ToString::to_string).collect()
}

fn says(rest: &str, line: usize, part: &str) {
    let faults = faults(rest);
    let start = format!("line {line}: ");
    assert!(
        faults.iter().any(|fault| fault.starts_with(&start) && fault.contains(part)),
        "{rest}\nwanted line {line}: {part}\n{faults:#?}"
    );
    assert_eq!(faults.len(), 1, "{rest}\n{faults:#?}");
}

#[test]
fn unknown_keys_name_the_nearest() {
    assert_eq!(
        faults("[[capabilities.http]]\nhost = [\"a.example\"]\nhosts = []\n"),
        ["line 5: unknown key `host`; did you mean `hosts`?"]
    );
    says("[limit]\nmemory = \"1 MiB\"\n", 4, "did you mean `limits`?");
    says("[capabilities]\nfile = {}\n", 5, "did you mean `files`?");
    says("[capabilities]\nqqqqqqqq = 1\n", 5, "known here: `files`");
    says("[limits]\nhttp_requests = 4\n", 5, "did you mean `http-requests`?");
    says(
        "[credentials.k]\nhosts = [\"a.example\"]\ninject = { heder = \"X\", header = \"X\" }\n",
        6,
        "did you mean `header`?",
    );
}

#[test]
fn header() {
    for (text, part) in [
        ("", "`[plugin]`"),
        ("[plugin]\nversion = \"1.0.0\"\n", "`name` is missing in `plugin`"),
        ("[plugin]\nname = \"x\"\n", "`version` is missing"),
        ("[plugin]\nname = \"Weather\"\nversion = \"1.0.0\"\n", "plugin's name"),
        ("[plugin]\nname = \"1x\"\nversion = \"1.0.0\"\n", "plugin's name"),
        ("[plugin]\nname = 7\nversion = \"1.0.0\"\n", "`plugin.name` must be a string, not a whole number"),
        ("[plugin]\nname = \"x\"\nversion = \"1.0\"\n", "semantic version"),
        ("plugin = \"x\"\n", "`plugin` must be a table, not a string"),
        ("[plugin\n", "this is not TOML"),
    ] {
        let faults = Manifest::parse(text).unwrap_err();
        assert!(faults.iter().any(|fault| fault.message.contains(part)), "{text}: {faults:?}");
    }
}

#[test]
fn keys_that_stand_twice() {
    let faults = Manifest::parse("[plugin]\nname = \"a\"\nname = \"b\"\nversion = \"1.0.0\"\n").unwrap_err();
    assert_eq!(
        faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["line 3: the key `name` stands twice; leave one"]
    );
    says("[limits]\n[limits]\n", 5, "twice");
}

#[test]
fn files() {
    says(
        "[capabilities.files]\n\"/etc\" = \"read\"\n",
        5,
        "no mount `/etc`: the only one in this version is `/workspace`",
    );
    says("[capabilities.files]\n\"/workspace\" = \"write\"\n", 5, "use `read` or `read-write`");
    says("[capabilities.files]\n\"/workspace\" = true\n", 5, "must be `\"read\"`");
    says(
        "[capabilities.files]\n\"/workspace\" = { paths = [\"a\"] }\n",
        5,
        "`access` is missing in `capabilities.files./workspace`",
    );
    says("[capabilities.files]\n\"/workspace\" = { access = \"read\", paths = [\"../x\"] }\n", 5, "`..`");
    says("[capabilities.files]\n\"/workspace\" = { access = \"read\", paths = [\"[\"] }\n", 5, "does not parse");
    says("[capabilities.files]\n", 4, "section `capabilities.files` is empty");
}

#[test]
fn http() {
    says("[capabilities.http]\nhosts = [\"a.example\"]\n", 4, "two brackets");
    says("[[capabilities.http]]\nmethods = [\"GET\"]\n", 4, "`hosts` is missing");
    says("[[capabilities.http]]\nhosts = \"a.example\"\n", 5, "write `[\"a.example\"]`");
    says("[[capabilities.http]]\nhosts = [\n  \"a.example\",\n  \"https://b.example\",\n]\n", 7, "`schemes`");
    says("[[capabilities.http]]\nhosts = [\"a.example:1\"]\n", 5, "`ports`");
    says("[[capabilities.http]]\nhosts = [\"a.example\", \"a.example\"]\n", 5, "stands twice in this list");
    says("[[capabilities.http]]\nhosts = []\nmethods = [\"get\"]\n", 6, "`GET`");
    says("[[capabilities.http]]\nhosts = []\nports = [0]\n", 6, "not a port");
    says("[[capabilities.http]]\nhosts = []\nports = [70000]\n", 6, "not a port");
    says("[[capabilities.http]]\nhosts = []\nschemes = [\"ftp\"]\n", 6, "`https` or `http`");
    says("[[capabilities.http]]\nhosts = []\npaths = [\"v1\"]\n", 6, "begin with `/`");
    says("[[capabilities.http]]\nhosts = []\nreads = \"yes\"\n", 6, "`true` or `false`");
    says("[[capabilities.http]]\nhosts = []\ncredentials = [\"key\"]\n", 6, "add a section `[credentials.key]`");
    says(
        "[[capabilities.http]]\nhosts = []\ncredentials = [\"kye\"]\n[credentials.key]\nhosts = [\"a.example\"]\ninject = { query = \"k\" }\n",
        6,
        "did you mean `key`?",
    );
    says(
        "[[capabilities.http]]\nhosts = []\ncredentials = [\"key\"]\n[credentials.key]\ninject = { env = \"K\" }\n",
        6,
        "child's environment",
    );
}

#[test]
fn other_capabilities() {
    says("[capabilities.exec]\n", 4, "is empty");
    says("[capabilities.exec]\nprograms = [\"/usr/bin/git\"]\n", 5, "without a folder");
    says("[capabilities.exec]\nprograms = [\"git status\"]\n", 5, "without arguments");
    says("[capabilities.documents]\nNotes = \"read\"\n", 5, "collection's name");
    says("[capabilities.keyvalue]\ncache = \"rw\"\n", 5, "use `read` or `read-write`");
    says("[capabilities]\ntools = [\"Read\"]\n", 5, "tool's name");
    says("[capabilities]\npages = 1\n", 5, "`true` or `false`");
    says("[[capabilities.tcp]]\nhost = \"*.example\"\nport = 5432\n", 5, "wildcard");
    says("[[capabilities.tcp]]\nhost = \"db.example\"\n", 4, "`port` is missing");
}

#[test]
fn credentials() {
    says("[credentials.Key]\nhosts = [\"a.example\"]\ninject = { query = \"k\" }\n", 4, "credential's name");
    says("[credentials.k]\nhosts = [\"*.example\"]\ninject = { query = \"k\" }\n", 5, "must be exact");
    says("[credentials.k]\ninject = { query = \"k\" }\n", 4, "`hosts` is missing");
    says("[credentials.k]\nhosts = [\"a.example\"]\n", 4, "`inject` is missing");
    says("[credentials.k]\nhosts = [\"a.example\"]\ninject = { query = \"k\", basic = \"u\" }\n", 6, "exactly one");
    says("[credentials.k]\nhosts = [\"a.example\"]\ninject = {}\n", 6, "exactly one");
    says("[credentials.k]\nhosts = [\"a.example\"]\ninject = { header = \"Host\" }\n", 6, "sets it itself");
    says(
        "[credentials.k]\nhosts = [\"a.example\"]\ninject = { query = \"k\", prefix = \"x\" }\n",
        6,
        "only beside `header`",
    );
    says("[credentials.k]\nhosts = [\"a.example\"]\ninject = { env = \"K\" }\n", 5, "leave `hosts` out");
    says("[credentials.k]\nhosts = [\"a.example\"]\ninject = { header = \"X\", prefix = \"a\\nb\" }\n", 6, "prefix");
}

#[test]
fn limits() {
    says("[limits]\nmemory = 64\n", 5, "`limits.memory` must be a string");
    says("[limits]\nmemory = \"64\"\n", 5, "such as `64 MiB`");
    says("[limits]\nwall = \"0 s\"\n", 5, "`wall` is zero");
    says("[limits]\ncpu = \"-5 ms\"\n", 5, "not a duration");
    says("[limits]\nhttp-requests = -1\n", 5, "number from 0");
    says("[limits]\nhttp-requests = 0\n", 5, "`http-requests` is zero");
}

#[test]
fn many_faults_are_told_at_once_in_order() {
    let faults = faults("[capabilities.files]\n\"/etc\" = \"read\"\n[limits]\nmemory = \"x\"\nnonsense = 1\n");
    let lines: Vec<&str> = faults.iter().map(|fault| fault.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["line 5", "line 7", "line 8"]);
    let flood: String = (0..2000).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(Manifest::parse(&flood).unwrap_err().len(), 64);
}

#[test]
fn too_large() {
    let faults = Manifest::parse(&format!("{HEAD}# {}", "x".repeat(65_536))).unwrap_err();
    assert!(faults.first().unwrap().message.contains("at most 65536"), "{faults:?}");
}

#[test]
fn columns_count_characters() {
    let fault = Manifest::parse(
        "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\ndescription = \"é\"\n[limits]\nwall = \"30 s\"\ncpu = \"é\"\n",
    )
    .unwrap_err()
    .remove(0);
    assert_eq!((fault.line, fault.column), (7, 7));
}

#[test]
fn the_whole_schema() {
    let manifest = Manifest::parse(
        r#"
        [plugin]
        name = "weather"
        version = "1.2.0"
        description = "Forecasts from api.weather.gov"
        [capabilities]
        tools = ["calc"]
        runtime = ["approve"]
        outputs = true
        [capabilities.files]
        "/workspace" = { access = "read-write", paths = ["reports/**"] }
        [[capabilities.http]]
        hosts = ["api.weather.gov", "*.example.com"]
        methods = ["GET", "POST"]
        paths = ["/v1/**"]
        ports = [443, 8443]
        schemes = ["https"]
        reads = true
        credentials = ["weather-key"]
        [[capabilities.http]]
        hosts = "settings"
        [[capabilities.tcp]]
        host = "db.example"
        port = 5432
        [capabilities.exec]
        programs = ["git", "rg"]
        [capabilities.documents]
        notes = "read-write"
        [credentials.weather-key]
        hosts = ["api.weather.gov"]
        inject = { header = "Authorization", prefix = "Bearer " }
        [credentials.gh]
        inject = { env = "GH_TOKEN" }
        description = "for git"
        [limits]
        memory = "64 MiB"
        cpu = "500 ms"
        wall = "30 s"
        http-requests = 10
        "#,
    )
    .unwrap();
    assert_eq!(manifest.capabilities.files.get("/workspace").unwrap().access, Access::ReadWrite);
    assert_eq!(manifest.capabilities.http.len(), 2);
    assert_eq!(manifest.capabilities.http.get(1).unwrap().hosts, Hosts::Named("settings".into()));
    assert_eq!(manifest.credentials.get("gh").unwrap().inject, Inject::Env { env: "GH_TOKEN".into() });
    assert_eq!(manifest.limits.http_requests, Some(10));
    assert!(manifest.capabilities.outputs && !manifest.capabilities.pages);
    // What is written is read again as the same.
    assert_eq!(Manifest::parse(&toml::to_string(&manifest).unwrap()).unwrap(), manifest);
}

#[test]
fn shorthand_and_emptiness() {
    let manifest = Manifest::parse(&format!(
        "{HEAD}[capabilities.files]\n\"/workspace\" = \"read\"\n[[capabilities.http]]\nhosts = []\n"
    ))
    .unwrap();
    let rule = manifest.capabilities.files.get("/workspace").unwrap();
    assert_eq!((rule.access, rule.paths.as_ref()), (Access::Read, None));
    assert_eq!(Manifest::parse(HEAD).unwrap().capabilities, Capabilities::default());
    assert!(Manifest::parse(&format!("{HEAD}[capabilities]\n[limits]\n")).is_ok());
}

#[test]
fn grants_in_json_take_the_shorthand_and_refuse_unknown_keys() {
    let parse = |json: &str| serde_json::from_str::<Capabilities>(json);
    let short = parse(r#"{"files":{"/workspace":"read"}}"#).unwrap();
    assert_eq!(short, parse(r#"{"files":{"/workspace":{"access":"read"}}}"#).unwrap());
    assert!(parse(r#"{"files":{"/workspace":{"access":"read","path":[]}}}"#).is_err());
    assert!(parse(r#"{"file":{}}"#).is_err());
    for json in [r#"{"header":"X","prefix":"p"}"#, r#"{"query":"q"}"#, r#"{"basic":"u"}"#, r#"{"env":"E"}"#] {
        let inject: Inject = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&inject).unwrap(), json);
    }
}
