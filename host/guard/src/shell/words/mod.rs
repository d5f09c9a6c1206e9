//! What words become: quotes taken off, braces and values put in, fields split. What cannot be known stays a gap in the word.

mod brace;
mod build;
mod expand;
mod fold;
mod values;

pub(super) use fold::{decode_base64, printed};
pub(super) use values::Values;
