//! Bearer tokens: `csn_ID_SECRET`. The identifier is public; of the secret only a keyed hash is kept.

/// A new token and its public identifier. Some 240 random bits, so a fast keyed hash of it is as good as a slow one.
///
/// # Panics
/// Never; without random bytes from the system the version-4 UUIDs that it is made of cannot be made either.
#[must_use]
pub fn new_token() -> (String, String) {
    let id: String = uuid::Uuid::new_v4().simple().to_string().chars().take(12).collect();
    let secret = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
    (format!("csn_{id}_{secret}"), id)
}

/// The public identifier in a token, where it has the shape of one.
pub(crate) fn id_of(token: &str) -> Option<&str> {
    let (id, secret) = token.strip_prefix("csn_")?.split_once('_')?;
    (!id.is_empty() && secret.len() == 64).then_some(id)
}
