//! The rules, as identifiers that people can look up, each with a sentence.

/// A rule about a URL, a name or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The text is not a URL, or one that readers take apart differently.
    UrlInvalid,
    /// A scheme other than `http` and `https`.
    Scheme,
    /// `user:password@` before the host.
    Userinfo,
    /// A backslash before the query.
    Backslash,
    /// An IPv6 zone identifier.
    ZoneId,
    /// A name that cannot be a host.
    HostInvalid,
    /// A name that is local by definition.
    HostLocal,
    /// A cloud's metadata service, by name.
    HostMetadata,
    /// An address that is not on the public internet.
    AddressSpecial,
    /// A cloud's metadata service, by address.
    AddressMetadata,
    /// One of the gateway's own addresses.
    AddressOwn,
    /// TRACE or CONNECT.
    Method,
    /// A path that servers may read as another one.
    PathAmbiguous,
}

impl Rule {
    /// The identifier used in refusals and audit records.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::UrlInvalid => "http.url-invalid",
            Self::Scheme => "http.scheme",
            Self::Userinfo => "http.userinfo",
            Self::Backslash => "http.backslash",
            Self::ZoneId => "http.zone-id",
            Self::HostInvalid => "http.host-invalid",
            Self::HostLocal => "http.host-local",
            Self::HostMetadata => "http.host-metadata",
            Self::AddressSpecial => "http.address-special",
            Self::AddressMetadata => "http.address-metadata",
            Self::AddressOwn => "http.address-own",
            Self::Method => "http.method",
            Self::PathAmbiguous => "http.path-ambiguous",
        }
    }

    /// What the rule says.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::UrlInvalid => "the URL is not valid, or readers would disagree about its host",
            Self::Scheme => "only `http` and `https` leave the gateway",
            Self::Userinfo => "a user name or password in a URL hides the real host; use a credential instead",
            Self::Backslash => "a backslash in a URL is read as a slash by some and not by others",
            Self::ZoneId => "an IPv6 zone identifier names an interface of the gateway",
            Self::HostInvalid => "the host is not a name that could be resolved",
            Self::HostLocal => "the name is local to the gateway or its network by definition",
            Self::HostMetadata => "the name belongs to a cloud's metadata service, which hands out credentials",
            Self::AddressSpecial => "the address is not on the public internet",
            Self::AddressMetadata => "the address belongs to a cloud's metadata service, which hands out credentials",
            Self::AddressOwn => "the address is one of the gateway's own",
            Self::Method => "TRACE and CONNECT never leave the gateway",
            Self::PathAmbiguous => {
                "the path hides a step (`..`, `//` or an encoded slash), so a path rule cannot judge it"
            }
        }
    }

    /// The smallest change that would allow it, of the settings or, where none of those would, of the request.
    #[must_use]
    pub fn grant(self) -> &'static str {
        match self {
            Self::HostLocal | Self::AddressSpecial => {
                "the operator adds the address to the HTTP exceptions, as a network such as `10.1.2.0/24`"
            }
            Self::AddressMetadata | Self::AddressOwn => {
                "the operator adds exactly this address to the HTTP exceptions, as `/32` or `/128`"
            }
            Self::PathAmbiguous => "send the path without the hidden step, or drop `paths` from the rule",
            Self::UrlInvalid => "an absolute URL in its plain form, such as `https://example.com/a`",
            Self::Scheme => "the same address by `http` or `https`",
            Self::Userinfo => "the URL without what stands before `@`, and a credential bound to the host",
            Self::Backslash => "slashes in place of backslashes",
            Self::ZoneId => "the address without its zone",
            Self::HostInvalid => "the host's name in letters, digits, dashes and dots, or its address",
            Self::HostMetadata => {
                "the service's address in place of its name, which the operator adds to the HTTP exceptions"
            }
            Self::Method => "a method other than TRACE and CONNECT",
        }
    }
}

/// A refusal: which rule, and about what exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// What it was applied to, as host text: an address with its kind, a name. Empty where the rule says it all.
    pub about: String,
}

impl Refusal {
    /// A refusal with nothing to add to the rule.
    #[must_use]
    pub fn plain(rule: Rule) -> Self {
        Self { rule, about: String::new() }
    }

    /// A refusal about something.
    #[must_use]
    pub fn about(rule: Rule, about: impl Into<String>) -> Self {
        Self { rule, about: about.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.about.is_empty() {
            f.write_str(self.rule.sentence())
        } else {
            write!(f, "{}: {}", self.rule.sentence(), self.about)
        }
    }
}

impl std::error::Error for Refusal {}
