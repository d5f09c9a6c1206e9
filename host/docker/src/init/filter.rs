//! What programs in a container are refused beyond the engine's own filter: set-user-ID and set-group-ID bits, wherever a mode
//! is given. What a program makes can belong to the gateway's user on disk, and such a file would lend that user's rights to whoever
//! starts it outside.

use super::sys::{self, Step};

// Offsets in what the kernel shows of a call: the number, the architecture, the arguments of 8 bytes, of which the lower half
// comes first on both machines.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const KILL: u32 = 0x8000_0000;
const NOT_PERMITTED: u32 = 0x0005_0001;
const UNKNOWN: u32 = 0x0005_0026;
const ALLOW: u32 = 0x7FFF_0000;

const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_ANY_BIT: u16 = 0x45;
const IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

const SET_ID: u32 = 0o6000;

/// Flags of `open` without which a mode is not read, and so may be anything: make the file, make a file without a name.
const MAKES: u32 = 0o20_000_100;

/// A call with a mode.
struct Moded {
    number: u32,
    /// Which argument is the mode.
    mode: u32,
    /// Which argument has flags that tell whether the mode is read.
    flags: Option<u32>,
}

const fn always(number: u32, mode: u32) -> Moded {
    Moded { number, mode, flags: None }
}

const fn when_made(number: u32, mode: u32) -> Moded {
    Moded { number, mode, flags: Some(mode - 1) }
}

#[cfg(target_arch = "x86_64")]
mod machine {
    use super::{Moded, always, when_made};

    pub const ARCHITECTURE: u32 = 0xC000_003E;
    /// open, creat, chmod, fchmod, mknod, openat, mknodat, fchmodat, fchmodat2.
    pub const MODES: [Moded; 9] = [
        when_made(2, 2),
        always(85, 1),
        always(90, 1),
        always(91, 1),
        always(133, 1),
        when_made(257, 3),
        always(259, 2),
        always(268, 2),
        always(452, 2),
    ];
}

#[cfg(target_arch = "aarch64")]
mod machine {
    use super::{Moded, always, when_made};

    pub const ARCHITECTURE: u32 = 0xC000_00B7;
    /// mknodat, fchmod, fchmodat, openat, fchmodat2.
    pub const MODES: [Moded; 5] = [always(33, 2), always(52, 1), always(53, 2), when_made(56, 3), always(452, 2)];
}

/// Calls whose arguments a filter cannot see: openat2, io_uring_setup. Programs know that older kernels lack them.
const HIDDEN: [u32; 2] = [437, 425];
/// The first number of the x32 calls: the same kernel functions under other numbers.
const X32: u32 = 0x4000_0000;

pub fn install() -> std::io::Result<()> {
    sys::filter_calls(&code())
}

fn code() -> Vec<Step> {
    let step = |code, value, yes, no| Step { code, yes, no, value };
    let mut all = vec![
        step(LOAD, ARCHITECTURE, 0, 0),
        step(IF_EQUAL, machine::ARCHITECTURE, 1, 0),
        step(RETURN, KILL, 0, 0),
        step(LOAD, NUMBER, 0, 0),
        step(IF_AT_LEAST, X32, 0, 1),
        step(RETURN, KILL, 0, 0),
    ];
    for number in HIDDEN {
        all.extend([step(IF_EQUAL, number, 0, 1), step(RETURN, UNKNOWN, 0, 0)]);
    }
    for Moded { number, mode, flags } in machine::MODES {
        let mut own = Vec::new();
        if let Some(flags) = flags {
            let read =
                [step(LOAD, ARGUMENTS + 8 * flags, 0, 0), step(IF_ANY_BIT, MAKES, 1, 0), step(RETURN, ALLOW, 0, 0)];
            own.extend(read);
        }
        own.extend([
            step(LOAD, ARGUMENTS + 8 * mode, 0, 0),
            step(IF_ANY_BIT, SET_ID, 0, 1),
            step(RETURN, NOT_PERMITTED, 0, 0),
            step(RETURN, ALLOW, 0, 0),
        ]);
        all.push(step(IF_EQUAL, number, 0, if flags.is_some() { 7 } else { 4 }));
        all.extend(own);
    }
    all.push(step(RETURN, ALLOW, 0, 0));
    all
}
