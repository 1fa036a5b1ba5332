//! The wire format of Protocol Buffers: fields read in place, fields written at the end of a `Vec`.
//!
//! * In: the bytes of one message.
//! * Out: tags and values, borrowed; what belongs together is up to the caller.
//! * Owned: nothing.
//! * Bounded by: the length of the input; groups nest [`MAX_GROUPS`] deep.
//! * Lost: nothing. What cannot be read is a [`What`].
//!
//! The reader is as strict as `protobuf-go`: field numbers 1 to 2²⁹-1, varints of at most ten bytes
//! and 64 bits, groups that end with the number they began with. A field that comes with another
//! wire type than its message knows is skipped as an unknown one, because [`tag`] makes number and
//! wire type one value.
//!
//! <https://protobuf.dev/programming-guides/encoding/>

mod read;
mod text;
mod write;

pub use read::{MAX_GROUPS, Reader};
pub use text::Text;
pub use write::{
    bytes_len, int_len, put_bytes, put_double, put_int, put_tag, put_varint, varint_len, with_len,
};

/// Wire type of a varint.
pub const VARINT: u32 = 0;
/// Wire type of eight bytes, little-endian.
pub const FIXED64: u32 = 1;
/// Wire type of bytes with their length before them.
pub const LEN: u32 = 2;
/// Wire type that begins a group.
pub const GROUP: u32 = 3;
/// Wire type that ends a group.
pub const END_GROUP: u32 = 4;
/// Wire type of four bytes, little-endian.
pub const FIXED32: u32 = 5;

/// The tag of field `number` with wire type `wire`: what stands before a value.
#[must_use]
pub const fn tag(number: u32, wire: u32) -> u32 {
    number << 3 | wire
}

/// Why a message cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum What {
    /// A value ends behind the end of its message.
    Truncated,
    /// A varint has more than ten bytes or more than 64 bits.
    BadVarint,
    /// A field number is 0 or too large, or the wire type does not exist.
    BadTag,
    /// A group ends that did not begin, or with another number than it began with.
    BadGroup,
    /// Groups nest deeper than [`MAX_GROUPS`].
    TooDeep,
}
