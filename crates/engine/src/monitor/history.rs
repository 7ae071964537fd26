//! The messages so far, for rules that look at them: in order, and each speaker's by number.
//!
//! Only grows. A copy shares all full blocks with its original, so a fork costs little in a long session too.

use super::collections::Blocks;
use rulestep_base::session::Message;

/// The messages of a session up to a moment.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Blocks<Message>,
    user: Blocks<usize>,
    assistant: Blocks<usize>,
}

/// The speaker whose messages are counted.
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
    /// Adds a message after all others.
    pub fn push(&mut self, message: Message) {
        let place = self.messages.len();
        if Speaker::User.says(&message) {
            self.user.push(place);
        } else if Speaker::Assistant.says(&message) {
            self.assistant.push(place);
        }
        self.messages.push(message);
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there are no messages.
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

    /// The number of this speaker's messages.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rulestep_base::session::{Body, MessageKind};

    fn said(role: &str, text: &str) -> Message {
        let (role, content) = (role.into(), Body::text(text));
        Message { role, content, at: None, kind: MessageKind::Said, calls: Vec::new(), line: 0 }
    }

    #[test]
    fn each_speakers_messages_are_found_by_number_across_blocks() {
        const EACH: usize = 700;
        let mut history = History::default();
        for number in 0..EACH * 3 {
            history.push(said(["user", "assistant", "tool"][number % 3], &number.to_string()));
        }
        for (speaker, offset) in [(Speaker::User, 0), (Speaker::Assistant, 1)] {
            assert_eq!(history.count(speaker), EACH);
            for number in 0..EACH {
                let place = history.place(speaker, number).unwrap();
                assert_eq!(place, number * 3 + offset);
                assert_eq!(history.get(place).unwrap().content.shown(), place.to_string());
            }
            assert_eq!(history.place(speaker, EACH), None);
        }
        assert_eq!(history.place(Speaker::Anyone, EACH * 3), None);
        assert_eq!(history.from(EACH * 3 - 2).count(), 2);
    }
}
