//! Bodies in the saved state of a run: short ones whole, and for those in a store their places.

use std::cell::RefCell;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::elsewhere::Elsewhere;
use super::{Body, Form, Place, Recorded, Store};

thread_local! {
    /// The store of the bodies of which only the places are written. Thread-local, because deserialising passes no
    /// context.
    static STORE: RefCell<Option<Arc<dyn Store>>> = const { RefCell::new(None) };
}

/// Runs `read`, whose bodies may be in this store.
pub fn with_store<T>(store: Arc<dyn Store>, read: impl FnOnce() -> T) -> T {
    let before = STORE.replace(Some(store));
    let made = read();
    STORE.set(before);
    made
}

/// Whether it is text, and either the content or its place.
#[derive(Serialize, Deserialize)]
enum Saved<'b> {
    /// It.
    #[serde(rename = "b")]
    Whole(bool, std::borrow::Cow<'b, str>),
    /// First byte, length and digest.
    #[serde(rename = "p")]
    Place(bool, u64, u64, u64),
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = self.0.as_deref().map(|body| {
            let is_text = body.form() == Form::Text;
            match &body.recorded {
                Recorded::Elsewhere(_, elsewhere) => {
                    let Place { start, length, digest } = elsewhere.place();
                    Saved::Place(is_text, start, length, digest)
                }
                Recorded::Plain(..) | Recorded::Escaped(..) => Saved::Whole(is_text, body.text().into()),
            }
        });
        saved.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = |is_text| if is_text { Form::Text } else { Form::Json };
        Ok(match Option::<Saved<'_>>::deserialize(deserializer)? {
            None => Body::MISSING,
            Some(Saved::Whole(is_text, text)) => Body::of(Recorded::plain(form(is_text), text)),
            Some(Saved::Place(is_text, start, length, digest)) => {
                let store = STORE.with_borrow(Option::clone);
                let store = store.ok_or_else(|| D::Error::custom("nothing has the body"))?;
                let elsewhere = Elsewhere::new(store, Place { start, length, digest });
                Body::of(Recorded::Elsewhere(form(is_text), Box::new(elsewhere)))
            }
        })
    }
}
