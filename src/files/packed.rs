//! Recordings that are compressed with gzip or zstd: recognised by their first bytes, decompressed while they are read.
//!
//! A file may have several members, one after the other, as `cat a.gz b.gz` makes them. Memory holds a block and the
//! window of the compression: 32 kB for gzip, at most 128 MB for zstd. Damage and a missing end are read errors, so the
//! content before them is kept and the rest is reported as lost.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// An input of any kind.
pub type Input = Box<dyn BufRead + Send>;

/// The text of `input`: unpacked where its first bytes say that it is compressed, else as it is.
///
/// # Errors
/// The input fails within its first bytes.
pub fn unpacked(input: Input) -> io::Result<Input> {
    Ok(known(input)?.0)
}

/// The same, and whether it is unchanged.
///
/// # Errors The input fails within its first bytes.
pub fn known(mut input: Input) -> io::Result<(Input, bool)> {
    // Nearly always enough is available at once, and nothing has to be prepended to the rest.
    if input.fill_buf().is_ok_and(|begins| begins.len() as u64 >= MAGIC && Packing::of(begins).is_none()) {
        return Ok((input, true));
    }
    let head = head(&mut input)?;
    let packing = Packing::of(&head);
    let whole: Input = Box::new(Cursor::new(head).chain(input));
    Ok(match packing {
        None => (whole, true),
        Some(packing) => {
            let members = Members { packing, state: State::Between(whole) };
            (Box::new(BufReader::with_capacity(CHUNK, members)), false)
        }
    })
}

const CHUNK: usize = 1 << 16;
/// Number of bytes by which a compression is recognised.
const MAGIC: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zstd,
}

/// Unpacks member after member.
struct Members {
    packing: Packing,
    state: State,
}

enum State {
    /// Before a member, or at the end.
    Between(Input),
    Gzip(Box<GzDecoder<Input>>),
    Zstd(Input, Box<FrameDecoder>),
    End,
    /// It failed, and keeps failing: an error that is overlooked once must not pass for the end.
    Failed(ErrorKind, String),
}

impl Packing {
    fn of(head: &[u8]) -> Option<Packing> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            // A frame that is to be skipped; parallel compressors begin with one.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }
}

/// The first bytes, fewer only at the end of the input: it may return them one by one.
fn head(input: &mut Input) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(MAGIC).read_to_end(&mut head)?;
    Ok(head)
}

impl Read for Members {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.state {
                State::Between(_) => Ok(0),
                State::Gzip(member) => member.read(into).map_err(|error| self.packing.damage(&error)),
                State::Zstd(input, frame) => decode(input, frame, into),
                State::End => return Ok(0),
                State::Failed(kind, message) => return Err(io::Error::new(*kind, message.clone())),
            };
            let next = match read {
                Ok(0) => self.next(),
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(error) => Err(error),
            };
            self.state = next.unwrap_or_else(|error| State::Failed(error.kind(), error.to_string()));
        }
    }
}

impl Members {
    /// The state after the end of a member.
    fn next(&mut self) -> io::Result<State> {
        let packing = self.packing;
        let (mut input, frame) = match std::mem::replace(&mut self.state, State::End) {
            State::Between(input) => (input, None),
            State::Gzip(member) => (member.into_inner(), None),
            State::Zstd(input, frame) => {
                let stored = frame.get_checksum_from_data();
                if stored.is_some() && stored != frame.get_calculated_checksum() {
                    return Err(packing.damaged("its checksum does not match"));
                }
                (input, Some(frame))
            }
            last @ (State::End | State::Failed(..)) => return Ok(last),
        };
        let head = head(&mut input)?;
        if head.is_empty() {
            return Ok(State::End);
        }
        // Tapes and block devices fill up with zeros, which `gunzip` passes over too.
        if packing == Packing::Gzip && head.iter().all(|byte| *byte == 0) && only_zeros(&mut input)? {
            return Ok(State::End);
        }
        if Packing::of(&head) != Some(packing) {
            return Err(packing.damaged("something else follows it"));
        }
        let mut whole: Input = Box::new(Cursor::new(head).chain(input));
        if packing == Packing::Gzip {
            return Ok(State::Gzip(Box::new(GzDecoder::new(whole))));
        }
        let mut frame = frame.unwrap_or_else(|| Box::new(FrameDecoder::new()));
        match frame.init(&mut whole) {
            Ok(()) => Ok(State::Zstd(whole, frame)),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut (&mut whole).take(length), &mut io::sink())?;
                if skipped < length { Err(packing.ends_early()) } else { Ok(State::Between(whole)) }
            }
            Err(error) => Err(of_frame(error)),
        }
    }
}

impl Packing {
    /// The message for an error of a decoder; an error of the system as it is.
    fn damage(self, error: &io::Error) -> io::Error {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.ends_early(),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => self.damaged("it cannot be unpacked further"),
            kind => io::Error::new(kind, error.to_string()),
        }
    }

    fn ends_early(self) -> io::Error {
        let message = format!("its {} data is cut off", self.name());
        io::Error::new(ErrorKind::UnexpectedEof, message)
    }

    fn damaged(self, how: &str) -> io::Error {
        io::Error::new(ErrorKind::InvalidData, format!("its {} data is damaged: {how}", self.name()))
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }
}

/// Whether nothing but zeros is left.
fn only_zeros(input: &mut Input) -> io::Result<bool> {
    loop {
        let chunk = input.fill_buf()?;
        if chunk.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        let length = chunk.len();
        if length == 0 {
            return Ok(true);
        }
        input.consume(length);
    }
}

/// More of a frame; nothing at its end.
fn decode(input: &mut Input, frame: &mut FrameDecoder, into: &mut [u8]) -> io::Result<usize> {
    while frame.can_collect() == 0 && !frame.is_finished() {
        frame.decode_blocks(&mut *input, BlockDecodingStrategy::UptoBlocks(1)).map_err(of_frame)?;
    }
    frame.read(into)
}

/// An error of the frame decoder in words: its own are for authors of decoders.
fn of_frame(error: FrameDecoderError) -> io::Error {
    let packing = Packing::Zstd;
    match &error {
        FrameDecoderError::WindowSizeTooBig { .. } => {
            let message =
                "its zstd data needs a window of more than 128 MB: unpack it with `unzstd --long=31`";
            return io::Error::new(ErrorKind::Unsupported, message);
        }
        FrameDecoderError::DictNotProvided { .. } => {
            let message =
                "its zstd data was compressed with a dictionary: unpack it with `unzstd -D DICTIONARY`";
            return io::Error::new(ErrorKind::Unsupported, message);
        }
        _ => {}
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(input) = error.downcast_ref::<io::Error>() {
            return packing.damage(input);
        }
        cause = error.source();
    }
    packing.damaged("it cannot be unpacked further")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    /// An input that returns a byte at a time.
    struct Drops(Vec<u8>, usize);

    impl Read for Drops {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match (self.0.get(self.1), into.first_mut()) {
                (Some(byte), Some(slot)) => {
                    *slot = *byte;
                    self.1 += 1;
                    Ok(1)
                }
                _ => Ok(0),
            }
        }
    }

    /// The text that was read, and what the reading failed with.
    fn read(bytes: Vec<u8>) -> (Vec<u8>, Option<String>) {
        let mut input = unpacked(Box::new(BufReader::new(Drops(bytes, 0)))).unwrap();
        let mut text = Vec::new();
        let failed = input.read_to_end(&mut text).err().map(|error| error.to_string());
        // Reading again returns the same error.
        let again = input.fill_buf().err().map(|error| error.to_string());
        assert_eq!(again, failed);
        (text, failed)
    }

    fn long() -> Vec<u8> {
        (0..20_000u32)
            .flat_map(|number| number.wrapping_mul(2_654_435_761).to_string().into_bytes())
            .collect()
    }

    #[test]
    fn members_are_read_one_after_the_other() {
        let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(b"x")].concat();
        for (bytes, text) in [
            (Vec::new(), Vec::new()),
            (b"{}".to_vec(), b"{}".to_vec()),
            (b"\x1f".to_vec(), b"\x1f".to_vec()),
            (gzip(b""), Vec::new()),
            (gzip(b"a\n"), b"a\n".to_vec()),
            ([gzip(b"a\n"), gzip(b""), gzip(b"b\n")].concat(), b"a\nb\n".to_vec()),
            ([gzip(b"a\n"), vec![0; 9]].concat(), b"a\n".to_vec()),
            (gzip(&long()), long()),
            (zstd(b"a\n"), b"a\n".to_vec()),
            ([zstd(b"a\n"), zstd(b"b\n")].concat(), b"a\nb\n".to_vec()),
            (skipped, b"x".to_vec()),
            (zstd(&long()), long()),
        ] {
            assert_eq!(read(bytes.clone()), (text, None), "{:?}", bytes.get(..bytes.len().min(40)));
        }
    }

    #[test]
    fn whatever_is_missing_or_changed_is_an_error() {
        let text = long();
        for (packing, packed) in [("gzip", gzip(&text)), ("zstd", zstd(&text))] {
            for end in [packed.len() - 1, packed.len() / 2, 20, 5] {
                let (read, failed) = read(packed[..end].to_vec());
                assert!(text.starts_with(&read), "{packing} {end}");
                assert_eq!(failed, Some(format!("its {packing} data is cut off")), "{end}");
            }
            for at in [packed.len() - 3, packed.len() / 2, packed.len() / 3] {
                let mut changed = packed.clone();
                changed[at] ^= 0x55;
                let failed = read(changed).1.unwrap_or_default();
                assert!(failed.starts_with(&format!("its {packing} data is ")), "{packing} {at}: {failed}");
            }
            let skipped = [packed.clone(), vec![0x53, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, 1]].concat();
            if packing == "zstd" {
                let told = Some("its zstd data is cut off".to_owned());
                assert_eq!(read(skipped), (text.clone(), told), "a frame to be skipped that is cut off");
            }
            let other = [packed.clone(), b"more".to_vec()].concat();
            let told = format!("its {packing} data is damaged: something else follows it");
            assert_eq!(read(other), (text.clone(), Some(told)));
        }
    }
}
