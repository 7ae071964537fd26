//! Random keys, pastes and resizes: nothing panics, and the screen follows from the state alone.

use ratatui::layout::{Position, Size};

use super::super::{derive, go};
use super::*;
use crate::workbench::keys::TABLE;
use crate::workbench::message::{Mouse, MouseAct};

/// Numbers that look random and come again for the same seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

const SIZES: [(u16, u16); 7] = [(120, 40), (200, 60), (80, 24), (58, 14), (40, 8), (30, 5), (0, 0)];
const PASTES: [&str; 6] = ["theme harbor", "{\"a\": 1}", "x\ny\nz", "", "\u{202e}\u{1b}[2J\u{fe0f}", "T2.1"];

/// Presses this many keys on this many sessions.
fn run(seed: u64, keys: usize, sessions: usize) {
    let mut numbers = Numbers(seed);
    let made = (0..sessions).map(|at| if at % 3 == 0 { refunds() } else { clean() }).collect();
    let mut model = opened(120, 40, "mono", made);
    with_cases(&mut model, &CASES);
    let mut pressed: Vec<String> = Vec::new();
    for at in 0..keys {
        match numbers.next(22) {
            20 | 21 => {
                let (width, height) = (model.size.width.max(1), model.size.height.max(1));
                let place = |most: u16, numbers: &mut Numbers| numbers.next(usize::from(most) + 1) as u16;
                let at = Position::new(place(width, &mut numbers), place(height, &mut numbers));
                let act = [MouseAct::Click, MouseAct::Click, MouseAct::Up, MouseAct::Down][numbers.next(4)];
                for _ in 0..1 + numbers.next(2) {
                    pressed.push(format!("<{act:?} {},{}>", at.x, at.y));
                    feed(&mut model, Msg::Mouse(Mouse { at, act }));
                }
            }
            0 => {
                let (width, height) = SIZES[numbers.next(SIZES.len())];
                pressed.push(format!("<{width}x{height}>"));
                feed(&mut model, Msg::Resize(Size::new(width, height)));
            }
            1 => {
                let text = PASTES[numbers.next(PASTES.len())];
                pressed.push(format!("<paste {text:?}>"));
                feed(&mut model, Msg::Paste(text.to_owned()));
            }
            2 => {
                feed(&mut model, Msg::ChordWaits);
                // One is fixed, or broken again.
                let all = numbers.next(CASES.len() + 1);
                with_cases(&mut model, &CASES[..all]);
            }
            3 | 4 => {
                let c = char::from(b' ' + u8::try_from(numbers.next(95)).unwrap());
                pressed.push(c.to_string());
                feed(&mut model, Msg::Key(Key::char(c)));
            }
            _ => {
                let row = &TABLE[numbers.next(TABLE.len())];
                let Some(chord) = row.keys.first() else { continue };
                pressed.push((*chord).to_owned());
                press(&mut model, chord);
            }
        }
        screen(&model);
        if at % 50 == 49 {
            follows(&mut model, seed, &pressed);
            pressed.clear();
        }
    }
}

/// The derived state, computed again, is the same.
fn follows(model: &mut Model, seed: u64, pressed: &[String]) {
    let held = screen(model);
    go::lay_out(model);
    derive::derive(model);
    assert_eq!(screen(model), held, "seed {seed}, after {}", pressed.join(" "));
}

#[test]
fn random_keys_pastes_and_resizes() {
    for seed in 1..=4 {
        run(seed, 250, 12);
    }
}

/// By hand: `RANDOM_SEED=7 cargo test --lib -- --ignored ten_thousand_keys`.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_keys_on_two_thousand_sessions() {
    let seed = std::env::var("RANDOM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    run(seed, 10_000, 2_000);
}
