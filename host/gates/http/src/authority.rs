//! The certificate authority of the proxy: programs that run for a call trust it and nothing else, so that what they say over TLS is decided
//! like everything else. Its key never leaves memory and is gone with the gateway.

use caisson_guard::Host;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Certificates kept; one is made in a tenth of a millisecond.
const MAX_KEPT: usize = 256;

/// Makes certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: Arc<str>,
    kept: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CannotCertify {
    #[error("a certificate cannot be made: {0}")]
    Make(#[from] rcgen::Error),
    #[error("a certificate cannot be used: {0}")]
    Use(#[from] rustls::Error),
}

impl Authority {
    pub(crate) fn new() -> Result<Self, CannotCertify> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "Caisson proxy");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let pem = params.self_signed(&key)?.pem().into();
        Ok(Self { issuer: Issuer::new(params, key), pem, kept: Mutex::default() })
    }

    /// What programs have to trust.
    pub(crate) fn pem(&self) -> Arc<str> {
        Arc::clone(&self.pem)
    }

    /// TLS in the name of a host. Only HTTP/1.1 is spoken: programs that take a proxy all do.
    pub(crate) fn server(&self, host: &Host) -> Result<Arc<ServerConfig>, CannotCertify> {
        let name = match host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        };
        if let Some(config) = self.kept().get(&name) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.certify(&name)?);
        let mut kept = self.kept();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(name, Arc::clone(&config));
        Ok(config)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Arc<ServerConfig>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn certify(&self, name: &str) -> Result<ServerConfig, CannotCertify> {
        let mut params = CertificateParams::new(vec![name.to_owned()])?;
        // A name may be longer than a common name can be; the alternative name is the one that counts.
        params.distinguished_name.push(DnType::CommonName, "proxied");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.insert_extended_key_usage(rcgen::ExtendedKeyUsagePurpose::ServerAuth);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}
