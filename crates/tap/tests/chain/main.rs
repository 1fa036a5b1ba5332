//! The whole chain, frames to rows, against what is known to be true.
//!
//! Conversations whose requests and responses carry a number are laid out as a network would (`frames`,
//! `talks`), damaged as captures are (`damage`), and played (`play`): a wrong pair shows by its numbers.
//! Recorded conversations stand for what generators do not think of (`golden`).

mod damage;
mod frames;
mod golden;
mod play;
mod random;
mod seeds;
mod shared;
mod stress;
mod talks;
mod torture;
mod truth;
