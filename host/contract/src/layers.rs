//! The layers that must all allow what a call does.
//!
//! A call may do what its plugin declared, the tenant granted, the operator's ceiling allows and every caller up the chain
//! may do. Globs and host patterns have no simple intersection, so none is computed: a gate asks every layer, and the first
//! that refuses is named. This is exact, and it lets a refusal say whose change would allow it.

use crate::{Capabilities, Effect};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Whose layer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerSource {
    /// The plugin's manifest.
    Declared,
    /// The tenant's grant.
    Granted,
    /// The operator's ceiling.
    Ceiling,
    /// The calling tool's layers, in a call from tool to tool.
    Caller,
}

impl LayerSource {
    /// Ends a rule's name: `files.not-granted`, `http.host-not-declared`.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Granted => "granted",
            Self::Ceiling => "allowed-by-operator",
            Self::Caller => "granted-to-caller",
        }
    }
}

/// One layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Whose.
    pub source: LayerSource,
    /// What it allows.
    pub capabilities: Arc<Capabilities>,
}

/// All layers of one call and the effect of its tool. Cheap to clone. A call with no layers may do nothing.
#[derive(Clone, Debug)]
pub struct Layers {
    layers: Arc<[Layer]>,
    effect: Effect,
}

impl Layers {
    /// Layers that allow nothing; what `list-tools` runs with.
    #[must_use]
    pub fn none() -> Self {
        Self { layers: Arc::new([]), effect: Effect::ReadOnly }
    }

    /// Puts layers together. `policy` is the only station with a reason to.
    #[must_use]
    pub fn new(layers: Vec<Layer>, effect: Effect) -> Self {
        Self { layers: layers.into(), effect }
    }

    /// The effect that the tool declared; `read-only` narrows every gate.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Asks every layer in order; the first that refuses decides. With no layer at all the answer is a refusal by
    /// [`LayerSource::Declared`].
    ///
    /// # Errors
    /// What the first refusing layer said, with its source.
    pub fn all<T, E>(
        &self,
        mut allows: impl FnMut(&Layer) -> Result<T, E>,
        nothing: impl FnOnce() -> E,
    ) -> Result<Vec<T>, (LayerSource, E)> {
        if self.layers.is_empty() {
            return Err((LayerSource::Declared, nothing()));
        }
        self.layers.iter().map(|layer| allows(layer).map_err(|refusal| (layer.source, refusal))).collect()
    }

    /// The layers, for explanations.
    #[must_use]
    pub fn as_slice(&self) -> &[Layer] {
        &self.layers
    }
}
