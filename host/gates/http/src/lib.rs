//! caisson-gate-http
