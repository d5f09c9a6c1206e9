//! The network of a command: a proxy of the gateway, and no other way out.

use async_trait::async_trait;
use caisson_confine::{AUTHORITIES, Network, Plan};
use std::sync::Arc;
use tokio::net::TcpListener;

/// The port of the proxy in the network of each command.
const PORT: u16 = 3128;

/// Variables by which programs find their proxy. Nothing goes past it, so none names exceptions.
const PROXY_VARIABLES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// Variables by which programs that bring certificates of their own are told whom to trust instead.
const TRUST_VARIABLES: [&str; 8] = [
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
];

/// What answers the connections of commands, for the principal and the grants of one call.
#[async_trait]
pub trait ProgramNetwork: Send + Sync {
    /// The certificates, PEM, that programs have to trust.
    ///
    /// # Errors
    /// For the operator.
    fn authority(&self) -> Result<Arc<str>, String>;

    /// Serves the connections of one command; dropped at its end.
    async fn serve(self: Arc<Self>, listener: TcpListener);
}

/// Lets a command reach the proxy, and tells its programs of it. What the command's own variables say wins.
pub(crate) fn open(plan: &mut Plan, network: &dyn ProgramNetwork) -> Result<(), String> {
    plan.network = Network::Proxy { port: PORT };
    plan.authorities = Some(network.authority()?.to_string());
    let proxy = format!("http://127.0.0.1:{PORT}");
    let proxied = PROXY_VARIABLES.map(|name| (name, proxy.clone()));
    let trusted = TRUST_VARIABLES.map(|name| (name, AUTHORITIES.to_owned()));
    // Node's own `fetch` asks no variable unless this one says so.
    let node = [("NODE_USE_ENV_PROXY", "1".to_owned())];
    for (name, value) in proxied.into_iter().chain(trusted).chain(node) {
        plan.environment.entry(name.to_owned()).or_insert(value);
    }
    Ok(())
}
