//! The processor's cycle counter: the cheapest clock there is.
//!
//! In: nothing. Out: a number that grows at a steady rate on every core of the machine, good for durations and for
//! nothing else. It is not ordered against the instructions around it: a reading may be some dozen instructions early
//! or late, which does not matter to who measures batches. Cost: about 10 ns, no system call.
//!
//! On x86-64 it is the time stamp counter (Intel SDM volume 3, section 19.17: constant and running in all power states
//! on processors of the last fifteen years), on AArch64 the virtual counter `CNTVCT_EL0` (Arm ARM, D12.2), which Linux
//! opens to programs; elsewhere the system's monotonic clock.

/// The counter now.
#[inline]
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub fn now() -> u64 {
    // SAFETY: the instruction reads a counter into registers and touches no memory. Linux leaves it open to programs
    // (CR4.TSD is clear) unless a process asked for the opposite with prctl(PR_SET_TSC), which this one does not.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The counter now.
#[inline]
#[cfg(all(target_arch = "aarch64", not(miri)))]
pub fn now() -> u64 {
    let count: u64;
    // SAFETY: the instruction reads a counter into one register; it touches neither memory, stack nor flags. Linux
    // leaves it open to programs (CNTKCTL_EL1.EL0VCTEN).
    unsafe {
        core::arch::asm!("mrs {count}, cntvct_el0", count = out(reg) count, options(nomem, nostack, preserves_flags));
    }
    count
}

/// The counter now: nanoseconds since the first call.
#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
pub fn now() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let since = START.get_or_init(std::time::Instant::now).elapsed();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::now;

    #[test]
    fn it_grows() {
        let first = now();
        std::thread::sleep(std::time::Duration::from_millis(2));
        // Two milliseconds are 2,000 ticks of the slowest counter in use, 1 MHz.
        assert!(now().saturating_sub(first) >= 2_000);
    }
}
