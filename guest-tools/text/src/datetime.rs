//! `datetime`.

use caisson_sdk::{Output, ToolError, call};
use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{self, AmbiguousOffset, TimeZone};
use jiff::{Span, SpanRound, Timestamp, Unit, Zoned};

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// `now` by default. `convert` shows `time` in the zone `to`; `add` adds `duration` to `time`; `difference` tells how long it
    /// is from `time` to `until`
    pub operation: Option<Operation>,
    /// IANA time zone, for example `Europe/Oslo` or `UTC`; the caller's by default. A `time` without an offset is read in it
    pub zone: Option<String>,
    /// A time such as `2026-03-01T09:30`, `2026-03-01`, `2026-03-01T09:30:00+01:00`, or seconds since 1970; now by default
    pub time: Option<String>,
    /// Zone to convert to
    pub to: Option<String>,
    /// For `add`: such as `2 days 3 hours`, `-90 minutes` or `P1M`
    pub duration: Option<String>,
    /// For `difference`: the other time; now by default
    pub until: Option<String>,
}

#[derive(Clone, Copy, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    Now,
    Convert,
    Add,
    Difference,
}

/// A time as data.
#[derive(serde::Serialize)]
struct Moment {
    /// RFC 3339
    time: String,
    zone: String,
    weekday: String,
    /// Seconds since 1970
    unix: i64,
}

pub fn answer(args: &Args) -> Result<Output, ToolError> {
    let operation = args.operation.unwrap_or(Operation::Now);
    let own = match &args.zone {
        Some(name) => zone(name)?,
        None => callers(),
    };
    if operation == Operation::Now {
        if args.time.is_some() {
            return Err(ToolError::invalid_arguments(
                "`time` is given, but the operation is `now`: choose `convert`, `add` or `difference`, or leave `time` out",
            ));
        }
        let shown = args.to.as_deref().map_or(Ok(own), zone)?;
        return Ok(moment(&Timestamp::now().to_zoned(shown), None));
    }
    let (time, note) = moment_or_now(args.time.as_deref(), &own)?;
    match operation {
        Operation::Now | Operation::Convert => {
            let to = args.to.as_deref().ok_or_else(|| missing("to", "`convert`", "a zone such as `Asia/Tokyo`"))?;
            Ok(moment(&time.with_time_zone(zone(to)?), note.as_deref()))
        }
        Operation::Add => {
            let text = args.duration.as_deref();
            let text = text.ok_or_else(|| missing("duration", "`add`", "for example `2 days 3 hours`"))?;
            let span = duration(text)?;
            let sum = time.checked_add(span).map_err(|_| outside(text))?;
            let sum = args.to.as_deref().map(zone).transpose()?.map_or(sum.clone(), |to| sum.with_time_zone(to));
            Ok(moment(&sum, note.as_deref()))
        }
        Operation::Difference => {
            let (until, other) = moment_or_now(args.until.as_deref(), &own)?;
            difference(&time, &until, note.or(other).as_deref())
        }
    }
}

fn missing(argument: &str, operation: &str, what: &str) -> ToolError {
    ToolError::invalid_arguments(format!("{operation} needs `{argument}`: {what}"))
}

fn outside(text: &str) -> ToolError {
    ToolError::invalid_arguments(format!("`{text}` leads outside the years -9999 to 9999; use a shorter one"))
}

/// The caller's zone; UTC where the host names one that is not known here.
fn callers() -> TimeZone {
    tz::db().get(&call::context().time_zone).unwrap_or(TimeZone::UTC)
}

fn zone(name: &str) -> Result<TimeZone, ToolError> {
    let name = name.trim();
    if name.eq_ignore_ascii_case("z") {
        return Ok(TimeZone::UTC);
    }
    if let Ok(zone) = tz::db().get(name) {
        return Ok(zone);
    }
    // A bare offset is read as a part of some time.
    let dated = format!("1970-01-01T00:00{name}");
    if let Some(offset) = Pieces::parse(&dated).ok().and_then(|pieces| pieces.to_numeric_offset()) {
        return Ok(TimeZone::fixed(offset));
    }
    let near = nearest(name);
    let hint = if near.is_empty() {
        "use an IANA name such as `Europe/Oslo`, `UTC`, or an offset such as `+02:00`".to_owned()
    } else {
        format!("did you mean {near}?")
    };
    Err(ToolError::invalid_arguments(format!("there is no time zone `{name}`; {hint}")))
}

/// Zones whose name holds what was asked for, or that are named by its city.
fn nearest(name: &str) -> String {
    let plain = |text: &str| text.to_ascii_lowercase().replace([' ', '-'], "_");
    let wanted = plain(name);
    let wanted = wanted.rsplit('/').next().filter(|city| city.len() >= 3).unwrap_or("?");
    let known = tz::db().available();
    let mut found: Vec<String> =
        known.map(|zone| zone.to_string()).filter(|zone| plain(zone).contains(wanted)).collect();
    // The city itself before zones that only hold the word.
    found.sort_by_key(|zone| (!plain(zone).ends_with(wanted), zone.len()));
    let found: Vec<String> = found.iter().take(3).map(|zone| format!("`{zone}`")).collect();
    found.join(", ")
}

fn moment_or_now(text: Option<&str>, zone: &TimeZone) -> Result<(Zoned, Option<String>), ToolError> {
    text.map_or_else(|| Ok((Timestamp::now().to_zoned(zone.clone()), None)), |text| read(text.trim(), zone))
}

/// Reads a time; the note is for a local time that is not exactly one.
fn read(text: &str, zone: &TimeZone) -> Result<(Zoned, Option<String>), ToolError> {
    if let Ok(zoned) = text.parse::<Zoned>() {
        return Ok((zoned, None));
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok((timestamp.to_zoned(zone.clone()), None));
    }
    if let Ok(zoned) = rfc2822::parse(text) {
        return Ok((zoned, None));
    }
    let fault = |why: &str| {
        ToolError::invalid_arguments(format!(
            "`{text}` is no time ({why}); write it such as `2026-03-01T09:30`, `2026-03-01T09:30:00+01:00` or `2026-03-01`"
        ))
    };
    if let Ok(number) = text.parse::<i64>() {
        // Eleven digits of seconds are past the year 5000; of milliseconds they are 1973.
        let timestamp = if number.unsigned_abs() < 100_000_000_000 {
            Timestamp::from_second(number)
        } else {
            Timestamp::from_millisecond(number)
        };
        return Ok((timestamp.map_err(|error| fault(&error.to_string()))?.to_zoned(zone.clone()), None));
    }
    let local: DateTime = text.parse().map_err(|error: jiff::Error| fault(&error.to_string()))?;
    let ambiguous = zone.to_ambiguous_zoned(local);
    let note = match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => None,
        AmbiguousOffset::Gap { .. } => {
            Some(format!("{local} does not exist there: clocks were put forward over it, the time after is meant"))
        }
        AmbiguousOffset::Fold { .. } => {
            Some(format!("{local} happens twice there: clocks are put back, the first is meant"))
        }
    };
    ambiguous.compatible().map(|zoned| (zoned, note)).map_err(|error| fault(&error.to_string()))
}

fn duration(text: &str) -> Result<Span, ToolError> {
    text.trim().parse().map_err(|error| {
        ToolError::invalid_arguments(format!(
            "`{text}` is no duration ({error}); write it such as `2 days 3 hours`, `-90 minutes`, `1 month` or `PT36H`"
        ))
    })
}

fn name(zone: &TimeZone, time: &Zoned) -> String {
    zone.iana_name().map_or_else(|| time.offset().to_string(), ToOwned::to_owned)
}

fn moment(time: &Zoned, note: Option<&str>) -> Output {
    let zone = name(time.time_zone(), time);
    let rfc3339 = time.strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string();
    let rfc3339 = if zone == "UTC" { rfc3339.replace("+00:00", "Z") } else { rfc3339 };
    let week = time.date().iso_week_date();
    let mut text = format!(
        "{rfc3339}\n{} in {zone}, ISO week {}-W{:02}, day {} of the year, unix {}",
        time.strftime("%A, %-d %B %Y, %H:%M:%S"),
        week.year(),
        week.week(),
        time.day_of_year(),
        time.timestamp().as_second()
    );
    if let Some(note) = note {
        text.push_str(&format!("\n[{note}]"));
    }
    let weekday = time.strftime("%A").to_string();
    Output::text(text).with_structured(Moment { time: rfc3339, zone, weekday, unix: time.timestamp().as_second() })
}

/// A difference as data.
#[derive(serde::Serialize)]
struct Difference {
    /// ISO 8601, by the calendar of the first time's zone
    duration: String,
    seconds: f64,
}

fn difference(time: &Zoned, until: &Zoned, note: Option<&str>) -> Result<Output, ToolError> {
    let failed =
        |error: jiff::Error| ToolError::invalid_arguments(format!("these two times cannot be compared: {error}"));
    let until = until.with_time_zone(time.time_zone().clone());
    let span = time.until((Unit::Year, &until)).map_err(failed)?;
    let days = time.until((Unit::Day, &until)).map_err(failed)?;
    let seconds = time.duration_until(&until).as_secs_f64();
    let days = days.round(SpanRound::new().largest(Unit::Day).smallest(Unit::Second).relative(time)).map_err(failed)?;
    let calendar = if span.is_zero() { "no time at all".to_owned() } else { format!("{span:#}") };
    let mut text = format!("{calendar}\n= {days:#} = {seconds} seconds");
    if let Some(note) = note {
        text.push_str(&format!("\n[{note}]"));
    }
    Ok(Output::text(text).with_structured(Difference { duration: span.to_string(), seconds }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn args(operation: Operation) -> Args {
        Args { operation: Some(operation), zone: None, time: None, to: None, duration: None, until: None }
    }

    fn convert(time: &str, zone: &str, to: &str) -> Result<String, ToolError> {
        let args =
            Args { time: Some(time.into()), zone: Some(zone.into()), to: Some(to.into()), ..args(Operation::Convert) };
        answer(&args).map(|output| output.model_text())
    }

    fn add(time: &str, zone: &str, duration: &str) -> Result<String, ToolError> {
        let args = Args {
            time: Some(time.into()),
            zone: Some(zone.into()),
            duration: Some(duration.into()),
            ..args(Operation::Add)
        };
        answer(&args).map(|output| output.model_text().lines().next().unwrap().to_owned())
    }

    fn difference(time: &str, until: &str, zone: &str) -> String {
        let args = Args {
            time: Some(time.into()),
            until: Some(until.into()),
            zone: Some(zone.into()),
            ..args(Operation::Difference)
        };
        answer(&args).unwrap().model_text()
    }

    #[test]
    fn unknown_zones_name_near_ones() {
        let error = convert("2026-01-01", "UTC", "Oslo").unwrap_err();
        assert!(error.message().contains("did you mean `Europe/Oslo`"), "{error}");
        let error = convert("2026-01-01", "UTC", "America/New York").unwrap_err();
        assert!(error.message().contains("`America/New_York`"), "{error}");
        assert!(convert("2026-01-01", "UTC", "Nowhere/Atlantis").unwrap_err().message().contains("IANA name"));
    }

    #[test]
    fn what_is_missing_or_no_time_is_told() {
        let error = answer(&args(Operation::Convert)).unwrap_err();
        assert!(error.message().contains("`convert` needs `to`"), "{error}");
        let error = answer(&args(Operation::Add)).unwrap_err();
        assert!(error.message().contains("`add` needs `duration`"), "{error}");
        for time in ["tomorrow", "2026-02-30", "25:00", "99999999999999999999"] {
            assert!(convert(time, "UTC", "UTC").unwrap_err().message().contains("is no time"), "{time}");
        }
        assert!(add("2026-01-01", "UTC", "a while").unwrap_err().message().contains("is no duration"));
        assert!(add("2026-01-01", "UTC", "9000 years").unwrap_err().message().contains("outside the years"));
        let error = answer(&Args { time: Some("2026-01-01".into()), ..args(Operation::Now) }).unwrap_err();
        assert!(error.message().contains("choose `convert`"), "{error}");
    }

    #[test]
    fn now_is_in_the_zone_that_was_asked_for() {
        let output = answer(&Args { zone: Some("Asia/Tokyo".into()), ..args(Operation::Now) }).unwrap();
        assert!(output.model_text().lines().next().unwrap().ends_with("+09:00"), "{output:?}");
        let output = answer(&Args { operation: None, ..args(Operation::Now) }).unwrap();
        assert!(output.model_text().contains("Z\n"), "{output:?}");
    }

    #[test]
    fn zones_are_converted() {
        let said = convert("2026-07-01T12:00", "Europe/Oslo", "America/New_York").unwrap();
        assert_eq!(
            said,
            "2026-07-01T06:00:00-04:00\nWednesday, 1 July 2026, 06:00:00 in America/New_York, ISO week 2026-W27, day 182 of the year, \
             unix 1782900000"
        );
        for (time, wanted) in [
            ("2026-07-01T12:00:00Z", "2026-07-01T14:00:00+02:00"),
            ("2026-07-01T12:00:00+05:30", "2026-07-01T08:30:00+02:00"),
            ("1782900000", "2026-07-01T12:00:00+02:00"),
            ("1782900000000", "2026-07-01T12:00:00+02:00"),
            ("Wed, 1 Jul 2026 10:00:00 +0000", "2026-07-01T12:00:00+02:00"),
            ("2026-01-01T00:00:00.25Z", "2026-01-01T01:00:00.25+01:00"),
        ] {
            assert!(convert(time, "UTC", "Europe/Oslo").unwrap().starts_with(wanted), "{time}");
        }
        assert!(convert("2026-07-01T12:00Z", "UTC", "+05:30").unwrap().starts_with("2026-07-01T17:30:00+05:30"));
    }

    #[test]
    fn local_times_that_are_not_one_are_told() {
        let said = convert("2026-03-29T02:30", "Europe/Oslo", "UTC").unwrap();
        assert!(said.starts_with("2026-03-29T01:30:00Z") && said.contains("does not exist there"), "{said}");
        let said = convert("2026-10-25T02:30", "Europe/Oslo", "UTC").unwrap();
        assert!(said.starts_with("2026-10-25T00:30:00Z") && said.contains("happens twice"), "{said}");
    }

    #[test]
    fn durations_follow_the_calendar() {
        assert_eq!(add("2026-01-31", "UTC", "1 month").unwrap(), "2026-02-28T00:00:00Z");
        assert_eq!(add("2026-03-28T12:00", "Europe/Oslo", "1 day").unwrap(), "2026-03-29T12:00:00+02:00");
        assert_eq!(add("2026-03-28T12:00", "Europe/Oslo", "24 hours").unwrap(), "2026-03-29T13:00:00+02:00");
        assert_eq!(add("2026-03-28T12:00", "UTC", "-PT90M").unwrap(), "2026-03-28T10:30:00Z");
    }

    #[test]
    fn differences_are_told_in_several_units() {
        let said = difference("2026-01-31", "2026-03-01T06:00", "UTC");
        assert_eq!(said, "1mo 1d 6h\n= 29d 6h = 2527200 seconds");
        assert!(
            difference("2026-01-02", "2026-01-01", "UTC").starts_with("1d ago"),
            "{}",
            difference("2026-01-02", "2026-01-01", "UTC")
        );
        assert!(difference("2026-01-01", "2026-01-01", "UTC").contains("no time at all"));
    }
}
