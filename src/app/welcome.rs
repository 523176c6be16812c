//! What a newcomer is told: what this is, then three things that stand in the window.

/// How far the welcome is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Welcome {
    /// What this is, and where to begin.
    Greeting,
    /// Where the notes are.
    Notes,
    /// Where it is played.
    Playing,
    /// Where to look next.
    Result,
}

/// What points at something in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callout {
    /// Which one, from 1.
    pub number: usize,
    /// In a few words.
    pub title: &'static str,
    /// In a sentence or two.
    pub text: &'static str,
}

impl Welcome {
    /// How many callouts there are.
    pub const CALLOUTS: usize = 3;

    /// What comes after it.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Greeting => Some(Self::Notes),
            Self::Notes => Some(Self::Playing),
            Self::Playing => Some(Self::Result),
            Self::Result => None,
        }
    }

    /// What is said of what it points at; the greeting points at nothing.
    pub fn callout(self) -> Option<Callout> {
        let (number, title, text) = match self {
            Self::Greeting => return None,
            Self::Notes => (
                1,
                "Every note appears where it was played",
                "Drag one to correct it, and the passage around it follows. Ctrl+wheel zooms in.",
            ),
            Self::Playing => (
                2,
                "Space plays",
                "Choose here what you hear: the recording, the score in the player's time, or both together.",
            ),
            Self::Result => (
                3,
                "How good it is, and what to check",
                "N goes to the next place to check. Ctrl+E exports the alignment, Ctrl+S saves your work.",
            ),
        };
        Some(Callout { number, title, text })
    }
}
