//! What the ring's walk costs: datagrams over loopback into a ring, walked by a closure that only counts.
//! The bare kernel path, against which everything behind it is compared.
//!
//! Each round fills the ring (the sender's work) and then walks it, so that the processor time of the two
//! does not mix; the rounds end after the given time at the latest.
//!
//! `cargo run --release -p capture --example ring_ratio -- [SECONDS] [PAYLOAD_BYTES] [FILTER]`

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use capture::filter::Program;
use capture::live::{Live, LiveOptions};

/// Datagrams of a round: with 1400 bytes each they take 24 of the ring's 32 MiB.
const ROUND: usize = 16_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let payload = vec![0u8; arguments.next().map_or(Ok(100), |text| text.parse())?];
    let filter = arguments.next().map(|text| Program::compile(&text)).transpose()?;
    let interfaces = vec!["lo".to_owned()];
    let mut live =
        Live::open(&LiveOptions { interfaces, filter: filter.as_ref(), ..LiveOptions::default() })?;
    let receiver = UdpSocket::bind("127.0.0.1:0")?;
    let sender = UdpSocket::bind("127.0.0.1:0")?;
    sender.connect(receiver.local_addr()?)?;

    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut frames, mut bytes, mut sent) = (0u64, 0u64, 0u64);
    let (mut sending, mut walking) = (Duration::ZERO, Duration::ZERO);
    while Instant::now() < end {
        let start = Instant::now();
        for _ in 0..ROUND {
            sender.send(&payload)?;
        }
        sending += start.elapsed();
        sent += ROUND as u64;
        // The last block is handed over when its time is up; waiting for it is not walking.
        std::thread::sleep(2 * capture::live::RETIRE);
        let start = Instant::now();
        let mut walked = 1;
        while walked > 0 {
            walked = live.poll(Duration::ZERO, &mut |frame| {
                bytes += u64::from(frame.wire_len) + u64::from(frame.bytes.first().copied().unwrap_or(0));
            })?;
            frames += walked as u64;
        }
        walking += start.elapsed();
    }
    let per = |time: Duration, count: u64| time.as_nanos() as f64 / count.max(1) as f64;
    println!("sent {sent} datagrams of {} bytes, {:.0} ns each", payload.len(), per(sending, sent));
    println!(
        "walked {frames} frames, {bytes} bytes: {:.1} ns a frame, {:.1} million frames/s",
        per(walking, frames),
        1_000.0 / per(walking, frames)
    );
    println!("{:?}", live.drops());
    Ok(())
}
