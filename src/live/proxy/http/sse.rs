//! Server-sent events, parsed by the HTML standard, in whatever pieces they arrive.

/// The most bytes of one event. A longer one is an error.
pub const LIMIT: usize = 64 << 20;

/// The parser of a stream's events; it continues with the next connection of the same stream.
#[derive(Debug, Default)]
pub struct Reader {
    /// The line that has not ended.
    line: Vec<u8>,
    /// The data lines of the event that has not ended, each with a line feed.
    data: Vec<u8>,
    kind: Vec<u8>,
    id: Vec<u8>,
    /// The id of the last event that ended.
    last_id: Vec<u8>,
    retry: Option<u64>,
    /// The last byte was a carriage return, which may be the first half of a line's end.
    half: bool,
    /// Whether a line has been read: a byte order mark comes before all of them.
    begun: bool,
}

/// An event is larger than [`LIMIT`].
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Reader {
    /// Reads the next bytes, and returns the data of each message that ended in them.
    ///
    /// # Errors An event is too long. Nothing more can be read then.
    pub fn push(&mut self, bytes: &[u8], mut message: impl FnMut(&[u8])) -> Result<(), TooLong> {
        let mut rest = bytes;
        if self.half && !rest.is_empty() {
            self.half = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (part, after) = rest.split_at(end);
            self.line.extend_from_slice(part);
            self.within()?;
            rest = match after.strip_prefix(b"\r") {
                Some([]) => {
                    self.half = true;
                    &[]
                }
                Some(next) => next.strip_prefix(b"\n").unwrap_or(next),
                None => after.get(1..).unwrap_or_default(),
            };
            let line = std::mem::take(&mut self.line);
            self.read(&line, &mut message);
            self.line = line;
            self.line.clear();
        }
        self.line.extend_from_slice(rest);
        self.within()
    }

    /// The connection has ended: an event that has not is not one.
    pub fn end(&mut self) {
        let (last_id, retry) = (std::mem::take(&mut self.last_id), self.retry);
        *self = Reader { id: last_id.clone(), last_id, retry, ..Reader::default() };
    }

    /// The id of the last event, after which a server continues.
    pub fn last_id(&self) -> Option<&[u8]> {
        Some(&*self.last_id).filter(|id| !id.is_empty())
    }

    /// How long to wait before reconnecting, in milliseconds, if the server has said so.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    fn within(&self) -> Result<(), TooLong> {
        if self.line.len().saturating_add(self.data.len()) > LIMIT { Err(TooLong) } else { Ok(()) }
    }

    fn read(&mut self, line: &[u8], message: &mut impl FnMut(&[u8])) {
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if !self.begun => rest,
            _ => line,
        };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch(message);
        }
        let (name, value) = match memchr::memchr(b':', line) {
            // A comment, which keeps the connection alive.
            Some(0) => return,
            Some(colon) => {
                let (name, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match name {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => self.kind = value.to_owned(),
            b"id" if !value.contains(&0) => self.id = value.to_owned(),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let number = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                self.retry = number.or(self.retry);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, message: &mut impl FnMut(&[u8])) {
        self.last_id.clone_from(&self.id);
        // Events of other kinds are not part of MCP. One without data only says where to continue.
        if matches!(&*self.kind, b"" | b"message")
            && let Some(data) = self.data.strip_suffix(b"\n").filter(|data| !data.is_empty())
        {
            message(data);
        }
        self.kind.clear();
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// The messages of a stream that arrives in these pieces, with the id and the pause after it.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, Option<String>, Option<u64>) {
        let (mut reader, mut messages) = (Reader::default(), Vec::new());
        for piece in pieces {
            let message = |data: &[u8]| messages.push(String::from_utf8_lossy(data).into_owned());
            reader.push(piece, message).unwrap();
        }
        let id = reader.last_id().map(|id| String::from_utf8_lossy(id).into_owned());
        (messages, id, reader.retry())
    }

    #[rstest]
    #[case::one("data: {}\n\n", &["{}"], None, None)]
    #[case::no_space("data:{}\n\n", &["{}"], None, None)]
    #[case::one_space_only("data:  x\n\n", &[" x"], None, None)]
    #[case::crlf("event: message\r\ndata: {}\r\n\r\n", &["{}"], None, None)]
    #[case::cr("data: a\rdata: b\r\r", &["a\nb"], None, None)]
    #[case::mixed("data: a\r\ndata: b\ndata: c\r\r\n", &["a\nb\nc"], None, None)]
    #[case::several("data: a\n\ndata: b\n\n\n\ndata: c\n\n", &["a", "b", "c"], None, None)]
    #[case::comment(": ping\n\n:\ndata: a\n: more\n\n", &["a"], None, None)]
    #[case::other_kinds("event: endpoint\ndata: /x\n\nevent: ping\ndata: y\n\ndata: z\n\n", &["z"], None, None)]
    #[case::no_data("id: 7\n\nevent: message\n\n", &[], Some("7"), None)]
    #[case::empty_data("id: 7\ndata:\n\n", &[], Some("7"), None)]
    #[case::field_without_colon("data\n\ndata\ndata\n\n", &["\n"], None, None)]
    #[case::id_lasts("id: 7\ndata: a\n\ndata: b\n\n", &["a", "b"], Some("7"), None)]
    #[case::id_is_reset("id: 7\ndata: a\n\nid\ndata: b\n\n", &["a", "b"], None, None)]
    #[case::id_with_nul("id: 7\n\nid: 8\0\n\n", &[], Some("7"), None)]
    #[case::id_of_what_did_not_end("id: 7\ndata: a\n\nid: 8\ndata: b\n", &["a"], Some("7"), None)]
    #[case::retry("retry: 250\n\n", &[], None, Some(250))]
    #[case::retry_that_is_none("retry: 250\nretry: 1s\nretry: -1\nretry:\n\n", &[], None, Some(250))]
    #[case::byte_order_mark("\u{feff}data: a\n\n\u{feff}data: b\n\n", &["a"], None, None)]
    #[case::unknown_fields("Data: x\ndatas: x\n data: x\ndata: a\n\n", &["a"], None, None)]
    #[case::letters("data: \"ä€😀\"\n\n", &["\"ä€😀\""], None, None)]
    #[case::unfinished("data: a\n", &[], None, None)]
    #[case::colons("data: a:b: c\n\n", &["a:b: c"], None, None)]
    fn a_stream_is_read_as_the_standard_says(
        #[case] text: &str,
        #[case] messages: &[&str],
        #[case] id: Option<&str>,
        #[case] retry: Option<u64>,
    ) {
        let expected = (messages.iter().map(|&text| text.to_owned()).collect(), id.map(str::to_owned), retry);
        assert_eq!(read([text.as_bytes()]), expected);
        assert_eq!(read(text.as_bytes().chunks(1)), expected, "byte by byte");
    }

    #[test]
    fn a_new_connection_goes_on_after_the_last_event() {
        let mut reader = Reader::default();
        let mut messages = Vec::new();
        reader
            .push(b"id: 1\ndata: a\n\nid: 2\ndata: cut off\r", |data| messages.push(data.to_owned()))
            .unwrap();
        reader.end();
        assert_eq!(reader.last_id(), Some(&b"1"[..]));
        reader.push(b"\n\ndata: b\n\n", |data| messages.push(data.to_owned())).unwrap();
        assert_eq!((messages, reader.last_id()), (vec![b"a".to_vec(), b"b".to_vec()], Some(&b"1"[..])));
    }

    #[test]
    fn an_event_without_end_is_not_kept() {
        let mut reader = Reader::default();
        let line = [b"data: ".as_slice(), &[b'x'; 1 << 20], b"\n"].concat();
        let read = (0..100).try_for_each(|_| reader.push(&line, |_| panic!("no event ends")));
        assert_eq!(read, Err(TooLong));
        let mut reader = Reader::default();
        let read = (0..100).try_for_each(|_| reader.push(&[b'x'; 1 << 20], |_| panic!("no event ends")));
        assert_eq!(read, Err(TooLong));
    }

    /// Lines as a server writes them, whole and damaged.
    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            Just(b"data: {\"a\":1}".to_vec()),
            Just("data: ä€".as_bytes().to_vec()),
            Just(b"id: 5".to_vec()),
            Just(b"event: other".to_vec()),
            Just(b": ping".to_vec()),
            Just(b"".to_vec()),
            Just(b"\xef\xbb\xbfdata: x".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..12),
        ];
        let end = prop_oneof![Just(&b"\n"[..]), Just(&b"\r"[..]), Just(&b"\r\n"[..])];
        proptest::collection::vec((line, end), 0..12).prop_map(|lines| {
            lines.into_iter().flat_map(|(line, end)| [line, end.to_vec()].concat()).collect()
        })
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(text in lines(), cuts in proptest::collection::vec(any::<usize>(), 0..8)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
            prop_assert_eq!(read(pieces), read([&text[..]]));
        }

        /// An oracle of another make: the text is split into lines first, and lines into events.
        #[test]
        fn another_reader_finds_the_same(text in lines()) {
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
            let (mut lines, mut line, mut bytes) = (Vec::new(), Vec::new(), text.iter().peekable());
            while let Some(&byte) = bytes.next() {
                if byte == b'\r' {
                    bytes.next_if(|&&next| next == b'\n');
                }
                if matches!(byte, b'\r' | b'\n') {
                    lines.push(std::mem::take(&mut line));
                } else {
                    line.push(byte);
                }
            }
            let mut messages = Vec::new();
            while let Some(end) = lines.iter().position(Vec::is_empty) {
                let event: Vec<Vec<u8>> = lines.drain(..=end).collect();
                let value = |name: &str| -> Vec<Vec<u8>> {
                    let cut = |line: &Vec<u8>| {
                        if line == name.as_bytes() {
                            return Some(Vec::new());
                        }
                        let value = line.strip_prefix(name.as_bytes())?.strip_prefix(b":")?;
                        Some(value.strip_prefix(b" ").unwrap_or(value).to_vec())
                    };
                    event.iter().filter_map(cut).collect()
                };
                let (kind, data) = (value("event").pop().unwrap_or_default(), value("data").join(&b'\n'));
                if matches!(&*kind, b"" | b"message") && !data.is_empty() {
                    messages.push(String::from_utf8_lossy(&data).into_owned());
                }
            }
            prop_assert_eq!(read([text]).0, messages);
        }
    }
}
