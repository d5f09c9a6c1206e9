//! From what a manifest asks to what a call may spend.

use crate::LimitsRequest;
use crate::value::shown;
use caisson_call::{Budget, Limits};
use std::time::Duration;

const SIZES: [(&str, u64); 9] = [
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("bytes", 1),
];

const DURATIONS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("min", 60_000), ("m", 60_000), ("h", 3_600_000)];

/// Reads a size such as `64 MiB`, in bytes.
///
/// # Errors
/// Says what a size looks like.
pub fn parse_size(text: &str) -> Result<u64, String> {
    quantity(text, &SIZES).ok_or_else(|| {
        format!(
            "`{}` is not a size: write a whole number and a unit, such as `64 MiB`, `512 KiB` or `100 KB`",
            shown(text)
        )
    })
}

/// Reads a duration such as `500 ms`.
///
/// # Errors
/// Says what a duration looks like.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    quantity(text, &DURATIONS).map(Duration::from_millis).ok_or_else(|| {
        format!(
            "`{}` is not a duration: write a whole number and a unit, such as `500 ms`, `30 s` or `2 min`",
            shown(text)
        )
    })
}

fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

impl LimitsRequest {
    /// The limits of a plugin's calls: what it asks for, or the default where it asks for nothing, but then no more than the
    /// ceiling.
    ///
    /// # Errors
    /// One sentence for each limit that is malformed, zero, negative or past the ceiling, with the ceiling.
    pub fn resolve(&self, ceiling: &Limits) -> Result<Limits, Vec<String>> {
        let mut faults = Vec::new();
        let mut limits = Limits::default();
        let default = Limits::default();
        limits.memory = bounded(
            "memory",
            self.memory.as_deref().map(parse_size),
            default.memory,
            ceiling.memory,
            &size,
            &mut faults,
        );
        for (name, asked, default, most, slot) in [
            ("cpu", &self.cpu, default.cpu, ceiling.cpu, &mut limits.cpu),
            ("wall", &self.wall, default.wall, ceiling.wall, &mut limits.wall),
            ("grace", &self.grace, default.grace, ceiling.grace, &mut limits.grace),
        ] {
            let asked = asked.as_deref().map(|text| parse_duration(text).map(millis));
            *slot = Duration::from_millis(bounded(name, asked, millis(default), millis(most), &duration, &mut faults));
        }
        for budget in Budget::ALL {
            let (asked, show): (_, &dyn Fn(u64) -> String) = match self.asked(budget) {
                Asked::Nothing => (None, &|n| n.to_string()),
                Asked::Count(count) => (count.map(Ok), &|n| n.to_string()),
                Asked::Size(text) => (text.map(parse_size), &size),
            };
            let limit = bounded(budget.as_str(), asked, default.get(budget), ceiling.get(budget), show, &mut faults);
            limits.set(budget, limit);
        }
        if faults.is_empty() { Ok(limits) } else { Err(faults) }
    }

    fn asked(&self, budget: Budget) -> Asked<'_> {
        match budget {
            Budget::HttpRequests => Asked::Count(self.http_requests),
            Budget::FileOperations => Asked::Count(self.file_operations),
            Budget::Processes => Asked::Count(self.processes),
            Budget::HttpBytes => Asked::Size(self.http_bytes.as_deref()),
            Budget::FileBytes => Asked::Size(self.file_bytes.as_deref()),
            Budget::LogBytes => Asked::Size(self.log_bytes.as_deref()),
            Budget::OutputBytes => Asked::Size(self.output_bytes.as_deref()),
            Budget::HostMemory => Asked::Size(self.host_memory.as_deref()),
            // The design fixes these two for every plugin.
            Budget::RandomBytes | Budget::ProgressMessages => Asked::Nothing,
        }
    }
}

enum Asked<'a> {
    Nothing,
    Count(Option<u64>),
    Size(Option<&'a str>),
}

fn bounded(
    name: &str,
    asked: Option<Result<u64, String>>,
    default: u64,
    most: u64,
    show: &dyn Fn(u64) -> String,
    faults: &mut Vec<String>,
) -> u64 {
    match asked {
        None => return default.min(most),
        Some(Err(why)) => faults.push(format!("`limits.{name}`: {why}")),
        Some(Ok(0)) => faults
            .push(format!("`limits.{name}` is zero; leave it out for the default, or ask for at most {}", show(most))),
        Some(Ok(asked)) if asked > most => {
            faults.push(format!("`limits.{name}` asks for {}; the operator's ceiling is {}", show(asked), show(most)));
        }
        Some(Ok(asked)) => return asked,
    }
    0
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn size(bytes: u64) -> String {
    for (unit, factor) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{} {unit}", bytes / factor);
        }
    }
    format!("{bytes} B")
}

fn duration(millis: u64) -> String {
    if millis >= 1_000 && millis.is_multiple_of(1_000) {
        format!("{} s", millis / 1_000)
    } else {
        format!("{millis} ms")
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in [
            "",
            "64",
            "MiB",
            "-1 MiB",
            "+1 MiB",
            "1.5 MiB",
            "64 mib",
            "64 MiB extra",
            "99999999999999999999 B",
            "18446744073709551615 KiB",
            "1 s",
            "٣ MiB",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        for text in ["", "30", "s", "-1 s", "1 MiB", "0.5 s", "18446744073709551615 h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_and_durations_are_read() {
        assert_eq!(parse_size("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_size("512KiB"), Ok(512 << 10));
        assert_eq!(parse_size("1 GiB"), Ok(1 << 30));
        assert_eq!(parse_size(" 100 KB "), Ok(100_000));
        assert_eq!(parse_duration("500 ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2 min"), Ok(Duration::from_secs(120)));
    }

    #[test]
    fn zero_negative_and_past_the_ceiling_are_refused_by_name() {
        let mut ceiling = Limits::default();
        ceiling.set(Budget::HttpRequests, 5);
        let request = LimitsRequest {
            memory: Some("128 MiB".into()),
            cpu: Some("0 ms".into()),
            wall: Some("-3 s".into()),
            http_requests: Some(6),
            file_operations: Some(0),
            ..LimitsRequest::default()
        };
        let faults = request.resolve(&ceiling).unwrap_err();
        assert_eq!(faults.first().unwrap(), "`limits.memory` asks for 128 MiB; the operator's ceiling is 64 MiB");
        for name in [
            "`limits.cpu` is zero",
            "`limits.wall`: `-3 s`",
            "`limits.http-requests` asks for 6; the operator's ceiling is 5",
            "`limits.file-operations` is zero",
        ] {
            assert!(faults.iter().any(|fault| fault.starts_with(name)), "{name}: {faults:?}");
        }
        assert_eq!(faults.len(), 5);
    }

    #[test]
    fn what_is_not_asked_for_is_the_default_and_never_past_the_ceiling() {
        let mut ceiling = Limits { memory: 1 << 20, wall: Duration::from_secs(90), ..Limits::default() };
        ceiling.set(Budget::RandomBytes, 7);
        let limits =
            LimitsRequest { wall: Some("1 min".into()), ..LimitsRequest::default() }.resolve(&ceiling).unwrap();
        assert_eq!(
            (limits.memory, limits.wall, limits.get(Budget::RandomBytes)),
            (1 << 20, Duration::from_secs(60), 7)
        );
        assert_eq!(limits.get(Budget::FileBytes), Limits::default().get(Budget::FileBytes));
    }
}
