//! The C library's heaps, kept as small as what the master holds.
//!
//! By default each thread or two gets a heap of its own, and buffers come from the heaps once some as large were freed. What
//! lives long then keeps pages among what lived for a moment, in every heap: a master that holds 8 MB grew to 20 MB over a
//! thousand jobs, and went on growing.

/// Heaps: enough that the core's thread seldom waits for another's allocation.
#[cfg(target_env = "gnu")]
const HEAPS: std::ffi::c_int = 2;
/// From so many bytes on an allocation is a mapping of its own, which goes back to the system as soon as it is freed. It is the
/// library's first choice, which it raises to what it sees freed unless it is set.
#[cfg(target_env = "gnu")]
const OWN_MAPPING: std::ffi::c_int = 128 << 10;

/// Says so to the C library. It counts for heaps that are not there yet, so it comes before the first threads.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the C library's function is not in any safe interface")]
pub fn keep_small() {
    // SAFETY: it takes no pointer and may be called by any thread at any time.
    let set = |what, value| unsafe { libc::mallopt(what, value) } == 1;
    // A library that does not know them goes on as it does.
    let _ = set(libc::M_ARENA_MAX, HEAPS) && set(libc::M_MMAP_THRESHOLD, OWN_MAPPING);
}

/// There is nothing to say to other libraries.
#[cfg(not(target_env = "gnu"))]
pub fn keep_small() {}

/// Gives free pages of all heaps back to the system: a millisecond for each few dozen MB, in which whoever needs the same heap
/// waits.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the C library's function is not in any safe interface")]
pub(crate) fn give_back() {
    // SAFETY: it takes no pointer and may be called by any thread at any time.
    let gave = unsafe { libc::malloc_trim(0) };
    tracing::debug!(gave = gave == 1, "free memory goes back to the system");
}

/// Other libraries do as they think best.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn give_back() {}
