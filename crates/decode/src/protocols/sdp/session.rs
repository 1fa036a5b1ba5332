//! The walk over the lines of a body.

use super::media::{Media, connection};
use crate::text::Text;

/// How many media of one body are shown.
pub const MAX_MEDIA: usize = 16;

/// Calls `found` for each media description in `body`, at most [`MAX_MEDIA`] times, and returns
/// how many `m=` lines with a port there are.
///
/// `body` may be plain SDP or a multipart (RFC 2046 §5.1): a description starts at a `v=` line and
/// ends at the next boundary, so other parts are never read as SDP. Takes one pass, does not
/// allocate; the parts of [`Media`] borrow from `body`.
pub fn media<'a>(body: &'a [u8], mut found: impl FnMut(&Media<'a>)) -> usize {
    let mut walk = Walk { inside: is_line(body), ..Walk::default() };
    let mut rest = Text::new(body);
    while !rest.is_empty() {
        let (line, after) = rest.split_before([b'\n']);
        rest = after.skip(1);
        walk.line(line.trim_end(), &mut found);
    }
    walk.close(&mut found);
    walk.seen
}

/// Whether `text` starts with `x=`, as each line of SDP does.
const fn is_line(text: &[u8]) -> bool {
    matches!(text, [b'a'..=b'z', b'=', ..])
}

#[derive(Default)]
struct Walk<'a> {
    inside: bool,
    session: Option<&'a [u8]>,
    open: Option<Media<'a>>,
    seen: usize,
}

impl<'a> Walk<'a> {
    fn line(&mut self, line: Text<'a>, found: &mut impl FnMut(&Media<'a>)) {
        let value = line.skip(2);
        match line.get() {
            [b'v', b'=', ..] => {
                self.close(found);
                self.session = None;
                self.inside = true;
            }
            [b'-', b'-', ..] => {
                self.close(found);
                self.inside = false;
            }
            _ if !self.inside => {}
            [b'm', b'=', ..] => {
                self.close(found);
                self.open = Media::parse(value).map(|media| Media { address: self.session, ..media });
            }
            [b'c', b'=', ..] => match (&mut self.open, connection(value)) {
                (Some(media), Some(address)) => media.address = Some(address),
                (None, Some(address)) => self.session = self.session.or(Some(address)),
                (_, None) => {}
            },
            [b'a', b'=', ..] => {
                if let Some(media) = &mut self.open {
                    media.attribute(value);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, found: &mut impl FnMut(&Media<'a>)) {
        if let Some(media) = self.open.take() {
            if self.seen < MAX_MEDIA {
                found(&media);
            }
            self.seen = self.seen.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(body: &[u8]) -> Vec<Media<'_>> {
        let mut list = Vec::new();
        media(body, |m| list.push(*m));
        list
    }

    /// The example of RFC 8866 §5, shortened.
    const SESSION: &[u8] = b"v=0\r\no=jdoe 3724394400 3724394405 IN IP4 198.51.100.1\r\ns=Call\r\n\
        c=IN IP4 198.51.100.1\r\nt=0 0\r\na=rtpmap:9 ignored/1\r\nm=audio 49170 RTP/AVP 0\r\n\
        m=audio 49180/2 RTP/AVP 9\r\na=rtcp:53020 IN IP6 2001:db8::a\r\n\
        m=video 51372 RTP/SAVPF 99 100\r\nc=IN IP6 2001:db8::2/3\r\na=rtpmap:100 VP8/90000\r\n\
        a=rtpmap:99 h263-1998/90000\r\na=rtcp-mux\r\n";

    #[test]
    fn session_and_media_lines() {
        let list = all(SESSION);
        assert_eq!(list.len(), 3);
        assert_eq!((list[0].kind, list[0].port, list[0].ports), (&b"audio"[..], 49170, 1));
        assert_eq!(list[0].address, Some(&b"198.51.100.1"[..]));
        assert_eq!(list[0].codec, Some(&b"PCMU"[..]));
        assert_eq!(list[0].rtcp(), Some(49171));
        assert_eq!((list[1].ports, list[1].rtcp_port, list[1].rtcp()), (2, Some(53020), Some(53020)));
        assert_eq!(list[1].rtcp_address, Some(&b"2001:db8::a"[..]));
        assert_eq!(list[1].codec, Some(&b"G722"[..]));
        assert_eq!(list[2].transport, b"RTP/SAVPF");
        assert_eq!(list[2].ip(), "2001:db8::2".parse().ok());
        assert_eq!((list[2].codec, list[2].clock_hz), (Some(&b"h263-1998"[..]), Some(90000)));
        assert_eq!(list[2].rtcp(), Some(51372));
    }

    #[test]
    fn inside_of_a_multipart() {
        let mut body =
            b"preamble\r\nm=audio 1 RTP/AVP 0\r\n--b\r\nContent-Type: application/sdp\r\n\r\n".to_vec();
        body.extend_from_slice(SESSION);
        body.extend_from_slice(
            b"\r\n--b\r\nContent-Type: application/isup\r\n\r\n\x01\x10\nm=audio 2 RTP/AVP 0\n--b--\r\n",
        );
        let ports: Vec<u16> = all(&body).iter().map(|m| m.port).collect();
        assert_eq!(ports, [49170, 49180, 51372]);
    }

    #[test]
    fn the_second_session_forgets_the_first() {
        let body = b"v=0\nc=IN IP4 1.1.1.1\nm=audio 1 X 0\nv=0\nm=audio 2 X 0";
        let list = all(body);
        assert_eq!(list[0].address, Some(&b"1.1.1.1"[..]));
        assert_eq!(list[1].address, None);
    }

    #[test]
    fn bounded_and_counted() {
        let mut body = b"v=0\r\n".to_vec();
        for _ in 0..40 {
            body.extend_from_slice(b"m=audio 9 RTP/AVP 0\r\n");
        }
        assert_eq!(all(&body).len(), MAX_MEDIA);
        assert_eq!(media(&body, |_| {}), 40);
    }

    #[test]
    fn refused_media_and_broken_lines() {
        let list = all(b"v=0\r\nm=audio 0 RTP/AVP 8\r\nm=audio x RTP/AVP 0\r\nm=\r\nc=IN\r\na=\r\na=rtcp:\r\nm=image 9 udptl t38");
        assert_eq!(list.len(), 2);
        assert_eq!(list[0].rtcp(), None);
        assert_eq!((list[1].format, list[1].codec), (Some(&b"t38"[..]), None));
        assert!(all(b"").is_empty());
        assert!(all(b"{\"m=audio\": 1}").is_empty());
        assert_eq!(Media { port: u16::MAX, ..Media::default() }.rtcp(), None);
    }
}
