//! caisson-gate-host
