//! caisson-doors
