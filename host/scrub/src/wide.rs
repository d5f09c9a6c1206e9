//! A filter that looks at 32 places at once.
//!
//! For each of four bytes from a place on, two tables say by the byte's halves which of some groups of literals may have it
//! there; a place that some group may have in all four is let through. Without AVX2 the scalar filter alone is used.

/// Bytes of a literal that are looked at.
pub(crate) const WIDTH: usize = 4;

/// Places that are looked at together.
const LANES: usize = 32;

/// Sets of eight groups. The more groups, the less alike their literals need to be, and the fewer places are let through.
const SETS: usize = 3;

/// For each of the bytes: by its low and its high half, a bit for each group; twice, for both halves of a register.
type Tables = [[[u8; LANES]; 2]; WIDTH];

/// The filter.
pub(crate) struct Wide {
    sets: [Tables; SETS],
    able: bool,
}

/// What a literal may begin with: for each of the bytes, all that it may be; an empty set is any byte.
pub(crate) type Start = [Vec<u8>; WIDTH];

impl Wide {
    /// Groups the starts so that a group lets through little more than what was put into it.
    pub(crate) fn grouped(starts: &[Start]) -> Self {
        let weights = Weights::new();
        let mut groups = [Group::default(); 8 * SETS];
        let mut shares = [0.0; 8 * SETS];
        for start in starts {
            let grown = groups.iter().zip(&shares).enumerate().map(|(place, (group, share))| {
                let grown = weights.of(&group.with(start));
                (place, grown, grown - share)
            });
            let Some((best, share, _)) = grown.min_by(|a, b| a.2.total_cmp(&b.2)) else { continue };
            if let (Some(group), Some(old)) = (groups.get_mut(best), shares.get_mut(best)) {
                (*group, *old) = (group.with(start), share);
            }
        }
        Self::of(&groups)
    }

    /// Groups sorted starts with their neighbours, which costs little: for sets that are made often.
    pub(crate) fn of_neighbours(starts: &[Start]) -> Self {
        let mut groups = [Group::default(); 8 * SETS];
        for (place, start) in starts.iter().enumerate() {
            if let Some(group) = groups.get_mut(place * 8 * SETS / starts.len()) {
                *group = group.with(start);
            }
        }
        Self::of(&groups)
    }

    fn of(groups: &[Group; 8 * SETS]) -> Self {
        let mut sets = [[[[0; LANES]; 2]; WIDTH]; SETS];
        for (tables, groups) in sets.iter_mut().zip(groups.chunks(8)) {
            for (number, group) in groups.iter().enumerate() {
                for (table, halves) in tables.iter_mut().zip(group.0) {
                    for (table, half) in table.iter_mut().zip(halves) {
                        for (place, bits) in table.iter_mut().enumerate() {
                            *bits |= u8::from(half >> (place & 15) & 1 == 1) << number;
                        }
                    }
                }
            }
        }
        Self { sets, able: able() }
    }

    /// Whether the processor can do it, and whether so much text is there.
    pub(crate) fn applies(&self, text: &[u8], from: usize) -> bool {
        self.able && text.len() >= from + LANES + WIDTH
    }

    /// Calls `place` with places at or after `from` that may be a literal's start, until it wants no more; gives the place that it
    /// wanted, or the first place that was not looked at.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], from: usize, wanted: impl Fn(usize) -> bool) -> Result<usize, usize> {
        #[cfg(target_arch = "x86_64")]
        if self.able {
            #[expect(
                unsafe_code,
                reason = "`able` says that this processor has AVX2, which is all that the function asks for"
            )]
            // SAFETY: see the reason.
            return unsafe { self.find_avx2(text, from, wanted) };
        }
        let _ = (text, &wanted);
        Err(from)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn find_avx2(&self, text: &[u8], from: usize, wanted: impl Fn(usize) -> bool) -> Result<usize, usize> {
        use std::arch::x86_64::{
            __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
            _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
        };
        let half = _mm256_set1_epi8(0x0f);
        let halves =
            |bytes: __m256i| (_mm256_and_si256(bytes, half), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half));
        let groups = |[lows, highs]: &[[u8; LANES]; 2], (low, high): (__m256i, __m256i)| {
            _mm256_and_si256(_mm256_shuffle_epi8(load(lows), low), _mm256_shuffle_epi8(load(highs), high))
        };
        let mut at = from;
        while let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk::<{ LANES + WIDTH - 1 }>()) {
            let [Some(a), Some(b), Some(c), Some(d)] =
                [0, 1, 2, 3].map(|shift| window.get(shift..).and_then(|rest| rest.first_chunk::<LANES>()))
            else {
                break;
            };
            let (a, b, c, d) = (halves(load(a)), halves(load(b)), halves(load(c)), halves(load(d)));
            let mut any = _mm256_setzero_si256();
            for [first, second, third, fourth] in &self.sets {
                let one = _mm256_and_si256(groups(first, a), groups(second, b));
                let two = _mm256_and_si256(groups(third, c), groups(fourth, d));
                any = _mm256_or_si256(any, _mm256_and_si256(one, two));
            }
            let none = _mm256_cmpeq_epi8(any, _mm256_setzero_si256());
            let mut some = !_mm256_movemask_epi8(none).cast_unsigned();
            while some != 0 {
                let place = at + some.trailing_zeros() as usize;
                if wanted(place) {
                    return Ok(place);
                }
                some &= some - 1;
            }
            at += LANES;
        }
        Err(at)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; LANES]) -> std::arch::x86_64::__m256i {
    #[expect(unsafe_code, reason = "an unaligned load of 32 bytes from a reference to 32 bytes")]
    // SAFETY: see the reason.
    unsafe {
        std::arch::x86_64::_mm256_loadu_si256(bytes.as_ptr().cast())
    }
}

fn able() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// For each of the bytes, which low and high halves it may have.
#[derive(Clone, Copy, Default)]
struct Group([[u16; 2]; WIDTH]);

impl Group {
    fn with(&self, start: &Start) -> Self {
        let mut grown = *self;
        for ([lows, highs], set) in grown.0.iter_mut().zip(start) {
            for byte in set {
                *lows |= 1 << (byte & 15);
                *highs |= 1 << (byte >> 4);
            }
            if set.is_empty() {
                (*lows, *highs) = (u16::MAX, u16::MAX);
            }
        }
        grown
    }
}

/// How common the bytes of texts are, summed up ahead: a gateway groups some hundred literals each time it starts.
struct Weights(
    /// By the byte's high half, then for each set of the lower and of the upper eight low halves.
    Box<[[[f64; 256]; 2]; 8]>,
);

impl Weights {
    fn new() -> Self {
        let mut sums = Box::new([[[0.0; 256]; 2]; 8]);
        for (high, sets) in (0..8_u8).zip(sums.iter_mut()) {
            for (upper, sums) in (0..2_u8).zip(sets) {
                for (set, sum) in (0..256_usize).zip(sums) {
                    let lows = (0..8_u8).filter(|low| set >> low & 1 == 1);
                    *sum = lows.map(|low| weight(high << 4 | upper << 3 | low)).sum();
                }
            }
        }
        Self(sums)
    }

    /// Which share of the places of a text a group lets through.
    fn of(&self, group: &Group) -> f64 {
        group.0.iter().map(|[lows, highs]| self.share(*lows, *highs)).product()
    }

    /// Which share of the bytes of a text have such halves.
    fn share(&self, lows: u16, highs: u16) -> f64 {
        let [lower, upper] = lows.to_le_bytes().map(usize::from);
        let sums = self.0.iter().enumerate().filter(|(high, _)| highs >> high & 1 == 1);
        sums.map(|(_, [a, b])| a.get(lower).unwrap_or(&0.0) + b.get(upper).unwrap_or(&0.0)).sum()
    }
}

/// How common a byte is in texts, roughly.
fn weight(byte: u8) -> f64 {
    match byte {
        b' ' => 0.15,
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 0.05,
        b'h' | b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'f' | b'g' => 0.02,
        b'a'..=b'z' | b'.' | b',' | b'\n' | b'-' | b'_' | b':' | b'/' | b'(' | b')' | b'=' | b'"' | b'0'..=b'9' => {
            0.008
        }
        b'A'..=b'Z' => 0.003,
        _ => 0.001,
    }
}
