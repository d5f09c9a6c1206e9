//! Why a text is not read, and the limits of what is.

use super::seen::Span;
use std::fmt;

/// Why a text was not read. Each of these denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Longer than [`MAX_TEXT`].
    TooLong,
    /// Nested deeper than [`MAX_DEPTH`], wrappers included.
    TooDeep,
    /// More words than [`MAX_WORDS`].
    TooManyWords,
    /// A byte of zero.
    Nul,
    /// A control character.
    Control,
    /// An invisible or formatting character outside quotes, or one that turns the direction of text anywhere.
    Invisible,
    /// A character beyond ASCII in the name of a program.
    ProgramNotAscii,
    /// Not a shell command.
    Syntax,
    /// Quotes that are not closed.
    Unclosed,
    /// Shells would read it differently.
    Ambiguous,
    /// A here-document whose end is missing or not plain.
    HereDocument,
    /// An expansion that is not understood.
    Expansion,
    /// An alias changes how the rest is read.
    Alias,
    /// Code whose encoding cannot be read.
    Encoding,
}

impl Fault {
    /// The rule's identifier.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::TooLong => "shell.too-long",
            Self::TooDeep => "shell.too-deep",
            Self::TooManyWords => "shell.too-many-words",
            Self::Nul => "shell.nul",
            Self::Control => "shell.control-character",
            Self::Invisible => "shell.invisible-character",
            Self::ProgramNotAscii => "shell.program-not-ascii",
            Self::Syntax => "shell.syntax",
            Self::Unclosed => "shell.unclosed",
            Self::Ambiguous => "shell.ambiguous",
            Self::HereDocument => "shell.here-document",
            Self::Expansion => "shell.expansion",
            Self::Alias => "shell.alias",
            Self::Encoding => "shell.encoding",
        }
    }

    /// What the rule says, and what to do.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::TooLong => "the command is longer than 32 KiB; put it into a file of the workspace",
            Self::TooDeep => "the command is nested more than 32 deep, or wrapped more than 8 times; write it flat",
            Self::TooManyWords => "the command has more than 4096 words; put it into a file of the workspace",
            Self::Nul => "a byte of zero ends the text for some readers and not for others; leave it out",
            Self::Control => "a control character cannot be seen by whoever reads the command; leave it out",
            Self::Invisible => {
                "an invisible or direction-turning character makes the command look like another one; leave it out"
            }
            Self::ProgramNotAscii => "a program's name with a character beyond ASCII can look like another program's",
            Self::Syntax => "the text is not a command that every shell reads alike; check it with `bash -n`",
            Self::Unclosed => "a quote, bracket or keyword is not closed; close it",
            Self::Ambiguous => "shells read this differently; write it with plain quotes, one thing at a time",
            Self::HereDocument => {
                "the here-document's end is missing or not a plain word; write `<<'EOF'` and a line `EOF`"
            }
            Self::Expansion => "an expansion is not understood, so what it would run is not known; write the value",
            Self::Alias => "an alias changes how the rest of the command is read; write the command in full",
            Self::Encoding => "encoded code cannot be read; write it in plain text",
        }
    }

    /// The smallest change of the command that would allow it: no setting makes the scanner read what it cannot.
    #[must_use]
    pub fn grant(self) -> &'static str {
        match self {
            Self::TooLong | Self::TooManyWords => "the commands in a script file of the workspace, run by its name",
            Self::TooDeep => "the inner command on its own, without what is wrapped around it",
            Self::Nul | Self::Control | Self::Invisible => "the command without this character",
            Self::ProgramNotAscii => "the program's name in ASCII letters",
            Self::Syntax => "a command that `sh -n` and `bash -n` both accept",
            Self::Unclosed => "what was opened here closed before the command ends",
            Self::Ambiguous => "this part in quotes, or as a command of its own",
            Self::HereDocument => "a plain word as the end of the here-document, alone on its last line",
            Self::Expansion => "the value itself in place of the expansion",
            Self::Alias => "the program by its own name in place of the alias",
            Self::Encoding => "the code in plain text",
        }
    }
}

/// A text that was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unparsed {
    /// Why.
    pub fault: Fault,
    /// Where.
    pub span: Span,
}

impl fmt::Display for Unparsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.fault.sentence())
    }
}

impl std::error::Error for Unparsed {}

/// The longest text that is read, in bytes: an order of magnitude beyond what people and agents write by hand.
pub const MAX_TEXT: usize = 32 * 1024;

/// How deep constructs may nest, code inside words included; also the bound of the reader's own recursion.
pub const MAX_DEPTH: usize = 32;

/// How many words a text may have, those from expansions included.
pub const MAX_WORDS: usize = 4096;

/// How many wrappers may stand around a program (`env nice nohup sh -c …`).
pub const MAX_WRAPPERS: usize = 8;
