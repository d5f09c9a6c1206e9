//! The hash chain.

use crate::AuditEvent;
use serde::{Deserialize, Serialize};

/// A checkpoint stands on every record whose number this divides: at worst so many of the newest records can be cut off unseen.
pub(crate) const CHECKPOINT_EVERY: u64 = 64;

/// One link of the chain, as the sink keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Number, from 1, without gaps.
    pub number: u64,
    /// The event as JSON text: exactly the bytes that were hashed.
    pub event: String,
    /// Digest of this record: BLAKE3 over number, previous digest and event, hex.
    pub digest: String,
    /// BLAKE3 of the digest, keyed with a key that is not in the database; on checkpoints only.
    pub checkpoint: Option<String>,
}

/// Digest that the first record follows.
pub(crate) const GENESIS: &str = "";

pub(crate) fn link(number: u64, previous: &str, event: &AuditEvent, key: &[u8; 32]) -> Record {
    let event = serde_json::to_string(event).unwrap_or_default();
    let digest = digest(number, previous, &event);
    let checkpoint = number.is_multiple_of(CHECKPOINT_EVERY).then(|| seal(&digest, key));
    Record { number, event, digest, checkpoint }
}

fn digest(number: u64, previous: &str, event: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&number.to_le_bytes());
    for part in [previous, event] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn seal(digest: &str, key: &[u8; 32]) -> String {
    blake3::keyed_hash(key, digest.as_bytes()).to_hex().to_string()
}

/// Where a chain breaks, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit chain breaks at record {number}: {how}")]
pub struct Broken {
    /// The first record that does not fit.
    pub number: u64,
    /// Its fault.
    pub how: &'static str,
}

/// Checks a chain from its first record. `sealed_up_to` is the number of the newest checkpoint that the reader knows to have existed (0 for none): a
/// chain that ends before it was cut.
///
/// # Errors
/// The first fault.
pub fn verify(records: &[Record], key: &[u8; 32], sealed_up_to: u64) -> Result<(), Broken> {
    let mut previous = GENESIS;
    for (index, record) in records.iter().enumerate() {
        let number = index as u64 + 1;
        let broken = |how| Err(Broken { number, how });
        if record.number != number {
            return broken("a record is missing or out of order");
        }
        if record.digest != digest(number, previous, &record.event) {
            return broken("it was changed, or the one before it was");
        }
        match (&record.checkpoint, number.is_multiple_of(CHECKPOINT_EVERY)) {
            (Some(checkpoint), true) if *checkpoint == seal(&record.digest, key) => {}
            (None, false) => {}
            _ => return broken("its checkpoint is missing or not authentic"),
        }
        previous = &record.digest;
    }
    let last = records.len() as u64;
    if last < sealed_up_to {
        return Err(Broken { number: last + 1, how: "the chain ends before a checkpoint that existed" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChangeEvent;

    const KEY: [u8; 32] = [7; 32];

    fn chain(length: u64) -> Vec<Record> {
        let mut previous = GENESIS.to_owned();
        let mut records = Vec::new();
        for number in 1..=length {
            let event = AuditEvent::Change(ChangeEvent {
                at_ms: 0,
                what: "grant.changed".into(),
                name: number.to_string(),
                digest: String::new(),
                tenant: "t".into(),
                token_id: "k".into(),
            });
            let record = link(number, &previous, &event, &KEY);
            previous.clone_from(&record.digest);
            records.push(record);
        }
        records
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let mut records = chain(100);
        records[41].event = records[41].event.replace("42", "43");
        assert_eq!(verify(&records, &KEY, 0).map_err(|b| b.number), Err(42));
    }

    #[test]
    fn a_missing_record_and_another_order_are_found() {
        let mut records = chain(100);
        records.remove(9);
        assert_eq!(verify(&records, &KEY, 0).map_err(|b| b.number), Err(10));
        let mut records = chain(100);
        records.swap(20, 21);
        assert_eq!(verify(&records, &KEY, 0).map_err(|b| b.number), Err(21));
    }

    #[test]
    fn a_chain_rewritten_without_the_key_is_found_at_its_first_checkpoint() {
        let mut previous = GENESIS.to_owned();
        let forged: Vec<Record> = (1..=100)
            .map(|number| {
                let record = link(number, &previous, &AuditEvent::Lost { count: number }, &[8; 32]);
                previous.clone_from(&record.digest);
                record
            })
            .collect();
        assert_eq!(verify(&forged, &KEY, 0).map_err(|b| b.number), Err(CHECKPOINT_EVERY));
    }

    #[test]
    fn a_chain_cut_before_a_known_checkpoint_is_found_and_a_whole_one_passes() {
        let records = chain(130);
        assert_eq!(verify(&records[..127], &KEY, 128).map_err(|b| b.number), Err(128));
        assert_eq!(verify(&records, &KEY, 128), Ok(()));
        assert_eq!(verify(&[], &KEY, 0), Ok(()));
    }
}
