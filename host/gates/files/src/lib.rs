//! caisson-gate-files
