//! What was said so far, for rules that look at it: messages in order, and each speaker's by number.
//!
//! Only grows. A copy shares all full blocks with its original, so a fork costs little in a long session too.

use std::sync::Arc;

use crate::session::Message;

/// The messages of a session up to a moment.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Kept<Message>,
    user: Kept<usize>,
    assistant: Kept<usize>,
}

/// Whose messages are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// Everybody's, tools and system included.
    Anyone,
    /// The user's.
    User,
    /// The model's.
    Assistant,
}

impl Speaker {
    /// Whether a message is counted.
    pub fn says(self, message: &Message) -> bool {
        match self {
            Speaker::Anyone => true,
            Speaker::User => &*message.role == "user",
            Speaker::Assistant => &*message.role == "assistant",
        }
    }
}

impl History {
    /// Adds a message behind all others.
    pub fn push(&mut self, message: Message) {
        let place = self.messages.len();
        if Speaker::User.says(&message) {
            self.user.push(place);
        } else if Speaker::Assistant.says(&message) {
            self.assistant.push(place);
        }
        self.messages.push(message);
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The message at this place, from 0.
    pub fn get(&self, place: usize) -> Option<&Message> {
        self.messages.get(place)
    }

    /// All messages from this place on.
    pub fn from(&self, place: usize) -> impl Iterator<Item = &Message> {
        (place..self.len()).filter_map(|place| self.get(place))
    }

    /// How many messages are this speaker's.
    pub fn count(&self, speaker: Speaker) -> usize {
        match speaker {
            Speaker::Anyone => self.messages.len(),
            Speaker::User => self.user.len(),
            Speaker::Assistant => self.assistant.len(),
        }
    }

    /// The place of this speaker's message with this number, from 0.
    pub fn place(&self, speaker: Speaker, number: usize) -> Option<usize> {
        match speaker {
            Speaker::Anyone => (number < self.len()).then_some(number),
            Speaker::User => self.user.get(number).copied(),
            Speaker::Assistant => self.assistant.get(number).copied(),
        }
    }
}

/// A list that only grows, in blocks that its copies share.
#[derive(Debug)]
pub struct Kept<T> {
    full: Vec<Arc<[T]>>,
    rest: Vec<T>,
}

/// Items of a block: a copy repeats the items of the last, unfinished one alone.
const BLOCK: usize = 256;

impl<T> Kept<T> {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.full.len() * BLOCK + self.rest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an item behind all others.
    pub fn push(&mut self, item: T) {
        self.rest.push(item);
        if self.rest.len() == BLOCK {
            self.full.push(std::mem::take(&mut self.rest).into());
        }
    }

    /// The item at this place, from 0.
    pub fn get(&self, place: usize) -> Option<&T> {
        match self.full.get(place / BLOCK) {
            Some(block) => block.get(place % BLOCK),
            None => self.rest.get(place.checked_sub(self.full.len() * BLOCK)?),
        }
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.full.iter().flat_map(|block| block.iter()).chain(&self.rest)
    }
}

impl<T: Clone> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Kept { full: self.full.clone(), rest: self.rest.clone() }
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept { full: Vec::new(), rest: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Body, MessageKind};

    fn said(role: &str, text: &str) -> Message {
        let (role, content) = (role.into(), Body::text(text));
        Message { role, content, at: None, kind: MessageKind::Said, calls: Vec::new(), line: 0 }
    }

    #[test]
    fn each_speakers_messages_are_found_by_number_across_blocks() {
        let mut history = History::default();
        for number in 0..BLOCK * 3 {
            history.push(said(["user", "assistant", "tool"][number % 3], &number.to_string()));
        }
        for (speaker, offset) in [(Speaker::User, 0), (Speaker::Assistant, 1)] {
            assert_eq!(history.count(speaker), BLOCK);
            for number in 0..BLOCK {
                let place = history.place(speaker, number).unwrap();
                assert_eq!(place, number * 3 + offset);
                assert_eq!(history.get(place).unwrap().content.shown(), place.to_string());
            }
            assert_eq!(history.place(speaker, BLOCK), None);
        }
        assert_eq!(history.place(Speaker::Anyone, BLOCK * 3), None);
        assert_eq!(history.from(BLOCK * 3 - 2).count(), 2);
    }

    #[test]
    fn a_copy_goes_on_by_itself() {
        let mut one: Kept<usize> = Kept::default();
        (0..BLOCK + 3).for_each(|item| one.push(item));
        let mut other = one.clone();
        (0..BLOCK).for_each(|_| other.push(7));
        one.push(8);
        assert_eq!((one.len(), one.get(BLOCK + 3), one.get(BLOCK + 4)), (BLOCK + 4, Some(&8), None));
        assert_eq!((other.len(), other.get(BLOCK + 3)), (BLOCK * 2 + 3, Some(&7)));
        assert_eq!(
            one.iter().copied().take(BLOCK + 3).collect::<Vec<_>>(),
            (0..BLOCK + 3).collect::<Vec<_>>()
        );
    }
}
