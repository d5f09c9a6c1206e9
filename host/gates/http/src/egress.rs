//! The way out, one for the whole gateway: names to addresses, addresses to connections.

use crate::authority::{Authority, CannotCertify};
use crate::error::{Failure, connecting, handshaking};
use caisson_guard::{Exceptions, Host, Own, Refusal, Rule, Scheme, Target};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use ipnet::IpNet;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use wasmtime_wasi_http::{Error, WasiBody};

/// Look-ups at a time in the whole gateway. Each may hold a blocking thread for as long as the system's resolver waits.
const MAX_LOOKUPS: usize = 64;

/// Addresses tried of one name.
const MAX_ADDRESSES: usize = 8;

/// Bytes of a response's head, and of hyper's buffer.
const MAX_HEAD: usize = 64 * 1024;

/// What the operator says about the way out.
#[derive(Clone, Debug)]
pub struct EgressConfig {
    /// Networks of special addresses that may be reached. Metadata services and the gateway itself need a `/32` or `/128`.
    pub exceptions: Vec<IpNet>,
    /// Certificates, PEM, trusted beside the public ones.
    pub extra_ca_pem: Option<Vec<u8>>,
    /// The gateway's own listening addresses.
    pub own_addresses: Vec<SocketAddr>,
    /// Names answered from here instead of by the resolver, lower case; the answers are judged like any other.
    pub hosts: BTreeMap<String, Vec<IpAddr>>,
    /// Longest wait for a name and then for a connection, TLS included, each.
    pub connect_timeout: Duration,
    /// Longest wait for the head of a response.
    pub first_byte_timeout: Duration,
    /// Longest wait between two pieces of a body.
    pub between_bytes_timeout: Duration,
    /// Largest response body in bytes, after decompression where the gate decompresses.
    pub max_response_bytes: u64,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            exceptions: Vec::new(),
            extra_ca_pem: None,
            own_addresses: Vec::new(),
            hosts: BTreeMap::new(),
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(60),
            between_bytes_timeout: Duration::from_secs(30),
            max_response_bytes: 64 << 20,
        }
    }
}

/// Why the way out could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// The extra certificates are not PEM or not certificates.
    #[error("the extra CA file has no usable certificate; give it as PEM with `BEGIN CERTIFICATE`")]
    ExtraCa,
    /// TLS cannot be set up at all.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// Resolves, judges, connects. Holds no connection between requests: a connection for each keeps tenants apart, and the
/// requests of one call are few.
pub struct Egress {
    config: EgressConfig,
    exceptions: Exceptions,
    own: Own,
    tls: tokio_rustls::TlsConnector,
    lookups: Arc<Semaphore>,
    /// Made when the first command is granted a network.
    authority: OnceLock<Result<Authority, Arc<CannotCertify>>>,
}

/// One connection, ready to send.
pub(crate) enum Sender {
    Http1(hyper::client::conn::http1::SendRequest<WasiBody>),
    Http2(hyper::client::conn::http2::SendRequest<WasiBody>),
}

/// Moves a connection's bytes; must be polled for as long as anything of it is used.
pub(crate) type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Egress {
    /// Sets up the way out.
    ///
    /// # Errors
    /// Where the extra certificates cannot be read.
    pub fn new(config: EgressConfig) -> Result<Self, EgressError> {
        let mut roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
        if let Some(pem) = &config.extra_ca_pem {
            let mut added = 0;
            for certificate in CertificateDer::pem_slice_iter(pem) {
                roots.add(certificate.map_err(|_| EgressError::ExtraCa)?).map_err(|_| EgressError::ExtraCa)?;
                added += 1;
            }
            if added == 0 {
                return Err(EgressError::ExtraCa);
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // A ticket kept from one tenant's connection and shown on another's would let a server tell that they share a gateway.
        tls.resumption = rustls::client::Resumption::disabled();
        Ok(Self {
            exceptions: Exceptions::new(config.exceptions.clone()),
            own: Own::new(config.own_addresses.clone()),
            tls: tokio_rustls::TlsConnector::from(Arc::new(tls)),
            lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)),
            authority: OnceLock::new(),
            config,
        })
    }

    /// Whom programs trust that speak TLS through the proxy.
    pub(crate) fn authority(&self) -> Result<&Authority, Arc<CannotCertify>> {
        self.authority.get_or_init(|| Authority::new().map_err(Arc::new)).as_ref().map_err(Arc::clone)
    }

    pub(crate) fn config(&self) -> &EgressConfig {
        &self.config
    }

    pub(crate) fn exceptions(&self) -> &Exceptions {
        &self.exceptions
    }

    pub(crate) fn own(&self) -> &Own {
        &self.own
    }

    /// Every address of a target, judged; one that may not be reached refuses them all, since a name that answers with both
    /// kinds is trying something.
    pub(crate) async fn resolve(&self, target: &Target) -> Result<Vec<SocketAddr>, Failure> {
        let addresses: Vec<SocketAddr> = match &target.host {
            Host::Address(address) => vec![SocketAddr::new(*address, target.port)],
            Host::Name(name) => match self.config.hosts.get(name) {
                Some(answers) => answers.iter().map(|ip| SocketAddr::new(*ip, target.port)).collect(),
                None => timeout(self.config.connect_timeout, self.lookup(name, target.port))
                    .await
                    .map_err(|_| Error::DnsTimeout)??,
            },
        };
        if addresses.is_empty() {
            return Err(Error::DestinationNotFound.into());
        }
        for address in &addresses {
            self.exceptions.check(*address, &self.own).map_err(|refusal| {
                Failure::Refused(match &target.host {
                    Host::Name(_) => Refusal::about(refusal.rule, format!("resolves to {}", refusal.about)),
                    Host::Address(_) => refusal,
                })
            })?;
        }
        Ok(addresses)
    }

    async fn lookup(&self, name: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
        let permit = Arc::clone(&self.lookups).acquire_owned().await.map_err(|_| Error::DnsTimeout)?;
        // The final dot keeps the resolver from trying the gateway's own search domains. A name of one label passes the name
        // check only where the operator has exceptions, and is then meant to be completed.
        let name = if name.contains('.') { format!("{name}.") } else { name.to_owned() };
        // A task of its own, so that a look-up given up on still counts until the system's resolver lets its thread go.
        let lookup = tokio::spawn(async move {
            let found = tokio::net::lookup_host((name.as_str(), port)).await.map(Iterator::collect::<Vec<_>>);
            drop(permit);
            found
        });
        match lookup.await {
            Ok(Ok(addresses)) => Ok(addresses),
            _ => Err(Error::DnsError { rcode: None, info_code: None }),
        }
    }

    /// Connects to the first of the judged addresses that answers, within `limit`.
    pub(crate) async fn connect(
        &self,
        target: &Target,
        addresses: &[SocketAddr],
        limit: Duration,
    ) -> Result<(Sender, Driver), Failure> {
        timeout(limit.min(self.config.connect_timeout), async {
            let stream = self.reach(addresses).await?;
            match target.scheme {
                Scheme::Http => Ok(http1(Box::new(stream)).await?),
                Scheme::Https => {
                    let name = match &target.host {
                        Host::Name(name) => {
                            ServerName::try_from(name.clone()).map_err(|_| Error::TlsCertificateError)?
                        }
                        Host::Address(address) => ServerName::from(*address),
                    };
                    let stream = self.tls.connect(name, stream).await.map_err(|error| handshaking(&error))?;
                    let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let stream = Box::new(stream);
                    Ok(if h2 { http2(stream).await? } else { http1(stream).await? })
                }
            }
        })
        .await
        .map_err(|_| Failure::Failed(Error::ConnectionTimeout))?
    }

    async fn reach(&self, addresses: &[SocketAddr]) -> Result<TcpStream, Failure> {
        let mut last = Error::DestinationUnavailable;
        let tried = addresses.len().clamp(1, MAX_ADDRESSES);
        let share = self.config.connect_timeout / u32::try_from(tried).unwrap_or(1);
        for address in addresses.iter().take(MAX_ADDRESSES) {
            match timeout(share, TcpStream::connect(*address)).await {
                Ok(Ok(stream)) => {
                    // Only now does a public address of the machine itself show.
                    let to_self = stream.local_addr().is_ok_and(|local| local.ip() == address.ip());
                    if to_self && self.own.everywhere_on(address.port()) && !self.exceptions.lists(address.ip()) {
                        return Err(Failure::Refused(Refusal::about(Rule::AddressOwn, address.to_string())));
                    }
                    // Small requests are the rule; waiting to fill a segment only delays them.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = connecting(&error),
                Err(_) => last = Error::ConnectionTimeout,
            }
        }
        Err(last.into())
    }
}

async fn http1(stream: Box<dyn Stream>) -> Result<(Sender, Driver), Error> {
    let (sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| Error::HttpProtocolError)?;
    Ok((Sender::Http1(sender), Box::pin(async move { ended(connection.await) })))
}

async fn http2(stream: Box<dyn Stream>) -> Result<(Sender, Driver), Error> {
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(MAX_HEAD as u32)
        .initial_connection_window_size(MAX_HEAD as u32)
        .max_header_list_size(MAX_HEAD as u32)
        .max_send_buf_size(MAX_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| Error::HttpProtocolError)?;
    Ok((Sender::Http2(sender), Box::pin(async move { ended(connection.await) })))
}

/// The guest learns of a broken connection from its response; here it is only of use to the operator.
fn ended(result: Result<(), hyper::Error>) {
    if let Err(error) = result {
        tracing::debug!(%error, "an outgoing connection ended early");
    }
}
