//! UDP faster than it can be taken: every datagram sent is a row or a counted loss.

mod common;

use common::packets::options;
use common::{Server, balanced, dropped, folder, lost_before_sockets};
use listen::send::{Mode, Until, udp};

const SENDERS: u64 = 3;
const EACH: u64 = 60_000;
/// With a buffer this small a round loses something; if one does not, another follows.
const ROUNDS: u64 = 20;

/// Floods a server and checks that nothing is lost from sight. Answers what the kernel dropped.
fn flood(mode: Mode, more: &[&str]) -> u64 {
    let data = folder();
    let mut arguments = vec!["--set", "hep.rcvbuf_bytes=65536"];
    arguments.extend(more);
    let server = Server::start(data.path(), &arguments);
    let address = server.udp();
    // Packets of one length, as segmentation offload wants them.
    let packets: Vec<Vec<u8>> = (100..164).map(|number| options(&format!("flood-{number}"))).collect();
    let mut sent = 0;
    let before = lost_before_sockets();
    let mut ledger = server.ledger();
    for _ in 0..ROUNDS {
        std::thread::scope(|scope| {
            let send = || udp(address, &packets, mode, &Until::Count(EACH)).unwrap();
            let senders: Vec<_> = (0..SENDERS).map(|_| scope.spawn(send)).collect();
            sent += senders.into_iter().map(|sender| sender.join().unwrap()).sum::<u64>();
        });
        // The machine's own queue in front of the sockets may overflow too; that is not the server's to count.
        let elsewhere = lost_before_sockets() - before;
        assert_eq!(sent % (SENDERS * EACH), 0);
        ledger = server.settled(sent - elsewhere);
        assert_eq!(
            ledger["in"]["total"],
            sent - elsewhere,
            "lost in front of the sockets: {elsewhere}\n{ledger:#}"
        );
        balanced(&ledger);
        if dropped(&ledger, "kernel_buffer") > 0 {
            break;
        }
    }
    let lost = dropped(&ledger, "kernel_buffer");
    assert!(lost > 0, "nothing overflowed: {ledger:#}");
    assert_eq!(ledger["drops_total"], lost, "{ledger:#}");
    let rows = server.rows("sip");
    assert_eq!(ledger["out"]["sip"], rows);
    println!("{mode:?} {more:?}: sent {sent}, rows {rows}, lost in the kernel {lost}");
    let last = server.stop().well();
    assert_eq!(last["in"], ledger["in"]);
    assert_eq!(last["store"]["durable"], rows);
    lost
}

#[test]
fn rows_and_losses_are_what_was_sent() {
    flood(Mode::Plain, &[]);
    flood(Mode::Sendmmsg, &["--shards", "1"]);
    flood(Mode::Sendmmsg, &["--set", "hep.gro=false"]);
}

#[test]
fn also_of_senders_with_segmentation_offload() {
    flood(Mode::Gso, &[]);
    flood(Mode::Gso, &["--shards", "1"]);
    flood(Mode::Gso, &["--set", "hep.gro=false"]);
}
