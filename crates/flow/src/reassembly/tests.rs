//! Pieces: how they are joined and what they cost.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a test may stop"
)]

use super::hole::{Fresh, HOLE_COST, Hole, PIECE_COST};
use model::Nanos;

fn insert(hole: &mut Hole, at: u64, bytes: &[u8]) -> u64 {
    let fresh = Fresh { bytes: Some(bytes), seen: Nanos(0), elapsed: 0, needs: None, ack: None };
    hole.insert(at, at + bytes.len() as u64, fresh, true)
}

fn cut(hole: &mut Hole, at: u64, end: u64) -> u64 {
    hole.insert(at, end, Fresh { bytes: None, seen: Nanos(0), elapsed: 0, needs: None, ack: None }, false)
}

fn pieces(hole: &Hole) -> Vec<(u64, u64, &[u8])> {
    hole.pieces.iter().map(|(start, piece)| (*start, piece.len, &piece.bytes[..])).collect()
}

#[test]
fn small_neighbours_are_joined_on_both_sides() {
    let mut hole = Hole::default();
    assert_eq!(insert(&mut hole, 10, b"kl") + insert(&mut hole, 14, b"op") + insert(&mut hole, 12, b"mn"), 0);
    assert_eq!(pieces(&hole), [(10, 6, &b"klmnop"[..])]);
    assert_eq!(insert(&mut hole, 9, b"JKLMNOPQ"), 6);
    assert_eq!(pieces(&hole), [(9, 8, &b"JklmnopQ"[..])]);
    assert_eq!(hole.held, 8);
}

#[test]
fn large_neighbours_stay_apart() {
    let mut hole = Hole::default();
    insert(&mut hole, 0, &[1; 1448]);
    insert(&mut hole, 1448, &[2; 1448]);
    assert_eq!(hole.pieces.len(), 2);
    assert!(hole.pieces.values().all(|piece| piece.starts));
    assert_eq!(hole.cost, 2 * (1448 + PIECE_COST));
}

#[test]
fn what_was_cut_is_never_joined_with_bytes() {
    let mut hole = Hole::default();
    insert(&mut hole, 0, b"ab");
    cut(&mut hole, 2, 100);
    assert_eq!(cut(&mut hole, 50, 120), 50);
    assert_eq!(insert(&mut hole, 119, b"xyz"), 1);
    assert_eq!(pieces(&hole), [(0, 2, &b"ab"[..]), (2, 118, &[]), (120, 2, &b"yz"[..])]);
}

#[test]
fn costs_go_back_to_nothing() {
    let mut hole = Hole { cost: HOLE_COST, ..Hole::default() };
    for at in 0..500 {
        insert(&mut hole, at * 7 % 500, b"xyz");
    }
    while hole.pop().is_some() {}
    assert_eq!((hole.cost, hole.held), (HOLE_COST, 0));
}
