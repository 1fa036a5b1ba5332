fn main() {
    let mut live = capture::live::Live::open(&capture::live::LiveOptions {
        interfaces: vec!["lo".into()],
        ring_bytes: 4 << 20,
        block_bytes: 1 << 16,
        retire: std::time::Duration::from_millis(5),
        ..Default::default()
    })
    .unwrap();
    let s = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let t = std::time::Instant::now();
    let mut last = 0;
    for i in 0..200 {
        if i % 20 == 0 {
            s.send_to(b"hello", "127.0.0.1:9").unwrap();
            println!("sent at {:?}", t.elapsed());
        }
        let n = live.poll(std::time::Duration::from_millis(20), &mut |_| {}).unwrap();
        if n > 0 || i % 20 < 3 {
            println!("{i} {n} {:?}", t.elapsed());
        }
        last = n;
    }
    let _ = last;
}
