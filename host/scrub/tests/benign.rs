//! Texts as tools print them all day. Not a byte of them may change.

use caisson_scrub::Scrubber;

fn kept(name: &str, text: &str) {
    let explained = Scrubber::new().explain(text);
    for (line, cleaned) in text.lines().zip(explained.text.lines()) {
        assert_eq!(line, cleaned, "{name}: {:?}", explained.classes);
    }
    assert_eq!(explained.text, text, "{name}");
}

#[test]
fn git() {
    kept(
        "log",
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 (HEAD -> main, origin/main, origin/HEAD)\nMerge: 83db48f bf2a3c1\nAuthor: Ann Bee <ann@example.org>\nDate:   Tue Apr 7 12:34:56 2026 +0200\n\n    auth: refresh tokens before they expire\n\n    The token was refreshed too late, so that the password prompt came up.\n    Signed-off-by: Ann Bee <ann@example.org>\n\ndiff --git a/src/token.rs b/src/token.rs\nindex 83db48f1..bf2a3c1e 100644\n--- a/src/token.rs\n+++ b/src/token.rs\n@@ -1,3 +1,4 @@ fn token(secret: &Secret) -> Token\n-    let token = old_token(secret);\n+    let token = new_token(secret, key);\n",
    );
    kept(
        "oneline",
        "da39a3e Rotate the signing key: it was too old\n01890a5 Ask for a password before the token is shown\n",
    );
    kept(
        "refs",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709\trefs/heads/secret-scanning\n01890a5dac96774bbcceb302099a805701890a5d\trefs/pull/12/head\n",
    );
}

#[test]
fn lock_files() {
    kept(
        "cargo",
        "[[package]]\nname = \"secrecy\"\nversion = \"0.10.3\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"e891af845473308773346dc847b2c23ee78fe442e0472ac50e22a18a93d3ae5a\"\ndependencies = [\n \"zeroize\",\n]\n\n[[package]]\nname = \"token-bucket\"\nchecksum = \"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"\n",
    );
    kept(
        "npm",
        "{\n  \"node_modules/jsonwebtoken\": {\n    \"version\": \"9.0.2\",\n    \"resolved\": \"https://packages.example/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz\",\n    \"integrity\": \"sha512-PRp66vJ865SSqOlgqS8hujT5U4AOgMfhrwYIuIhfKaoSCZcirrmASQr8CX7cUg+RMih+hgznrjp99o+W4pJLHQ==\",\n    \"dependencies\": { \"jws\": \"^3.2.2\", \"lodash.includes\": \"^4.3.0\" }\n  },\n  \"node_modules/js-tokens\": { \"integrity\": \"sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW/PKQ==\" }\n}\n",
    );
    kept(
        "pip",
        "cryptography==42.0.5 \\\n    --hash=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef \\\n    --hash=sha256:fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210\n",
    );
    kept(
        "go.sum",
        "golang.org/x/crypto v0.21.0 h1:X31++rzVUdKhX5sWmSOFZxx8UW/ldWx55cbf08iNAMA=\ngolang.org/x/crypto v0.21.0/go.mod h1:0BP7YvVV9gBbVKyeTG0Gyn+gZm94bibOW5BjDEYAOMs=\n",
    );
    kept(
        "oci",
        "{\"digest\":\"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"size\":7023,\"key\":\"layer-1\"}\n",
    );
    kept(
        "uuids",
        "id=01890a5d-ac96-774b-bcce-b302099a8057 parent=f47ac10b-58cc-4372-a567-0e02b2c3d479 key=f47ac10b-58cc-4372-a567-0e02b2c3d479\n",
    );
}

#[test]
fn pictures_and_minified_code() {
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";
    kept("data", &format!("<img src=\"data:image/png;base64,{picture}\" alt=\"a key\">"));
    kept("css", &format!(".key{{background:url(data:image/png;base64,{picture})}}"));
    kept(
        "min",
        "!function(e,t){var n=e.token,r=t.password;function o(e){return e.password===r&&e.token!==n}\"password\"===e.type?t.show(e.value):\"token\"===e.type&&t.hide();var i={password:t.password,token:n.token,apiKey:e.apiKey,secret:!0,key:function(e){return e.key}};e.exports={token:i.token,getToken:function(){return this.token},setToken:e=>{this.token=e},auth:async()=>{await fetch(\"/login\",{body:JSON.stringify({password:e.password,token:this.state.token})})}}}(window,document);",
    );
    kept(
        "map",
        "{\"version\":3,\"sources\":[\"token.ts\"],\"names\":[\"password\",\"token\"],\"mappings\":\"AAAA,SAASA,KAAKC,GACZ,OAAOC,KAAKD,EAAI,CAClB\"}",
    );
}

#[test]
fn prose_about_tokens() {
    kept(
        "markdown",
        "# Tokens\n\nSet `API_KEY` to your key, then pass `Authorization: Bearer <token>`.\n\n```sh\nexport OPENAI_API_KEY=\"<your-key>\"\nexport OPENAI_API_KEY=your-api-key-here\nexport TOKEN=xxxxxxxxxxxxxxxx\ncurl -H \"Authorization: Bearer $TOKEN\" https://api.example.org\ncurl -H \"Authorization: Bearer YOUR_TOKEN\" https://api.example.org\n```\n\n* Keys begin with `sk-`, `ghp_` or `AKIA`, tokens of bots look like `123456:ABC`.\n* The password: at least twelve characters, one digit.\n* Secret: nobody knows.\n* Basic authentication is not supported. Bearer tokens are.\n* `password=***` and `token: ********` are masked; so is `sk-****abcd`.\n| token | string | the token |\n| password | string | required |\n",
    );
    kept(
        "openapi",
        "components:\n  securitySchemes:\n    bearerAuth:\n      type: http\n      scheme: bearer\n      bearerFormat: JWT\n    apiKey:\n      type: apiKey\n      in: header\n      name: X-API-Key\n  schemas:\n    Login:\n      properties:\n        password:\n          type: string\n        token:\n          $ref: '#/components/schemas/Token'\n",
    );
    kept(
        "help",
        "Usage: tool [OPTIONS]\n\n  --password <PASSWORD>    password of the account\n  --token TOKEN            token (or TOKEN from the environment)\n  --api-key-file <PATH>    file with the key\n  -u, --user <USER:PASS>   credentials\n",
    );
}

#[test]
fn program_text() {
    kept(
        "python",
        "password = getpass.getpass()\npassword = getpass(\"Password: \")\ntoken: str = os.environ[\"TOKEN\"]\nsecret = os.getenv(\"SECRET\")\ntoken = response.json()[\"token\"]\nclient = Client(api_key=settings.API_KEY, token=self.token, password=args.password)\nif password == other_password:\n    raise ValueError(\"password: wrong\")\ndef login(user: str, password: str = None, token: Optional[str] = None): ...\nheaders = {\"Authorization\": \"Bearer \" + token, \"Accept\": \"x\"}\nheaders = {\"Authorization\": f\"Bearer {token}\"}\n",
    );
    kept(
        "typescript",
        "interface Login { password: string; token?: string; apiKey: string | undefined }\nconst token = process.env.TOKEN ?? \"\";\nconst apiKey: string = import.meta.env.VITE_API_KEY;\nconst secret = await vault.read(\"secret/data/x\");\nconst { password, token } = req.body;\nlogin({ password: form.password, token: state.auth.token });\nheaders: { Authorization: `Bearer ${token}` },\n",
    );
    kept(
        "rust",
        "let token = load_token(path)?;\nlet password: Zeroizing<String> = prompt(\"Password: \")?;\nstruct Config { api_key: SecretString, token: Option<String> }\npub fn with_secret(mut self, secret: impl Into<Secret>) -> Self { self.secret = secret.into(); self }\nmatch kind { Kind::Token => parse_token(rest), Kind::Password => parse_password(rest) }\nassert!(token == expected_token);\n",
    );
    kept(
        "go",
        "password := os.Getenv(\"PASSWORD\")\ntoken, err := client.Token(ctx)\ncfg := Config{Password: password, Token: token, APIKey: cfg.APIKey}\nfunc (c *Client) SetToken(token string) { c.token = token }\n",
    );
    kept(
        "terraform",
        "variable \"password\" {\n  type      = string\n  sensitive = true\n}\nresource \"x\" \"y\" {\n  password = var.database_password\n  token    = data.vault.it.token\n  api_key  = local.api_key\n}\n",
    );
    kept(
        "compose",
        "environment:\n  DB_PASSWORD: ${DB_PASSWORD}\n  API_KEY_FILE: /run/secrets/api_key\n  TOKEN: $TOKEN\nsecrets:\n  db_password:\n    file: ./db_password.txt\n",
    );
    kept(
        "actions",
        "env:\n  GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}\nwith:\n  token: ${{ github.token }}\n  key: ${{ runner.os }}-cargo-${{ hashFiles('Cargo.lock') }}\n  password: ${{ secrets.DOCKER_PASSWORD }}\n",
    );
    kept(
        "sql",
        "ALTER USER bob WITH PASSWORD NULL;\nSELECT token, password FROM users WHERE token = $1 AND password = crypt($2, password);\n",
    );
    kept(
        "kubernetes",
        "kind: Secret\nmetadata:\n  name: registry-credentials\nspec:\n  secretKeyRef:\n    name: db\n    key: password\n  imagePullSecrets:\n    - name: registry-credentials\n",
    );
}

#[test]
fn logs() {
    kept(
        "log",
        "2026-04-07T12:34:56.789Z INFO auth: token refreshed user=bob ttl=3600 tokens_used=12345678\nlevel=warn msg=\"invalid token\" error=\"token: expired\" path=/v1/token status=401\nusage: {\"prompt_tokens\": 12345678, \"completion_tokens\": 87654321, \"total_tokens\": 99999999}\nsshd[1]: Failed password for root from 192.0.2.1 port 22 ssh2\nsshd[1]: Accepted publickey for bob: ED25519 SHA256:k7Q2mZp9RtA4vBn8XcW5k7Q2mZp9RtA4vBn8XcW5k7Q\nMAX_TOKENS=100000000 KEYBOARD=us-international TOKENIZERS_PARALLELISM=false\n10:20:30:40:50 12:34:56,789 1234567890:deadbeefdeadbeefdeadbeefdeadbeefdeadbeef\n",
    );
}
