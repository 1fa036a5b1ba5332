//! Views of link, IP, TCP and UDP headers and of the tunnels between them.
#![forbid(unsafe_code)]
