//! The same tables as Parquet files, in which each column has its type.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::value::RawValue;

use rulestep_engine::replay::Counts;

/// Rows that are written together, and bytes of them that are held until then.
const ROWS: usize = 1 << 16;
const BYTES: usize = 16 << 20;

/// A column: its name, what it holds, and whether it may hold nothing.
type Column = (&'static str, Kind, bool);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Boolean,
    Time,
    /// Any value, as the text of its JSON.
    Json,
}

const NEVER: bool = false;
const PERHAPS: bool = true;

const SESSIONS: &[Column] = &[
    ("session", Kind::Text, NEVER),
    ("id", Kind::Text, NEVER),
    ("parent", Kind::Text, PERHAPS),
    ("file", Kind::Text, NEVER),
    ("index", Kind::Integer, NEVER),
    ("format", Kind::Text, NEVER),
    ("title", Kind::Text, PERHAPS),
    ("at", Kind::Time, PERHAPS),
    ("project", Kind::Text, PERHAPS),
    ("branch", Kind::Text, PERHAPS),
    ("agent", Kind::Text, PERHAPS),
    ("context", Kind::Json, PERHAPS),
    ("policy", Kind::Text, NEVER),
    ("mode", Kind::Text, NEVER),
    ("status", Kind::Text, NEVER),
    ("violated_rules", Kind::Integer, NEVER),
];

const CALLS: &[Column] = &[
    ("session", Kind::Text, NEVER),
    ("session_file", Kind::Text, NEVER),
    ("session_index", Kind::Integer, NEVER),
    ("turn", Kind::Integer, NEVER),
    ("call", Kind::Integer, NEVER),
    ("index", Kind::Integer, NEVER),
    ("id", Kind::Text, PERHAPS),
    ("tool", Kind::Text, NEVER),
    ("arguments", Kind::Json, PERHAPS),
    ("at", Kind::Time, PERHAPS),
    ("outcome", Kind::Text, NEVER),
    ("decision", Kind::Text, NEVER),
    ("agrees", Kind::Boolean, NEVER),
    ("counterfactual", Kind::Boolean, NEVER),
    ("live_decision", Kind::Text, PERHAPS),
    ("live_mode", Kind::Text, PERHAPS),
    ("live_policy", Kind::Text, PERHAPS),
    ("live_change", Kind::Text, PERHAPS),
    ("rule", Kind::Text, PERHAPS),
    ("rule_name", Kind::Text, PERHAPS),
    ("code", Kind::Text, PERHAPS),
    ("reason", Kind::Text, PERHAPS),
    ("project", Kind::Text, PERHAPS),
    ("context", Kind::Json, PERHAPS),
];

const FINDINGS: &[Column] = &[
    ("session", Kind::Text, NEVER),
    ("session_file", Kind::Text, NEVER),
    ("session_index", Kind::Integer, NEVER),
    ("turn", Kind::Integer, PERHAPS),
    ("call", Kind::Integer, PERHAPS),
    ("index", Kind::Integer, PERHAPS),
    ("tool", Kind::Text, PERHAPS),
    ("rule", Kind::Text, NEVER),
    ("rule_name", Kind::Text, NEVER),
    ("dialect", Kind::Text, NEVER),
    ("file", Kind::Text, NEVER),
    ("line", Kind::Integer, NEVER),
    ("kind", Kind::Text, NEVER),
    ("code", Kind::Text, PERHAPS),
    ("decided", Kind::Boolean, NEVER),
    ("message", Kind::Text, PERHAPS),
    ("reason", Kind::Text, PERHAPS),
];

/// The values of a column that are not written yet, and for each row whether there is one.
struct Values {
    values: Typed,
    there: Vec<i16>,
}

enum Typed {
    Texts(Vec<ByteArray>),
    Integers(Vec<i64>),
    Booleans(Vec<bool>),
}

/// A table that is being written.
pub struct ParquetTable<W: Write + Send> {
    columns: Vec<Column>,
    out: SerializedFileWriter<W>,
    values: Vec<Values>,
    rows: usize,
    bytes: usize,
}

impl<W: Write + Send> ParquetTable<W> {
    /// The table of this name.
    ///
    /// # Errors
    /// It cannot be written, or there is no such table.
    pub fn begin(name: &str, out: W) -> io::Result<ParquetTable<W>> {
        let columns: Vec<Column> = match name {
            "sessions" => {
                let counts = Counts::of_session().map(|counter| (counter.name, Kind::Integer, NEVER));
                SESSIONS.iter().copied().chain(counts).collect()
            }
            "calls" => CALLS.to_vec(),
            "findings" => FINDINGS.to_vec(),
            _ => return Err(io::Error::other(format!("the table `{name}` has no columns"))),
        };
        let fields: Result<Vec<_>, _> = columns.iter().map(|column| field(*column).map(Arc::new)).collect();
        let schema = Type::group_type_builder(name).with_fields(fields?).build()?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let out = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        let values = columns.iter().map(|column| Values::of(column.1)).collect();
        Ok(ParquetTable { columns, out, values, rows: 0, bytes: 0 })
    }

    /// Adds rows, given as lines of JSON.
    ///
    /// # Errors
    /// They cannot be written, or have other columns than the table.
    pub fn write(&mut self, rows: &[u8]) -> io::Result<()> {
        for line in rows.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let row: HashMap<&str, &RawValue> = serde_json::from_slice(line)?;
            if row.len() != self.columns.len() {
                return Err(io::Error::other("a row has other columns than its table"));
            }
            for ((name, kind, may_lack), values) in self.columns.iter().zip(&mut self.values) {
                let missing = || io::Error::other(format!("a row has nothing in the column `{name}`"));
                let value = row.get(name).ok_or_else(missing)?.get();
                if value == "null" && !may_lack {
                    return Err(missing());
                }
                values.push(*kind, value)?;
            }
            self.rows += 1;
            self.bytes += line.len();
            if self.rows == ROWS || self.bytes > BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.out.next_row_group()?;
        for ((_, kind, may_lack), values) in self.columns.iter().zip(&mut self.values) {
            let Values { values, there } = std::mem::replace(values, Values::of(*kind));
            let there = may_lack.then_some(&*there);
            match values {
                Typed::Texts(values) => column::<ByteArrayType, W>(&mut group, &values, there)?,
                Typed::Integers(values) => column::<Int64Type, W>(&mut group, &values, there)?,
                Typed::Booleans(values) => column::<BoolType, W>(&mut group, &values, there)?,
            }
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Writes what closes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.out.finish()?;
        self.out.inner_mut().flush()
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    there: Option<&[i16]>,
) -> io::Result<()> {
    let Some(mut column) = group.next_column()? else { return Err(io::Error::other("a column too many")) };
    column.typed::<T>().write_batch(values, there, None)?;
    Ok(column.close()?)
}

fn field((name, kind, may_lack): Column) -> parquet::errors::Result<Type> {
    let (physical, logical) = match kind {
        Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Json => (PhysicalType::BYTE_ARRAY, Some(LogicalType::Json)),
        Kind::Integer => (PhysicalType::INT64, None),
        Kind::Boolean => (PhysicalType::BOOLEAN, None),
        Kind::Time => (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
    };
    let repetition = if may_lack { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}

impl Values {
    fn of(kind: Kind) -> Values {
        let values = match kind {
            Kind::Text | Kind::Json => Typed::Texts(Vec::new()),
            Kind::Integer | Kind::Time => Typed::Integers(Vec::new()),
            Kind::Boolean => Typed::Booleans(Vec::new()),
        };
        Values { values, there: Vec::new() }
    }

    /// Adds a value, given as JSON.
    fn push(&mut self, kind: Kind, value: &str) -> io::Result<()> {
        self.there.push(i16::from(value != "null"));
        if value == "null" {
            return Ok(());
        }
        match &mut self.values {
            Typed::Texts(texts) if kind == Kind::Json => texts.push(ByteArray::from(value)),
            Typed::Texts(texts) => {
                texts.push(ByteArray::from(serde_json::from_str::<String>(value)?.into_bytes()));
            }
            // An instant beyond what the calendar knows is a number in JSON as well.
            Typed::Integers(numbers) if kind == Kind::Time && value.starts_with('"') => {
                let text: String = serde_json::from_str(value)?;
                let instant: jiff::Timestamp = text.parse().map_err(io::Error::other)?;
                numbers.push(instant.as_millisecond());
            }
            Typed::Integers(numbers) => numbers.push(serde_json::from_str(value)?),
            Typed::Booleans(values) => values.push(serde_json::from_str(value)?),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use parquet::data_type::AsBytes as _;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::{Field, Row};
    use serde_json::{Value, json};

    use super::super::TABLES;
    use super::*;
    use crate::workspace::{Version, samples};
    use rulestep_engine::replay::Replay;
    use rulestep_engine::run::Mode;

    /// What a reader of Parquet finds, as the JSON that it was made of.
    fn value(field: &Field, kind: Kind) -> Value {
        match (field, kind) {
            (Field::Null, _) => Value::Null,
            (Field::Str(text), Kind::Json) => serde_json::from_str(text).unwrap(),
            (Field::Str(text), Kind::Text) => json!(text),
            (Field::Bytes(bytes), Kind::Json) => serde_json::from_slice(bytes.as_bytes()).unwrap(),
            (Field::Long(number), Kind::Integer) => json!(number),
            (Field::Bool(value), Kind::Boolean) => json!(value),
            (Field::TimestampMillis(at), Kind::Time) => {
                json!(jiff::Timestamp::from_millisecond(*at).unwrap().to_string())
            }
            (field, _) => panic!("{field:?} has another type than its column"),
        }
    }

    fn opened(bytes: &[u8]) -> SerializedFileReader<std::fs::File> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        SerializedFileReader::new(file).unwrap()
    }

    fn read(bytes: Vec<u8>, columns: &[Column]) -> (usize, Vec<Value>) {
        let reader = opened(&bytes);
        let row = |row: parquet::errors::Result<Row>| {
            let row = row.unwrap();
            let fields = row.get_column_iter().zip(columns);
            Value::Object(
                fields.map(|((name, field), (_, kind, _))| (name.clone(), value(field, *kind))).collect(),
            )
        };
        (reader.num_row_groups(), reader.get_row_iter(None).unwrap().map(row).collect())
    }

    #[test]
    fn a_reader_of_parquet_finds_the_rows_of_the_lines() {
        let loaded = Version::named(&[], true).unwrap().load(None);
        let policy = loaded.policy.unwrap();
        let mut all = 0;
        for table in TABLES {
            let mut lines = Vec::new();
            for (name, bytes) in samples::sessions() {
                let sessions = crate::workspace::opener::open_sample(name, bytes, &Default::default());
                for session in sessions.into_iter().flatten() {
                    (table.rows)(&Replay::new(&Arc::new(session), &policy, Mode::Enforce), &mut lines)
                        .unwrap();
                }
            }
            let mut file = Vec::new();
            let mut written = ParquetTable::begin(table.name, &mut file).unwrap();
            written.write(&lines).unwrap();
            // A second group of rows.
            written.flush().unwrap();
            written.write(&lines).unwrap();
            let columns = written.columns.clone();
            written.finish().unwrap();
            let rows = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let rows: Vec<Value> = rows.map(|line| serde_json::from_slice(line).unwrap()).collect();
            all += rows.len();
            let (groups, found) = read(file, &columns);
            assert_eq!(groups, 2);
            assert_eq!(found, [rows.clone(), rows].concat(), "{}", table.name);
        }
        assert!(all > 50, "{all} rows");
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let begin = || ParquetTable::begin("findings", Vec::new()).unwrap();
        assert!(begin().write(b"{\"session\": \"x\"}\n").is_err());
        let row = |line: Value| {
            let mut row: serde_json::Map<String, Value> =
                FINDINGS.iter().map(|(name, ..)| ((*name).to_owned(), Value::Null)).collect();
            let texts = ["session", "session_file", "rule", "rule_name", "dialect", "file", "kind"];
            texts.iter().for_each(|name| drop(row.insert((*name).to_owned(), json!("x"))));
            row.insert("session_index".to_owned(), json!(0));
            row.insert("decided".to_owned(), json!(true));
            row.insert("line".to_owned(), line);
            Value::Object(row).to_string()
        };
        assert!(begin().write(row(json!(3)).as_bytes()).is_ok());
        assert!(begin().write(row(json!(null)).as_bytes()).is_err());
        assert!(begin().write(row(json!("3")).as_bytes()).is_err());
        assert!(ParquetTable::begin("others", Vec::new()).is_err());
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let mut file = Vec::new();
        ParquetTable::begin("calls", &mut file).unwrap().finish().unwrap();
        let reader = opened(&file);
        assert_eq!(reader.metadata().file_metadata().schema().get_fields().len(), CALLS.len());
    }
}
