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

/// The end of the chain: one a node, replaced with each batch. Since it is keyed and only the newest is kept, a chain that was cut anywhere has no
/// head that fits, unless whoever cut it kept an old one (a restored backup; whoever must see that notes the count of [`Verifier::end`] elsewhere).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Number of the newest record.
    pub number: u64,
    /// Its digest and number, keyed like a checkpoint, hex.
    pub seal: String,
}

impl Head {
    pub(crate) fn new(number: u64, digest: &str, key: &[u8; 32]) -> Self {
        // Another text than a checkpoint's, so that no checkpoint can pass for a head.
        Self { number, seal: seal(&format!("head {number} {digest}"), key) }
    }
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

/// Checks a chain from its first record, as many records at a time as its reader likes.
pub struct Verifier {
    key: [u8; 32],
    number: u64,
    digest: String,
}

impl Verifier {
    /// At the start of a chain whose checkpoints are authenticated with `key`.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self { key, number: 0, digest: GENESIS.to_owned() }
    }

    /// Checks the next record.
    ///
    /// # Errors
    /// Its fault.
    pub fn next(&mut self, record: &Record) -> Result<(), Broken> {
        let number = self.number + 1;
        let broken = |how| Err(Broken { number, how });
        if record.number != number {
            return broken("a record is missing or out of order");
        }
        if record.digest != digest(number, &self.digest, &record.event) {
            return broken("it was changed, or the one before it was");
        }
        match (&record.checkpoint, number.is_multiple_of(CHECKPOINT_EVERY)) {
            (Some(checkpoint), true) if *checkpoint == seal(&record.digest, &self.key) => {}
            (None, false) => {}
            _ => return broken("its checkpoint is missing or not authentic"),
        }
        self.number = number;
        self.digest.clone_from(&record.digest);
        Ok(())
    }

    /// Checks that the chain ends where its head says; how many records it has.
    ///
    /// # Errors
    /// The first record that is missing or follows the end.
    pub fn end(self, head: Option<&Head>) -> Result<u64, Broken> {
        let number = self.number;
        match head {
            None if number == 0 => Ok(0),
            None => Err(Broken { number, how: "the seal of the chain's end is missing" }),
            Some(head) if head.number > number => Err(Broken { number: number + 1, how: "the chain was cut off here" }),
            Some(head) if head.number < number => {
                Err(Broken { number: head.number + 1, how: "it follows the sealed end" })
            }
            Some(head) if *head != Head::new(number, &self.digest, &self.key) => {
                Err(Broken { number, how: "the seal of the chain's end is not authentic" })
            }
            Some(_) => Ok(number),
        }
    }
}

/// Checks a whole chain with its head; how many records it has.
///
/// # Errors
/// The first fault.
pub fn verify<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    key: &[u8; 32],
    head: Option<&Head>,
) -> Result<u64, Broken> {
    let mut verifier = Verifier::new(*key);
    for record in records {
        verifier.next(record)?;
    }
    verifier.end(head)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::indexing_slicing, reason = "a test may panic")]
    use super::*;
    use crate::ChangeEvent;

    const KEY: [u8; 32] = [7; 32];

    fn chain(length: u64) -> (Vec<Record>, Head) {
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
        let head = Head::new(length, &previous, &KEY);
        (records, head)
    }

    fn broken_at(records: &[Record], head: &Head) -> Option<u64> {
        verify(records, &KEY, Some(head)).err().map(|broken| broken.number)
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let (mut records, head) = chain(100);
        records[41].event = records[41].event.replace("42", "43");
        assert_eq!(broken_at(&records, &head), Some(42));
    }

    #[test]
    fn a_missing_record_and_another_order_are_found() {
        let (mut records, head) = chain(100);
        records.remove(9);
        assert_eq!(broken_at(&records, &head), Some(10));
        let (mut records, head) = chain(100);
        records.swap(20, 21);
        assert_eq!(broken_at(&records, &head), Some(21));
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
        assert_eq!(broken_at(&forged, &Head::new(100, &previous, &[8; 32])), Some(CHECKPOINT_EVERY));
        let short = &forged[..10];
        assert_eq!(broken_at(short, &Head::new(10, &short[9].digest, &[8; 32])), Some(10));
    }

    #[test]
    fn a_cut_is_found_wherever_it_is() {
        let (records, head) = chain(130);
        for length in [0, 1, 63, 64, 127, 128, 129] {
            assert_eq!(broken_at(&records[..length], &head), Some(length as u64 + 1));
        }
        // With its number lowered the head does not fit, nor does a checkpoint in its place, nor none.
        let lowered = Head { number: 128, ..head.clone() };
        assert_eq!(broken_at(&records[..128], &lowered), Some(128));
        let checkpoint = Head { number: 128, seal: records[127].checkpoint.clone().unwrap_or_default() };
        assert_eq!(broken_at(&records[..128], &checkpoint), Some(128));
        assert_eq!(verify(&records[..128], &KEY, None).map_err(|b| b.number), Err(128));
        // One put behind the end is found as well.
        let more = link(131, &records[129].digest, &AuditEvent::Lost { count: 1 }, &KEY);
        assert_eq!(broken_at(&[records.clone(), vec![more]].concat(), &head), Some(131));
    }

    #[test]
    fn a_whole_chain_passes() {
        let (records, head) = chain(130);
        assert_eq!(verify(&records, &KEY, Some(&head)), Ok(130));
        assert_eq!(verify(&[], &KEY, None), Ok(0));
    }
}
