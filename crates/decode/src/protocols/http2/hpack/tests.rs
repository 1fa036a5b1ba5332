//! The examples of RFC 7541 appendix C, and what is joined late.

use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn decode(block: &mut Block, table: &mut Table, text: &str) -> Vec<Option<String>> {
    block.decode(&hex(text), table).unwrap();
    [Known::Method, Known::Path, Known::Authority, Known::Scheme, Known::Status]
        .map(|known| block.get(known).map(|value| String::from_utf8(value.to_vec()).unwrap()))
        .to_vec()
}

fn request(method: &str, path: &str, authority: &str, scheme: &str) -> Vec<Option<String>> {
    let mut all: Vec<_> = [method, path, authority, scheme].map(|text| Some(text.to_owned())).to_vec();
    all.push(None);
    all
}

#[test]
fn integers() {
    let integer = |bytes: &[u8], bits| integer(&mut Cursor::new(bytes), bits);
    assert_eq!(integer(&[0b1110_1010], 5), Ok(10));
    assert_eq!(integer(&[0b0001_1111, 0b1001_1010, 0b0000_1010], 5), Ok(1_337));
    assert_eq!(integer(&[42], 8), Ok(42));
    assert!(integer(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 7).is_err());
    assert_eq!(integer(&[0xff], 7).unwrap_err().what, What::Truncated);
}

#[test]
fn requests_with_and_without_huffman() {
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let huffman = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [plain, huffman] {
        let (mut block, mut table) = (Block::default(), Table::new(false));
        let host = "www.example.com";
        assert_eq!(decode(&mut block, &mut table, blocks[0]), request("GET", "/", host, "http"));
        assert_eq!(decode(&mut block, &mut table, blocks[1]), request("GET", "/", host, "http"));
        let third = request("GET", "/index.html", host, "https");
        assert_eq!(decode(&mut block, &mut table, blocks[2]), third);
        // §C.3.3: three entries, 164 bytes.
        assert_eq!(table.sizes(), [54, 53, 57]);
    }
}

#[test]
fn responses_with_eviction() {
    let (mut block, mut table) = (Block::default(), Table::new(false));
    assert!(table.resize(256));
    let first = "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a \
                 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d";
    assert_eq!(decode(&mut block, &mut table, first)[4].as_deref(), Some("302"));
    assert_eq!(decode(&mut block, &mut table, "4803 3330 37c1 c0bf")[4].as_deref(), Some("307"));
    assert_eq!(table.sizes(), [42, 63, 65, 52]);
    let third = "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 \
                 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 \
                 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31";
    assert_eq!(decode(&mut block, &mut table, third)[4].as_deref(), Some("200"));
    assert_eq!(table.sizes(), [98, 52, 65]);
}

#[test]
fn what_was_inserted_unseen_is_unknown_and_what_came_later_is_right() {
    let (mut block, mut table) = (Block::default(), Table::new(true));
    // :path by an index that was not seen, then one inserted now, then both.
    assert_eq!(decode(&mut block, &mut table, "82 86 be")[1], None);
    assert!(block.unknown);
    assert_eq!(decode(&mut block, &mut table, "82 44 02 2f61")[1].as_deref(), Some("/a"));
    assert!(!block.unknown);
    assert_eq!(decode(&mut block, &mut table, "82 be bf")[1].as_deref(), Some("/a"));
    assert!(block.unknown);
    // A name that was not seen: the value is none of a known field, and it takes its place in the table.
    assert_eq!(decode(&mut block, &mut table, "7f00 01 78 bf")[1].as_deref(), Some("/a"));
    table.lose();
    assert_eq!(decode(&mut block, &mut table, "be")[1], None);
    assert!(block.decode(&[0xff, 0xff, 0x7f], &mut table).is_err(), "beyond any table");
}

#[test]
fn damage_is_refused() {
    let error = |bytes: &[u8]| {
        Block::default().decode(bytes, &mut Table::new(false)).map_err(|error| error.what).unwrap_err()
    };
    assert_eq!(error(&[0x80]), What::BadCompression);
    assert_eq!(error(&[0xbe]), What::BadCompression);
    assert_eq!(error(&[0x3f, 0xe2, 0x1f]), What::BadCompression);
    assert_eq!(error(&[0x44, 0x05, b'/']), What::Truncated);
    assert_eq!(error(&[0x44, 0x81, 0xff]), What::BadCompression);
    // Many references to one large value copy it once.
    let mut bomb = [&[0x44, 0x7f, 0xa1, 0x1e][..], &[b'a'; 4_000]].concat();
    bomb.extend([0xbe; 60_000]);
    let mut block = Block::default();
    block.decode(&bomb, &mut Table::new(false)).unwrap();
    assert_eq!(block.text.len(), 4_000);
}
