//! The steps of a call, one small file each, in the order of `pipeline.rs`.

pub(crate) mod admission;
pub(crate) mod arguments;
pub(crate) mod audit;
pub(crate) mod cache;
pub(crate) mod capabilities;
pub(crate) mod find;
pub(crate) mod hooks;
pub(crate) mod keep_back;
pub(crate) mod offered;
pub(crate) mod rate;
pub(crate) mod run;
pub(crate) mod scrub;
pub(crate) mod who;
