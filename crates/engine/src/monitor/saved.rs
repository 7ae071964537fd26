//! Saves and restores a monitor's state, so that a later process continues where one has stopped.
//!
//! The saved state is a cache for the very same program under the very same policy: it has no version and is not an
//! interface. A monitor names every field of its state when it saves it, so that no new field can be forgotten.

use rpds::RedBlackTreeMapSync;
use serde::de::DeserializeOwned;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::{Array, SmallVec};

/// A state as text. `None`: it cannot be written.
pub fn save(state: &impl Serialize) -> Option<String> {
    serde_json::to_string(state).ok()
}

/// The state that a text is of.
pub fn read<T: DeserializeOwned>(saved: &str) -> Option<T> {
    serde_json::from_str(saved).ok()
}

/// Short lists.
pub mod list {
    use super::*;

    /// As a list.
    pub fn serialize<A: Array<Item: Serialize>, S: Serializer>(
        list: &SmallVec<A>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list)
    }

    /// As a list.
    pub fn deserialize<'de, A: Array<Item: Deserialize<'de>>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<SmallVec<A>, D::Error> {
        Ok(SmallVec::from_vec(Vec::deserialize(deserializer)?))
    }
}

/// Sorted maps, whose keys need not be texts.
pub mod sorted {
    use super::*;

    /// As a list of keys and values.
    pub fn serialize<K: Serialize + Ord, V: Serialize, S: Serializer>(
        map: &RedBlackTreeMapSync<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map.iter())
    }

    /// As a list of keys and values.
    pub fn deserialize<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<RedBlackTreeMapSync<K, V>, D::Error> {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}

/// Writes a list of unknown length.
pub fn sequence<S: Serializer>(
    items: impl Iterator<Item = impl Serialize>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    for item in items {
        list.serialize_element(&item)?;
    }
    list.end()
}
