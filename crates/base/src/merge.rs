//! What was counted in parts, put together.

use std::collections::BTreeMap;

/// What another of its kind can be added to. Values are a commutative monoid: order and grouping do not matter, and a default
/// value changes nothing.
pub trait Merge {
    /// Adds what was counted elsewhere.
    fn merge(&mut self, other: &Self);
}

impl Merge for u64 {
    fn merge(&mut self, other: &u64) {
        *self += other;
    }
}

/// Whether it happened anywhere.
impl Merge for bool {
    fn merge(&mut self, other: &bool) {
        *self |= other;
    }
}

impl<T: Merge + Clone> Merge for Option<T> {
    fn merge(&mut self, other: &Option<T>) {
        match (self, other) {
            (Some(known), Some(more)) => known.merge(more),
            (known, more) => *known = known.take().or_else(|| more.clone()),
        }
    }
}

impl<T: Merge, const N: usize> Merge for [T; N] {
    fn merge(&mut self, other: &[T; N]) {
        self.iter_mut().zip(other).for_each(|(known, more)| known.merge(more));
    }
}

impl<K: Ord + Clone, V: Merge + Clone> Merge for BTreeMap<K, V> {
    fn merge(&mut self, other: &BTreeMap<K, V>) {
        for (key, more) in other {
            match self.get_mut(key) {
                Some(known) => known.merge(more),
                None => drop(self.insert(key.clone(), more.clone())),
            }
        }
    }
}

/// Whether a count is left out of JSON.
pub fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Declares a struct that is merged field by field, so that no field is forgotten.
#[macro_export]
macro_rules! merged {
    ($($(#[$outer:meta])* $vis:vis struct $name:ident { $($(#[$inner:meta])* $field_vis:vis $field:ident: $type:ty),+ $(,)? })+) => {$(
        $(#[$outer])*
        $vis struct $name { $($(#[$inner])* $field_vis $field: $type),+ }

        impl $name {
            /// Adds what was counted elsewhere.
            $vis fn merge(&mut self, other: &$name) {
                $($crate::merge::Merge::merge(&mut self.$field, &other.$field);)+
            }
        }

        impl $crate::merge::Merge for $name {
            fn merge(&mut self, other: &$name) {
                self.merge(other);
            }
        }
    )+};
}
