//! Certificates that are not what they should be, and their renewal.

use loggregator::Cause;
use rcgen::KeyPair;

use super::certs::{Authority, Valid};
use super::peer::{Mode, Peer, server_config};
use super::*;

async fn peer(authority: &Authority, host: &str, valid: Valid) -> Peer {
    authority.issue("server", host, valid);
    Peer::start(Some(server_config(authority, "server")), Mode::Take).await
}

#[tokio::test]
async fn our_expired_certificate_is_named_and_a_renewed_one_is_used() {
    let authority = Authority::new();
    let peer = peer(&authority, "metron", Valid::Now).await;
    let expired = authority.issue("client", "client", Valid::Before);
    let destination = start(settings(peer.address, Some(authority.client_with(expired))));
    offer(&destination, 0..100);
    until("it was refused", || destination.counters().ended(Cause::OwnExpired) > 1).await;
    assert_eq!(destination.counters().sent.envelopes, 0);
    authority.issue("client", "client", Valid::Now);
    until_sent(&destination, 100).await;
    assert_numbers(&peer.in_order(), 0..100);
}

#[tokio::test]
async fn files_that_cannot_be_used_are_tried_again() {
    let authority = Authority::new();
    let peer = peer(&authority, "metron", Valid::Now).await;
    let identity = authority.issue("client", "client", Valid::Now);
    let good = std::fs::read(&identity.key).unwrap();
    std::fs::write(&identity.key, b"no key").unwrap();
    let destination = start(settings(peer.address, Some(authority.client_with(identity.clone()))));
    offer(&destination, 0..10);
    let failed = || destination.counters().ended(Cause::OwnCertificate);
    until("no key", || failed() > 0).await;
    // The key of another certificate.
    authority.issue("other", "other", Valid::Now);
    std::fs::copy(authority.files("other").key, &identity.key).unwrap();
    let before = failed();
    until("the wrong key", || failed() > before + 1).await;
    std::fs::write(&identity.key, good).unwrap();
    until_sent(&destination, 10).await;
}

#[tokio::test]
async fn a_receiver_that_is_not_who_it_should_be_gets_nothing() {
    let authority = Authority::new();
    for (host, valid, cause) in
        [("metron", Valid::Before, Cause::PeerExpired), ("doppler", Valid::Now, Cause::PeerCertificate)]
    {
        let peer = peer(&authority, host, valid).await;
        let destination = start(settings(peer.address, Some(authority.client())));
        offer(&destination, 0..10);
        until("it was not trusted", || destination.counters().ended(cause) > 1).await;
        assert_eq!((destination.counters().sent.envelopes, peer.connections()), (0, 0));
    }
    // Of another authority.
    let other = Authority::new();
    let peer = peer(&other, "metron", Valid::Now).await;
    let destination = start(settings(peer.address, Some(authority.client())));
    until("it was not trusted", || destination.counters().ended(Cause::PeerCertificate) > 0).await;
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn keys_of_every_kind_are_read() {
    let authority = Authority::new();
    let peer = peer(&authority, "metron", Valid::Now).await;
    let (rsa, ec) = (include_str!("keys/rsa-pkcs8.pem"), include_str!("keys/ec-pkcs8.pem"));
    for (kind, pkcs8, used) in [
        ("RSA in PKCS#8", rsa, rsa),
        ("RSA in PKCS#1", rsa, include_str!("keys/rsa-pkcs1.pem")),
        ("ECDSA in PKCS#8", ec, ec),
        ("ECDSA in SEC 1", ec, include_str!("keys/ec-sec1.pem")),
    ] {
        let key = KeyPair::from_pem(pkcs8).unwrap();
        let identity = authority.issue_for("client", "client", Valid::Now, &key, used);
        let destination = start(settings(peer.address, Some(authority.client_with(identity))));
        offer(&destination, 0..10);
        let counters = destination.stop(LONG).await;
        assert_eq!(counters.sent.envelopes, 10, "{kind}: {counters:?}");
    }
}
