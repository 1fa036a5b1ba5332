#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| capture::file::fuzz::capture(bytes));
