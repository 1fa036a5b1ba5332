//! Requests paired with their responses.
#![forbid(unsafe_code)]
