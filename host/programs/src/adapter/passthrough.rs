//! Credentials in variables, for programs that take them from there.

use super::{Adapter, Injection, Material, PASSTHROUGH};
use crate::Refusal;

#[derive(Debug)]
pub(super) struct Passthrough;

impl Adapter for Passthrough {
    fn name(&self) -> &'static str {
        PASSTHROUGH
    }

    fn takes(&self) -> &'static [&'static str] {
        &["env"]
    }

    fn prepare(&self, material: &Material<'_>) -> Result<Injection, Refusal> {
        Ok(Injection::of_env(material))
    }
}
