//! The system call filter, as the machine code of the kernel's own small machine.
//!
//! Numbers are found by halving and not one after the other: at install the kernel runs the filter for every number there
//! is, to learn which are always allowed, and a list of 300 comparisons makes that cost more than the program's start.

use std::sync::LazyLock;

use seccompiler::sock_filter;

use super::syscalls::{self, Answer, Check, Rule};

/// Which sockets can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// None.
    None,
    /// TCP.
    Stream,
}

// Offsets in what the kernel shows of a call: the number, the architecture, the six arguments of 8 bytes.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const THIS_ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const THIS_ARCHITECTURE: u32 = 0xC000_00B7;

/// The first number of the x32 calls: the same kernel functions under other numbers.
const X32: u32 = 0x4000_0000;

const KILL: u32 = 0x8000_0000;
const ERRNO: u32 = 0x0005_0000;
const ALLOW: u32 = 0x7FFF_0000;

const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_ANY_BIT: u16 = 0x45;
const MASK: u16 = 0x54;
const RETURN: u16 = 0x06;

static NONE: LazyLock<Vec<sock_filter>> = LazyLock::new(|| compile(Sockets::None));
static STREAM: LazyLock<Vec<sock_filter>> = LazyLock::new(|| compile(Sockets::Stream));

/// Compiles the filters, so that the processes that come of this one have them.
pub fn prepare() {
    LazyLock::force(&NONE);
    LazyLock::force(&STREAM);
}

/// The filter with these sockets.
pub fn for_sockets(sockets: Sockets) -> &'static [sock_filter] {
    match sockets {
        Sockets::None => &NONE,
        Sockets::Stream => &STREAM,
    }
}

/// The filter for this machine's architecture.
fn compile(sockets: Sockets) -> Vec<sock_filter> {
    let rules = syscalls::rules(sockets);
    let mut code = vec![
        step(LOAD, ARCHITECTURE, 0, 0),
        step(IF_EQUAL, THIS_ARCHITECTURE, 1, 0),
        step(RETURN, KILL, 0, 0),
        step(LOAD, NUMBER, 0, 0),
        step(IF_AT_LEAST, X32, 0, 1),
        step(RETURN, KILL, 0, 0),
    ];
    code.extend(search(&segments(&rules)));
    code
}

/// Numbers from `first` on, to the next segment's, are all answered alike.
struct Segment<'rule> {
    first: u32,
    rule: &'rule Rule,
}

/// What is not named does not exist, so that a program falls back to what it did before the call was invented.
const UNKNOWN: Rule = Rule::Always(Answer::Error(libc::ENOSYS));

fn segments(rules: &[(u32, Rule)]) -> Vec<Segment<'_>> {
    let mut segments: Vec<Segment<'_>> = vec![Segment { first: 0, rule: &UNKNOWN }];
    let mut push = |first, rule| {
        if segments.last().is_none_or(|last| last.rule != rule) {
            segments.push(Segment { first, rule });
        }
    };
    let mut next = 0;
    for (number, rule) in rules {
        if *number > next {
            push(next, &UNKNOWN);
        }
        push(*number, rule);
        next = number + 1;
    }
    push(next, &UNKNOWN);
    segments
}

fn search(segments: &[Segment<'_>]) -> Vec<sock_filter> {
    let (low, high) = segments.split_at(segments.len() / 2);
    let (Some(_), Some(middle)) = (low.first(), high.first()) else {
        return segments.first().map(|segment| answer(segment.rule)).unwrap_or_else(|| done(Answer::Kill));
    };
    let (low, high) = (search(low), search(high));
    let over = u32::try_from(low.len()).unwrap_or(u32::MAX);
    let mut code = vec![step(IF_AT_LEAST, middle.first, 0, 1), step(JUMP, over, 0, 0)];
    code.extend(low);
    code.extend(high);
    code
}

fn answer(rule: &Rule) -> Vec<sock_filter> {
    match rule {
        Rule::Always(answer) => done(*answer),
        Rule::Unless { checks, otherwise } => {
            // Each check that holds goes on to the next; one that does not jumps over its own return.
            let mut code = Vec::new();
            for check in *checks {
                code.extend(pass_or_return(check, *otherwise));
            }
            code.extend(done(Answer::Allow));
            code
        }
    }
}

/// Code that goes on where the check holds and returns where it does not. Only the low half of an argument is looked at where the
/// kernel takes an `int`, since it drops the high half too.
fn pass_or_return(check: &Check, otherwise: Answer) -> Vec<sock_filter> {
    let low = |argument: u32| step(LOAD, ARGUMENTS + argument * 8, 0, 0);
    let high = |argument: u32| step(LOAD, ARGUMENTS + argument * 8 + 4, 0, 0);
    let refuse = step(RETURN, otherwise.code(), 0, 0);
    match *check {
        Check::NoBits { argument, bits } => vec![low(argument), step(IF_ANY_BIT, bits, 0, 1), refuse],
        Check::NoBitsIf { flags, any, argument, bits } => {
            vec![low(flags), step(IF_ANY_BIT, any, 0, 3), low(argument), step(IF_ANY_BIT, bits, 0, 1), refuse]
        }
        Check::OneOf { argument, mask, values } => {
            let mut code = vec![low(argument), step(MASK, mask, 0, 0)];
            let mut left = u8::try_from(values.len()).unwrap_or(u8::MAX);
            for value in values {
                // On a match over the remaining comparisons and the return.
                code.push(step(IF_EQUAL, *value, left, 0));
                left -= 1;
            }
            code.push(refuse);
            code
        }
        Check::NoneOf { argument, values } => {
            let mut code = vec![low(argument)];
            let count = u8::try_from(values.len()).unwrap_or(u8::MAX);
            for (value, left) in values.iter().zip((0..count).rev()) {
                // On a match over the remaining comparisons and the jump, to the return.
                code.push(step(IF_EQUAL, *value, left + 1, 0));
            }
            code.push(step(JUMP, 1, 0, 0));
            code.push(refuse);
            code
        }
        Check::ZeroOrNull { argument, pointer } => vec![
            low(argument),
            step(IF_EQUAL, 0, 5, 0),
            low(pointer),
            step(IF_EQUAL, 0, 0, 2),
            high(pointer),
            step(IF_EQUAL, 0, 1, 0),
            refuse,
        ],
    }
}

fn done(answer: Answer) -> Vec<sock_filter> {
    vec![step(RETURN, answer.code(), 0, 0)]
}

impl Answer {
    fn code(self) -> u32 {
        match self {
            Answer::Allow => ALLOW,
            Answer::Kill => KILL,
            Answer::Error(number) => ERRNO | u32::try_from(number).unwrap_or(1),
        }
    }
}

const fn step(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, k, jt, jf }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
    use super::*;

    /// What the kernel would answer, by a machine as small as its own.
    fn run(code: &[sock_filter], number: u32, arguments: [u64; 6]) -> u32 {
        let mut data = [number, THIS_ARCHITECTURE, 0, 0].map(u32::to_ne_bytes).concat();
        data.extend(arguments.iter().flat_map(|argument| argument.to_ne_bytes()));
        let (mut at, mut value) = (0_usize, 0_u32);
        loop {
            let step = code.get(at).unwrap();
            at += 1;
            let jump = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
            match step.code {
                LOAD => {
                    let from = usize::try_from(step.k).unwrap();
                    value = u32::from_ne_bytes(data.get(from..from + 4).unwrap().try_into().unwrap());
                }
                MASK => value &= step.k,
                JUMP => at += usize::try_from(step.k).unwrap(),
                IF_EQUAL => at += jump(value == step.k),
                IF_AT_LEAST => at += jump(value >= step.k),
                IF_ANY_BIT => at += jump(value & step.k != 0),
                RETURN => return step.k,
                other => panic!("{other}"),
            }
        }
    }

    fn is_allowed(number: libc::c_long, arguments: [u64; 6]) -> bool {
        run(&compile(Sockets::Stream), u32::try_from(number).unwrap(), arguments) == ALLOW
    }

    #[test]
    fn every_number_is_answered_by_its_rule() {
        for sockets in [Sockets::None, Sockets::Stream] {
            let (code, rules) = (compile(sockets), syscalls::rules(sockets));
            assert!(code.len() < 1000, "{}", code.len());
            for number in (0..1000).chain([X32 - 1, X32, X32 + 1, u32::MAX]) {
                let found: Vec<_> = rules.iter().filter(|(ruled, _)| *ruled == number).map(|(_, rule)| rule).collect();
                let expected = match found.as_slice() {
                    [] if number >= X32 => KILL,
                    [] => ERRNO | libc::ENOSYS.cast_unsigned(),
                    [Rule::Always(answer)] => answer.code(),
                    [Rule::Unless { .. }] => continue,
                    many => panic!("{number} has {} rules", many.len()),
                };
                assert_eq!(run(&code, number, [0; 6]), expected, "{number}");
            }
        }
    }

    #[test]
    fn arguments_decide_where_they_must() {
        let (unix, inet) = (libc::AF_UNIX.cast_unsigned().into(), libc::AF_INET.cast_unsigned().into());
        let (stream, datagram) = (libc::SOCK_STREAM.cast_unsigned().into(), libc::SOCK_DGRAM.cast_unsigned().into());
        let closed = u64::from((libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK).cast_unsigned());
        let create = u64::from((libc::O_CREAT | libc::O_WRONLY).cast_unsigned());
        let directory = u64::from(libc::O_DIRECTORY.cast_unsigned());
        // The high half of what the kernel takes as an `int` changes nothing.
        let high = 1 << 32;
        for denied in [
            (libc::SYS_socket, [unix, stream, 0, 0, 0, 0]),
            (libc::SYS_socket, [inet, datagram, 0, 0, 0, 0]),
            (libc::SYS_socket, [inet, stream, 262, 0, 0, 0]),
            (libc::SYS_socketpair, [unix, datagram, 0, 0, 0, 0]),
            (libc::SYS_ioctl, [0, 0x5412 | high, 0, 0, 0, 0]),
            (libc::SYS_ioctl, [0, 0x541D, 0, 0, 0, 0]),
            (libc::SYS_prlimit64, [1, 0, high, 0, 0, 0]),
            (libc::SYS_prlimit64, [1, 0, 1, 0, 0, 0]),
            (libc::SYS_openat, [0, 0, create, 0o4755, 0, 0]),
            (libc::SYS_fchmodat, [0, 0, 0o2755 | high, 0, 0, 0]),
            (libc::SYS_personality, [8, 0, 0, 0, 0, 0]),
        ] {
            assert!(!is_allowed(denied.0, denied.1), "{denied:?}");
        }
        for allowed in [
            (libc::SYS_socket, [inet | high, stream | closed, 6, 0, 0, 0]),
            (libc::SYS_socketpair, [unix, stream | closed, 0, 0, 0, 0]),
            (libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0]),
            (libc::SYS_prlimit64, [0, 0, 1, 0, 0, 0]),
            (libc::SYS_prlimit64, [1, 0, 0, 1, 0, 0]),
            (libc::SYS_openat, [0, 0, create, 0o755, 0, 0]),
            // Without a file to make, the mode is whatever was in the register.
            (libc::SYS_openat, [0, 0, directory, 0o6777, 0, 0]),
            (libc::SYS_personality, [0xFFFF_FFFF, 0, 0, 0, 0, 0]),
            (libc::SYS_clone, [u64::from((libc::CLONE_VM | libc::CLONE_THREAD).cast_unsigned()), 0, 0, 0, 0, 0]),
        ] {
            assert!(is_allowed(allowed.0, allowed.1), "{allowed:?}");
        }
    }
}
