//! Scores: Standard MIDI Files, tempo maps, synthesis.
