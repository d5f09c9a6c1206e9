//! What a tool answers.

use serde::Serialize;

use crate::ToolError;

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text for the model.
    Text(String),
    /// An image.
    Image {
        /// For example `image/png`.
        mime_type: String,
        /// The image file's bytes.
        data: Vec<u8>,
    },
    /// A sound.
    Audio {
        /// For example `audio/ogg`.
        mime_type: String,
        /// The sound file's bytes.
        data: Vec<u8>,
    },
    /// A file of the workspace that the person should get.
    File {
        /// Where it is, as the tool sees it.
        path: String,
        /// For example `application/pdf`; the host guesses where it is not given.
        mime_type: Option<String>,
        /// A line to show with it.
        caption: Option<String>,
    },
    /// A reference from [`crate::outputs`].
    Kept(String),
}

/// The answer of a tool: parts for the model, and where it differs what the person sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub(crate) for_model: Vec<Content>,
    pub(crate) for_user: Option<String>,
    pub(crate) structured: Option<String>,
    pub(crate) silent: bool,
    pub(crate) extra: Option<String>,
    /// What went wrong while it was put together; told instead of it when the tool returns.
    pub(crate) fault: Option<ToolError>,
}

impl Output {
    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Content::Text(text.into()))
    }

    /// A structured result, which the model also gets as text. A value that JSON cannot hold makes the call fail.
    pub fn json(value: impl Serialize) -> Self {
        let mut output = Self::default().with_structured(value);
        if let Some(json) = &output.structured {
            output.for_model.push(Content::Text(json.clone()));
        }
        output
    }

    /// An image: its MIME type and the file's bytes.
    pub fn image(mime_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self::of(Content::Image { mime_type: mime_type.into(), data: data.into() })
    }

    /// A file of the workspace that the person should get.
    pub fn file(path: impl Into<String>) -> Self {
        Self::of(Content::File { path: path.into(), mime_type: None, caption: None })
    }

    /// A kept result, by the reference from [`crate::outputs::keep`].
    pub fn kept(reference: impl Into<String>) -> Self {
        Self::of(Content::Kept(reference.into()))
    }

    /// An answer of one part.
    pub fn of(content: Content) -> Self {
        Self { for_model: vec![content], ..Self::default() }
    }

    /// What the person sees instead.
    #[must_use]
    pub fn with_user(mut self, text: impl Into<String>) -> Self {
        self.for_user = Some(text.into());
        self
    }

    /// The result as data, beside the text; it must fit the schema of `returns`. A value that JSON cannot hold makes the call fail.
    #[must_use]
    pub fn with_structured(mut self, value: impl Serialize) -> Self {
        match serde_json::to_string(&value) {
            Ok(json) => self.structured = Some(json),
            Err(error) => {
                self.fault = Some(ToolError::failed(format!("the result cannot be written as JSON: {error}")))
            }
        }
        self
    }

    /// One more part.
    #[must_use]
    pub fn with(mut self, content: Content) -> Self {
        self.for_model.push(content);
        self
    }

    /// One more text for the model.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with(Content::Text(text.into()))
    }

    /// Nothing of it is shown to the person.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// More for programs: a value that becomes a JSON object.
    #[must_use]
    pub fn with_extra(mut self, value: impl Serialize) -> Self {
        match serde_json::to_string(&value) {
            Ok(json) => self.extra = Some(json),
            Err(error) => {
                self.fault = Some(ToolError::failed(format!("the extra data cannot be written as JSON: {error}")))
            }
        }
        self
    }

    /// The parts for the model, in order.
    pub fn contents(&self) -> &[Content] {
        &self.for_model
    }

    /// The texts for the model, joined by line ends: what a plugin's tests compare.
    pub fn model_text(&self) -> String {
        let texts: Vec<&str> = self
            .for_model
            .iter()
            .filter_map(|content| match content {
                Content::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }

    /// The structured result as JSON text.
    pub fn structured(&self) -> Option<&str> {
        self.structured.as_deref()
    }

    /// What the person sees instead of the texts for the model.
    pub fn user_text(&self) -> Option<&str> {
        self.for_user.as_deref()
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// A result that is data: structured, and as text for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize> From<Json<T>> for Output {
    fn from(Json(value): Json<T>) -> Self {
        Self::json(value)
    }
}
