//! What an operator allows although it is special.

use crate::{Class, Refusal, Rule, Special, classify};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

/// Networks whose special addresses may be reached. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions(Vec<IpNet>);

/// The gateway's own listening addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own(Vec<SocketAddr>);

impl Own {
    /// The addresses, as bound; an unspecified address stands for every address of the machine.
    #[must_use]
    pub fn new(addresses: Vec<SocketAddr>) -> Self {
        Self(addresses)
    }

    /// Whether the gateway listens on this port on every address of the machine.
    #[must_use]
    pub fn everywhere_on(&self, port: u16) -> bool {
        self.0.iter().any(|own| own.port() == port && own.ip().is_unspecified())
    }

    /// Whether a connection to `address` would reach the gateway, as far as the address tells. An unspecified own address
    /// covers every special one on its port; whether a public one is the machine's own shows only after connecting.
    fn covers(&self, address: SocketAddr) -> bool {
        let ip = address.ip().to_canonical();
        self.0.iter().any(|own| {
            own.port() == address.port()
                && (own.ip().to_canonical() == ip || (own.ip().is_unspecified() && classify(ip) != Class::Public))
        })
    }
}

impl Exceptions {
    /// Exceptions from networks.
    #[must_use]
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Judges an address that a connection would go to.
    ///
    /// # Errors
    /// The rule that refuses it. Metadata services and the gateway itself need an exception for exactly that address: a
    /// wide network was surely not meant to include them.
    pub fn check(&self, address: SocketAddr, own: &Own) -> Result<(), Refusal> {
        let ip = address.ip();
        if own.covers(address) && !self.lists(ip) {
            return Err(Refusal::about(Rule::AddressOwn, address.to_string()));
        }
        match classify(ip) {
            Class::Public => Ok(()),
            Class::Special(Special::Metadata) if self.lists(ip) => Ok(()),
            Class::Special(Special::Metadata) => Err(Refusal::about(Rule::AddressMetadata, ip.to_string())),
            Class::Special(_) if self.contains(ip) => Ok(()),
            Class::Special(kind) => Err(Refusal::about(Rule::AddressSpecial, format!("{ip} ({})", kind.as_str()))),
        }
    }

    /// Whether exactly this address is an exception.
    #[must_use]
    pub fn lists(&self, ip: IpAddr) -> bool {
        self.matching(ip).any(|net| net.prefix_len() == net.max_prefix_len())
    }

    fn contains(&self, ip: IpAddr) -> bool {
        self.matching(ip).next().is_some()
    }

    /// A mapped IPv4 address is delivered to the IPv4 address, so its exceptions count; other embeddings need their own.
    fn matching(&self, ip: IpAddr) -> impl Iterator<Item = &IpNet> {
        let canonical = ip.to_canonical();
        self.0.iter().filter(move |net| net.contains(&ip) || net.contains(&canonical))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn check(networks: &[&str], own: &[&str], address: &str) -> Result<(), &'static str> {
        let networks = networks.iter().map(|n| n.parse().unwrap()).collect();
        let own = Own::new(own.iter().map(|a| a.parse().unwrap()).collect());
        Exceptions::new(networks).check(address.parse().unwrap(), &own).map_err(|refusal| refusal.rule.id())
    }

    #[test]
    fn an_exception_opens_its_network_and_nothing_else() {
        assert_eq!(check(&[], &[], "127.0.0.1:80"), Err("http.address-special"));
        assert_eq!(check(&["10.0.0.0/8"], &[], "127.0.0.1:80"), Err("http.address-special"));
        assert_eq!(check(&["127.0.0.0/8"], &[], "127.0.0.1:80"), Ok(()));
        assert_eq!(check(&["127.0.0.0/8"], &[], "[::ffff:127.0.0.1]:80"), Ok(()));
        assert_eq!(check(&["127.0.0.0/8"], &[], "[2002:7f00:1::]:80"), Err("http.address-special"));
        assert_eq!(check(&[], &[], "8.8.8.8:80"), Ok(()));
    }

    #[test]
    fn metadata_and_the_gateway_itself_need_an_exact_exception() {
        assert_eq!(check(&["0.0.0.0/0"], &[], "169.254.169.254:80"), Err("http.address-metadata"));
        assert_eq!(check(&["169.254.169.254/32"], &[], "169.254.169.254:80"), Ok(()));
        assert_eq!(check(&["127.0.0.0/8"], &["127.0.0.1:7"], "127.0.0.1:7"), Err("http.address-own"));
        assert_eq!(check(&["127.0.0.0/8"], &["0.0.0.0:7"], "127.9.9.9:7"), Err("http.address-own"));
        assert_eq!(check(&["127.0.0.0/8"], &["127.0.0.1:7"], "127.0.0.1:8"), Ok(()));
        assert_eq!(check(&["127.0.0.1/32"], &["127.0.0.1:7"], "127.0.0.1:7"), Ok(()));
        assert_eq!(check(&[], &["8.8.8.8:7"], "8.8.8.8:7"), Err("http.address-own"));
    }
}
