//! Host errors to the errors of `wasi:http`. What a server or library says never becomes text that the guest reads.

use caisson_call::{Budget, Ledger};
use caisson_guard::Refusal;
use std::io;
use wasmtime_wasi_http::Error;

/// Why a request did not leave.
pub(crate) enum Failure {
    /// A rule refused it after the names were known.
    Refused(Refusal),
    /// Anything else.
    Failed(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Spends bytes, or says that sending or receiving (`failure`) went over.
pub(crate) fn spend(ledger: &Ledger, bytes: usize, failure: fn(Option<u64>) -> Error) -> Result<(), Error> {
    ledger.charge(Budget::HttpBytes, bytes as u64).map_err(|_| failure(Some(ledger.limits().get(Budget::HttpBytes))))
}

/// A connection that could not be made.
pub(crate) fn connecting(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Error::ConnectionRefused,
        io::ErrorKind::TimedOut => Error::ConnectionTimeout,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Error::DestinationIpUnroutable,
        _ => Error::DestinationUnavailable,
    }
}

/// A TLS handshake that failed.
pub(crate) fn handshaking(error: &io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented) => {
            Error::TlsCertificateError
        }
        Some(rustls::Error::AlertReceived(alert)) => {
            Error::TlsAlertReceived { alert_id: Some(u8::from(*alert)), alert_message: None }
        }
        _ => Error::TlsProtocolError,
    }
}

/// An exchange that failed. A request body that went over its budget surfaces here as an error of hyper's.
pub(crate) fn exchanging(error: &hyper::Error, ledger: &Ledger) -> Error {
    if ledger.exhausted() == Some(Budget::HttpBytes) {
        return Error::HttpRequestBodySize(Some(ledger.limits().get(Budget::HttpBytes)));
    }
    if error.is_timeout() {
        Error::HttpResponseTimeout
    } else if error.is_parse_too_large() {
        Error::HttpResponseHeaderSectionSize(None)
    } else if error.is_incomplete_message() {
        Error::HttpResponseIncomplete
    } else if error.is_closed() || error.is_canceled() {
        Error::ConnectionTerminated
    } else {
        Error::HttpProtocolError
    }
}
