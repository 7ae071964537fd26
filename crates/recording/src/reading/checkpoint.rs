//! The state at the end of a file, from which reading continues once the file has grown.

use std::io::BufRead;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Reading;
use crate::FORMATS;
use crate::contract::Options;
use crate::contract::out::Out;
use crate::finish::{Counted, Finish};
use crate::input::units::{LARGEST, Units};
use crate::recognise::SAMPLE_VALUES;

/// What the rest of a file needs of everything before it, if each line is a session of its own.
#[derive(Clone, Serialize, Deserialize)]
pub struct Checkpoint {
    format: String,
    lines: u64,
    /// Places that were lost and belong to no session.
    lost: u64,
    /// Diagnostics of the file that come before those of its end, which are reported again at another end.
    pub diagnostics: usize,
    counted: Counted,
}

impl Reading {
    /// The state at the end, once there is no further session. `None` if what follows could change what was read: a
    /// session may continue in the next line, the last line may be incomplete, a result may show that results are
    /// recorded, or more lines may make it a recording of another format.
    pub fn checkpoint(&mut self) -> Option<Checkpoint> {
        let by_lines = self.lone && !self.following && self.ended && self.out.more == 0;
        let lines = self.units.whole_lines().filter(|_| by_lines && self.units.at_end())?;
        let counted = self.finish.counted().filter(|counted| counted.index >= SAMPLE_VALUES)?;
        Some(Checkpoint {
            format: self.format.name.to_owned(),
            lines,
            lost: self.out.lost,
            diagnostics: self.told_before_end?,
            counted: counted.clone(),
        })
    }
}

/// Continues reading after a checkpoint: `input` is what follows it. `None` if there is no format of its name.
pub fn resume(
    file: impl Into<Arc<str>>,
    input: Box<dyn BufRead + Send>,
    options: &Options,
    checkpoint: Checkpoint,
) -> Option<Reading> {
    let file = file.into();
    let Checkpoint { format, lines, lost, diagnostics, counted } = checkpoint;
    let format = FORMATS.iter().find(|known| known.name == format)?;
    let out = Out::after(counted.index, lost);
    let finish = Finish::resume(&file, format, options, counted);
    let units = Units::after(lines, input, LARGEST);
    Some(Reading { out, told: diagnostics, ..Reading::new(file, format, units, finish, options) })
}
