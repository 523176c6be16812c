//! Writing alignments: one file per format.
