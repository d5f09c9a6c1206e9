//! What must go, each beside something alike that must stay.

use caisson_scrub::{REDACTED, Scrubber};

/// In the first text, what stands between `«` and `»` must go, and nothing else; the second must stay as it is.
fn twins(cases: &[(&str, &str)]) {
    let scrubber = Scrubber::new();
    let mut wrong = Vec::new();
    for (goes, stays) in cases {
        let mut expected = String::new();
        for (number, part) in goes.split(['«', '»']).enumerate() {
            expected.push_str(if number % 2 == 1 { REDACTED } else { part });
        }
        let text = goes.replace(['«', '»'], "");
        let cleaned = scrubber.clean_text(&text);
        if cleaned != expected {
            wrong.push(format!("must go:   {text}\n     gives {cleaned}"));
        }
        let kept = scrubber.clean_text(stays);
        if kept != *stays {
            wrong.push(format!("must stay: {stays}\n     gives {kept}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn json_yaml_and_toml() {
    twins(&[
        (r#"{"password": "«x»"}"#, r#"{"password": ""}"#),
        (r#"{"password": "«hunter2»", "user": "bob"}"#, r#"{"password": {"type": "string"}}"#),
        (r#"{"apiKey":"«0f9e8d7c6b5a»"}"#, r#"{"apiKey":null}"#),
        (r#"{"secret":"«s3cr3t-value»"}"#, r#"{"secret":"${SECRET_FROM_VAULT}"}"#),
        ("{\"token\":\n  \"«abcdef123456»\"}", "{\"token\":\n  {\"expires\": 123456}}"),
        (r#"\"client_secret\":\"«abc def»\""#, r#"\"client_secret\":\"\""#),
        ("password: «correct-horse9»\nuser: x", "password:\nuser: bob-the-builder"),
        ("password: '«it s»'", "password: ''"),
        ("password: |-\n  «hunter2hunter2»\nuser: x", "password: |-\nuser: somebody-else"),
        ("db_password: «p4ssw0rd!»", "db_password: !vault"),
        ("  - name: API_KEY\n    apiKey: «abc123def456»", "  - name: API_KEY\n    valueFrom: the-key-of-the-cluster"),
        ("token = \"«abcdefgh1234»\"", "token = \"\""),
        ("secret_key = '«abcdef»'", "secret_key = '<your-key>'"),
        ("password = \"\"\"«hunter2»\"\"\"", "password = \"\"\"${PW}\"\"\""),
        ("[auth]\naccess_token = «a1b2c3d4e5f6»", "[auth]\naccess_token = ${ACCESS_TOKEN}"),
        ("<password>«hunter2»</password>", "<label for=\"password\">Choose one</label>"),
        ("Password: «p@ss,w0rd!x»", "Access token: see https://example.com/docs/tokens"),
        ("token: «abcdefgh1234»", "token: https://example.com/docs/tokens"),
        ("<apiKey>«abc123»</apiKey>", "fn take(key: Option<ApiKey>) -> Vec<ApiKey> {"),
        ("encryptionKey: «9f86d081884c7d659a2feaa0c55ad015»", "cacheKey: 9f86d081884c7d659a2feaa0c55ad015"),
        ("sessionKey: \"«Zk3vQ9xT7bLm2RwY8sHd»\"", "publicKey: \"Zk3vQ9xT7bLm2RwY8sHd\""),
        ("cookie: «Zk3vQ9xT7bLm2RwY8sHd1»", "cookie: accepted-by-the-visitor"),
    ]);
}

#[test]
fn shells_and_environments() {
    twins(&[
        ("export API_KEY=«abcdef1234567890»", "export API_KEY=$OTHER_API_KEY"),
        ("DB_PASSWORD=«hunter2hunter2»", "DB_PASSWORD=${DB_PASSWORD:-}"),
        ("TOKEN='«abc123def456»' ./run", "TOKEN=$(cat /run/secrets/token) ./run"),
        (
            "AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
            "AWS_SECRET_ACCESS_KEY_FILE=/run/secrets/aws-secret-access",
        ),
        ("GITHUB_TOKEN=«abcdefgh12345678» gh pr list", "GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }} gh pr list"),
        ("mytool --password «hunter2hunter2» -v", "mytool --password --verbose"),
        ("mytool --token=«abc123def456» -v", "mytool --token=$TOKEN_OF_MINE -v"),
        ("mytool --api-key '«abc»' -v", "mytool --api-key \"$KEY\" -v"),
        ("PGPASSWORD=«hunter2hunter» psql -h db", "PGPASSFILE=/home/me/.pgpass-of-mine psql -h db"),
        ("curl -u bob:«pa55» https://x.example", "curl -u bob https://x.example"),
        ("curl -ubob:«pa55» https://x.example", "git push -u origin main:main"),
        ("curl --user \"bob:«pa 55»\" https://x.example", "curl --user-agent \"bob: the client\" https://x.example"),
        ("curl -s --proxy-user bob:«pa55» https://x.example", "docker run -u 1000:1000 alpine"),
        (
            "curl -H \"Authorization: Bearer «abcdefghij123456»\" https://x",
            "curl -H \"Authorization: Bearer $TOKEN\" https://x",
        ),
        ("curl -H 'Authorization: Basic «dXNlcjpwdw==»'", "curl -H 'Accept: application/json'"),
        ("curl -H 'X-Api-Key: «abcdef123456»'", "curl -H 'X-Request-Id: 01890a5d-ac96-774b-bcce-b302099a8057'"),
        (
            "curl -H 'x-rapidapi-key: «a1b2c3d4e5msh6f7a8b9c0p1jsn2d3e4f»'",
            "curl -H 'x-rapidapi-host: weather.p.rapidapi.com'",
        ),
        ("sshpass -p «hunter2» ssh bob@host", "mkdir -p hunter2/of/mine"),
        ("mysql -u root -p«secretpw» db", "mysql -u root -p db"),
        ("docker login -u bob -p «hunter2»", "docker run -p 8080:80 nginx"),
        ("redis-cli -a «secretpw» ping", "redis-cli -h localhost ping; ls -a secretpw"),
        ("DB_PASS=«letmein123»", "BYPASS=letmein123"),
        ("TOKEN=«abc123def456»; echo done", "TOKEN_URL=https://login.example/oauth/token; echo done"),
        ("machine git.example login bob password «hunter2»", "your login and password are kept in the keyring"),
        ("VIRTUAL_HOST=«a.example»", "VIRTUAL_ENV=$HOME/.venv"),
        ("set -x; SECRET=«abcdefgh» cmd", "set -x; SECRET=`pass show it` cmd"),
        ("SSH_PRIVATE_KEY=«abcdefgh12»", "SSH_PUBLIC_KEY=AAAAC3NzaC1lZDI1NTE5AAAAIE"),
    ]);
}

#[test]
fn addresses_and_connection_strings() {
    twins(&[
        ("https://x.example/?access_token=«abc123def456»&page=2", "https://x.example/?page_token=abc123def456&page=2"),
        ("https://x.example/cb?token=«abcdef1234»#top", "https://x.example/docs?topic=tokens#password"),
        (
            "https://b.blob.core.windows.net/c?sv=2022-11-02&sig=«aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY%3D»",
            "https://x.example/?sig=short&page=2",
        ),
        (
            "grant_type=client_credentials&client_secret=«abc123def456»&scope=a",
            "grant_type=client_credentials&client_secret=&scope=all-of-it",
        ),
        ("client_secret=«abc123def456»&grant_type=x", "client_id=abc123def456&grant_type=x"),
        ("git clone https://«bob:ghx123»@git.example/r.git", "git clone https://bob@git.example/r.git"),
        ("«postgres://u:p@db.internal/app» up", "postgres://db.internal/app up"),
        ("«postgresql+asyncpg://u:p@db/app»", "postgresql+asyncpg://u:$PW@db/app"),
        ("«mongodb+srv://u:p@c.example/db»", "mongodb+srv://c.example/db"),
        ("https://«k7Q2mZp9RtA4vBn8XcW5»@git.example/r.git", "https://somebody-with-a-long-name@git.example/r.git"),
        (
            "SharedAccessSignature=sv=2019-12-12&ss=b&sig=«aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY%3D»",
            "signature: aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY",
        ),
        ("jdbc:oracle:thin:scott/«tiger»@//h:1521/svc", "jdbc:oracle:thin:@//h:1521/svc"),
        (
            "Server=db;Database=app;User Id=sa;Password=«P@ss»;Encrypt=true",
            "Server=db;Database=app;Integrated Security=true;Encrypt=true",
        ),
        ("\"Data Source=db;User ID=sa;Pwd=«pw1»\"", "\"Data Source=db;User ID=sa;Trusted_Connection=yes\""),
        ("host=db user=bob password=«pw» dbname=app", "host=db user=bob passfile=/home/me/.pgpass dbname=app"),
        (
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYaB3dE5fG7hJ9==»;EndpointSuffix=y",
            "DefaultEndpointsProtocol=https;AccountName=storage-of-mine;EndpointSuffix=core.windows.net",
        ),
        (
            "Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=«aB3dE5fG7hJ9kL1m=»",
            "Endpoint=sb://x/;SharedAccessKeyName=RootManageSharedAccess",
        ),
        (
            "https://hooks.slack.com/services/«T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX» ok",
            "https://hooks.slack.com/services/ ok",
        ),
        (
            "https://discord.com/api/webhooks/«123456789012345678/abcDEF_ghi-jkl»",
            "https://discord.com/api/webhooks/{id}/{token}",
        ),
        (
            "https://api.telegram.org/bot«123456789:AAFdefGHIjklMNOpqrSTUvwxYZ012345678»/getMe",
            "https://api.telegram.org/bot<token>/getMe",
        ),
    ]);
}

#[test]
fn tokens_alone() {
    twins(&[
        ("«sk-proj-abc123def456ghi789jkl012mno345pqr678»", "sk-short"),
        ("«sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx»", "sk-ant-api03"),
        ("«AKIAIOSFODNN7EXAMPLE»", "AKIA1234"),
        ("«ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij»", "ghp_token_of_the_workflow"),
        ("«MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.k7Q2mZp9RtA4vBn8XcW5k7Q2mZp9Rt»", "MTIzNDU2Nzg5MDEyMzQ1Njc4.txt"),
        ("«k7Q2mZp9RtA4vB.atlasv1.k7Q2mZp9RtA4vBn8XcW5k7Q2mZp9RtA4vBn8XcW5k7Q2mZp9RtA4vBn8XcW5»", "x.atlasv1.io"),
        (
            "FlyV1 «fm2_lJPECAAAAAAAAsN1xBBk7Q2mZp9RtA4vBn8XcW5,fm2_lJPECAAAAAAAAsN1xBBk7Q2»",
            "FlyV1 tokens are macaroons",
        ),
        ("Authorization: Bot «MTIzNDU2Nzg5MDEyMzQ1Njc4»", "Authorization: required for all of these"),
        (
            "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P».",
            "eyJhbGciOiJIUzI1NiJ9",
        ),
        ("«eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..k7Q2mZp9RtA4vBn8.k7Q2mZp9RtA4vBn8.k7Q2mZp9RtA4vBn8»", "eyJ.a"),
        ("\u{1b}[32m«ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij»\u{1b}[0m", "\u{1b}[32mghp_\u{1b}[0m"),
        (
            "«AGE-SECRET-KEY-1QYPNXGZ5UQ8V7R3KM2T9WHL4D6S0CFJEXA5Y8P7N3Z2QK4VWMT9»",
            "age1qypnxgz5uq8v7r3km2t9whl4d6s0cfjexa5y8p7n3z2qk4vwmt9",
        ),
        ("«csn_0123456789ab_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef»", "csn_ID_SECRET"),
        ("«access_token$production$k7q2mzp9rta4vbn8$k7q2mzp9rta4vbn8xcw5k7q2mzp9rta4»", "access_token$production$"),
    ]);
}

#[test]
fn private_keys() {
    const KEY: &str = "MIIEowIBAAKCAQEA1234567890+/abcdefgh\nk7Q2mZp9RtA4vBn8XcW5==\n";
    let scrubber = Scrubber::new();
    for (begin, end) in [
        ("RSA PRIVATE KEY", "RSA PRIVATE KEY"),
        ("OPENSSH PRIVATE KEY", "OPENSSH PRIVATE KEY"),
        ("ENCRYPTED PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
        ("PGP PRIVATE KEY BLOCK", "PGP PRIVATE KEY BLOCK"),
        ("EC PRIVATE KEY", "EC PRIVATE KEY"),
    ] {
        let header = if begin.starts_with("PGP") { "Version: GnuPG v2.0.22 (GNU/Linux)\n\n" } else { "" };
        let key = format!("-----BEGIN {begin}-----\n{header}{KEY}-----END {end}-----");
        for key in [
            key.clone(),
            key.replace('\n', "\\n"),
            key.replace('\n', "\r\n"),
            key.replace('\n', "\n    "),
            key.replace('\n', " "),
        ] {
            assert_eq!(scrubber.clean_text(&format!("a {key}\nb")), format!("a {REDACTED}\nb"));
        }
        let cut = format!("-----BEGIN {begin}-----\n{KEY}");
        assert_eq!(
            scrubber.clean_text(&format!("{cut}and here is what else was said.")),
            format!("{REDACTED}\nand here is what else was said.")
        );
        let public = key.replace("PRIVATE", "PUBLIC");
        assert_eq!(scrubber.clean_text(&public), public);
        let named = format!("it looks for `-----BEGIN {begin}-----` and `-----END {end}-----` in a file");
        assert_eq!(scrubber.clean_text(&named), named);
    }
    let account = r#"{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA1234567890\n-----END PRIVATE KEY-----\n", "client_email": "a@b.example"}"#;
    let cleaned = scrubber.clean_text(account).into_owned();
    assert_eq!(cleaned, r#"{"type": "service_account", "private_key": "[REDACTED]", "client_email": "a@b.example"}"#);
}
