//! caisson-guard
