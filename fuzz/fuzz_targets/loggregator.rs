#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| envelope::fuzz::loggregator(bytes));
